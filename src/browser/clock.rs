//! The browser's clocks.

use crate::api::time::Timestamp;
use crate::cache::backoff::Moment;

thread_local! {
    /// The clock, and when it began: each frame of a watch is stamped, and to find them took longer than to ask.
    static CLOCK: Option<(web_sys::Performance, f64)> = web_sys::window()
        .and_then(|window| window.performance())
        .map(|performance| { let origin = performance.time_origin(); (performance, origin) });
}

/// Milliseconds since 1970 on a clock that never runs backwards.
pub fn now() -> f64 {
    CLOCK.with(|clock| match clock {
        Some((performance, origin)) => origin + performance.now(),
        None => js_sys::Date::now(),
    })
}

/// The moment, with a roll of the dice.
pub fn moment() -> Moment {
    Moment { now: now(), random: js_sys::Math::random() }
}

/// The clock on the wall, which ages are told by.
pub fn wall() -> Timestamp {
    Timestamp((js_sys::Date::now() / 1000.0) as i64)
}

/// Whether the page is hidden, so that there are no animation frames.
pub fn is_hidden() -> bool {
    web_sys::window().and_then(|window| window.document()).is_some_and(|document| document.hidden())
}
