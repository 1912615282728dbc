//! Who wrote each mark, where lanes stand by manager: a group for each manager, in which an object has only the marks
//! that this manager made. So an object stands in as many groups as managers wrote it.
//!
//! All of it is there only while lanes stand so: four bytes for each mark, and an entry for each object of each
//! manager. Who wrote a mark is asked once, as many marks at a time as the caller has time for: new ones first, then
//! those that were there before, the newest first. The selected object, and those that are kept on top, stand whole
//! beside the groups.

use std::collections::VecDeque;
use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;
use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::lanes::index::entry::{Anchor, Entry, Label, NONE};
use crate::timeline::lanes::index::tree::Tree;
use crate::timeline::store::mark::{LaneId, LaneOf, SubjectRef};
use crate::timeline::store::marks::{MarkInfo, Marks};

/// The number of the manager of marks of which it is not known who wrote them.
const NOT_KNOWN: u8 = 0;
/// The number of all managers beyond the first 254.
const OTHERS: u8 = u8::MAX;
/// The most characters of a manager's name that are kept: as many as an API server lets through (`ValidateFieldManager`
/// in `validation.go` of apimachinery).
const LONGEST: usize = 128;

/// So many objects stand below managers at most, each counted once below each manager. The marks of further ones stand
/// together: an entry takes some 150 bytes, and with the marks of a million objects there would be a million entries.
pub(crate) const MOST: usize = 100_000;

/// The objects beyond [`MOST`] of one manager, in the place of a lane.
const REST: LaneOf = LaneOf { kind: KindId(u8::MAX), lane: LaneId(u32::MAX) };

/// Says who wrote the version of an object that a mark is about, and whether that is a user, who is known for certain, rather than a
/// manager; `None` if nobody is known.
pub(crate) type FindWriter<'a> = dyn FnMut(&'static Kind, &MarkInfo<'_>) -> Option<(String, bool)> + 'a;

/// The kinds of a timeline and their marks, both by the kinds' numbers.
#[derive(Clone, Copy)]
pub(crate) struct KindMarks<'a> {
    pub(crate) marks: &'a [&'a Marks],
    pub(crate) kinds: &'a [&'static Kind],
}

/// An object below a manager.
#[derive(Debug)]
struct Below {
    /// The object; [`REST`] for all that are too many.
    of: LaneOf,
    manager: u8,
    /// How many of its marks the manager made, as far as they are held and known.
    marks: u32,
}

/// The marks of a kind whose writers were asked for: those from the number `first` on, without a hole.
#[derive(Debug, Default)]
struct Known {
    first: u64,
    /// The entry of each mark; [`NONE`] for a mark that is of no object.
    entries: VecDeque<u32>,
}

impl Known {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }
}

/// The managers, and what each of them wrote.
#[derive(Debug, Default)]
pub(crate) struct Managers {
    /// The names, in the order of their numbers, which begin at 1, and whether they are those of users.
    names: Vec<(Arc<str>, bool)>,
    /// The numbers of managers, and those of users.
    numbers: [FxHashMap<Arc<str>, u8>; 2],
    entries: FxHashMap<(KindId, LaneId, u8), u32>,
    /// By entry.
    below: Vec<Option<Below>>,
    /// By kind.
    known: Vec<Known>,
    /// The entries of the objects that stand whole beside the groups.
    pub(super) whole: Vec<u32>,
}

impl Managers {
    pub(crate) fn bytes(&self) -> usize {
        let known: usize = self.known.iter().map(|known| known.entries.capacity()).sum();
        let pairs = self.entries.capacity() * (size_of::<(KindId, LaneId, u8)>() + size_of::<u32>() + 1);
        known * size_of::<u32>() + pairs + self.below.capacity() * size_of::<Option<Below>>() + self.names.len() * 200
    }

