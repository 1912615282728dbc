//! The page itself, without a browser. Inputs go in: commands, answers to requests, frames of the screen, inputs for
//! reflectors. Effects and a view come out. The caller carries out the effects and draws the view, and decides nothing.
//!
//! Everything happens on one thread, and one borrow at a time. The parts of the state are plain structs. What concerns
//! several parts is a method of [`Page`], in the file that is named after its subject.

mod alerts;
mod answers;
mod changes;
mod checks;
mod columns;
mod commands;
mod connection;
mod copies;
mod cursor;
mod discovery;
mod going;
mod inspector;
mod memory;
mod notices;
mod palette;
mod panels;
mod report;
mod requests;
mod rows;
mod sidebar;
mod span;
mod status;
mod timeline;
mod timeline_drag;
mod watching;

use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::reflector::{Health, Input, Options};

use crate::page::alerts::Alerts;
use crate::page::audit::AuditLog;
use crate::page::catalog::Catalog;
use crate::page::clusters::{self, Api, ClusterPage};
use crate::page::definitions::Definitions;
use crate::page::drain::Drain;
use crate::page::effect::{Effect, Effects, Pace, Told};
use crate::page::environment::Environment;
use crate::page::history::History;
use crate::page::memory::Memory;
use crate::page::panel::ChosenSizes;
use crate::page::resync::Resyncs;
use crate::page::route::{Chosen, Route};
use crate::page::sidebar::Groups;
use crate::page::state::changes::ChangesState;
use crate::page::state::checks::Checks;
use crate::page::state::columns::Columns;
use crate::page::state::connection::Search;
use crate::page::state::discovery::Discovery;
use crate::page::state::inspector::Inspector;
use crate::page::state::notices::NoticeState;
use crate::page::state::palette::Dialogs;
use crate::page::state::requests::Requests;
use crate::page::state::rows::{OLD_AGES, RowWindow};
use crate::page::state::status::Rates;
use crate::page::state::timeline::TimelineState;
use crate::page::view::Theme;
use crate::page::view::panels::View;
use crate::page::watches::Watches;
use crate::table::schema::TableSchema;
use crate::table::view::Retention;
use crate::timeline::scene::Scene;
use kubechurn_columns::kinds::Kind;

/// A tick that comes this late means that the machine slept, in milliseconds.
const SLEPT: f64 = 10_000.0;
/// How late a tick must come in a hidden page, in milliseconds, to mean that the machine slept. A browser may delay the
/// timers of a hidden page by a minute, and the first tick after the page is shown again is late for the same reason: a
/// shorter delay proves no sleep. A jump of the clock does, in a hidden page too.
const SLEPT_HIDDEN: f64 = 90_000.0;

/// The least time between two deadlines of [`Page::deadline`], in milliseconds, and the time between them while a list
/// is on its way.
const TICK: f64 = 250.0;
/// The time between two ticks while something on the page changes each second, in milliseconds: young ages, say.
const SECOND: f64 = 1_000.0;
/// The time between two ticks of a page on which nothing happens, in milliseconds; that of the ages that are not young.
const QUIET: f64 = OLD_AGES;
/// How long a page counts as one on which something happens, after something was received or the user has done something,
/// in milliseconds: rates fall to zero, and sentences for screen readers wait, for two seconds.
const AFTER_NEWS: f64 = 5_000.0;
/// The time between two ticks of a hidden page, in milliseconds.
const HIDDEN: f64 = 30_000.0;

/// The page.
#[derive(Debug)]
pub struct Page {
    place: Place,
    requests: Requests,
    watching: Watching,
    columns: Columns,
    rows: RowWindow,
    changes: ChangesState,
    alerts: Alerts,
    timeline: TimelineState,
    inspector: Inspector,
    /// The sizes that the user chose for panels.
    sizes: ChosenSizes,
    dialogs: Dialogs,
    notices: NoticeState,
    checks: Checks,
    rates: Rates,
    out: Out,
}

/// Where the user is, and which places the user can go to.
#[derive(Debug)]
struct Place {
    route: Route,
    /// What the route selects.
    selected: Option<Chosen>,
    /// The kinds that the server has.
    catalog: Catalog,
    /// Which kinds wait for the columns of their definition.
    definitions: Definitions,
    /// Which of the sidebar's groups are open.
    groups: Groups,
    /// Whether the API was found.
    found: bool,
    /// The search for the API.
    search: Search,
    /// The clusters to choose from.
    clusters: Vec<ClusterPage>,
    /// What the cluster is called that the page looks for first.
    home: &'static str,
    /// What the server has told of its resources.
    discovery: Discovery,
}

