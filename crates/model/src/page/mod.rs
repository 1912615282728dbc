//! The page itself, without a browser. Inputs go in: commands, answers to requests, frames of the screen, inputs for
//! reflectors. Effects and a view come out. The caller carries out the effects and draws the view, and decides nothing.
//!
//! Everything happens on one thread. The page is made of parts: plain structs with a file each, which share a [`Context`].
//! [`Page`] hands each input to its part, and carries out what concerns several: to go elsewhere, and to show a frame.

mod alerts;
mod clocks;
mod columns;
pub mod command;
mod completion;
mod connection;
mod context;
mod copies;
mod dialogs;
mod discovery;
pub mod effect;
mod embed;
mod empty;
pub mod environment;
mod feed;
mod health;
mod inside;
mod inspector;
mod keeping;
pub mod keys;
mod links;
mod logs;
mod net;
mod notes;
mod output;
pub mod palette;
mod replay;
pub mod report;
mod requests;
mod rewind;
mod rows;
mod saving;
mod search;
mod settings;
mod sidebar;
mod span;
mod status;
mod table;
mod ticks;
pub mod time_words;
mod timeline;
mod timeline_drag;
mod verification;
mod watching;
mod who;
mod why;
mod writers;
mod wrong;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_recording::{Header, Line};

use crate::feed::FeedCommand;
use crate::feed::span::SpanCommand;
use crate::feed::wrong::Received;
use crate::inside::command::InsideCommand;
use crate::navigation::namespaces::Namespaces;
use crate::navigation::route::Route;
use crate::page::alerts::Notifications;
use crate::page::clocks::Clocks;
use crate::page::command::{Command, Compare, CompletionCommand, InspectorCommand};
use crate::page::completion::Completion;
use crate::page::connection::{Connection, load_namespaces};
use crate::page::context::Shared;
use crate::page::dialogs::Dialogs;
use crate::page::discovery::Discovery;
use crate::page::effect::{Answer, Effect, Focused, RequestId};
use crate::page::environment::{Environment, fragment};
use crate::page::feed::Feed;
use crate::page::inside::Inside;
use crate::page::inspector::Inspector;
use crate::page::keeping::Keeping;
use crate::page::keys::{Layer, innermost};
pub use crate::page::logs::LogInput;
use crate::page::logs::Logs;
use crate::page::replay::Replay;
use crate::page::requests::Purpose;
use crate::page::rewind::{Followed, Rewind};
use crate::page::saving::Saving;
use crate::page::settings::{Settings, stored_budget};
use crate::page::sidebar::Sidebar;
use crate::page::status::Status;
use crate::page::table::Table;
use crate::page::ticks::{SLEPT, SLEPT_HIDDEN};
use crate::page::timeline::Timeline;
use crate::page::verification::Verification;
use crate::page::watching::{Receivers, Reflected};
use crate::page::why::Why;
use crate::recording::RecordingCommand;
use crate::table::cursor::Step;
use crate::watches::drain::Drain;
use crate::watches::memory::Memory;

/// The page.
#[derive(Debug)]
pub struct Page {
    shared: Shared,
    connection: Connection,
    table: Table,
    feed: Feed,
    notifications: Notifications,
    why: Why,
    logs: Logs,
    timeline: Timeline,
    inspector: Inspector,
    verification: Verification,
    rewind: Rewind,
    inside: Inside,
    sidebar: Sidebar,
    status: Status,
    clocks: Clocks,
    dialogs: Dialogs,
    completion: Completion,
    settings: Settings,
    /// The recording that is shown, if one is.
    replay: Option<Replay>,
    saving: Saving,
    keeping: Keeping,
    /// When something was last received, or the user did something.
    news: f64,
    /// When the last tick was.
    ticked: f64,
    /// Whether the page was hidden then.
    was_hidden: bool,
}

impl Page {
    /// A page at the place that the address names, with what was stored on the last visit. The page looks for the API
    /// first.
    pub fn begin(env: &dyn Environment) -> Page {
        let mut page = Page::new(stored_budget(env).bytes(), env);
        let cx = &mut page.shared.context(env);
        if !embed::begin(cx) {
            page.connection.search.begin(false, cx);
            page.keeping = Keeping::stored(env);
        }
        if replay::opens(&fragment(&env.url()), cx) {
            cx.navigation.route = Route::parse("");
        }
        // A lesson needs no API.
        page.inside.follow(cx);
        page
    }

