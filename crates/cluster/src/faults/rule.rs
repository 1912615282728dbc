//! One rule: its effect, what it affects and how often, and how often it has struck.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cacher::frame::Frame;
use crate::faults::about::About;
use crate::random::Random;

/// A fault as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The words that asked for it, in alphabetical order.
    pub text: String,
    pub effect: Effect,
    /// What it affects.
    pub scope: Scope,
    /// The maximum number of strikes; unlimited if absent.
    pub times: Option<u64>,
    /// The probability of a strike, from 0 to 1, and the seed of the random numbers; certain if absent.
    pub chance: Option<(f64, u64)>,
    /// How many requests, or frames of each connection, pass before the first strike.
    pub after: u64,
}

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A request is refused.
    Refuse(Refusal),
    /// An answer is late, or its body is sent slowly.
    Slow {
        /// How long the answer is delayed.
        delay: Duration,
        /// How the body is sent, if slowly.
        drip: Option<Drip>,
    },
    /// Requests are not answered, and watches send nothing, until the fault is removed.
    Stall,
    /// `sendInitialEvents` is refused, as a server without the feature gate WatchList refuses it.
    NoWatchList,
    /// A frame is changed, delayed or dropped.
    Frame(FrameFault),
    /// A watch ends, with or without a close.
    End {
        /// Whether there is a close.
        close: bool,
    },
    /// The clock is skewed by this many seconds.
    Skew(i64),
}

/// How a request is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status, from 400 to 599.
    pub status: u16,
    /// The seconds in the header `Retry-After`, if it is sent.
    pub retry_after: Option<u16>,
    /// Whether the body is plain text, as from priority and fairness, instead of a `Status`.
    pub plain: bool,
}

/// How a body is sent slowly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drip {
    /// The bytes of one piece.
    pub bytes: usize,
    /// The time between two pieces.
    pub pause: Duration,
}

/// What happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FrameFault {
    /// The frame is delayed by this time, and the frames behind it, too.
    Delay(Duration),
    /// The frame is sent twice.
    Duplicate,
    /// The frame is sent after the next one.
    Reorder,
    /// Only the first half of the frame is sent.
    Truncate,
    /// Text that is not JSON is sent in place of the frame.
    NotJson,
    /// The object of the frame has a wrong kind.
    WrongType,
    /// The type of the event is unknown.
    UnknownType,
    /// The frame is followed by 65 MB of white space.
    Huge,
    /// The bookmark that ends the initial events is not sent.
    NoEndBookmark,
    /// The frame is not sent.
    Lose,
}

impl FrameFault {
    /// Its name in `frame=…`, and in the ledger.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Truncate => "truncate",
            Self::NotJson => "not-json",
            Self::WrongType => "wrong-type",
            Self::UnknownType => "unknown-type",
            Self::Huge => "huge",
            Self::NoEndBookmark => "no-end-bookmark",
            Self::Lose => "lose",
        }
    }
}

/// What a fault affects; an absent field matches everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scope {
    /// The plural name of the resource, with or without its group.
    pub resource: Option<String>,
    /// The verb, such as `list`.
    pub verb: Option<String>,
    /// The namespace in the path; for a frame, the namespace of its object also matches.
    pub namespace: Option<String>,
    /// A part of the User-Agent.
    pub user_agent: Option<String>,
    /// The type of the event, such as `MODIFIED`.
    pub event: Option<String>,
}

impl Scope {
    /// Whether the scope contains a request or the watch that it opened; with `frame`, one frame of that watch.
    pub fn holds(&self, about: &About, frame: Option<&Frame>) -> bool {
        let is = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(test);
        let key = frame.and_then(|frame| frame.about.as_ref()).map(|(key, _)| &**key);
        let within = |namespace: &str| key.and_then(|key| key.split_once('/')).is_some_and(|(own, _)| own == namespace);
        is(&self.verb, &|verb| verb == about.verb)
            && is(&self.resource, &|resource| about.is_of(resource))
            && is(&self.namespace, &|name| about.namespace.as_deref() == Some(name) || within(name))
            && is(&self.user_agent, &|part| about.user_agent.contains(part))
            && is(&self.event, &|event| frame.is_some_and(|frame| frame.event_type == event))
    }
}

/// A fault that is on.
#[derive(Debug)]
pub struct Rule {
    /// Its number.
    pub id: u64,
    /// The fault as it was asked for.
    pub spec: Spec,
    tally: Mutex<Tally>,
}

#[derive(Debug)]
struct Tally {
    matched: u64,
    struck: u64,
    dice: Random,
}

impl Rule {
    /// A rule that has not struck yet.
    pub fn new(id: u64, spec: Spec) -> Self {
        let dice = Random::new(spec.chance.map_or(0, |(_, seed)| seed));
        Self { id, spec, tally: Mutex::new(Tally { matched: 0, struck: 0, dice }) }
    }

    /// Whether the rule strikes a request or frame in its scope. The call counts as a match, and as a strike if it
    /// returns true.
    ///
    /// `passed` is the number of earlier frames on the same connection; requests are counted by the rule itself.
    pub fn strikes(&self, passed: Option<u64>) -> bool {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = passed.unwrap_or(tally.matched);
        tally.matched += 1;
        if passed < self.spec.after || self.spec.times.is_some_and(|times| tally.struck >= times) {
            return false;
        }
        if let Some((chance, _)) = self.spec.chance {
            // A float holds 53 bits.
            let drawn = (tally.dice.next() >> 11) as f64 / (1_u64 << 53) as f64;
            if drawn >= chance {
                return false;
            }
        }
        tally.struck += 1;
        true
    }

    /// The number of matches, and the number of strikes.
    pub fn tally(&self) -> (u64, u64) {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        (tally.matched, tally.struck)
    }

    /// Whether the maximum number of strikes is reached.
    pub fn is_over(&self) -> bool {
        self.spec.times.is_some_and(|times| self.tally().1 >= times)
    }
}
