//! The palette's search for objects: those of all watched kinds, and those that were deleted and are remembered.
//!
//! The rows of the tables are looked at, and then the lanes of what is gone, some at a time: with 150,000 objects a letter
//! takes no longer than with few, and what is found is shown while the search goes on. Of all that is found the best few are
//! kept.

use kubechurn_changes::filter::pattern::Pattern;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;

use crate::watches::Watches;

/// How many objects are shown at most.
const MOST: usize = 40;
/// How many rows and lanes are looked at between two readings of the clock.
const AT_ONCE: usize = 512;
/// Fewer letters are in too many names.
const LETTERS: usize = 2;
/// By how much worse an Event matches: it is named after its object, has many sisters, and its object leads to them all.
const EVENT: u32 = 300;

/// An object that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundObject {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its namespace and name.
    pub key: ObjectKey,
    /// Whether it was deleted.
    pub is_gone: bool,
    /// How well it matches.
    pub score: u32,
}

/// A search for objects.
#[derive(Debug, Default)]
pub struct ObjectSearch {
    query: String,
    words: Vec<(String, Pattern)>,
    /// Where the search goes on: the table, or the kind whose lanes are looked at after all tables; and how many of its rows
    /// or lanes were looked at. `None` once it is done.
    next: Option<(usize, usize)>,
    /// The best come first.
    found: Vec<FoundObject>,
}

impl ObjectSearch {
    /// Begins to search for what holds these words, unless that is what is searched for.
    pub fn seek(&mut self, query: &str) {
        if self.query == query {
            return;
        }
        let text = query.trim().trim_start_matches(':').to_lowercase();
        // A slash parts namespace and name, and begins no regular expression.
        let words = text.split([' ', '/']).filter(|word| !word.is_empty());
        let words = words.filter_map(|word| Some((word.to_owned(), Pattern::read(word).ok()?.0)));
        let words: Vec<(String, Pattern)> = words.collect();
        let next = words.iter().any(|(word, _)| word.chars().count() >= LETTERS).then_some((0, 0));
        *self = ObjectSearch { query: query.to_owned(), words, next, found: Vec::new() };
    }

    /// What was found so far, the best first.
    pub fn found(&self) -> &[FoundObject] {
        &self.found
    }

    /// Goes on, until everything was looked at or `more` says no. Returns whether something is left.
    pub fn work(&mut self, watches: &Watches, mut more: impl FnMut() -> bool) -> bool {
        while let Some((at, first)) = self.next {
            let tables = watches.all_tables().count();
            let places = match (watches.all_tables().nth(at), at.checked_sub(tables)) {
                (Some(table), _) => {
                    let rows = table.rows();
                    for row in rows.live_among(first, AT_ONCE) {
                        if let Some(kind) = table.schema().kind(row.kind) {
                            self.look(kind, &row.object.key, false);
                        }
                    }
                    rows.places()
                }
                (None, Some(kind)) => {
                    let Some(watched) = watches.get(kind) else {
                        self.next = None;
                        break;
                    };
                    for key in watched.marks().gone_among(first, AT_ONCE) {
                        self.look(watched.kind(), key, true);
                    }
                    watched.marks().places()
                }
                (None, None) => 0,
            };
            self.next = Some(if first + AT_ONCE < places { (at, first + AT_ONCE) } else { (at + 1, 0) });
            if !more() {
                break;
            }
        }
        self.next.is_some()
    }

    fn look(&mut self, kind: &'static Kind, key: &ObjectKey, is_gone: bool) {
        let Some(score) = self.score(kind, key) else { return };
        let score = score - u32::from(is_gone);
        if self.found.len() < MOST || self.found.last().is_some_and(|last| last.score < score) {
            let at = self.found.partition_point(|other| other.score >= score);
            self.found.insert(at, FoundObject { kind, key: key.clone(), is_gone, score });
            self.found.truncate(MOST);
        }
    }

    /// How well an object matches all words; `None` if one is in neither its name, nor its namespace, nor its kind, or none
    /// is in its name. Of two names, the shorter one is the better match.
    fn score(&self, kind: &Kind, key: &ObjectKey) -> Option<u32> {
        let (mut sum, mut is_named) = (0, false);
        for (word, pattern) in &self.words {
            sum += match () {
                () if pattern.is_in(&key.name) => {
                    is_named = true;
                    let length = (key.name.len().min(200) / 4) as u32;
                    match key.name.len() == word.len() {
                        true => 900,
                        false if key.name.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word)) => {
                            500 - length
                        }
                        false => 350 - length,
                    }
                }
                () if pattern.is_in(&key.namespace) => 100,
                () if kind.is_called(word) || pattern.is_in(kind.resource.kind) => 100,
                () => return None,
            };
        }
        let worse = if kind.resource.kind == "Event" { EVENT } else { 0 };
        is_named.then_some(sum.saturating_sub(worse).max(1))
    }
}
