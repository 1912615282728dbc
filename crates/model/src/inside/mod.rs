//! The inside of an informer, one step at a time: from the frames of a recorded stream to the work queue.
//!
//! The Reflector is the client's own, and the queues are client-go's and the one that folds. What stands around them is made
//! up: a server that has what the stream shows (`server`), a connection that can be broken (`connection`, `breaks`), handlers
//! and workers of any speed. Nothing of a page that is shown is touched: an [`Inside`] has a copy of a stream.
//!
//! A [`Machine`] goes forward only. [`Inside`] keeps a few of them as they were, and so goes back: to the last one before the
//! step, and forward from there. It keeps so many that a step back plays at most a 64th part of the way anew, or 256 steps.

use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;

mod breaks;
pub mod command;
mod connection;
mod handlers;
mod lessons;
mod machine;
mod part;
mod place;
mod queues;
pub mod recorded;
mod server;
mod step;
mod walk;
mod work;

pub use breaks::{Break, BreakKind};
pub use connection::{Connection, Request};
pub use handlers::{Handled, Handler, HandlerOptions, Handlers, is_sync};
pub use lessons::{Caption, Lesson, lesson, lessons};
pub use machine::{Machine, Settings};
pub use part::Part;
pub use place::{Change, LATE, Place, SLOW, same_kind};
pub use queues::{Counts, Held, Queues, Slot, SlotEntry, Taken, Which};
pub use server::{Entry, Frame, Grown, Sent, Server};
pub(crate) use step::plural;
pub use step::{Compared, Row, Step, What, written};
pub use walk::{Passed, Stream, Walk};
pub use work::{InWork, ReconcilerOptions, Work, Worked};

/// How many steps lie between two machines that are kept, at first.
const EVERY: usize = 256;

/// The most machines that are kept. Beyond it every second one is dropped.
const MOST: usize = 128;

/// When to stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// When a list is compared with what is known.
    Replace,
    /// When something of this object is popped.
    Popped(ObjectKey),
    /// When a handler gets a tombstone.
    Tombstone,
    /// When the watch ends.
    Ended,
}

impl Until {
    /// Whether a step is the one.
    pub fn is(&self, step: &Step) -> bool {
        use kubechurn_client::cache::{client_go::Call, delta::DeltaObject};
        match (self, &step.what) {
            (Until::Replace, What::Replaced { .. }) | (Until::Ended, What::Ended(_)) => true,
            (Until::Popped(key), What::Popped(taken)) => taken.key.as_ref() == Some(key),
            (Until::Tombstone, What::Handler(_, Handled::Called(Call::OnDelete { object }))) => {
                matches!(object, DeltaObject::FinalStateUnknown(_))
            }
            _ => false,
        }
    }
}

/// A stream, and the machinery at one of its steps.
#[derive(Debug)]
pub struct Inside {
    server: Server,
    /// What was set, and after which step; the first is that of the beginning.
    set: Vec<(usize, Arc<Settings>)>,
    machine: Machine,
    kept: Vec<Machine>,
    every: usize,
    /// The latest time that any step has reached, in milliseconds.
    reached: f64,
}

impl Inside {
    /// The machinery before the first step. It begins at a time in milliseconds, that of the first frame or before.
    pub fn new(server: Server, settings: Settings, now: f64) -> Inside {
        let settings = Arc::new(settings);
        let machine = Machine::new(settings.clone(), now);
        Inside { server, set: vec![(0, settings)], kept: vec![machine.clone()], machine, every: EVERY, reached: now }
    }

    /// The machinery now.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Adds a frame to the stream, which may be one that goes on. What steps have shown already does not change.
    pub fn push(&mut self, at: f64, frame: Frame) {
        self.server.push(at.max(self.reached), frame);
    }

    /// Adds frames that come after all that steps have shown: see [`Server::grow`].
    pub fn grow(&mut self, from: u64, frames: &[Grown]) {
        self.server.grow(from, frames);
    }

    /// The latest time that any step has reached, in milliseconds.
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// Sets what holds from this step on. What was set for later steps is forgotten.
    pub fn set(&mut self, settings: Settings) {
        let number = self.machine.number();
        let settings = Arc::new(settings);
        self.set.retain(|(at, _)| *at < number || *at == 0);
        self.set.push((number, settings));
        self.kept.retain(|machine| machine.number() < number || machine.number() == 0);
        self.apply();
    }

    /// Goes forward by one step. Returns it; `None` at the end.
    pub fn forward(&mut self) -> Option<&Step> {
        if !self.machine.advance(&self.server) {
            return None;
        }
        self.reached = self.reached.max(self.machine.now());
        self.apply();
        self.keep();
        self.machine.last()
    }

    /// Goes back by one step. Returns false at the beginning.
    pub fn back(&mut self) -> bool {
        match self.machine.number().checked_sub(1) {
            Some(number) => self.seek(number) == number,
            None => false,
        }
    }

    /// Goes to the state after so many steps, or to the end if there are fewer. Returns how many there were.
    pub fn seek(&mut self, number: usize) -> usize {
        let now = self.machine.number();
        let kept = self.kept.iter().rfind(|machine| machine.number() <= number);
        if let Some(kept) = kept.filter(|kept| number < now || kept.number() > now) {
            self.machine = kept.clone();
            self.apply();
        }
        while self.machine.number() < number && self.forward().is_some() {}
        self.machine.number()
    }

    /// The next steps, at most so many, as they will be if nothing else is set.
    pub fn ahead(&self, most: usize) -> Vec<Step> {
        let mut machine = self.machine.clone();
        let mut steps = Vec::new();
        while steps.len() < most && machine.advance(&self.server) {
            steps.extend(machine.last().cloned());
            if let Some(settings) = self.set_after(machine.number()) {
                machine.set(settings.clone());
            }
        }
        steps
    }

    /// How many steps a step back plays anew at most.
    pub fn replayed(&self) -> usize {
        self.every
    }

    /// What was set after the present step holds.
    fn apply(&mut self) {
        if let Some(settings) = self.set_after(self.machine.number()) {
            self.machine.set(settings.clone());
        }
    }

    fn set_after(&self, number: usize) -> Option<&Arc<Settings>> {
        self.set.iter().rfind(|(at, _)| *at == number).map(|(_, settings)| settings)
    }

    fn keep(&mut self) {
        let number = self.machine.number();
        let newest = self.kept.last().map_or(0, Machine::number);
        if number < newest + self.every {
            return;
        }
        self.kept.push(self.machine.clone());
        if self.kept.len() > MOST {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }
}
