//! The health of the watches in a browser: it opens by its key and keeps no one out, and nothing in it covers anything.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;
use crate::shell::layout::is_in_order;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn it_opens_by_its_key_and_all_of_it_is_in_order() {
    let (_turn, cluster, proxy) = started(&Options { pods: 60, rate: 20, ..Options::default() }).await;
    let name = "it_opens_by_its_key_and_all_of_it_is_in_order";
    with_page(name, &proxy.url(), "#/pods?pin=deployments,nodes", async |page| {
        page.reaches("pods", "live", SOON).await;
        cluster.control("restart?revision=1000000").await;
        page.press("H").await;
        let said = "return document.querySelector('[data-testid=health][open]')?.textContent.includes('Listed again at') ?? false";
        page.becomes("a relist is reported", said, json!(true)).await;
        assert!(page.hash().await.contains("health=1"));
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            is_in_order(page, &format!("the health at {width}×{height}")).await;
        }
        finds_nothing(page, "the health of the watches").await;
        page.press("\u{e00c}").await; // Esc
        let closed = "return document.querySelector('[data-testid=health]').open || location.hash.includes('health')";
        page.becomes("it is closed, and its address gone", closed, json!(false)).await;
    })
    .await;
}
