//! The DeltaFIFO: for each changed object what happened to it, in the order in which objects first changed.
//!
//! It differs from client-go's `delta_fifo.go` in one thing, and says so in numbers: consecutive states of one
//! life fold into the newest, so that its size follows the objects that changed and not the events.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{Delta, DeltaType, Deltas};

/// What the reader of the queue already knows: its store.
pub trait KnownObjects {
    /// The object of that key, if it is known.
    fn known(&self, key: &ObjectKey) -> Option<&Arc<Object>>;
    /// Every known object, in any order.
    fn each_known(&self, visit: &mut dyn FnMut(&Arc<Object>));
}

/// What came of handing a delta to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It waits.
    Queued,
    /// A deletion of something neither queued nor known: dropped.
    Unknown,
    /// An event older than what is known of the same uid: dropped, for state never goes back.
    Late,
}

/// The queue.
#[derive(Debug, Default)]
pub struct DeltaFifo {
    /// A key is here if and only if it is in `queue`, and its deltas are not empty.
    items: HashMap<ObjectKey, Deltas, FxBuildHasher>,
    queue: VecDeque<ObjectKey>,
    /// How many received deltas wait, folded ones counted.
    queued: u64,
    /// Keys of the first Replace that have not been drained.
    initial: HashSet<ObjectKey, FxBuildHasher>,
    /// Whether anything arrived, a first Replace included.
    populated: bool,
    closed: bool,
}

impl DeltaFifo {
    /// Queues an addition.
    pub fn add(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        self.push_event(Delta::new(DeltaType::Added, object), known)
    }

    /// Queues a newer version.
    pub fn update(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        self.push_event(Delta::new(DeltaType::Updated, object), known)
    }

    /// Queues a deletion, unless the key is neither queued nor known.
    pub fn delete(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        if !self.items.contains_key(&object.key) && known.known(&object.key).is_none() {
            return Queued::Unknown;
        }
        self.push_event(Delta::new(DeltaType::Deleted, object), known)
    }

    /// The objects that are queued or known but not in a complete list: the newest state of each. One whose
    /// newest delta is a deletion is gone already, and was said to be.
    pub fn absent(&self, items: &[Arc<Object>], known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let keys: HashSet<&ObjectKey, FxBuildHasher> = items.iter().map(|object| &object.key).collect();
        let mut gone: Vec<Arc<Object>> = Vec::new();
        let queued = self.queue.iter().filter(|key| !keys.contains(key)).filter_map(|key| self.newest(key));
        gone.extend(queued.filter(|newest| newest.is_present()).map(|newest| newest.object.object().clone()));
        known.each_known(&mut |object| {
            if !keys.contains(&object.key) && !self.items.contains_key(&object.key) {
                gone.push(object.clone());
            }
        });
        gone
    }

