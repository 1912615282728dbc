//! The page counts the frames that it cannot read. `tests/browser/watches/sent.rs` compares all that was sent with what was
//! received.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::holds;

use crate::page::with_page;

/// How long a page may take to be live.
const RECOVERY: Duration = Duration::from_secs(20);

fn busy() -> Options {
    Options { pods: 300, rate: 100, bookmark_seconds: 2, ..Options::default() }
}

#[tokio::test]
async fn every_malformed_frame_is_counted() {
    let cluster = Cluster::start(&busy()).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods", async |page| {
        page.reaches("pods", "live", RECOVERY).await;
        let faults = ["unknown-type", "truncate", "not-json"];
        for (before, fault) in faults.into_iter().enumerate() {
            let order = format!("fault?frame={fault}&resource=pods&event=MODIFIED&times=1&user-agent=by%20socket");
            cluster.control(&order).await;
            // One by one, because the page closes a connection that brings nonsense, and loses the frames under way on
            // it.
            page.in_time(fault, Duration::from_secs(60), async || {
                let status = page.status_of("pods").ok_or_else(|| "no status".to_owned())?;
                let is_so = status.ledger["malformed"] == before as u64 + 1 && status.state == "live";
                holds(is_so, || format!("{status:?}"))
            })
            .await;
        }
        let sent = cluster.frames("pods").await;
        assert_eq!(sent.iter().filter(|one| faults.contains(&one.fault.as_str())).count(), 3);
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, RECOVERY).await;
        page.is_balanced().await;
    })
    .await;
}
