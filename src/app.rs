//! Joins the browser and the view; nothing else names both.

mod api;
mod discovery;
mod export;
mod handles;
mod hands;
mod heartbeat;
mod inspector;
mod keys;
mod layout;
mod linger;
mod listing;
mod memory;
mod notices;
mod palette;
mod pointer;
mod present;
mod rail;
mod resync;
mod timeline;
mod travel;
mod verify;
mod watches;
mod watching;

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use gloo_timers::callback::Interval;
use leptos::prelude::{Effect, Set};
use rustc_hash::FxHashMap;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::heartbeat::Heartbeat;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::page::audit::AuditLog;
use kubechurn_model::page::catalog::Catalog;
use kubechurn_model::page::definitions::Definitions;
use kubechurn_model::page::drain::Drain;
use kubechurn_model::page::history::{self, History};
use kubechurn_model::page::layout::{Arrangement, Layout};
use kubechurn_model::page::memory::Memory;
use kubechurn_model::page::notices::{Announcer, Ear, NoticeList, Overload};
use kubechurn_model::page::rail::Groups;
use kubechurn_model::page::resync::Resyncs;
use kubechurn_model::page::route::{Chosen, Route};
use kubechurn_model::page::watches::Watches;
use kubechurn_model::table::kinds::Kind;
use kubechurn_model::table::schema::TableSchema;
use kubechurn_model::table::view::Retention;

use crate::app::hands::AtHand;
use crate::app::inspector::{Choices, Inspection};
use crate::app::listing::Listing;
use crate::app::pointer::Pointer;
use crate::app::present::Shown;
use crate::app::timeline::Stage;
use crate::app::verify::Checks;
use crate::browser::base::Base;
use crate::browser::clock;
use crate::browser::driver::Driver;
use crate::browser::frame::Frames;
use crate::browser::watchdog;
use crate::ui::screen::{Command, Commands, Screen, put};
use crate::ui::shell::{Shell, ShellProps};
use kubechurn_model::page::rates::RateMeter;

/// How long one drain may take of a frame, in milliseconds: half of it, so that the other half can paint.
const SHARE: f64 = 8.0;
/// How long one drain of a hidden page may take.
const HIDDEN_SHARE: f64 = 40.0;
/// Keys taken at once, between two looks at the clock.
const BATCH: usize = 64;
/// So many frames are received at most until the queues are drained, whether or not an animation frame or a timer comes:
/// a browser holds those of a hidden page back for a minute, and of a covered one for as long as it likes.
const UNDRAINED: usize = 4_096;
/// How often the page looks after itself without any event, in milliseconds.
const TICK: u32 = 250;
/// A tick that comes this late means that the machine slept, in milliseconds. A hidden page's timers may come a minute
/// late by the browser's will, also when it is shown again; of a clock that stood still meanwhile that cannot be said.
const SLEPT: f64 = 10_000.0;
const SLEPT_HIDDEN: f64 = 90_000.0;

/// The page's state. Everything happens on one thread, by one borrow at a time.
struct Page {
    this: Weak<RefCell<Page>>,
    base: Option<Base>,
    route: Route,
    /// What kinds there are.
    catalog: Catalog,
    /// Which of them wait for their columns.
    definitions: Definitions,
    /// Which of the rail's groups are open.
    groups: Groups,
    informers: SharedInformerFactory,
    /// What keeps each informer's reflector going.
    drivers: FxHashMap<InformerId, Rc<Driver>>,
    /// Of how many objects lists bring so many.
    listing: Listing,
    watches: Watches,
    announcer: Announcer,
    notices: NoticeList,
    list_ear: Ear,
    console_ear: Ear,
    overload: Overload,
    checks: Checks,
    selected: Option<Chosen>,
    inspection: Option<Inspection>,
    choices: Choices,
    /// How wide the inspector shall be, where that was chosen.
    width: Option<f64>,
    /// What was received, while there is room for it.
    history: History,
    paused: bool,
    /// How many keys a frame may take.
    drain: Drain,
    /// What is written down of the way of the data, where the address asks for it.
    audit: AuditLog,
    /// How much memory may be taken.
    memory: Memory,
    screen: Screen,
    frames: Frames,
    layout: Layout,
    /// What the user has made of the columns.
    arrangement: Arrangement,
    /// How long deleted rows stay.
    linger: Retention,
    /// How often what is known is told again.
    resyncs: Resyncs,
    hands: AtHand,
    pointer: Pointer,
    shown: Shown,
    stage: Stage,
    meters: RateMeter,
    /// Of each informer by itself.
    shares: FxHashMap<InformerId, RateMeter>,
    /// When the last tick was, and whether the page was hidden then.
    ticked: (f64, bool),
    heartbeat: Heartbeat,
    /// How many frames were received since the queues were drained last.
    undrained: usize,
}

