//! What 410 means.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{Added, Deleted, List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, ended, event, listed, replaced, watches};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "410",
    title: "What 410 means",
    stream: &[
        (0, List(1042, &[("cart", 1040), ("web-a", 1012), ("web-b", 1031)])),
        (1500, Modified("web-a", 1045)),
        (2500, Modified("web-b", 1050)),
        (2600, Deleted("cart", 1052)),
        (2700, Added("web-c", 1055)),
    ],
    settings: || Settings { breaks: vec![Break { entry: 1, kind: BreakKind::Gone }], ..Settings::default() },
    captions: &[
        Caption {
            stop: (1, event),
            part: Part::Server,
            words: "The watch brings what happens. The last version that came is 1045.",
        },
        Caption {
            stop: (1, ended),
            part: Part::Reflector,
            words: "The connection breaks. That alone does no harm: what is known stays, and a watch can go on after 1045.",
        },
        Caption { stop: (1, watches), part: Part::Reflector, words: "The Reflector asks for what came after 1045." },
        Caption {
            stop: (1, ended),
            part: Part::Server,
            words: "The server no longer remembers what came after 1045: it keeps its newest changes alone, and a restart \
                    shortens its memory. It answers with an ERROR event: 410, Expired. No object is meant by that, but the \
                    place in the stream.",
        },
        Caption {
            stop: (1, listed),
            part: Part::Server,
            words: "Only another list helps. The Reflector waited for a moment (backoff), and asked for one: it shows what \
                    there is at version 1055.",
        },
        Caption {
            stop: (1, replaced),
            part: Part::Queue,
            words: "What no event brought comes from a comparison of the list with what is known: web-b is another, web-c is \
                    new, web-a is the same, and cart is missing.",
        },
        Caption {
            stop: (1, watches),
            part: Part::Store,
            words: "The store has again what the server has, and the next watch begins after 1055. In which order it \
                    happened, and how often web-b changed, nobody here learns any more.",
        },
    ],
};
