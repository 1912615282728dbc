//! An [`Inside`] at a place, with the steps that led there.

use std::collections::BTreeSet;

use kubechurn_client::api::object::ObjectKey;

use crate::inside::lessons::{Caption, Lesson, lesson};
use crate::inside::machine::{Machine, Settings};
use crate::inside::place::{Change, Place};
use crate::inside::server::{Grown, Sent, Server};
use crate::inside::step::{Step, What};
use crate::inside::{Inside, Until};

/// How far one search goes at most, in steps: so that it ends also where nothing comes to an end.
const FARTHEST: usize = 50_000;

/// What is played, and how it is set at first.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// What it is.
    pub title: String,
    /// Where it comes from, and what of it is left out, in sentences.
    pub notes: Vec<String>,
    /// What the server has and sends.
    pub server: Server,
    /// What is set before the first step.
    pub settings: Settings,
    /// When it begins, in milliseconds.
    pub begins: f64,
}

/// What came from the server up to a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Lists.
    pub lists: u64,
    /// Watches that opened.
    pub watches: u64,
    /// Events.
    pub events: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// When the last bookmark came, in milliseconds.
    pub bookmark: Option<f64>,
    /// Whether the last watch ended because its version was too old, and no list has come since.
    pub is_gone: bool,
}

impl Passed {
    /// The same one step later.
    fn after(mut self, step: &Step) -> Passed {
        match &step.what {
            What::Listed { .. } => (self.lists, self.is_gone) = (self.lists + 1, false),
            What::Watches { .. } => self.watches += 1,
            What::Replaced { bookmark: Some(_), .. } => (self.lists, self.is_gone) = (self.lists + 1, false),
            What::Event { .. } => self.events += 1,
            What::Bookmark(_) => (self.bookmarks, self.bookmark) = (self.bookmarks + 1, Some(step.at)),
            What::Ended(_) => self.is_gone = step.is_gone(),
            _ => {}
        }
        self
    }
}

/// A stream that is played.
#[derive(Debug)]
pub struct Walk {
    stream: Stream,
    inside: Inside,
    place: Place,
    /// The steps up to the present one.
    steps: Vec<Step>,
    /// What had passed after each of them.
    passed: Vec<Passed>,
    /// How many steps there are, once the end was seen.
    end: Option<usize>,
    /// The step of each caption, in a lesson.
    stops: Vec<usize>,
    /// The objects of the stream, in order.
    keys: Vec<ObjectKey>,
}

