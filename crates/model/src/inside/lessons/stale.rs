//! Stale caches.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, called, done, took};
use crate::inside::machine::Settings;
use crate::inside::part::Part;
use crate::inside::work::ReconcilerOptions;

pub(super) const LESSON: Lesson = Lesson {
    id: "stale",
    title: "Stale caches",
    stream: &[
        (0, List(1042, &[("web-a", 1012)])),
        (2000, Modified("web-a", 1043)),
        (2500, Modified("web-a", 1044)),
        (2900, Modified("web-a", 1045)),
    ],
    settings: || Settings {
        breaks: vec![Break { entry: 2, kind: BreakKind::Delay(3000.0) }],
        reconciler: ReconcilerOptions { takes: 1000.0, ..ReconcilerOptions::default() },
        ..Settings::default()
    },
    captions: &[
        Caption {
            stop: (2, took),
            part: Part::WorkQueue,
            words: "A worker takes web-a, and reads it from the store, at version 1043. The server is not asked: a read costs \
                    nothing, and is as new as the store is.",
        },
        Caption {
            stop: (1, called),
            part: Part::Handlers,
            words: "While it works, someone else changes web-a. The store has 1044, and the key will be worked on again.",
        },
        Caption {
            stop: (1, done),
            part: Part::Server,
            words: "Before it was done, let the worker have written: at the server web-a has version 1045. A write goes to the \
                    server and not to the store, and the event of it is late.",
        },
        Caption {
            stop: (1, took),
            part: Part::Store,
            words: "The key is worked on again, and the store still has 1044: the worker does not see its own write. An update \
                    that names 1044 is refused by the server (409, Conflict); but what was created would be created once more.",
        },
        Caption {
            stop: (1, called),
            part: Part::Handlers,
            words: "Three seconds late the event comes. The store has 1045, and the handler adds the key once more: who read \
                    too early gets another chance.",
        },
        Caption {
            stop: (1, took),
            part: Part::WorkQueue,
            words: "Now the worker reads 1045. A reconciler must bear old reads, and come out right in the end. Since 1.36 it \
                    can also compare its last write with LastStoreSyncResourceVersion of the store, and wait.",
        },
    ],
};
