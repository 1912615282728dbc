//! Who writes what, in a browser: it opens by its key, a click shows the writes of one, and nothing in it covers anything.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;
use crate::shell::layout::is_in_order;

const SOON: Duration = Duration::from_secs(60);

#[tokio::test]
async fn it_opens_by_its_key_and_a_click_shows_the_writes_of_one() {
    let name = "it_opens_by_its_key_and_a_click_shows_the_writes_of_one";
    let (_turn, _cluster, proxy) = started(&Options { scenario: "rollout", pods: 60, ..Options::default() }).await;
    with_page(name, &proxy.url(), "#/pods,deployments,replicasets", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.press("M").await;
        wait_until("a rollout has writers, and its Deployment is measured", SOON, async || {
            let words = page.text("writers").await;
            holds(["kubelet", "From what is asked for", "Deployment"].iter().all(|one| words.contains(one)), || words)
        })
        .await;
        page.click("writer-name").await;
        wait_until("the writes of one, with what they answer", SOON, async || {
            let words = page.text("writers-writes").await;
            holds(words.matches("answers").count() > 2, || words)
        })
        .await;
        assert!(page.hash().await.contains("writers="));
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            is_in_order(page, &format!("the writers at {width}×{height}")).await;
        }
        finds_nothing(page, "the writers").await;
        page.press("\u{e00c}").await; // Esc
        let closed = "return (document.querySelector('[data-testid=writers]')?.open ?? false) || location.hash.includes('writers')";
        page.becomes("it is closed, and its address gone", closed, json!(false)).await;
    })
    .await;
}
