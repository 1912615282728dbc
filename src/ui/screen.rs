//! The screen: the signals that the components read, one for each value of the page's view, and the way of commands back.
//!
//! Signals begin where one drain of the queues ends. An event never travels through one.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use rustc_hash::FxHashMap;

use kubechurn_client::api::time::Timestamp;
use kubechurn_model::feed::alerts::AlertsModel;
use kubechurn_model::feed::span::SpanModel;
use kubechurn_model::feed::wrong::row::WrongModel;
use kubechurn_model::feed::{FeedFrame, FeedWindow, NoiseOffer};
use kubechurn_model::history::Budget;
use kubechurn_model::inspector::relatives::{Dependents, Link};
use kubechurn_model::inspector::summary::Summary;
use kubechurn_model::inspector::tab::Tab;
use kubechurn_model::navigation::clusters::ClusterPage;
use kubechurn_model::navigation::namespaces::Namespaces;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::page::command::Command;
use kubechurn_model::shell::panel::PanelSizes;
use kubechurn_model::table::layout::Choice;
use kubechurn_model::view::inspector::{EventsModel, Inspected, LastWriteModel, VersionsModel, YamlModel};
use kubechurn_model::view::panels::{
    DialogsView, FeedView, FooterView, HeaderView, InspectorView, RowsView, SidebarView, TablePanel, TimelinePanel,
    View,
};
use kubechurn_model::view::shown::Shown;
use kubechurn_model::view::{
    ChangesItem, CompletionModel, Connection, Head, ListingModel, Notices, PaletteModel, Pipeline, ResyncModel,
    RetentionModel, RowModel, SidebarItem, Source, Splash, Subject, Theme, Trouble, VerifiedModel, WatchItem,
};

use crate::ui::parts::Part;

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

/// Declares the signals of one panel. Each is named like the value of the view that it shows, whose documentation is there.
macro_rules! signals {
    ($(#[$doc:meta])* $name:ident shows $view:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: RwSignal<$type>,)*
        }

        impl $name {
            fn new(view: &$view) -> $name {
                $name { $($field: RwSignal::new((*view.$field).clone()),)* }
            }

            fn show(self, view: &mut $view) {
                $(draw(self.$field, &mut view.$field);)*
            }
        }
    };
}

fn draw<T: Clone + Send + Sync + 'static>(signal: RwSignal<T>, shown: &mut Shown<T>) {
    if let Some(value) = shown.take_changed() {
        signal.set(value.clone());
    }
}

signals! {
    /// Where the user is, and where the data comes from.
    Header shows HeaderView {
        title: String,
        route: Route,
        subject: Subject,
        connection: Connection,
        splash: Option<Splash>,
        source: Source,
        clusters: Vec<ClusterPage>,
        question: Option<String>,
        filter_error: Option<String>,
        filter_note: Option<String>,
        completion: Option<CompletionModel>,
        paused: bool,
        namespaces: Namespaces,
        theme: Theme,
        sizes: PanelSizes,
    }
}

signals! {
    /// What is around the rows.
    Table shows TablePanel {
        trouble: Vec<Trouble>,
        count: String,
        provisional: String,
        progress: String,
        waiting: usize,
        retention: RetentionModel,
        resync: ResyncModel,
        recorder: Budget,
        listing: Option<ListingModel>,
        minute: [u64; 3],
        heads: Vec<Head>,
        columns: Vec<Choice>,
        template: String,
    }
}

signals! {
    /// The feed of changes.
    Feed shows FeedView {
        shown: bool,
        window: FeedWindow,
        frame: FeedFrame,
        noise: NoiseOffer,
        wrong: WrongModel,
        span: Option<SpanModel>,
        newest: u32,
    }
}

signals! {
    /// The kinds to choose from.
    Sidebar shows SidebarView {
        changes: ChangesItem,
        items: Vec<SidebarItem>,
        trouble: Option<String>,
        open: Vec<&'static str>,
    }
}

signals! {
    /// What is around the timeline's canvas.
    Timeline shows TimelinePanel {
        following: bool,
        fills: bool,
        span: String,
        hover: String,
        hand: Option<(f64, f64)>,
        in_hand: String,
        labels: f64,
        clicked: Option<f64>,
        summary: String,
    }
}

signals! {
    /// The object that is looked at.
    Inspector shows InspectorView {
        inspected: Option<Inspected>,
        tab: Tab,
        wall: Timestamp,
        summary: Option<Summary>,
        owners: Vec<Link>,
        dependents: Dependents,
        yaml: YamlModel,
        last_write: Option<LastWriteModel>,
        revealed: Option<(String, String)>,
        events: EventsModel,
        versions: VersionsModel,
    }
}

