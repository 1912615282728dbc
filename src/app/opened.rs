//! A recording that is shown in place of the cluster: a page of its own, whose surroundings are a file.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;

use web_sys::{Blob, File};

use kubechurn_model::history::who::LogPiece;
use kubechurn_model::history::who::is_log;
use kubechurn_model::navigation::recorded::file_name;
use kubechurn_model::page::Page;
use kubechurn_model::page::effect::{Effect, RECORDED};
use kubechurn_model::page::environment::{Environment, Recorded};
use kubechurn_recording::{Block, Header, Line};

use crate::app::App;
use crate::app::environment::Browser;
use crate::browser::clock::Alarm;
use crate::browser::task::Work;
use crate::browser::{clock, location, recording, task};
use crate::ui::shell::theme;

/// How many bytes the history of a recording may take. A program in a browser has four thousand million at most.
const BUDGET: usize = 1_500_000_000;
/// How often is shown how far a recording was read, in milliseconds.
const PACE: f64 = 1_000.0;
/// Where a recording is shown first: what changed.
const BEGIN: &str = "#/";

/// A recording that is shown, or is being read.
pub(super) struct Opened {
    pub(super) page: RefCell<Page>,
    /// The time of the line that was read last, and when that was; in milliseconds.
    now: Cell<(f64, f64)>,
    /// Whether all was read, so that the time goes on.
    is_read: Cell<bool>,
    ahead: f64,
    alarm: Alarm,
}

impl Opened {
    /// The surroundings of its page.
    pub(super) fn env(&self) -> Recorded<'static> {
        let (now, read) = self.now.get();
        let since = if self.is_read.get() { clock::now() - read } else { 0.0 };
        Recorded { around: &Browser::SEEN, now: now + since, ahead: self.ahead }
    }
}

impl App {
    pub(super) fn opened(&self) -> Option<Rc<Opened>> {
        self.opened.borrow().clone()
    }

    /// Opens the recording that a file is, or joins the audit log that it is to what is shown.
    pub(super) fn open(self: Rc<App>, file: File) {
        task::spawn(async move {
            let result = match self.read_log(&file).await {
                Ok(true) => return,
                Ok(false) => self.read(&file.name(), &file, false).await,
                Err(reason) => Err(reason.to_owned()),
            };
            self.report(&file.name(), result);
        });
    }

    /// Opens the recording at an address of the page's own origin.
    pub(super) fn open_at(self: Rc<App>, url: String) {
        task::spawn(async move {
            let result = match recording::fetched(&url).await {
                Ok(blob) => self.read(file_name(&url), &blob, true).await,
                Err(reason) => Err(reason),
            };
            if result.is_err() && self.opened().is_none() {
                location::replace(&self.page.borrow().place());
            }
            self.report(&url, result);
        });
    }