type Shared = Rc<RefCell<Page>>;

/// Mounts the page into the document, and begins.
pub fn mount() {
    watchdog::tell_of_panics();
    if let Some(boot) = document().and_then(|document| document.get_element_by_id("boot")) {
        boot.remove();
    }
    leptos::mount::mount_to_body(|| {
        let theme = travel::stored_theme();
        travel::apply_theme(theme);
        let route = Route::parse(&travel::fragment());
        let screen = Screen::new(route.clone(), theme);
        let page = Page::begin(route, screen);
        let receiver = page.clone();
        let commands = Commands::new(move |command| obey(&receiver, command));
        // The canvas is in the document once the first effects run.
        Effect::new(move |_| timeline::attach(&page, commands));
        Shell(ShellProps { screen, commands })
    });
}

/// A number that no one can guess.
fn random() -> u64 {
    let mut bytes = [0; 8];
    let crypto = web_sys::window().and_then(|window| window.crypto().ok());
    let drawn = crypto.map(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
    // Every browser that runs the page has it, in every context, and it fails for requests of 64 KiB and more only.
    drawn.and_then(Result::ok).expect("a browser has random numbers");
    u64::from_le_bytes(bytes)
}

fn document() -> Option<web_sys::Document> {
    web_sys::window().and_then(|window| window.document())
}

impl Page {
    fn begin(route: Route, screen: Screen) -> Shared {
        let mut announcer = Announcer::default();
        let (list_ear, console_ear) = (announcer.listen(), announcer.listen());
        let drain = Drain::parse(travel::parameter("drain").as_deref());
        put(screen.drain, drain.words());
        let page = Rc::new_cyclic(|this: &Weak<RefCell<Page>>| {
            let framed = this.clone();
            RefCell::new(Page {
                this: this.clone(),
                base: None,
                layout: Layout::of(Arc::default(), false, &Arrangement::default()),
                arrangement: Arrangement::default(),
                linger: linger::stored(),
                resyncs: resync::stored(),
                hands: AtHand::default(),
                route,
                catalog: Catalog::default(),
                definitions: Definitions::default(),
                groups: rail::stored(),
                informers: SharedInformerFactory::default(),
                drivers: FxHashMap::default(),
                listing: Listing::default(),
                watches: Watches::default(),
                announcer,
                notices: NoticeList::default(),
                list_ear,
                console_ear,
                overload: Overload::default(),
                checks: Checks::default(),
                selected: None,
                inspection: None,
                choices: Choices::default(),
                width: inspector::width::stored(),
                history: History::new(history::BUDGET, random()),
                paused: false,
                drain,
                audit: AuditLog::parse(travel::parameter("audit").as_deref()),
                memory: Memory::parse(travel::parameter("memory").as_deref()),
                screen,
                frames: Frames::new(move || {
                    if let Some(page) = framed.upgrade() {
                        frame(&page);
                    }
                }),
                pointer: Pointer::default(),
                shown: Shown::default(),
                stage: Stage::default(),
                meters: RateMeter::default(),
                shares: FxHashMap::default(),
                ticked: (clock::now(), clock::is_hidden()),
                heartbeat: Heartbeat::default(),
                undrained: 0,
            })
        });
        handles::install(&page);
        listen(&page);
        keys::listen(&page);
        let ticking = page.clone();
        Interval::new(TICK, move || tick(&ticking)).forget();
        api::begin(&page, false);
        page.borrow_mut().begin_hands();
        page
    }

    /// The kinds in view that the server has.
    fn kinds(&self) -> Vec<&'static Kind> {
        self.route.kinds(&self.catalog)
    }

    /// The kinds in view whose columns are known: what the table is like.
    fn schema(&self) -> TableSchema {
        let kinds: Vec<&'static Kind> =
            self.kinds().into_iter().filter(|kind| !self.definitions.awaits(kind)).collect();
        TableSchema::of(&kinds)
    }

    /// Whether the user looks at this object, of the kind that the page calls so.
    fn has_selected(&self, kind: &str, key: &ObjectKey) -> bool {
        self.selected.as_ref().is_some_and(|(own, other)| own.name == kind && other == key)
    }

    fn drivers(&self) -> Vec<Rc<Driver>> {
        self.drivers.values().cloned().collect()
    }

    /// Stops draining, or goes on. The queues keep taking in what comes, folded for each object.
    fn pause(&mut self, paused: bool, now: f64) {
        if self.paused != paused {
            self.paused = paused;
            put(self.screen.paused, paused);
            self.stage.pause(paused, now);
        }
    }

    /// Drains the queues, as far as this frame's share goes. Whether anything is left.
    fn drain(&mut self, hidden: bool) -> bool {
        if self.paused {
            return false;
        }
        let began = clock::now();
        let share = if hidden { HIDDEN_SHARE } else { SHARE };
        let mut most = self.drain.most();
        loop {
            let mut left = false;
            for (_, informer) in self.informers.iter_mut() {
                informer.drain(BATCH.min(most), began);
                left |= !informer.queue().is_empty();
            }
            most = most.saturating_sub(BATCH);
            if !left || most == 0 || clock::now() - began >= share {
                return left;
            }
        }
    }
}

