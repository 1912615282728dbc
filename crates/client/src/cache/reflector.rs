//! The Reflector: lists a resource, then watches it, and starts over as the protocol asks.
//!
//! A state machine without IO: an [`Input`] comes in, the next [`Action`] comes out, and what the server said
//! about objects goes to a [`ReflectorStore`]. Its transitions are those of client-go's `reflector.go`, with
//! the hardening that a browser needs: a deadline for every wait, and no reopening within a second.

mod continuity;
mod kind;
mod last_sync;
mod lists;
mod notice;
mod objects;
mod options;
mod proofs;
mod refusals;
mod silences;
mod socket;
mod steps;
mod unread;

use std::sync::Arc;

use crate::api::extra::Keep;
use crate::api::object::{Decode, DecodeError, Object, ResourceVersion, decode_or_flag};
use crate::api::request::{ListRequest, WatchRequest};
use crate::api::status::{Failure, Verdict};
use crate::cache::backlog::Backlog;
use crate::cache::backoff::{Backoff, Moment};
use crate::cache::delta::DeltaType;
use crate::cache::ledger::Ledger;
use crate::cache::queue::Queued;
use crate::cache::reflector::continuity::{Continuity, Silence};
use crate::cache::reflector::last_sync::LastSync;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::refusals::Refusals;
use crate::cache::reflector::socket::Socket;

pub use crate::cache::reflector::notice::Notice;
pub use crate::cache::reflector::options::Options;
pub use crate::cache::reflector::proofs::OpenWatch;
pub use crate::cache::reflector::unread::Unread;

/// Items a page where no other size is set, as client-go's pager asks for (`defaultPageSize`).
pub const PAGE: u32 = 500;
/// The shortest watch that is asked for; the longest is twice that (`minWatchTimeout`), in seconds.
const WATCH_TIMEOUT: f64 = 300.0;
/// A watch may be late by this much beyond its timeout before it counts as lost (kube-rs), in milliseconds.
const GRACE: f64 = 5_000.0;
/// A watch without a frame for this long is opened anew at its last version. Servers send a bookmark about
/// every 60 s, and a browser cannot ping: a half-open socket looks just like a quiet one.
const QUIET: f64 = 90_000.0;
/// A socket that has not opened by then counts as refused, and so does a streaming list of which nothing has come by
/// then, for a proxy may accept a socket long before it reaches the server. A server may hold such a list back for 3 s.
const OPENING: f64 = 15_000.0;
/// A page of which nothing has arrived by then counts as failed; servers and proxies may need a minute to begin with a
/// large one. A probe asks for one second only: it gets [`OPENING`].
const LISTING: f64 = 120_000.0;
/// A page that has begun to arrive, and of which nothing more comes for this long, counts as failed. A whole list may take
/// as long as it takes: one of 200 MB on a slow line must come to its end.
const STALLED: f64 = 30_000.0;
/// A frame that is longer than this, in bytes, is not read. Servers refuse objects of more than some megabytes (etcd: 1.5,
/// API servers: 3), and what a socket brings comes whole.
pub const LONGEST_FRAME: usize = 64_000_000;
/// A watch that ends sooner without an event is a failure, and no two are opened within this (RetryWatcher).
const SHORT: f64 = 1_000.0;
/// A streaming list that has said nothing for this long, and has not ended, is worth a word (client-go,
/// `initialEventsEndBookmarkTicker`).
const LATE: f64 = 10_000.0;
/// Between the end of one watch and the opening of the next nothing is amiss for this long.
const PAUSE: f64 = 2_000.0;
/// What the server has told over HTTP a socket must bring within this, or it is dead.
const OWED: f64 = 1_000.0;

