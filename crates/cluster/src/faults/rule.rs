//! One fault that is asked for: what it does, whom it strikes, how often; and how often it has struck.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cacher::frame::Frame;
use crate::faults::about::About;
use crate::random::Random;

/// A fault as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The words that asked for it, in alphabetical order.
    pub text: String,
    /// What it does.
    pub effect: Effect,
    /// Whom it strikes.
    pub scope: Scope,
    /// Strikes in all; no end if absent.
    pub times: Option<u64>,
    /// How likely a strike is, from 0 to 1, and what the dice are seeded with; certain if absent.
    pub chance: Option<(f64, u64)>,
    /// So many requests, or frames of each connection, pass first.
    pub after: u64,
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A request is refused, whatever it asks for.
    Refuse(Refusal),
    /// An answer comes late, or its body bit by bit.
    Slow {
        /// How long nothing is answered.
        delay: Duration,
        /// How its body comes.
        drip: Option<Drip>,
    },
    /// A request is not answered, and a watch brings nothing, until the fault is taken back.
    Stall,
    /// `sendInitialEvents` is refused, as a server without the feature gate WatchList refuses it.
    NoWatchList,
    /// A frame does not go out as it should.
    Frame(FrameFault),
    /// A watch ends: with an ordinary close, or without a word.
    End {
        /// Whether there is a close.
        close: bool,
    },
    /// The clock is wrong by so many seconds.
    Skew(i64),
}

/// How a request is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status, from 400 to 599.
    pub status: u16,
    /// Seconds in `Retry-After`; without it, none is sent.
    pub retry_after: Option<u16>,
    /// Whether the body is plain text, as of priority and fairness, instead of a `Status`.
    pub plain: bool,
}

/// How a body drips.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drip {
    /// Bytes at once.
    pub bytes: usize,
    /// Time between two pieces.
    pub pause: Duration,
}

/// What happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FrameFault {
    /// It comes so much later, and so do those behind it.
    Delay(Duration),
    /// It comes twice.
    Duplicate,
    /// It comes after the next one.
    Reorder,
    /// Half of it comes.
    Truncate,
    /// Words come in its place that are no JSON.
    NotJson,
    /// Its object is of a kind that nobody asked for.
    WrongType,
    /// Its type is none that is known.
    UnknownType,
    /// It comes with 65 MB of white space behind it.
    Huge,
    /// It does not come, being the bookmark that ends the initial events.
    NoEndBookmark,
    /// It does not come.
    Lose,
}

impl FrameFault {
    /// The word for it in `frame=…`, and in the ledger.
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

/// Whom a fault strikes; what is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scope {
    /// Plural name of the resource, with its group or without.
    pub resource: Option<String>,
    /// The verb, such as `list`.
    pub verb: Option<String>,
    /// The namespace in the path; for a frame, that of its object will do.
    pub namespace: Option<String>,
    /// A part of the User-Agent.
    pub user_agent: Option<String>,
    /// The type of the event, such as `MODIFIED`.
    pub event: Option<String>,
}

impl Scope {
    /// Whether a request is meant, or the watch that it opened; with `frame`, one frame of that.
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

/// A fault that is switched on.
#[derive(Debug)]
pub struct Rule {
    /// Its number.
    pub id: u64,
    /// What was asked for.
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
    /// A fault that has not struck yet.
    pub fn new(id: u64, spec: Spec) -> Self {
        let dice = Random::new(spec.chance.map_or(0, |(_, seed)| seed));
        Self { id, spec, tally: Mutex::new(Tally { matched: 0, struck: 0, dice }) }
    }

    /// Whether it strikes something that is in its scope. Asking counts, and so does a strike.
    ///
    /// `passed` is what of the same kind has passed on the same connection; for a request the rule counts itself.
    pub fn strikes(&self, passed: Option<u64>) -> bool {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = passed.unwrap_or(tally.matched);
        tally.matched += 1;
        if passed < self.spec.after || self.spec.times.is_some_and(|times| tally.struck >= times) {
            return false;
        }
        if let Some((chance, _)) = self.spec.chance {
            // 53 bits are what a float holds.
            let drawn = (tally.dice.next() >> 11) as f64 / (1_u64 << 53) as f64;
            if drawn >= chance {
                return false;
            }
        }
        tally.struck += 1;
        true
    }

    /// How often it could have struck, and how often it has.
    pub fn tally(&self) -> (u64, u64) {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        (tally.matched, tally.struck)
    }

    /// Whether it has struck as often as it may.
    pub fn is_over(&self) -> bool {
        self.spec.times.is_some_and(|times| self.tally().1 >= times)
    }
}