    /// Queues a complete list: `Replaced` for each item, then a tombstone for each object of `gone`, which
    /// [`DeltaFifo::absent`] found.
    pub fn replace(&mut self, items: Vec<Arc<Object>>, gone: Vec<Arc<Object>>) {
        if !self.populated {
            self.initial = items.iter().chain(&gone).map(|object| object.key.clone()).collect();
        }
        self.populated = true;
        items.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Replaced, object)));
        gone.into_iter().for_each(|object| self.push(Delta::tombstone(object)));
    }

    /// Queues `Sync` for each known object that has nothing queued. Returns how many.
    pub fn resync(&mut self, known: &dyn KnownObjects) -> u64 {
        let mut again = Vec::new();
        known.each_known(&mut |object| {
            if !self.items.contains_key(&object.key) {
                again.push(object.clone());
            }
        });
        let count = again.len() as u64;
        again.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Sync, object)));
        count
    }

    /// Takes the oldest delta of the head key, which stays at the head until it is drained.
    ///
    /// `Replaced` and `Sync` come out as `Added` or `Updated` by what is known, as a reader that knows only
    /// those would need them. A pending deletion of the same key was taken before, and `known` must have been
    /// told of it.
    pub fn pop_one(&mut self, known: &dyn KnownObjects) -> Option<(ObjectKey, Delta)> {
        let key = self.queue.front()?.clone();
        let deltas = self.items.get_mut(&key)?;
        let mut delta = deltas.take_first()?;
        if deltas.is_empty() {
            self.items.remove(&key);
            self.queue.pop_front();
            self.initial.remove(&key);
        }
        self.account(&delta);
        let mut present = known.known(&key).is_some();
        resolve(&mut delta, &mut present);
        Some((key, delta))
    }

    /// Takes all deltas of the head key, oldest first; resolved as [`DeltaFifo::pop_one`] does.
    pub fn pop_key(&mut self, known: &dyn KnownObjects) -> Option<(ObjectKey, Vec<Delta>)> {
        let key = self.queue.pop_front()?;
        let deltas = self.items.remove(&key)?;
        self.initial.remove(&key);
        let mut present = known.known(&key).is_some();
        let mut list: Vec<Delta> = deltas.into_iter().collect();
        for delta in &mut list {
            self.account(delta);
            resolve(delta, &mut present);
        }
        Some((key, list))
    }

    /// Takes all deltas of up to `limit` keys, in order.
    pub fn pop_batch(&mut self, limit: usize, known: &dyn KnownObjects) -> Vec<(ObjectKey, Vec<Delta>)> {
        std::iter::from_fn(|| self.pop_key(known)).take(limit).collect()
    }

    /// Whether the first complete list has been drained, or something else arrived before any list.
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial.is_empty()
    }

    /// After this, what waits can still be taken, and nothing more will come: a reader that finds the queue
    /// empty is done.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many received deltas wait, the folded ones among them counted one by one.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// The newest delta that waits for a key.
    pub fn newest(&self, key: &ObjectKey) -> Option<&Delta> {
        self.items.get(key).and_then(Deltas::newest)
    }

    /// An event of a watch: dropped if the same uid is already known in a newer version, or if a newer life of the
    /// name is. A deletion proves nothing against another uid: after a restore from a backup, new objects have
    /// lower versions than those that are gone.
    fn push_event(&mut self, delta: Delta, known: &dyn KnownObjects) -> Queued {
        let object = delta.object.object();
        let (newest, present) = match self.newest(&object.key) {
            Some(newest) => (Some(newest.object.object()), newest.is_present()),
            None => (known.known(&object.key), true),
        };
        let late = newest.is_some_and(|newest| {
            (present || newest.uid == object.uid) && object.resource_version.is_older_than(&newest.resource_version)
        });
        if late {
            return Queued::Late;
        }
        self.push(delta);
        Queued::Queued
    }

    fn push(&mut self, delta: Delta) {
        self.queued += u64::from(delta.folded);
        if let Some(deltas) = self.items.get_mut(delta.key()) {
            deltas.push(delta);
        } else {
            let key = delta.key().clone();
            let mut deltas = Deltas::default();
            deltas.push(delta);
            self.queue.push_back(key.clone());
            self.items.insert(key, deltas);
        }
    }

    fn account(&mut self, delta: &Delta) {
        self.queued -= u64::from(delta.folded);
    }
}