/// What happened.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Begin, or try again at once after having stopped.
    Start,
    /// The socket opened.
    Opened,
    /// A text frame.
    Frame(&'a str),
    /// A binary frame. It counts as the text that it holds; where it holds none it is malformed, for to replace
    /// what is no UTF-8 would give an object another name.
    Bytes(&'a [u8]),
    /// A frame that is longer than [`LONGEST_FRAME`], and was not read: how long it is at least, in bytes.
    TooLong(usize),
    /// The socket closed. Its code is 1000 where the server ended the watch as it should.
    Closed(u16),
    /// So many more bytes of a page have arrived.
    Progress(usize),
    /// A page of the list.
    Page(&'a str),
    /// A page of the list as it came; it is no list where it is no UTF-8.
    PageBytes(&'a [u8]),
    /// The list or the probe of a failed watch was answered with this, or not at all.
    Failed(Failure),
    /// The probe of a failed watch found nothing wrong.
    ProbePassed,
    /// The deadline passed.
    Timer,
    /// The page slept, or the network came back: whatever is open cannot be trusted.
    Woke,
    /// The server answers again, by someone else's observation.
    Reachable,
    /// The API server has answered over HTTP for this very watch, from its last version on
    /// ([`crate::cache::heartbeat`]).
    HeartbeatAnswered {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// Whether it had an event that comes after that version.
        event: bool,
        /// Whether it was asked, too, if it has come as far as that version.
        checked: bool,
    },
    /// The question was not answered, or with something else than a watch.
    HeartbeatFailed {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// What came instead.
        failure: Failure,
    },
    /// What is held is wrong, by someone else's observation, for this reason: a new list of the server's newest, even
    /// where its versions have gone back. Nothing, while something else is under way that ends with a list or a watch.
    Relist(&'a str),
    /// More has come than those who are told can take: this much waits.
    Overrun(Backlog),
    /// Be still.
    Stop,
    /// Be still, for this reason, until it is started again.
    GiveUp(&'a str),
}

/// What shall be done next. Each one replaces whatever was under way.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Fetch a page.
    List(ListRequest),
    /// Open a socket.
    Watch(WatchRequest),
    /// Fetch what the socket was refused, to learn why.
    Probe(WatchRequest),
    /// Nothing until the deadline.
    Wait,
}

/// Where the reflector puts what it learns; client-go's `ReflectorStore`.
pub trait ReflectorStore {
    /// An object that was read and that no one holds yet: a store that knows this very version gives that, and one that
    /// knows another version has the new one share its texts.
    fn keep(&mut self, object: Object) -> Arc<Object> {
        Arc::new(object)
    }
    /// An event of a watch (`Added`, `Updated` or `Deleted`), and the text that the object was read from. Returns what
    /// came of the event.
    fn event(&mut self, now: f64, delta_type: DeltaType, object: Arc<Object>, text: &str) -> Queued;
    /// An event of a streaming list, or an item of a page, whose list has not ended: it was seen, and is not yet part of
    /// what is known. Whatever the list says to exist is `Replaced`; a streaming list may also bring `Updated` and
    /// `Deleted`.
    fn streamed(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: &str);
    /// A complete list, sorted by key, but for what could not be read of it. Whether something known stays that is not in
    /// it, because it may be what could not be read.
    fn replace(&mut self, now: f64, items: Vec<Arc<Object>>, unread: &Unread) -> bool;
    /// Tell everything again.
    fn resync(&mut self, now: f64);
    /// Something other than an object that the user should know of.
    fn notice(&mut self, notice: Notice);
    /// The counters.
    fn ledger(&mut self) -> &mut Ledger;
}

/// How much of what is shown can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing has come back yet.
    Connecting,
    /// The first list is on its way.
    Listing,
    /// The watch is open: what is shown is true but for what is on its way.
    Live,
    /// It was true once.
    Stale,
    /// The server does not allow it.
    Forbidden,
    /// The request makes no sense to the server, or the user asked to stop.
    Stopped,
}

impl Health {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Health::Connecting => "connecting",
            Health::Listing => "listing",
            Health::Live => "live",
            Health::Stale => "stale",
            Health::Forbidden => "forbidden",
            Health::Stopped => "stopped",
        }
    }
}

/// The part of the cycle that a wait leads back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A new list, streamed if the server can.
    Start,
    /// The watch, from the last version.
    Watch,
}

