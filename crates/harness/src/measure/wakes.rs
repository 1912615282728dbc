//! How often a page's script is woken: by its timers, by frames of the screen, and by answers to its requests.

use serde::Deserialize;

use crate::browser::Browser;

/// A script to run before the page's own. It counts in `__wakes` the timers that fired, the animation frames, the requests
/// that were begun, and the changes of the document.
pub const WAKES: &str = "
    window.__wakes = { timers: 0, frames: 0, requests: 0, changes: 0 };
    for (const [name, what] of [['setTimeout', 'timers'], ['setInterval', 'timers'], ['requestAnimationFrame', 'frames']]) {
        const original = window[name];
        window[name] = (call, ...more) =>
            original.call(window, (...given) => { __wakes[what] += 1; return call(...given); }, ...more);
    }
    const fetched = window.fetch;
    window.fetch = (...given) => { __wakes.requests += 1; return fetched.apply(window, given); };
    new MutationObserver(changes => __wakes.changes += changes.length)
        .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });";

/// The counts of `__wakes`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Wakes {
    /// Timers that fired.
    pub timers: u32,
    /// Animation frames.
    pub frames: u32,
    /// Requests that were begun.
    pub requests: u32,
    /// Changes of the document.
    pub changes: u32,
}

impl Wakes {
    /// Reads them. The page must have been opened with [`WAKES`].
    pub async fn read(browser: &Browser) -> Wakes {
        let counts = browser.run("return window.__wakes", Vec::new()).await;
        Wakes::deserialize(&counts).unwrap_or_else(|error| panic!("{counts} are no counts: {error}"))
    }

    /// How many more they are than before.
    pub fn since(self, before: Wakes) -> Wakes {
        Wakes {
            timers: self.timers - before.timers,
            frames: self.frames - before.frames,
            requests: self.requests - before.requests,
            changes: self.changes - before.changes,
        }
    }
}
