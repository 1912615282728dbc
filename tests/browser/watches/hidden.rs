//! A tab in the background does not take more and more memory, and is up to date when the user looks at it again.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page, with_page_in};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const RATE: u32 = 200;
/// Writes per second.
const FLOOD: u32 = 5_000;

/// The most that the memory may grow, in addition to what the recorder and the marks say that they take. Half a minute of
/// events is more than 20 MB of text, so that code which keeps the text, or a value made from it, is found.
const GROWTH: f64 = 12e6;

#[tokio::test]
async fn half_a_minute_hidden_under_load() {
    let (_turn, cluster, proxy) = started(&Options { pods: 1_000, rate: RATE, ..Options::default() }).await;
    with_page("half_a_minute_hidden_under_load", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        // The ring buffers of a working page count as part of what it may hold.
        cluster.advance(5 * u64::from(RATE), RATE).await;
        let before = memory(page).await;

        page.browser.hide().await;
        visibility(page, "hidden").await;
        cluster.advance(30 * u64::from(RATE), RATE).await;
        visibility(page, "hidden").await;
        let after = memory(page).await;

        page.browser.show().await;
        visibility(page, "visible").await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, Duration::from_secs(2)).await;
        page.counts(truth.count(), truth.count()).await;
        page.is_balanced().await;
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));

        println!("wasm and heap before hiding: {before:?}; after half a minute: {after:?}");
        let heap = after.heap - before.heap;
        assert!(after.beyond(&before) < GROWTH, "the memory grew while hidden: {before:?}, then {after:?}");
        assert!(heap < GROWTH, "the script's heap grew by {heap} bytes while hidden");
    })
    .await;
}

/// Memory that each frame of a visible page leaves behind adds up to a visible amount after hundreds of frames, of
/// which there are ten a second.
#[tokio::test]
async fn a_stream_of_changes_in_sight_leaves_no_value_behind() {
    let (_turn, cluster, proxy) = started(&Options { pods: 100, rate: RATE, ..Options::default() }).await;
    with_page("a_stream_of_changes_in_sight", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        cluster.advance(5 * u64::from(RATE), RATE).await;
        let held = async || page.read::<f64>("return window.__values()", Vec::<Value>::new()).await;
        let before = held().await;
        assert!(before > 0.0, "the table of values is found");
        cluster.advance(20 * u64::from(RATE), RATE).await;
        let after = held().await;
        assert!(after - before < 60.0, "the program held {before} JavaScript values, and then {after}");
    })
    .await;
}

/// Runs before the page does, and then holds back all of its timers, from `held.begin()` to `held.end()`. A browser
/// lets the timers of a hidden tab run once a minute: between two such moments, a page is in exactly this state. Also counts the
/// open sockets that the page closes.
const HOLD: &str = "{
    const [timeout, interval, close] = [window.setTimeout, window.setInterval, WebSocket.prototype.close];
    let [holds, late] = [false, []];
    const held = call => (...given) => holds ? void late.push(() => call(...given)) : call(...given);
    window.setTimeout = (call, ...more) => timeout(held(call), ...more);
    window.setInterval = (call, ...more) => interval(() => holds || call(), ...more);
    WebSocket.prototype.close = function (...given) {
        if (this.readyState === WebSocket.OPEN) window.held.closed += 1;
        return close.apply(this, given);
    };
    window.held = {
        closed: 0,
        begin() { holds = true; return true; },
        end() { holds = false; late.splice(0).forEach(call => call()); return true; },
    };
}";

/// A browser delays the timers of a tab that is hidden for long to one a minute. Between two of them, only what 5,000
/// writes a second send within twelve seconds can be received here, so the test need not hold the timers back for
/// longer. That the queues are drained by count alone shows in the memory. Showing the tab again is no wake-up from
/// sleep: nothing is dropped, listed again, or called a gap.
#[tokio::test]
async fn timers_that_are_held_back_keep_nothing_and_coming_back_is_no_sleep() {
    let (_turn, cluster, proxy) = started(&Options { pods: 1_000, rate: 0, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}\n{HOLD}")).await;
    let name = "timers_that_are_held_back_keep_nothing_and_coming_back_is_no_sleep";
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        cluster.rate(FLOOD).await;
        cluster.advance(5 * u64::from(FLOOD), FLOOD).await;
        let before = memory(page).await;

        page.browser.hide().await;
        visibility(page, "hidden").await;
        let _: bool = page.read("return held.begin()", Vec::new()).await;
        cluster.advance(12 * u64::from(FLOOD), FLOOD).await;
        let after = memory(page).await;
        let waits = "return kubechurn.status().find(kind => kind.resource === 'pods').account.timeline";
        let waits: Value = page.read(waits, Vec::new()).await;
        let (meant, waiting) = (waits["meant"].as_u64().unwrap_or(0), waits["waiting"].as_u64());
        // How much is received depends on the machine: enough to distinguish what is drained from what is not.
        assert!(
            meant > 10_000 && waiting.is_some_and(|waiting| waiting < 5_000),
            "what waits was not drained: {waits}"
        );
        page.browser.show().await;
        visibility(page, "visible").await;
        let _: bool = page.read("return held.end()", Vec::new()).await;

        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, Duration::from_secs(20)).await;
        page.is_balanced().await;
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));
        // The server ends the watch of a client that does not keep up on a busy machine, and the page resumes it.
        let [closed, lists] = ["held.closed", "kubechurn.status().find(kind => kind.resource === 'pods').ledger.lists"];
        let [closed, lists]: [u64; 2] = page.read(&format!("return [{closed}, {lists}]"), Vec::new()).await;
        assert_eq!([closed, lists], [0, 1], "a healthy watch was dropped, or a list read again");
        let script = "return kubechurn.notices().filter(said => ['gap', 'relist', 'stale'].includes(said.type))";
        page.becomes("nothing is called a gap", script, json!([])).await;
        println!("before: {before:?}; after: {after:?}");
        assert!(after.beyond(&before) < GROWTH, "the memory grew while hidden: {before:?}, then {after:?}");
    })
    .await;
}

/// Sizes in bytes.
#[derive(Debug)]
struct Memory {
    wasm: f64,
    heap: f64,
    recorder: f64,
    marks: f64,
}

impl Memory {
    /// By how much more the program's memory has grown than what is meant to be kept in it.
    fn beyond(&self, before: &Memory) -> f64 {
        self.wasm - before.wasm - (self.recorder - before.recorder) - (self.marks - before.marks)
    }
}

async fn memory(page: &Page) -> Memory {
    page.browser.devtools("HeapProfiler.collectGarbage", json!({})).await;
    let script = "const marks = kubechurn.status().map(kind => kind.account.marks.bytes);
        return [window.__memory?.buffer.byteLength ?? 0, performance.memory.usedJSHeapSize,
            kubechurn.recorder().bytes, marks.reduce((sum, bytes) => sum + bytes, 0)]";
    let (wasm, heap, recorder, marks): (f64, f64, f64, f64) = page.read(script, Vec::new()).await;
    assert!(wasm > 0.0, "the page's wasm memory was not found");
    Memory { wasm, heap, recorder, marks }
}

async fn visibility(page: &Page, expected: &str) {
    wait_until(&format!("the tab is {expected}"), Duration::from_secs(5), async || {
        let state: String = page.read("return document.visibilityState", Vec::new()).await;
        holds(state == expected, || state)
    })
    .await;
}
