//! What the recorded runs do not show: bookmarks, batches, and that all queues end in the same store.

use proptest::prelude::*;

use super::*;
use crate::cache::delta::tests::object;
use crate::cache::delta_fifo as folding;
use crate::cache::pipeline::Pipeline;
use crate::cache::queue as ours;
use crate::cache::real_fifo as unfolded;

fn list(texts: &str) -> Vec<Arc<Object>> {
    texts.split(' ').filter(|text| !text.is_empty()).map(object).collect()
}

/// A client of the server: a queue, and its store.
trait Reader {
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>);
    fn replace(&mut self, objects: Vec<Arc<Object>>);
    fn resync(&mut self);
    /// Takes once. Returns false if nothing waits.
    fn take(&mut self) -> bool;
    /// Takes until nothing waits.
    fn drain(&mut self) {
        while self.take() {}
    }
    fn store(&self) -> &Store;
}

/// A queue of client-go, and what became of what it gave.
struct Exact<Q> {
    queue: Q,
    store: Store,
    calls: Vec<Call>,
}

impl<Q> Exact<Q> {
    fn new(queue: Q) -> Exact<Q> {
        Exact { queue, store: Store::default(), calls: Vec::new() }
    }

    fn process(&mut self, popped: Option<Popped>) -> bool {
        let Some(Popped { deltas, is_in_initial_list }) = popped else { return false };
        self.calls.extend(process_deltas(deltas, is_in_initial_list, &mut self.store));
        true
    }
}

impl<Q: Queue> Reader for Exact<Q> {
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>) {
        self.queue.event(delta_type, object, &self.store);
    }

    fn replace(&mut self, objects: Vec<Arc<Object>>) {
        self.queue.replace(objects, &ResourceVersion::default(), &self.store);
    }

    fn resync(&mut self) {
        self.queue.resync(&self.store);
    }

    fn take(&mut self) -> bool {
        let popped = self.queue.pop();
        self.process(popped)
    }

    fn store(&self) -> &Store {
        &self.store
    }
}

/// A RealFIFO that is drained in batches.
struct Batched(Exact<RealFifo>);

impl Reader for Batched {
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>) {
        self.0.event(delta_type, object);
    }

    fn replace(&mut self, objects: Vec<Arc<Object>>) {
        self.0.replace(objects);
    }

    fn resync(&mut self) {
        self.0.resync();
    }

    fn take(&mut self) -> bool {
        self.0.take()
    }

    fn drain(&mut self) {
        while let Some(popped) = self.0.queue.pop_batch() {
            self.0.process(Some(popped));
        }
    }

    fn store(&self) -> &Store {
        &self.0.store
    }
}

impl<Q: ours::Queue> Reader for Pipeline<Q> {
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>) {
        Pipeline::event(self, delta_type, object.clone());
    }

    fn replace(&mut self, objects: Vec<Arc<Object>>) {
        Pipeline::replace(self, objects);
    }

    fn resync(&mut self) {
        Pipeline::resync(self);
    }

    fn take(&mut self) -> bool {
        self.pop(|_| ())
    }

    fn store(&self) -> &Store {
        Pipeline::store(self)
    }
}

/// A server with a few objects, and what its watch sends of a random history.
#[derive(Default)]
struct Server {
    objects: Vec<Option<Arc<Object>>>,
    version: u32,
}

impl Server {
    /// Changes an object: one that does not exist is made, and one that exists is changed or, with `gone`, deleted.
    fn change(&mut self, name: usize, gone: bool) -> (DeltaType, Arc<Object>) {
        self.objects.resize(4, None);
        self.version += 1;
        let (letter, version) = (["a", "b", "c", "d"][name], self.version);
        let life = self.objects[name].as_ref().map(|object| object.uid.text().to_string());
        let uid = life.clone().unwrap_or_else(|| format!("{letter}#{version}"));
        let object = object(&format!("{uid}@{version}"));
        let delta_type = match life {
            None => DeltaType::Added,
            Some(_) if gone => DeltaType::Deleted,
            Some(_) => DeltaType::Updated,
        };
        self.objects[name] = (delta_type != DeltaType::Deleted).then(|| object.clone());
        (delta_type, object)
    }