    /// A page that shows a recording, whose history may take so many bytes. Its lines are to be handed to [`Page::replay`], each
    /// at its time.
    pub fn open(header: &Header, budget: usize, env: &dyn Environment) -> Page {
        let mut page = Page::new(budget, env);
        page.replay = Some(Replay::begin(header, &mut page.shared.context(env)));
        page
    }

    /// Takes a line of the recording that is shown. The time is that of the line.
    pub fn replay(&mut self, line: &Line<'_>, env: &dyn Environment) {
        let Some(replay) = &mut self.replay else { return };
        let is_other_place = replay.take(line, &mut self.shared, &mut self.feed, env);
        if replay.drains(&mut self.shared.watching, env) {
            self.table.take(&mut self.shared.context(env));
            self.shared.context(env).deliver_notices();
        }
        if is_other_place {
            self.go_on(env);
        }
    }

    /// The recording ends with a line of this time, in milliseconds: shows that moment, or the one that the address names.
    pub fn replayed(&mut self, end: f64, env: &dyn Environment) {
        self.feed.notice_absences(f64::INFINITY, None, &mut self.shared.watching.watches.absences);
        self.shared.navigation.end_recording(end);
        self.frame(env);
        self.follow_moment(true, env);
        self.go_on(env);
    }

    fn new(budget: usize, env: &dyn Environment) -> Page {
        let mut page = Page {
            shared: Shared::new(budget, env),
            connection: Connection::default(),
            table: Table::default(),
            feed: Feed::stored(env),
            notifications: Notifications::default(),
            why: Why::default(),
            logs: Logs::default(),
            timeline: Timeline::default(),
            inspector: Inspector::default(),
            verification: Verification::new(Memory::parse(env.parameter("memory").as_deref())),
            rewind: Rewind::default(),
            inside: Inside::default(),
            sidebar: Sidebar::stored(env),
            status: Status::default(),
            clocks: Clocks::default(),
            dialogs: Dialogs::default(),
            completion: Completion::default(),
            settings: Settings::stored(env),
            replay: None,
            saving: Saving::default(),
            keeping: Keeping::default(),
            news: env.now(),
            ticked: env.now(),
            was_hidden: env.is_hidden(),
        };
        let cx = &mut page.shared.context(env);
        cx.view.header.clusters.put(cx.navigation.clusters.clone());
        cx.watching.drain = Drain::parse(env.parameter("drain").as_deref());
        cx.view.footer.drain.put(cx.watching.drain.words());
        page.settings.begin(cx);
        page.table.begin(cx);
        page.present_place(env);
        page
    }

    /// One animation frame, or one turn of a hidden page's timer: what the queues hold reaches the view.
    pub fn frame(&mut self, env: &dyn Environment) {
        let hidden = env.is_hidden();
        let is_news = self.shared.watching.take_news();
        let is_left = self.shared.watching.drain(hidden, env);
        self.table.take(&mut self.shared.context(env));
        let cx = &mut self.shared.context(env);
        if self.verification.continue_check(&self.table.rows, cx) {
            self.make_tables_anew(env);
        }
        let cx = &mut self.shared.context(env);
        let waits = self.feed.read_changes(&mut self.notifications, cx);
        if !hidden && (self.feed.read(cx) | self.why.work(&self.feed, cx)) {
            cx.hurry();
        }
        self.verification.check_sums(cx);
        self.keeping.work(cx);
        self.connection.look(&mut self.verification, cx);
        if !hidden {
            self.present(env);
            self.status.is_late_if(is_news);
        }
        if is_news {
            self.news = env.now();
        }
        let cx = &mut self.shared.context(env);
        if is_left {
            cx.hurry();
        } else if waits {
            cx.request_frame();
        }
        self.beat(env);
    }

    /// Renews ages, notices silent watches, and wakes the reflectors after the machine has slept. Must be called at
    /// [`Page::deadline`] at the latest.
    pub fn tick(&mut self, env: &dyn Environment) {
        let (hidden, jump) = (env.is_hidden(), env.take_jump());
        let cx = &mut self.shared.context(env);
        let late = cx.now - std::mem::replace(&mut self.ticked, cx.now);
        let limit = if std::mem::replace(&mut self.was_hidden, hidden) || hidden { SLEPT_HIDDEN } else { SLEPT };
        if jump > SLEPT || late > limit {
            cx.hand_all(&Input::Woke);
            self.connection.heartbeat.hurry(cx.now);
        }
        // A hidden page shows nothing, and drains when something was received.
        if !hidden || self.verification.verifier.is_under_way() {
            cx.request_frame();
        }
        self.connection.look(&mut self.verification, cx);
        self.notifications.notify(cx);
        self.keeping.work(cx);
        if self.replay.is_none() {
            self.connection.ask_heartbeat(cx);
            self.connection.ask_again(cx);
        }
        self.beat(env);
    }

