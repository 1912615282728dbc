//! The page itself, without a browser: inputs go in (a command, an answer, a frame of the screen, what a reflector was
//! told), effects and a view come out. Whoever runs it carries the effects out and draws the view; it decides nothing.
//!
//! Everything happens on one thread, by one borrow at a time. The parts of the state are plain structs; what concerns
//! several of them is a method of [`Page`], in the file that is named after its subject.

mod answers;
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
mod report;
mod requests;
mod rows;
mod sidebar;
mod status;
mod timeline;
mod watching;

use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_client::cache::reflector::Input;

use crate::page::audit::AuditLog;
use crate::page::catalog::Catalog;
use crate::page::definitions::Definitions;
use crate::page::drain::Drain;
use crate::page::effect::{Effect, Effects, Pace, Told};
use crate::page::environment::Environment;
use crate::page::history::{self, History};
use crate::page::memory::Memory;
use crate::page::resync::Resyncs;
use crate::page::route::{Chosen, Route};
use crate::page::sidebar::Groups;
use crate::page::state::checks::Checks;
use crate::page::state::columns::Columns;
use crate::page::state::connection::Search;
use crate::page::state::discovery::Discovery;
use crate::page::state::inspector::Inspector;
use crate::page::state::notices::NoticeBoard;
use crate::page::state::palette::Dialogs;
use crate::page::state::requests::Requests;
use crate::page::state::rows::RowWindow;
use crate::page::state::status::Rates;
use crate::page::state::timeline::TimelineState;
use crate::page::view::Theme;
use crate::page::view::panels::View;
use crate::page::watches::Watches;
use crate::table::kinds::Kind;
use crate::table::schema::TableSchema;
use crate::table::view::Retention;
use crate::timeline::scene::Scene;

/// A tick that comes this late means that the machine slept, in milliseconds.
const SLEPT: f64 = 10_000.0;
/// The same in a hidden page, whose timers may come a minute late by the browser's will, also when it is shown again; of
/// a clock that stood still meanwhile that cannot be said.
const SLEPT_HIDDEN: f64 = 90_000.0;

/// How often [`Page::tick`] is to be called, in milliseconds: whether or not anything happens.
pub const TICK: u32 = 250;

/// The page.
#[derive(Debug)]
pub struct Page {
    place: Place,
    requests: Requests,
    watching: Watching,
    columns: Columns,
    rows: RowWindow,
    timeline: TimelineState,
    inspector: Inspector,
    dialogs: Dialogs,
    notices: NoticeBoard,
    checks: Checks,
    rates: Rates,
    out: Out,
}

/// Where the user is, and what there is to go to.
#[derive(Debug)]
struct Place {
    route: Route,
    /// What the route selects.
    selected: Option<Chosen>,
    /// What kinds there are.
    catalog: Catalog,
    /// Which of them wait for their columns.
    definitions: Definitions,
    /// Which of the sidebar's groups are open.
    groups: Groups,
    /// Whether the API was found.
    found: bool,
    /// The search for it.
    search: Search,
    /// What the server has said that it has.
    discovery: Discovery,
}

/// What is watched, and what becomes of what comes.
#[derive(Debug)]
struct Watching {
    informers: SharedInformerFactory,
    watches: Watches,
    /// The texts of what was received, while there is room for them.
    history: History,
    /// Whether the queues are not drained.
    paused: bool,
    /// How many keys a frame may take from each queue.
    drain: Drain,
    /// How many frames were received since the queues were drained last.
    undrained: usize,
    /// Whether every table has heard of all that its stores hold.
    whole: bool,
    /// How long deleted rows stay.
    retention: Retention,
    /// How often what is known is told again.
    resyncs: Resyncs,
    /// When the last tick was, and whether the page was hidden then.
    ticked: (f64, bool),
}

/// What comes out.
#[derive(Debug, Default)]
struct Out {
    effects: Effects,
    view: View,
}

