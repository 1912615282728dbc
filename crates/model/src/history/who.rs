//! Who wrote for certain: what lines of an audit log, or of a recording, say of the versions that are kept.

use std::sync::Arc;

use kubechurn_changes::audit::{Counts, Request, Requests, Version};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHashMap;

use crate::history::History;

/// How long after the end of a log versions are still joined to it, in milliseconds: as long as a request may take, and as much
/// as the clocks may differ.
const AFTER: f64 = 120_000.0;
/// How many versions, or objects, are looked at between two readings of the clock.
const BATCH: usize = 16;

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
    /// Who made the request that led to a version, where it is certain.
    pub fn of(history: &History, id: u64) -> Option<By> {
        let (request, record) = (history.request(id)?, history.record(id)?);
        let is_asked = record.delta_type == DeltaType::Deleted;
        Some(By { who: request.who(), how: request.how(), is_asked })
    }

    /// `alice`, or `asked for by alice`.
    pub fn words(&self) -> String {
        if self.is_asked { format!("asked for by {}", self.who) } else { self.who.clone() }
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
}

impl Who {
    /// Another log begins.
    pub fn begin_log(&mut self) {
        self.requests.begin_log();
    }

    /// Takes whole lines of the log.
    pub fn take_lines(&mut self, text: &str) {
        text.lines().for_each(|line| self.requests.line(line));
    }

    /// The log has ended.
    pub fn end_log(&mut self) {
        self.has_ended = true;
    }

    /// Takes what a recording says of a version.
    pub fn record(&mut self, line: &kubechurn_recording::Request<'_>) {
        let request = Request {
            user: (*line.user).into(),
            impersonated: (*line.impersonated).into(),
            agent: (*line.agent).into(),
            address: (*line.address).into(),
            verb: (&*line.verb).into(),
            at: line.at,
            id: (&*line.id).into(),
        };
        self.recorded.insert((line.uid.clone(), line.version.to_string(), line.is_deletion), Arc::new(request));
    }

    /// Whether nothing is known of any version.
    pub fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.requests.is_empty()
    }

    /// Joins versions to lines as long as `goes_on`. `to_server` is what is to be added to a time of the page for one of the server
    /// of a cluster, in milliseconds. Returns whether something is left.
    pub fn read(
        &mut self,
        history: &History,
        to_server: &dyn Fn(&'static str) -> f64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        if !self.requests.has_lines() {
            return false;
        }
        while self.next < history.received() {
            if !goes_on() {
                return true;
            }
            for id in (self.next..history.received()).take(BATCH) {
                let at = history.at(id).map(|at| at + to_server(""));
                if at.is_some_and(|at| at > self.requests.ends() + AFTER) {
                    // These are for another log, which may follow.
                    return self.settle(goes_on);
                }
                self.next = id + 1;
                let Some(change) = history.change(id) else { continue };
                let at = change.at + to_server(change.resource.cluster);
                let (delta_type, uid) = (change.delta_type, &change.uid);
                let (old, new) = (change.old.as_deref(), change.new.as_deref());
                self.requests.version(&change.resource, &change.key, Version { id, delta_type, uid, old, new, at });
            }
        }
        self.settle(goes_on)
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

    /// Who made the request that led to a version: of a deletion, who asked for it.
    pub fn of(&self, history: &History, id: u64) -> Option<&Arc<Request>> {
        self.requests.of(id).or_else(|| {
            if self.recorded.is_empty() {
                return None;
            }
            let record = history.record(id)?;
            let uid = history.life(record.life)?.uid.clone();
            let is_deletion = record.delta_type == DeltaType::Deleted;
            let version = history.version_of_number(id).map(|version| version.to_string()).unwrap_or_default();
            self.recorded.get(&(uid, version, is_deletion))
        })
    }
}
