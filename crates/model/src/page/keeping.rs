//! Keeps what the page receives in the private file system of its origin, and shows what is kept there.
//!
//! What is written is what a saved file has, with the same rules of what must not be readable, as soon as it was received. One request
//! is under way at a time. Where the disk is slow, lines wait in the recorder, and not here.

use kubechurn_client::api::sort::sort_by;

use crate::history::History;
use crate::kept::{DiskAnswer, DiskFailure, DiskRequest, KeepCommand, Kept, KeptItem, KeptModel, Listed};
use crate::page::context::Context;
use crate::page::effect::{Effect, Request};
use crate::page::environment::Environment;
use crate::page::requests::Purpose;
use crate::page::saving::{file_name, header};
use crate::recording::{Saver, Selected};
use crate::view;
use crate::watches::notices::{NoticeKind, PageNotice};

/// The name under which the tab stores that what it receives is kept. Not the browser: who has asked for files on the disk in one
/// tab has not asked for them in another one, or on another day, when the same address may be that of another cluster.
const KEPT: &str = "kubechurn.keep";
/// The time between two parts, in milliseconds. What came since is lost with the tab.
const PACE: f64 = 1_000.0;
/// How long is written without a break, in milliseconds.
const SHARE: f64 = 6.0;
/// How many versions are written between two looks at the clock. Each may be of a megabyte.
const BATCH: usize = 4;
/// How many bytes of lines make a part, although no second has passed, and how many wait at most while one is being written.
const PART: usize = 1 << 20;
/// How many parts a block has at most. Each is a file, until the block is complete.
const PARTS: u32 = 256;
/// What is said where a recording is shown.
const RECORDING: &str = "This is a recording. What the page of a cluster receives can be kept.";
/// What is said where there is no recorder.
const OFF: &str = "The recorder is off, so there is nothing to keep. Give it memory first, in the menu Table.";
/// What is said when the recorder dropped what was not written yet.
const SLOW: &str =
    "The browser's disk is slower than what is received: some versions were dropped before they could be kept.";

/// A recording that is being written.
#[derive(Debug)]
struct Writing {
    id: String,
    saver: Saver,
    /// The numbers of the next part's block, and of the part in it.
    place: (u32, u32),
    /// Whether the part that was written last ends its block.
    is_last: bool,
    /// Whether something is being written.
    waits: bool,
    /// When the next part is due.
    due: f64,
    /// Up to when all was written that was received, once that was so.
    since: Option<f64>,
    /// How many bytes whole blocks have, and the parts of the last one.
    bytes: (f64, f64),
    /// Whether the user wants no more of it.
    stops: bool,
}

impl Writing {
    /// Goes on. Returns whether all is written that was wanted.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let (history, notices) = (&cx.watching.history, &cx.notices.list);
        let reasons = |resource, at| notices.reason(&resource, at);
        let end = cx.env.work_clock() + SHARE;
        if !self.stops {
            self.saver.extend(history);
        }
        let has_room = |saver: &Saver| saver.waiting() < PART && !saver.is_full();
        let mut is_more = true;
        while is_more && has_room(&self.saver) && cx.env.work_clock() < end {
            is_more = self.saver.go_on(history, BATCH, &reasons);
        }
        if !is_more {
            self.since = Some(cx.now);
        }
        let (is_over, waiting) = (self.stops && !is_more, self.saver.waiting());
        if is_over && !self.waits && waiting == 0 && self.place.1 == 0 {
            return true;
        }
        let is_due = is_over || !has_room(&self.saver) || (waiting > 0 && cx.now >= self.due);
        if is_due && !self.waits {
            self.write(is_over, cx);
        }
        if is_more && has_room(&self.saver) {
            cx.request_frame();
        }
        false
    }

    fn write(&mut self, is_over: bool, cx: &mut Context<'_>) {
        let (block, part) = self.place;
        self.is_last = is_over || self.saver.is_full() || part + 1 >= PARTS;
        self.place = if self.is_last { (block + 1, 0) } else { (block, part + 1) };
        (self.waits, self.due) = (true, cx.now + PACE);
        let (id, place, lines, is_last) = (self.id.clone(), (block, part), self.saver.take(), self.is_last);
        if is_last {
            self.saver.end_block();
        }
        cx.request(Purpose::Keep, Request::Disk(DiskRequest::Write { id, place, lines, is_last }));
    }

    fn written(&mut self, bytes: f64) {
        self.waits = false;
        self.bytes = if self.is_last { (self.bytes.0 + bytes, 0.0) } else { (self.bytes.0, self.bytes.1 + bytes) };
    }

    /// When something is to be written at the latest.
    fn due_at(&self, history: &History) -> Option<f64> {
        let has_some = self.saver.waiting() > 0 || self.saver.is_behind(history);
        (has_some && !self.waits).then_some(self.due)
    }
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    is_on: bool,
    /// Whether it goes on after a reload.
    goes_on: bool,
    writing: Option<Writing>,
    /// What came of the last command, or why nothing is kept any more.
    said: String,
    is_open: bool,
    /// What there is; `None` before that is known.
    listed: Option<Listed>,
    /// The folder that the user is asked to delete.
    asked: Option<String>,
}

