//! The Reflector: lists a resource, then watches it, and starts over as the protocol asks.
//!
//! A state machine without IO: an [`Input`] comes in, the next [`Action`] comes out, and what the server said
//! about objects goes to a [`ReflectorStore`]. The transitions are those of client-go's `reflector.go`, and two rules that
//! a browser needs: every wait has a deadline, and no socket is opened within a second of the one before.

mod continuity;
mod fetches;
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
use crate::api::list::ListReader;
use crate::api::object::{Decode, DecodeError, Object, ResourceVersion, decode_or_flag};
use crate::api::request::{ListRequest, WatchRequest};
use crate::api::status::{Failure, Verdict};
use crate::cache::backlog::Backlog;
use crate::cache::backoff::{Backoff, Moment};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::DeltaType;
use crate::cache::ledger::Ledger;
use crate::cache::queue::Queued;
use crate::cache::reflector::continuity::{Continuity, Silence};
use crate::cache::reflector::fetches::Fetches;
use crate::cache::reflector::last_sync::LastSync;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::refusals::Refusals;
use crate::cache::reflector::socket::Socket;

pub use crate::cache::reflector::notice::Notice;
pub use crate::cache::reflector::options::Options;
pub use crate::cache::reflector::proofs::OpenWatch;
pub use crate::cache::reflector::unread::Unread;

