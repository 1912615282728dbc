//! The notices of a reflector about the watch itself.

/// Something that happened to the watch itself. All times are milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A complete list replaced what was held.
    Relisted {
        /// When the list was complete.
        at: f64,
        /// Why the list was needed.
        reason: String,
        /// How many objects the list held.
        items: usize,
    },
    /// Nothing came between two times; that is over now.
    Gap {
        /// When the last proof came that what is held is true.
        from: f64,
        /// When the next proof came.
        to: f64,
        /// Why.
        reason: String,
    },
    /// A frame or an item could not be read, or is no object of the kind that was asked for.
    Malformed {
        /// When.
        at: f64,
        /// What was wrong.
        reason: String,
    },
    /// The watch was lost, or the server does not answer: what is held begins to be old. There is one notice in an
    /// outage.
    Stale {
        /// When the outage began to count.
        at: f64,
        /// Why.
        reason: String,
    },
    /// A list or a watch was answered with 401, 403, 404, 422 or the like. There is one notice, and another
    /// one when the answer changes.
    Refused {
        /// When.
        at: f64,
        /// What was refused, the HTTP status and the server's words: `watch (403): pods is forbidden`.
        reason: String,
        /// True if the reflector will ask again by itself.
        retried: bool,
    },
    /// What is between the page and the server lets no WebSocket through, and answers over HTTP.
    OverHttp {
        /// When that was clear.
        at: f64,
    },
    /// Neither the bookmark that ends a streaming list nor anything else comes. There is a notice every ten seconds.
    Late {
        /// When.
        at: f64,
        /// How long nothing has come, in milliseconds.
        waited: f64,
    },
}

impl Notice {
    /// When it happened, in milliseconds; for a gap, when it ended.
    pub fn at(&self) -> f64 {
        match self {
            Notice::Gap { to, .. } => *to,
            Notice::Relisted { at, .. }
            | Notice::Malformed { at, .. }
            | Notice::Stale { at, .. }
            | Notice::Refused { at, .. }
            | Notice::OverHttp { at }
            | Notice::Late { at, .. } => *at,
        }
    }

    /// Why it happened, where that is known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Notice::Relisted { reason, .. }
            | Notice::Gap { reason, .. }
            | Notice::Malformed { reason, .. }
            | Notice::Stale { reason, .. }
            | Notice::Refused { reason, .. } => Some(reason),
            Notice::OverHttp { .. } | Notice::Late { .. } => None,
        }
    }

    /// One sentence for the user: what happened, and what is being done next.
    pub fn sentence(&self) -> String {
        match self {
            Notice::Relisted { reason, items, .. } => {
                let objects = if *items == 1 { "object" } else { "objects" };
                format!("Everything was listed again, {items} {objects} ({reason}); the watch goes on from that list.")
            }
            Notice::Gap { from, to, reason } => {
                format!("Nothing was heard for {} ({reason}); the watch is whole again.", seconds(to - from))
            }
            Notice::Malformed { reason, .. } => {
                format!(
                    "Something that the server sent was left out ({reason}); a new list is taken where it may have been a change."
                )
            }
            Notice::Stale { reason, .. } => {
                format!(
                    "The watch was lost ({reason}); what is shown may be old until it is back, which is tried again and again."
                )
            }
            Notice::Refused { reason, retried: true, .. } => {
                format!("The server refused: {reason}; it is asked again, at most a minute apart.")
            }
            Notice::Refused { reason, retried: false, .. } => {
                format!(
                    "The server refused: {reason}; it is not asked again by itself, for the answer would be the same."
                )
            }
            Notice::OverHttp { .. } => String::from(
                "The way to the server lets no WebSocket through: changes are asked for over HTTP, and come up to two seconds later.",
            ),
            Notice::Late { waited, .. } => {
                format!(
                    "The end of the list has not come, and nothing else for {}; it is still waited for.",
                    seconds(*waited)
                )
            }
        }
    }
}

/// A duration in words, given in milliseconds: tenths of a second below ten.
fn seconds(milliseconds: f64) -> String {
    let seconds = (milliseconds / 1000.0).max(0.0);
    if seconds < 9.95 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(notice: &Notice, at: f64, sentence: &str) {
        assert_eq!((notice.at(), &*notice.sentence()), (at, sentence));
    }

    #[test]
    fn each_notice_says_when_what_and_what_next() {
        let reason = || String::from("why");
        check(
            &Notice::Relisted { at: 1.0, reason: reason(), items: 1 },
            1.0,
            "Everything was listed again, 1 object (why); the watch goes on from that list.",
        );
        check(
            &Notice::Gap { from: 1.0, to: 1201.0, reason: reason() },
            1201.0,
            "Nothing was heard for 1.2 s (why); the watch is whole again.",
        );
        check(
            &Notice::Malformed { at: 2.0, reason: reason() },
            2.0,
            "Something that the server sent was left out (why); a new list is taken where it may have been a change.",
        );
        check(
            &Notice::Stale { at: 3.0, reason: reason() },
            3.0,
            "The watch was lost (why); what is shown may be old until it is back, which is tried again and again.",
        );
        check(
            &Notice::Refused { at: 4.0, reason: String::from("list (403): no"), retried: true },
            4.0,
            "The server refused: list (403): no; it is asked again, at most a minute apart.",
        );
        check(
            &Notice::Refused { at: 4.0, reason: String::from("list (404): no"), retried: false },
            4.0,
            "The server refused: list (404): no; it is not asked again by itself, for the answer would be the same.",
        );
        check(
            &Notice::Late { at: 5.0, waited: 19_960.0 },
            5.0,
            "The end of the list has not come, and nothing else for 20 s; it is still waited for.",
        );
    }
}
