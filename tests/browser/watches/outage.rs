//! Faults between the page and its objects: the page says so, recovers by itself, and reports what it missed.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::history::the_gone_are_marked;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::truth::{Truth, pod};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const PODS: &str = "/api/v1/pods";
const RATE: u32 = 40;

/// How long a page may take to notice that its socket is gone.
const NOTICE: Duration = Duration::from_secs(5);

/// How long a page may take to be live again after that is possible.
const RECOVERY: Duration = Duration::from_secs(10);

fn calm() -> Options {
    Options { pods: 200, rate: RATE, bookmark_seconds: 2, ..Options::default() }
}

#[tokio::test]
async fn the_proxy_dies_and_pods_go_meanwhile() {
    let (_turn, cluster, mut proxy) = started(&calm()).await;
    with_page("the_proxy_dies_and_pods_go_meanwhile", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", RECOVERY).await;
        proxy.kill().await;
        let before = page.is_left_with("pods", NOTICE).await;

        let doomed = cluster.quiet(PODS).await;
        for key in doomed.items.keys().step_by(20) {
            cluster.delete(&pod(key)).await;
        }
        cluster.rate(RATE).await;
        cluster.advance(5 * u64::from(RATE), RATE).await;
        assert_eq!(page.attribute("connection", "data-state").await.as_deref(), Some("stale"), "after five seconds");
        assert_eq!(page.rows("pods").await.len(), before.len(), "a stale page keeps what it knew");

        proxy.start_again().await;
        page.reaches("pods", "live", RECOVERY).await;
        let truth = cluster.quiet(PODS).await;
        caught_up(page, &truth).await;
        the_gone_are_marked(&page.marks("pods").await, &before, &truth);
    })
    .await;
}

/// Records the console's messages from now on.
const LISTEN: &str = "const warn = console.warn; window.warned = []; \
    console.warn = text => { window.warned.push(text); warn.call(console, text) }; return true";

/// The outage and the new list are in `notices()`, in the list that the footer opens, and in the console, each once.
async fn every_listener_is_notified(page: &Page) {
    let types = "return kubechurn.notices().filter(said => said.resource === 'pods').map(said => said.type)";
    let types: Vec<String> = page.read(types, Vec::new()).await;
    let count = |word: &str| types.iter().filter(|said| *said == word).count();
    assert_eq!(
        (types.first().map(String::as_str), count("stale"), count("relist")),
        (Some("stale"), 1, 1),
        "{types:?}"
    );
    assert!(count("gap") >= 1, "{types:?}");
    let warned: Vec<String> = page.read("return window.warned", Vec::new()).await;
    for word in ["stale", "relist", "gap"] {
        let lines = warned.iter().filter(|line| line.starts_with(&format!("pods: {word}: "))).count();
        assert_eq!(lines, count(word), "{warned:#?}");
    }
    page.click("notices").await;
    wait_until("the list is open", RECOVERY, async || {
        let text = page.text("notices").await;
        holds(text.contains("Everything was listed again") && text.contains("The watch was lost"), || text)
    })
    .await;
}

#[tokio::test]
async fn history_is_compacted_under_an_open_page() {
    let (_turn, cluster, mut proxy) = started(&calm()).await;
    with_page("history_is_compacted_under_an_open_page", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", RECOVERY).await;
        let _: bool = page.read(LISTEN, Vec::new()).await;
        proxy.kill().await;
        let before = page.is_left_with("pods", NOTICE).await;
        cluster.rate(100).await;
        cluster.advance(500, 100).await;
        cluster.control("compact").await;
        proxy.start_again().await;
        page.reaches("pods", "live", RECOVERY).await;
        let truth = cluster.quiet(PODS).await;
        caught_up(page, &truth).await;
        the_gone_are_marked(&page.marks("pods").await, &before, &truth);
        every_listener_is_notified(page).await;
    })
    .await;
}

/// The page holds what the cluster holds, in its store and on the screen, and its sums are right.
async fn caught_up(page: &Page, truth: &Truth) {
    page.shows("pods", truth, Duration::from_secs(5)).await;
    page.counts(truth.count(), truth.count()).await;
    page.is_balanced().await;
    // What is drawn follows with a frame.
    wait_until("rows are drawn as live, and none that is gone", Duration::from_secs(5), async || {
        let drawn = page.drawn().await;
        let left_over: Vec<_> = drawn.iter().filter(|key| !truth.items.contains_key(*key)).collect();
        holds(!drawn.is_empty() && left_over.is_empty(), || format!("{} drawn, gone: {left_over:?}", drawn.len()))
    })
    .await;
}

/// The server is stopped before the page begins: its port is open, and it sends nothing.
#[tokio::test]
async fn an_api_that_hangs_is_reported_and_then_found() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    cluster.stop();
    with_page("an_api_that_hangs_is_reported", &proxy.url(), "#/pods", async |page| {
        wait_until("the page says what it waits for", Duration::from_secs(12), async || {
            let there = "return document.querySelector('[data-testid=splash]')?.textContent ?? ''";
            let text: String = page.read(there, Vec::new()).await;
            holds(text.contains("no answer within 4.5 s"), || text)
        })
        .await;
        cluster.go_on();
        page.reaches("pods", "live", Duration::from_secs(10)).await;
        let gone = "return document.querySelector('[data-testid=splash]') === null";
        page.becomes("the page without the splash", gone, json!(true)).await;
        let truth = cluster.list(PODS).await;
        page.shows("pods", &truth, Duration::from_secs(5)).await;
    })
    .await;
}
