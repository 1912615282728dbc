//! What the queue keeps and merges.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{Deleted, List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, event, popped};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "queue",
    title: "What the queue keeps and merges",
    stream: &[
        (0, List(1042, &[("cart", 1040), ("web-a", 1012), ("web-b", 1031)])),
        (5000, Modified("cart", 1043)),
        (5100, Modified("web-a", 1044)),
        (5200, Modified("web-a", 1045)),
        (5300, Modified("web-b", 1046)),
        (5400, Modified("web-a", 1047)),
        (5500, Deleted("web-b", 1048)),
    ],
    settings: || Settings {
        pop_takes: 1000.0,
        breaks: vec![Break { entry: 5, kind: BreakKind::Duplicate }],
        ..Settings::default()
    },
    captions: &[
        Caption {
            stop: (2, popped),
            part: Part::Pop,
            words: "A change of cart was popped, and here that takes a second. Whatever comes meanwhile waits in the queue: \
                    in three kinds of queue, which all get the same.",
        },
        Caption {
            stop: (4, event),
            part: Part::Queue,
            words: "Four changes wait. The RealFIFO, which client-go's informers have by default since 1.33, keeps each by \
                    itself, in the order in which they came.",
        },
        Caption {
            stop: (0, event),
            part: Part::Queue,
            words: "The DeltaFIFO, the default until 1.32, keeps them by key: two keys wait, and web-a has three deltas. \
                    None of them is merged with another: the handler will be called for each.",
        },
        Caption {
            stop: (0, event),
            part: Part::Queue,
            words: "The third queue is that of this page, and not of client-go. It folds the states of one object into the \
                    newest, and counts them: web-a waits once, for three.",
        },
        Caption {
            stop: (2, event),
            part: Part::Queue,
            words: "web-b is deleted, and the event comes twice. This is all that a DeltaFIFO merges: of two deletions that \
                    follow each other it keeps one. The RealFIFO keeps both.",
        },
        Caption {
            stop: (1, popped),
            part: Part::Pop,
            words: "A pop takes one delta from the RealFIFO, and all three of web-a from the DeltaFIFO. Since 1.35 client-go \
                    may also take a batch from a RealFIFO: deltas of different objects, in order.",
        },
        Caption {
            stop: (5, popped),
            part: Part::Store,
            words: "All has been popped, and the three stores have the same. On the way the handler was called 10 times behind the \
                    RealFIFO, 9 times behind the DeltaFIFO, and 7 times behind the queue that folds: a queue decides how much \
                    of the way is seen, and not where it ends.",
        },
    ],
};