impl Page {
    /// Writes down which states time alone has changed.
    fn audit_look(&self, now: f64) {
        for (id, informer) in self.informers.iter().filter(|_| self.audit.is_on()) {
            if let Some((resource, scope)) = self.informers.of(id) {
                self.audit.look((&resource, scope), informer, now);
            }
        }
    }

    /// Has the tables and timelines take what the informers have for them.
    fn take(&mut self, now: f64) {
        // What the hands are at is held from the next picture on, and must be there then.
        let busy = self.pointer.is_busy(now);
        self.keep_resync(now);
        let left = self.watches.take(&mut self.informers, self.linger, busy, now);
        if left {
            self.frames.hurry();
        }
        self.checks.whole = !left;
        if self.paused {
            return self.overload.forgive();
        }
        // What is told again is no news that the table would be late with.
        let news = |queue: &dyn Queue| queue.queued() - queue.resyncing();
        let left = self.informers.iter().map(|(_, informer)| news(informer.queue())).sum();
        if let Some(said) = self.overload.look(now, left) {
            self.audit.said(None, &said);
            self.announcer.say(said);
            self.announce();
        }
    }
}

/// Hands the input to every reflector. The page must not be borrowed.
fn tell_all(page: &Shared, input: &Input<'_>) {
    let drivers = page.borrow().drivers();
    drivers.iter().for_each(|driver| driver.input(input.clone()));
}

/// One animation frame, or one turn of a hidden page's timer.
fn frame(page: &Shared) {
    let hidden = clock::is_hidden();
    let mut page = page.borrow_mut();
    page.undrained = 0;
    let left = page.drain(hidden);
    let now = clock::now();
    page.take(now);
    page.verify(hidden, now);
    page.check_sums(now);
    if !hidden {
        page.present(now);
    }
    if left {
        page.frames.hurry();
    }
    page.beat();
}

