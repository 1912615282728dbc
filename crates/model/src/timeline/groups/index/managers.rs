//! Who wrote each mark, where lanes stand by manager: a group for each manager, in which an object has only the marks that
//! this manager made. So an object stands in as many groups as managers wrote it.
//!
//! All of it is there only while lanes stand so: four bytes for each mark, and an entry for each object of each manager. Who
//! wrote a mark is asked once, as many marks at a time as the caller has time for: new ones first, then those that were
//! there before, the newest first. The selected object, and those that are kept on top, stand whole beside the groups.

use std::collections::VecDeque;
use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;
use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::groups::LanesBy;
use crate::timeline::groups::index::{Anchor, Entry, Index, Label, NONE};
use crate::timeline::mark::{LaneId, LaneOf, Mark, SubjectRef};
use crate::timeline::marks::{MarkInfo, Marks};

/// The number of the manager of marks of which it is not known who wrote them.
const NOT_KNOWN: u8 = 0;
/// The number of all managers beyond the first 254.
const OTHERS: u8 = u8::MAX;
/// The most characters of a manager's name that are kept: as many as an API server lets through (`ValidateFieldManager` in
/// `validation.go` of apimachinery).
const LONGEST: usize = 128;

/// So many objects stand below managers at most, each counted once below each manager. The marks of further ones stand
/// together: an entry takes some 150 bytes, and with the marks of a million objects there would be a million entries.
pub(in crate::timeline::groups) const MOST: usize = 100_000;

/// The objects beyond [`MOST`] of one manager, in the place of a lane.
const REST: LaneOf = LaneOf { kind: KindId(u8::MAX), lane: LaneId(u32::MAX) };

/// Tells who wrote the version of an object that a mark is about; `None` if that is not known.
pub(in crate::timeline) type FindWriter<'a> = dyn FnMut(&'static Kind, &MarkInfo<'_>) -> Option<String> + 'a;

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
pub(super) struct Managers {
    /// The names, in the order of their numbers, which begin at 1.
    names: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u8>,
    entries: FxHashMap<(KindId, LaneId, u8), u32>,
    /// By entry.
    below: Vec<Option<Below>>,
    /// By kind.
    known: Vec<Known>,
    /// The entries of the objects that stand whole beside the groups.
    whole: Vec<u32>,
}

impl Managers {
    pub(super) fn bytes(&self) -> usize {
        let known: usize = self.known.iter().map(|known| known.entries.capacity()).sum();
        let pairs = self.entries.capacity() * (size_of::<(KindId, LaneId, u8)>() + size_of::<u32>() + 1);
        known * size_of::<u32>() + pairs + self.below.capacity() * size_of::<Option<Below>>() + self.names.len() * 200
    }