    fn list(&self) -> Vec<Arc<Object>> {
        self.objects.iter().flatten().cloned().collect()
    }
}

/// Steps of a history: what, of which name.
fn steps() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..13_usize, 0..4_usize), 0..80)
}

/// Plays a history before several clients. Changes of which the watch says nothing are found by the next list.
fn play(readers: &mut [&mut dyn Reader], steps: &[(usize, usize)]) -> Server {
    let mut server = Server::default();
    for &(what, name) in steps {
        match what {
            0..=5 => {
                let (delta_type, object) = server.change(name, what < 2);
                readers.iter_mut().for_each(|reader| reader.event(delta_type, &object));
            }
            6 | 7 => drop(server.change(name, what == 6)),
            8 => readers.iter_mut().for_each(|reader| reader.replace(server.list())),
            9 => readers.iter_mut().for_each(|reader| reader.resync()),
            _ => readers.iter_mut().for_each(|reader| _ = reader.take()),
        }
    }
    readers.iter_mut().for_each(|reader| reader.replace(server.list()));
    readers.iter_mut().for_each(|reader| reader.drain());
    server
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_ends_in_the_state_of_the_server(steps in steps()) {
        let mut delta = Exact::new(DeltaFifo::default());
        let mut real = Exact::new(RealFifo::new(false));
        let mut atomic = Exact::new(RealFifo::new(true));
        let mut folding = Pipeline::<folding::DeltaFifo>::default();
        let mut unfolded = Pipeline::<unfolded::RealFifo>::default();
        let mut readers: [&mut dyn Reader; 5] =
            [&mut delta, &mut real, &mut atomic, &mut folding, &mut unfolded];
        let server = play(&mut readers, &steps);
        for reader in readers {
            prop_assert_eq!(reader.store().list(), server.list());
        }
        prop_assert!(delta.queue.has_synced() && real.queue.has_synced() && atomic.queue.has_synced());
        prop_assert!(folding.is_balanced() && unfolded.is_balanced());
    }

    /// 66. TestReplaceEvents.
    #[test]
    fn an_atomic_list_gives_the_calls_of_its_deltas_if_nothing_waits(steps in steps()) {
        let (mut real, mut atomic) = (Exact::new(RealFifo::new(false)), Exact::new(RealFifo::new(true)));
        let mut server = Server::default();
        for (what, name) in steps {
            let (delta_type, object) = server.change(name, what < 4);
            for reader in [&mut real as &mut dyn Reader, &mut atomic] {
                match what {
                    0..=8 => reader.event(delta_type, &object),
                    9 => reader.replace(server.list()),
                    10 => reader.resync(),
                    // The watch misses a change.
                    _ => {}
                }
                reader.drain();
            }
        }
        prop_assert_eq!(real.calls, atomic.calls);
    }

    #[test]
    fn a_batch_gives_the_calls_of_its_deltas(steps in steps(), is_atomic in any::<bool>()) {
        let (mut single, mut batched) =
            (Exact::new(RealFifo::new(is_atomic)), Batched(Exact::new(RealFifo::new(is_atomic))));
        play(&mut [&mut single, &mut batched], &steps);
        prop_assert_eq!(single.calls, batched.0.calls);
    }
}

fn put(queue: &mut RealFifo, texts: &str) {
    texts.split(' ').map(object).for_each(|object| queue.event(DeltaType::Updated, &object, &Store::default()));
}

