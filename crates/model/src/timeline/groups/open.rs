//! Which groups are open: as the address says it, so that a link shows the same rows.

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::timeline::groups::rows::find;
use crate::timeline::groups::{GroupId, Groups};
use crate::timeline::mark::LaneOf;
use crate::timeline::marks::Marks;

/// Which groups are open. A group has the words that [`super::LaneChoice::kept`] has for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenGroups {
    /// Whether groups are open unless they are named.
    pub all: bool,
    /// The groups that are open, or, where all are, those that are closed. The newest comes last.
    pub named: Vec<String>,
}

impl OpenGroups {
    /// How many groups are named at most.
    pub const MOST: usize = 64;

    /// All groups are open, or none.
    pub fn all(open: bool) -> OpenGroups {
        OpenGroups { all: open, named: Vec::new() }
    }

    /// Opens a group, or closes it. Where too many are named, the one that was named first is so no longer.
    pub fn turn(&mut self, words: &str) {
        match self.named.iter().position(|named| named == words) {
            Some(at) => drop(self.named.remove(at)),
            None => self.named.push(words.to_owned()),
        }
        self.named.drain(..self.named.len().saturating_sub(OpenGroups::MOST));
    }
}

impl Groups {
    /// Opens and closes groups as the user chose. A group that is not there yet is opened when it is.
    pub(super) fn open_chosen(&mut self, marks: &[&Marks]) {
        let open = &self.choice.open;
        let found = open.named.iter().filter_map(|words| find(words, marks, &self.kinds, &self.index));
        let named: Vec<GroupId> = found.map(|at| self.index.id(at)).collect();
        self.index.open_all(open.all);
        for id in self.named.iter().filter(|id| !named.contains(id)) {
            self.index.set_open(*id, open.all);
        }
        for id in &named {
            self.index.set_open(*id, !open.all);
        }
        self.named = named;
    }

    /// The words of a group.
    pub(crate) fn words(&self, marks: &[&Marks], id: GroupId) -> Option<String> {
        let (_, entry) = self.index.of(id)?;
        // The name of a group that is no object stays when the lane of the object of this name goes.
        if let Some(label) = &entry.label {
            return Some(format!("{}:{}", label.word, label.key));
        }
        let (of, lane) = self.index.lane(marks, entry)?;
        Some(format!("{}/{}", self.kinds.get(of.kind.index())?.name, lane.key))
    }

    /// The words of the group of an object; of one that has nothing below it, of the group that it is in.
    pub(crate) fn words_around(&self, marks: &[&Marks], (kind, key): (KindId, &ObjectKey)) -> Option<String> {
        let lane = marks.get(kind.index()).and_then(|own| own.lanes.find(key))?;
        let of = LaneOf { kind, lane };
        let at = if self.index.is_by_manager() { self.index.of_newest_manager(of) } else { self.index.of_lane(of) }?;
        let is_group = self.index.get(at).is_some_and(|entry| entry.members > 0);
        let at = if is_group { at } else { self.index.around(at).next()? };
        self.words(marks, self.index.id(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_turned_and_too_many_are_not_kept() {
        let mut open = OpenGroups::default();
        open.turn("a");
        open.turn("b");
        open.turn("a");
        assert_eq!(open.named, ["b"]);
        (0..OpenGroups::MOST).for_each(|at| open.turn(&at.to_string()));
        assert_eq!((open.named.len(), &*open.named[0]), (OpenGroups::MOST, "0"));
    }
}