/// What is watched, and where received changes go.
#[derive(Debug)]
struct Watching {
    informers: SharedInformerFactory,
    watches: Watches,
    /// The texts of received objects, while there is room for the texts.
    history: History,
    /// Whether the queues are not drained.
    paused: bool,
    /// How many keys a frame may take from each queue.
    drain: Drain,
    /// How many frames were received since the queues were drained last.
    undrained: usize,
    /// Whether every table has received everything that its stores hold.
    whole: bool,
    /// How long deleted rows stay.
    retention: Retention,
    /// How often resyncs repeat what is known.
    resyncs: Resyncs,
    /// When something was last received, or the user did something.
    news: f64,
    /// When the last tick was, and whether the page was hidden then.
    ticked: (f64, bool),
}

/// The outputs: effects and view.
#[derive(Debug, Default)]
struct Out {
    effects: Effects,
    view: View,
}

impl Page {
    /// A page at the place that the address names, with what was stored on the last visit. The page looks for the API
    /// first.
    pub fn begin(env: &dyn Environment) -> Page {
        let route = Route::parse(&fragment(&env.url()));
        let own = env.address("").unwrap_or_default();
        let named = env.named("clusters").unwrap_or_default();
        let clusters = clusters::read(&named, &own, |text| env.address(text));
        let home = clusters::home(&clusters, env.named("cluster"));
        let options = lists(env.parameter("list").as_deref());
        let mut informers = SharedInformerFactory::new(options);
        let apis: Vec<Api> = clusters.iter().filter_map(|cluster| cluster.api).collect();
        apis.iter()
            .for_each(|api| informers.set_options_of(api.cluster, Options { readable: api.readable, ..options }));
        let drain = Drain::parse(env.parameter("drain").as_deref());
        let mut page = Page {
            place: Place {
                route,
                selected: None,
                catalog: Catalog::default().with_clusters(apis.iter().map(|api| api.cluster).collect()),
                definitions: Definitions::default(),
                groups: sidebar::stored(env),
                found: false,
                search: Search::default(),
                clusters,
                home,
                discovery: Discovery::default(),
            },
            requests: Requests::default(),
            watching: Watching {
                informers,
                watches: Watches::at_home(home),
                history: History::new(watching::stored_budget(env).bytes(), env.secret_number()),
                paused: false,
                drain,
                undrained: 0,
                whole: false,
                retention: watching::stored_retention(env),
                resyncs: watching::stored_resyncs(env),
                news: env.now(),
                ticked: (env.now(), env.is_hidden()),
            },
            columns: Columns::default(),
            rows: RowWindow::default(),
            changes: ChangesState::new(env.now()),
            alerts: Alerts::default(),
            timeline: TimelineState::default(),
            inspector: Inspector::default(),
            sizes: ChosenSizes::stored(|name| env.stored(name)),
            dialogs: Dialogs::stored(env),
            notices: NoticeState::default(),
            checks: Checks::new(
                AuditLog::parse(env.parameter("audit").as_deref()),
                Memory::parse(env.parameter("memory").as_deref()),
            ),
            rates: Rates::default(),
            out: Out::default(),
        };
        apis.into_iter().for_each(|api| page.out.effects.push(Effect::Cluster(api)));
        page.read_noise(env);
        page.present_at_first(env);
        page.look_for_api(false, env);
        page
    }

    /// Shows what the user sees before anything was received.
    fn present_at_first(&mut self, env: &dyn Environment) {
        let is_light = env.stored(commands::THEME).as_deref() == Some(Theme::Light.name());
        let theme = if is_light { Theme::Light } else { Theme::Dark };
        self.out.effects.push(Effect::Theme(theme));
        self.out.view.header.theme.put(theme);
        self.out.view.header.clusters.put(self.place.clusters.clone());
        self.out.view.footer.drain.put(self.watching.drain.words());
        self.out.view.dialogs.letters.put(self.dialogs.letters);
        self.present_retention();
        self.present_resync();
        self.out.view.table.recorder.put(watching::stored_budget(env));
        self.fit_panels(env);
        self.lay_out(env);
        self.present_shell(env);
    }

    /// The effects since the last call.
    pub fn take_effects(&mut self) -> Effects {
        std::mem::take(&mut self.out.effects)
    }

    /// What is shown.
    pub fn view(&self) -> &View {
        &self.out.view
    }

    /// What is shown, from which the caller draws the values that have changed.
    pub fn view_mut(&mut self) -> &mut View {
        &mut self.out.view
    }

    /// What the timeline shows; `None` where nothing in view is watched.
    pub fn scene(&self) -> Option<&Scene> {
        Some(self.watching.watches.timeline()?.last_scene())
    }

