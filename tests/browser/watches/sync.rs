//! Under load, the page loses nothing and makes nothing up. `tests/native/sync.rs` plays it through `kubectl proxy`.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::history::{every_write_has_its_mark, revision, short_lives};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const RATE: u32 = 200;

fn busy() -> Options {
    Options { pods: 1_000, rate: RATE, ..Options::default() }
}

#[tokio::test]
async fn through_trunk_serve() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&busy()).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    let trunk = TrunkServe::start(proxy.port()).await;
    with_page("through_trunk_serve", &trunk.url(), "#/pods", async |page| follow(page, &cluster).await).await;
}

/// Lets the page follow ten seconds of load, then compares it with the cluster's own list and log.
async fn follow(page: &Page, cluster: &Cluster) {
    let live = page.reaches("pods", "live", Duration::from_secs(20)).await;
    cluster.advance(10 * u64::from(RATE), RATE).await;
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
    every_write_has_its_mark(&page.marks("pods").await, &writes, revision(&live));
}