/// What is under way.
#[derive(Debug)]
enum State {
    /// Nothing: it was never started.
    Idle,
    /// Nothing: the user stopped it.
    Stopped,
    /// A streaming list whose end has not come.
    Stream {
        socket: Socket,
        /// What the list has brought so far.
        items: Objects,
        /// When the user was last told that the end of the list does not come.
        warned: f64,
    },
    /// A list in pages.
    List {
        /// The items so far.
        items: Objects,
        /// The items that could not be read.
        unread: Unread,
        /// The version of the first page, which is that of the list.
        version: ResourceVersion,
        /// The request for the page that is under way.
        request: ListRequest,
        /// When that page was asked for.
        requested: f64,
        /// When something of the page last arrived, once something has.
        arrived: Option<f64>,
        /// How many items will still come, where the last page said so.
        remaining: Option<u64>,
    },
    /// The watch that follows a list.
    Watch {
        socket: Socket,
        /// By when the socket must have brought something, for the server is known to have something for it.
        owed: Option<f64>,
    },
    /// A socket was refused, and the same is asked over HTTP to learn why: a streaming list where `phase` is `Start`, a
    /// watch where it is `Watch`.
    Probe { phase: Phase, requested: f64 },
    /// Nothing until then; what follows is `phase`.
    Waiting { until: f64, phase: Phase },
    /// Nothing: the server refuses the request itself.
    Refused,
}

/// Keeps the objects of one resource in one scope as the server has them, as far as the network allows.
///
/// A [`State`] holds what ends with it. The other fields outlive states on purpose: what is known of the server and of the
/// held objects stays true while the reflector goes from a watch through failures, waits and lists to the next watch.
#[derive(Debug)]
pub struct Reflector {
    decode: Decode,
    options: Options,
    state: State,
    backoff: Backoff,
    last_sync: LastSync,
    /// The first list at `0` came in pages, so later ones will too.
    paged: bool,
    /// Whether a complete list has been handed over.
    synced: bool,
    /// Why what is held may be wrong, since the watch was last proven. It is not a part of `continuity`: a failure is
    /// there before the first list, too, and a silence needs none.
    failure: Option<Failure>,
    continuity: Continuity,
    /// What is refused, and told.
    refusals: Refusals,
    /// Since when the watch has answered with internal errors to which the same watch is the answer.
    internal_since: Option<f64>,
    /// How many sockets in a row were given up without a frame.
    quiet: u32,
    /// When the last proof came that what is held is true.
    heard: Option<f64>,
    /// Why the list under way, or the next one, is needed.
    reason: String,
    /// When a socket was last asked for.
    last_opened: f64,
    /// When a list is to be taken anew, because the last one left it open whether some object still exists.
    doubt_at: Option<f64>,
    /// When the next resync is due. The time runs from the list on, whatever becomes of the watch's sockets, as client-go's
    /// `startResync` runs beside its watches.
    resync_at: Option<f64>,
}

impl Reflector {
    /// A reflector that reads objects with `decode`, and does nothing before [`Input::Start`].
    pub fn new(decode: Decode, options: Options) -> Reflector {
        Reflector {
            decode,
            options,
            state: State::Idle,
            backoff: Backoff::default(),
            last_sync: LastSync::default(),
            paged: false,
            synced: false,
            failure: None,
            continuity: Continuity::Unbroken,
            refusals: Refusals::default(),
            internal_since: None,
            quiet: 0,
            heard: None,
            reason: String::from("first list"),
            last_opened: f64::NEG_INFINITY,
            doubt_at: None,
            resync_at: None,
        }
    }

