//! Runs the page in the browser: hands it commands, answers and frames, carries out its effects and draws its view. It
//! joins the browser and the view; nothing else names both. What is to be done is decided by
//! [`Page`](kubechurn_model::page::Page), never here.

mod effects;
mod environment;
mod handles;
mod kept;
mod keys;
mod opened;
mod requests;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};

use futures::channel::oneshot;
use futures::future::AbortHandle;
use js_sys::{Array, Function};
use rustc_hash::FxHashMap;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_model::page::Page;
use kubechurn_model::page::command::{Command, PanelCommand, TimelineCommand};
use kubechurn_model::page::effect::{Effects, Pace, RequestId};
use kubechurn_model::page::environment::Environment;

use crate::app::environment::Browser;
use crate::app::opened::Opened;
use crate::browser::base::Base;
use crate::browser::clock::Alarm;
use crate::browser::driver::Driver;
use crate::browser::frame::Frames;
use crate::browser::{clock, document, location, recording, task, watchdog};
use crate::ui::parts::{self, Part};
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::{Shell, ShellProps};
use crate::ui::sized::SizeObserver;
use crate::ui::timeline::CANVAS;
use crate::ui::timeline::canvas::Canvas;
use crate::ui::timeline::paint::paint;
use crate::ui::times;

/// The page, and what is under way for it.
struct App {
    /// The page lives as long as the document, and nothing is compiled that would drop it.
    page: ManuallyDrop<RefCell<Page>>,
    /// Where the API was found, and where those of other clusters are, by cluster.
    bases: RefCell<FxHashMap<&'static str, Base>>,
    /// What keeps each informer's reflector going.
    drivers: RefCell<FxHashMap<InformerId, Rc<Driver>>>,
    /// Requests that have no answer yet.
    requests: RefCell<FxHashMap<RequestId, AbortHandle>>,
    /// Waits for the first answer.
    answered: Cell<Option<oneshot::Sender<()>>>,
    frames: Frames,
    /// Set for the page's next tick.
    alarm: Alarm,
    canvas: RefCell<Option<Canvas>>,
    screen: Cell<Option<Screen>>,
    /// The recording that is shown in place of the cluster, whose page goes on meanwhile.
    opened: RefCell<Option<Rc<Opened>>>,
    /// What was compressed of each file that is being written, by the number of the file.
    parts: RefCell<FxHashMap<u64, Array>>,
    /// What releases each recording that this tab keeps, by its folder.
    held: RefCell<FxHashMap<String, Function>>,
    this: Weak<App>,
}

/// How long the first picture waits for the first answer at most, in milliseconds.
const FIRST_ANSWER: u32 = 50;

/// Begins, and mounts the page into the document a moment later: as soon as the first answer has led to the first request
/// for objects, which need not wait until the page is drawn.
// Within `main`, which is built for speed, it would be built for speed as well.
#[inline(never)]
pub fn mount() {
    watchdog::report_panics();
    let (answered, answer) = oneshot::channel();
    let app = App::begin(answered);
    app.settle();
    task::spawn(async move {
        // The sender is dropped with the first answer.
        let _ = clock::within(FIRST_ANSWER, answer).await;
        draw(app);
    });
}

fn draw(app: Rc<App>) {
    if let Some(boot) = document().and_then(|document| document.get_element_by_id("boot")) {
        boot.remove();
    }
    leptos::mount::mount_to_body(move || {
        let screen = Screen::new(app.page.borrow().view());
        app.screen.set(Some(screen));
        let receiver = app.clone();
        let commands = Commands::new(move |command| receiver.command(command));
        task::spawn(parts::make(screen, task::next));
        parts::after(Part::Timeline, screen, move || app.attach_canvas());
        Shell(ShellProps { screen, commands })
    });
}

impl App {
    fn begin(answered: oneshot::Sender<()>) -> Rc<App> {
        let app = Rc::new_cyclic(|this: &Weak<App>| {
            let (framed, ticking) = (this.clone(), this.clone());
            App {
                page: ManuallyDrop::new(RefCell::new(Page::begin(&Browser::SEEN))),
                bases: RefCell::default(),
                drivers: RefCell::default(),
                requests: RefCell::default(),
                answered: Cell::new(Some(answered)),
                frames: Frames::new(move || framed.upgrade().iter().for_each(|app| app.with_all(Page::frame))),
                alarm: Alarm::new(move || ticking.upgrade().iter().for_each(|app| app.with_live(Page::tick))),
                canvas: RefCell::default(),
                screen: Cell::new(None),
                opened: RefCell::default(),
                parts: RefCell::default(),
                held: RefCell::default(),
                this: this.clone(),
            }
        });
        handles::install(&app);
        keys::listen(&app);
        let this = app.clone();
        times::show_full_times(move |at| this.look(|page, env| page.full_time(at, env)));
        app.listen();
        app
    }

    /// Does what the user asks for.
    fn command(&self, command: Command) {
        self.with(|page, env| page.command(command, env));
    }

