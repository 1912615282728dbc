//! Under load, the page loses nothing and makes nothing up, through either proxy.

use std::collections::HashSet;
use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options, Write};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::history::{every_write_has_its_mark, revision};

const RATE: u32 = 200;

fn busy() -> Options {
    Options { pods: 1_000, rate: RATE, ..Options::default() }
}

#[tokio::test]
async fn through_kubectl_proxy() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&busy()).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page("through_kubectl_proxy", &proxy.url(), "#/pods", async |page| follow(page, &cluster, 15).await).await;
}

#[tokio::test]
async fn through_trunk_serve() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&busy()).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    let trunk = TrunkServe::start(proxy.port()).await;
    with_page("through_trunk_serve", &trunk.url(), "#/pods", async |page| follow(page, &cluster, 10).await).await;
}

/// Lets the page follow `seconds` of load, then compares it with the cluster's own list and log.
async fn follow(page: &Page, cluster: &Cluster, seconds: u64) {
    let live = page.reaches("pods", "live", Duration::from_secs(20)).await;
    cluster.advance(seconds * u64::from(RATE), RATE).await;
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
    every_write_has_its_mark(page, &writes, revision(&live)).await;
}

/// How many Pods were added and deleted again after a revision.
fn short_lives(writes: &[Write], since: u64) -> usize {
    let deleted: HashSet<&str> = writes.iter().filter(|it| it.kind == "DELETED").map(|it| it.uid.as_str()).collect();
    let added = writes.iter().filter(|it| it.revision > since && it.kind == "ADDED");
    added.filter(|it| deleted.contains(it.uid.as_str())).count()
}
