//! What the page wants done where it runs. It is told what came of it, where that matters.

use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::{ExactListRequest, Scope};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat;
use kubechurn_client::cache::heartbeat::Ask;
use kubechurn_client::cache::reflector::Input;

use crate::page::export::{Export, Format};
use crate::page::view::{Namespaces, Theme};

/// Something to be done.
#[derive(Debug)]
pub enum Effect {
    /// An informer is new: keep its reflector going, and hand it its first input, [`Input::Start`].
    Start(InformerId, ApiResource, Scope),
    /// An informer ended: whatever is under way for it is to be dropped.
    Stop(InformerId),
    /// Hand an input to an informer's reflector, in the way of all others.
    Tell(InformerId, Told),
    /// Ask for something, and hand over the answer with this number.
    Request(RequestId, Request),
    /// The answer to a request is not wanted any longer.
    Abort(RequestId),
    /// Hold the page's connections to this Content-Security-Policy, beside the one that it has.
    Restrict(String),
    /// Go to a place that the user can come back from: this is the address's fragment. The page hears of it as of every
    /// other change of the fragment.
    Push(String),
    /// Change the fragment without leaving a step behind.
    Replace(String),
    /// Load the page without this parameter of its address.
    LeaveParameter(&'static str),
    /// Keep this under a name for the next visit, or nothing any longer.
    Store(String, Option<String>),
    /// Keep this under a name for as long as the tab is open.
    StoreInTab(&'static str, String),
    /// Have the document light or dark.
    Theme(Theme),
    /// Write a line to the console.
    Warn(String),
    /// Move the focus, or what is seen.
    Focus(Focused),
    /// Scroll the table to this place, in pixels, at once.
    ScrollTable(f64),
    /// Tell whoever watches from outside that the page lives, with the versions at which what it shows is.
    Beat(String),
}

/// An input for a reflector that the page itself has.
#[derive(Clone, Debug)]
pub enum Told {
    /// Whatever needs no text of its own.
    Input(Input<'static>),
    /// List anew, for this reason.
    Relist(String),
    /// Be still, for this reason.
    GiveUp(String),
}

/// Where the focus goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focused {
    /// To the rows.
    Table,
    /// Into a field, by its id, whose text is selected.
    Field(&'static str),
    /// Into a menu, by its handle, which opens.
    Menu(&'static str),
    /// To what opens the menu that is open, which closes.
    ClosedMenu,
}

/// A number for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// What is asked for.
#[derive(Debug)]
pub enum Request {
    /// Find the API: at the first of these places, addresses or parts of one seen from the page, where one answers.
    Find {
        /// The places.
        places: Vec<String>,
        /// Whether WebSockets have a prefix of their own, `k8s-ws/` beside `k8s/`: Trunk cannot proxy HTTP and WebSockets
        /// under one.
        second: bool,
        /// How long each may take, in milliseconds.
        patience: u32,
    },
    /// What the server has: one round of questions.
    Discovery(CachedDiscovery),
    /// The text of a resource's CustomResourceDefinition.
    Definition(ApiResource),
    /// Whether a watch of this is alive.
    Heartbeat(ApiResource, Scope, Ask),
    /// The number of objects.
    Count(ApiResource, Scope),
    /// A page of metadata as of exactly one version.
    ListExactly(ApiResource, Scope, ExactListRequest),
    /// One object, by its name.
    Get(ApiResource, Scope, String),
    /// The names of the namespaces; what is known of them so far is handed along.
    Namespaces(Namespaces),
    /// Put a text on the clipboard.
    Copy(String),
    /// Hand a file to the browser.
    Save {
        /// What it is called.
        name: String,
        /// How it is written.
        format: Format,
        /// What is in it.
        export: Box<Export>,
    },
}

/// Where the API was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its address for HTTP.
    pub http: String,
    /// Which release the server is, where it says so.
    pub release: Option<Release>,
}

/// The answer to a request of the same name.
#[derive(Debug)]
pub enum Answer {
    /// Where it is; or each address that was tried, and what it said.
    Find(Result<Found, Vec<(String, String)>>),
    /// What is known now.
    Discovery(CachedDiscovery),
    /// The text, or why there is none.
    Definition(Result<String, Failure>),
    /// What it said.
    Heartbeat(heartbeat::Answer),
    /// How many there are; `None` where that cannot be learnt.
    Count(Option<u64>),
    /// The page's bytes, or why there are none.
    ListExactly(Result<Vec<u8>, Failure>),
    /// The object's text, or why there is none.
    Get(Result<String, Failure>),
    /// What is known now.
    Namespaces(Namespaces),
    /// Whether the browser did it.
    Copy(bool),
    /// How many rows are in it; `None` where the browser keeps no file.
    Save(Option<usize>),
}

/// When the next frame shall come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// At the pace of a stream of changes.
    Paced,
    /// At once: the user waits for it.
    Hurried,
}

/// What is to be done, until it is taken.
#[derive(Debug, Default)]
pub struct Effects {
    /// In order.
    pub list: Vec<Effect>,
    /// Whether a frame is wanted, and how soon.
    pub frame: Option<Pace>,
    /// Whether the timeline is to be painted.
    pub paint: bool,
}

impl Effects {
    /// One more.
    pub fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    /// A frame is wanted.
    pub fn frame(&mut self, pace: Pace) {
        self.frame = self.frame.max(Some(pace));
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.frame.is_none() && !self.paint
    }
}
