//! The driver of one reflector: carries out its actions and keeps its deadlines.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use futures::future::{AbortHandle, abortable};

use kubechurn_client::cache::reflector::{Action, Input};

use crate::browser::clock::Alarm;
use crate::browser::lister_watcher::ListerWatcher;
use crate::browser::task;

/// Hands an input to the core, and returns the next action and deadline.
type Deliver = dyn Fn(Input<'_>) -> (Option<Action>, Option<f64>);

/// Runs one reflector. Dropping it ends whatever is under way.
pub struct Driver {
    lister_watcher: ListerWatcher,
    deliver: Box<Deliver>,
    /// Counts the actions, so that what an earlier action still reports is ignored.
    generation: Cell<u64>,
    under_way: RefCell<Option<AbortHandle>>,
    alarm: Alarm,
    this: Weak<Driver>,
}

impl Driver {
    /// A driver that does nothing before its first input.
    pub fn new(
        lister_watcher: ListerWatcher,
        deliver: impl Fn(Input<'_>) -> (Option<Action>, Option<f64>) + 'static,
    ) -> Rc<Driver> {
        Rc::new_cyclic(|this: &Weak<Driver>| {
            let ticking = this.clone();
            Driver {
                lister_watcher,
                deliver: Box::new(deliver),
                generation: Cell::new(0),
                under_way: RefCell::new(None),
                alarm: Alarm::new(move || ticking.upgrade().iter().for_each(|driver| driver.input(Input::Timer))),
                this: this.clone(),
            }
        })
    }

    /// How its resource is asked for.
    pub fn lister_watcher(&self) -> &ListerWatcher {
        &self.lister_watcher
    }

    /// Hands an input to the core, and does what it asks for.
    pub fn input(&self, input: Input<'_>) {
        let (action, deadline) = (self.deliver)(input);
        if let Some(action) = action {
            self.perform(action);
        }
        match deadline {
            Some(deadline) => self.alarm.set(deadline),
            None => self.alarm.unset(),
        }
    }

    fn perform(&self, action: Action) {
        let generation = self.generation.get() + 1;
        self.generation.set(generation);
        if let Some(earlier) = self.under_way.take() {
            earlier.abort();
        }
        let this = self.this.clone();
        let lister_watcher = self.lister_watcher.clone();
        let report = move |input: Input<'_>| {
            if let Some(driver) = this.upgrade().filter(|driver| driver.generation.get() == generation) {
                driver.input(input);
            }
        };
        let work = async move {
            match action {
                Action::List(request) => lister_watcher.list(&request, report).await,
                Action::Watch(request) => lister_watcher.watch(&request, report).await,
                Action::WatchOverHttp(request) => lister_watcher.watch_over_http(&request, report).await,
                Action::Probe(request) => lister_watcher.probe(&request, report).await,
                Action::Wait => {}
            }
        };
        let (work, handle) = abortable(work);
        self.under_way.replace(Some(handle));
        task::spawn(async move {
            // Work that was aborted has no result.
            let _ = work.await;
        });
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(earlier) = self.under_way.take() {
            earlier.abort();
        }
    }
}
