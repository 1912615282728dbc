//! What is too much for the page: a frame, a list on a slow line, and its own memory. The page says so, and its sums
//! stay right.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// How many megabytes the program's memory takes, according to the figures in the footer.
async fn memory(page: &Page) -> f64 {
    let script = "const figures = document.querySelector('[data-testid=figures]');
        figures.open = true;
        return figures.querySelector('[data-field=memory] td')?.textContent.match(/^memory ([\\d.]+)/)?.[1] ?? null";
    wait_until("the figures have the memory", SOON, async || {
        let words: Option<String> = page.read(script, Vec::new()).await;
        words.and_then(|words| words.parse().ok()).ok_or_else(|| "no memory".to_owned())
    })
    .await
}

/// The words of the notices of one type.
async fn notices(page: &Page, word: &str) -> Vec<String> {
    let script =
        "return kubechurn.notices().filter(notice => notice.type === arguments[0]).map(notice => notice.words)";
    page.read(script, vec![json!(word)]).await
}

#[tokio::test]
async fn a_huge_frame_is_not_read_and_the_list_after_it_is_true() {
    let (_turn, cluster, proxy) = started(&Options { pods: 60, rate: 20, ..Options::default() }).await;
    with_page("a_huge_frame_is_not_read_and_the_list_after_it_is_true", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let before = memory(page).await;
        cluster.control("fault?frame=huge&resource=pods&event=MODIFIED&times=1&user-agent=Mozilla").await;
        wait_until("the frame is counted, and followed by a new list", SOON, async || {
            let status = page.status_of("pods").await.ok_or_else(|| "no status".to_owned())?;
            let is_so = status.ledger["oversized"] == 1 && status.ledger["lists"] == 2 && status.state == "live";
            holds(is_so, || format!("{status:?}"))
        })
        .await;
        let shown = notices(page, "malformed").await;
        assert!(shown.len() == 1 && shown[0].contains("a frame of 65.0 MB"), "{shown:?}");
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;
        let after = memory(page).await;
        assert!(after - before < 16.0, "the frame was copied: {before} MB before it, and {after} MB after it");
        every_sum_reaches_the_rows(page, truth.count()).await;
    })
    .await;
}

/// When nothing is under way, everything that was received is in exactly one place, from the store to the rows.
async fn every_sum_reaches_the_rows(page: &Page, count: usize) {
    wait_until("nothing is under way", SOON, async || {
        let status = page.browser.run("return kubechurn.status()[0]", Vec::new()).await;
        let (account, ledger) = (&status["account"], &status["ledger"]);
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no number in {status}"));
        let rows = &account["rows"];
        let is_so = status["balanced"] == true
            && number(&rows["live"]) == count as u64
            && number(&rows["live"]) == number(&rows["shown"]) + number(&rows["filtered_out"])
            && number(&account["table"]["handled"]) == number(&ledger["changes"]) + number(&rows["of_first_lists"])
            && number(&account["timeline"]["handled"]) == number(&ledger["received"])
            && ["table", "timeline", "counters"].iter().all(|name| account[name]["waiting"] == 0);
        holds(is_so, || status.to_string())
    })
    .await;
}

#[tokio::test]
async fn a_list_on_a_slow_line_comes_to_its_end() {
    let (_turn, cluster, proxy) = started(&Options { pods: 300, ..Options::default() }).await;
    with_page("a_list_on_a_slow_line_comes_to_its_end", &proxy.url(), "#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        cluster.control("fault?watch-list=off&resource=pods").await;
        cluster.control("fault?drip=20000&pause-ms=100&verb=list&resource=pods").await;
        page.open("#/pods").await;
        page.reaches("pods", "listing", SOON).await;
        let status = page.reaches("pods", "live", Duration::from_secs(60)).await;
        assert!(status.ledger["listed"] == status.ledger["replaced"] && status.ledger["lists"] == 1, "{status:?}");
        page.shows("pods", &truth, SOON).await;
        every_sum_reaches_the_rows(page, truth.count()).await;
    })
    .await;
}

/// A page that may take a megabyte has taken more before its first list. What the page gives up, and in which order, is
/// the same as with a thousand megabytes.
#[tokio::test]
async fn memory_that_runs_out_is_reported_and_the_largest_watch_given_up() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    let name = "memory_that_runs_out_is_reported_and_the_largest_watch_given_up";
    with_page(name, &proxy.url(), "?memory=1#/pods", async |page| {
        let status = page.reaches("pods", "stopped", SOON).await;
        let words = status.message.unwrap_or_default();
        assert!(words.starts_with("Pods, the largest watch"), "{words}");
        let shown = notices(page, "memory").await;
        assert!(shown.len() >= 2, "{shown:?}");
        assert!(shown[0].contains("texts of versions and marks") && shown[0].contains("of 1 MB"), "{shown:?}");
        assert!(shown[1].contains("is no longer watched"), "{shown:?}");
        page.is_balanced().await;

        page.open("?memory=1000#/pods").await;
        page.reaches("pods", "live", SOON).await;
        assert_eq!(notices(page, "memory").await, [""; 0]);
    })
    .await;
}
