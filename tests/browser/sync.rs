//! Under load nothing is lost and nothing is made up, through either proxy.

use std::time::Duration;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::{Page, with_page};
use crate::harness::proxy::{KubectlProxy, TrunkServe};
use crate::harness::turn;
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

/// Lets the page follow `seconds` of load, then holds it against the cluster's own list and log.
async fn follow(page: &Page, cluster: &Cluster, seconds: u64) {
    let live = page.reaches("pods", "live", Duration::from_secs(20)).await;
    cluster.advance(seconds * u64::from(RATE), RATE).await;
    let truth = cluster.quiet("/api/v1/pods").await;
    page.shows("pods", &truth, Duration::from_secs(5)).await;
    page.counts(truth.count(), truth.count()).await;
    page.is_balanced().await;

    let writes = cluster.log("pods").await;
    every_write_has_its_mark(page, &writes, revision(&live)).await;
    let born = writes.iter().filter(|write| write.revision > revision(&live) && write.kind == "ADDED");
    let short_lives = born.filter(|born| writes.iter().any(|write| write.kind == "DELETED" && write.uid == born.uid));
    assert!(short_lives.count() > 0, "the load added and deleted no Pod, so the test saw nothing");
}
