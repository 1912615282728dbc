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
use crate::kept::KeptModel;
use crate::navigation::clusters::ClusterPage;
use crate::navigation::namespaces::Namespaces;
use crate::navigation::route::Route;
use crate::recording::{NoteModel, SaveModel};
use crate::rewind::banner::RewindModel;
use crate::shell::panel::PanelSizes;
use crate::table::layout::Choice;
use crate::view::health::HealthModel;
use crate::view::holds::HoldsModel;
use crate::view::inside::{EmbedModel, SharedInside};
use crate::view::inspector::{ComparisonModel, EventsModel, Inspected, LastWriteModel, VersionsModel, YamlModel};
use crate::view::life::LifeModel;
use crate::view::logs::LogModel;
use crate::view::shown::{ByPage, Draw, Hold, Shown};
use crate::view::why::WhyModel;
use crate::view::writers::WritersModel;
use crate::view::{
    ChangesItem, CompletionModel, Connection, EverythingItem, Head, ListingModel, Notices, PaletteModel, Pipeline,
    ResyncModel, RetentionModel, RowModel, SidebarItem, Source, Splash, Subject, Theme, Trouble, VerifiedModel,
    WatchItem,
};

/// Declares a panel: its values, and which of them are not the default at first.
macro_rules! panel {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty $(= $first:expr)?,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<H: Hold = ByPage> {
            $($(#[$about])* pub $field: H::Of<$type>,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: Shown::new(first!($($first)?)),)* }
            }
        }

        impl $name {
            /// The values as whoever draws holds them.
            pub fn hold<D: Draw>(&self) -> $name<D> {
                $name { $($field: D::hold((*self.$field).clone()),)* }
            }

            /// Has every value be drawn again.
            pub fn draw_again(&mut self) {
                $(self.$field.draw_again();)*
            }

            /// Draws what changed since it was drawn last.
            pub fn draw<D: Draw>(&mut self, held: &$name<D>) {
                $(self.$field.draw::<D>(&held.$field);)*
            }
        }
    };
}

macro_rules! first {
    () => {
        Default::default()
    };
    ($first:expr) => {
        $first
    };
}

impl View {
    /// Has everything be drawn again, by whoever draws next.
    pub fn draw_again(&mut self) {
        let View { header, table, rows, feed, sidebar, timeline, inspector, footer, dialogs } = self;
        header.draw_again();
        table.draw_again();
        rows.length.draw_again();
        rows.scroll.draw_again();
        rows.unplaced.draw_again();
        rows.empty.draw_again();
        rows.cursor.draw_again();
        rows.window.draw_again();
        feed.draw_again();
        sidebar.draw_again();
        timeline.draw_again();
        inspector.draw_again();
        footer.draw_again();
        dialogs.draw_again();
    }
}

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

panel! {
    /// Where the user is, and where the data comes from.
    HeaderView {
        /// The document's title.
        title: String,
        /// Where the user is.
        route: Route,
        /// The kinds in view.
        subject: Subject,
        /// The state of the connection of the kinds in view.
        connection: Connection,
        /// The moment that is shown; `None` for now.
        rewind: Option<RewindModel>,
        /// The inside of an informer, while it is shown.
        inside: SharedInside,
        /// What is shown where another page embeds this one; `None` where none does.
        embed: Option<EmbedModel>,
        /// The addresses that were tried, if the page has no API.
        splash: Option<Splash>,
        /// Where the data comes from.
        source: Source,
        /// The clusters to choose from; none, if there is only one.
        clusters: Vec<ClusterPage>,
        /// The origin of an API that the page connects to only with the user's permission, while the user is asked.
        question: Option<String>,
        /// Why the filter cannot be read, and so has no effect.
        filter_error: Option<String>,
        /// Which words of the filter say nothing here.
        filter_note: Option<String>,
        /// What the filter can be completed to while it is typed; `None` where there is nothing.
        completion: Option<CompletionModel>,
        /// Whether the queues are not drained.
        paused: bool,
        /// The namespaces to choose from.
        namespaces: Namespaces,
        /// Dark or light.
        theme: Theme,
        /// The sizes of the panels.
        sizes: PanelSizes,
    }
}

