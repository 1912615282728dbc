//! Three queues over one stream, each with a store of its own: client-go's DeltaFIFO and RealFIFO, and the one that folds.

use std::collections::VecDeque;
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::cache::client_go::{self, Call, Delta, Popped, Queue as _, process_deltas};
use kubechurn_client::cache::complete_list::CompleteList;
use kubechurn_client::cache::delta::{DeltaObject, DeltaType};
use kubechurn_client::cache::pipeline::Pipeline;
use kubechurn_client::cache::queue::Queue as _;
use kubechurn_client::cache::store::{Change, Store};
use rustc_hash::FxHashSet;

use crate::timeline::mark::MarkType;

/// One of the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// client-go's DeltaFIFO: what its informers used by default before 1.33.
    DeltaFifo,
    /// client-go's RealFIFO: what they use since.
    #[default]
    RealFifo,
    /// The DeltaFIFO of this project, which folds the states of an object.
    Folding,
}

impl Which {
    /// All of them.
    pub const ALL: [Which; 3] = [Which::DeltaFifo, Which::RealFifo, Which::Folding];

    /// Its word in the address.
    pub fn word(self) -> &'static str {
        match self {
            Which::DeltaFifo => "delta",
            Which::RealFifo => "real",
            Which::Folding => "folding",
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Which::DeltaFifo => "DeltaFIFO",
            Which::RealFifo => "RealFIFO",
            Which::Folding => "Folding",
        }
    }

    /// Which release of client-go uses it.
    pub fn release(self) -> &'static str {
        match self {
            Which::DeltaFifo => "client-go's default until 1.32",
            Which::RealFifo => "client-go's default since 1.33",
            Which::Folding => "kubechurn's own",
        }
    }

    /// How it differs from the others.
    pub fn sentence(self) -> &'static str {
        match self {
            Which::DeltaFifo => {
                "All deltas of a key wait together, and one pop takes them; nothing is merged but two deletions."
            }
            Which::RealFifo => {
                "Every delta waits by itself, in the order in which it came. With AtomicFIFO, since 1.36, a list or a \
                 resync is one entry."
            }
            Which::Folding => {
                "One state of an object waits, with the count of those that it stands for: a screen shows only the newest."
            }
        }
    }
}

/// What a queue has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pops that found something.
    pub pops: u64,
    /// Calls of a handler that wants everything.
    pub calls: u64,
    /// The most entries that waited at a time.
    pub most: usize,
}

/// What waits for one pop.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Since when, in milliseconds.
    pub since: f64,
    /// What waits, oldest first.
    pub entries: Vec<SlotEntry>,
}

/// An entry of a slot.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotEntry {
    /// The type as client-go names it.
    pub word: &'static str,
    /// The object; `None` where the entry is about all of them, or about none.
    pub object: Option<Arc<Object>>,
    /// Whether it is a tombstone (`DeletedFinalStateUnknown`).
    pub is_tombstone: bool,
    /// How many received deltas it stands for; of a list in one piece, how many objects.
    pub stands_for: u64,
}

/// What waits in a queue.
#[derive(Debug, Default)]
pub struct Held {
    /// How many received deltas it stands for.
    pub stands_for: u64,
    /// The objects that are in memory because of it, each once: not those that the store behind the queue has anyway.
    pub objects: Vec<Arc<Object>>,
}

/// What one pop brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// The key; `None` where what was taken is about several objects, or about none.
    pub key: Option<ObjectKey>,
    /// How many deltas were taken.
    pub deltas: usize,
    /// The calls that follow.
    pub calls: Vec<Call>,
}

/// A queue of client-go with its store.
#[derive(Clone, Debug, Default)]
struct Exact<Q> {
    queue: Q,
    store: Store,
}

/// When what waits came, from the head on, and what was counted. Whatever joins a queue joins its tail.
#[derive(Clone, Debug, Default)]
struct Times {
    since: VecDeque<f64>,
    counts: Counts,
}

/// The three queues.
#[derive(Clone, Debug)]
pub struct Queues {
    delta: Exact<client_go::DeltaFifo>,
    real: Exact<client_go::RealFifo>,
    folding: Pipeline,
    times: [Times; 3],
}

