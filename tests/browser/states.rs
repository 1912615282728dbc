//! What the page says while there is nothing to see, or more than can be shown.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::with_page;
use crate::harness::proxy::KubectlProxy;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn no_rows_have_a_reason() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 30, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page("no_rows_have_a_reason", &proxy.url(), "#/pods", async |page| {
        for (hash, words) in [
            ("#/pods?ns=nowhere", "There are no Pods in nowhere."),
            ("#/pods?ns=nowhere,void", "There are no Pods in nowhere, void."),
            ("#/pods?labels=app%3Dnothing", "No Pods in any namespace with labels app=nothing."),
            (
                "#/pods?labels=app%3Dnothing&fields=status.phase%3DFailed",
                "No Pods in any namespace with labels app=nothing and fields status.phase=Failed.",
            ),
            ("#/pods?q=zzzz", "No Pods in any namespace match “zzzz”."),
        ] {
            page.open(hash).await;
            wait_until(&format!("{hash} is explained"), PATIENCE, async || {
                let said = page.text("empty").await;
                holds(said == words, || said)
            })
            .await;
        }
    })
    .await;
}

#[tokio::test]
async fn more_than_can_be_shown_is_told_and_loses_nothing() {
    let _turn = turn::alone().await;
    let cluster = Cluster::start(&Options { pods: 2_000, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page("more_than_can_be_shown", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        // A machine that is too slow for what comes.
        page.browser.devtools("Emulation.setCPUThrottlingRate", json!({"rate": 20})).await;
        cluster.rate(5_000).await;
        wait_until("the page says that it is behind", Duration::from_secs(60), async || {
            let words = page.text("notices").await;
            holds(words.starts_with("behind by "), || words)
        })
        .await;
        cluster.rate(0).await;
        page.browser.devtools("Emulation.setCPUThrottlingRate", json!({"rate": 1})).await;
        wait_until("the page says that it was behind", Duration::from_secs(30), async || {
            let told = page.browser.run("return window.kubechurn.notices()", Vec::new()).await;
            let is_overload = |notice: &Value| notice["type"] == "overload";
            holds(told.as_array().is_some_and(|all| all.iter().any(is_overload)), || told.to_string())
        })
        .await;
        let truth = cluster.list("/api/v1/pods").await;
        page.shows("pods", &truth, Duration::from_secs(10)).await;
        page.is_balanced().await;
    })
    .await;
}