panel! {
    /// What is around the rows: title, counts, columns, and what is wrong.
    TablePanel {
        /// What is wrong with the connection of each kind in view.
        trouble: Vec<Trouble>,
        /// `shown / total`.
        count: String,
        /// How many rows are provisional, none of which is counted; empty where none is.
        provisional: String,
        /// The progress of sorting or filtering; empty when it is complete.
        progress: String,
        /// How many rows wait until the user no longer acts on the table.
        waiting: usize,
        /// How many rows were deleted, and how long they stay.
        retention: RetentionModel,
        /// How often the page resyncs.
        resync: ResyncModel,
        /// How much memory the recorder may take.
        recorder: Budget,
        /// The progress of the first list, if the number of objects is known.
        listing: Option<ListingModel>,
        /// How many objects were added, updated and deleted in the last minute.
        minute: [u64; 3],
        /// The columns that are shown.
        heads: Vec<Head>,
        /// Every column, shown or hidden.
        columns: Vec<Choice>,
        /// The widths of the shown columns, in CSS.
        template: String,
    }
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

panel! {
    /// The feed of changes.
    FeedView {
        /// Whether the feed is shown in place of the table.
        shown: bool,
        /// The rows that are in the document.
        window: FeedWindow,
        /// What is around the rows.
        frame: FeedFrame,
        /// What is offered to be called noise, and what was called so last.
        noise: NoiseOffer,
        /// What is wrong now.
        wrong: WrongModel,
        /// The chosen stretch of time.
        span: Option<SpanModel>,
        /// The incident that is shown in place of the rows.
        why: Option<WhyModel>,
        /// How often the user went to the newest row, to which the feed is then scrolled.
        newest: u32,
    }
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

panel! {
    /// The kinds to choose from.
    SidebarView {
        /// What changed, over the kinds.
        changes: ChangesItem,
        /// Everything in the chosen namespace.
        everything: EverythingItem,
        /// The fragment of the inside of the informer of the kind in view.
        inside: String,
        /// The kinds.
        items: Vec<SidebarItem>,
        /// Why kinds may be missing, in the server's words.
        trouble: Option<String>,
        /// The headings of the groups that are open.
        open: Vec<&'static str>,
    }
}

panel! {
    /// What surrounds the timeline's canvas.
    TimelinePanel {
        /// Whether the timeline follows the time.
        following: bool = true,
        /// Whether the timeline fills the page, in place of the table.
        fills: bool,
        /// How long the timeline's window is.
        span: String,
        /// What is under the pointer, or else under the keyboard's cursor.
        hover: String,
        /// Where the keyboard's cursor is on the canvas, in pixels; `None` while it is nowhere.
        hand: Option<(f64, f64)>,
        /// What the keyboard's cursor came to, in words that do not change while it stays there.
        in_hand: String,
        /// How wide the column of labels is, in pixels.
        labels: f64,
        /// The time of the mark that was clicked last, in milliseconds.
        clicked: Option<f64>,
        /// The timeline in words.
        summary: String,
    }
}

panel! {
    /// The object that the inspector shows.
    InspectorView {
        /// The object; `None` while the inspector is closed.
        inspected: Option<Inspected>,
        /// The tab in view.
        tab: Tab,
        /// The time by the server's clock, for ages.
        wall: Timestamp,
        /// The object's summary; `None` before it is known.
        summary: Option<Summary>,
        /// The life of a Pod.
        life: Option<LifeModel>,
        /// What holds it back, and what uses it.
        holds: Option<HoldsModel>,
        /// Its owners, the topmost first.
        owners: Vec<Link>,
        /// The objects that it owns.
        dependents: Dependents,
        /// The whole object as YAML.
        yaml: YamlModel,
        /// The last write of the field that the user asks about.
        last_write: Option<LastWriteModel>,
        /// The name and the value of a Secret's field that the user asked to see. The page keeps the value nowhere else.
        revealed: Option<(String, String)>,
        /// Its Events.
        events: EventsModel,
        /// Its versions.
        versions: VersionsModel,
        /// Two of them side by side, while they are compared.
        comparison: Option<Arc<ComparisonModel>>,
        /// Its log, or that of the incident's Pods.
        log: LogModel,
    }
}

impl InspectorView {
    /// Forgets everything about an object, because another object or none comes into view.
    pub fn clear(&mut self) {
        self.revealed.put(None);
        self.summary.put(None);
        self.life.put(None);
        self.holds.put(None);
        self.owners.put(Vec::new());
        self.dependents.put(Dependents::default());
        self.yaml.put(YamlModel::default());
        self.last_write.put(None);
        self.events.put(EventsModel::default());
        self.versions.put(VersionsModel::default());
        self.comparison.put(None);
    }
}

panel! {
    /// What went through the queues, and the page's remarks about itself.
    FooterView {
        /// How many keys a frame may take from a queue, in words; empty without a limit.
        drain: String,
        /// The counters.
        pipeline: Pipeline = Pipeline { balanced: true, ..Pipeline::default() },
        /// The open watches; written only while the list is open.
        watches: Vec<WatchItem>,
        /// Whether what the feed shows without a kind stays watched in other views.
        keeps_changes: bool,
        /// The notices about the page itself.
        notices: Notices,
        /// What the checks found.
        verified: VerifiedModel,
        /// How much of this page is kept in the browser, while it is; empty otherwise.
        kept: String,
        /// The clock by which times are shown: `local time`, `UTC`, `Europe/Berlin`.
        clock: String,
    }
}

panel! {
    /// The dialogs, and what is said to the user.
    DialogsView {
        /// The filters that are watched.
        alerts: AlertsModel,
        /// The palette; `None` while it is closed.
        palette: Option<PaletteModel>,
        /// What is to be saved, while the user is asked.
        save: Option<SaveModel>,
        /// What is kept in the browser, while that is shown.
        kept: Option<KeptModel>,
        /// The field for a note, while it is open.
        note: Option<NoteModel>,
        /// The health of the watches, while it is shown.
        health: Option<HealthModel>,
        /// Who writes what, while it is shown.
        writers: Option<WritersModel>,
        /// Whether the help is shown.
        help: bool,
        /// Whether keys of a single letter do anything.
        letters: bool = true,
        /// What a screen reader says about the connection.
        spoken: String,
        /// The outcome of what the user asked for: shown for a moment, and read out by a screen reader.
        message: String,
    }
}
