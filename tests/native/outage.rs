//! Faults between the page and its objects: the page says so, recovers by itself, and reports what it missed.
//! `tests/browser/watches/outage.rs` has a browser's sockets.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::history::{every_write_has_its_mark, revision, the_gone_are_marked};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::truth::Truth;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

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
async fn the_cluster_comes_back_smaller_with_its_history_compacted() {
    let mut cluster = Cluster::start(&calm()).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods", async |page| {
        page.comes_to("pods", "live", RECOVERY).await;
        cluster.quiet(PODS).await;
        cluster.kill().await;
        let before = page.is_left_with("pods", NOTICE).await;

        cluster.start_again(&Options { pods: 150, rate: 0, first_revision: 1_000_000, ..calm() }).await;
        page.comes_to("pods", "live", RECOVERY).await;
        let truth = cluster.list(PODS).await;
        assert!(truth.revision >= 1_000_000, "the cluster started at {}", truth.revision);
        caught_up(page, &truth).await;
        the_gone_are_marked(&page.marks("pods"), &before, &truth);

        // The page does not only show the list: it follows changes again.
        cluster.rate(RATE).await;
        cluster.advance(u64::from(RATE), RATE).await;
        caught_up(page, &cluster.quiet(PODS).await).await;
    })
    .await;
}

#[tokio::test]
async fn sockets_are_cut_under_load() {
    let cluster = Cluster::start(&Options { rate: 100, ..calm() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods", async |page| {
        let live = page.reaches("pods", "live", RECOVERY).await;
        for _ in 0..3 {
            cluster.advance(100, 100).await;
            cluster.control("cut").await;
            cluster.advance(200, 100).await;
            page.comes_to("pods", "live", RECOVERY).await;
        }
        let truth = cluster.quiet(PODS).await;
        caught_up(page, &truth).await;
        // The server still has the history, so the watch is resumed where it was cut: nothing is missed or listed
        // again.
        every_write_has_its_mark(&page.marks("pods"), &cluster.log("pods").await, revision(&live));
    })
    .await;
}

/// The page holds what the cluster holds, in its store and in its table, and its sums are right.
async fn caught_up(page: &Page, truth: &Truth) {
    page.shows("pods", truth, Duration::from_secs(5)).await;
    page.counts(truth.count(), truth.count()).await;
    page.is_balanced().await;
    // What is drawn follows with a frame.
    wait_until("rows are drawn as live, and none that is gone", Duration::from_secs(5), async || {
        let drawn = page.drawn();
        let left_over: Vec<_> = drawn.iter().filter(|key| !truth.items.contains_key(*key)).collect();
        holds(!drawn.is_empty() && left_over.is_empty(), || format!("{} drawn, gone: {left_over:?}", drawn.len()))
    })
    .await;
}