/// Ages tick, silence is noticed, and a machine that slept wakes up.
fn tick(page: &Shared) {
    page.borrow().beat();
    let (now, hidden, jump) = (clock::now(), clock::is_hidden(), clock::take_jump());
    let (ticked, was_hidden) = std::mem::replace(&mut page.borrow_mut().ticked, (now, hidden));
    let limit = if hidden || was_hidden { SLEPT_HIDDEN } else { SLEPT };
    if jump > SLEPT || now - ticked > limit {
        tell_all(page, &Input::Woke);
        page.borrow_mut().heartbeat.hurry(now);
    }
    memory::look(page);
    let questions = {
        let mut page = page.borrow_mut();
        page.frames.request();
        page.count_lists(now);
        let page = &mut *page;
        page.watches.look(&page.informers, now);
        page.audit_look(now);
        page.heartbeat.questions(&page.informers, clock::moment(), hidden)
    };
    for question in questions {
        spawn_local(heartbeat::ask(page.clone(), question));
    }
}

/// The network came back, or the browser had the page stand still.
fn woke(page: &Shared) {
    tell_all(page, &Input::Woke);
    heartbeat::hurry(page);
}

/// Listens to the window: places, visibility, and a network that comes back.
fn listen(page: &Shared) {
    let Some(window) = web_sys::window() else { return };
    let on = |target: &web_sys::EventTarget, event: &str, callback: fn(&Shared)| {
        let page = page.clone();
        let callback = Closure::<dyn FnMut()>::new(move || callback(&page));
        // The page lives as long as the document.
        let _ = target.add_event_listener_with_callback(event, callback.as_ref().unchecked_ref());
        callback.forget();
    };
    on(&window, "hashchange", |page| page.borrow_mut().go(Route::parse(&travel::fragment())));
    on(&window, "resize", |page| page.borrow().fit_inspector());
    on(&window, "online", woke);
    if let Some(document) = window.document() {
        on(&document, "visibilitychange", |page| {
            heartbeat::hurry(page);
            page.borrow().frames.visibility_changed();
        });
        on(&document, "resume", woke);
    }
}

/// Does what the user asks for.
fn obey(page: &Shared, command: Command) {
    if command == Command::Retry {
        tell_all(page, &Input::Start);
        return heartbeat::hurry(page);
    }
    if let Command::Connect(allowed) = command {
        return api::answer(page, allowed);
    }
    let now = clock::now();
    if let Command::Hands(hands) = command {
        let next = page.borrow_mut().take_in_hand(hands, now);
        page.borrow().frames.hurry();
        return next.into_iter().for_each(|command| obey(page, command));
    }
    let mut borrowed = page.borrow_mut();
    let this = &mut *borrowed;
    match command {
        Command::Go(route) => travel::push(&route),
        Command::Filter(text) => {
            this.route.text = text;
            travel::replace(&this.route);
            let route = this.route.clone();
            this.go(route);
        }
        Command::Scroll(top, height) => this.shown.scroll(top, height),
        Command::Hold(hold) => this.pointer.over_table(hold, now),
        Command::Pause(paused) => this.pause(paused, now),
        Command::Select(object) => {
            let object = object.filter(|(kind, key)| !this.has_selected(kind, key));
            if let Some((kind, key)) = &object {
                this.remember(kind, key);
            }
            travel::push(&this.route.selecting(object.as_ref().map(|(kind, key)| (*kind, key))));
        }
        Command::LoadNamespaces => {
            if let Some(base) = this.base.clone() {
                spawn_local(travel::load_namespaces(base, this.screen));
            }
        }
        Command::Theme(theme) => {
            travel::apply_theme(theme);
            this.screen.theme.set(theme);
            this.stage.theme_changed();
        }
        Command::Fold(heading, open) => this.fold(heading, open),
        Command::Inspect(inspect) => this.obey_inspector(inspect),
        Command::Retry | Command::Connect(_) => {}
        command => this.obey_on_timeline(command, now),
    }
    this.frames.hurry();
}
