//! What must become of everything that the informer receives: its ledger, its marks, its queue and its store, computed a second
//! time in the simplest way.

use std::collections::{HashSet, VecDeque};

use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::ledger::Ledger;

use crate::histories::server::{COUNT, Map, Seen, State};

#[derive(Default)]
pub struct Expected {
    /// Whether the queue folds what waits for a key: a DeltaFIFO, not a RealFIFO.
    folds: bool,
    /// What the store must hold.
    pub store: Map,
    /// What must wait for each key, oldest first, unfolded.
    pending: [VecDeque<Delta>; COUNT],
    made: u64,
    /// What the list under way has brought.
    list: Map,
    /// How many items of that list had no name.
    unnamed: u64,
    /// The objects whose DELETED came while a list was streamed.
    received: HashSet<(usize, u32)>,
    /// The counters, without those of bytes and of watches. `applied` includes what was coalesced.
    pub ledger: Ledger,
    /// The arrivals of which handlers must be notified since the last check. The last ones, of deletions that no event
    /// reported, may come in any order.
    marks: Vec<(DeltaType, Seen)>,
    /// Where a watch must resume.
    pub version: u64,
    /// When the last frame of a watch came, a watch ended properly, or a list was complete.
    pub heard: f64,
    /// The revisions whose events went to the queue.
    reached: HashSet<u64>,
    /// The ranges of revisions for which a complete list stands.
    unknown: Vec<Unknown>,
    /// The objects of which handlers were notified as they arrived.
    pub marked: HashSet<(usize, u32)>,
}

/// A range of revisions: a complete list stands for their events.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    /// Whether it was the first list.
    first: bool,
    /// The version before the list: everything up to it is known.
    after: u64,
    /// The version of the list.
    to: u64,
    /// When the last proof came before the list, and when the list was complete.
    heard: f64,
    at: f64,
}

impl Unknown {
    fn holds(&self, revision: u64) -> bool {
        self.after < revision && revision <= self.to
    }
}

/// A delta that waits.
#[derive(Clone, Copy, Debug)]
struct Delta {
    /// When its turn comes. Deltas that are made together have the same turn, for their order does not matter.
    turn: u64,
    delta_type: DeltaType,
    seen: Seen,
    /// Whether it belongs to the first list.
    initial: bool,
}

/// A change that was reported to a handler: the object, what happened to it, and how many deltas it stands for.
#[derive(Clone, Copy, Debug)]
pub struct ReportedChange {
    pub what: What,
    pub seen: Seen,
    pub folded: u32,
}

/// What kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Added,
    /// The state before.
    Updated(Seen),
    Synced,
    Deleted,
    /// The object was missing in a complete list.
    Missed,
}

impl ReportedChange {
    pub fn is_present(&self) -> bool {
        !matches!(self.what, What::Deleted | What::Missed)
    }
}

impl Delta {
    fn is_present(&self) -> bool {
        self.delta_type != DeltaType::Deleted
    }
}

impl Expected {
    pub fn new(folds: bool) -> Expected {
        Expected { folds, ..Expected::default() }
    }

    /// Whether the queue folds.
    pub fn folds(&self) -> bool {
        self.folds
    }

    /// Takes a frame that is no event, and the counter that it belongs to.
    pub fn other(&mut self, counter: impl FnOnce(&mut Ledger) -> &mut u64) {
        self.ledger.frames += 1;
        *counter(&mut self.ledger) += 1;
    }

    /// A bookmark of a watch, or whatever else proves that all before it was sent.
    pub fn passed(&mut self, revision: u64) {
        self.version = self.version.max(revision);
    }

    /// An event of a watch.
    pub fn event(&mut self, state: State) {
        self.ledger.frames += 1;
        self.ledger.events += 1;
        self.passed(state.seen.version);
        self.reached.insert(state.revision);
        let newest = self.newest(state.seen.key);
        if let Some((newest, present)) = newest.filter(|(newest, _)| is_older(state.seen, *newest)) {
            match newest.life == state.seen.life {
                true => self.ledger.late += 1,
                false => self.ledger.former += u64::from(present),
            }
            if present || newest.life == state.seen.life {
                return;
            }
        }
        let delta_type = state.delta_type;
        self.marks.push((delta_type, state.seen));
        if newest.is_none() && !state.is_present() && self.folds {
            self.ledger.unknown += 1;
            return;
        }
        self.ledger.watched += 1;
        self.made += 1;
        self.queue(delta_type, state.seen, false);
    }

