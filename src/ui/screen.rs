//! The screen: every signal that the view reads, and every command that it sends.
//!
//! Signals begin where one drain of the queues ends. An event never travels through one.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_model::page::route::Route;

use kubechurn_model::page::view::{
    Connection, Head, ListingModel, Namespaces, Notices, Pipeline, RailItem, ResyncModel, RetentionModel, RowModel,
    Source, Subject, Trouble, VerifiedModel, WatchItem,
};

use crate::ui::hands::{Hands, HandsScreen};
use crate::ui::inspector::signals::{Inspect, Signals};

/// What the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Be at another place.
    Go(Route),
    /// Filter by this text, while it is being typed.
    Filter(String),
    /// The table was scrolled: its upper edge and its height, in pixels.
    Scroll(f64, f64),
    /// The pointer is busy over the table, or left it.
    Hold(bool),
    /// Stop or go on draining the queues.
    Pause(bool),
    /// Try again at once.
    Retry,
    /// Look at this object of a kind, by the page's name for that, or at none; at the same once more: no longer.
    Select(Option<(&'static str, ObjectKey)>),
    /// Do something in the inspector.
    Inspect(Inspect),
    /// The timeline's canvas has this size, in CSS pixels.
    TimelineSize(f64, f64),
    /// The pointer is there on the timeline's canvas, or left it.
    TimelineHover(Option<(f64, f64)>),
    /// The timeline was clicked there.
    TimelineClick(f64, f64),
    /// Scroll the lanes by so many.
    TimelineScroll(i32),
    /// Make the window so many times as long, around this place or its middle.
    TimelineZoom(f64, Option<f64>),
    /// Move the window by so many pixels.
    TimelinePan(f64),
    /// Follow the time again.
    TimelineFollow,
    /// Open or close a group of the rail.
    Fold(&'static str, bool),
    /// Learn which namespaces there are.
    LoadNamespaces,
    /// Dark or light.
    Theme(Theme),
    /// Whether the page may connect to the API that its address names.
    Connect(bool),
    /// What the keyboard, the palette and the columns' menu ask for.
    Hands(Hands),
}

/// Sends commands. `Copy`, so that every handler can have it.
#[derive(Clone, Copy)]
pub struct Commands(StoredValue<Rc<dyn Fn(Command)>, LocalStorage>);

impl Commands {
    /// Commands that go to `receiver`.
    pub fn new(receiver: impl Fn(Command) + 'static) -> Commands {
        let receiver: Rc<dyn Fn(Command)> = Rc::new(receiver);
        Commands(StoredValue::new_local(receiver))
    }

    /// Sends one.
    pub fn send(self, command: Command) {
        let receiver = self.0.with_value(Rc::clone);
        receiver(command);
    }
}

/// Dark or light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// The default.
    Dark,
    /// The other.
    Light,
}

impl Theme {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Dark => "dark",
            Theme::Light => "light",
        }
    }
}

/// The page has no API.
#[derive(Clone, Debug, PartialEq)]
pub struct Splash {
    /// Each address that was tried, and what it said.
    pub tried: Vec<(String, String)>,
}

/// A row's place in the document. A row keeps it for as long as it stays in the window; then a row that enters takes it
/// over, for to write other words into an element is cheaper than to make one.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Another one for each element.
    pub id: u64,
    /// What it shows.
    pub row: ArcRwSignal<Arc<RowModel>>,
}

impl PartialEq for Slot {
    fn eq(&self, other: &Slot) -> bool {
        self.id == other.id
    }
}

/// The rows that are in the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowModel {
    /// How many rows come before them.
    pub first: usize,
    /// They.
    pub slots: Vec<Slot>,
}