signals! {
    /// What went through the queues, and what the page has to say of itself.
    Footer shows FooterView {
        drain: String,
        pipeline: Pipeline,
        watches: Vec<WatchItem>,
        keeps_changes: bool,
        notices: Notices,
        verified: VerifiedModel,
    }
}

signals! {
    /// Dialogs, and what is said.
    Dialogs shows DialogsView {
        alerts: AlertsModel,
        palette: Option<PaletteModel>,
        help: bool,
        letters: bool,
        spoken: String,
        told: String,
    }
}

/// A row's place in the document.
#[derive(Clone, Debug)]
pub struct ElementRow {
    /// Another number for each element.
    pub id: u64,
    /// What the row there shows.
    pub row: ArcRwSignal<Arc<RowModel>>,
}

impl PartialEq for ElementRow {
    fn eq(&self, other: &ElementRow) -> bool {
        self.id == other.id
    }
}

/// The rows that are in the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// How many rows come before these.
    pub first: usize,
    /// Their places, in order.
    pub places: Vec<ElementRow>,
}

/// The rows.
#[derive(Clone, Copy)]
pub struct Rows {
    pub length: RwSignal<usize>,
    pub scroll: RwSignal<f64>,
    pub unplaced: RwSignal<Option<usize>>,
    pub empty: RwSignal<Option<String>>,
    pub cursor: RwSignal<Option<String>>,
    pub window: RwSignal<Window>,
    /// The signal of each place, so that a row that changes touches its own element only.
    places: StoredValue<FxHashMap<u64, ArcRwSignal<Arc<RowModel>>>>,
}

impl Rows {
    fn new() -> Rows {
        Rows {
            length: RwSignal::new(0),
            scroll: RwSignal::new(0.0),
            unplaced: RwSignal::new(None),
            empty: RwSignal::new(None),
            cursor: RwSignal::new(None),
            window: RwSignal::new(Window::default()),
            places: StoredValue::default(),
        }
    }

    fn show(self, view: &mut RowsView) {
        draw(self.length, &mut view.length);
        draw(self.scroll, &mut view.scroll);
        draw(self.unplaced, &mut view.unplaced);
        self.places.update_value(|places| {
            for (id, model) in view.drawn.drain(..) {
                match places.get(&id) {
                    Some(row) => row.set(model),
                    None => drop(places.insert(id, ArcRwSignal::new(model))),
                }
            }
            if let Some(window) = view.window.take_changed() {
                places.retain(|id, _| window.places.contains(id));
                let place = |id: &u64| Some(ElementRow { id: *id, row: places.get(id)?.clone() });
                let shown = window.places.iter().filter_map(place).collect();
                self.window.set(Window { first: window.first, places: shown });
            }
        });
        draw(self.cursor, &mut view.cursor);
        draw(self.empty, &mut view.empty);
    }
}

/// Every signal that the components read.
#[derive(Clone, Copy)]
pub struct Screen {
    /// The frame around all.
    pub header: Header,
    /// What is around the rows.
    pub table: Table,
    /// The rows.
    pub rows: Rows,
    /// The feed of changes.
    pub feed: Feed,
    /// The kinds to choose from.
    pub sidebar: Sidebar,
    /// The timeline's frame.
    pub timeline: Timeline,
    /// The object that is looked at.
    pub inspector: Inspector,
    /// What went through the queues, and what is to be said of it.
    pub footer: Footer,
    /// Dialogs, and what is said.
    pub dialogs: Dialogs,
    /// The part of the page that was made last, at the start.
    pub made: RwSignal<Option<Part>>,
}

impl Screen {
    /// Signals that hold what the view shows now.
    pub fn new(view: &View) -> Screen {
        Screen {
            header: Header::new(&view.header),
            table: Table::new(&view.table),
            rows: Rows::new(),
            feed: Feed::new(&view.feed),
            sidebar: Sidebar::new(&view.sidebar),
            timeline: Timeline::new(&view.timeline),
            inspector: Inspector::new(&view.inspector),
            footer: Footer::new(&view.footer),
            dialogs: Dialogs::new(&view.dialogs),
            made: RwSignal::new(None),
        }
    }

    /// Sets the signals of what changed since it was drawn last.
    pub fn show(self, view: &mut View) {
        self.header.show(&mut view.header);
        self.table.show(&mut view.table);
        self.rows.show(&mut view.rows);
        self.feed.show(&mut view.feed);
        self.sidebar.show(&mut view.sidebar);
        self.timeline.show(&mut view.timeline);
        self.inspector.show(&mut view.inspector);
        self.footer.show(&mut view.footer);
        self.dialogs.show(&mut view.dialogs);
    }
}