    /// The network is back, or the browser has thawed the frozen page.
    pub fn woke(&mut self, env: &dyn Environment) {
        self.shared.context(env).hand_all(&Input::Woke);
        self.connection.heartbeat.hurry(env.now());
        self.tick(env);
    }

    /// The page is shown again, or hidden. Shown or hidden, the page asks at once whether its watches are alive.
    pub fn visibility_changed(&mut self, env: &dyn Environment) {
        self.notifications.saw(&mut self.shared.context(env));
        self.connection.heartbeat.hurry(env.now());
        self.tick(env);
    }

    /// Hands an input to an informer's reflector. Returns the reflector's next action, and when it must be woken.
    pub fn reflect(
        &mut self,
        id: InformerId,
        input: Input<'_>,
        env: &dyn Environment,
    ) -> (Option<Action>, Option<f64>) {
        let Shared { watching, notices, audit, .. } = &mut self.shared;
        let receivers = Receivers {
            audit,
            announcer: &mut notices.announcer,
            records: !self.inspector.watches(id),
            recorded: &mut |recorded, resource, delta: ReceivedDelta<'_>| {
                let ReceivedDelta { now, delta_type, object, text, .. } = delta;
                let wall = env.server_time(resource.cluster);
                self.feed.received(recorded, Received { resource, now, wall, delta_type, object, text });
            },
        };
        let reflected = watching.handle(id, input, env.moment(), receivers);
        let cx = &mut self.shared.context(env);
        if reflected.as_ref().is_some_and(|reflected| reflected.has_notices) {
            cx.deliver_notices();
        }
        if let Some(Reflected { action: Some(action), .. }) = &reflected {
            self.connection.store_first_list(id, action, cx);
        }
        if cx.watching.must_drain() {
            cx.watching.take_news();
            cx.watching.drain(true, env);
            self.table.take(&mut self.shared.context(env));
        }
        // Asked once: a browser answers slowly, and this is done for each frame of each socket.
        let hidden = env.is_hidden();
        let cx = &mut self.shared.context(env);
        if hidden && self.notifications.is_watching() {
            // In a hidden page there are no frames, and its timers may be a minute late: what a socket brings is read at
            // once.
            let is_left = self.feed.read_changes(&mut self.notifications, cx);
            if is_left || self.notifications.deadline().is_some() {
                cx.request_frame();
            }
        }
        if hidden {
            self.keeping.work(cx);
        }
        // What a hidden page shows is renewed when it is in sight again: until then only what is queued has to be drained.
        let informer = cx.watching.informers.get(id);
        if !hidden || informer.is_some_and(|informer| informer.queue().queued() > 0) {
            cx.request_frame();
        }
        reflected.map_or((None, None), |reflected| (reflected.action, reflected.deadline))
    }

    /// Handles the answer to a request. An answer that is no longer wanted changes nothing.
    pub fn answer(&mut self, id: RequestId, answer: Answer, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        let Some(purpose) = cx.requests.take(id) else { return };
        let mut is_other_place = false;
        match (purpose, answer) {
            (Purpose::Find, Answer::Find(found)) => {
                is_other_place = self.connection.search.found(found, cx);
                if is_other_place {
                    self.connection.discovery.discover(cx);
                }
            }
            (Purpose::Discovery, Answer::Discovery(cached)) => {
                is_other_place = self.connection.discovery.discovered(cached, cx);
            }
            (Purpose::Definition(resource), Answer::Definition(answer)) => {
                is_other_place = self.connection.discovery.defined(&resource, answer.as_deref(), cx);
            }
            (Purpose::Heartbeat(question), Answer::Heartbeat(answer)) => self.connection.heard(&question, answer, cx),
            (Purpose::Count(id), Answer::Count(total)) => self.connection.counts.answered(id, total),
            (Purpose::Verify(number), Answer::ListExactly(answer)) => {
                cx.request_frame();
                let answer = answer.as_deref().map_err(Clone::clone);
                if self.verification.listed_exactly(number, answer, &self.table.rows, cx) {
                    self.make_tables_anew(env);
                }
            }
            (Purpose::Inspect(kind, key), Answer::Get(answer)) => self.inspector.fetched(kind, &key, answer, cx),
            (Purpose::Owner(kind, uid), Answer::Get(answer)) => self.inspector.fetched_owner(kind, uid, answer, cx),
            (Purpose::Reveal(kind, key, field), Answer::Get(answer)) => {
                self.inspector.revealed(kind, &key, field, answer, cx);
            }
            (Purpose::Namespaces, Answer::Namespaces(namespaces)) => {
                // The user may have typed another name meanwhile.
                let typed = cx.view.header.namespaces.typed.clone();
                cx.view.header.namespaces.put(Namespaces { typed, ..namespaces });
            }
            (Purpose::Copy(what, text), Answer::Copy(done)) => copies::copied(what, &text, done, cx),
            (Purpose::CopyYaml, Answer::Copy(done)) => self.inspector.copied(done, cx),
            (Purpose::Pack, Answer::Pack(bytes)) => self.saving.packed(bytes, cx),
            (Purpose::Keep, Answer::Disk(answer)) => self.keeping.kept(answer, cx),
            (Purpose::Kept, Answer::Disk(answer)) => self.keeping.listed(answer, cx),
            (Purpose::HandOver(name), Answer::Disk(answer)) => self.keeping.handed_over(&name, &answer, cx),
            (Purpose::Save(name), Answer::Save(rows)) => copies::saved(&name, rows, cx),
            // An answer of another type than its request is the caller's mistake, and changes nothing here.
            _ => {}
        }
        if is_other_place {
            self.go_on(env);
        }
    }

    /// Carries out a command of the user's.
    pub fn command(&mut self, command: Command, env: &dyn Environment) {
        self.notifications.saw(&mut self.shared.context(env));
        self.carry_out(command, env);
        self.news = env.now();
        self.shared.context(env).hurry();
    }

    fn carry_out(&mut self, command: Command, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        match command {
            command if !embed::does(&command, cx) => {}
            Command::Go(route) => cx.push(&route),
            Command::Arrive(fragment) => {
                let opens = replay::opens(&fragment, cx);
                let route = Route::parse(&fragment).resolved(&cx.navigation.catalog);
                // The page itself may have gone there already.
                if !opens && route != cx.navigation.route {
                    self.go(route, env);
                }
            }
            Command::Filter(text) => self.filter_by(text, env),
            Command::Completion(command) => {
                if let Some(text) = self.completion.handle(command, self.feed.rows(), cx) {
                    self.filter_by(text, env);
                    let cx = &mut self.shared.context(env);
                    self.completion.handle(CompletionCommand::Offer, self.feed.rows(), cx);
                }
            }
            Command::Labels(labels) => cx.change_route(|route| Route { labels, ..route }),
            Command::Fields(fields) => cx.change_route(|route| Route { fields, ..route }),
            Command::Namespace(name) => settings::choose_namespaces(&name, cx),
            Command::ForgetNamespace(name) => settings::forget_namespace(&name, cx),
            Command::Everything(name) => {
                let route = cx.navigation.route.everything_in(&name, &cx.navigation.catalog);
                cx.push(&route);
            }
            Command::AllNamespaces => cx.change_route(|route| Route { namespaces: Vec::new(), ..route }),
            Command::SortBy(title) => cx.change_route(|route| route.sorted_by(title)),
            Command::SortNext => self.table.sort_next(cx),
            Command::TurnOrder => {
                let schema = cx.navigation.schema.clone();
                cx.change_route(|route| route.turned(&schema));
            }
            Command::ToggleWide => cx.change_route(|route| Route { wide: !route.wide, ..route }),
            Command::Join(name) => cx.change_route(|route| route.joining(name)),
            Command::Pin(name) => cx.change_route(|route| route.pinning(name)),
            Command::PinInView => {
                if let Some(route) = cx.navigation.with_pins_turned() {
                    cx.push(&route);
                }
            }
            Command::Select(object) => {
                let object = object.filter(|(kind, key)| !cx.navigation.has_selected(kind, key));
                cx.select(object);
            }
            Command::Visit(kind, key) => {
                if let Some(route) = cx.navigation.route_to(kind, &key) {
                    cx.push(&route);
                    self.go(route, env);
                } else if cx.navigation.has_selected(kind, &key) {
                    return;
                }
                self.shared.context(env).select(Some((kind, key)));
            }
            Command::Scroll { top, height } => self.table.rows.scroll(top, height),
            Command::PointerOverTable(over) => self.table.rows.pointer.over_table(over, cx.now),
            // Who leaves the filter comes to the rows in sight.
            Command::Row(step) if cx.navigation.route.changes => self.feed.handle(FeedCommand::Step(step), cx),
            Command::Row(step) => self.table.step(step, cx),
            Command::RowPage(by) => self.table.step(Step::By(by * self.table.rows.page()), cx),
            Command::Cell(by) => self.table.step_aside(by, cx),
            Command::OpenRow => self.table.open_row(cx),
            Command::Columns(change) => self.table.columns.rearrange(change, cx),
            Command::Retention(retention) => self.table.retain(retention, cx),
            Command::ClearDeleted => self.table.clear_deleted(cx),
            Command::TogglePause => self.pause(!self.shared.watching.paused, env),
            Command::Retry => {
                self.connection.retry(cx);
                self.tick(env);
            }
            Command::Health(health) => cx.change_route(|route| Route { health, ..route }),
            Command::Writers(writers) => cx.change_route(|route| Route { writers, ..route }),
            Command::Verify => self.verification.begin_check(cx),
            Command::Resync(resync) => settings::resync(resync, cx),
            Command::Recorder(budget) => settings::give_recorder(budget, cx),
            Command::Connect(allowed) => self.connection.search.connect(allowed, cx),
            Command::Copy(copied) => copies::copy(copied, &self.table, cx),
            Command::Export(format) => copies::export(format, &self.table.columns, cx),
            Command::WhatChanged => cx.change_route(|route| route.what_changed()),
            Command::ToggleChanges => cx.change_route(|route| Route { changes: !route.changes, why: None, ..route }),
            Command::Feed(command) => self.feed.handle(command, cx),
            Command::Span(command) => {
                let pointed = self.timeline.pointed(cx).or_else(|| self.inspector.shown_at(cx));
                span::handle(command, pointed, cx);
            }
            Command::Rewind(command) => {
                let pointed = self.timeline.pointed(cx).or_else(|| self.inspector.shown_at(cx));
                let at = self.rewind.handle(command, pointed, cx);
                at.into_iter().for_each(|at| self.rewind_to(at, env));
            }
            Command::Recording(RecordingCommand::Keep(command)) => self.keeping.handle(command, cx),
            Command::Recording(command) => self.saving.handle(command, cx),
            Command::Alerts(command) => self.notifications.handle(command, cx),
            Command::Inside(command) => self.inside.handle(command, cx),
            Command::Timeline(command) => {
                if let Some(command) = self.timeline.handle(command, cx) {
                    self.carry_out(Command::Rewind(command), env);
                }
            }
            Command::Inspector(command) => {
                if let Some(at) = self.inspector.handle(command, cx) {
                    self.timeline.show(at, cx.now);
                }
            }
            Command::Why(command) => {
                let pointed = self.timeline.pointed(cx).or_else(|| self.inspector.shown_at(cx));
                self.why.handle(command, pointed, (&self.feed, &self.table), cx);
            }
            Command::Logs(command) => self.logs.handle(command, (&self.feed, &self.table), cx),
            Command::Panel(command) => self.settings.handle_panel(command, cx),
            Command::Palette(command) => {
                if let Some(taken) = self.dialogs.handle(command, cx) {
                    self.carry_out(taken, env);
                }
            }
            Command::Fold(heading, open) => {
                if self.sidebar.fold(heading, open, cx) {
                    self.sidebar.present(&self.feed, &self.status.rates, cx);
                }
            }
            Command::List(list, open) => {
                self.shared.open_lists.retain(|other| *other != list);
                if open {
                    self.shared.open_lists.push(list);
                }
                self.status.present_lists(&self.verification, &mut self.shared.context(env));
            }
            Command::ToggleHelp => self.dialogs.show_help(!self.dialogs.has_help(), cx),
            Command::CloseHelp => self.dialogs.show_help(false, cx),
            Command::ToggleLetters => self.settings.toggle_letters(cx),
            Command::ToggleKept => {
                self.settings.toggle_kept(cx);
                self.table.watch(&mut self.shared.context(env));
            }
            Command::Cluster(page) => cx.effects.push(Effect::Load(cx.navigation.url_in(&page))),
            Command::OpenBeside(fragment) => links::load_beside(&fragment, cx),
            Command::ToggleTheme => settings::toggle_theme(cx),
            Command::ToggleZone => {
                settings::toggle_zone(cx);
                self.inspector.renew_times();
                self.feed.renew_times();
                self.status.hurry();
            }
            Command::FocusFilter => cx.focus(Focused::Field("filter")),
            Command::OpenNamespaces => cx.focus(Focused::Menu("namespaces")),
            Command::OpenColumns => cx.focus(Focused::Menu("columns")),
            Command::LoadNamespaces => load_namespaces(cx),
            Command::Leave => self.leave_innermost(env),
        }
    }

    /// Shows another moment, or, for `None`, now. The browser's history has one entry for all the moments that are shown one
    /// after the other.
    fn rewind_to(&mut self, at: Option<f64>, env: &dyn Environment) {
        let newest = self.shared.navigation.newest(env.now());
        // The address has whole milliseconds, and what came within one has come.
        let at = at.map(|at| at.max(0.0).ceil()).filter(|at| *at < newest);
        let route = Route { at, ..self.shared.navigation.route.clone() };
        let was_rewound = self.shared.navigation.route.at.is_some();
        let effect = if was_rewound && at.is_some() { Effect::Replace } else { Effect::Push };
        self.shared.effects.push(effect(route.fragment()));
        self.go(route, env);
    }

    /// Has everything show the moment that the address names. `is_other` is whether it names another one than before. Returns
    /// whether there are other rows, which are in no order yet.
    fn follow_moment(&mut self, is_other: bool, env: &dyn Environment) -> bool {
        let cx = &mut self.shared.context(env);
        let followed = self.rewind.follow(is_other, cx);
        if followed == Followed::OtherRows {
            self.table.begin_other_rows(cx);
        }
        if followed != Followed::Same {
            cx.watching.moment.iter().for_each(|moment| self.timeline.show(moment.at, cx.now));
            self.rewind.present(cx);
            self.status.hurry();
            self.table.hurry(cx);
        }
        followed == Followed::OtherRows
    }

    /// Leaves the innermost layer that is open.
    fn leave_innermost(&mut self, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        let there = [
            (Layer::Palette, self.dialogs.has_palette()),
            (Layer::Help, self.dialogs.has_help()),
            (Layer::Menu, env.has_menu() || self.feed.offers_noise()),
            (Layer::Inside, cx.navigation.route.inside.is_some()),
            (Layer::Timeline, *cx.view.timeline.fills),
            (Layer::Cell, self.table.rows.cursor.cell().is_some()),
            (Layer::Comparison, self.inspector.compares(cx)),
            (Layer::Object, cx.navigation.selected.is_some()),
            (Layer::Why, cx.navigation.route.why.is_some()),
            (Layer::Filter, !cx.navigation.route.text.is_empty()),
            (Layer::Span, cx.navigation.route.span.is_some()),
            (Layer::Moment, cx.navigation.route.at.is_some()),
        ];
        let there: Vec<Layer> = there.into_iter().filter(|(_, is_there)| *is_there).map(|(layer, _)| layer).collect();
        match innermost(&there) {
            Some(Layer::Palette) => self.dialogs.close_palette(cx),
            Some(Layer::Help) => self.dialogs.show_help(false, cx),
            Some(Layer::Menu) if self.feed.offers_noise() => self.feed.handle(FeedCommand::NoOffer, cx),
            Some(Layer::Menu) => cx.focus(Focused::ClosedMenu),
            Some(Layer::Inside) => self.inside.handle(InsideCommand::Toggle, cx),
            Some(Layer::Timeline) => cx.view.timeline.fills.put(false),
            Some(Layer::Cell) => drop(self.table.rows.cursor.leave_cell()),
            Some(Layer::Comparison) => {
                self.inspector.handle(InspectorCommand::Compare(Compare::End), cx);
            }
            Some(Layer::Object) => cx.select(None),
            Some(Layer::Why) => self.why.leave(cx),
            Some(Layer::Filter) => self.filter_by(String::new(), env),
            Some(Layer::Span) => span::handle(SpanCommand::Clear, None, cx),
            Some(Layer::Moment) => self.rewind_to(None, env),
            None => {}
        }
    }

    /// Goes to the present place again, because the set of kinds has changed.
    fn go_on(&mut self, env: &dyn Environment) {
        self.go(self.shared.navigation.route.clone(), env);
    }

    /// Filters by a text while the user types it. The browser's history gets no entry for single letters.
    fn filter_by(&mut self, text: String, env: &dyn Environment) {
        let route = Route { text, ..self.shared.navigation.route.clone() };
        self.shared.effects.push(Effect::Replace(route.fragment()));
        self.go(route, env);
    }

    /// Goes to a place: starts the watches that it needs, and ends the others.
    fn go(&mut self, route: Route, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        let route = route.resolved(&cx.navigation.catalog);
        cx.navigation.selected = route.selection(&cx.navigation.catalog);
        self.why.follow(&cx.navigation.route, &route);
        let (moved, is_other_moment) = (cx.navigation.route.moved_to(&route), cx.navigation.route.at != route.at);
        if moved.keeps_table() && !cx.watching.watches.is_empty() {
            // The table stays as it is, because the user may be acting on it.
            cx.navigation.route = route;
            cx.view.header.route.put(cx.navigation.route.clone());
            if self.follow_moment(is_other_moment, env) {
                self.table.arrange((true, true), &mut self.shared.context(env));
            }
            let cx = &mut self.shared.context(env);
            self.inside.follow(cx);
            self.feed.choose_span(cx);
            self.table.put_cursor_on_selected(cx);
            return cx.hurry();
        }
        if moved.scope {
            // A paused table would never be drained, and would look as if its list were still loading.
            self.pause(false, env);
            self.table.begin_other_rows(&mut self.shared.context(env));
        }
        let cx = &mut self.shared.context(env);
        cx.navigation.route = route;
        if moved.watched && cx.navigation.found {
            Discovery::ask_for_definitions(cx);
            self.table.watch(&mut self.shared.context(env));
        }
        // The lanes follow the rows, also while the feed is shown in their place.
        let is_other = self.follow_moment(is_other_moment, env) || moved.watched;
        self.table.arrange((moved.order || is_other, moved.filter || is_other), &mut self.shared.context(env));
        let cx = &mut self.shared.context(env);
        if cx.navigation.route.changes && (moved.filter || moved.watched) {
            self.feed.filter(cx);
        }
        self.inside.follow(cx);
        self.feed.choose_span(cx);
        // The canvas shows the timeline of the place before.
        *cx.repaints = true;
        self.status.hurry();
        cx.hurry();
        self.present_place(env);
    }

    /// Has the tables made anew from the objects that the stores hold.
    fn make_tables_anew(&mut self, env: &dyn Environment) {
        self.table.begin_other_rows(&mut self.shared.context(env));
        self.go_on(env);
    }

    /// Shows what does not wait for a drain.
    fn present_place(&mut self, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        status::present_place(cx);
        self.table.columns.present(cx);
        self.sidebar.present(&self.feed, &self.status.rates, cx);
        status::present_title(cx);
    }

    /// Shows what the last drain changed, and from time to time what changes with time.
    fn present(&mut self, env: &dyn Environment) {
        if self.rewind.play(&mut self.shared.context(env)) {
            self.rewind_to(None, env);
        }
        let cx = &mut self.shared.context(env);
        self.inside.work(cx);
        let draws = self.table.work(cx);
        if !cx.navigation.route.changes && draws && self.table.present(cx) {
            self.status.count_frame();
        }
        if self.table.goes_first(draws, cx) {
            return;
        }
        self.feed.choose_span(cx);
        self.feed.present(cx);
        self.why.present(cx);
        self.timeline.filter(&self.feed, cx);
        self.timeline.paint(cx);
        self.inspector.present(cx);
        self.logs.present(&self.inspector, &self.why, cx);
        self.saving.work(cx);
        let is_due = self.status.take_due(cx);
        self.dialogs.go_on(is_due, cx);
        if !is_due {
            return;
        }
        self.status.present(self.connection.progress(cx), self.verification.memory.budget(), cx);
        self.sidebar.present(&self.feed, &self.status.rates, cx);
        self.rewind.present(cx);
        self.inside.count(cx);
        status::present_title(cx);
        self.clocks.look(cx);
        self.table.present_retention(cx);
        self.dialogs.present(cx);
        self.status.present_lists(&self.verification, &mut self.shared.context(env));
    }
}
