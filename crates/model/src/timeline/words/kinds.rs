//! The names of kinds on a timeline of several kinds.

use crate::kind_id::{KindId, listed};

/// So many kinds are named, even where they are all that there are.
const MOST_TITLES: usize = 3;

/// The names of a kind on a timeline of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindName {
    /// At a lane: `po`.
    pub short: &'static str,
    /// In words, for one object: `Pod`.
    pub long: &'static str,
    /// In words, for all objects: `Pods`.
    pub title: &'static str,
}

/// The names of all kinds, by their numbers. On a timeline of a single kind there are none.
#[derive(Debug, Default)]
pub(crate) struct KindNames(Vec<KindName>);

impl KindNames {
    /// The names of several kinds, by their numbers.
    pub(crate) fn new(names: Vec<KindName>) -> KindNames {
        KindNames(names)
    }

    /// Whether the timeline is of several kinds.
    pub(crate) fn are_several(&self) -> bool {
        !self.0.is_empty()
    }

    /// The name at a lane.
    pub(crate) fn short(&self, kind: KindId) -> &'static str {
        self.0.get(kind.index()).map_or("", |name| name.short)
    }

    /// The name of one object in words.
    pub(crate) fn long(&self, kind: KindId) -> &'static str {
        self.0.get(kind.index()).map_or("", |name| name.long)
    }

    /// The names of all objects of some kinds, in words.
    pub(crate) fn titles(&self, kinds: &[KindId]) -> String {
        let titles = kinds.iter().filter_map(|kind| self.0.get(kind.index())).map(|name| name.title);
        listed(&titles.collect::<Vec<_>>())
    }

    /// Whether these are all kinds, and too many for their titles to be read.
    pub(crate) fn are_all(&self, kinds: &[KindId]) -> bool {
        kinds.len() == self.0.len() && kinds.len() > MOST_TITLES
    }

    /// Words about some kinds. On a timeline of several kinds they begin with the kinds' titles.
    pub(crate) fn about(&self, kinds: &[KindId], note: &str) -> String {
        if self.are_several() { format!("{}: {note}", self.titles(kinds)) } else { note.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_kinds_are_named_unless_they_are_all() {
        let name = KindName { short: "po", long: "Pod", title: "Pods" };
        let all: Vec<KindId> = (0..9).map(KindId).collect();
        let names = |count: usize| KindNames::new(vec![name; count]);
        assert!(names(9).are_all(&all) && !names(10).are_all(&all) && !names(3).are_all(&all[..3]));
        assert!(!KindNames::default().are_all(&all[..1]));
    }
}
