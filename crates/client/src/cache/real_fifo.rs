//! The RealFIFO: every delta in the order of its arrival, across all keys. No deltas are folded, so that the size of
//! the queue follows the number of events.
//!
//! It goes the way of client-go's `the_real_fifo.go`, and drops what comes too late. client-go's own, in both its kinds, is
//! [`cache::client_go::RealFifo`](crate::cache::client_go::RealFifo).

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::{Delta, DeltaType, Deltas};
use crate::cache::keyed_slab::{half, hash_of};
use crate::cache::queue::{Counts, Queue, Queued, late, resolve};
use crate::cache::store::Store;

/// The queue.
#[derive(Debug, Default)]
pub struct RealFifo {
    items: VecDeque<Delta>,
    /// The newest state of every key that waits.
    newest: HashMap<ObjectKey, Newest, FxBuildHasher>,
    counts: Counts,
}

#[derive(Debug)]
struct Newest {
    object: Arc<Object>,
    present: bool,
    /// How many deltas of the queue are about the key.
    count: u32,
}

impl RealFifo {
    /// The newest object of each key that waits, with the [`half`] of the key's hash.
    fn waiting(&self) -> impl Iterator<Item = (u32, &Arc<Object>)> {
        self.newest.values().map(|newest| (half(hash_of(&newest.object.key)), &newest.object))
    }

    fn push(&mut self, delta: Delta) {
        self.counts.queued += u64::from(delta.folded);
        self.note(delta.object.object(), delta.is_present());
        self.items.push_back(delta);
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
}

impl Queue for RealFifo {
    /// A deletion is queued even if nothing is known of the key.
    fn event(&mut self, delta_type: DeltaType, object: Arc<Object>, known: &Store) -> Queued {
        self.counts.populated = true;
        let late = match self.newest(&object.key) {
            Some((newest, present)) => late(&object, newest, present),
            None => known.get(&object.key).and_then(|known| late(&object, known, true)),
        };
        if let Some(late) = late {
            return late;
        }
        self.push(Delta::new(delta_type, object));
        Queued::Queued
    }

    /// Tombstones go before the items.
    fn replace(&mut self, list: CompleteList, known: &Store) -> Vec<Arc<Object>> {
        let first = !std::mem::replace(&mut self.counts.populated, true);
        let gone = self.absent(&list, known);
        self.counts.made.tombstones += gone.len() as u64;
        self.counts.initial += if first { list.len() + gone.len() } else { 0 };
        gone.iter().for_each(|object| self.push(Delta::tombstone(object.clone())));
        list.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Replaced, object)));
        gone
    }

    fn absent(&self, list: &CompleteList, known: &Store) -> Vec<Arc<Object>> {
        let listed: HashSet<&ObjectKey, FxBuildHasher> = list.iter().map(|object| &object.key).collect();
        let absent = self.newest.values().filter(|newest| newest.present && !listed.contains(&newest.object.key));
        let mut gone: Vec<Arc<Object>> = absent.map(|newest| newest.object.clone()).collect();
        known.each_absent(&mut list.hashed().chain(self.waiting()), &mut |_, object| gone.push(object.clone()));
        gone
    }

    fn resync(&mut self, known: &Store) {
        let mut again = Vec::new();
        known.each_absent(&mut self.waiting(), &mut |_, object| again.push(object.clone()));
        self.counts.made.resyncs += again.len() as u64;
        again.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Sync, object)));
    }

    /// Takes one delta: what came for its key later waits for its own turn.
    fn pop(&mut self, known: &Store) -> Option<Deltas> {
        let mut delta = self.items.pop_front()?;
        self.counts.queued -= u64::from(delta.folded);
        self.counts.initial = self.counts.initial.saturating_sub(1);
        let key = delta.key().clone();
        self.forget(&key);
        resolve(&mut delta, |key| known.get(key).is_some());
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
    use crate::cache::delta_fifo::DeltaFifo;
    use crate::cache::queue::tests::{check_of, reader_of, written};
    use crate::cache::store::Change;

    #[test]
    fn every_delta_comes_in_the_order_of_its_arrival() {
        check_of::<RealFifo>("", &["+a@1", "+b@2", "~a@3", "~a@4", "-b@5"], "+a@1 +b@2 ~a@3 ~a@4 -b@5");
        check_of::<RealFifo>("a@1", &["-a@2", "-a@3", "-z@4"], "-a@2 -a@3 -z@4");
        check_of::<RealFifo>("k@1", &["~k@2", "[a@9"], "~k@2 !k@2 +a@9");
    }

    /// TestRealFIFO_HasSynced.
    #[test]
    fn synced_when_the_first_list_is_taken_out() {
        for (puts, after) in
            [(&["["][..], 0), (&["[a@1 b@2"], 2), (&["+a@1"], 0), (&["+a@1", "[b@2"], 0), (&["[a@1", "~a@2"], 1)]
        {
            let mut reader = reader_of::<RealFifo>("");
            assert!(!reader.fifo.has_synced());
            reader.put_all(puts);
            let synced = (0..9).find(|_| reader.fifo.has_synced() || !reader.take_some());
            assert_eq!(synced, Some(after), "{puts:?}");
        }
    }

    /// A resync repeats what a waiting list will find gone: that is not among the objects that the next list may lack.
    #[test]
    fn what_a_waiting_list_does_not_hold_is_gone_although_a_resync_delivers_it() {
        let mut reader = reader_of::<RealFifo>("a@1 c@1");
        reader.put_all(&[".", "[b@9"]);
        reader.take_some();
        let absent = reader.fifo.absent(&CompleteList::default(), &reader.store);
        assert_eq!(absent.iter().map(|object| &*object.key.name).collect::<Vec<_>>(), ["b"]);
    }

    /// Plays random puts before a queue, and returns the changes and what the store holds in the end.
    fn play<Q: Queue>(steps: &[(usize, usize, u32)]) -> (Vec<Change>, Vec<Arc<Object>>) {
        let mut reader = reader_of::<Q>("");
        for (at, step) in steps.iter().enumerate() {
            if step.0 > 7 {
                // Both queues have applied the same before anything more comes.
                reader.take();
            } else {
                reader.put(&written(at, *step));
            }
        }
        reader.take();
        assert_eq!(reader.fifo.queued(), 0);
        reader.changes.retain(|change| !matches!(change, Change::Synced { .. }));
        (reader.changes, reader.store.list())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever changes a DeltaFIFO brings of a name, a RealFIFO beside it brings too, in the same order, and both
        /// end in the same state.
        #[test]
        fn a_delta_fifo_gives_a_part_of_what_a_real_fifo_gives(
            steps in prop::collection::vec((0..9_usize, 0..3_usize, 1..3_u32), 0..60),
        ) {
            let (folded, all) = (play::<DeltaFifo>(&steps), play::<RealFifo>(&steps));
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
