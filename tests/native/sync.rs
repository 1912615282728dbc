//! Under load, the page loses nothing and makes nothing up. `tests/browser/watches/sync.rs` has a browser's sockets, through
//! `trunk serve`.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::history::{every_write_has_its_mark, revision, short_lives};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

const RATE: u32 = 200;

fn busy() -> Options {
    Options { pods: 1_000, rate: RATE, ..Options::default() }
}

#[tokio::test]
async fn through_kubectl_proxy() {
    let cluster = Cluster::start(&busy()).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods", async |page| follow(page, &cluster).await).await;
}

/// Lets the page follow fifteen seconds of load, then compares it with the cluster's own list and log.
async fn follow(page: &Page, cluster: &Cluster) {
    let live = page.reaches("pods", "live", Duration::from_secs(20)).await;
    cluster.advance(15 * u64::from(RATE), RATE).await;
    // Without objects that live shortly, the load would not test whether a page reports those.
    wait_until("Pods came and went", Duration::from_secs(60), async || {
        let short = short_lives(&cluster.log("pods").await, revision(&live));
        holds(short >= 3, || format!("{short} short lives"))
    })
    .await;
    let truth = cluster.quiet("/api/v1/pods").await;
    page.shows("pods", &truth, Duration::from_secs(5)).await;
    page.counts(truth.count(), truth.count()).await;
    page.is_balanced().await;

    let writes = cluster.log("pods").await;
    every_write_has_its_mark(&page.marks("pods"), &writes, revision(&live));
}
