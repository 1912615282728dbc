//! The parts of the machinery, each with the sentence that explains it, and its place in client-go.

/// A part of the machinery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The API server, which sends lists and events.
    Server,
    /// What asks it.
    Reflector,
    /// What waits.
    Queue,
    /// What takes from the queue.
    Pop,
    /// What is known.
    Store,
    /// Who is called.
    Handlers,
    /// Which keys need work.
    WorkQueue,
}

impl Part {
    /// All parts, on the way of a frame.
    pub const ALL: [Part; 7] =
        [Part::Server, Part::Reflector, Part::Queue, Part::Pop, Part::Store, Part::Handlers, Part::WorkQueue];

    /// The part of this word in an address.
    pub fn of(word: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.word() == word)
    }

    /// Its word in an address.
    pub fn word(self) -> &'static str {
        match self {
            Part::Server => "server",
            Part::Reflector => "reflector",
            Part::Queue => "queue",
            Part::Pop => "pop",
            Part::Store => "store",
            Part::Handlers => "handlers",
            Part::WorkQueue => "work",
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Part::Server => "API server",
            Part::Reflector => "Reflector",
            Part::Queue => "Queue",
            Part::Pop => "Pop",
            Part::Store => "Store",
            Part::Handlers => "Handlers",
            Part::WorkQueue => "Work queue",
        }
    }

    /// What it does.
    pub fn sentence(self) -> &'static str {
        match self {
            Part::Server => "It numbers every change (resourceVersion), and remembers only the newest ones.",
            Part::Reflector => "It lists once and then watches, and lists again when it has lost its place.",
            Part::Queue => "What came and nobody has taken yet waits here.",
            Part::Pop => "It takes what waits at the head of the queue.",
            Part::Store => "It has the newest state that was popped of every object, found by key or by index.",
            Part::Handlers => "Everyone who asked is called, each at its own pace.",
            Part::WorkQueue => "It is a set of keys that need work, and no list of changes.",
        }
    }

    /// Its names in client-go, and the file below `k8s.io/client-go`.
    pub fn client_go(self) -> (&'static str, &'static str) {
        match self {
            Part::Server => ("ListerWatcher", "tools/cache/listwatch.go"),
            Part::Reflector => ("Reflector, ListAndWatch", "tools/cache/reflector.go"),
            Part::Queue => ("Queue, RealFIFO, DeltaFIFO", "tools/cache/the_real_fifo.go"),
            Part::Pop => ("Pop, processDeltas", "tools/cache/controller.go"),
            Part::Store => ("Indexer, ThreadSafeStore", "tools/cache/thread_safe_store.go"),
            Part::Handlers => ("sharedProcessor, ResourceEventHandler", "tools/cache/shared_informer.go"),
            Part::WorkQueue => ("TypedRateLimitingInterface", "util/workqueue/queue.go"),
        }
    }
}
