//! An [`Inside`] at a place, with the steps that led there.

use crate::inside::machine::{Machine, Settings};
use crate::inside::place::{Change, Place};
use crate::inside::server::Server;
use crate::inside::step::Step;
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

/// A stream that is played.
#[derive(Debug)]
pub struct Walk {
    stream: Stream,
    inside: Inside,
    place: Place,
    /// The steps up to the present one.
    steps: Vec<Step>,
    /// How many steps there are, once the end was seen.
    end: Option<usize>,
}

impl Walk {
    /// Plays a stream up to a place.
    pub fn new(stream: Stream, place: Place) -> Walk {
        let mut walk = Walk { inside: begun(&stream), stream, place, steps: Vec::new(), end: None };
        walk.play();
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

    /// How many steps there are, once the end was seen.
    pub fn end(&self) -> Option<usize> {
        self.end
    }

    /// Goes to another place of the same stream.
    pub fn go(&mut self, place: Place) {
        let is_same = place.plays_the_same(&self.place);
        self.place = place;
        if is_same {
            self.seek(self.place.step);
        } else {
            self.play();
        }
    }

    /// Plays from the beginning what the place says.
    fn play(&mut self) {
        let wanted = self.place.step.min(FARTHEST);
        (self.inside, self.end) = (begun(&self.stream), None);
        self.steps.clear();
        for (at, change) in self.place.set.clone() {
            self.forward_to(at.min(FARTHEST));
            self.set(change);
        }
        self.seek(wanted);
    }

    fn set(&mut self, change: Change) {
        // Which kind of queue there is, is settled when it is made.
        if let (Change::Atomic(_), 0) = (change, self.inside.machine().number()) {
            change.apply(&mut self.stream.settings, self.stream.begins);
            self.inside = begun(&self.stream);
            return;
        }
        let machine = self.inside.machine();
        let mut settings = (**machine.settings()).clone();
        change.apply(&mut settings, machine.now());
        self.inside.set(settings);
        self.end = None;
    }

    /// Sets something from the present step on.
    pub fn change(&mut self, change: Change) {
        let before = self.place.set.len();
        self.place.change(change);
        let appended = self.place.set.len() == before + 1 && self.place.set.last() == Some(&(self.place.step, change));
        if appended && !matches!(change, Change::Atomic(_)) {
            self.set(change);
        } else {
            self.play();
        }
    }

    /// Goes on by one step. Returns whether there was one.
    pub fn forward(&mut self) -> bool {
        match self.inside.forward().cloned() {
            Some(step) => {
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
        while self.steps.len() < step && self.forward() {}
    }

    /// Goes to the state after so many steps, or to the end.
    pub fn seek(&mut self, step: usize) {
        if step < self.steps.len() {
            self.inside.seek(step);
            self.steps.truncate(step);
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

fn begun(stream: &Stream) -> Inside {
    Inside::new(stream.server.clone(), stream.settings.clone(), stream.begins)
}
