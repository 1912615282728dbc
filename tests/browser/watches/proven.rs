//! A state is called live only with a proof: how long a page believes in a connection that has died.

use std::time::Duration;

use serde::Deserialize;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::wait_until;

use crate::page::live::started;

const PODS: &str = "/api/v1/pods";

/// How long the page may take to notice that the API is gone, in milliseconds since the last proof; the second number is for
/// the page's timers. `crates/client/tests/it/heartbeat.rs` holds the first without it.
const NOTICED: f64 = 15_000.0 + 1_000.0;
/// How long the page may take to be live again after such short outages.
const HEALED: Duration = Duration::from_secs(20);

/// Writes down in the page how old the last proof was when Pods were first called stale, and by how much a timer of ten a
/// second was late at most: so late may be each timer of the page's own on a busy machine.
const WITNESS: &str = "
    window.witness = { late: 0, age: null };
    let last = performance.now();
    setInterval(() => {
        const now = performance.now();
        witness.late = Math.max(witness.late, now - last - 100);
        last = now;
        const pods = kubechurn.status().find(status => status.resource === 'pods');
        if (pods.state === 'stale') witness.age ??= pods.age_ms;
    }, 100);
    return true";

#[derive(Debug, Deserialize)]
struct Witness {
    late: f64,
    age: Option<f64>,
}

/// The length of each gap that the page has reported for Pods, in milliseconds.
async fn gaps(page: &Page) -> Vec<f64> {
    let gaps = "return kubechurn.notices().filter(said => said.type === 'gap' && said.resource === 'pods')
        .map(said => Number(said.words.match(/for ([\\d.]+) s/)[1]) * 1000)";
    page.read(gaps, Vec::new()).await
}

/// The server's process is stopped, and its connections stay open. `tests/native/proven.rs` has the other faults.
#[tokio::test]
async fn the_server_is_stopped() {
    let (_turn, cluster, proxy) = started(&Options { pods: 50, bookmark_seconds: 600, ..Options::default() }).await;
    with_page("the_server_is_stopped", &proxy.url(), "#/pods?pin=deployments,nodes", async |page| {
        for resource in ["pods", "deployments", "nodes"] {
            page.reaches(resource, "live", Duration::from_secs(20)).await;
        }
        let before = cluster.list(PODS).await;
        page.shows("pods", &before, Duration::from_secs(5)).await;
        let _: bool = page.read(WITNESS, Vec::new()).await;
        cluster.stop();
        let (believed, late) = wait_until("the page says that it is stale", Duration::from_secs(60), async || {
            let witness: Witness = page.read("return window.witness", Vec::new()).await;
            witness.age.map(|age| (age, witness.late)).ok_or_else(|| format!("{witness:?}"))
        })
        .await;
        // The question, its deadline and the next tick may each be late.
        let bound = 3.0 * late + NOTICED;
        assert!(believed <= bound, "it was called live for {believed} of {bound} ms after its last proof");

        cluster.go_on();
        for resource in ["pods", "deployments", "nodes"] {
            page.reaches(resource, "live", HEALED).await;
        }
        cluster.delete(&pod(before.last_key())).await;
        let truth = cluster.list(PODS).await;
        assert_eq!(truth.count(), before.count() - 1);
        page.shows("pods", &truth, Duration::from_secs(50)).await;
        page.is_balanced().await;

        let gaps = gaps(page).await;
        let longest = gaps.iter().copied().fold(0.0, f64::max);
        assert!(longest >= believed - 1_000.0, "the gap covers {longest} ms of {believed}");
    })
    .await;
}
