//! The life of a Pod, as it is shown.

/// A stretch of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeStretch {
    /// Where it begins and how wide it is, in percent of the whole life.
    pub left: f64,
    pub width: f64,
    /// What it is: `waits`, `pulls`, `runs`, `ready`, `ended`, `failed` or `ending`.
    pub what: &'static str,
    /// In words, and when it began.
    pub words: String,
    pub time: String,
    /// The same in milliseconds, if it is known.
    pub at: Option<f64>,
    /// Where the version is looked at that shows it.
    pub href: String,
    /// Whether its beginning is from the object's own words.
    pub is_from_object: bool,
}

/// Something on a line that takes no time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifePoint {
    /// Where it is, in percent; `None` where its time is not known.
    pub left: Option<f64>,
    /// In words, and when.
    pub words: String,
    pub time: String,
    /// The same in milliseconds, if it is known.
    pub at: Option<f64>,
    /// What it means: `bad`, `wait` or nothing.
    pub tone: &'static str,
    /// Where the version is looked at that shows it.
    pub href: String,
    /// Whether its time is from an object's own words.
    pub is_from_object: bool,
}

/// A line: the Pod's own, or one of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeLine {
    /// The name, and what it is.
    pub name: String,
    pub kind: &'static str,
    /// What is to be seen on it.
    pub stretches: Vec<LifeStretch>,
    pub points: Vec<LifePoint>,
    /// What is to be said of it.
    pub words: String,
}

/// The life of a Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeModel {
    /// From when to when, in words.
    pub from: String,
    pub to: String,
    /// The lines.
    pub lines: Vec<LifeLine>,
    /// How it ended and who asked for it, in sentences.
    pub end: Vec<String>,
    /// What is not known, in sentences.
    pub unknown: Vec<String>,
}

impl LifeModel {
    /// The life as lines of text.
    pub fn text_lines(&self) -> Vec<String> {
        let mut lines = vec![format!("\nThe life of the Pod, {} to {}:", self.from, self.to)];
        let from = |is: bool| if is { " (from the object)" } else { "" };
        for line in &self.lines {
            lines.push(format!("{} {} {}", line.kind, line.name, line.words).trim().to_owned());
            let stretches = line.stretches.iter();
            lines.extend(stretches.map(|one| format!("   {} {}{}", one.time, one.words, from(one.is_from_object))));
            let points = line.points.iter();
            lines.extend(points.map(|one| format!("   • {} {}{}", one.time, one.words, from(one.is_from_object))));
        }
        lines.extend(self.end.iter().chain(&self.unknown).cloned());
        lines
    }
}
