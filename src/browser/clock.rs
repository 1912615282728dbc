//! The browser's clocks.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, select};
use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use rustc_hash::FxHashMap;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::cache::clock::{Clock, timer};
use kubechurn_client::cache::server_clock::ServerClock;

thread_local! {
    /// The monotonic clock, and when it began. Both are looked up once, because looking them up for each frame of a watch took
    /// longer than reading the clock.
    static MONOTONIC: Option<(web_sys::Performance, f64)> = web_sys::window()
        .and_then(|window| window.performance())
        .map(|performance| { let origin = performance.time_origin(); (performance, origin) });
    /// The page's document, looked up once for the same reason.
    static DOCUMENT: Option<web_sys::Document> = web_sys::window().and_then(|window| window.document());
    static CLOCK: Cell<Clock> = Cell::default();
    /// The clocks of the API servers, by cluster.
    static SERVERS: RefCell<FxHashMap<&'static str, ServerClock>> = RefCell::default();
}

/// What the clocks say.
struct Times {
    /// Of [`CLOCK`].
    now: f64,
    /// Of the clock by which timers run.
    monotonic: f64,
    wall: f64,
}

/// Reads both clocks, and calls `look` with the clock and the times.
fn read<T>(look: impl FnOnce(&mut Clock, &Times) -> T) -> T {
    let wall = js_sys::Date::now();
    let monotonic = MONOTONIC.with(|clock| match clock {
        Some((performance, origin)) => origin + performance.now(),
        None => wall,
    });
    CLOCK.with(|cell| {
        let mut clock = cell.get();
        let now = clock.read(monotonic, wall);
        let result = look(&mut clock, &Times { now, monotonic, wall });
        cell.set(clock);
        result
    })
}

/// Milliseconds since 1970 on a clock that never runs backwards, and goes on while the machine sleeps.
pub fn now() -> f64 {
    read(|_, times| times.now)
}

/// By how many milliseconds the clock jumped forward since this was last asked: for so long the machine slept, if nobody
/// set its clock.
pub fn take_jump() -> f64 {
    read(|clock, _| clock.take_jump())
}

/// What is to be added to a time of this clock for the time of day, in milliseconds.
pub fn to_wall() -> f64 {
    read(|clock, times| clock.to_wall(times.wall))
}

/// The clock on the wall, in milliseconds since 1970.
pub fn wall() -> f64 {
    js_sys::Date::now()
}

/// When the document was begun, in milliseconds since 1970: nothing was asked for earlier.
pub fn origin() -> f64 {
    MONOTONIC.with(|clock| clock.as_ref().map_or_else(wall, |(_, origin)| *origin))
}

/// What is known of the clock of a cluster's API server.
pub fn of_server(cluster: &'static str) -> ServerClock {
    SERVERS.with_borrow(|servers| servers.get(cluster).copied().unwrap_or_default())
}

/// An answer of a cluster's API server has come, with this `Date` header, to what was asked at this time of [`wall`].
pub fn answered(cluster: &'static str, date: &str, asked: f64) {
    SERVERS.with_borrow_mut(|servers| servers.entry(cluster).or_default().answered(date, asked, wall()));
}

/// Whether the page is hidden, so that there are no animation frames.
pub fn is_hidden() -> bool {
    DOCUMENT.with(|document| document.as_ref().is_some_and(web_sys::Document::hidden))
}

/// The result of a future that is ready within so many milliseconds. A future that takes longer is dropped, and `None`.
pub async fn within<T>(milliseconds: u32, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(TimeoutFuture::new(milliseconds))).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

/// Calls back once, in so many milliseconds. `gloo_timers::callback::Timeout::forget` never gives its closure's place in
/// the table of JavaScript's values free again: ten a second are 860,000 a day.
pub fn later(milliseconds: u32, callback: impl FnOnce() + 'static) {
    spawn_local(async move {
        TimeoutFuture::new(milliseconds).await;
        callback();
    });
}

/// A browser cannot wait longer than this many milliseconds at once.
const LONGEST_WAIT: f64 = 3_600_000.0;

/// Calls back once at the deadline that was set.
pub struct Alarm {
    callback: Rc<dyn Fn()>,
    /// The timer that runs, and when it comes, by the monotonic clock.
    timer: Rc<RefCell<Option<(f64, Timeout)>>>,
}

impl Alarm {
    /// An alarm that is not set.
    pub fn new(callback: impl Fn() + 'static) -> Alarm {
        Alarm { callback: Rc::new(callback), timer: Rc::default() }
    }

    /// It calls back no more.
    pub fn unset(&self) {
        self.timer.take();
    }

    /// Sets it for a time of [`now`], in milliseconds. An earlier one is kept, because the deadline is asked for again when it
    /// comes: so a frame, which moves the deadline further away, costs nothing here.
    pub fn set(&self, deadline: f64) {
        let mut running = self.timer.borrow_mut();
        let runs_until = running.as_ref().map(|(until, _)| *until);
        let (wait, monotonic) = read(|_, times| ((deadline - times.now).min(LONGEST_WAIT), times.monotonic));
        let Some(wait) = timer(runs_until, monotonic, wait) else { return };
        let (callback, own) = (self.callback.clone(), self.timer.clone());
        let timeout = Timeout::new(wait.ceil() as u32, move || {
            own.take();
            callback();
        });
        *running = Some((monotonic + wait, timeout));
    }
}