impl Queues {
    /// Empty queues. `atomic` is client-go's `AtomicFIFO`, a switch of the RealFIFO.
    pub fn new(atomic: bool) -> Queues {
        Queues {
            delta: Exact::default(),
            real: Exact { queue: client_go::RealFifo::new(atomic), store: Store::default() },
            folding: Pipeline::new(),
            times: Default::default(),
        }
    }

    /// Queues an event of a watch.
    pub fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>, now: f64) {
        self.delta.queue.event(delta_type, object, &self.delta.store);
        self.real.queue.event(delta_type, object, &self.real.store);
        self.folding.event(delta_type, object.clone());
        self.joined(now);
    }

    /// Queues a complete list.
    pub fn replace(&mut self, list: CompleteList, version: &ResourceVersion, now: f64) {
        let objects: Vec<Arc<Object>> = list.iter().cloned().collect();
        self.delta.queue.replace(objects.clone(), version, &self.delta.store);
        self.real.queue.replace(objects, version, &self.real.store);
        self.folding.replace(list);
        self.joined(now);
    }

    /// Queues what is known once more.
    pub fn resync(&mut self, now: f64) {
        self.delta.queue.resync(&self.delta.store);
        self.real.queue.resync(&self.real.store);
        self.folding.resync();
        self.joined(now);
    }

    /// Queues a bookmark, where a queue takes it.
    pub fn bookmark(&mut self, version: &ResourceVersion, now: f64) {
        self.real.queue.bookmark(version);
        self.joined(now);
    }

    /// Takes once from each queue. Returns what the chosen one gave; `None` if nothing waited in it.
    pub fn pop(&mut self, chosen: Which) -> Option<Taken> {
        let mut taken = None;
        for which in Which::ALL {
            let own = match which {
                Which::DeltaFifo => process(self.delta.queue.pop(), &mut self.delta.store),
                Which::RealFifo => process(self.real.queue.pop(), &mut self.real.store),
                Which::Folding => pop_folding(&mut self.folding),
            };
            let Some(own) = own else { continue };
            let Times { since, counts } = &mut self.times[which as usize];
            since.pop_front();
            counts.pops += 1;
            counts.calls += own.calls.len() as u64;
            if which == chosen {
                taken = Some(own);
            }
        }
        taken
    }

    /// Returns whether nothing waits in any of them.
    pub fn is_empty(&self) -> bool {
        Which::ALL.iter().all(|&which| self.len(which) == 0)
    }

    /// Returns how many pops there are for what waits.
    pub fn len(&self, which: Which) -> usize {
        match which {
            Which::DeltaFifo => self.delta.queue.len(),
            Which::RealFifo => self.real.queue.len(),
            Which::Folding => self.folding.queue().len(),
        }
    }

    /// Returns whether the first list was popped.
    pub fn has_synced(&self, which: Which) -> bool {
        match which {
            Which::DeltaFifo => self.delta.queue.has_synced(),
            Which::RealFifo => self.real.queue.has_synced(),
            Which::Folding => self.folding.queue().has_synced(),
        }
    }

    /// The store behind a queue.
    pub fn store(&self, which: Which) -> &Store {
        match which {
            Which::DeltaFifo => &self.delta.store,
            Which::RealFifo => &self.real.store,
            Which::Folding => self.folding.store(),
        }
    }

    /// What a queue has done so far.
    pub fn counts(&self, which: Which) -> Counts {
        self.times[which as usize].counts
    }

    /// The first slots of a queue, from the head on, at most `most`.
    pub fn slots(&self, which: Which, most: usize) -> Vec<Slot> {
        let entries: Vec<Vec<SlotEntry>> = match which {
            Which::DeltaFifo => self.delta.queue.slots().take(most).map(entries).collect(),
            Which::RealFifo => self.real.queue.slots().take(most).map(entries).collect(),
            Which::Folding => {
                let slots = self.folding.queue().waiting_slots().into_iter().take(most);
                slots.map(|deltas| deltas.iter().map(folded).collect()).collect()
            }
        };
        let since = &self.times[which as usize].since;
        entries.into_iter().zip(since).map(|(entries, &since)| Slot { since, entries }).collect()
    }

    /// All that waits in a queue.
    pub fn held(&self, which: Which) -> Held {
        let (mut held, mut known, store) = (Held::default(), FxHashSet::default(), self.store(which));
        let mut add = |object: &Arc<Object>, stands_for: u64| {
            held.stands_for += stands_for;
            let is_stored = store.get(&object.key).is_some_and(|own| Arc::ptr_eq(own, object));
            if !is_stored && known.insert(Arc::as_ptr(object)) {
                held.objects.push(object.clone());
            }
        };
        let mut others = 0;
        let mut add_delta = |delta: &Delta| match delta {
            Delta::One { object, .. } => add(object.object(), 1),
            Delta::ReplacedAll { objects, .. } => objects.iter().for_each(|object| add(object, 1)),
            Delta::SyncAll | Delta::Bookmark { .. } => others += 1,
        };
        match which {
            Which::DeltaFifo => self.delta.queue.slots().flatten().for_each(add_delta),
            Which::RealFifo => self.real.queue.slots().flatten().for_each(&mut add_delta),
            Which::Folding => {
                for deltas in self.folding.queue().waiting_slots() {
                    deltas.iter().for_each(|delta| add(delta.object.object(), u64::from(delta.folded)));
                }
            }
        }
        held.stands_for += others;
        held
    }

    fn joined(&mut self, now: f64) {
        for which in Which::ALL {
            let len = self.len(which);
            let Times { since, counts } = &mut self.times[which as usize];
            since.resize(len, now);
            counts.most = counts.most.max(len);
        }
    }
}

