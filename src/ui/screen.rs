//! The screen: the signals that the components read, one for each value of the page's view, and the way of commands back.
//!
//! Signals begin where one drain of the queues ends. An event never travels through one.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use rustc_hash::FxHashMap;

use kubechurn_model::page::command::Command;
use kubechurn_model::view::RowModel;
use kubechurn_model::view::panels::{
    DialogsView, FeedView, FooterView, HeaderView, InspectorView, RowsView, SidebarView, TablePanel, TimelinePanel,
    View,
};
use kubechurn_model::view::shown::{Draw, Hold};

use crate::ui::parts::Part;
use crate::ui::values::Held;

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

/// Values in signals, which components read.
#[derive(Clone, Copy)]
pub struct InSignals;

impl Hold for InSignals {
    type Of<T> = Held<T>;
}

impl Draw for InSignals {
    fn hold<T: Clone + Send + Sync + 'static>(value: T) -> Held<T> {
        Held::new(value)
    }

    fn draw<T: Clone + Send + Sync + 'static>(held: &Held<T>, value: T) {
        held.set(value);
    }
}

/// The signals of the object that is looked at.
pub type Inspector = InspectorView<InSignals>;

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
    pub length: Held<usize>,
    pub scroll: Held<f64>,
    pub unplaced: Held<Option<usize>>,
    pub empty: Held<Option<String>>,
    pub cursor: Held<Option<String>>,
    pub window: Held<Window>,
    /// The signal of each place, so that a row that changes touches its own element only.
    places: StoredValue<FxHashMap<u64, ArcRwSignal<Arc<RowModel>>>>,
}

impl Rows {
    fn new() -> Rows {
        Rows {
            length: Held::new(0),
            scroll: Held::new(0.0),
            unplaced: Held::new(None),
            empty: Held::new(None),
            cursor: Held::new(None),
            window: Held::new(Window::default()),
            places: StoredValue::default(),
        }
    }

    fn show(self, view: &mut RowsView) {
        view.length.draw::<InSignals>(&self.length);
        view.scroll.draw::<InSignals>(&self.scroll);
        view.unplaced.draw::<InSignals>(&self.unplaced);
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
        view.cursor.draw::<InSignals>(&self.cursor);
        view.empty.draw::<InSignals>(&self.empty);
    }
}

/// Every signal that the components read.
#[derive(Clone, Copy)]
pub struct Screen {
    /// The frame around all.
    pub header: HeaderView<InSignals>,
    /// What is around the rows.
    pub table: TablePanel<InSignals>,
    /// The rows.
    pub rows: Rows,
    /// The feed of changes.
    pub feed: FeedView<InSignals>,
    /// The kinds to choose from.
    pub sidebar: SidebarView<InSignals>,
    /// The timeline's frame.
    pub timeline: TimelinePanel<InSignals>,
    /// The object that is looked at.
    pub inspector: Inspector,
    /// What went through the queues, and what is to be said of it.
    pub footer: FooterView<InSignals>,
    /// Dialogs, and what is said.
    pub dialogs: DialogsView<InSignals>,
    /// The part of the page that was made last, at the start.
    pub made: Held<Option<Part>>,
}

impl Screen {
    /// Signals that hold what the view shows now.
    pub fn new(view: &View) -> Screen {
        Screen {
            header: view.header.hold(),
            table: view.table.hold(),
            rows: Rows::new(),
            feed: view.feed.hold(),
            sidebar: view.sidebar.hold(),
            timeline: view.timeline.hold(),
            inspector: view.inspector.hold(),
            footer: view.footer.hold(),
            dialogs: view.dialogs.hold(),
            made: Held::new(None),
        }
    }

    /// Sets the signals of what changed since it was drawn last.
    pub fn show(self, view: &mut View) {
        view.header.draw(&self.header);
        view.table.draw(&self.table);
        self.rows.show(&mut view.rows);
        view.feed.draw(&self.feed);
        view.sidebar.draw(&self.sidebar);
        view.timeline.draw(&self.timeline);
        view.inspector.draw(&self.inspector);
        view.footer.draw(&self.footer);
        view.dialogs.draw(&self.dialogs);
    }
}
