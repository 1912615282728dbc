//! Everything that the page shows, panel by panel.

use std::sync::Arc;

use kubechurn_client::api::time::Timestamp;

use crate::feed::alerts::AlertsModel;
use crate::feed::span::SpanModel;
use crate::feed::wrong::row::WrongModel;
use crate::feed::{FeedFrame, FeedWindow, NoiseOffer};
use crate::history::Budget;
use crate::inspector::relatives::{Dependents, Link};
use crate::inspector::summary::Summary;
use crate::inspector::tab::Tab;
use crate::navigation::clusters::ClusterPage;
use crate::navigation::namespaces::Namespaces;
use crate::navigation::route::Route;
use crate::shell::panel::PanelSizes;
use crate::table::layout::Choice;
use crate::view::inspector::{EventsModel, Inspected, LastWriteModel, VersionsModel, YamlModel};
use crate::view::shown::Shown;
use crate::view::{
    ChangesItem, CompletionModel, Connection, Head, ListingModel, Notices, PaletteModel, Pipeline, ResyncModel,
    RetentionModel, RowModel, SidebarItem, Source, Splash, Subject, Theme, Trouble, VerifiedModel, WatchItem,
};

/// Everything that the page shows.
#[derive(Debug, Default)]
pub struct View {
    /// The frame around everything.
    pub header: HeaderView,
    /// What is around the rows.
    pub table: TablePanel,
    /// The rows.
    pub rows: RowsView,
    /// The feed of changes.
    pub feed: FeedView,
    /// The kinds to choose from.
    pub sidebar: SidebarView,
    /// What surrounds the timeline's canvas.
    pub timeline: TimelinePanel,
    /// The object that the inspector shows.
    pub inspector: InspectorView,
    /// What went through the queues, and the page's remarks about itself.
    pub footer: FooterView,
    /// The dialogs, and what is said to the user.
    pub dialogs: DialogsView,
}

/// Where the user is, and where the data comes from.
#[derive(Debug, Default)]
pub struct HeaderView {
    /// The document's title.
    pub title: Shown<String>,
    /// Where the user is.
    pub route: Shown<Route>,
    /// The kinds in view.
    pub subject: Shown<Subject>,
    /// The state of the connection of the kinds in view.
    pub connection: Shown<Connection>,
    /// The addresses that were tried, if the page has no API.
    pub splash: Shown<Option<Splash>>,
    /// Where the data comes from.
    pub source: Shown<Source>,
    /// The clusters to choose from; none, if there is only one.
    pub clusters: Shown<Vec<ClusterPage>>,
    /// The origin of an API that the page connects to only with the user's permission, while the user is asked.
    pub question: Shown<Option<String>>,
    /// Why the filter cannot be read, and so has no effect.
    pub filter_error: Shown<Option<String>>,
    /// Which words of the filter say nothing here.
    pub filter_note: Shown<Option<String>>,
    /// What the filter can be completed to while it is typed; `None` where there is nothing.
    pub completion: Shown<Option<CompletionModel>>,
    /// Whether the queues are not drained.
    pub paused: Shown<bool>,
    /// The namespaces to choose from.
    pub namespaces: Shown<Namespaces>,
    /// Dark or light.
    pub theme: Shown<Theme>,
    /// The sizes of the panels.
    pub sizes: Shown<PanelSizes>,
}