/// How many items a page has where no other size is set, as client-go's pager asks for (`defaultPageSize`).
pub const PAGE: u32 = 500;
/// The shortest watch that is asked for, in seconds; the longest is twice that (client-go, `minWatchTimeout`).
const WATCH_TIMEOUT: f64 = 300.0;
/// How long after its timeout a watch may end before it counts as lost, in milliseconds (kube-rs).
const GRACE: f64 = 5_000.0;
/// A watch without a frame for this long, in milliseconds, is opened anew at its last version. Servers send a bookmark
/// about every 60 s, and a browser cannot ping: a half-open socket looks just like one of a cluster in which nothing
/// happens.
const QUIET: f64 = 90_000.0;
/// A socket that has not opened within this time, in milliseconds, counts as refused. So does a streaming list of which
/// nothing has come within this time of the opening: a proxy may accept a socket long before it reaches the server. A
/// server may hold such a list back for 3 s.
const OPENING: f64 = 15_000.0;
/// A page of which nothing has arrived within this time, in milliseconds, counts as failed; servers and proxies may need a
/// minute to begin with a large one. A probe has [`OPENING`] instead, for it asks for a watch of one second only.
const LISTING: f64 = 120_000.0;
/// A page or a streaming list that has begun to arrive, and of which nothing more comes for this long, in milliseconds, counts
/// as failed. There is no limit for the whole list: one of 200 MB must come to its end on a slow line, too.
const STALLED: f64 = 30_000.0;
/// A frame that is longer than this, in bytes, is not read. Servers refuse objects of more than a few megabytes (etcd: 1.5,
/// API servers: 3), and a socket hands over each frame as a whole.
pub const LONGEST_FRAME: usize = 64_000_000;
/// A watch that ends within this time, in milliseconds, and without an event is a failure; and no two watches are opened
/// within this time (client-go, `RetryWatcher`).
const SHORT: f64 = 1_000.0;
/// The user is told of a streaming list that has brought nothing for this long, in milliseconds, and has not ended
/// (client-go, `initialEventsEndBookmarkTicker`).
const LATE: f64 = 10_000.0;
/// For this long, in milliseconds, after the end of a watch what is held counts as live although the next watch is not open.
const PAUSE: f64 = 2_000.0;
/// When the server has answered over HTTP that it has an event for a watch, the socket must bring something within this
/// time, in milliseconds, or it counts as dead.
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
    /// A binary frame, which counts as the text that it holds. Where its bytes are no UTF-8 it is malformed: to replace
    /// them with other characters could give an object another name.
    Bytes(&'a [u8]),
    /// A frame that is longer than [`LONGEST_FRAME`] came, and was not read. The number is its least length, in bytes.
    TooLong(usize),
    /// The socket closed with this code, which is 1000 where the server ended the watch properly.
    Closed(u16),
    /// The next bytes of a page, of any number. An empty piece says that the answer has begun, with status 200. The items
    /// that are complete with these bytes are read at once.
    Piece(&'a [u8]),
    /// All bytes of a page have come.
    PageEnd,
    /// A page that is there as a whole: its bytes as one piece, and its end.
    Page(&'a str),
    /// [`Input::Page`] in bytes, of which nobody has looked whether they are UTF-8.
    PageBytes(&'a [u8]),
    /// The list, or the probe of a failed watch, failed with this, which may be that no answer came.
    Failed(Failure),
    /// The probe of a failed watch found nothing wrong.
    ProbePassed,
    /// The deadline passed.
    Timer,
    /// The page slept, or the network came back: no open socket can be trusted.
    Woke,
    /// Someone else has observed that the server answers again.
    Reachable,
    /// The API server has answered over HTTP when it was asked for the same watch, from its last version on
    /// ([`crate::cache::heartbeat`]).
    HeartbeatAnswered {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// Whether the server had an event that comes after that version.
        event: bool,
        /// Whether the server was also asked if it has come as far as that version.
        checked: bool,
    },
    /// The heartbeat's question was not answered, or was answered with something other than a watch.
    HeartbeatFailed {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// What came instead.
        failure: Failure,
    },
    /// Someone else has found that the held objects are wrong, for this reason. A watch ends with this, and a new list is
    /// taken of the server's newest state, even if the server's versions have gone back. Without a watch nothing happens,
    /// because what is under way ends with a list anyway.
    Relist(&'a str),
    /// More has come than the handlers can take: this much waits.
    Overrun(Backlog),
    /// Stop.
    Stop,
    /// Stop, for this reason, until the next [`Input::Start`].
    GiveUp(&'a str),
}

/// What to do next. Each action replaces the one that was under way.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Fetch a page.
    List(ListRequest),
    /// Open a socket.
    Watch(WatchRequest),
    /// Fetch over HTTP what the socket was asked for and refused, to learn why.
    Probe(WatchRequest),
    /// Do nothing until the deadline.
    Wait,
}

/// Where the reflector puts what it learns; client-go's `ReflectorStore`.
pub trait ReflectorStore {
    /// Makes an object that was just read one of the store's. A store that knows this very version returns the object that it
    /// holds, and one that knows another version has the new object share its texts.
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
    /// A complete list, sorted by key, without the items that could not be read. Returns whether some known object stays
    /// although it is not in the list, because it may be one of those items.
    fn replace(&mut self, now: f64, list: CompleteList, unread: &Unread) -> bool;
    /// A resync is due: everything is to be told again.
    fn resync(&mut self, now: f64);
    /// The user should know of something that is no object.
    fn notice(&mut self, notice: Notice);
    /// The counters.
    fn ledger(&mut self) -> &mut Ledger;
}

/// How much of what is held can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing has come from the server yet.
    Connecting,
    /// The first list is on its way.
    Listing,
    /// The watch is open: what is held is what the server has, except for what is on its way.
    Live,
    /// What is held was true at some time, and may be old.
    Stale,
    /// The server does not allow it.
    Forbidden,
    /// The request makes no sense to the server, or the user asked to stop.
    Stopped,
}

impl Health {
    /// The word that the user reads.
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
        /// What of the page is not complete.
        reader: Box<ListReader>,
        /// How many items had come before the page.
        before: usize,
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
/// A `State` holds what ends with it. The other fields outlive states on purpose: what is known of the server and of the
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
    fetches: Fetches,
    /// Whether a complete list has been handed over.
    synced: bool,
    /// Why what is held may be wrong, since the watch was last proven. It is not a part of `continuity`: a failure is
    /// there before the first list, too, and a silence needs none.
    failure: Option<Failure>,
    continuity: Continuity,
    /// What is refused, and told.
    refusals: Refusals,
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
            fetches: Fetches::Unknown,
            synced: false,
            failure: None,
            continuity: Continuity::Unbroken,
            refusals: Refusals::default(),
            quiet: 0,
            heard: None,
            reason: String::from("first list"),
            last_opened: f64::NEG_INFINITY,
            doubt_at: None,
            resync_at: None,
        }
    }

    /// Takes what happened, and returns what to do next. `None` means that what is under way goes on.
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
            Input::Piece(bytes) => self.piece(bytes, moment, store),
            Input::PageEnd => self.page_end(moment, store),
            Input::Page(text) => self.page(text.as_bytes(), moment, store),
            Input::PageBytes(bytes) => self.page(bytes, moment, store),
            Input::Failed(failure) if self.may_be_unreadable(&failure) => Some(self.stream_instead(moment)),
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
            Input::HeartbeatAnswered { asked, event: true, .. } => {
                self.has_event(asked, moment);
                None
            }
            Input::HeartbeatAnswered { asked, event: false, checked } => {
                self.has_no_event(asked, checked, moment, store);
                None
            }
            Input::HeartbeatFailed { asked, failure } => self.unproven(asked, failure, moment, store),
        }
    }

    /// Sets how often to resync, in milliseconds; `None` is never. The time begins now, or with the end of the list that is
    /// on its way.
    pub fn resync_every(&mut self, every: Option<f64>, now: f64) {
        self.options.resync = every;
        self.resync_at = every.filter(|_| self.is_past_its_list()).map(|every| now + every);
    }

    /// When [`Input::Timer`] is due, in milliseconds, if ever.
    pub fn deadline(&self) -> Option<f64> {
        let deadlines = [self.ends_at(), self.owed_at(), self.late_at(), self.stale_at(), self.resync_due()];
        let deadlines = deadlines.into_iter().chain([self.doubt_due()]);
        deadlines.flatten().reduce(f64::min)
    }

    /// How much of what is held can be believed.
    pub fn health(&self, now: f64) -> Health {
        match (&self.state, &self.failure) {
            (State::Stopped | State::Refused, _) => Health::Stopped,
            (_, Some(failure)) if failure.verdict == Verdict::Forbidden => Health::Forbidden,
            _ if !self.synced => match &self.state {
                // After a failure, only what has come since shows that the failure is over.
                State::Stream { socket, .. } if socket.frames > 0 => Health::Listing,
                State::List { items, .. } if self.failure.is_none() || items.len() > 0 => Health::Listing,
                _ => Health::Connecting,
            },
            (_, Some(_)) => Health::Stale,
            // That the socket opened proves nothing. The last proof holds until the heartbeat gets no answer.
            (State::Watch { socket, .. }, None)
                if socket.opened.is_some() && !matches!(self.continuity, Continuity::Outage(Some(_))) =>
            {
                Health::Live
            }
            // A short time between the end of one watch and the next is as it should be.
            (State::Watch { .. } | State::Waiting { phase: Phase::Watch, .. }, None) => {
                match self.continuity.silence().is_none_or(|silence| now < silence.counts_from()) {
                    true => Health::Live,
                    false => Health::Stale,
                }
            }
            _ => Health::Stale,
        }
    }

    /// Why what is held may be wrong, in the server's words, since the watch was last proven.
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

    /// When the last proof came that what is held is true: a frame, a list, or an answer of the API server. In
    /// milliseconds.
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

    /// How many objects the list under way will still bring, where the last page said so.
    pub fn remaining(&self) -> Option<u64> {
        match &self.state {
            State::List { remaining, .. } => *remaining,
            _ => None,
        }
    }

    /// When the next attempt is due, in milliseconds, while the reflector waits for one.
    pub fn retry_at(&self) -> Option<f64> {
        match self.state {
            State::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Whether the reflector waits because nothing answers.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.state, State::Waiting { .. })
            && self.failure.as_ref().is_some_and(|failure| failure.verdict == Verdict::Unreachable)
    }
}

/// Reads an object and what else is to be kept of it. Where that part cannot be read, the object says so in its `flaw`.
fn read(decode: Decode, keep: Keep, text: &str) -> Result<Object, DecodeError> {
    let mut object = decode_or_flag(decode, text)?;
    if let Err(flaw) = object.keep(text, keep) {
        object.flaw = Some(flaw.to_string().into());
    }
    Ok(object)
}
