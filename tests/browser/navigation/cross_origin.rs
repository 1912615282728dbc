//! An API of another origin whose answers the browser keeps from the page: `kubectl proxy` on another port than the page's.

use std::time::Duration;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::truth::pod;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use serde_json::json;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(20);
/// How long an outage may last for the page until it is live again.
const RECOVERY: Duration = Duration::from_secs(30);

/// Keeps what the page asks by fetch of other origins.
const FETCHED: &str = "
    window.__fetched = [];
    const fetched = window.fetch;
    window.fetch = (what, ...rest) => {
        const url = String(what?.url ?? what);
        if (!url.startsWith(location.origin)) window.__fetched.push(new URL(url).pathname);
        return fetched(what, ...rest);
    };";

#[tokio::test]
async fn an_api_that_fetch_may_not_read_is_followed_by_sockets_alone() {
    let _turn = turn::shared().await;
    let options = Options { pods: 60, bookmark_seconds: 600, ..Options::default() };
    let cluster = Cluster::start(&options).await;
    let (own, mut api) = (KubectlProxy::start(cluster.port()).await, KubectlProxy::start_plain(cluster.port()).await);
    let url = format!("{}?api=http://127.0.0.1:{}/", own.url(), api.port());
    let browser = Browser::start(&format!("{INSTRUMENTS}{FETCHED}")).await;
    let name = "an_api_that_fetch_may_not_read_is_followed_by_sockets_alone";
    let key = cluster.list(PODS).await.last_key().to_owned();
    let touch = json!({ "metadata": { "annotations": { "kubechurn.test/touched": "yes" } } });
    with_page_in(browser, name, &url, &format!("#/pods?sel={key}&tab=yaml"), async |page| {
        page.reaches("pods", "live", SOON).await;
        page.shows("pods", &cluster.list(PODS).await, SOON).await;
        let readable = "return fetch(arguments[0]).then(() => true, () => false)";
        let version = format!("http://127.0.0.1:{}/version", api.port());
        assert_eq!(page.browser.run(readable, vec![version.into()]).await, json!(false), "else nothing is tested here");

        // The page says what is missing, and shows what it has of an object from what the list brought.
        assert_eq!(page.text("api-limits").await, "streams only");
        says(page, "yaml", key.split('/').next_back().unwrap_or_default()).await;
        wait_until("the page says that other kinds are missing", SOON, async || {
            let words = page.text("rail-trouble").await;
            holds(words.contains("only the kinds that the page knows by itself") && words.contains("CORS"), || words)
        })
        .await;

        // A change reaches row, mark and inspector.
        cluster.patch(&pod(&key), &touch).await;
        page.shows("pods", &cluster.list(PODS).await, SOON).await;
        says(page, "yaml", "kubechurn.test/touched").await;
        let updated = page.marks("pods").await.into_iter().filter(|mark| mark.kind == "Updated").count();
        assert_eq!(updated, 1);
        page.is_balanced().await;

        // A watch on which nothing happens stays live, because a socket of its own proves it.
        let before = page.status_of("pods").await.expect("Pods are watched").resource_version;
        let mut oldest: f64 = 0.0;
        wait_until("a silent watch is proven anew", Duration::from_secs(40), async || {
            let status = page.status_of("pods").await.expect("Pods are watched");
            assert_eq!((status.state.as_str(), &status.resource_version), ("live", &before));
            let age = status.age_ms.unwrap_or_default();
            let is_new = oldest >= 8_000.0 && age < 3_000.0;
            oldest = oldest.max(age);
            holds(is_new, || format!("the last proof is {age} ms old"))
        })
        .await;

        // An outage is noticed and ends; of what happened meanwhile nothing is missing.
        api.kill().await;
        page.reaches("pods", "stale", SOON).await;
        cluster.delete(&pod(&key)).await;
        api.start_again().await;
        page.reaches("pods", "live", RECOVERY).await;
        page.shows("pods", &cluster.list(PODS).await, SOON).await;

        // A kind that only discovery could report is missing, in words. Deployments are known.
        page.open("#/widgets").await;
        page.reload().await;
        says(page, "empty", "There is no “widgets”").await;
        page.open("#/deployments").await;
        page.reaches("deployments", "live", SOON).await;
        page.shows("deployments", &cluster.list("/apis/apps/v1/deployments").await, SOON).await;

        // To find the API is all that was asked by fetch.
        let fetched: Vec<String> = page.read("return window.__fetched", Vec::new()).await;
        assert_eq!(fetched, ["/version"]);
    })
    .await;
}

/// Nothing listens at this address of another origin: the page says so, and goes on when something does.
#[tokio::test]
async fn an_api_of_another_origin_that_is_down_is_reported_and_waited_for() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let (own, mut api) = (KubectlProxy::start(cluster.port()).await, KubectlProxy::start_plain(cluster.port()).await);
    api.kill().await;
    let url = format!("{}?api=http://127.0.0.1:{}/", own.url(), api.port());
    let browser = Browser::start(INSTRUMENTS).await;
    with_page_in(browser, "an_api_of_another_origin_that_is_down", &url, "#/pods", async |page| {
        says(page, "splash", &format!("http://127.0.0.1:{}/ no answer", api.port())).await;
        api.start_again().await;
        page.reaches("pods", "live", RECOVERY).await;
    })
    .await;
}

/// Waits until this part of the page says these words.
async fn says(page: &Page, part: &str, words: &str) {
    wait_until(&format!("{part} says {words}"), SOON, async || {
        let text = page.text(part).await;
        holds(text.contains(words), || text)
    })
    .await;
}
