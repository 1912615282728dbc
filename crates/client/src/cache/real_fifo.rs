//! The RealFIFO: every delta in the order of its arrival, across all keys. No deltas are folded, so that the size of the queue
//! follows the number of events.
//!
//! This is client-go's `the_real_fifo.go`, the default there since 1.33. [`RealFifo::atomic`] is the `AtomicFIFO` of 1.36,
//! which takes in a complete list as one entry; its bookmarks are left out, because the store here keeps no version of its
//! own that they could move.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::{Delta, DeltaType, Deltas};
use crate::cache::keyed_slab::{half, hash_of};
use crate::cache::queue::{Counts, KnownObjects, Queue, Queued, late, resolve};

/// The queue.
#[derive(Debug, Default)]
pub struct RealFifo {
    items: VecDeque<Item>,
    /// The newest state of every key that waits.
    newest: HashMap<ObjectKey, Newest, FxBuildHasher>,
    counts: Counts,
    /// How many complete lists wait as one entry.
    lists: usize,
    atomic: bool,
}

#[derive(Debug)]
enum Item {
    Delta(Delta),
    /// A complete list, compared with what is known when it is at the head.
    ReplacedAll {
        items: CompleteList,
        /// Whether it was the first thing to arrive.
        first: bool,
    },
    /// A resync: everything that is known when its turn comes, and has nothing queued.
    SyncAll,
}

#[derive(Debug)]
struct Newest {
    object: Arc<Object>,
    present: bool,
    /// How many deltas of the queue are about the key.
    count: u32,
}

impl RealFifo {
    /// An empty queue that takes a complete list as one entry.
    pub fn atomic() -> RealFifo {
        RealFifo { atomic: true, ..RealFifo::default() }
    }

    /// The newest object of each key that waits, with the [`half`] of the key's hash.
    fn waiting(&self) -> impl Iterator<Item = (u32, &Arc<Object>)> {
        self.newest.values().map(|newest| (half(hash_of(&newest.object.key)), &newest.object))
    }

    fn push(&mut self, delta: Delta) {
        self.counts.queued += u64::from(delta.folded);
        self.note(delta.object.object(), delta.is_present());
        self.items.push_back(Item::Delta(delta));
    }

    /// One more delta about this key waits, and this is its newest object.
    fn note(&mut self, object: &Arc<Object>, present: bool) {
        let newest =
            self.newest.entry_ref(&object.key).or_insert_with(|| Newest { object: object.clone(), present, count: 0 });
        newest.count += 1;
        newest.present = present;
        newest.object.clone_from(object);
    }

    /// One delta less about this key waits.
    fn forget(&mut self, key: &ObjectKey) {
        if let Some(newest) = self.newest.get_mut(key) {
            newest.count -= 1;
            if newest.count == 0 {
                self.newest.remove(key);
            }
        }
    }

    /// Where the head is an entry that stands for many deltas, puts these in its place.
    fn expand(&mut self, known: &dyn KnownObjects) {
        loop {
            match self.items.pop_front() {
                Some(Item::ReplacedAll { items, first }) => self.expand_list(items, first, known),
                Some(Item::SyncAll) => {
                    let mut again = Vec::new();
                    known.each_absent(&mut self.waiting(), &mut |_, object| {
                        again.push(Delta::new(DeltaType::Sync, object.clone()));
                    });
                    self.counts.made.resyncs += again.len() as u64;
                    self.put_first(again);
                }
                Some(item @ Item::Delta(_)) => return self.items.push_front(item),
                None => return,
            }
        }
    }

    fn expand_list(&mut self, items: CompleteList, first: bool, known: &dyn KnownObjects) {
        self.lists -= 1;
        let mut gone = Vec::new();
        known.each_absent(&mut items.hashed(), &mut |_, object| gone.push(Delta::tombstone(object.clone())));
        self.counts.made.tombstones += gone.len() as u64;
        self.counts.initial += if first { gone.len() } else { 0 };
        // The items were counted when their list arrived.
        for (_, object) in items.into_hashed().into_iter().rev() {
            self.items.push_front(Item::Delta(Delta::new(DeltaType::Replaced, object)));
        }
        self.put_first(gone);
    }

