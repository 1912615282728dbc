//! The browser's figures for a page: the time of its main thread, long tasks, frames, and the memory of wasm.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::measure::quantile::Samples;

/// A script to run before the page's own. It keeps in `__long` how long each task took that took more than 50 ms.
pub const LONG_TASKS: &str = "
    window.__long = [];
    new PerformanceObserver(list => window.__long.push(...list.getEntries().map(entry => entry.duration)))
        .observe({ type: 'longtask' });";

/// The browser's own counters of the page, in seconds. They count once `Performance.enable` was sent.
#[derive(Debug)]
pub struct Metrics {
    /// When they were read.
    pub timestamp: f64,
    /// The time of the main thread's tasks by the wall clock. On a busy machine that is more than the page used.
    pub task: f64,
    /// The main thread's processor time.
    pub thread: f64,
    /// The processor time of the whole process.
    pub process: f64,
}

impl Metrics {
    /// Reads them.
    pub async fn read(browser: &Browser) -> Self {
        let answer = browser.devtools("Performance.getMetrics", json!({})).await;
        let metric = |name: &str| {
            let metrics = answer["metrics"].as_array().into_iter().flatten();
            let found = metrics.filter(|metric| metric["name"] == name).find_map(|metric| metric["value"].as_f64());
            found.unwrap_or_else(|| panic!("no metric {name} in {answer}"))
        };
        Self {
            timestamp: metric("Timestamp"),
            task: metric("TaskDuration"),
            thread: metric("ThreadTime"),
            process: metric("ProcessTime"),
        }
    }
}

/// The times between frames, for this many seconds. Nothing else should be measured meanwhile, because a page that asks for
/// every frame is busier.
pub async fn frames(browser: &Browser, seconds: u64) -> Samples {
    let script = format!(
        "new Promise(resolve => {{
            const times = [];
            const frame = now => {{
                times.push(now);
                if (now - times[0] > {seconds}000) resolve(times.slice(1).map((time, at) => time - times[at]));
                else requestAnimationFrame(frame);
            }};
            requestAnimationFrame(frame);
        }})"
    );
    samples(&browser.resolve(&script).await)
}

/// Drops the long tasks so far.
pub async fn forget_long_tasks(browser: &Browser) {
    browser.run("__long.length = 0", Vec::new()).await;
}

/// The long tasks since they were last dropped, in milliseconds.
pub async fn long_tasks(browser: &Browser) -> Samples {
    samples(&browser.run("return __long", Vec::new()).await)
}

/// The size of the wasm module's memory, in bytes. The page must have been opened with the instruments.
pub async fn wasm(browser: &Browser) -> f64 {
    browser.run("return __memory.buffer.byteLength", Vec::new()).await.as_f64().unwrap_or(f64::NAN)
}

/// A list of numbers from the page.
pub fn samples(values: &Value) -> Samples {
    Samples::new(values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
}

/// Two cells of a table of results: how many long tasks there were, and the longest of them.
pub fn tasks(long: &Samples) -> String {
    format!("{} | {}", long.count(), milliseconds(long.at(1.0)))
}

/// A cell of a table; a dash for what was not measured.
pub fn milliseconds(time: f64) -> String {
    if time.is_finite() { format!("{time:.0}") } else { String::from("–") }
}
