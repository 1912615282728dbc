//! The log that a page handed over with `kubechurn.audit()`, with times that can be turned into the machine's.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::truth::Item;

/// Everything that a page noted, oldest first.
#[derive(Debug, Default)]
pub struct PageLog {
    /// The entries.
    pub entries: Vec<Entry>,
    /// For how many entries there was no room.
    pub dropped: u64,
    /// The page's clock and the machine's at the same moments, both in milliseconds.
    clocks: Vec<(f64, f64)>,
}

/// One entry: see `crates/model/src/watches/audit.rs`.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When, by the page's clock.
    pub at: f64,
    /// The word that says what the entry reports.
    pub word: String,
    /// The resource, such as `deployments.apps`; empty if the entry is about all of them.
    pub resource: String,
    /// The fields of the entry.
    pub said: Vec<Value>,
}

impl Entry {
    /// A field that is a text.
    pub fn text(&self, at: usize) -> &str {
        self.said.get(at).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field that is a version; 0 if it is unset.
    pub fn version(&self, at: usize) -> u64 {
        self.text(at).parse().unwrap_or_default()
    }

    /// A field that is a number.
    pub fn number(&self, at: usize) -> f64 {
        self.said.get(at).and_then(Value::as_f64).unwrap_or_default()
    }
}

impl PageLog {
    /// Reads what was handed over, oldest first; each with the machine's clock at that moment as `real`.
    pub fn read(handovers: &[Value]) -> Self {
        let mut log = Self::default();
        for handover in handovers {
            log.dropped += handover["dropped"].as_u64().unwrap_or_default();
            if let Some(clocks) = handover["now"].as_f64().zip(handover["real"].as_f64()) {
                log.clocks.push(clocks);
            }
            for entry in handover["entries"].as_array().into_iter().flatten() {
                let text = |at: usize| entry[at].as_str().unwrap_or_default().to_owned();
                let said = entry.as_array().map(|entry| entry[4.min(entry.len())..].to_vec()).unwrap_or_default();
                let at = entry[0].as_f64().unwrap_or_default();
                log.entries.push(Entry { at, word: text(1), resource: text(2), said });
            }
        }
        log
    }

    /// The entries of one word about one resource.
    pub fn of<'a>(&'a self, word: &'a str, resource: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.word == word && entry.resource == resource)
    }

    /// The time by the machine's clock when the page's clock said `at`. It is interpolated between two handovers.
    pub fn real(&self, at: f64) -> f64 {
        let after = self.clocks.partition_point(|(page, _)| *page < at);
        match (after.checked_sub(1).and_then(|before| self.clocks.get(before)), self.clocks.get(after)) {
            (Some((page, real)), Some((next, later))) if next > page => {
                real + (at - page) / (next - page) * (later - real)
            }
            (_, Some((page, real))) | (Some((page, real)), None) => real + (at - page),
            (None, None) => at,
        }
    }

    /// The rows at the end, by what the tables noted.
    pub fn rows(&self, resource: &str) -> BTreeMap<String, Item> {
        let mut rows = BTreeMap::new();
        for entry in self.of("shown", resource) {
            let key = entry.text(1).to_owned();
            if entry.text(0) == "gone" {
                rows.remove(&key);
            } else {
                let (uid, resource_version) = (entry.text(2).to_owned(), entry.text(3).to_owned());
                rows.insert(key, Item { uid, resource_version });
            }
        }
        rows
    }
}