    /// An event of a streaming list.
    pub fn streamed(&mut self, state: State) {
        let seen = state.seen;
        self.ledger.frames += 1;
        self.ledger.events += 1;
        let before = self.list[seen.key];
        if let Some(before) = before.filter(|before| is_older(seen, *before)) {
            match before.life == seen.life {
                true => self.ledger.late += 1,
                false => self.ledger.former += 1,
            }
            return;
        }
        self.ledger.streamed += 1;
        self.ledger.merged += u64::from(before.is_some()) + u64::from(!state.is_present());
        self.list[seen.key] = state.is_present().then_some(seen);
        self.ledger.pending = self.list.iter().flatten().count() as u64;
        let delta_type = match state.delta_type {
            DeltaType::Added => DeltaType::Replaced,
            other => other,
        };
        if !state.is_present() {
            self.received.insert((seen.key, seen.life));
        }
        if !state.is_present() || self.newest(seen.key) != Some((seen, true)) {
            self.marks.push((delta_type, seen));
        }
    }

    /// The items of a page, of which no two have one key.
    pub fn listed(&mut self, items: &[Seen], malformed: u64) {
        self.ledger.listed += items.len() as u64 + malformed;
        self.ledger.malformed_items += malformed;
        self.unnamed += malformed;
        self.ledger.pending += items.len() as u64;
        for seen in items {
            self.list[seen.key] = Some(*seen);
            if self.newest(seen.key) != Some((*seen, true)) {
                self.marks.push((DeltaType::Replaced, *seen));
            }
        }
    }

    /// The list under way is complete. Returns how many objects it has.
    pub fn complete(&mut self, revision: u64, now: f64) -> usize {
        let mut list = std::mem::take(&mut self.list);
        let count = list.iter().flatten().count();
        let unnamed = std::mem::take(&mut self.unnamed);
        self.ledger.pending -= count as u64;
        self.ledger.replaced += count as u64;
        let first = self.ledger.lists == 0;
        self.ledger.lists += 1;
        self.unknown.push(Unknown { first, after: self.version, to: revision, heard: self.heard, at: now });
        self.heard = now;
        self.version = revision;
        let received = std::mem::take(&mut self.received);
        if unnamed > 0 {
            // Any object that is not in the list may be an item that had no name.
            for key in (0..COUNT).filter(|key| list[*key].is_none()).collect::<Vec<_>>() {
                list[key] = self.newest(key).filter(|(_, present)| *present).map(|(seen, _)| seen);
                self.ledger.kept += u64::from(list[key].is_some());
            }
        }
        // A key has a tombstone or an item, never both, so that their order across keys does not matter.
        let (tombstones, items) = if self.folds { (2, 1) } else { (1, 2) };
        for (key, listed) in list.iter().enumerate() {
            let gone = self.newest(key).filter(|(_, present)| *present && listed.is_none());
            let Some((seen, _)) = gone else { continue };
            self.ledger.tombstones += 1;
            if !received.contains(&(key, seen.life)) {
                self.marks.push((DeltaType::Deleted, seen));
            }
            let turn = self.made + tombstones * COUNT as u64;
            self.pending[key].push_back(Delta { turn, delta_type: DeltaType::Deleted, seen, initial: first });
        }
        for (at, seen) in list.into_iter().flatten().enumerate() {
            let turn = self.made + items * COUNT as u64 + at as u64;
            self.pending[seen.key].push_back(Delta { turn, delta_type: DeltaType::Replaced, seen, initial: first });
        }
        self.made += 4 * COUNT as u64;
        count
    }

    /// The list under way, if any, is dropped.
    pub fn discard(&mut self) {
        self.unnamed = 0;
        let count = std::mem::take(&mut self.list).iter().flatten().count() as u64;
        self.ledger.pending -= count;
        self.ledger.discarded += count;
    }

    /// A resync: each object that has nothing queued is queued again.
    pub fn resync(&mut self) {
        self.made += 1;
        for key in 0..COUNT {
            if let (Some(seen), true) = (self.store[key], self.pending[key].is_empty()) {
                self.ledger.resyncs += 1;
                self.queue(DeltaType::Sync, seen, false);
            }
        }
    }

    fn queue(&mut self, delta_type: DeltaType, seen: Seen, initial: bool) {
        self.pending[seen.key].push_back(Delta { turn: self.made, delta_type, seen, initial });
    }

    /// The newest that is known of a key, and whether it is a state, not a deletion.
    fn newest(&self, key: usize) -> Option<(Seen, bool)> {
        match self.pending[key].back() {
            Some(delta) => Some((delta.seen, delta.is_present())),
            None => self.store[key].map(|seen| (seen, true)),
        }
    }

    /// How many deltas wait.
    pub fn queued(&self) -> u64 {
        self.pending.iter().map(|pending| pending.len() as u64).sum()
    }

    /// Whether the first list has reached the store.
    pub fn has_synced(&self) -> bool {
        self.ledger.lists > 0 && !self.pending.iter().flatten().any(|delta| delta.initial)
    }