impl Page {
    /// A page at the place that the address names, with what was kept of the last visit. It looks for the API first.
    pub fn begin(env: &dyn Environment) -> Page {
        let route = Route::parse(&fragment(&env.url()));
        let drain = Drain::parse(env.parameter("drain").as_deref());
        let mut page = Page {
            place: Place {
                route,
                selected: None,
                catalog: Catalog::default(),
                definitions: Definitions::default(),
                groups: sidebar::stored(env),
                found: false,
                search: Search::default(),
                discovery: Discovery::default(),
            },
            requests: Requests::default(),
            watching: Watching {
                informers: SharedInformerFactory::default(),
                watches: Watches::default(),
                history: History::new(history::BUDGET, env.secret_number()),
                paused: false,
                drain,
                undrained: 0,
                whole: false,
                retention: watching::stored_retention(env),
                resyncs: watching::stored_resyncs(env),
                ticked: (env.now(), env.is_hidden()),
            },
            columns: Columns::default(),
            rows: RowWindow::default(),
            timeline: TimelineState::default(),
            inspector: Inspector::stored(env),
            dialogs: Dialogs::stored(env),
            notices: NoticeBoard::default(),
            checks: Checks::new(
                AuditLog::parse(env.parameter("audit").as_deref()),
                Memory::parse(env.parameter("memory").as_deref()),
            ),
            rates: Rates::default(),
            out: Out::default(),
        };
        page.present_at_first(env);
        page.look_for_api(false, env);
        page
    }

    /// What is seen before anything has come.
    fn present_at_first(&mut self, env: &dyn Environment) {
        let is_light = env.stored(commands::THEME).as_deref() == Some(Theme::Light.name());
        let theme = if is_light { Theme::Light } else { Theme::Dark };
        self.out.effects.push(Effect::Theme(theme));
        self.out.view.header.theme.put(theme);
        self.out.view.footer.drain.put(self.watching.drain.words());
        self.out.view.dialogs.letters.put(self.dialogs.letters);
        self.present_retention();
        self.present_resync();
        self.fit_inspector(env);
        self.lay_out(env);
        self.present_shell(env);
    }

    /// What is to be done since this was last called.
    pub fn take_effects(&mut self) -> Effects {
        std::mem::take(&mut self.out.effects)
    }

    /// What is shown.
    pub fn view(&self) -> &View {
        &self.out.view
    }

    /// What is shown, to be drawn where it has changed.
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
        self.watching.undrained = 0;
        let left = self.drain(hidden, env);
        let now = env.now();
        self.take(env);
        self.verify(env);
        self.check_sums(now);
        if !hidden {
            self.present(now, env);
        }
        if left {
            self.hurry();
        }
        self.beat();
    }

    /// Ages tick, silence is noticed, and a machine that slept wakes up: to be called every [`TICK`] milliseconds.
    pub fn tick(&mut self, env: &dyn Environment) {
        self.beat();
        let (now, hidden, jump) = (env.now(), env.is_hidden(), env.take_jump());
        let (ticked, was_hidden) = std::mem::replace(&mut self.watching.ticked, (now, hidden));
        let limit = if hidden || was_hidden { SLEPT_HIDDEN } else { SLEPT };
        if jump > SLEPT || now - ticked > limit {
            self.tell_all(&Input::Woke);
            self.requests.heartbeat.hurry(now);
        }
        self.keep_to_memory(env);
        self.request_frame();
        self.count_lists(now);
        self.watching.watches.look(&self.watching.informers, now);
        self.audit_look(now);
        self.ask_heartbeat(env);
        self.ask_again(env);
    }

    /// The network came back, or the browser had the page stand still.
    pub fn woke(&mut self, env: &dyn Environment) {
        self.tell_all(&Input::Woke);
        self.hurry_heartbeat(env);
    }

    /// The page is shown again, or hidden: what is known is asked for at once.
    pub fn visibility_changed(&mut self, env: &dyn Environment) {
        self.hurry_heartbeat(env);
    }

    fn hurry_heartbeat(&mut self, env: &dyn Environment) {
        self.requests.heartbeat.hurry(env.now());
        self.tick(env);
    }

    /// The user did something, and waits for what comes of it.
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
        TableSchema::of(&kinds.collect::<Vec<_>>())
    }
}

/// What an address says after its `#`, which is included.
fn fragment(url: &str) -> String {
    url.find('#').map_or_else(String::new, |at| url[at..].to_owned())
}
