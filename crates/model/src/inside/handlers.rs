//! The handlers: one log of calls, and a place in it for each of them.

use std::collections::VecDeque;

use kubechurn_client::cache::client_go::Call;
use kubechurn_client::cache::store::Store;

/// What a handler is like.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerOptions {
    /// Its name.
    pub name: String,
    /// How long a call takes, in milliseconds.
    pub takes: f64,
    /// When it comes, in milliseconds. One that comes late first gets an addition for each object of the store.
    pub joins: f64,
    /// Whether it gets what a resync repeats.
    pub wants_resync: bool,
}

/// A handler.
#[derive(Clone, Debug)]
pub struct Handler {
    options: HandlerOptions,
    /// The additions with which one that came late begins.
    first: VecDeque<Call>,
    /// The number of the next call in the log.
    place: usize,
    has_joined: bool,
    free_at: f64,
    calls: u64,
}

impl Handler {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// The number of the call in the log that is its next one.
    pub fn place(&self) -> usize {
        self.place
    }

    /// How often it was called.
    pub fn calls(&self) -> u64 {
        self.calls
    }
}

/// What a handler did next.
#[derive(Clone, Debug, PartialEq)]
pub enum Handled {
    /// It joined, and gets so many additions first.
    Joined(usize),
    /// It was called.
    Called(Call),
    /// The call repeats what is known, and this handler asked for no resync.
    Skipped(Call),
}

/// All handlers of an informer. The log keeps what the slowest of them has not got.
#[derive(Clone, Debug, Default)]
pub struct Handlers {
    log: VecDeque<Call>,
    /// The number of the first call of the log.
    begins: usize,
    handlers: Vec<Handler>,
}

impl Handlers {
    /// Handlers with these options. Those that join by `now` are there at once.
    pub fn new(options: &[HandlerOptions], now: f64) -> Handlers {
        let handler = |options: &HandlerOptions| Handler {
            options: options.clone(),
            first: VecDeque::new(),
            place: 0,
            has_joined: options.joins <= now,
            free_at: f64::NEG_INFINITY,
            calls: 0,
        };
        Handlers { handlers: options.iter().map(handler).collect(), ..Handlers::default() }
    }

    /// The handlers.
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    /// The calls that some handler has not got, oldest first, and the number of the first of them.
    pub fn log(&self) -> (usize, &VecDeque<Call>) {
        (self.begins, &self.log)
    }

    /// How many calls a handler has not got.
    pub fn behind(&self, handler: usize) -> usize {
        let Some(handler) = self.handlers.get(handler).filter(|handler| handler.has_joined) else { return 0 };
        handler.first.len() + self.begins + self.log.len() - handler.place
    }

    /// Changes what the handlers are like. Those that are new join now, or at their time.
    pub fn set(&mut self, options: &[HandlerOptions]) {
        let mut next = Handlers::new(options, f64::NEG_INFINITY);
        for handler in &mut next.handlers {
            if let Some(known) = self.handlers.iter().find(|known| known.options.name == handler.options.name) {
                *handler = Handler { options: handler.options.clone(), ..known.clone() };
            }
        }
        self.handlers = next.handlers;
        self.forget();
    }

    /// The next handler that has something to do, and when; `None` if none has.
    pub fn due(&self, now: f64) -> Option<(f64, usize)> {
        let due = self.handlers.iter().enumerate().filter_map(|(at, handler)| match handler.has_joined {
            false => Some((handler.options.joins.max(now), at)),
            true => (self.behind(at) > 0).then(|| (handler.free_at.max(now), at)),
        });
        due.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Adds calls to the log.
    pub fn push(&mut self, calls: impl IntoIterator<Item = Call>) {
        self.log.extend(calls);
        self.forget();
    }

    /// Lets a handler join, or take its next call, at a time in milliseconds. With `skips`, what a resync repeats is passed over
    /// by those that did not ask for it.
    pub fn step(&mut self, handler: usize, store: &Store, skips: bool, now: f64) -> Option<Handled> {
        let end = self.begins + self.log.len();
        let handler = self.handlers.get_mut(handler)?;
        if !handler.has_joined {
            (handler.has_joined, handler.place) = (true, end);
            let first = store.list().into_iter().map(|new| Call::OnAdd { new, is_in_initial_list: true });
            handler.first = first.collect();
            return Some(Handled::Joined(handler.first.len()));
        }
        let call = match handler.first.pop_front() {
            Some(call) => call,
            None => {
                handler.place += 1;
                self.log.get(handler.place - 1 - self.begins)?.clone()
            }
        };
        let skipped = skips && !handler.options.wants_resync && is_sync(&call);
        if !skipped {
            handler.free_at = now + handler.options.takes;
            handler.calls += 1;
        }
        self.forget();
        Some(if skipped { Handled::Skipped(call) } else { Handled::Called(call) })
    }

    /// Drops what everyone has got.
    fn forget(&mut self) {
        let joined = self.handlers.iter().filter(|handler| handler.has_joined);
        let keep = joined.map(|handler| handler.place).min().unwrap_or(self.begins + self.log.len());
        self.log.drain(..keep.saturating_sub(self.begins).min(self.log.len()));
        self.begins = keep.max(self.begins);
    }
}

/// Whether a call repeats what is known already (`isSync`).
pub fn is_sync(call: &Call) -> bool {
    matches!(call, Call::OnUpdate { old, new } if old.resource_version == new.resource_version)
}
