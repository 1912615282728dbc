//! What a list is for.

use crate::inside::lessons::lesson::Line::{List, Modified};
use crate::inside::lessons::lesson::{Caption, Lesson, called, event, listed, popped, replaced, started, watches};
use crate::inside::machine::Settings;
use crate::inside::part::Part;

pub(super) const LESSON: Lesson = Lesson {
    id: "list",
    title: "What a list is for",
    stream: &[(0, List(1042, &[("cart", 1040), ("web-a", 1012), ("web-b", 1031)])), (2000, Modified("web-a", 1043))],
    settings: Settings::default,
    captions: &[
        Caption {
            stop: (1, started),
            part: Part::Reflector,
            words: "An informer begins with nothing. A watch brings only what changes from now on, so the Reflector first \
                    asks for a list of all that there is.",
        },
        Caption {
            stop: (1, listed),
            part: Part::Server,
            words: "The list has three Pods. It has a version of its own, 1042: that of the moment which it shows. Each Pod \
                    has the version of its own last change.",
        },
        Caption {
            stop: (1, replaced),
            part: Part::Queue,
            words: "The Reflector hands the list over as a whole (Replace), and it waits in the queue. The store is still \
                    empty, and no handler was called.",
        },
        Caption {
            stop: (1, popped),
            part: Part::Store,
            words: "The list is popped, and the store has all three Pods. From now on HasSynced is true: who waited for the \
                    first list may read the store.",
        },
        Caption {
            stop: (3, called),
            part: Part::Handlers,
            words: "The handler is called for each Pod: OnAdd, with isInInitialList. The Pods are not new to the cluster, they \
                    are new to the store.",
        },
        Caption {
            stop: (1, watches),
            part: Part::Reflector,
            words: "Only now the watch begins, and it begins after version 1042. So nothing that happens after the list is \
                    missed, and nothing that is in the list comes again.",
        },
        Caption {
            stop: (1, event),
            part: Part::Queue,
            words: "From here on each change is one event. web-a has changed at version 1043, and one object was sent for \
                    that, not three.",
        },
    ],
};