impl Keeping {
    /// As the tab has stored it.
    pub(super) fn stored(env: &dyn Environment) -> Keeping {
        let goes_on = env.stored_in_tab(KEPT).as_deref() == Some("on");
        Keeping { is_on: goes_on, goes_on, ..Keeping::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// When something is to be written at the latest.
    pub(super) fn due_at(&self, history: &History) -> Option<f64> {
        self.writing.as_ref().and_then(|writing| writing.due_at(history))
    }

    /// Carries out a command.
    pub(super) fn handle(&mut self, command: KeepCommand, cx: &mut Context<'_>) {
        self.said.clear();
        match command {
            KeepCommand::Toggle => self.toggle(cx),
            KeepCommand::GoOn => {
                self.goes_on ^= true;
                self.store(cx);
            }
            KeepCommand::List => {
                self.is_open = true;
                cx.request(Purpose::Kept, Request::Disk(DiskRequest::List));
            }
            KeepCommand::Close => (self.is_open, self.asked) = (false, None),
            KeepCommand::Open(id) => {
                let name = self.name_of(&id, cx);
                self.is_open = false;
                cx.effects.push(Effect::OpenKept(id, name));
            }
            KeepCommand::Download(id) => {
                let name = file_name(&self.name_of(&id, cx));
                cx.request(Purpose::HandOver(name.clone()), Request::Disk(DiskRequest::Download(id, name)));
            }
            KeepCommand::Delete(id) if self.asked.as_ref() == Some(&id) => {
                self.asked = None;
                cx.request(Purpose::Kept, Request::Disk(DiskRequest::Delete(id)));
            }
            KeepCommand::Delete(id) => self.asked = Some(id),
        }
        self.present(cx);
    }

    fn toggle(&mut self, cx: &mut Context<'_>) {
        if self.is_on {
            (self.is_on, self.goes_on) = (false, false);
            match &mut self.writing {
                Some(writing) => writing.stops = true,
                None => self.say("Nothing is kept.", cx),
            }
        } else if cx.navigation.recorded.is_some() {
            return self.say(RECORDING, cx);
        } else if cx.watching.history.is_off() {
            return self.say(OFF, cx);
        } else {
            self.is_on = true;
            self.say("Kept in this browser from now on, beginning with what the page has.", cx);
        }
        self.store(cx);
        self.work(cx);
    }

    fn store(&self, cx: &mut Context<'_>) {
        let goes_on = if self.is_on && self.goes_on { "on" } else { "off" };
        cx.effects.push(Effect::StoreInTab(KEPT, goes_on.to_owned()));
    }

    /// Goes on writing within a frame's share of time.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) {
        if self.writing.is_none() {
            let has_some = cx.navigation.found && cx.watching.history.received() > 0;
            if !self.is_on || !has_some {
                return;
            }
            self.begin(cx);
        }
        let Some(writing) = &mut self.writing else { return };
        let whole = cx.watching.history.whole_since();
        if cx.watching.history.is_off() && !writing.stops {
            writing.stops = true;
            self.give_up("The recorder was switched off: nothing more is kept.", cx);
        } else if writing.since.is_some_and(|since| whole.is_some_and(|whole| whole > since)) {
            writing.since = None;
            publish(SLOW, cx);
        }
        if self.writing.as_mut().is_some_and(|writing| writing.work(cx)) {
            self.end(cx);
        }
    }

    fn begin(&mut self, cx: &Context<'_>) {
        let selected = Selected { redacts: true, ..Selected::default() };
        let notices = &cx.notices.list;
        let reasons = |resource, at| notices.reason(&resource, at);
        let header = header(cx.view.header.source.cluster.clone(), cx);
        self.writing = Some(Writing {
            id: format!("{:016x}", cx.env.secret_number()),
            saver: Saver::new(header, selected, &cx.watching.history, &reasons),
            place: (0, 0),
            is_last: false,
            waits: false,
            due: cx.now,
            since: None,
            bytes: (0.0, 0.0),
            stops: false,
        });
    }

    /// Something was written, or could not be.
    pub(super) fn kept(&mut self, answer: Result<DiskAnswer, DiskFailure>, cx: &mut Context<'_>) {
        let Some(writing) = &mut self.writing else { return };
        match answer {
            Ok(answer) => {
                writing.written(if let DiskAnswer::Done(bytes) = answer { bytes } else { 0.0 });
                // The list that is open has it from its first part on.
                let listed = self.listed.as_ref().filter(|_| self.is_open);
                if listed.is_some_and(|listed| listed.all.iter().all(|kept| kept.id != writing.id)) {
                    cx.request(Purpose::Kept, Request::Disk(DiskRequest::List));
                }
                self.work(cx);
            }
            Err(failure) => {
                let id = writing.id.clone();
                self.writing = None;
                self.give_up(&format!("Nothing more is kept: {}. {}", failure.reason(), failure.advice()), cx);
                cx.request(Purpose::Kept, Request::Disk(DiskRequest::End(id)));
            }
        }
        self.present(cx);
    }

    /// The recording is complete.
    fn end(&mut self, cx: &mut Context<'_>) {
        let Some(writing) = self.writing.take() else { return };
        if !cx.watching.history.is_off() {
            let bytes = view::bytes_of(writing.bytes.0);
            self.say(&format!("{bytes} are kept in this browser, and nothing more."), cx);
        }
        cx.request(Purpose::Kept, Request::Disk(DiskRequest::End(writing.id)));
        self.present(cx);
    }

    /// Says what came of something: for a moment on the page, and in the list until something else is done there.
    fn say(&mut self, words: &str, cx: &mut Context<'_>) {
        words.clone_into(&mut self.said);
        cx.show_message(words);
    }

    /// Nothing more is kept, although the user wanted it.
    fn give_up(&mut self, words: &str, cx: &mut Context<'_>) {
        (self.is_on, self.goes_on) = (false, false);
        self.store(cx);
        self.say(words, cx);
        publish(words, cx);
    }

    /// What there is was found, or something was done that changes it.
    pub(super) fn listed(&mut self, answer: Result<DiskAnswer, DiskFailure>, cx: &mut Context<'_>) {
        match answer {
            Ok(DiskAnswer::Listed(listed)) => self.listed = Some(listed),
            Ok(DiskAnswer::Done(_)) if self.is_open => {
                cx.request(Purpose::Kept, Request::Disk(DiskRequest::List));
            }
            Ok(DiskAnswer::Done(_)) => {}
            Err(failure) => {
                // What keeps nothing more was said already.
                if self.said.is_empty() {
                    self.say(&format!("That is not possible: {}. {}", failure.reason(), failure.advice()), cx);
                }
                self.listed.get_or_insert_default();
            }
        }
        self.present(cx);
    }

    /// A recording was handed to the browser, or could not be.
    pub(super) fn handed_over(&mut self, name: &str, answer: &Result<DiskAnswer, DiskFailure>, cx: &mut Context<'_>) {
        let words = match answer {
            Ok(DiskAnswer::Done(bytes)) => format!("{name}: {}.", view::bytes_of(*bytes)),
            Ok(DiskAnswer::Listed(_)) => return,
            Err(failure) => format!("{name} was not handed over: {}.", failure.reason()),
        };
        self.say(&words, cx);
        self.present(cx);
    }

    /// What a recording is called.
    fn name_of(&self, id: &str, cx: &Context<'_>) -> String {
        let all = self.listed.iter().flat_map(|listed| &listed.all);
        let kept = all.clone().find(|kept| kept.id == id).cloned().unwrap_or_default();
        let (from, title) = described(&kept);
        format!("{title} {}", cx.words().for_file(from))
    }

    pub(super) fn present(&self, cx: &mut Context<'_>) {
        let kept = self.writing.as_ref().map(|Writing { bytes: (whole, part), .. }| view::bytes_of(whole + part));
        cx.view.footer.kept.put(kept.clone().unwrap_or_default());
        let model = self.is_open.then(|| self.model(kept.as_deref(), cx));
        cx.view.dialogs.kept.put(model);
    }

    fn model(&self, kept: Option<&str>, cx: &Context<'_>) -> KeptModel {
        let is_recording = cx.navigation.recorded.is_some();
        let state = match kept {
            Some(kept) if self.is_on => format!("{kept} of this page are kept so far."),
            Some(_) => "What was received so far is being written.".to_owned(),
            None if self.is_on => "It begins with the first object.".to_owned(),
            None if is_recording => RECORDING.to_owned(),
            None => String::new(),
        };
        let none = Listed::default();
        let Listed { all, room } = self.listed.as_ref().unwrap_or(&none);
        let mut all: Vec<&Kept> = all.iter().collect();
        sort_by(&mut all, |one, other| other.to.total_cmp(&one.to).then_with(|| one.id.cmp(&other.id)));
        let (words, to_wall) = (cx.words(), cx.env.to_wall());
        // What this page writes has grown since it was listed.
        let own = |kept: &Kept| self.writing.as_ref().filter(|writing| writing.id == kept.id);
        let size = |kept: &Kept| own(kept).map_or(kept.bytes, |Writing { bytes: (whole, part), .. }| whole + part);
        let items = all.iter().map(|kept| {
            let (from, title) = described(kept);
            let to = if own(kept).is_some() { cx.now } else { kept.to - to_wall }.max(from);
            KeptItem {
                id: kept.id.clone(),
                title,
                time: format!("{} – {}", words.date_and_second(from), words.date_and_second(to)),
                size: view::bytes_of(size(kept)),
                is_in_use: kept.is_in_use,
                is_asked: self.asked.as_ref() == Some(&kept.id),
            }
        });
        let sum = view::bytes_of(all.iter().map(|kept| size(kept)).sum());
        let room =
            room.map(|room| format!(" of {} that the browser gives pages of this address", view::bytes_of(room)));
        let total = match (&self.listed, all.len()) {
            (None, _) => String::from("Looking …"),
            (_, 0) => String::from("Nothing is kept."),
            (_, count) => {
                let recordings = if count == 1 { "recording" } else { "recordings" };
                format!("{count} {recordings}, {sum}{}.", room.unwrap_or_default())
            }
        };
        let (is_on, goes_on, said) = (self.is_on, self.goes_on, self.said.clone());
        KeptModel { is_on, goes_on, is_recording, state, said, items: items.collect(), total }
    }
}

/// When a recording begins, and what it is called; where its first line was not written, what is known without it.
fn described(kept: &Kept) -> (f64, String) {
    let (from, header) = kept.header().unwrap_or((kept.to, kubechurn_recording::Header::default()));
    let title = [header.title, header.server].into_iter().find(|words| !words.is_empty());
    (from, title.unwrap_or_else(|| String::from("recording")))
}

fn publish(words: &str, cx: &mut Context<'_>) {
    let kind = NoticeKind::Kept { at: cx.now, words: words.to_owned() };
    cx.publish(PageNotice { resource: "", namespace: String::new(), kind });
}
