//! What a tombstone is.

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::lessons::lesson::Line::{Deleted, List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, called, ended, listed, replaced, tombstone};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "tombstone",
    title: "What a tombstone is",
    stream: &[
        (0, List(1042, &[("cart", 1040), ("web-a", 1012), ("web-b", 1031)])),
        (1500, Deleted("web-a", 1043)),
        (2500, Modified("web-b", 1044)),
        (2500, Deleted("web-b", 1045)),
    ],
    settings: || Settings {
        atomic: false,
        breaks: vec![Break { entry: 1, kind: BreakKind::Gone }],
        ..Settings::default()
    },
    captions: &[
        Caption {
            stop: (4, called),
            part: Part::Handlers,
            words: "web-a was deleted while the watch was open. The event brings the last state of the Pod, and OnDelete gets \
                    just that.",
        },
        Caption {
            stop: (1, ended),
            part: Part::Server,
            words: "The connection breaks. Then web-b changes once more, to version 1044, and is deleted at 1045. No event of \
                    that will ever come.",
        },
        Caption {
            stop: (1, listed),
            part: Part::Server,
            words: "The server did not remember what came after 1043 (410), so a new list was asked for. cart is in it, and of \
                    web-b there is no word.",
        },
        Caption {
            stop: (1, replaced),
            part: Part::Queue,
            words: "What is known and not in the list must be gone. So a deletion is queued that no event brought: a \
                    tombstone. The RealFIFO of 1.33 to 1.35 does that now, as here; with AtomicFIFO, since 1.36, it is found \
                    when the list is popped.",
        },
        Caption {
            stop: (1, tombstone),
            part: Part::Handlers,
            words: "OnDelete gets a DeletedFinalStateUnknown, which is no Pod, but has one in it: the last that was known, at \
                    version 1031. That web-b was at 1044 before it went is not known here. A handler that takes it for a Pod \
                    fails, and one that trusts the state in it may be wrong.",
        },
    ],
};