    /// The head of the queue was taken out and applied as `applied` deltas, which stand for `count` deltas together; `reported` is
    /// what handlers received of that. The turn of the key must have come, all that waited for it must have been taken, each
    /// change must stand for the next deltas and be one of them, and the store must hold what the last change says.
    pub fn popped(&mut self, reported: &[ReportedChange], applied: u64, count: u64) {
        let front = |key: &usize| self.pending[*key].front().map(|delta| delta.turn);
        let turn = (0..COUNT).filter_map(|key| front(&key)).min().expect("something waits");
        let mut heads = (0..COUNT).filter(|key| front(key) == Some(turn));
        let head = heads.find(|key| reported.first().is_none_or(|change| change.seen.key == *key));
        let key = head.unwrap_or_else(|| panic!("{reported:?} jumped the line: {:?}", self.pending));
        let taken = if self.folds { self.pending[key].len() } else { 1 };
        let deltas: Vec<Delta> = self.pending[key].drain(..taken).collect();
        assert_eq!(count, deltas.len() as u64, "{reported:?} are not all of {deltas:?}");
        assert!(stand_for(reported, &deltas, applied), "{reported:?}, {applied} applied, do not stand for {deltas:?}");
        let known = &mut self.store[key];
        for change in reported {
            let follows = match change.what {
                What::Added => known.is_none(),
                What::Updated(old) => *known == Some(old) && old.life == change.seen.life && old != change.seen,
                What::Synced => *known == Some(change.seen),
                What::Deleted | What::Missed => known.is_some_and(|known| known.life == change.seen.life),
            };
            assert!(follows && change.seen.key == key, "{change:?} does not follow {known:?}");
            *known = change.is_present().then_some(change.seen);
        }
        let last = deltas.last().expect("at least one");
        assert_eq!(*known, last.is_present().then_some(last.seen), "{reported:?} of {deltas:?}");
    }

    /// Compares the marks of which handlers were notified with those of which they must have been notified.
    pub fn check_marks(&mut self, mut marks: Vec<(DeltaType, Seen)>) {
        if marks.len() == self.marks.len() {
            let same = marks.iter().zip(&self.marks).take_while(|(mark, expected)| mark == expected).count();
            marks[same..].sort_by_key(|(delta_type, seen)| (*delta_type == DeltaType::Deleted, seen.key));
        }
        assert_eq!(marks, self.marks);
        self.marked.extend(self.marks.drain(..).map(|(_, seen)| (seen.key, seen.life)));
    }

    /// Every revision must have gone to the queue, or a complete list must stand for it, and a gap must have said since when
    /// nothing was known.
    pub fn check_revisions(&self, history: &[State], gaps: &[(f64, f64)]) {
        for state in history.iter().filter(|state| !self.reached.contains(&state.revision)) {
            let mut lists = self.unknown.iter().filter(|unknown| unknown.holds(state.revision));
            assert!(lists.clone().next().is_some(), "{state:?} is nowhere: {:?}", self.unknown);
            let is_covered = |list: &Unknown| {
                let gap = gaps.iter().any(|gap| gap.0 <= list.at && list.at <= gap.1);
                list.first || list.heard == list.at || gap
            };
            assert!(
                lists.any(is_covered),
                "{state:?} was not seen, and no gap is reported: {:?} {gaps:?}",
                self.unknown
            );
        }
    }

    /// Whether a complete list stands for a revision.
    pub fn is_unknown(&self, revision: u64) -> bool {
        self.unknown.iter().any(|unknown| unknown.holds(revision))
    }
}

/// Versions are compared where there are two.
fn is_older(seen: Seen, newest: Seen) -> bool {
    seen.version != 0 && newest.version != 0 && seen.version < newest.version
}

/// Whether the deltas can be cut into `applied` runs, so that for each run a handler was notified of one delta of it; or of
/// nothing, if the run has a deletion that found no object. A change for an object that was deleted unseen stands for no delta.
fn stand_for(reported: &[ReportedChange], deltas: &[Delta], applied: u64) -> bool {
    if deltas.is_empty() {
        return reported.is_empty() && applied == 0;
    }
    if applied == 0 {
        return false;
    }
    if let Some((first, later)) = reported.split_first() {
        let count = first.folded as usize;
        let fits = |delta: &Delta| delta.seen == first.seen && delta.is_present() == first.is_present();
        if count > 0
            && count <= deltas.len()
            && deltas[..count].iter().any(fits)
            && stand_for(later, &deltas[count..], applied - 1)
        {
            return true;
        }
        let unseen = first.what == What::Missed && later.first().is_some_and(|next| next.what == What::Added);
        if unseen && first.folded == 1 && stand_for(later, deltas, applied) {
            return true;
        }
    }
    (1..=deltas.len()).any(|count| {
        deltas[..count].iter().any(|delta| !delta.is_present()) && stand_for(reported, &deltas[count..], applied - 1)
    })
}