    /// Has the page that is shown do something, and then does what it wants done. The page must not be borrowed.
    fn with(&self, act: impl FnOnce(&mut Page, &dyn Environment)) {
        match self.opened() {
            Some(opened) => self.with_opened(&opened, act),
            None => self.with_live(act),
        }
    }

    /// Has the page of the cluster do something.
    fn with_live(&self, act: impl FnOnce(&mut Page, &dyn Environment)) {
        act(&mut self.page.borrow_mut(), &self.browser());
        self.settle();
    }

    /// Has both pages do something.
    fn with_all(&self, act: fn(&mut Page, &dyn Environment)) {
        if let Some(opened) = self.opened() {
            self.with_opened(&opened, act);
        }
        self.with_live(act);
    }

    /// Looks at the page that is shown.
    fn look<T>(&self, look: impl FnOnce(&Page, &dyn Environment) -> T) -> T {
        let opened = self.opened();
        let recorded = opened.as_ref().map(|opened| opened.env());
        let browser = self.browser();
        let env: &dyn Environment = recorded.as_ref().map_or(&browser, |recorded| recorded);
        let page = opened.as_ref().map_or(&*self.page, |opened| &opened.page);
        look(&page.borrow(), env)
    }

    /// The browser, as the page of the cluster sees it: hidden where a recording is shown.
    fn browser(&self) -> Browser {
        Browser { is_covered: self.opened.borrow().is_some() }
    }

    /// Draws what changed, and carries out what is to be done.
    fn settle(&self) {
        let is_shown = self.opened.borrow().is_none();
        let effects = self.draw(&self.page, is_shown);
        self.alarm.set(self.page.borrow().deadline(&self.browser()));
        for effect in effects.list {
            if is_shown || !effect.is_seen() {
                self.perform(effect);
            }
        }
    }

    /// Draws what changed of a page, if it is shown. Returns what else is to be done.
    fn draw(&self, page: &RefCell<Page>, is_shown: bool) -> Effects {
        let effects = {
            let mut page = page.borrow_mut();
            if let Some(screen) = self.screen.get().filter(|_| is_shown) {
                screen.show(page.view_mut());
            }
            page.take_effects()
        };
        self.request_frame(effects.frame);
        if effects.paint
            && is_shown
            && let Some(canvas) = &*self.canvas.borrow()
            && let Some(scene) = page.borrow().scene()
        {
            paint(canvas, scene);
        }
        effects
    }

    /// Carries out what a reflector's input led to: not at once, for its driver is still at that input.
    fn settle_later(&self, effects: Effects) {
        self.request_frame(effects.frame);
        if !effects.list.is_empty()
            && let Some(app) = self.this.upgrade()
        {
            task::spawn(async move { effects.list.into_iter().for_each(|effect| app.perform(effect)) });
        }
    }

    fn request_frame(&self, pace: Option<Pace>) {
        match pace {
            Some(Pace::Paced) => self.frames.request(),
            Some(Pace::Hurried) => self.frames.hurry(),
            None => {}
        }
    }

    /// Listens to the window: places, visibility, and a network that comes back.
    fn listen(self: &Rc<App>) {
        let Some(window) = web_sys::window() else { return };
        let on = |target: &web_sys::EventTarget, event: &str, callback: fn(&App)| {
            let app = self.clone();
            let callback = Closure::<dyn FnMut()>::new(move || callback(&app));
            // The page lives as long as the document.
            let _ = target.add_event_listener_with_callback(event, callback.as_ref().unchecked_ref());
            callback.forget();
        };
        on(&window, "hashchange", |app| app.command(Command::Arrive(location::fragment())));
        on(&window, "resize", |app| app.command(Command::Panel(PanelCommand::Fit)));
        on(&window, "online", |app| app.with_live(|page, env| page.woke(env)));
        if let Some(document) = document() {
            on(&document, "visibilitychange", |app| {
                app.with_live(|page, env| page.visibility_changed(env));
                app.frames.visibility_changed();
            });
            on(&document, "resume", |app| app.with_live(|page, env| page.woke(env)));
        }
        let app = self.clone();
        recording::dropped(&window, move |file| app.clone().open(file));
    }

    /// Finds the canvas, which the view has put into the document, and follows its size.
    fn attach_canvas(self: &Rc<App>) {
        let canvas = document().and_then(|document| document.get_element_by_id(CANVAS));
        let Some(canvas) = canvas.and_then(|canvas| canvas.dyn_into::<web_sys::HtmlCanvasElement>().ok()) else {
            return;
        };
        let (observed, app) = (canvas.clone(), self.clone());
        let resized = SizeObserver::new(move || {
            let (width, height) = (f64::from(observed.client_width()), f64::from(observed.client_height()));
            let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
            if let Some(canvas) = &mut *app.canvas.borrow_mut() {
                canvas.resize(width, height, ratio);
            }
            app.command(Command::Timeline(TimelineCommand::Resize(width, height)));
        });
        resized.follow(&canvas);
        // The canvas lives as long as the page.
        std::mem::forget(resized);
        self.canvas.replace(Canvas::new(canvas));
    }
}
