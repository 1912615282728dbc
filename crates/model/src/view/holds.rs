//! What holds an object back, and what uses it, as it is shown.

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HoldRow {
    /// The object that it is about; empty for none.
    pub name: String,
    /// Where that is looked at; empty for nowhere.
    pub href: String,
    /// What is said of it.
    pub words: String,
    /// What it means: `bad`, `wait`, or nothing.
    pub tone: &'static str,
}

/// Of the object that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HoldsModel {
    /// Whether it is searched for more.
    pub is_searching: bool,
    /// Since when its deletion waits, in a sentence; empty where none was asked for.
    pub asked: String,
    /// What holds it back.
    pub held: Vec<HoldRow>,
    /// How much of what uses it has the old data, or how much there is of it, in a sentence.
    pub used: String,
    /// What uses it.
    pub users: Vec<HoldRow>,
    /// What is not known, in sentences.
    pub unknown: Vec<String>,
}

impl HoldsModel {
    /// All of it as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let line = |row: &HoldRow| format!("{} {}", row.name, row.words).trim().to_owned();
        let mut lines = Vec::new();
        if !self.held.is_empty() || !self.asked.is_empty() {
            lines.push(String::from("\nWhat holds it back:"));
            lines.push(self.asked.clone());
            lines.extend(self.held.iter().map(line));
        }
        if !self.used.is_empty() {
            lines.push(String::from("\nWho uses it:"));
            lines.push(self.used.clone());
            lines.extend(self.users.iter().map(line));
        }
        lines.extend(self.unknown.iter().cloned());
        lines
    }
}
