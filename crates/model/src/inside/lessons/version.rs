//! Why a version.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{Bookmark, List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, bookmark, called, ended, event, listed, watches};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "version",
    title: "Why a version",
    stream: &[
        (0, List(1042, &[("web-a", 1012), ("web-b", 1031)])),
        (1500, Modified("web-a", 1045)),
        (2500, Bookmark(1060)),
        (3500, Modified("web-b", 1071)),
    ],
    settings: || Settings { breaks: vec![Break { entry: 2, kind: BreakKind::Cut }], ..Settings::default() },
    captions: &[
        Caption {
            stop: (1, listed),
            part: Part::Server,
            words: "The API server numbers what it stores: every change, of whatever kind, gets the next number. This list \
                    shows what there was at version 1042.",
        },
        Caption {
            stop: (1, event),
            part: Part::Server,
            words: "The first event has version 1045. The numbers between belong to other objects, which this watch did not \
                    ask for: gaps in the numbers mean nothing.",
        },
        Caption {
            stop: (1, bookmark),
            part: Part::Reflector,
            words: "A bookmark brings a version and no object: everything up to 1060 has been sent. The Reflector keeps that \
                    version, and no object in the store changes.",
        },
        Caption {
            stop: (1, ended),
            part: Part::Server,
            words: "The connection is cut, and at that moment web-b changes. The store does not have that, but the Reflector \
                    still has its place in the stream: 1060.",
        },
        Caption {
            stop: (1, watches),
            part: Part::Reflector,
            words: "The next watch asks for what came after 1060. No list is needed for that.",
        },
        Caption {
            stop: (1, called),
            part: Part::Handlers,
            words: "The server sends web-b at version 1071, and the store has again what the server has. Nothing was lost, \
                    and nothing came twice.",
        },
    ],
};
