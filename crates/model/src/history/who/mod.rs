//! Who wrote for certain: what lines of an audit log, or of a recording, say of the versions that are kept.

pub mod joining;

use std::sync::Arc;

use kubechurn_changes::audit::{Counts, Request, Requests};
use kubechurn_client::api::uid::Uid;
use rustc_hash::FxHashMap;

/// How many versions, or objects, are looked at between two readings of the clock.
const BATCH: usize = 16;

/// How often what names writers is made anew while more becomes known, in milliseconds.
const PACE: f64 = 500.0;

/// Whether a text begins as an audit log does.
pub fn is_log(text: &str) -> bool {
    Requests::is_log(text)
}

/// Names a version: the object's uid, the resourceVersion, and whether it is a deletion.
type Name = (Uid, String, bool);

/// Who made the request that led to a version, as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct By {
    /// The user.
    pub who: String,
    /// With which program, and from where.
    pub how: String,
    /// Whether the version is a deletion, which the user has asked for.
    pub is_asked: bool,
}

impl By {
    /// `alice`, or `asked for by alice`.
    pub fn words(&self) -> String {
        if self.is_asked { format!("asked for by {}", self.who) } else { self.who.clone() }
    }
}

/// The request that a line of a recording has.
pub fn request_of(line: &kubechurn_recording::Request<'_>) -> Request {
    Request {
        user: (*line.user).into(),
        impersonated: (*line.impersonated).into(),
        agent: (*line.agent).into(),
        address: (*line.address).into(),
        verb: (&*line.verb).into(),
        at: line.at,
        id: (&*line.id).into(),
    }
}

/// What is known of who wrote.
#[derive(Debug, Default)]
pub struct Who {
    requests: Requests,
    /// The number of the next version that is joined to the lines.
    next: u64,
    /// What a recording says.
    recorded: FxHashMap<Name, Arc<Request>>,
    /// Whether a log was read to its end, and what came of it was not shown yet.
    has_ended: bool,
    /// Whether a recording has said more.
    has_news: bool,
    /// Grows when more is known; what was made before is made anew.
    revision: u64,
    /// When it grew last, in milliseconds.
    revised: f64,
}

/// A piece of an audit log.
#[derive(Clone, Copy, Debug)]
pub enum LogPiece<'a> {
    /// Another log begins.
    Begin,
    /// Whole lines of it.
    Lines(&'a str),
    /// It has ended.
    End,
}

impl Who {
    /// Takes a piece of a log.
    pub fn take(&mut self, piece: LogPiece<'_>) {
        match piece {
            LogPiece::Begin => self.requests.begin_log(),
            LogPiece::Lines(text) => text.lines().for_each(|line| self.requests.line(line)),
            LogPiece::End => self.has_ended = true,
        }
    }

    /// Takes what a recording says of a version.
    pub fn record(&mut self, line: &kubechurn_recording::Request<'_>) {
        self.has_news = true;
        self.recorded
            .insert((line.uid.clone(), line.version.to_string(), line.is_deletion), Arc::new(request_of(line)));
    }

    /// Whether nothing is known of any version.
    pub fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.requests.is_empty()
    }

    /// Has what names writers be made anew if more is known, but no more often than [`PACE`]. Returns whether that is still to be
    /// done.
    pub fn revise(&mut self, now: f64) -> bool {
        self.has_news |= self.requests.take_news();
        if self.has_news && (now - self.revised).abs() >= PACE {
            (self.has_news, self.revised) = (false, now);
            self.revision += 1;
        }
        self.has_news
    }

    /// Grows when more is known.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    fn settle(&mut self, goes_on: &mut dyn FnMut() -> bool) -> bool {
        while self.requests.settle(BATCH) {
            if !goes_on() {
                return true;
            }
        }
        false
    }

    /// What came of the log, once it has ended and all is joined.
    pub fn take_counts(&mut self) -> Option<Counts> {
        std::mem::take(&mut self.has_ended).then(|| self.requests.counts())
    }

    /// What is to be said of all logs.
    pub fn counts(&self) -> Option<Counts> {
        self.requests.has_lines().then(|| self.requests.counts())
    }

    /// How many requests of a user were refused because somebody else had written meanwhile, as far as a log says so.
    pub fn conflicts(&self, user: &str) -> u64 {
        self.requests.conflicts(user)
    }

    /// Who made the request that led to a version, by its number, or by the name that a recording has for it: of a deletion, who
    /// asked for it.
    fn of(&self, id: u64, name: impl FnOnce() -> Option<Name>) -> Option<&Arc<Request>> {
        let recorded = || if self.recorded.is_empty() { None } else { self.recorded.get(&name()?) };
        self.requests.of(id).or_else(recorded)
    }
}