    /// The number of a manager or a user, who gets one if there is one left.
    fn number(&mut self, (name, is_user): (&str, bool)) -> u8 {
        let name = name.char_indices().nth(LONGEST).map_or(name, |(end, _)| &name[..end]);
        if name.is_empty() {
            return NOT_KNOWN;
        }
        if let Some(number) = self.numbers[usize::from(is_user)].get(name) {
            return *number;
        }
        let number = u8::try_from(self.names.len() + 1).unwrap_or(OTHERS);
        if number != OTHERS {
            let name: Arc<str> = name.into();
            self.names.push((Arc::clone(&name), is_user));
            self.numbers[usize::from(is_user)].insert(name, number);
        }
        number
    }

    /// The word and the name of a manager's group.
    fn words(&self, number: u8) -> (Box<str>, ObjectKey) {
        let key = |name: &str| ObjectKey::new("", name);
        match (number, self.names.get(usize::from(number).wrapping_sub(1))) {
            (OTHERS, _) => ("".into(), key("other managers")),
            (_, None) => ("manager".into(), key("not known")),
            (_, Some((name, is_user))) => {
                let word = if *is_user { "user" } else { "manager" };
                (word.into(), ObjectKey { namespace: "".into(), name: Arc::clone(name) })
            }
        }
    }

    /// The kind and number of the next mark whose writer is to be asked for, and whether it is a new one.
    fn next(&self, marks: &[&Marks]) -> Option<(usize, u64, bool)> {
        let kinds = || self.known.iter().zip(marks).enumerate();
        let new = kinds().find(|(_, (known, own))| known.end() < own.ring.next_seq());
        if let Some((at, (known, _))) = new {
            return Some((at, known.end(), true));
        }
        let before = kinds().filter_map(|(at, (known, own))| {
            let seq = known.first.checked_sub(1).filter(|seq| *seq >= own.ring.first_seq())?;
            Some((own.ring.get(seq)?.at, at, seq))
        });
        before.max_by(|(one, ..), (other, ..)| one.total_cmp(other)).map(|(_, at, seq)| (at, seq, false))
    }

    pub(super) fn has(&self, at: u32) -> bool {
        self.below.get(at as usize).is_some_and(Option::is_some)
    }

    /// The marks of a kind whose writers were asked for: `first <= seq < end`.
    pub(super) fn known(&self, kind: usize) -> (u64, u64) {
        self.known.get(kind).map_or((0, 0), |known| (known.first, known.end()))
    }

    /// The entry of the mark with this number, if there is one and it is known.
    pub(super) fn of_mark(&self, kind: KindId, seq: u64) -> Option<u32> {
        let known = self.known.get(kind.index())?;
        let place = usize::try_from(seq.checked_sub(known.first)?).ok()?;
        known.entries.get(place).copied().filter(|at| *at != NONE)
    }

    /// The entry of an object below the manager who wrote it last.
    pub(super) fn newest_of(&self, tree: &Tree, of: LaneOf) -> Option<u32> {
        let entry = |number: u8| self.entries.get(&(of.kind, of.lane, number)).copied();
        let last_at = |at: &u32| tree.get(*at).map_or(f64::NEG_INFINITY, |entry| entry.last_at);
        (0..=u8::MAX).filter_map(entry).max_by(|one, other| last_at(one).total_cmp(&last_at(other)))
    }

    /// Asks who wrote marks of which that is not known yet, at most `most` of them. Returns whether some are left.
    pub(super) fn find_writers(
        &mut self,
        tree: &mut Tree,
        all: KindMarks<'_>,
        most: usize,
        find: &mut FindWriter<'_>,
    ) -> bool {
        self.trim(tree, all.marks);
        for _ in 0..most {
            let Some((at, seq, is_new)) = self.next(all.marks) else { return false };
            let entry = self.find_writer(tree, all, (at, seq), find);
            let known = &mut self.known[at];
            if is_new {
                known.entries.push_back(entry);
            } else {
                known.entries.push_front(entry);
                known.first = seq;
            }
        }
        self.next(all.marks).is_some()
    }

    /// Lets evicted marks go. Returns whether it is still to be asked who wrote some of the others.
    pub(super) fn look(&mut self, tree: &mut Tree, marks: &[&Marks]) -> bool {
        self.trim(tree, marks);
        self.next(marks).is_some()
    }

