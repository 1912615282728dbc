//! What resync does not do.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{Bookmark, Deleted, List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, bookmark, called, lost, replaced, resynced, tombstone};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "resync",
    title: "What resync does not do",
    stream: &[
        (0, List(1042, &[("web-a", 1012), ("web-b", 1031)])),
        (1500, Deleted("web-b", 1043)),
        (40_000, Bookmark(1050)),
        (50_000, Modified("web-a", 1060)),
    ],
    settings: || Settings {
        resync: Some(30_000.0),
        breaks: vec![Break { entry: 0, kind: BreakKind::Drop }, Break { entry: 2, kind: BreakKind::Gone }],
        ..Settings::default()
    },
    captions: &[
        Caption {
            stop: (1, lost),
            part: Part::Server,
            words: "web-b is deleted, and the event is lost on the way. Neither the API server nor client-go does that, but \
                    something between them may be broken. Nobody here notices it: web-b stays in the store.",
        },
        Caption {
            stop: (1, resynced),
            part: Part::Queue,
            words: "Every 30 seconds, here, a resync is due. It queues what the store has, once more. The server is asked for \
                    nothing.",
        },
        Caption {
            stop: (2, called),
            part: Part::Handlers,
            words: "The handler gets an OnUpdate for each object, whose old and new state are the same; for web-b, too, which \
                    does not exist any more. A resync repeats what is known, whether it is true or not.",
        },
        Caption {
            stop: (1, bookmark),
            part: Part::Reflector,
            words: "Nor does a bookmark help: everything up to 1050 was sent, it says, and so it was.",
        },
        Caption {
            stop: (1, replaced),
            part: Part::Queue,
            words: "The connection broke, the version was too old (410), and so there is a new list. It is compared with what \
                    is known, and only now it is found that web-b is missing.",
        },
        Caption {
            stop: (1, tombstone),
            part: Part::Handlers,
            words: "web-b is deleted here as well, with a tombstone, 50 seconds late. A list heals what a resync cannot: a \
                    resync is a reminder for handlers that depend on more than these objects.",
        },
    ],
};
