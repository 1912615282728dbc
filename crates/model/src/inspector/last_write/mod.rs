//! The last write of a field: the change at which the field got the value that it has now.
//!
//! The search goes from the version that is shown to older ones, a few versions at a time, and ends at the first version
//! in which the field was another one or was not there. It never guesses: where the versions end before that, it says only
//! since when the value is known.

use serde_json::Value;

use kubechurn_changes::pointer::{Field, follow, path};
use kubechurn_changes::writer::{Writers, of_change};
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::history::Entry;
use crate::inspector::diff::{Change, Diff, FieldChange, brief, diff_field};

/// The most versions that are compared with the one before them.
pub const MOST: usize = 2_000;

/// The version that is shown, and the field that is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The field, as a JSON pointer into the text.
    pub pointer: &'a str,
    /// The text that is shown, for a Secret with masked values.
    pub text: &'a str,
    /// The object's uid.
    pub uid: &'a Uid,
    /// The resourceVersion of the text.
    pub version: &'a ResourceVersion,
    /// Whether the recorder has dropped versions of the object.
    pub has_dropped: bool,
}

/// The change that wrote a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The sequence number of the version, among everything that was received.
    pub sequence: u64,
    /// When the version was received, in milliseconds since 1970.
    pub at: f64,
    /// When the version before it was received; `None` if the object was created with the field.
    pub since: Option<f64>,
    /// Whether a list brought the version: then the field may have been written at any time since the version before it,
    /// and more than once.
    pub is_listed: bool,
    /// Who seems to have written the version.
    pub writers: Writers,
    /// What changed, with paths that begin at the field.
    pub changes: Diff,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// So many versions were compared so far.
    Searching(usize),
    /// The change.
    Written(Written),
    /// The value is older than the oldest version that is kept, which was received at this time in milliseconds since
    /// 1970.
    Before(f64),
    /// The value is as old as the oldest of the [`MOST`] versions that were compared, which was received at this time.
    Further(f64),
    /// No version is kept that is the one which is shown, or a text cannot be read.
    Unknown,
}

/// A search through the versions of an object.
#[derive(Debug)]
pub struct Search {
    /// The versions of the object that have a text, the oldest first. The last one is the one that is compared next.
    left: Vec<Entry>,
    /// The pointer of the field in that version.
    pointer: String,
    /// The text of that version.
    text: String,
    /// Whether older versions were left out, because there are more than [`MOST`].
    is_cut: bool,
    has_dropped: bool,
    compared: usize,
    /// What an earlier search found from the version with this number on.
    known: Option<(u64, Outcome)>,
}

impl Search {
    /// A search from the version that is shown. `kept` are the versions of all objects that had the name, the oldest first.
    /// `None` if the version is not among them.
    pub fn new(question: Question<'_>, kept: &[Entry]) -> Option<Search> {
        let Question { pointer, text, uid, version, has_dropped } = question;
        let is_shown = |entry: &Entry| entry.uid == *uid && entry.resource_version == *version && entry.has_text;
        let end = kept.iter().rposition(is_shown)? + 1;
        let mut left: Vec<Entry> = Vec::new();
        let older = kept[..end].iter().rev().filter(|entry| entry.uid == *uid && entry.has_text);
        left.extend(older.take(MOST + 1).cloned());
        left.reverse();
        let is_cut = left.len() > MOST;
        let (pointer, text) = (pointer.to_owned(), text.to_owned());
        Some(Search { left, pointer, text, is_cut, has_dropped, compared: 0, known: None })
    }

    /// The number of the version that is compared next.
    pub fn newest(&self) -> Option<u64> {
        self.left.last().map(|entry| entry.sequence)
    }

    /// Ends the search at the version with this number, from which an earlier search for the same field has found
    /// `outcome`; where that outcome still holds.
    pub fn reuse(&mut self, sequence: u64, outcome: &Outcome) {
        let holds = match outcome {
            Outcome::Written(_) | Outcome::Further(_) => true,
            // The oldest version of then may no longer be kept.
            Outcome::Before(at) => self.left.first().is_some_and(|first| first.at == *at),
            Outcome::Searching(_) | Outcome::Unknown => false,
        };
        self.known = holds.then(|| (sequence, outcome.clone()));
    }

    /// Compares at most `most` versions with the ones before them, whose texts `read` reads. A version whose text is no
    /// longer kept ends the search.
    pub fn step(&mut self, most: usize, read: impl Fn(&Entry) -> Option<String>) -> Outcome {
        for _ in 0..most {
            let Some(entry) = self.left.pop() else { return Outcome::Unknown };
            if let Some((_, outcome)) = self.known.take_if(|(known, _)| *known >= entry.sequence) {
                return outcome;
            }
            let Some(before) = self.left.last() else { return self.oldest(&entry) };
            if self.is_cut && self.left.len() == 1 {
                return Outcome::Further(entry.at);
            }
            let Some(old) = read(before) else { return Outcome::Before(entry.at) };
            let Some(followed) = follow(&self.pointer, &self.text, &old) else { return Outcome::Unknown };
            let was = followed.old.as_ref().map(|field| field.value);
            let Some(changes) = changes(&self.pointer, was, followed.new) else {
                let pointer = followed.old.map(|Field { pointer, .. }| pointer);
                self.pointer = pointer.unwrap_or_default();
                self.text = old;
                self.compared += 1;
                continue;
            };
            return Outcome::Written(Written {
                sequence: entry.sequence,
                at: entry.at,
                since: Some(before.at),
                is_listed: entry.delta_type == DeltaType::Replaced,
                writers: of_change(entry.delta_type, Some(&old), Some(&self.text)),
                changes,
            });
        }
        Outcome::Searching(self.compared)
    }

    /// What is known at the oldest version that is kept: the object may have been created with it.
    fn oldest(&self, entry: &Entry) -> Outcome {
        if entry.delta_type != DeltaType::Added || self.has_dropped {
            return Outcome::Before(entry.at);
        }
        let Some(followed) = follow(&self.pointer, &self.text, "{}") else { return Outcome::Unknown };
        Outcome::Written(Written {
            sequence: entry.sequence,
            at: entry.at,
            since: None,
            is_listed: false,
            writers: of_change(entry.delta_type, None, Some(&self.text)),
            changes: changes(&self.pointer, None, followed.new).unwrap_or_default(),
        })
    }
}

/// The field's path in words, for the screen; the pointer itself where it leads nowhere.
pub fn name(pointer: &str, text: &str) -> String {
    path(pointer, text).unwrap_or_else(|| pointer.to_owned())
}

/// What changed in a field; `None` if nothing did.
fn changes(pointer: &str, old: Option<&str>, new: &str) -> Option<Diff> {
    match old {
        // The bytes of what cannot be read differ, and more is not known.
        Some(old) => diff_field(pointer, old, new).unwrap_or(Some(Diff::default())),
        None => {
            let value = serde_json::from_str(new).map(|value: Value| brief(&value)).unwrap_or_default();
            let changes = vec![FieldChange { path: String::new(), change: Change::Added(value) }];
            Some(Diff { changes, ..Diff::default() })
        }
    }
}

#[cfg(test)]
mod tests;