/// What is around the rows: title, counts, columns, and what is wrong.
#[derive(Debug, Default)]
pub struct TablePanel {
    /// What is wrong with the connection of each kind in view.
    pub trouble: Shown<Vec<Trouble>>,
    /// `shown / total`.
    pub count: Shown<String>,
    /// How many rows are provisional, none of which is counted; empty where none is.
    pub provisional: Shown<String>,
    /// The progress of sorting or filtering; empty when it is complete.
    pub progress: Shown<String>,
    /// How many rows wait until the user no longer acts on the table.
    pub waiting: Shown<usize>,
    /// How many rows were deleted, and how long they stay.
    pub retention: Shown<RetentionModel>,
    /// How often the page resyncs.
    pub resync: Shown<ResyncModel>,
    /// How much memory the recorder may take.
    pub recorder: Shown<Budget>,
    /// The progress of the first list, if the number of objects is known.
    pub listing: Shown<Option<ListingModel>>,
    /// How many objects were added, updated and deleted in the last minute.
    pub minute: Shown<[u64; 3]>,
    /// The columns that are shown.
    pub heads: Shown<Vec<Head>>,
    /// Every column, shown or hidden.
    pub columns: Shown<Vec<Choice>>,
    /// The widths of the shown columns, in CSS.
    pub template: Shown<String>,
}

/// The rows.
#[derive(Debug, Default)]
pub struct RowsView {
    /// How many rows there are.
    pub length: Shown<usize>,
    /// The position to scroll the table to, in pixels, after rows appeared or disappeared above the visible ones.
    pub scroll: Shown<f64>,
    /// The position of the first row that is not sorted in yet, while rows are being sorted.
    pub unplaced: Shown<Option<usize>>,
    /// Why there is no row.
    pub empty: Shown<Option<String>>,
    /// The id of the row or cell under the cursor, while it is in the document.
    pub cursor: Shown<Option<String>>,
    /// The rows that are in the document.
    pub window: Shown<WindowView>,
    /// The new models of elements of the window. Whoever draws takes all of them each time.
    pub drawn: Vec<(u64, Arc<RowModel>)>,
}

/// The feed of changes.
#[derive(Debug, Default)]
pub struct FeedView {
    /// Whether the feed is shown in place of the table.
    pub shown: Shown<bool>,
    /// The rows that are in the document.
    pub window: Shown<FeedWindow>,
    /// What is around the rows.
    pub frame: Shown<FeedFrame>,
    /// What is offered to be called noise, and what was called so last.
    pub noise: Shown<NoiseOffer>,
    /// What is wrong now.
    pub wrong: Shown<WrongModel>,
    /// The chosen stretch of time.
    pub span: Shown<Option<SpanModel>>,
    /// How often the user went to the newest row, to which the feed is then scrolled.
    pub newest: Shown<u32>,
}

/// The rows that are in the document. A row keeps its element for as long as the row stays in the window. A row that
/// enters the window takes over the element of one that left, because writing other text into an element is cheaper
/// than making one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowView {
    /// How many rows of the table come before these.
    pub first: usize,
    /// The elements of the rows, in the order of the rows: a number for each element.
    pub places: Vec<u64>,
}

/// The kinds to choose from.
#[derive(Debug, Default)]
pub struct SidebarView {
    /// What changed, over the kinds.
    pub changes: Shown<ChangesItem>,
    /// The kinds.
    pub items: Shown<Vec<SidebarItem>>,
    /// Why kinds may be missing, in the server's words.
    pub trouble: Shown<Option<String>>,
    /// The headings of the groups that are open.
    pub open: Shown<Vec<&'static str>>,
}

/// What surrounds the timeline's canvas.
#[derive(Debug)]
pub struct TimelinePanel {
    /// Whether the timeline follows the time.
    pub following: Shown<bool>,
    /// Whether the timeline fills the page, in place of the table.
    pub fills: Shown<bool>,
    /// How long the timeline's window is.
    pub span: Shown<String>,
    /// What is under the pointer, or else under the keyboard's cursor.
    pub hover: Shown<String>,
    /// Where the keyboard's cursor is on the canvas, in pixels; `None` while it is nowhere.
    pub hand: Shown<Option<(f64, f64)>>,
    /// What the keyboard's cursor came to, in words that do not change while it stays there.
    pub in_hand: Shown<String>,
    /// How wide the column of labels is, in pixels.
    pub labels: Shown<f64>,
    /// The time of the mark that was clicked last, in milliseconds.
    pub clicked: Shown<Option<f64>>,
    /// The timeline in words.
    pub summary: Shown<String>,
}

