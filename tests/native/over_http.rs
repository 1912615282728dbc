//! What stands between the page and the server refuses WebSockets, and lets all else through: the same watch goes over HTTP.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::relay::Relay;
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::with_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn where_no_websocket_is_let_through_the_page_follows_over_http() {
    let cluster = Cluster::start(&Options { pods: 50, rate: 20, ..Options::default() }).await;
    let relay = Relay::start(cluster.port()).await;
    relay.refuse_sockets();
    with_page(relay.port(), "#/pods?pin=deployments,nodes", async |page| {
        for resource in ["pods", "deployments", "nodes"] {
            page.comes_to(resource, "live", SOON).await;
        }
        wait_until("the page says that it is slower", SOON, async || {
            let (detail, notices) = (page.view(|view| view.header.connection.detail.clone()), page.notices("http"));
            holds(detail.ends_with("over HTTP") && notices.len() == 3, || format!("{detail:?} {notices:?}"))
        })
        .await;
        let lists = page.status_of("pods").expect("Pods are watched").ledger["lists"].clone();
        cluster.advance(60, 20).await;
        let truth = cluster.quiet(PODS).await;
        page.shows("pods", &truth, SOON).await;
        cluster.delete(&pod(truth.last_key())).await;
        let patch = json!({ "metadata": { "labels": { "kubechurn.test/touched": "yes" } } });
        cluster.patch(&pod(truth.in_order()[0]), &patch).await;
        page.shows("pods", &cluster.list(PODS).await, SOON).await;
        let status = page.reaches("pods", "live", SOON).await;
        assert_eq!(status.ledger["lists"], lists, "nothing was listed anew");
        page.is_balanced().await;
    })
    .await;
}