    /// Lets evicted marks go.
    fn trim(&mut self, tree: &mut Tree, marks: &[&Marks]) {
        if self.known.len() != marks.len() {
            let known = |own: &&Marks| Known { first: own.ring.next_seq(), entries: VecDeque::new() };
            self.known = marks.iter().map(known).collect();
        }
        for (at, own) in marks.iter().enumerate() {
            let oldest = own.ring.first_seq();
            while let Some(known) = self.known.get_mut(at).filter(|known| known.first < oldest) {
                let Some(entry) = known.entries.pop_front() else {
                    known.first = oldest;
                    break;
                };
                known.first += 1;
                self.release(tree, entry);
            }
        }
    }

    /// Takes one mark off an entry, and the entry with the last one.
    fn release(&mut self, tree: &mut Tree, at: u32) {
        let Some(place) = self.below.get_mut(at as usize) else { return };
        let Some(below) = place else { return };
        below.marks = below.marks.saturating_sub(1);
        if below.marks > 0 {
            return;
        }
        self.entries.remove(&(below.of.kind, below.of.lane, below.manager));
        *place = None;
        let Entry { parent, lane, .. } = tree.entries[at as usize];
        tree.change(parent, |entry| entry.members = entry.members.saturating_sub(u32::from(lane.is_some())));
        tree.entries[at as usize].lane = None;
        tree.free_if_empty(at);
    }

    /// Asks who wrote a mark, which is given by the place of its kind and its number. Returns the mark's entry.
    fn find_writer(
        &mut self,
        tree: &mut Tree,
        all: KindMarks<'_>,
        (at, seq): (usize, u64),
        find: &mut FindWriter<'_>,
    ) -> u32 {
        let Some((own, mark)) = all.marks.get(at).and_then(|own| Some((*own, own.ring.get(seq)?))) else {
            return NONE;
        };
        let SubjectRef::Object { lane, .. } = mark.subject else { return NONE };
        let writer = all.kinds.get(at).and_then(|kind| find(kind, &own.info(mark)));
        let manager = writer.map_or(NOT_KNOWN, |(name, is_user)| self.number((&name, is_user)));
        let of = LaneOf { kind: KindId(at as u8), lane };
        self.add_mark(tree, manager, (of, own.lanes.generation(lane)), mark.at)
    }

    /// Adds a mark of a lane, which has this generation, to the object's entry below a manager. Returns the entry.
    fn add_mark(&mut self, tree: &mut Tree, manager: u8, (of, generation): (LaneOf, u32), stamped: f64) -> u32 {
        let known = |of: LaneOf| self.entries.get(&(of.kind, of.lane, manager)).copied();
        let is_full = self.entries.len() >= MOST;
        let at = match known(of).or_else(|| if is_full { known(REST) } else { None }) {
            Some(at) => at,
            None if is_full => self.make_below(tree, manager, REST, None),
            None => self.make_below(tree, manager, of, Some(generation)),
        };
        if let Some(Some(below)) = self.below.get_mut(at as usize) {
            below.marks += 1;
        }
        tree.change(at, |entry| {
            entry.first_at = entry.first_at.min(stamped);
            entry.last_at = entry.last_at.max(stamped);
        });
        at
    }

    /// The entry of an object below a manager who was not known to have written it; without a generation, of those that
    /// are too many.
    fn make_below(&mut self, tree: &mut Tree, manager: u8, of: LaneOf, generation: Option<u32>) -> u32 {
        let (word, key) = self.words(manager);
        let group = tree.anchored(Anchor::Manager(manager), || (word, key));
        let at = tree.make();
        tree.entries[at as usize].lane = generation.map(|generation| (of, generation));
        if generation.is_none() {
            let (word, key) = ("".into(), ObjectKey::new("", "other objects"));
            tree.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: Anchor::Rest(manager) }));
        }
        tree.move_to(at, group);
        self.entries.insert((of.kind, of.lane, manager), at);
        let below = &mut self.below;
        below.resize_with(below.len().max(at as usize + 1), || None);
        below[at as usize] = Some(Below { of, manager, marks: 0 });
        at
    }
}
