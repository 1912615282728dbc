//! What the server forbids is reported in the server's words, affects no other resource, and ends by itself.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

/// A refused request is sent again after half a minute at the latest, of which the page's clock is moved on.
const SECOND_TRY: Duration = Duration::from_secs(30);

#[tokio::test]
async fn watching_pods_is_forbidden() {
    forbidden(&["watch"]).await;
}

#[tokio::test]
async fn listing_and_watching_pods_are_forbidden() {
    forbidden(&["list", "watch"]).await;
}

async fn forbidden(verbs: &[&str]) {
    let cluster = Cluster::start(&Options::default()).await;
    for verb in verbs {
        cluster.control(&format!("forbid?verb={verb}&resource=pods")).await;
    }
    with_page(cluster.port(), "#/pods?pin=deployments", async |page| {
        let status = page.reaches("pods", "forbidden", Duration::from_secs(15)).await;
        let message = status.message.unwrap_or_default();
        let refused = |text: &str| verbs.iter().any(|verb| text.contains(&format!("cannot {verb} resource \"pods\"")));
        assert!(refused(&message), "status: {message}");
        wait_until("the page says why", Duration::from_secs(2), async || {
            let notice = notice(page);
            holds(refused(&notice), || notice)
        })
        .await;
        assert_eq!(page.view(|view| view.header.connection.state), "forbidden");

        deployments_are_followed(page, &cluster).await;
        let status = page.status_of("pods");
        assert_eq!(status.map(|status| status.state).as_deref(), Some("forbidden"), "Pods are still forbidden");

        for verb in verbs {
            cluster.control(&format!("allow?verb={verb}&resource=pods")).await;
        }
        page.comes_to("pods", "live", SECOND_TRY).await;
        page.shows("pods", &cluster.list("/api/v1/pods").await, Duration::from_secs(5)).await;
        wait_until("the notice is gone", Duration::from_secs(2), async || {
            let notice = notice(page);
            holds(!refused(&notice), || notice)
        })
        .await;
    })
    .await;
}

/// A change of a Deployment reaches the page.
async fn deployments_are_followed(page: &Page, cluster: &Cluster) {
    page.reaches("deployments", "live", Duration::from_secs(10)).await;
    let path = "/apis/apps/v1/deployments";
    let key = cluster.list(path).await.last_key().to_owned();
    let (namespace, name) = key.split_once('/').expect("a Deployment has a namespace");
    let patch = json!({ "metadata": { "annotations": { "kubechurn.test/touched": "yes" } } });
    cluster.patch(&format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"), &patch).await;
    page.shows("deployments", &cluster.list(path).await, Duration::from_secs(5)).await;
}

/// What the page says above the rows.
fn notice(page: &Page) -> String {
    page.view(|view| view.table.trouble.iter().map(|trouble| trouble.words.clone()).collect())
}