    /// One animation frame, or one turn of a hidden page's timer: what the queues hold reaches the view.
    pub fn frame(&mut self, env: &dyn Environment) {
        let hidden = env.is_hidden();
        let is_news = std::mem::take(&mut self.watching.undrained) > 0;
        let left = self.drain(hidden, env);
        let now = env.now();
        self.take(env);
        self.verify(env);
        let untold = self.tell_changes(env);
        if !hidden && self.read_span(env) {
            self.hurry();
        }
        self.check_sums(now);
        self.look_at_watches(env);
        if !hidden {
            self.present(now, env);
            // What this frame left out, because it was shown a moment ago, is shown by one more frame.
            self.rates.is_late |= is_news;
        }
        if is_news {
            self.watching.news = now;
        }
        if left {
            self.hurry();
        } else if untold {
            self.request_frame();
        }
        self.beat(env);
    }

    /// When [`Page::tick`] must be called next, in milliseconds. It may be called earlier.
    pub fn deadline(&self, env: &dyn Environment) -> f64 {
        let ((ticked, _), hidden) = (self.watching.ticked, env.is_hidden());
        let informers = &self.watching.informers;
        let lists = || informers.iter().any(|(_, informer)| informer.health(ticked) == Health::Listing);
        let turn = match () {
            () if hidden => ticked + HIDDEN,
            () if lists() => ticked + TICK,
            // At a whole second, so that no second is shown twice or left out.
            () if self.changes_each_second(ticked) => (ticked / SECOND).floor() * SECOND + SECOND,
            () => (ticked / QUIET).floor() * QUIET + QUIET,
        };
        let heartbeat = self.requests.heartbeat.deadline(informers, hidden);
        let shown = if hidden { None } else { self.presents_again(env.now()) };
        let others = [heartbeat, self.asks_again(), shown, self.alerts.deadline()];
        others.into_iter().flatten().fold(turn, f64::min).max(ticked + TICK)
    }

    /// Renews ages, notices silent watches, and wakes the reflectors after the machine has slept. Must be called at
    /// [`Page::deadline`] at the latest.
    pub fn tick(&mut self, env: &dyn Environment) {
        let (now, hidden, jump) = (env.now(), env.is_hidden(), env.take_jump());
        let (ticked, was_hidden) = std::mem::replace(&mut self.watching.ticked, (now, hidden));
        let limit = if hidden || was_hidden { SLEPT_HIDDEN } else { SLEPT };
        if jump > SLEPT || now - ticked > limit {
            self.tell_all(&Input::Woke);
            self.requests.heartbeat.hurry(now);
        }
        // A hidden page shows nothing, and drains when something was received.
        if !hidden || self.checks.verifier.is_under_way() {
            self.request_frame();
        }
        self.look_at_watches(env);
        self.notify(env);
        self.ask_heartbeat(env);
        self.ask_again(env);
        self.beat(env);
    }

    /// Looks whether a watch takes too much memory, a list takes long, or a gap begins or ends.
    fn look_at_watches(&mut self, env: &dyn Environment) {
        let now = env.now();
        self.keep_to_memory(env);
        self.count_lists(now);
        self.watching.watches.look(&self.watching.informers, now);
        self.audit_look(now);
    }

    /// The network is back, or the browser has thawed the frozen page.
    pub fn woke(&mut self, env: &dyn Environment) {
        self.tell_all(&Input::Woke);
        self.hurry_heartbeat(env);
    }

    /// The page is shown again, or hidden. Shown or hidden, the page asks at once whether its watches are alive.
    pub fn visibility_changed(&mut self, env: &dyn Environment) {
        self.saw_alerts(env);
        self.hurry_heartbeat(env);
    }

    fn hurry_heartbeat(&mut self, env: &dyn Environment) {
        self.requests.heartbeat.hurry(env.now());
        self.tick(env);
    }

    /// The user did something and waits for the result: asks for a frame at once.
    fn hurry(&mut self) {
        self.out.effects.frame(Pace::Hurried);
    }

    fn request_frame(&mut self) {
        self.out.effects.frame(Pace::Paced);
    }

    /// Hands the input to every reflector.
    fn tell_all(&mut self, input: &Input<'static>) {
        for (id, _) in self.watching.informers.iter() {
            self.out.effects.push(Effect::Tell(id, Told::Input(input.clone())));
        }
    }

    /// The kinds in view that the server has.
    fn kinds(&self) -> Vec<&'static Kind> {
        self.place.route.kinds(&self.place.catalog)
    }

    /// The kinds in view whose columns are known: what the table is like.
    fn schema(&self) -> TableSchema {
        let kinds = self.kinds().into_iter().filter(|kind| !self.place.definitions.awaits(kind));
        TableSchema::of(&kinds.collect::<Vec<_>>()).at_home(self.place.home)
    }
}

/// The fragment of an address, its `#` included.
fn fragment(url: &str) -> String {
    url.find('#').map_or_else(String::new, |at| url[at..].to_owned())
}

/// How lists are asked for, by the parameter `list` of the address: `stream` is for streaming lists. A browser reads a
/// fetched list in a third of the time, because a socket brings each object in a message of its own.
fn lists(parameter: Option<&str>) -> Options {
    Options { watch_list: parameter == Some("stream"), ..Options::default() }
}
