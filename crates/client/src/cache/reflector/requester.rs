//! The requests of a reflector, one after the other: for a list, a streaming list or a watch.

use crate::api::request::{ListRequest, WatchRequest};
use crate::cache::backoff::Moment;
use crate::cache::reflector::fetches::Fetches;
use crate::cache::reflector::input::Action;
use crate::cache::reflector::last_sync::LastSync;
use crate::cache::reflector::list::List;
use crate::cache::reflector::socket::Socket;
use crate::cache::reflector::state::{Phase, State};
use crate::cache::reflector::streaming_list::StreamingList;
use crate::cache::reflector::timers::Timers;
use crate::cache::reflector::watch::Watch;

/// The shortest watch that is asked for, in seconds; the longest is twice that (client-go, `minWatchTimeout`).
const WATCH_TIMEOUT: f64 = 300.0;

/// A watch over HTTP ends after this many seconds, and the next one begins after [`POLL_PAUSE`] milliseconds: a browser has six
/// connections to a server, and long answers would hold them all.
const POLL: u32 = 1;
const POLL_PAUSE: f64 = 1_000.0;
/// How many sockets in a row are refused, while the server answers over HTTP, before watches go over HTTP.
const REFUSED_SOCKETS: u32 = 2;
/// After this time over HTTP, in milliseconds, a socket is tried again.
const SOCKETS_AGAIN: f64 = 300_000.0;

/// Asks for lists and watches, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub(super) state: State,
    pub(super) last_sync: LastSync,
    pub(super) fetches: Fetches,
    pub(super) timers: Timers,
    /// How many sockets in a row were refused while the server answered over HTTP.
    pub(super) refused_sockets: u32,
    /// Since when watches go over HTTP.
    pub(super) over_http: Option<f64>,
}

impl Requester {
    /// A socket was refused, and the server answers over HTTP. Returns whether watches go over HTTP from now on, which is new
    /// if they did not before.
    pub(super) fn socket_refused(&mut self, now: f64) -> bool {
        self.refused_sockets += 1;
        let is_over_http = self.refused_sockets >= REFUSED_SOCKETS;
        if is_over_http {
            self.over_http = Some(now);
        }
        is_over_http
    }

    /// A socket was a watch.
    pub(super) fn socket_passed(&mut self) {
        self.refused_sockets = 0;
        self.over_http = None;
    }

    /// Waits for the next watch over HTTP.
    pub(super) fn poll_again(&mut self, now: f64) -> Action {
        self.wait_until(now + POLL_PAUSE, Phase::Watch)
    }

    /// Enters a phase now. Without a version no watch can be resumed, so that a list is taken instead.
    pub(super) fn enter(&mut self, phase: Phase, moment: Moment) -> Action {
        if phase == Phase::Watch && !self.last_sync.version().is_unset() {
            return self.open(false, moment);
        }
        // A new list says when the next resync is due.
        self.timers.resync_at = None;
        let streams = self.fetches.stream() && self.over_http.is_none();
        if streams { self.open(true, moment) } else { self.list(moment) }
    }

    /// Enters a phase after a wait.
    pub(super) fn wait(&mut self, phase: Phase, at_least: Option<f64>, moment: Moment) -> Action {
        let until = self.timers.retry_at(at_least, moment);
        self.wait_until(until, phase)
    }

    /// Enters a phase at a time in milliseconds.
    pub(super) fn wait_until(&mut self, until: f64, phase: Phase) -> Action {
        self.state = State::Waiting { until, phase };
        Action::Wait
    }

    /// Opens a socket: for a streaming list, or for the watch that follows a list.
    pub(super) fn open(&mut self, streaming: bool, moment: Moment) -> Action {
        if !streaming && self.over_http.is_some_and(|since| moment.now - since < SOCKETS_AGAIN) {
            let socket = Socket { over_http: true, ..Socket::new(moment.now, POLL) };
            self.state = State::Watch(Watch::new(socket));
            return Action::WatchOverHttp(self.watch_request(false, POLL));
        }
        let timeout_seconds = (WATCH_TIMEOUT * (1.0 + moment.random)) as u32;
        let socket = Socket::new(moment.now, timeout_seconds);
        self.timers.socket_asked(moment.now);
        self.state = match streaming {
            true => State::Stream(StreamingList::new(socket)),
            false => State::Watch(Watch::new(socket)),
        };
        Action::Watch(self.watch_request(streaming, timeout_seconds))
    }

    /// Asks over HTTP for what the refused socket was asked for, to learn why it was refused.
    pub(super) fn probe(&mut self, streaming: bool, now: f64) -> Action {
        let phase = if streaming { Phase::Start } else { Phase::Watch };
        self.state = State::Probe { phase, requested: now };
        Action::Probe(self.watch_request(streaming, 1))
    }

    /// The request for a streaming list, or for a watch from the last version on.
    pub(super) fn watch_request(&self, streaming: bool, timeout_seconds: u32) -> WatchRequest {
        let version = &self.last_sync;
        let resource_version = if streaming { version.for_list() } else { version.version().clone() };
        WatchRequest { resource_version, initial_events: streaming, timeout_seconds }
    }

    /// Asks for the first page of a list:
    ///
    /// - the first time at `0`, which is any state that the server has cached, and comes as a whole;
    /// - later at the version that was seen last, or a newer one, and without pages, so that the server's cache can answer;
    /// - where the server cannot serve from that version, without a version, which asks for the newest state.
    ///
    /// Where no answer over HTTP can be read, a streaming list is tried again after a wait.
    pub(super) fn list(&mut self, moment: Moment) -> Action {
        if !self.fetches.readable {
            return self.wait(Phase::Start, None, moment);
        }
        self.request(self.fetches.first_page(self.last_sync.for_fetched_list()), moment.now)
    }

    /// Asks for the first page of a list in this way.
    pub(super) fn request(&mut self, request: ListRequest, now: f64) -> Action {
        self.state = State::List(List::new(request.clone(), now));
        Action::List(request)
    }

    /// Asks for the whole list under way at once, at the version that was asked for first.
    pub(super) fn list_whole(&mut self, moment: Moment) -> Action {
        let resource_version = match &self.state {
            State::List(list) => list.request.resource_version.clone(),
            _ => self.last_sync.for_list(),
        };
        self.request(ListRequest { resource_version, limit: None, continue_token: None }, moment.now)
    }

    /// When another list is to be taken because the last one had items without a name; never while one is on its way.
    pub(super) fn doubt_due(&self) -> Option<f64> {
        self.timers.doubt_at.filter(|_| matches!(self.state, State::Watch(_)))
    }

    /// When a resync is due; never while a new list is on its way, for a list reports every object again.
    pub(super) fn resync_due(&self) -> Option<f64> {
        self.timers.resync_at.filter(|_| self.state.is_past_its_list())
    }
}