    /// Takes what happened and says what to do next; `None` leaves whatever is under way alone.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let action = self.step(input, moment, store);
        self.tell_stale(moment, store);
        action
    }

    fn step(&mut self, input: Input<'_>, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        match input {
            Input::Start => match self.state {
                State::Idle | State::Stopped | State::Refused | State::Waiting { .. } => Some(self.start(moment)),
                _ => None,
            },
            Input::Stop => {
                self.stop(moment, store);
                Some(Action::Wait)
            }
            Input::Opened => {
                self.opened(moment, store);
                None
            }
            Input::Frame(text) => self.frame(text, moment, store),
            Input::Bytes(bytes) => self.bytes(bytes, moment, store),
            Input::TooLong(bytes) => self.too_long(bytes, moment, store),
            Input::Closed(code) => self.closed(code, moment, store),
            Input::Progress(_) => {
                if let State::List { arrived, .. } = &mut self.state {
                    *arrived = Some(moment.now);
                }
                None
            }
            Input::Page(text) => self.page(text, moment, store),
            Input::PageBytes(bytes) => self.page_bytes(bytes, moment, store),
            Input::Failed(failure) => self.failed(failure, moment, store),
            Input::ProbePassed => self.probe_passed(moment),
            Input::Overrun(backlog) => self.overrun(backlog, moment, store),
            Input::GiveUp(words) => {
                self.stop(moment, store);
                self.failure =
                    Some(Failure { verdict: Verdict::Refused, code: 0, words: words.to_owned(), retry_after: None });
                Some(Action::Wait)
            }
            Input::Timer => self.timer(moment, store),
            Input::Woke => self.woke(moment, store),
            Input::Relist(reason) => self.relist(reason, moment, store),
            Input::Reachable => match self.state {
                State::Waiting { phase, .. } if self.is_unreachable() => Some(self.enter_after(phase, moment)),
                _ => None,
            },
            Input::HeartbeatAnswered { asked, event, checked } => {
                self.answered(asked, event, checked, moment, store);
                None
            }
            Input::HeartbeatFailed { asked, failure } => self.unproven(asked, failure, moment, store),
        }
    }

    /// Tells everything again this often, in milliseconds, or never: from now on, or from the list on that is on its way.
    pub fn resync_every(&mut self, every: Option<f64>, now: f64) {
        self.options.resync = every;
        self.resync_at = every.filter(|_| self.is_past_its_list()).map(|every| now + every);
    }

    /// When [`Input::Timer`] is due, if ever.
    pub fn deadline(&self) -> Option<f64> {
        let deadlines = [self.ends_at(), self.owed_at(), self.late_at(), self.stale_at(), self.resync_due()];
        let deadlines = deadlines.into_iter().chain([self.doubt_due()]);
        deadlines.flatten().reduce(f64::min)
    }

    /// How much of what is shown can be believed.
    pub fn health(&self, now: f64) -> Health {
        match (&self.state, &self.failure) {
            (State::Stopped | State::Refused, _) => Health::Stopped,
            (_, Some(failure)) if failure.verdict == Verdict::Forbidden => Health::Forbidden,
            _ if !self.synced => match &self.state {
                // After a failure, only what has come shows that it is over.
                State::Stream { socket, .. } if socket.frames > 0 => Health::Listing,
                State::List { items, .. } if self.failure.is_none() || items.len() > 0 => Health::Listing,
                _ => Health::Connecting,
            },
            (_, Some(_)) => Health::Stale,
            // That it opened proves nothing. What does is the last proof, until the heartbeat asks in vain.
            (State::Watch { socket, .. }, None)
                if socket.opened.is_some() && !matches!(self.continuity, Continuity::Outage(Some(_))) =>
            {
                Health::Live
            }
            // Between the end of one watch and the next, which is as it should be, if it is short.
            (State::Watch { .. } | State::Waiting { phase: Phase::Watch, .. }, None) => {
                match self.continuity.silence().is_none_or(|silence| now < silence.counts_from()) {
                    true => Health::Live,
                    false => Health::Stale,
                }
            }
            _ => Health::Stale,
        }
    }

    /// Why the truth is not known, in the server's words, since the watch was last proven.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The newest version seen.
    pub fn resource_version(&self) -> &ResourceVersion {
        self.last_sync.version()
    }

    /// Whether a complete list has been handed over.
    pub fn has_listed(&self) -> bool {
        self.synced
    }

    /// When the last proof came that what is known is true: a frame, a list, or an answer of the API server.
    pub fn heard(&self) -> Option<f64> {
        self.heard
    }

    /// How many objects the list under way has brought so far.
    pub fn listing(&self) -> Option<usize> {
        match &self.state {
            State::Stream { items, .. } | State::List { items, .. } => Some(items.len()),
            _ => None,
        }
    }

    /// How many objects the list under way will still bring, where its last page said so.
    pub fn remaining(&self) -> Option<u64> {
        match &self.state {
            State::List { remaining, .. } => *remaining,
            _ => None,
        }
    }

    /// When the next attempt is due, while one is waited for.
    pub fn retry_at(&self) -> Option<f64> {
        match self.state {
            State::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Whether it waits because nothing answers.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.state, State::Waiting { .. })
            && self.failure.as_ref().is_some_and(|failure| failure.verdict == Verdict::Unreachable)
    }
}

/// Reads an object, and what else shall be kept of it.
fn read(decode: Decode, keep: Keep, text: &str) -> Result<Object, DecodeError> {
    let mut object = decode_or_flag(decode, text)?;
    if let Err(flaw) = object.keep(text, keep) {
        object.flaw = Some(flaw.to_string().into());
    }
    Ok(object)
}
