//! A state is called live only with a proof: how long a page believes in a connection that has died, through either
//! proxy.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::relay::{Direction, Relay};
use kubechurn_harness::truth::pod;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: &str = "/api/v1/pods";

/// How long the page may take to notice that the API is gone, in milliseconds since the last proof; the second number is for
/// the page's timers. `crates/client/tests/it/heartbeat.rs` holds the first without it.
const NOTICED: f64 = 15_000.0 + 1_000.0;
/// The same for a single dead socket among three silent watches.
const NOTICED_ALONE: f64 = 15_000.0 + 3.0 * 10_000.0 + 1_000.0;
/// How long the page may take to be live again after such short outages.
const HEALED: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The server's process is stopped. Its connections stay open.
    Stopped,
    /// Nothing passes between proxy and server, and new connections get no answer.
    Blackholed,
    /// The proxy finds no server at the address.
    Gone,
    /// One socket brings nothing any more, and everything else works.
    DeadSocket,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Through {
    Kubectl,
    Trunk,
}

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

async fn holds_what_is_live_to_proofs(fault: Fault, through: Through) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 50, bookmark_seconds: 600, ..Options::default() }).await;
    let mut relay = Relay::start(cluster.port()).await;
    let (kubectl, trunk);
    let url = match through {
        Through::Kubectl => {
            kubectl = KubectlProxy::start(relay.port()).await;
            kubectl.url()
        }
        Through::Trunk => {
            trunk = TrunkServe::start(relay.port()).await;
            trunk.url()
        }
    };
    let name = format!("{fault:?}_through_{through:?}");
    with_page(&name, &url, "#/pods?pin=deployments,nodes", async |page| {
        for resource in ["pods", "deployments", "nodes"] {
            page.reaches(resource, "live", Duration::from_secs(20)).await;
        }
        let before = cluster.list(PODS).await;
        page.shows("pods", &before, Duration::from_secs(5)).await;
        let _: bool = page.read(WITNESS, Vec::new()).await;
        match fault {
            Fault::Stopped => cluster.stop(),
            Fault::Blackholed => {
                relay.hold(Direction::Both);
                relay.hold_dials();
            }
            Fault::Gone => {
                relay.refuse().await;
                relay.cut();
            }
            Fault::DeadSocket => {
                let is_it = |line: &str| line.contains("/pods?") && line.contains("watch=true");
                assert_eq!(relay.freeze_where(Direction::ToClient, is_it), 1, "{:?}", relay.requests());
                cluster.delete(&pod(before.last_key())).await;
            }
        }
        let (believed, late) = wait_until("the page says that it is stale", Duration::from_secs(60), async || {
            let witness: Witness = page.read("return window.witness", Vec::new()).await;
            // A single socket is replaced so soon that only the gap shows it.
            let gap = gaps(page).await.into_iter().reduce(f64::max);
            gap.or(witness.age).map(|age| (age, witness.late)).ok_or_else(|| format!("{witness:?}"))
        })
        .await;
        // The question, its deadline and the next tick may each be late.
        let bound = 3.0 * late + if fault == Fault::DeadSocket { NOTICED_ALONE } else { NOTICED };
        assert!(believed <= bound, "{name}: it was called live for {believed} of {bound} ms after its last proof");

        match fault {
            Fault::Stopped => cluster.go_on(),
            Fault::Blackholed | Fault::Gone => relay.pass().await,
            Fault::DeadSocket => {}
        }
        for resource in ["pods", "deployments", "nodes"] {
            page.reaches(resource, "live", HEALED).await;
        }
        if fault != Fault::DeadSocket {
            cluster.delete(&pod(before.last_key())).await;
        }
        let truth = cluster.list(PODS).await;
        assert_eq!(truth.count(), before.count() - 1);
        page.shows("pods", &truth, Duration::from_secs(50)).await;
        page.is_balanced().await;

        let gaps = gaps(page).await;
        let longest = gaps.iter().copied().fold(0.0, f64::max);
        assert!(longest >= believed - 1_000.0, "{name}: the gap covers {longest} ms of {believed}");
        println!("{name}: live for {believed:.0} ms after the last proof; gaps {gaps:?}");
    })
    .await;
}

#[tokio::test]
async fn the_server_is_stopped() {
    holds_what_is_live_to_proofs(Fault::Stopped, Through::Kubectl).await;
}

#[tokio::test]
async fn the_server_is_stopped_behind_trunk() {
    holds_what_is_live_to_proofs(Fault::Stopped, Through::Trunk).await;
}

#[tokio::test]
async fn the_connection_is_blackholed() {
    holds_what_is_live_to_proofs(Fault::Blackholed, Through::Kubectl).await;
}

#[tokio::test]
async fn the_connection_is_blackholed_behind_trunk() {
    holds_what_is_live_to_proofs(Fault::Blackholed, Through::Trunk).await;
}

#[tokio::test]
async fn the_proxy_s_backend_is_gone() {
    holds_what_is_live_to_proofs(Fault::Gone, Through::Kubectl).await;
}

#[tokio::test]
async fn the_proxy_s_backend_is_gone_behind_trunk() {
    holds_what_is_live_to_proofs(Fault::Gone, Through::Trunk).await;
}

#[tokio::test]
async fn one_socket_is_dead_among_live_ones() {
    holds_what_is_live_to_proofs(Fault::DeadSocket, Through::Kubectl).await;
}

#[tokio::test]
async fn one_socket_is_dead_among_live_ones_behind_trunk() {
    holds_what_is_live_to_proofs(Fault::DeadSocket, Through::Trunk).await;
}

/// A quiet cluster whose API answers is live all the time, and the page sends it no more than one small request for each ten
/// seconds since it was opened.
#[tokio::test]
async fn what_is_quiet_stays_live_and_is_asked_for_seldom() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 20, bookmark_seconds: 600, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let name = "what_is_quiet_stays_live_and_is_asked_for_seldom";
    with_page(name, &proxy.url(), "#/pods?pin=nodes", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.reaches("nodes", "live", Duration::from_secs(20)).await;
        let script = "
            window.states = new Set();
            new MutationObserver(() => states.add(document.querySelector('[data-testid=connection]').dataset.state))
                .observe(document.querySelector('[data-testid=connection]'), { attributes: true });
            return true";
        let _: bool = page.read(script, Vec::new()).await;
        let questions = "return performance.getEntriesByType('resource')
            .filter(entry => entry.name.includes('timeoutSeconds=1&') || entry.name.endsWith('timeoutSeconds=1'))
            .map(entry => entry.startTime)";
        let mut times: Vec<f64> = Vec::new();
        wait_until("four requests were sent", Duration::from_secs(60), async || {
            times = page.read(questions, Vec::new()).await;
            holds(times.len() >= 4, || format!("{times:?}"))
        })
        .await;
        // From the page's start, which cannot be late: a request that a busy machine delays has the next one follow sooner.
        let earliest = (1..).map(|question| f64::from(question) * 9_990.0);
        assert!(times.iter().zip(earliest).all(|(time, earliest)| *time >= earliest), "{times:?}");
        page.becomes(
            "the page was live all the time",
            "return [...states].filter(state => state !== 'live')",
            json!([]),
        )
        .await;
    })
    .await;
}
