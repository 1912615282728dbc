//! Runs the page without a browser, as `src/app.rs` does in one: hands it commands, answers, ticks and frames, and carries
//! out its effects. What is to be done is decided by the page, never here.

pub mod place;
pub mod server;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::sleep;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{Effect, Effects, Pace, ReflectorInput, RequestId};
use kubechurn_model::page::environment::{DrawnRow, Environment, fragment as fragment_of};
use kubechurn_model::page::{LogInput, Page};
use kubechurn_model::view::RowModel;

use self::place::Place;
use self::server::{ListerWatcher, Server};

/// The least time between two frames that only show what the server sent, in milliseconds; as in a browser.
const PACE: f64 = 117.0;
/// How high the table is, in pixels.
const HEIGHT: f64 = 1_000.0;

/// A page, and what is under way for it. Dropping it ends all of that.
pub struct Shell {
    pub page: RefCell<Page>,
    pub place: Rc<Place>,
    server: Server,
    drivers: RefCell<BTreeMap<InformerId, Driver>>,
    requests: RefCell<BTreeMap<RequestId, AbortHandle>>,
    /// Logs that are read. No answer is awaited of them: a log may go on for ever.
    logs: RefCell<BTreeMap<RequestId, AbortHandle>>,
    /// When the next frame is due, and when the last one was.
    frame: Cell<(Option<f64>, f64)>,
    /// The rows that are drawn, by the numbers of their elements.
    elements: RefCell<BTreeMap<u64, Arc<RowModel>>>,
    /// Something may be due sooner than before.
    sooner: Rc<Notify>,
    /// Looks at the page after everything that it does.
    pub witness: RefCell<Option<Box<Witness>>>,
    this: Weak<Shell>,
}

/// Looks at a page and the place where it is.
pub type Witness = dyn FnMut(&Page, &Place);

/// What keeps one reflector going.
struct Driver {
    lister_watcher: ListerWatcher,
    /// Counts the actions, so that what an earlier action still reports is ignored.
    generation: u64,
    under_way: Option<AbortHandle>,
    deadline: Option<f64>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.under_way.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.requests.borrow().values().for_each(AbortHandle::abort);
        self.logs.borrow().values().for_each(AbortHandle::abort);
    }
}

impl Shell {
    /// Loads the page.
    pub fn begin(place: Rc<Place>, server: Server) -> Rc<Shell> {
        let shell = Rc::new_cyclic(|this| Shell {
            page: RefCell::new(Page::begin(&*place)),
            place,
            server,
            drivers: RefCell::default(),
            requests: RefCell::default(),
            logs: RefCell::default(),
            frame: Cell::new((None, 0.0)),
            elements: RefCell::default(),
            sooner: Rc::default(),
            witness: RefCell::default(),
            this: Weak::clone(this),
        });
        shell.settle();
        shell.command(Command::Scroll { top: 0.0, height: HEIGHT });
        spawn_local(turn(Weak::clone(&shell.this)));
        shell
    }

    /// Does what the user asks for.
    pub fn command(&self, command: Command) {
        self.with(|page, env| page.command(command, env));
    }

    /// Has the page do something, and then does what it wants done.
    pub fn with<T>(&self, act: impl FnOnce(&mut Page, &dyn Environment) -> T) -> T {
        let result = act(&mut self.page.borrow_mut(), &*self.place);
        self.settle();
        result
    }

    /// Keeps what is drawn, and carries out what is to be done.
    fn settle(&self) {
        let mut page = self.page.borrow_mut();
        self.draw(&mut page);
        self.witness.borrow_mut().iter_mut().for_each(|look| look(&page, &self.place));
        let effects = page.take_effects();
        drop(page);
        self.perform_all(effects);
    }

    fn draw(&self, page: &mut Page) {
        let mut elements = self.elements.borrow_mut();
        let rows = &mut page.view_mut().rows;
        elements.extend(rows.drawn.drain(..));
        let window = &rows.window.places;
        elements.retain(|element, _| window.contains(element));
        let drawn = window.iter().filter_map(|element| elements.get(element));
        let drawn = drawn.map(|row| {
            let cells = row.cells.iter().map(|cell| cell.text.clone()).collect();
            let (key, state) = (row.key.to_string(), row.state.to_owned());
            (row.id, DrawnRow { key, uid: row.uid.clone(), state, cells })
        });
        *self.place.drawn.borrow_mut() = drawn.collect();
    }