    /// Hands the lines of an audit log to the page that is shown. Returns whether the file is one.
    async fn read_log(&self, file: &Blob) -> Result<bool, &'static str> {
        let Some((mut text, mut next)) = recording::lines(file, 0).await? else { return Ok(false) };
        if !is_log(&text) {
            return Ok(false);
        }
        self.with(|page, env| page.audit_log(LogPiece::Begin, env));
        let mut work = Work::begin();
        loop {
            self.with(|page, env| page.audit_log(LogPiece::Lines(&text), env));
            work.pause().await;
            match recording::lines(file, next).await? {
                Some(more) => (text, next) = more,
                None => break,
            }
        }
        self.with(|page, env| page.audit_log(LogPiece::End, env));
        Ok(true)
    }

    pub(super) fn report(&self, name: &str, result: Result<(), String>) {
        if let Err(reason) = result {
            self.with(|page, env| page.show_message(&format!("{name} was not opened: {reason}."), env));
        }
    }

    /// Shows what a file has, while it is read. Where the page's address names it, it names a place in it, too.
    pub(super) async fn read(self: &Rc<App>, name: &str, file: &Blob, is_named: bool) -> Result<(), String> {
        const EMPTY: &str = "it breaks off before its first line";
        let (mut text, mut next) = recording::block(file, 0).await?.ok_or(EMPTY)?;
        let mut block = Block::default();
        // Before the first line is read, nothing is shown otherwise.
        let (at, header) = match block.next(&text).map_err(|refusal| refusal.to_string())? {
            Some((at, Line::Header(header))) => (at, header),
            _ => return Err(EMPTY.to_owned()),
        };
        if !is_named {
            location::replace(BEGIN);
        }
        let (opened, mut last) = (self.show(header, at, name), at);
        let (mut work, mut number, mut shown) = (Work::begin(), 1, clock::now());
        let end = loop {
            match block.next(&text) {
                Ok(Some((at, line))) => {
                    opened.now.set((at, clock::now()));
                    opened.page.borrow_mut().replay(&line, &opened.env());
                    // What was noted of an earlier time is no end.
                    last = if matches!(line, Line::Note(_)) { last.max(at) } else { at };
                    opened.now.set((last, clock::now()));
                    if work.pause().await && clock::now() - shown >= PACE {
                        self.with_opened(&opened, Page::frame);
                        shown = clock::now();
                    }
                }
                Ok(None) => match recording::block(file, next).await {
                    Ok(Some((more, after))) => {
                        (text, next, block, number) = (more, after, Block::default(), number + 1)
                    }
                    Ok(None) => break None,
                    Err(reason) => break Some(reason.to_owned()),
                },
                Err(refusal) => break Some(refusal.to_string()),
            }
            // Another recording was opened, or the cluster is shown again.
            if !self.shows(&opened) {
                return Ok(());
            }
        };
        opened.is_read.set(true);
        self.with_opened(&opened, |page, env| page.replayed(last, env));
        if let Some(reason) = end.filter(|_| self.shows(&opened)) {
            let words = format!("{name} is shown up to where it can be read. Block {number}, {reason}.");
            self.with(|page, env| page.show_message(&words, env));
        }
        Ok(())
    }

    /// Shows an empty recording in place of the cluster.
    fn show(self: &Rc<App>, header: Header, at: f64, name: &str) -> Rc<Opened> {
        let sizes = self.look(|page, _| page.sizes());
        let ahead = header.ahead;
        let title = if header.title.is_empty() { name.to_owned() } else { header.title.clone() };
        let env = Recorded { around: &Browser::SEEN, now: at, ahead };
        let page = Page::open(&Header { title, ..header }, BUDGET, &env);
        let this = self.this.clone();
        let alarm = Alarm::new(move || {
            if let Some(app) = this.upgrade()
                && let Some(opened) = app.opened()
            {
                app.with_opened(&opened, Page::tick);
            }
        });
        let (now, is_read) = (Cell::new((at, clock::now())), Cell::new(false));
        let opened = Rc::new(Opened { page: RefCell::new(page), now, is_read, ahead, alarm });
        self.opened.replace(Some(opened.clone()));
        self.with_opened(&opened, |page, env| page.show_again(sizes, env));
        opened
    }

    /// Shows the cluster again.
    pub(super) fn close(&self) {
        let Some(opened) = self.opened.take() else { return };
        opened.alarm.unset();
        location::replace(&self.page.borrow().place());
        theme::rewind(self.page.borrow().view().header.rewind.is_some());
        self.read_theme();
        let sizes = opened.page.borrow().sizes();
        self.with_live(|page, env| {
            page.show_again(sizes, env);
            page.visibility_changed(env);
        });
    }

    /// Whether this recording is still shown.
    fn shows(&self, opened: &Rc<Opened>) -> bool {
        self.opened().is_some_and(|shown| Rc::ptr_eq(&shown, opened))
    }

    /// Has the page of a recording do something, and then does what it wants done. One that is shown no more does nothing.
    pub(super) fn with_opened(&self, opened: &Rc<Opened>, act: impl FnOnce(&mut Page, &dyn Environment)) {
        if !self.shows(opened) {
            return;
        }
        act(&mut opened.page.borrow_mut(), &opened.env());
        let effects = self.draw(&opened.page, true);
        let env = opened.env();
        let due = opened.page.borrow().deadline(&env) - env.now;
        opened.alarm.set(clock::now() + due);
        effects.list.into_iter().for_each(|effect| self.perform_opened(opened, effect));
    }

    /// Carries out what the page of a recording wants done. There is no server to ask.
    fn perform_opened(&self, opened: &Rc<Opened>, effect: Effect) {
        let (id, request) = match effect {
            Effect::Request(id, request) => (id, request),
            Effect::Start(..) | Effect::Stop(_) | Effect::Reflect(..) | Effect::Cluster(_) => return,
            Effect::Abort(_) | Effect::Follow(..) => return,
            Effect::Alert(_) | Effect::Beat { .. } | Effect::Restrict(_) => return,
            other => return self.perform(other),
        };
        let (opened, Some(app)) = (opened.clone(), self.this.upgrade()) else { return };
        task::spawn(async move {
            let answer = match request.at(Some(RECORDED)) {
                ControlFlow::Break(answer) => Some(answer),
                ControlFlow::Continue(request) => app.answer(request).await,
            };
            if let Some(answer) = answer {
                app.with_opened(&opened, |page, env| page.answer(id, answer, env));
            }
        });
    }
}
