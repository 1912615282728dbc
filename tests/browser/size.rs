//! Fifty thousand Pods cost no more of the document than fifty.

use std::time::Duration;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::with_page;
use crate::harness::proxy::KubectlProxy;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const NODES: u32 = 3_000;

#[tokio::test]
async fn fifty_thousand_pods() {
    let _turn = turn::alone().await;
    let cluster = Cluster::start(&Options { pods: 50_000, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let truth = cluster.list("/api/v1/pods").await;
    assert!(truth.count() >= 50_000, "the cluster has only {} Pods", truth.count());
    with_page("fifty_thousand_pods", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(120)).await;
        page.shows("pods", &truth, Duration::from_secs(30)).await;
        page.counts(truth.count(), truth.count()).await;
        let nodes = async || page.read::<u32>("return document.querySelectorAll('*').length", Vec::new()).await;
        let at_the_top = nodes().await;
        assert!(at_the_top <= NODES, "{at_the_top} elements at the top");

        let last = truth.last_key();
        wait_until("the last Pod is drawn at the end", Duration::from_secs(10), async || {
            let script = "
                const scroller = document.querySelector('[data-testid=table-scroll]');
                scroller.scrollTop = scroller.scrollHeight;
                const box = scroller.getBoundingClientRect();
                return [...scroller.querySelectorAll('[role=row][data-key]')]
                    .filter(row => row.getBoundingClientRect().bottom <= box.bottom + 1)
                    .map(row => row.dataset.key)";
            let keys: Vec<String> = page.read(script, Vec::new()).await;
            holds(keys.iter().any(|key| key == last), || format!("no {last} in {keys:?}"))
        })
        .await;
        let at_the_end = nodes().await;
        assert!(at_the_end <= NODES, "{at_the_end} elements at the end");
    })
    .await;
}
