//! The page checks itself: versions that went back, and why something cannot be verified.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::page::command::{Command, List};

use crate::page::with_page;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn what_is_stale_or_may_not_be_listed_is_not_verified() {
    let mut cluster = Cluster::start(&Options { pods: 60, bookmark_seconds: 1, ..Options::default() }).await;
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        page.command(Command::List(List::Verified, true));
        let says = async |words: &str| {
            page.command(Command::Verify);
            wait_until(words, PATIENCE, async || {
                let verified = page.view(|view| view.footer.verified.clone());
                let items: String = verified.items.iter().map(|item| item.words.as_str()).collect();
                holds(verified.label.starts_with("not verified") && items.contains(words), || format!("{verified:?}"))
            })
            .await;
        };
        cluster.control("fault?status=403&verb=list&resource=pods").await;
        says("this may be watched, and not listed").await;
        cluster.control("clear").await;
        page.command(Command::TogglePause);
        says("paused: what was received is not applied").await;
        page.command(Command::TogglePause);
        cluster.kill().await;
        page.is_left_with("pods", PATIENCE).await;
        says("stale: what is shown is not known to be true").await;
        assert_eq!(page.field("pods", "verified")["checks"], 0);
    })
    .await;
}

/// A watch at a version that the server has not reached yet is open and silent.
#[tokio::test]
async fn a_cluster_whose_versions_went_back_is_found_and_listed_anew() {
    let calm = || Options { bookmark_seconds: 1, ..Options::default() };
    let mut cluster = Cluster::start(&Options { pods: 200, first_revision: 1_000_000, ..calm() }).await;
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        cluster.kill().await;
        page.is_left_with("pods", PATIENCE).await;
        cluster.start_again(&Options { pods: 150, seed: 2, ..calm() }).await;
        page.comes_to("pods", "live", PATIENCE).await;
        page.command(Command::Verify);
        let truth = cluster.list("/api/v1/pods").await;
        page.shows("pods", &truth, PATIENCE).await;
        page.reaches("pods", "live", PATIENCE).await;
        // The heartbeat may have found the difference first. Whichever found it has reported it, and only once.
        let said = page.notices("difference");
        let is_so = said.iter().all(|words| words.contains("it was restored from a backup, or lags behind"));
        assert!(is_so && said.len() <= 1, "{said:?}");
        assert!(!page.notices("relist").is_empty());
        page.command(Command::Verify);
        wait_until("the checks find no difference", PATIENCE, async || {
            let verified = page.field("pods", "verified");
            let is_same = ["same", "of", "rows"].iter().all(|name| verified[name] == truth.count());
            let is_so =
                is_same && verified["differed"] == 0 && verified["checking"] == false && verified["trouble"].is_null();
            holds(is_so, || verified.to_string())
        })
        .await;
    })
    .await;
}