impl Walk {
    /// Plays a stream up to a place.
    pub fn new(stream: Stream, place: Place) -> Walk {
        let stops = lesson(&place.lesson).map(Lesson::stops).unwrap_or_default();
        let mut walk = Walk {
            inside: begun(&stream),
            stream,
            place,
            steps: Vec::new(),
            passed: Vec::new(),
            end: None,
            stops,
            keys: Vec::new(),
        };
        walk.keys = known_keys(walk.server());
        match walk.place.caption {
            Some(caption) => walk.read(caption),
            None => walk.play(),
        }
        walk
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The machinery at the place.
    pub fn machine(&self) -> &Machine {
        self.inside.machine()
    }

    /// The server.
    pub fn server(&self) -> &Server {
        self.inside.server()
    }

    /// The place.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The steps up to the present one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The objects of the stream, in order; at most so many that one can choose among them.
    pub fn keys(&self) -> &[ObjectKey] {
        &self.keys
    }

    /// From when on, in milliseconds, what has not come yet may come: not before anything that a step has shown.
    /// 0 where that is so anyway.
    pub fn comes_from(&self) -> u64 {
        let reached = self.inside.reached();
        if reached > self.server().last_at() { reached.max(0.0).ceil() as u64 } else { 0 }
    }

    /// Adds what has come since, and happens from a time on. `place` is where it stands in the address; no step changes by it.
    pub fn grow(&mut self, from: u64, frames: &[Grown], place: Vec<(u64, u64)>) {
        self.stream.server.grow(from, frames);
        self.inside.grow(from, frames);
        (self.end, self.place.grown) = (None, place);
        self.keys = known_keys(self.server());
    }

    /// Goes on until an entry of the server's log has been heard, or to the end.
    pub fn hear(&mut self, entry: usize) {
        let end = self.steps.len() + FARTHEST;
        while self.machine().connection().cursor() <= entry && self.steps.len() < end && self.advance() {}
        self.find_caption();
    }

    /// What has passed up to the present one.
    pub fn passed(&self) -> Passed {
        self.passed.last().copied().unwrap_or_default()
    }

    /// How many steps there are, once the end was seen.
    pub fn end(&self) -> Option<usize> {
        self.end
    }

    /// The caption that is read, and its place among those of the lesson.
    pub fn caption(&self) -> Option<(usize, &'static Caption)> {
        let at = self.place.caption?;
        Some((at, lesson(&self.place.lesson)?.captions.get(at)?))
    }

    /// Reads a caption: goes to its step, where nothing is set but what the lesson sets.
    pub fn read(&mut self, caption: usize) {
        if let Some(step) = self.stops.get(caption) {
            self.place = Place { step: *step, caption: Some(caption), set: Vec::new(), ..self.place.clone() };
            self.play();
        } else {
            self.place.caption = None;
        }
    }

    /// Reads the caption that is so many after the present step's, or before it if negative.
    pub fn read_next(&mut self, by: isize) {
        let (step, last) = (self.place.step, self.stops.len().saturating_sub(1));
        let at = match (self.place.caption, by < 0) {
            (Some(caption), _) => caption.saturating_add_signed(by),
            (None, true) => self.stops.partition_point(|stop| *stop <= step).saturating_sub(1),
            (None, false) => self.stops.partition_point(|stop| *stop <= step),
        };
        self.read(at.min(last));
    }

    /// After the user has gone to a step: its caption is read, if it has one.
    fn find_caption(&mut self) {
        let step = self.place.step;
        self.place.caption =
            (self.place.set.is_empty()).then(|| self.stops.iter().position(|stop| *stop == step)).flatten();
    }

    /// Goes to another place of the same stream.
    pub fn go(&mut self, place: Place) {
        if let Some(caption) = place.caption {
            return self.read(caption);
        }
        let is_same = place.plays_the_same(&self.place);
        self.place = place;
        if is_same {
            self.go_to(self.place.step);
        } else {
            self.play();
        }
    }

    /// Plays from the beginning what the place says.
    fn play(&mut self) {
        let wanted = self.place.step.min(FARTHEST);
        (self.inside, self.end) = (begun(&self.stream), None);
        self.steps.clear();
        self.passed.clear();
        for (at, change) in self.place.set.clone() {
            self.forward_to(at.min(FARTHEST));
            self.set(change);
        }
        self.go_to(wanted);
    }

    fn set(&mut self, change: Change) {
        let machine = self.inside.machine();
        let mut settings = (**machine.settings()).clone();
        change.apply(&mut settings, machine.now());
        // Which kind of queue there is, and how a list comes, is settled when they are made.
        if change.is_of_beginning() && machine.number() == 0 {
            self.inside = Inside::new(self.stream.server.clone(), settings, self.stream.begins);
            return;
        }
        self.inside.set(settings);
        self.end = None;
    }

    /// Sets something from the present step on.
    pub fn change(&mut self, change: Change) {
        let before = self.place.set.len();
        self.place.change(change);
        let appended = self.place.set.len() == before + 1 && self.place.set.last() == Some(&(self.place.step, change));
        if appended && !change.is_of_beginning() {
            self.set(change);
        } else {
            self.play();
        }
        self.find_caption();
    }

    /// Goes on by one step. Returns whether there was one.
    pub fn forward(&mut self) -> bool {
        let is_step = self.advance();
        self.find_caption();
        is_step
    }

    fn advance(&mut self) -> bool {
        match self.inside.forward().cloned() {
            Some(step) => {
                self.passed.push(self.passed().after(&step));
                self.steps.push(step);
                self.place.step = self.steps.len();
                true
            }
            None => {
                self.end = Some(self.steps.len());
                false
            }
        }
    }

    fn forward_to(&mut self, step: usize) {
        while self.steps.len() < step && self.advance() {}
    }

    /// Goes to the state after so many steps, or to the end.
    pub fn seek(&mut self, step: usize) {
        self.go_to(step);
        self.find_caption();
    }

    fn go_to(&mut self, step: usize) {
        if step < self.steps.len() {
            self.inside.seek(step);
            self.steps.truncate(step);
            self.passed.truncate(step);
        }
        self.forward_to(step.min(self.steps.len().saturating_add(FARTHEST)));
        self.place.step = self.steps.len();
    }

    /// Goes on until something happens. Returns whether it did: if not, this is the end, or the search has gone on for very long.
    pub fn until(&mut self, until: &Until) -> bool {
        let end = self.steps.len() + FARTHEST;
        while self.steps.len() < end && self.forward() {
            if self.steps.last().is_some_and(|step| until.is(step)) {
                return true;
            }
        }
        false
    }

    /// The next steps, at most so many, as they will be if nothing else is set.
    pub fn ahead(&self, most: usize) -> Vec<Step> {
        self.inside.ahead(most)
    }
}

/// So many objects can be chosen among.
const KEYS: usize = 50;

/// The objects of a log, in order.
fn known_keys(server: &Server) -> Vec<ObjectKey> {
    let (_, items) = server.list_after(0);
    let mut keys: BTreeSet<ObjectKey> = items.into_iter().map(|(object, _)| object.key.clone()).collect();
    for at in 0..server.len() {
        if keys.len() >= KEYS {
            break;
        }
        if let Some(Sent::Change { object, .. }) = server.entry(at).map(|entry| &entry.what) {
            keys.insert(object.key.clone());
        }
    }
    keys.into_iter().take(KEYS).collect()
}

fn begun(stream: &Stream) -> Inside {
    Inside::new(stream.server.clone(), stream.settings.clone(), stream.begins)
}
