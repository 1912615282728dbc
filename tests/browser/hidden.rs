//! A tab in the background keeps to its memory, and is up to date when it is looked at again.

use std::time::Duration;

use serde_json::json;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::{Page, with_page};
use crate::harness::proxy::KubectlProxy;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const RATE: u32 = 200;

/// Half a minute of events is more than 20 MB of text: whoever keeps it, or a value made of it, is found.
const GROWTH: f64 = 12e6;

#[tokio::test]
async fn half_a_minute_hidden_under_load() {
    let _turn = turn::alone().await;
    let cluster = Cluster::start(&Options { pods: 1_000, rate: RATE, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page("half_a_minute_hidden_under_load", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        // The rings and buffers of a page at work are part of what it may hold.
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
        let (wasm, heap) = (after.wasm - before.wasm, after.heap - before.heap);
        assert!(wasm < GROWTH, "wasm's memory grew by {wasm} bytes while hidden");
        assert!(heap < GROWTH, "the script's heap grew by {heap} bytes while hidden");
    })
    .await;
}

/// In bytes.
#[derive(Debug)]
struct Memory {
    wasm: f64,
    heap: f64,
}

async fn memory(page: &Page) -> Memory {
    page.browser.devtools("HeapProfiler.collectGarbage", json!({})).await;
    let script = "return [window.__memory?.buffer.byteLength ?? 0, performance.memory.usedJSHeapSize]";
    let (wasm, heap): (f64, f64) = page.read(script, Vec::new()).await;
    assert!(wasm > 0.0, "the page's wasm memory was not found");
    Memory { wasm, heap }
}

async fn visibility(page: &Page, expected: &str) {
    wait_until(&format!("the tab is {expected}"), Duration::from_secs(5), async || {
        let state: String = page.read("return document.visibilityState", Vec::new()).await;
        holds(state == expected, || state)
    })
    .await;
}