fn process(popped: Option<Popped>, store: &mut Store) -> Option<Taken> {
    let Popped { deltas, is_in_initial_list } = popped?;
    let key = deltas.first().and_then(Delta::object).map(|object| object.key.clone());
    Some(Taken { key, deltas: deltas.len(), calls: process_deltas(deltas, is_in_initial_list, store) })
}

/// A pop of the queue that folds, with its changes as the calls that client-go would make of them.
fn pop_folding(folding: &mut Pipeline) -> Option<Taken> {
    let mut taken = Taken::default();
    let found = folding.pop(|change| {
        taken.key.get_or_insert_with(|| change.object().key.clone());
        taken.deltas += 1;
        taken.calls.push(match change {
            Change::Added { new, listed, .. } => Call::OnAdd { new, is_in_initial_list: listed },
            Change::Updated { old, new, .. } => Call::OnUpdate { old, new },
            Change::Synced { new, .. } => Call::OnUpdate { old: new.clone(), new },
            Change::Deleted { last, final_state_unknown: true, .. } => {
                Call::OnDelete { object: DeltaObject::FinalStateUnknown(last) }
            }
            Change::Deleted { last, .. } => Call::OnDelete { object: DeltaObject::Known(last) },
        });
    });
    found.then_some(taken)
}

fn entries(deltas: &[Delta]) -> Vec<SlotEntry> {
    let entry = |delta: &Delta| {
        let (word, stands_for) = match delta {
            Delta::One { delta_type, .. } => (MarkType::from(*delta_type).name(), 1),
            Delta::ReplacedAll { objects, .. } => ("ReplacedAll", objects.len() as u64),
            Delta::SyncAll => ("SyncAll", 1),
            Delta::Bookmark { .. } => ("Bookmark", 1),
        };
        let is_tombstone = matches!(delta, Delta::One { object: DeltaObject::FinalStateUnknown(_), .. });
        SlotEntry { word, object: delta.object().cloned(), is_tombstone, stands_for }
    };
    deltas.iter().map(entry).collect()
}

fn folded(delta: &kubechurn_client::cache::delta::Delta) -> SlotEntry {
    SlotEntry {
        word: MarkType::from(delta.delta_type).name(),
        object: Some(delta.object.object().clone()),
        is_tombstone: delta.is_tombstone(),
        stands_for: u64::from(delta.folded),
    }
}