impl Default for TimelinePanel {
    fn default() -> TimelinePanel {
        TimelinePanel {
            following: Shown::new(true),
            fills: Shown::default(),
            span: Shown::default(),
            hover: Shown::default(),
            hand: Shown::default(),
            in_hand: Shown::default(),
            labels: Shown::default(),
            clicked: Shown::default(),
            summary: Shown::default(),
        }
    }
}

/// The object that the inspector shows.
#[derive(Debug, Default)]
pub struct InspectorView {
    /// The object; `None` while the inspector is closed.
    pub inspected: Shown<Option<Inspected>>,
    /// The tab in view.
    pub tab: Shown<Tab>,
    /// The time by the server's clock, for ages.
    pub wall: Shown<Timestamp>,
    /// The object's summary; `None` before it is known.
    pub summary: Shown<Option<Summary>>,
    /// Its owners, the topmost first.
    pub owners: Shown<Vec<Link>>,
    /// The objects that it owns.
    pub dependents: Shown<Dependents>,
    /// The whole object as YAML.
    pub yaml: Shown<YamlModel>,
    /// The last write of the field that the user asks about.
    pub last_write: Shown<Option<LastWriteModel>>,
    /// The name and the value of a Secret's field that the user asked to see. The page keeps the value nowhere else.
    pub revealed: Shown<Option<(String, String)>>,
    /// Its Events.
    pub events: Shown<EventsModel>,
    /// Its versions.
    pub versions: Shown<VersionsModel>,
}

impl InspectorView {
    /// Forgets everything about an object, because another object or none comes into view.
    pub fn clear(&mut self) {
        self.revealed.put(None);
        self.summary.put(None);
        self.owners.put(Vec::new());
        self.dependents.put(Dependents::default());
        self.yaml.put(YamlModel::default());
        self.last_write.put(None);
        self.events.put(EventsModel::default());
        self.versions.put(VersionsModel::default());
    }
}

/// What went through the queues, and the page's remarks about itself.
#[derive(Debug)]
pub struct FooterView {
    /// How many keys a frame may take from a queue, in words; empty without a limit.
    pub drain: Shown<String>,
    /// The counters.
    pub pipeline: Shown<Pipeline>,
    /// The open watches; written only while the list is open.
    pub watches: Shown<Vec<WatchItem>>,
    /// Whether what the feed shows without a kind stays watched in other views.
    pub keeps_changes: Shown<bool>,
    /// The notices about the page itself.
    pub notices: Shown<Notices>,
    /// What the checks found.
    pub verified: Shown<VerifiedModel>,
}

impl Default for FooterView {
    fn default() -> FooterView {
        FooterView {
            drain: Shown::default(),
            pipeline: Shown::new(Pipeline { balanced: true, ..Pipeline::default() }),
            watches: Shown::default(),
            keeps_changes: Shown::default(),
            notices: Shown::default(),
            verified: Shown::default(),
        }
    }
}

/// The dialogs, and what is said to the user.
#[derive(Debug)]
pub struct DialogsView {
    /// The filters that are watched.
    pub alerts: Shown<AlertsModel>,
    /// The palette; `None` while it is closed.
    pub palette: Shown<Option<PaletteModel>>,
    /// Whether the help is shown.
    pub help: Shown<bool>,
    /// Whether keys of a single letter do anything.
    pub letters: Shown<bool>,
    /// What a screen reader is told about the connection.
    pub spoken: Shown<String>,
    /// The outcome of what the user asked for: shown for a moment, and read out by a screen reader.
    pub told: Shown<String>,
}

impl Default for DialogsView {
    fn default() -> DialogsView {
        DialogsView {
            alerts: Shown::default(),
            palette: Shown::default(),
            help: Shown::default(),
            letters: Shown::new(true),
            spoken: Shown::default(),
            told: Shown::default(),
        }
    }
}
