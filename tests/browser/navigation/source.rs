//! Where the data comes from: the page shows it, and nothing comes from beyond this machine unless the user allows it.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{INSTRUMENTS, with_page, with_page_in};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// Counts the requests to this host, however they end.
const ASKED: &str = "
    window.__asked = [];
    const fetched = window.fetch;
    window.fetch = (what, ...rest) => {
        const url = String(what?.url ?? what);
        if (url.includes('cluster.example')) window.__asked.push(url);
        return fetched(what, ...rest);
    };";

#[tokio::test]
async fn the_header_says_where_the_data_comes_from() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let own = proxy.url();
    with_page("the_header_says_where_the_data_comes_from", &own, "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("api").await, format!("127.0.0.1:{}", proxy.port()));
        let plain = KubectlProxy::start_plain(cluster.port()).await;
        let trunk = TrunkServe::start(plain.port()).await;
        page.browser.driver.goto(format!("{}#/pods", trunk.url())).await.expect("the page loads");
        page.reaches("pods", "live", SOON).await;
        assert_eq!(format!("http://{}/", page.text("api").await), trunk.url());
    })
    .await;
}

/// `./dev serve` writes the cluster's name into the page, whatever name kubectl has for the cluster.
#[tokio::test]
async fn a_cluster_s_name_is_shown_as_text() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let name = "<img src=x onerror=alert(1)>&amp;\"kind";
    let named = format!(
        "document.addEventListener('DOMContentLoaded', () => \
             {{ document.querySelector('meta[name=cluster]').content = {} }})",
        json!(name)
    );
    let browser = Browser::start(&format!("{INSTRUMENTS}{named}")).await;
    with_page_in(browser, "a_cluster_s_name_is_shown_as_text", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("cluster").await, name);
        assert_eq!(page.text("api").await, format!("{name} 127.0.0.1:{}", proxy.port()));
    })
    .await;
}

/// The browser resolves `cluster.example` to this machine, which the page does not know.
#[tokio::test]
async fn an_api_beyond_this_machine_is_asked_for_and_then_only_that_one() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let flags = ["--host-resolver-rules=MAP cluster.example 127.0.0.1, MAP other.example 127.0.0.1"];
    let browser = Browser::start_with(&format!("{INSTRUMENTS}{ASKED}"), &flags).await;
    let foreign = format!("http://cluster.example:{}", proxy.port());
    let url = format!("{}?api={foreign}/k8s/&drain=50", proxy.url());
    with_page_in(browser, "an_api_beyond_this_machine_is_asked_for", &url, "#/pods", async |page| {
        let open = "return document.querySelector('[data-testid=ask-api]')?.open ?? false";
        page.becomes("the question is shown", open, json!(true)).await;
        assert_eq!(page.text("ask-api-origin").await, foreign);
        page.painted().await;
        let asked = "return window.__asked.length";
        assert_eq!(page.browser.run(asked, vec![]).await, json!(0), "nothing is sent before the answer");
        assert_eq!(page.text("api").await, "");
        assert_eq!(page.browser.run("return document.activeElement.dataset.testid", vec![]).await, json!("ask-api-no"));

        // Without permission, the page goes on with its own API.
        page.press("\u{e00c}").await;
        page.reaches("pods", "live", SOON).await;
        assert_eq!(page.text("api").await, format!("127.0.0.1:{}", proxy.port()));
        assert_eq!(page.browser.run("return location.search", vec![]).await, json!("?drain=50"));
        assert_eq!(page.browser.run(asked, vec![]).await, json!(0));

        page.open("#/pods").await;
        page.click("ask-api-yes").await;
        wait_until("the page connects to that API", SOON, async || {
            let asked = page.browser.run(asked, vec![]).await;
            holds(asked.as_u64() > Some(0), || asked.to_string())
        })
        .await;
        page.becomes("the question is answered", open, json!(false)).await;
        // The permission is for this origin, and for as long as the tab is open.
        let refused = "return new Promise(done => {
            document.addEventListener('securitypolicyviolation', event => done(event.blockedURI));
            fetch(arguments[0]).catch(() => {}) })";
        let other = format!("http://other.example:{}/", proxy.port());
        assert_eq!(page.browser.run(refused, vec![other.as_str().into()]).await, json!(other));
        page.reload().await;
        wait_until("the page connects to that API again", SOON, async || {
            let asked = page.browser.run(asked, vec![]).await;
            holds(asked.as_u64() > Some(0), || asked.to_string())
        })
        .await;
        assert_eq!(page.browser.run(open, vec![]).await, json!(false));
        // kubectl proxy lets no page of another origin read its answers, so there is nothing to show.
        // The console has the request that the policy refused.
        page.browser.console().await;
    })
    .await;
}

#[tokio::test]
async fn an_address_that_cannot_be_asked_is_refused_in_words() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    for (api, words) in [
        ("ftp://127.0.0.1/", "only http: and https: can be asked"),
        ("http://me:secret@127.0.0.1/", "an address with a user's name or password is not asked"),
        ("http://[::1]:8001/", "cannot name an IPv6 address"),
    ] {
        let url = format!("{}?api={api}", proxy.url());
        with_page("an_address_that_cannot_be_asked", &url, "#/pods", async |page| {
            wait_until("the connection is refused", SOON, async || {
                let text = page.text("splash").await;
                holds(text.contains(words) && !text.contains("secret"), || text)
            })
            .await;
            assert_eq!(page.browser.run("return kubechurn.status().length", vec![]).await, Value::from(0));
        })
        .await;
    }
}
