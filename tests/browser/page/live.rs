//! A cluster and a proxy to it, and a page that is live on them: the start of most tests.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use serde_json::json;
use tokio::sync::SemaphorePermit;

/// Waits for a turn, and starts a cluster and a proxy to it. The turn lasts as long as what is returned first.
pub async fn started(options: &Options) -> (SemaphorePermit<'static>, Cluster, KubectlProxy) {
    let turn = turn::shared().await;
    let cluster = Cluster::start(options).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    (turn, cluster, proxy)
}

/// Opens the page on `hash`, whose kind is Pods, and lets `test` use it.
pub async fn with_live_page(name: &str, hash: &str, test: impl AsyncFnOnce(&Page, &Cluster)) {
    let (_turn, cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    with_page(name, &proxy.url(), hash, async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.has_rows().await;
        test(page, &cluster).await;
    })
    .await;
}

/// Makes the window so large, in CSS pixels.
pub async fn viewport(page: &Page, width: u32, height: u32) {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
    page.browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    page.becomes("the viewport has the size", "return [innerWidth, innerHeight]", json!([width, height])).await;
}