    /// The number of a manager, which gets one if there is one left.
    fn number(&mut self, name: &str) -> u8 {
        let name = name.char_indices().nth(LONGEST).map_or(name, |(end, _)| &name[..end]);
        if name.is_empty() {
            return NOT_KNOWN;
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u8::try_from(self.names.len() + 1).unwrap_or(OTHERS);
        if number != OTHERS {
            let name: Arc<str> = name.into();
            self.names.push(Arc::clone(&name));
            self.numbers.insert(name, number);
        }
        number
    }

    /// The word and the name of a manager's group.
    fn words(&self, number: u8) -> (Box<str>, ObjectKey) {
        let key = |name: &str| ObjectKey::new("", name);
        match (number, self.names.get(usize::from(number).wrapping_sub(1))) {
            (OTHERS, _) => ("".into(), key("other managers")),
            (_, None) => ("manager".into(), key("not known")),
            (_, Some(name)) => ("manager".into(), ObjectKey { namespace: "".into(), name: Arc::clone(name) }),
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
}

impl Index {
    /// Whether lanes stand by manager.
    pub(in crate::timeline::groups) fn is_by_manager(&self) -> bool {
        self.by == LanesBy::Manager
    }

    /// Whether an entry is of the marks that one manager made of an object.
    pub(in crate::timeline::groups) fn is_part(&self, at: u32) -> bool {
        self.managers.below.get(at as usize).is_some_and(Option::is_some)
    }

    /// The marks of a kind whose entries are known: `first <= seq < end`.
    pub(in crate::timeline::groups) fn known(&self, kind: usize) -> (u64, u64) {
        if !self.is_by_manager() {
            return (0, u64::MAX);
        }
        self.managers.known.get(kind).map_or((0, 0), |known| (known.first, known.end()))
    }

    /// The entry of a mark of a kind, if there is one and it is known.
    pub(in crate::timeline::groups) fn of_mark(&self, kind: KindId, mark: &Mark<'_>) -> Option<u32> {
        if self.is_by_manager() {
            let known = self.managers.known.get(kind.index())?;
            let place = usize::try_from(mark.seq.checked_sub(known.first)?).ok()?;
            return known.entries.get(place).copied().filter(|at| *at != NONE);
        }
        let SubjectRef::Object { lane, .. } = mark.subject else { return None };
        self.of_lane(LaneOf { kind, lane })
    }

    /// The entry of an object below the manager who wrote it last.
    pub(in crate::timeline::groups) fn of_newest_manager(&self, of: LaneOf) -> Option<u32> {
        let entry = |number: u8| self.managers.entries.get(&(of.kind, of.lane, number)).copied();
        let last_at = |at: &u32| self.get(*at).map_or(f64::NEG_INFINITY, |entry| entry.last_at);
        (0..=u8::MAX).filter_map(entry).max_by(|one, other| last_at(one).total_cmp(&last_at(other)))
    }

    /// Asks who wrote marks of which that is not known yet, at most `most` of them. Returns whether some are left.
    pub(in crate::timeline::groups) fn find_writers(
        &mut self,
        (marks, kinds): (&[&Marks], &[&'static Kind]),
        most: usize,
        find: &mut FindWriter<'_>,
    ) -> bool {
        self.fit(marks);
        self.trim(marks);
        for _ in 0..most {
            let Some((at, seq, is_new)) = self.managers.next(marks) else { return false };
            let entry = self.place_mark((marks, kinds), (KindId(at as u8), seq), find);
            let known = &mut self.managers.known[at];
            if is_new {
                known.entries.push_back(entry);
            } else {
                known.entries.push_front(entry);
                known.first = seq;
            }
        }
        self.managers.next(marks).is_some()
    }

    /// Lets evicted marks go. Returns whether it is still to be asked who wrote some of the others.
    pub(super) fn look_at_managers(&mut self, marks: &[&Marks]) -> bool {
        self.trim(marks);
        self.managers.next(marks).is_some()
    }

    /// Has these objects, and no others, stand whole beside the groups.
    pub(in crate::timeline::groups) fn stand_whole(&mut self, marks: &[&Marks], wanted: &[LaneOf]) {
        let lanes = |of: LaneOf| marks.get(of.kind.index()).map(|own| &own.lanes);
        for at in std::mem::take(&mut self.managers.whole) {
            let Some((of, generation)) = self.entries[at as usize].lane else { continue };
            if wanted.contains(&of) && lanes(of).is_some_and(|lanes| lanes.generation(of.lane) == generation) {
                self.managers.whole.push(at);
                continue;
            }
            self.of_lane[of.kind.index()][of.lane.0 as usize] = NONE;
            let entry = &mut self.entries[at as usize];
            (entry.lane, entry.generation) = (None, entry.generation.wrapping_add(1));
            self.free.push(at);
        }
        for of in wanted.iter().copied() {
            let Some(lanes) = lanes(of).filter(|lanes| lanes.get(of.lane).is_some()) else { continue };
            if self.of_lane(of).is_none() {
                let at = self.make();
                self.unlink(at);
                let entry = &mut self.entries[at as usize];
                (entry.parent, entry.lane) = (NONE, Some((of, lanes.generation(of.lane))));
                let (places, slot) = (&mut self.of_lane[of.kind.index()], of.lane.0 as usize);
                places.resize(places.len().max(slot + 1), NONE);
                places[slot] = at;
                self.managers.whole.push(at);
            }
        }
    }

    fn trim(&mut self, marks: &[&Marks]) {
        if self.managers.known.len() != marks.len() {
            let known = |own: &&Marks| Known { first: own.ring.next_seq(), entries: VecDeque::new() };
            self.managers.known = marks.iter().map(known).collect();
        }
        for (at, own) in marks.iter().enumerate() {
            let oldest = own.ring.first_seq();
            while let Some(known) = self.managers.known.get_mut(at).filter(|known| known.first < oldest) {
                let Some(entry) = known.entries.pop_front() else {
                    known.first = oldest;
                    break;
                };
                known.first += 1;
                self.release(entry);
            }
        }
    }

    /// Takes one mark off an entry, and the entry with the last one.
    fn release(&mut self, at: u32) {
        let Some(place) = self.managers.below.get_mut(at as usize) else { return };
        let Some(below) = place else { return };
        below.marks = below.marks.saturating_sub(1);
        if below.marks > 0 {
            return;
        }
        self.managers.entries.remove(&(below.of.kind, below.of.lane, below.manager));
        *place = None;
        let Entry { parent, lane, .. } = self.entries[at as usize];
        self.change(parent, |entry| entry.members = entry.members.saturating_sub(u32::from(lane.is_some())));
        self.entries[at as usize].lane = None;
        self.free_if_empty(at);
    }

    /// Puts a mark where it belongs, and returns the entry.
    fn place_mark(
        &mut self,
        (marks, kinds): (&[&Marks], &[&'static Kind]),
        (kind, seq): (KindId, u64),
        find: &mut FindWriter<'_>,
    ) -> u32 {
        let Some((own, mark)) = marks.get(kind.index()).and_then(|own| Some((*own, own.ring.get(seq)?))) else {
            return NONE;
        };
        let SubjectRef::Object { lane, .. } = mark.subject else { return NONE };
        let of = LaneOf { kind, lane };
        let writer = kinds.get(kind.index()).and_then(|kind| find(kind, &own.info(mark)));
        let manager = writer.map_or(NOT_KNOWN, |name| self.managers.number(&name));
        let known = |of: LaneOf| self.managers.entries.get(&(of.kind, of.lane, manager)).copied();
        let is_full = self.managers.entries.len() >= MOST;
        let at = match known(of).or_else(|| if is_full { known(REST) } else { None }) {
            Some(at) => at,
            None if is_full => self.make_below(manager, REST, None),
            None => self.make_below(manager, of, Some(own.lanes.generation(lane))),
        };
        if let Some(Some(below)) = self.managers.below.get_mut(at as usize) {
            below.marks += 1;
        }
        self.change(at, |entry| {
            entry.first_at = entry.first_at.min(mark.at);
            entry.last_at = entry.last_at.max(mark.at);
        });
        at
    }

    /// The entry of an object below a manager who was not known to have written it; without a generation, of those that are
    /// too many.
    fn make_below(&mut self, manager: u8, of: LaneOf, generation: Option<u32>) -> u32 {
        let (word, key) = self.managers.words(manager);
        let group = self.anchored(Anchor::Manager(manager), || (word, key));
        let at = self.make();
        self.entries[at as usize].lane = generation.map(|generation| (of, generation));
        if generation.is_none() {
            let (word, key) = ("".into(), ObjectKey::new("", "other objects"));
            self.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: Anchor::Rest(manager) }));
        }
        self.move_to(at, group);
        self.managers.entries.insert((of.kind, of.lane, manager), at);
        let below = &mut self.managers.below;
        below.resize_with(below.len().max(at as usize + 1), || None);
        below[at as usize] = Some(Below { of, manager, marks: 0 });
        at
    }
}