/// Every signal that the view reads.
#[derive(Clone, Copy)]
pub struct Screen {
    /// Where the user is.
    pub route: RwSignal<Route>,
    /// What the table is about.
    pub subject: RwSignal<Subject>,
    /// The state of the connection of the kind in view.
    pub connection: RwSignal<Connection>,
    /// What is wrong with it, or with each of several.
    pub trouble: RwSignal<Vec<Trouble>>,
    /// No API at all.
    pub splash: RwSignal<Option<Splash>>,
    /// Where the data comes from.
    pub source: RwSignal<Source>,
    /// The origin of an API that the page connects to only with the user's leave, while that is asked for.
    pub question: RwSignal<Option<String>>,
    /// `shown / total`.
    pub count: RwSignal<String>,
    /// How far a new order or filter has come; empty once it is through.
    pub progress: RwSignal<String>,
    /// Where the rows begin that have no place yet, while they are being sorted.
    pub unplaced: RwSignal<Option<usize>>,
    /// Why the filter cannot be read, and so filters nothing.
    pub filter_error: RwSignal<Option<String>>,
    /// Rows that wait until the pointer leaves.
    pub waiting: RwSignal<usize>,
    /// Rows that were deleted, and how long they stay.
    pub linger: RwSignal<RetentionModel>,
    /// How often what is known is told again.
    pub resync: RwSignal<ResyncModel>,
    /// How far the first list has come, where it is known of how many.
    pub listing: RwSignal<Option<ListingModel>>,
    /// Why there is no row.
    pub empty: RwSignal<Option<String>>,
    /// Added, updated and deleted in the last minute.
    pub minute: RwSignal<[u64; 3]>,
    /// The columns.
    pub heads: RwSignal<Vec<Head>>,
    /// Their widths.
    pub template: RwSignal<String>,
    /// How many rows the table has.
    pub length: RwSignal<usize>,
    /// Where the table is to be scrolled to, in pixels, when rows came or went above what is seen.
    pub scroll: RwSignal<f64>,
    /// The rows that are in the document.
    pub window: RwSignal<WindowModel>,
    /// The kinds.
    pub rail: RwSignal<Vec<RailItem>>,
    /// Why kinds may be missing from the rail, in the server's words.
    pub rail_trouble: RwSignal<Option<String>>,
    /// The headings of the rail's groups that are open.
    pub rail_open: RwSignal<Vec<&'static str>>,
    /// The open watches, while someone reads them.
    pub watches: RwSignal<Vec<WatchItem>>,
    /// Whether someone does.
    pub watches_open: RwSignal<bool>,
    /// The counters.
    pub pipeline: RwSignal<Pipeline>,
    /// What the page had to say of itself.
    pub notices: RwSignal<Notices>,
    /// Whether someone reads that.
    pub notices_open: RwSignal<bool>,
    /// What the page's checks of itself found.
    pub verified: RwSignal<VerifiedModel>,
    /// Whether someone reads that.
    pub verified_open: RwSignal<bool>,
    /// How many keys a frame may take from a queue, in words; empty where that is not limited.
    pub drain: RwSignal<String>,
    /// Whether the queues are not drained.
    pub paused: RwSignal<bool>,
    /// Whether the timeline follows.
    pub following: RwSignal<bool>,
    /// How long the timeline's window is.
    pub span: RwSignal<String>,
    /// What the pointer is over on the timeline.
    pub hover: RwSignal<String>,
    /// The timeline in words.
    pub summary: RwSignal<String>,
    /// The namespaces to choose from.
    pub namespaces: RwSignal<Namespaces>,
    /// The inspector.
    pub inspector: Signals,
    /// Dark or light.
    pub theme: RwSignal<Theme>,
    /// For the hands.
    pub hands: HandsScreen,
}

impl Screen {
    /// A screen that shows nothing yet.
    pub fn new(route: Route, theme: Theme) -> Screen {
        Screen {
            route: RwSignal::new(route),
            subject: RwSignal::new(Subject::default()),
            connection: RwSignal::new(Connection { state: "connecting", detail: String::new() }),
            trouble: RwSignal::new(Vec::new()),
            splash: RwSignal::new(None),
            source: RwSignal::new(Source::default()),
            question: RwSignal::new(None),
            count: RwSignal::new(String::from("0 / 0")),
            progress: RwSignal::new(String::new()),
            unplaced: RwSignal::new(None),
            filter_error: RwSignal::new(None),
            waiting: RwSignal::new(0),
            linger: RwSignal::new(RetentionModel::default()),
            resync: RwSignal::new(ResyncModel::default()),
            listing: RwSignal::new(None),
            empty: RwSignal::new(None),
            minute: RwSignal::new([0; 3]),
            heads: RwSignal::new(Vec::new()),
            template: RwSignal::new(String::new()),
            length: RwSignal::new(0),
            scroll: RwSignal::new(0.0),
            window: RwSignal::new(WindowModel::default()),
            rail: RwSignal::new(Vec::new()),
            rail_trouble: RwSignal::new(None),
            rail_open: RwSignal::new(Vec::new()),
            watches: RwSignal::new(Vec::new()),
            watches_open: RwSignal::new(false),
            pipeline: RwSignal::new(Pipeline { balanced: true, ..Pipeline::default() }),
            notices: RwSignal::new(Notices::default()),
            notices_open: RwSignal::new(false),
            verified: RwSignal::new(VerifiedModel::default()),
            verified_open: RwSignal::new(false),
            drain: RwSignal::new(String::new()),
            paused: RwSignal::new(false),
            following: RwSignal::new(true),
            span: RwSignal::new(String::new()),
            hover: RwSignal::new(String::new()),
            summary: RwSignal::new(String::new()),
            namespaces: RwSignal::new(Namespaces::default()),
            inspector: Signals::new(),
            theme: RwSignal::new(theme),
            hands: HandsScreen::new(),
        }
    }
}

/// Sets a signal if the value is another one: readers of an unchanged value have nothing to do.
pub fn put<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|old| *old != value) {
        signal.set(value);
    }
}