    fn perform_all(&self, effects: Effects) {
        let (now, (due, last)) = (self.place.now(), self.frame.get());
        let wanted = effects.frame.map(|pace| match pace {
            Pace::Paced => now.max(last + PACE),
            Pace::Hurried => now,
        });
        self.frame.set((due.into_iter().chain(wanted).reduce(f64::min), last));
        effects.list.into_iter().for_each(|effect| self.perform(effect));
        self.sooner.notify_one();
    }

    fn perform(&self, effect: Effect) {
        match effect {
            Effect::Start(id, resource, scope) => {
                let lister_watcher = ListerWatcher { server: self.server.clone(), resource, scope };
                let driver = Driver { lister_watcher, generation: 0, under_way: None, deadline: None };
                self.drivers.borrow_mut().insert(id, driver);
                self.input(id, Input::Start);
            }
            Effect::Stop(id) => drop(self.drivers.borrow_mut().remove(&id)),
            Effect::Reflect(id, ReflectorInput::Input(input)) => self.input(id, input),
            Effect::Reflect(id, ReflectorInput::Relist(reason)) => self.input(id, Input::Relist(&reason)),
            Effect::Reflect(id, ReflectorInput::GiveUp(reason)) => self.input(id, Input::GiveUp(&reason)),
            Effect::Request(id, request) => match request.at(None) {
                ControlFlow::Break(answer) => self.with(|page, env| page.answer(id, answer, env)),
                ControlFlow::Continue(request) => {
                    let (this, server) = (self.this.clone(), self.server.clone());
                    let work = spawn_local(async move {
                        let answer = server.answer(request).await;
                        if let Some(shell) = this.upgrade() {
                            shell.requests.borrow_mut().remove(&id);
                            shell.with(|page, env| page.answer(id, answer, env));
                        }
                    });
                    self.requests.borrow_mut().insert(id, work.abort_handle());
                }
            },
            Effect::Follow(id, _, url) => {
                let (this, server) = (self.this.clone(), self.server.clone());
                let work = spawn_local(async move {
                    let came = |input: &LogInput<'_>| {
                        this.upgrade().iter().for_each(|shell| shell.with(|page, env| page.logged(id, input, env)));
                    };
                    let ended = server.log(&url, |bytes| came(&bytes.map_or(LogInput::Opened, LogInput::Bytes))).await;
                    came(&ended.map_or_else(LogInput::Failed, |()| LogInput::Ended));
                });
                self.logs.borrow_mut().insert(id, work.abort_handle());
            }
            Effect::Abort(id) if self.logs.borrow().contains_key(&id) => {
                self.logs.borrow_mut().remove(&id).iter().for_each(AbortHandle::abort);
            }
            Effect::Abort(id) => self.requests.borrow_mut().remove(&id).iter().for_each(AbortHandle::abort),
            Effect::Push(fragment) => {
                // The browser reports a new fragment after the page's own work, and what it is then.
                self.place.go(&fragment);
                let this = self.this.clone();
                spawn_local(async move {
                    let Some(shell) = this.upgrade() else { return };
                    shell.command(Command::Arrive(fragment_of(&shell.place.url())));
                });
            }
            Effect::Replace(fragment) => self.place.go(&fragment),
            Effect::Store(name, value) => self.place.store(name, value),
            Effect::StoreInTab(name, value) => self.place.store(format!("tab {name}"), Some(value)),
            Effect::Load(url) => panic!("the page leaves for {url}"),
            Effect::Cluster(api) => panic!("there is no other cluster at {}", api.http),
            // What only a browser has: a policy, a theme, a console, notifications, focus, a scrolled element, a watchdog.
            Effect::Restrict(_)
            | Effect::Theme(_)
            | Effect::Rewound(_)
            | Effect::ChooseRecording
            | Effect::CloseRecording
            | Effect::Warn(_)
            | Effect::Alert(_)
            | Effect::Focus(_)
            | Effect::ScrollTable(_)
            | Effect::ScrollFeed(_)
            | Effect::OpenRecording(_)
            | Effect::OpenKept(..)
            | Effect::Beat { .. } => {}
        }
    }

    /// Hands an input to a reflector, and does what it asks for.
    fn input(&self, id: InformerId, input: Input<'_>) {
        if !self.drivers.borrow().contains_key(&id) {
            return;
        }
        let mut page = self.page.borrow_mut();
        let (action, deadline) = page.reflect(id, input, &*self.place);
        let effects = page.take_effects();
        drop(page);
        if let Some(driver) = self.drivers.borrow_mut().get_mut(&id) {
            driver.deadline = deadline;
            if let Some(action) = action {
                self.act(id, driver, action);
            }
        }
        self.perform_all(effects);
    }

    fn act(&self, id: InformerId, driver: &mut Driver, action: Action) {
        driver.generation += 1;
        driver.under_way.take().iter().for_each(AbortHandle::abort);
        let (this, generation, lister_watcher) = (self.this.clone(), driver.generation, driver.lister_watcher.clone());
        let report = move |input: Input<'_>| {
            let Some(shell) = this.upgrade() else { return };
            let current = shell.drivers.borrow().get(&id).map(|driver| driver.generation);
            if current == Some(generation) {
                shell.input(id, input);
            }
        };
        let work = spawn_local(async move {
            match action {
                Action::List(request) => lister_watcher.list(&request, report).await,
                Action::Watch(request) => lister_watcher.watch(&request, report).await,
                Action::WatchOverHttp(request) => lister_watcher.watch_over_http(&request, report).await,
                Action::Probe(request) => lister_watcher.probe(&request, report).await,
                Action::Wait => {}
            }
        });
        driver.under_way = Some(work.abort_handle());
    }

    /// Moves the page's clock on by at most so many milliseconds, to when something is due, and does that. Not while an answer
    /// is awaited: for how long one is, the machine's clock says.
    pub fn skip(&self, milliseconds: f64) {
        if self.requests.borrow().is_empty() {
            self.place.skip(self.rest().min(milliseconds));
            self.catch_up();
        }
    }

    /// Does everything that is due.
    pub fn catch_up(&self) {
        let now = self.place.now();
        let is_due = |deadline: Option<f64>| deadline.is_some_and(|deadline| deadline <= now);
        let due: Vec<InformerId> = {
            let mut drivers = self.drivers.borrow_mut();
            let due = drivers.iter_mut().filter(|(_, driver)| is_due(driver.deadline));
            due.map(|(id, driver)| (driver.deadline = None, *id).1).collect()
        };
        due.into_iter().for_each(|id| self.input(id, Input::Timer));
        let deadline = self.page.borrow().deadline(&*self.place);
        if deadline <= now {
            self.with(Page::tick);
        }
        if is_due(self.frame.get().0) {
            self.frame.set((None, now));
            self.with(Page::frame);
        }
    }

    /// How long nothing is due, in milliseconds.
    fn rest(&self) -> f64 {
        let drivers = self.drivers.borrow();
        let deadlines = drivers.values().filter_map(|driver| driver.deadline).chain(self.frame.get().0);
        let next = deadlines.fold(self.page.borrow().deadline(&*self.place), f64::min);
        (next - self.place.now()).max(0.0)
    }
}

/// Has the page do what is due, for as long as there is a page.
async fn turn(this: Weak<Shell>) {
    while let Some(shell) = this.upgrade() {
        shell.catch_up();
        let (rest, sooner) = (shell.rest(), shell.sooner.clone());
        drop(shell);
        tokio::select! {
            () = sleep(Duration::from_secs_f64(rest / 1_000.0)) => {}
            () = sooner.notified() => {}
        }
        // Both may be there at once, turn after turn; the test and its requests have their turns, too.
        tokio::task::yield_now().await;
    }
}