    /// Puts deltas that were not counted yet before all others. Whatever else waits for their keys stays the newest.
    fn put_first(&mut self, deltas: Vec<Delta>) {
        for delta in deltas.into_iter().rev() {
            self.counts.queued += u64::from(delta.folded);
            let object = delta.object.object();
            match self.newest.get_mut(&object.key) {
                Some(newest) => newest.count += 1,
                // A complete list that waits does not hold the object, which so will be gone.
                None => self.note(object, delta.is_present() && self.lists == 0),
            }
            self.items.push_front(Item::Delta(delta));
        }
    }
}

impl Queue for RealFifo {
    /// A deletion is queued even if nothing is known of the key.
    fn event(&mut self, delta_type: DeltaType, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.counts.populated = true;
        let late = match self.newest(&object.key) {
            Some((newest, present)) => late(&object, newest, present),
            // An object that is known, and not in a complete list that waits, will be gone when that list has had its turn.
            None if self.lists > 0 => None,
            None => known.known(&object.key).and_then(|known| late(&object, known, true)),
        };
        if let Some(late) = late {
            return late;
        }
        self.push(Delta::new(delta_type, object));
        Queued::Queued
    }

    /// Tombstones go before the items.
    fn replace(&mut self, list: CompleteList, known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let first = !std::mem::replace(&mut self.counts.populated, true);
        let gone = self.absent(&list, known);
        if first {
            self.counts.initial = list.len();
        }
        if self.atomic {
            // An object that waits and is not in the list will be gone when the list has had its turn.
            self.newest.values_mut().for_each(|newest| newest.present = false);
            list.iter().for_each(|object| self.note(object, true));
            self.counts.queued += list.len() as u64;
            self.lists += 1;
            self.items.push_back(Item::ReplacedAll { items: list, first });
            return gone;
        }
        self.counts.made.tombstones += gone.len() as u64;
        self.counts.initial += if first { gone.len() } else { 0 };
        gone.iter().for_each(|object| self.push(Delta::tombstone(object.clone())));
        list.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Replaced, object)));
        gone
    }

    fn absent(&self, list: &CompleteList, known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let listed: HashSet<&ObjectKey, FxBuildHasher> = list.iter().map(|object| &object.key).collect();
        let absent = self.newest.values().filter(|newest| newest.present && !listed.contains(&newest.object.key));
        let mut gone: Vec<Arc<Object>> = absent.map(|newest| newest.object.clone()).collect();
        // Where a complete list waits, whatever is known and not in that list will be gone by then.
        if self.lists == 0 {
            known.each_absent(&mut list.hashed().chain(self.waiting()), &mut |_, object| gone.push(object.clone()));
        }
        gone
    }

    fn resync(&mut self, known: &dyn KnownObjects) {
        if self.atomic {
            self.items.push_back(Item::SyncAll);
            return;
        }
        let mut again = Vec::new();
        known.each_absent(&mut self.waiting(), &mut |_, object| again.push(object.clone()));
        self.counts.made.resyncs += again.len() as u64;
        again.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Sync, object)));
    }

    /// Takes one delta: what came for its key later waits for its own turn.
    fn pop(&mut self, known: &dyn KnownObjects) -> Option<Deltas> {
        self.expand(known);
        let Some(Item::Delta(mut delta)) = self.items.pop_front() else { return None };
        self.counts.queued -= u64::from(delta.folded);
        self.counts.initial = self.counts.initial.saturating_sub(1);
        let key = delta.key().clone();
        self.forget(&key);
        resolve(&mut delta, |key| known.known(key).is_some());
        Some(delta.into())
    }

    fn len(&self) -> usize {
        self.newest.len()
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn newest(&self, key: &ObjectKey) -> Option<(&Arc<Object>, bool)> {
        self.newest.get(key).map(|newest| (&newest.object, newest.present))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::queue::tests::{check_of, reader_of, written};
    use crate::cache::queue_kind::QueueKind;
    use crate::cache::store::Change;

    const BOTH: [QueueKind; 2] = [QueueKind::RealFifo, QueueKind::AtomicFifo];

    #[test]
    fn every_delta_comes_in_the_order_of_its_arrival() {
        for kind in BOTH {
            check_of(kind, "", &["+a@1", "+b@2", "~a@3", "~a@4", "-b@5"], "+a@1 +b@2 ~a@3 ~a@4 -b@5");
            check_of(kind, "a@1", &["-a@2", "-a@3", "-z@4"], "-a@2 -a@3 -z@4");
            check_of(kind, "k@1", &["~k@2", "[a@9"], "~k@2 !k@2 +a@9");
        }
    }

    /// TestRealFIFO_HasSynced.
    #[test]
    fn synced_when_the_first_list_is_taken_out() {
        for kind in BOTH {
            for (puts, after) in
                [(&["["][..], 0), (&["[a@1 b@2"], 2), (&["+a@1"], 0), (&["+a@1", "[b@2"], 0), (&["[a@1", "~a@2"], 1)]
            {
                let mut reader = reader_of(kind, "");
                assert!(!reader.fifo.has_synced());
                reader.put_all(puts);
                let synced = (0..9).find(|_| reader.fifo.has_synced() || !reader.take_some());
                assert_eq!(synced, Some(after), "{puts:?} {kind:?}");
            }
        }
    }

    /// A resync tells of what a list that waits will find gone: that is not among what the next list may lack.
    #[test]
    fn what_a_waiting_list_does_not_hold_is_gone_although_a_resync_tells_of_it() {
        for kind in BOTH {
            let mut reader = reader_of(kind, "a@1 c@1");
            reader.put_all(&[".", "[b@9"]);
            reader.take_some();
            let absent = reader.fifo.absent(&CompleteList::default(), &reader.store);
            assert_eq!(absent.iter().map(|object| &*object.key.name).collect::<Vec<_>>(), ["b"], "{kind:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// 66. TestReplaceEvents. Resyncs tell nothing new, and may come at another time.
        #[test]
        fn atomic_and_plain_replace_agree(
            steps in prop::collection::vec((0..10_usize, 0..3_usize, 1..3_u32), 0..60),
        ) {
            let play = |kind| {
                let mut reader = reader_of(kind, "a@1 c#2@2");
                for (at, step) in steps.iter().enumerate() {
                    if step.0 > 7 {
                        while reader.take_some() && at % 2 == 0 {}
                    } else {
                        reader.put(&written(at, *step));
                    }
                }
                reader.take();
                reader.changes.retain(|change| !matches!(change, Change::Synced { .. }));
                (reader.changes, reader.store.list(), reader.fifo.queued())
            };
            let (plain, atomic) = (play(QueueKind::RealFifo), play(QueueKind::AtomicFifo));
            for name in ["a", "b", "c"] {
                let of = |changes: &[Change]| {
                    changes.iter().filter(|change| *change.object().key.name == *name).cloned().collect::<Vec<_>>()
                };
                prop_assert_eq!(of(&plain.0), of(&atomic.0), "{}", name);
            }
            prop_assert_eq!((plain.1, plain.2), (atomic.1, atomic.2));
        }

        /// Whatever a DeltaFIFO tells of a name, a RealFIFO beside it tells too, in the same order, and both end in the
        /// same state.
        #[test]
        fn a_delta_fifo_tells_a_part_of_what_a_real_fifo_tells(
            steps in prop::collection::vec((0..9_usize, 0..3_usize, 1..3_u32), 0..60),
        ) {
            let play = |kind| {
                let mut reader = reader_of(kind, "");
                for (at, step) in steps.iter().enumerate() {
                    if step.0 > 7 {
                        // Both have applied the same before anything more comes.
                        reader.take();
                    } else {
                        reader.put(&written(at, *step));
                    }
                }
                reader.take();
                assert_eq!(reader.fifo.queued(), 0);
                reader.changes.retain(|change| !matches!(change, Change::Synced { .. }));
                (reader.changes, reader.store.list())
            };
            let (folded, all) = (play(QueueKind::DeltaFifo), play(QueueKind::RealFifo));
            prop_assert_eq!(&folded.1, &all.1);
            for name in ["a", "b", "c"] {
                let states = |changes: &[Change]| {
                    let own = changes.iter().filter(|change| *change.object().key.name == *name);
                    let states = own.map(|change| {
                        let object = change.object();
                        let gone = matches!(change, Change::Deleted { .. });
                        (object.uid.clone(), (!gone).then(|| object.resource_version.clone()))
                    });
                    states.collect::<Vec<_>>()
                };
                let all = states(&all.0);
                let mut rest = all.iter();
                for state in states(&folded.0) {
                    prop_assert!(rest.any(|other| *other == state), "{} {:?} {:?}", name, state, all);
                }
            }
        }
    }
}
