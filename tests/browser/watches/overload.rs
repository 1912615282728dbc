//! More is received than the page can process: it says so, folds the waiting changes, and recovers.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// The overloads that the page has reported, and the gaps that it has drawn for them.
const SHOWN: &str = "return [
    kubechurn.notices().filter(notice => notice.type === 'overload').map(notice => notice.words),
    kubechurn.marks('pods').filter(mark => mark.type === 'Gap').length]";

#[tokio::test]
async fn an_overload_is_shown_reported_and_survived() {
    let (_turn, cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    with_page("an_overload_is_shown_reported_and_survived", &proxy.url(), "?drain=1#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let count = cluster.list("/api/v1/pods").await.count();
        page.counts(count, count).await;
        assert_eq!(page.text("drain").await, "1 key a frame →", "the limit that the address asks for is shown");
        // With a limit of one key a frame, the first list may have been an overload too.
        let before = page.browser.run(SHOWN, Vec::new()).await;

        cluster.rate(1_000).await;
        wait_until("the page says that it is behind", SOON, async || {
            let open = "const figures = document.querySelector('[data-testid=figures]');
                figures.open = true;
                return figures.querySelector('[data-field=pop] td')?.textContent ?? ''";
            let (notices, footer): (String, String) = (page.text("notices").await, page.read(open, Vec::new()).await);
            let ratio = footer.split(' ').next().and_then(|ratio| ratio.parse().ok());
            let folds = ratio.is_some_and(|ratio: f64| ratio > 1.0);
            holds(notices.starts_with("behind by ") && folds, || format!("{notices}: {footer}"))
        })
        .await;
        page.is_balanced().await;
        let shown = page.browser.run(SHOWN, Vec::new()).await;
        assert_eq!(shown, before, "the overload is reported when it is over");

        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        page.counts(truth.count(), truth.count()).await;
        wait_until("the overload is reported once, and drawn as a gap", SOON, async || {
            let shown = page.browser.run(SHOWN, Vec::new()).await;
            let grown = |part: &Value| part.as_array().map_or(0, Vec::len);
            let is_so =
                grown(&shown[0]) == grown(&before[0]) + 1 && shown[1] == json!(before[1].as_u64().unwrap_or(0) + 1);
            let words = shown[0].as_array().and_then(|shown| shown.last()?.as_str()).unwrap_or_default().to_owned();
            holds(is_so && words.contains("More came than could be shown at once"), || {
                format!("{shown}, before {before}")
            })
        })
        .await;
        wait_until("the page is no longer behind", SOON, async || {
            let notices = page.text("notices").await;
            holds(!notices.starts_with("behind"), || notices)
        })
        .await;
        page.is_balanced().await;
        let ledger = page.status_of("pods").await.expect("Pods are watched").ledger;
        assert!(ledger["coalesced"].as_u64().is_some_and(|folded| folded > 0), "{ledger}");

        page.open("?drain=many#/pods").await;
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("drain").await, "drain=many is no number of keys");
        page.open("?drain=#/pods").await;
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("drain").await, "", "the address asks for no limit");
    })
    .await;
}
