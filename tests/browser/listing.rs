//! A list that takes long shows how many objects have arrived, and of about how many.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const SOON: Duration = Duration::from_secs(20);
/// The longest time that a list of all Pods takes with the fault below.
const LONG: Duration = Duration::from_secs(60);

/// The requests for a number of objects that the page has sent since it was loaded.
async fn questions(page: &Page) -> Vec<String> {
    let script = "return performance.getEntriesByType('resource').map(entry => entry.name)
        .filter(name => new URL(name).searchParams.get('limit') === '1')
        .map(name => new URL(name).pathname)";
    page.read(script, Vec::new()).await
}

/// What makes a list of Pods last: it is sent in small pieces.
const DRIPS: &str = "fault?drip=16384&pause-ms=15&resource=pods&verb=list&user-agent=Mozilla";
/// What makes a streaming list of Pods last: each object arrives by itself, a little later than the one before.
const TRICKLES: &str = "fault?frame=delay&delay-ms=6&resource=pods&verb=watch&user-agent=Mozilla";

#[tokio::test]
async fn a_list_that_lasts_says_of_about_how_many() {
    says_of_about_how_many("a_list_that_lasts_says_of_about_how_many", "", DRIPS).await;
}

#[tokio::test]
async fn a_streaming_list_that_lasts_says_of_about_how_many() {
    says_of_about_how_many("a_streaming_list_that_lasts_says_of_about_how_many", "?list=stream", TRICKLES).await;
}

async fn says_of_about_how_many(name: &str, query: &str, fault: &str) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 1_500, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page(name, &format!("{}{query}", proxy.url()), "#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        assert_eq!(questions(page).await, [""; 0], "for a short list, the number is not requested");
        cluster.control(fault).await;
        let truth = cluster.list("/api/v1/pods").await;
        let count = truth.count();
        let about = format!("of about {},{:03}", count / 1000, count % 1000);
        page.open("#/pods").await;
        let bar = "
            const bar = document.querySelector('[data-testid=listing]');
            const number = name => Number(bar.getAttribute(name));
            const text = handle => document.querySelector(`[data-testid=${handle}]`)?.textContent.trim() ?? '';
            return bar ? [bar.role ?? bar.getAttribute('role'), number('aria-valuenow'), number('aria-valuemax'), bar.getAttribute('aria-valuetext'),
                bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width,
                text('connection'), text('empty')] : null";
        wait_until("the page shows how far the list has come", SOON, async || {
            let told = page.browser.run(bar, Vec::new()).await;
            let (now, share) = (told[1].as_u64().unwrap_or(0), told[4].as_f64().unwrap_or(0.0));
            let is_so = told[0] == "progressbar"
                && told[2] == json!(count)
                && now > 0
                && now < count as u64
                && told[3].as_str().is_some_and(|words| words.ends_with(&about))
                && (share - now as f64 / count as f64).abs() < 0.01
                && told[5].as_str().is_some_and(|words| words.starts_with("listing") && words.ends_with(&about))
                && told[6] == "Listing Pods in any namespace …";
            holds(is_so, || told.to_string())
        })
        .await;
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        wait_until("the bar is gone", SOON, async || {
            let told = page.browser.run(bar, Vec::new()).await;
            holds(told == Value::Null, || told.to_string())
        })
        .await;
        assert_eq!(questions(page).await, ["/k8s/api/v1/pods"], "one request for one list");
        let ledger = page.status_of("pods").await.expect("Pods are watched").ledger;
        let came = if query.is_empty() { "listed" } else { "streamed" };
        assert!(ledger[came].as_u64() >= Some(count as u64), "the list came in the way that was asked for: {ledger}");
        if query.is_empty() {
            return;
        }

        // A user who may not ask for the number sees how many have arrived, and nothing else is different.
        cluster.control("forbid?verb=list&resource=pods").await;
        page.reload().await;
        wait_until("the page shows how many objects have arrived", SOON, async || {
            let (connection, asked) = (page.text("connection").await, questions(page).await);
            holds(connection.ends_with("so far") && asked.len() == 1, || format!("{connection}, {asked:?}"))
        })
        .await;
        assert_eq!(page.browser.run(bar, Vec::new()).await, Value::Null, "the page does not know of how many");
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;
        assert_eq!(questions(page).await.len(), 1, "the number is not requested again");
    })
    .await;
}