/// The versions of a batch, and whether it is of the first list.
fn batch(queue: &mut RealFifo) -> Option<(String, bool)> {
    let Popped { deltas, is_in_initial_list } = queue.pop_batch()?;
    let word = |delta: &Delta| match delta {
        Delta::One { object, .. } => object.object().resource_version.as_str().to_owned(),
        Delta::ReplacedAll { objects, .. } => format!("{} at once", objects.len()),
        Delta::SyncAll => String::from("all"),
        Delta::Bookmark { resource_version } => format!("until {}", resource_version.as_str()),
    };
    Some((deltas.iter().map(word).collect::<Vec<_>>().join(" "), is_in_initial_list))
}

/// 65. TestRealFIFO_PopMultipleDeltaInBatch.
#[test]
fn a_batch_has_each_object_once_and_ends_with_the_first_list() {
    let mut queue = RealFifo::new(false);
    assert_eq!(batch(&mut queue), None);
    queue.replace(list("a@1 b@2"), &ResourceVersion::default(), &Store::default());
    put(&mut queue, "c@3 d@4 c@5 a@6");
    let batches: Vec<_> = std::iter::from_fn(|| batch(&mut queue)).collect();
    assert_eq!(batches, [("1 2".into(), true), ("3 4".into(), false), ("5 6".into(), false)]);
    let names: Vec<String> = (0..=BATCH).map(|at| format!("n{at}@{at}")).collect();
    put(&mut queue, &names.join(" "));
    let sizes = [queue.pop_batch(), queue.pop_batch()].map(|popped| popped.map(|popped| popped.deltas.len()));
    assert_eq!(sizes, [Some(BATCH), Some(1)]);
}

#[test]
fn what_is_atomic_comes_alone_and_a_bookmark_keeps_its_place() {
    let mut queue = RealFifo::new(true);
    let version = ResourceVersion::new("9");
    queue.bookmark(&version);
    queue.resync(&Store::default());
    assert!(!queue.has_synced(), "neither is a sign that anything was listed");
    queue.replace(list("a@1 b@2"), &version, &Store::default());
    put(&mut queue, "a@10 b@11");
    queue.bookmark(&version);
    put(&mut queue, "c@12");
    let batches: Vec<_> = std::iter::from_fn(|| batch(&mut queue)).collect();
    let initial = ["until 9", "all", "2 at once"].map(|text| (text.to_owned(), true));
    let later = ["10 11", "until 9", "12"].map(|text| (text.to_owned(), false));
    assert_eq!(batches, [initial, later].concat());
    // Without `AtomicFIFO` bookmarks are not queued.
    let mut plain = RealFifo::new(false);
    plain.bookmark(&version);
    assert!(plain.is_empty());
}

/// What waits for one key in a DeltaFIFO after two deletions.
#[test]
fn of_two_deletions_the_older_stays_unless_it_is_a_tombstone() {
    let versions = |queue: &mut DeltaFifo| {
        let deltas = queue.pop().map(|popped| popped.deltas).unwrap_or_default();
        deltas
            .iter()
            .map(|delta| (delta.object().unwrap().resource_version.to_string(), delta.is_tombstone()))
            .collect()
    };
    let mut store = Store::default();
    store.insert(object("a@1"));
    let mut queue = DeltaFifo::default();
    queue.event(DeltaType::Deleted, &object("a@2"), &store);
    queue.event(DeltaType::Deleted, &object("a@3"), &store);
    queue.replace(Vec::new(), &ResourceVersion::default(), &store);
    let found: Vec<(String, bool)> = versions(&mut queue);
    assert_eq!(found, [("2".into(), false)]);
    queue.replace(Vec::new(), &ResourceVersion::default(), &store);
    queue.event(DeltaType::Deleted, &object("a@4"), &store);
    let found: Vec<(String, bool)> = versions(&mut queue);
    assert_eq!(found, [("4".into(), false)]);
    queue.event(DeltaType::Deleted, &object("z@5"), &store);
    assert!(queue.is_empty(), "the deletion of the unknown");
}
