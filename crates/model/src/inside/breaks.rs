//! What can be broken between the stream and the Reflector.

/// A break of the connection. The server goes on as it did: what is broken is only what the Reflector hears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// Before which entry of the server's log it comes.
    pub entry: usize,
    /// What breaks.
    pub kind: BreakKind,
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BreakKind {
    /// The connection is cut.
    Cut,
    /// The connection is cut, and the server forgets what happened until then.
    Gone,
    /// The entry and all that follow it come so many milliseconds later.
    Delay(f64),
    /// The entry comes twice.
    Duplicate,
    /// The entry and the next one come in the wrong order.
    Reorder,
    /// The entry does not come.
    Drop,
    /// So many entries are held back, and come at one moment.
    Burst(usize),
    /// The connection stays open, and nothing comes any more.
    Silence,
}

impl BreakKind {
    /// One of each.
    pub const ALL: [BreakKind; 8] = [
        BreakKind::Cut,
        BreakKind::Gone,
        BreakKind::Delay(2000.0),
        BreakKind::Duplicate,
        BreakKind::Reorder,
        BreakKind::Drop,
        BreakKind::Burst(500),
        BreakKind::Silence,
    ];

    /// The words of its button.
    pub fn title(self) -> String {
        match self {
            BreakKind::Cut => "Cut the connection".into(),
            BreakKind::Gone => "Answer 410".into(),
            BreakKind::Delay(wait) => format!("Delay by {:.1} s", wait / 1000.0),
            BreakKind::Duplicate => "Send twice".into(),
            BreakKind::Reorder => "Swap two".into(),
            BreakKind::Drop => "Lose an event".into(),
            BreakKind::Burst(count) => format!("Burst of {count}"),
            BreakKind::Silence => "Fall silent".into(),
        }
    }

    /// What it breaks, and what heals that.
    pub fn sentence(self) -> &'static str {
        match self {
            BreakKind::Cut => {
                "Nothing is lost: the next watch begins at the last version, and the server sends what came after it."
            }
            BreakKind::Gone => {
                "The server does not remember what came after the last version, so that only a new list heals this; \
                 what is missing in it gets a tombstone."
            }
            BreakKind::Delay(_) => {
                "Nothing is lost; the store is older than the server for as long as the delay lasts."
            }
            BreakKind::Duplicate => {
                "The store takes the same version twice, and the handler is called with an update that changes nothing; \
                 it needs no healing."
            }
            BreakKind::Reorder => {
                "client-go compares no versions: if both are of one object, its store goes back to the older state until \
                 the object changes again, or until a new list. The queue that folds drops the older one, unless the \
                 newer one was a deletion that was popped."
            }
            BreakKind::Drop => {
                "The store is wrong and nobody knows it: a resync repeats the wrong state, and only a new list, or the next \
                 change of the object, heals it."
            }
            BreakKind::Burst(_) => {
                "Nothing is lost; the queue grows, by each event or, where states are folded, by each object."
            }
            BreakKind::Silence => {
                "An open connection is no proof: the store grows old until the watch is given up, here after a minute and a \
                 half, in client-go after five to ten minutes; the next watch brings what came meanwhile."
            }
        }
    }

    /// Where client-go deals with it: a name, and the file below `k8s.io/client-go`.
    pub fn client_go(self) -> (&'static str, &'static str) {
        match self {
            BreakKind::Cut | BreakKind::Silence => ("Reflector.watch", "tools/cache/reflector.go"),
            BreakKind::Gone => ("Reflector.list", "tools/cache/reflector.go"),
            BreakKind::Delay(_) => ("Reflector.LastSyncResourceVersion", "tools/cache/reflector.go"),
            BreakKind::Duplicate | BreakKind::Reorder => ("processDeltas", "tools/cache/controller.go"),
            BreakKind::Drop => ("RealFIFO.Resync", "tools/cache/the_real_fifo.go"),
            BreakKind::Burst(_) => ("RealFIFO.PopBatch", "tools/cache/the_real_fifo.go"),
        }
    }
}