/// Turns `Replaced` and `Sync` into what they are to a reader; `present` follows the key through its deltas.
fn resolve(delta: &mut Delta, present: &mut bool) {
    delta.listed = delta.delta_type == DeltaType::Replaced;
    if matches!(delta.delta_type, DeltaType::Replaced | DeltaType::Sync) {
        delta.delta_type = if *present { DeltaType::Updated } else { DeltaType::Added };
    }
    *present = delta.is_present();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::delta::tests::{object, write};
    use crate::cache::store::Store;

    /// How a reader takes what waits.
    #[derive(Clone, Copy, Debug)]
    enum Take {
        One,
        Key,
        Batch,
    }

    struct Reader {
        fifo: DeltaFifo,
        store: Store,
    }

    /// A queue before a store that knows `known`.
    fn reader(known: &str) -> Reader {
        let mut store = Store::default();
        words(known).for_each(|text| drop(store.apply(Delta::new(DeltaType::Added, object(text)))));
        Reader { fifo: DeltaFifo::default(), store }
    }

    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(' ').filter(|word| !word.is_empty())
    }

    impl Reader {
        /// `+` adds, `~` updates, `-` deletes, each told what came of it; `[a@1 b@2` replaces; `.` resyncs.
        fn put(&mut self, text: &str) -> String {
            if let Some(items) = text.strip_prefix('[') {
                let items: Vec<_> = words(items).map(object).collect();
                let gone = self.fifo.absent(&items, &self.store);
                self.fifo.replace(items, gone);
                return String::new();
            }
            if text == "." {
                return self.fifo.resync(&self.store).to_string();
            }
            let (sign, rest) = text.split_at(1);
            let queued = match sign {
                "+" => self.fifo.add(object(rest), &self.store),
                "~" => self.fifo.update(object(rest), &self.store),
                _ => self.fifo.delete(object(rest), &self.store),
            };
            format!("{queued:?}")
        }

        fn put_all(&mut self, texts: &[&str]) {
            texts.iter().for_each(|text| drop(self.put(text)));
        }

        /// Takes everything, each delta applied before the next is taken.
        fn take(&mut self, how: Take) -> String {
            let mut taken = Vec::new();
            loop {
                let batch: Vec<(ObjectKey, Vec<Delta>)> = match how {
                    Take::One => {
                        self.fifo.pop_one(&self.store).map(|(key, delta)| (key, vec![delta])).into_iter().collect()
                    }
                    Take::Key => self.fifo.pop_key(&self.store).into_iter().collect(),
                    Take::Batch => self.fifo.pop_batch(2, &self.store),
                };
                if batch.is_empty() {
                    return taken.join(" ");
                }
                for delta in batch.into_iter().flat_map(|(_, deltas)| deltas) {
                    taken.push(write(&delta));
                    self.store.apply(delta);
                }
            }
        }
    }

    /// What comes out after `puts`, the same however it is taken.
    fn check(known: &str, puts: &[&str], expected: &str) {
        for how in [Take::One, Take::Key, Take::Batch] {
            let mut reader = reader(known);
            reader.put_all(puts);
            assert_eq!(reader.take(how), expected, "{puts:?} {how:?}");
            assert_eq!((reader.fifo.queued(), reader.fifo.len()), (0, 0), "{puts:?} {how:?}");
        }
    }

    #[test]
    fn objects_come_in_the_order_of_their_first_change() {
        check("", &["+a@1", "+b@2", "~a@3", "+c@4", "~b@5"], "+a@3 +b@5 +c@4");
        check("a@1", &["-a@2", "+b@3", "+a#2@4"], "-a@2 +a#2@4 +b@3");
    }

    #[test]
    fn deletion_of_the_unknown_is_dropped_and_of_the_known_or_queued_is_not() {
        let mut reader = reader("k@1");
        assert_eq!(reader.put("-z@1"), "Unknown");
        assert_eq!(reader.put("-k@2"), "Queued");
        assert_eq!(reader.put("+q@3"), "Queued");
        assert_eq!(reader.put("-q@4"), "Queued");
        assert_eq!(reader.take(Take::Key), "-k@2 +q@3 -q@4");
    }

    #[test]
    fn late_events_are_dropped() {
        let mut late = reader("a@5 b#2@6");
        for text in ["~a@4", "+a@4", "-a@4", "~b@3", "-b@3"] {
            assert_eq!(late.put(text), "Late", "{text}");
        }
        // A version seen twice is no step back; what does not compare is believed.
        for text in ["~a@5", "~b#2@x", "~b#3@4"] {
            assert_eq!(late.put(text), "Queued", "{text}");
        }
        let mut queued = reader("a@5");
        queued.put_all(&["-a@9"]);
        assert_eq!(queued.put("~a@7"), "Late");
        assert_eq!(queued.put("+a#2@7"), "Queued", "the server may have been restored");
    }

    #[test]
    fn replace_makes_tombstones_of_the_absent() {
        // Known only, queued only, both, and neither.
        check("k@1", &["[a@9"], "+a@9 !k@1");
        check("", &["+q@2", "[a@9"], "+q@2 !q@2 +a@9");
        check("k@1", &["~k@3", "[a@9"], "~k@3 !k@3 +a@9");
        check("", &["["], "");
    }

    #[test]
    fn replace_after_a_deletion_keeps_both_and_says_a_deletion_once() {
        check("a@1", &["-a@2", "[a#2@3"], "-a@2 +a#2@3");
        check("a@1", &["-a@2", "["], "-a@2");
        check("a@1", &["[", "["], "!a@1");
        check("a@1", &["[", "[a@1"], "!a@1 +a@1");
    }

    #[test]
    fn replaced_and_sync_become_what_they_are_to_the_reader() {
        check("a@1", &["[a@2 b@2"], "~a@2 +b@2");
        check("a@1", &["."], "~a@1");
        check("", &["[a@1", "~a@2"], "+a@2");
        check("a@1", &["[a@1", "~a@2"], "~a@2");
    }

    #[test]
    fn resync_never_overtakes_what_waits() {
        check("a@1 b@1", &["~a@2", "-b@2", "."], "~a@2 -b@2");
        let mut idle = reader("");
        assert_eq!(idle.put("."), "0");
        assert!(!idle.fifo.has_synced(), "no list has come");
    }

    #[test]
    fn synced_when_something_came_first_or_the_first_list_is_drained() {
        // What is put, and after how many keys are taken it has synced.
        for (puts, after) in [
            (&[][..], None),
            (&["+a@1"][..], Some(0)),
            (&["~a@1"], Some(0)),
            (&["-a@1"], Some(0)),
            (&["["], Some(0)),
            (&["[a@1"], Some(1)),
            (&["[a@1 b@1"], Some(2)),
            (&["[a@1 a@2"], Some(1)),
            (&["[a@1", "~a@2"], Some(1)),
            (&["[a@1", "[a@1 b@2"], Some(1)),
            (&["[a@1", "[b@2"], Some(1)),
            (&["+c@1", "[a@1"], Some(0)),
        ] {
            let mut reader = reader("");
            reader.put_all(puts);
            let keys = reader.fifo.len();
            let mut synced = None;
            for taken in 0..=keys {
                if reader.fifo.has_synced() {
                    synced = Some(taken);
                    break;
                }
                reader.fifo.pop_key(&reader.store);
            }
            assert_eq!(synced, after, "{puts:?}");
        }
        // The tombstones of a first list count too.
        let mut known = reader("k@1");
        known.put("[");
        assert!(!known.fifo.has_synced());
        known.take(Take::One);
        assert!(known.fifo.has_synced());
    }

    #[test]
    fn pop_one_keeps_its_key_at_the_head_until_it_is_drained() {
        let mut reader = reader("a@1");
        reader.put_all(&["-a@2", "+b@3", "+a#2@4"]);
        let mut pop = || reader.fifo.pop_one(&reader.store).map(|(_, delta)| write(&delta));
        assert_eq!(pop().as_deref(), Some("-a@2"));
        assert_eq!(pop().as_deref(), Some("+a#2@4"));
        assert_eq!(pop().as_deref(), Some("+b@3"));
        assert_eq!(pop(), None);
    }

    #[test]
    fn a_batch_has_at_most_as_many_keys_as_asked_for() {
        let mut reader = reader("");
        reader.put_all(&["+a@1", "+b@2", "+c@3", "~a@4"]);
        assert_eq!(reader.fifo.pop_batch(2, &reader.store).len(), 2);
        assert_eq!(reader.fifo.queued(), 1);
        assert!(reader.fifo.pop_batch(0, &reader.store).is_empty());
        assert_eq!(reader.fifo.pop_batch(9, &reader.store).len(), 1);
    }

    #[test]
    fn a_closed_queue_is_drained_and_still_written_to() {
        let mut reader = reader("");
        reader.put("+a@1");
        reader.fifo.close();
        assert!(reader.fifo.is_closed());
        assert_eq!(reader.take(Take::Key), "+a@1");
        reader.put("+b@2");
        assert_eq!(reader.take(Take::One), "+b@2");
    }

    proptest::proptest! {
        #[test]
        fn however_it_is_taken_a_key_has_the_same_events(
            puts in proptest::collection::vec((0..8_usize, 0..3_usize, 1..3_u32), 0..60),
        ) {
            let puts: Vec<String> = puts
                .iter()
                .enumerate()
                .map(|(at, &(what, name, life))| {
                    let object = format!("{}#{life}@{}", ["a", "b", "c"][name], at + 10);
                    match what {
                        0 => format!("[{object}"),
                        1 => String::from("."),
                        2 | 3 => format!("-{object}"),
                        4 | 5 => format!("+{object}"),
                        _ => format!("~{object}"),
                    }
                })
                .collect();
            let taken = |how| {
                let mut reader = reader("a@1 c#2@2");
                puts.iter().for_each(|put| drop(reader.put(put)));
                let waits = reader.fifo.queued();
                (waits > 0, reader.take(how), reader.fifo.queued())
            };
            assert_eq!(taken(Take::One), taken(Take::Key));
            assert_eq!(taken(Take::Key), taken(Take::Batch));
            assert_eq!(taken(Take::Key).2, 0);
        }
    }
}
