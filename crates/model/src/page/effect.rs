//! What the page asks its surroundings to do. Where the outcome matters to the page, the caller hands it an answer.

use std::ops::ControlFlow;

use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::{ExactListRequest, Scope};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat;
use kubechurn_client::cache::heartbeat::Ask;
use kubechurn_client::cache::reflector::Input;

use crate::feed::alerts::Alert;
use crate::kept::{DiskAnswer, DiskFailure, DiskRequest};
use crate::logs::lines::Writing;
use crate::navigation::clusters::Api;
use crate::navigation::namespaces::Namespaces;
use crate::page::command::Rows;
use crate::table::export::Export;
use crate::view::Theme;

/// Something to be done.
#[derive(Debug)]
pub enum Effect {
    /// An informer is new: drive its reflector, and hand the reflector its first input, [`Input::Start`].
    Start(InformerId, ApiResource, Scope),
    /// An informer ended: drop everything that is under way for it.
    Stop(InformerId),
    /// From now on, the API of another cluster is here.
    Cluster(Api),
    /// Hand an input to an informer's reflector, in the same way as every other input.
    Reflect(InformerId, ReflectorInput),
    /// Carry out a request, and hand over the answer with this number.
    Request(RequestId, Request),
    /// Read the log at this path and query below a cluster's API, and hand over what comes of it as long as it comes
    /// ([`Page::logged`](crate::page::Page::logged)).
    Follow(RequestId, &'static str, String),
    /// Drop a request: its answer is no longer wanted.
    Abort(RequestId),
    /// Limit the page's connections by this Content-Security-Policy, in addition to the one that the page has.
    Restrict(String),
    /// Go to the place with this fragment of the address, and leave an entry in the browser's history. The page
    /// receives the new fragment in the same way as any other change of the fragment.
    Push(String),
    /// Change the fragment without an entry in the browser's history.
    Replace(String),
    /// Leave this page for the one at this address.
    Load(String),
    /// Store this value under a name for the next visit, or, for `None`, remove what is stored.
    Store(String, Option<String>),
    /// Store this value under a name for as long as the tab is open.
    StoreInTab(&'static str, String),
    /// Have the document light or dark.
    Theme(Theme),
    /// Have the document, and its tab, look like one that shows another moment than now, or like one that is live.
    Rewound(bool),
    /// Have the user choose the file of a recording, and open it.
    ChooseRecording,
    /// Open the recording at this address, which is of the page's own origin.
    OpenRecording(String),
    /// Open the recording that the browser keeps in this folder, and call it so.
    OpenKept(String, String),
    /// Show the cluster again in place of the recording.
    CloseRecording,
    /// Write a line to the console.
    Warn(String),
    /// Notify the user of changes, or mark the tab.
    Alert(Alert),
    /// Move the focus.
    Focus(Focused),
    /// Scroll the table to this place, in pixels, at once.
    ScrollTable(f64),
    /// Scroll the feed to this place, in pixels, at once.
    ScrollFeed(f64),
    /// Report to a watchdog outside the program that the page is alive.
    Beat {
        /// Which resource versions the page shows, in words.
        versions: String,
        /// In how many milliseconds the page reports it again, at the latest.
        next: f64,
    },
}

impl Effect {
    /// Whether it concerns what is seen: a page that is hidden behind a recording has no part in that.
    pub fn is_seen(&self) -> bool {
        matches!(
            self,
            Effect::Push(_)
                | Effect::Replace(_)
                | Effect::Theme(_)
                | Effect::Rewound(_)
                | Effect::Focus(_)
                | Effect::ScrollTable(_)
                | Effect::ScrollFeed(_)
                | Effect::CloseRecording
        )
    }
}

/// An input for a reflector that comes from the page itself.
#[derive(Clone, Debug)]
pub enum ReflectorInput {
    /// An input that borrows no text.
    Input(Input<'static>),
    /// List again, for this reason.
    Relist(String),
    /// Stop, for this reason.
    GiveUp(String),
}

/// Where the focus goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focused {
    /// To these rows.
    Rows(Rows),
    /// To a field with this id, with its text selected.
    Field(&'static str),
    /// To the menu with this `data-testid`, which opens.
    Menu(&'static str),
    /// To the button of the menu that is open; the menu closes.
    ClosedMenu,
}

/// A number for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// What is asked for.
#[derive(Debug)]
pub enum Request {
    /// Find the API: at the first of these places that answers. A place is an address, or a path relative to the page.
    Find {
        /// The places.
        places: Vec<String>,
        /// Whether WebSockets have a prefix of their own, `k8s-ws/` beside `k8s/`: Trunk cannot proxy HTTP and
        /// WebSockets under the same prefix.
        second: bool,
        /// How long to wait for each place, in milliseconds.
        patience: u32,
        /// A WebSocket to open where no answer comes at all, which may be one that the browser keeps from the page: its path
        /// and query below the API. `None` at the page's own origin, where every answer can be read.
        socket: Option<String>,
    },
    /// Ask which resources the server has: one round of discovery requests.
    Discovery(CachedDiscovery),
    /// The text of a resource's CustomResourceDefinition.
    Definition(ApiResource),
    /// Ask whether a watch of this resource is alive.
    Heartbeat(ApiResource, Scope, Ask),
    /// Ask for the number of objects.
    Count(ApiResource, Scope),
    /// List metadata at exactly this resource version, one page of the list at a time.
    ListExactly(ApiResource, Scope, ExactListRequest),
    /// One object, by its name.
    Get(ApiResource, Scope, String),
    /// List the names of the namespaces. The names that are known so far are handed along.
    Namespaces(Namespaces),
    /// Put a text on the clipboard.
    Copy(String),
    /// Hand a file with lines of text to the browser.
    Save {
        /// What it is called.
        name: String,
        /// What it is.
        media_type: &'static str,
        /// What is in it.
        slices: Box<Slices>,
    },
    /// Compress a block of a recording, and keep it with those before it.
    Pack {
        /// Its lines.
        lines: Vec<u8>,
        /// A number that no other file has: two pages, the one of the cluster and that of a recording, may write at once.
        file: u64,
        /// What the file is called, if this is its last block: then it is handed to the browser.
        name: Option<String>,
    },
    /// Do something in the private file system of the page's origin.
    Disk(DiskRequest),
}

/// What is in a file, slice by slice, so that the page goes on between them.
#[derive(Debug)]
pub enum Slices {
    /// A table.
    Table(Export),
    /// Lines of a log.
    Log(Writing),
    /// A short text that is there, and how many rows it has; empty when it was taken.
    Text(String, usize),
}

impl Slices {
    /// The next slice, of so many rows; `None` at the end.
    pub fn next(&mut self, count: usize) -> Option<String> {
        match self {
            Slices::Table(export) => export.slice(count),
            Slices::Log(writing) => writing.slice(count),
            Slices::Text(text, _) => Some(std::mem::take(text)).filter(|text| !text.is_empty()),
        }
    }

    /// The number of all rows.
    pub fn total(&self) -> usize {
        match self {
            Slices::Table(export) => export.total(),
            Slices::Log(writing) => writing.total(),
            Slices::Text(_, rows) => *rows,
        }
    }
}

/// Where the API was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundApi {
    /// Its address for HTTP.
    pub http: String,
    /// Which release the server is, where it says so.
    pub release: Option<Release>,
    /// Whether its answers over HTTP can be read. Where they cannot, an API of another origin does not let the page read them
    /// (CORS), and only its WebSockets are of use.
    pub readable: bool,
}

/// What is said wherever something is missing because a recording is shown.
pub const RECORDED: &str = "this is a recording, and there is no server to ask";

/// What is said wherever something is missing because no answer over HTTP can be read.
pub const UNREADABLE: &str = "the API is of another origin, and does not let this page read its answers (no CORS)";

impl Request {
    /// Which cluster's API server is asked: [`ApiResource::cluster`].
    pub fn cluster(&self) -> &'static str {
        match self {
            Request::Definition(resource)
            | Request::Heartbeat(resource, ..)
            | Request::Count(resource, _)
            | Request::ListExactly(resource, ..)
            | Request::Get(resource, ..) => resource.cluster,
            Request::Find { .. }
            | Request::Discovery(_)
            | Request::Namespaces(_)
            | Request::Copy(_)
            | Request::Save { .. }
            | Request::Pack { .. }
            | Request::Disk(_) => "",
        }
    }

    /// Goes on with the request where answers of a server can be had, or if something else than a server carries the request
    /// out. Else it breaks with an answer that says why there is nothing, [`UNREADABLE`] or [`RECORDED`], without a question to
    /// the server.
    pub fn at(self, without: Option<&'static str>) -> ControlFlow<Answer, Request> {
        let Some(reason) = without else { return ControlFlow::Continue(self) };
        let failure = || Failure::unreachable(reason);
        ControlFlow::Break(match self {
            Request::Discovery(mut cached) => {
                cached.begin();
                cached.failed(format!("only the kinds that the page knows by itself are here: {reason}"));
                cached.end();
                Answer::Discovery(cached)
            }
            Request::Definition(_) => Answer::Definition(Err(failure())),
            Request::Count(..) => Answer::Count(None),
            Request::ListExactly(..) => Answer::ListExactly(Err(failure())),
            Request::Get(..) => Answer::Get(Err(failure())),
            Request::Namespaces(mut known) => {
                known.trouble = Some(format!("Type a name: {reason}."));
                Answer::Namespaces(known)
            }
            Request::Find { .. }
            | Request::Heartbeat(..)
            | Request::Copy(_)
            | Request::Save { .. }
            | Request::Pack { .. }
            | Request::Disk(_) => return ControlFlow::Continue(self),
        })
    }
}

/// The answer to the request of the same name.
#[derive(Debug)]
pub enum Answer {
    /// Where the API is; or each address that was tried, with what it answered.
    Find(Result<FoundApi, Vec<(String, String)>>),
    /// What is known now.
    Discovery(CachedDiscovery),
    /// The text, or why there is none.
    Definition(Result<String, Failure>),
    /// The outcome.
    Heartbeat(heartbeat::Answer),
    /// The number; `None` if the server does not report it.
    Count(Option<u64>),
    /// The bytes of the page of the list, or why there are none.
    ListExactly(Result<Vec<u8>, Failure>),
    /// The object's text, or why there is none.
    Get(Result<String, Failure>),
    /// The names that are known now.
    Namespaces(Namespaces),
    /// Whether the browser did it.
    Copy(bool),
    /// How many bytes the blocks of the recording have by now; `None` if the browser cannot write them.
    Pack(Option<usize>),
    /// What came of it.
    Disk(Result<DiskAnswer, DiskFailure>),
    /// How many rows the file has; `None` if the browser cannot save files.
    Save(Option<usize>),
}

/// How soon the next frame is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// At the pace of a stream of changes.
    Paced,
    /// At once, because the user waits for it.
    Hurried,
}

/// The effects that are not taken yet.
#[derive(Debug, Default)]
pub struct Effects {
    /// The effects, in the order in which they are to be carried out.
    pub list: Vec<Effect>,
    /// Whether a frame is wanted, and how soon.
    pub frame: Option<Pace>,
    /// Whether the timeline is to be painted.
    pub paint: bool,
}

impl Effects {
    /// Adds an effect.
    pub fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    /// Asks for a frame. The sooner of two paces counts.
    pub fn frame(&mut self, pace: Pace) {
        self.frame = self.frame.max(Some(pace));
    }
}
