//! A rollout, as it is shown.

/// A stretch of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StretchRow {
    /// Where it begins and how wide it is, in percent of the axis.
    pub left: f64,
    pub width: f64,
    /// What it is: `begins`, `pulls`, `ready`, `bad`, `waits` or `left`.
    pub what: &'static str,
    /// What is reached at its end, in a few words.
    pub words: String,
    /// How long after the beginning that is.
    pub after: String,
    /// When that is, in milliseconds, if it is known.
    pub at: Option<f64>,
    /// Where the version is looked at that shows it.
    pub href: String,
    /// Whether its end is from an object's own words.
    pub is_from_object: bool,
}

/// A rollout as a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarRow {
    /// Which it is, and when it began; the same in milliseconds, if it is known.
    pub name: String,
    pub when: String,
    pub at: Option<f64>,
    /// Its stretches; none where its steps are not known.
    pub stretches: Vec<StretchRow>,
    /// What came of it, in a few words, and whether that is well.
    pub outcome: String,
    pub is_well: bool,
}

/// What is to be said of a rollout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactRow {
    /// What it is about.
    pub name: &'static str,
    /// The words.
    pub words: String,
    /// Where that is looked at; empty for nowhere.
    pub href: String,
}

/// A rollout, beside the last one that went well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RolloutModel {
    /// In one sentence what it came to.
    pub summary: String,
    /// What is the same as in the last good one, and where they part.
    pub against: String,
    /// Which fields differ.
    pub fields: String,
    /// Where the two are compared field by field; empty where they cannot be.
    pub compare: String,
    /// Words on the axis, each with its place in percent.
    pub ticks: Vec<(f64, &'static str)>,
    /// The rollout, and the last good one.
    pub bars: Vec<BarRow>,
    /// Where the two part, in percent.
    pub parted: Option<f64>,
    /// What more is to be said.
    pub facts: Vec<FactRow>,
}

impl StretchRow {
    /// The stretch in one sentence.
    pub fn sentence(&self) -> String {
        let source = if self.is_from_object { " (from the object, in whole seconds)" } else { "" };
        format!("{}: {}{source}", self.after, self.words)
    }
}

impl RolloutModel {
    /// The rollout as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::from("\nThe rollout, against the last good one:"), self.summary.clone()];
        for bar in &self.bars {
            lines.push(format!("{}, {}: {}", bar.name, bar.when, bar.outcome));
            lines.extend(bar.stretches.iter().map(|one| format!("   {}", one.sentence())));
        }
        lines.extend([&self.against, &self.fields].into_iter().filter(|words| !words.is_empty()).cloned());
        lines.extend(self.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.words)));
        lines
    }
}
