//! One key, many events.

use crate::inside::lessons::lesson::Line::{List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, called, done, took};
use crate::inside::machine::Settings;
use crate::inside::part::Part;
use crate::inside::work::ReconcilerOptions;

pub(super) const LESSON: Lesson = Lesson {
    id: "one-key",
    title: "One key, many events",
    stream: &[
        (0, List(1042, &[("web-a", 1012)])),
        (500, Modified("web-a", 1043)),
        (1000, Modified("web-a", 1044)),
        (1500, Modified("web-a", 1045)),
        (2000, Modified("web-a", 1046)),
        (2500, Modified("web-a", 1047)),
    ],
    settings: || Settings {
        reconciler: ReconcilerOptions { workers: 2, takes: 3000.0, ..ReconcilerOptions::default() },
        ..Settings::default()
    },
    captions: &[
        Caption {
            stop: (1, took),
            part: Part::WorkQueue,
            words: "The handler added a key to the work queue: shop/web-a, and nothing of the Pod. One of two workers took it, \
                    and read the store: version 1012. Its work takes three seconds.",
        },
        Caption {
            stop: (1, called),
            part: Part::WorkQueue,
            words: "web-a has changed, and the handler adds its key again. The other worker is free, and does not get it: a \
                    key that is in work is marked as dirty, and no two workers have the same key.",
        },
        Caption {
            stop: (4, called),
            part: Part::WorkQueue,
            words: "Five changes came, and the handler was called for each. The work queue is a set: the key is dirty, and \
                    that once.",
        },
        Caption {
            stop: (1, done),
            part: Part::WorkQueue,
            words: "The worker is done. The key was dirty, so that it waits for a worker now: one key, for five events.",
        },
        Caption {
            stop: (1, took),
            part: Part::Store,
            words: "A worker takes it, and reads the store: version 1047. The states between are never worked on. A reconciler \
                    compares what is with what should be, and does not need them.",
        },
        Caption {
            stop: (1, done),
            part: Part::WorkQueue,
            words: "The handler was called six times, and two reconciles were enough. It is here that many events become one, \
                    and not in the queue of the informer.",
        },
    ],
};
