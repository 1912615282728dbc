//! A state is called live only with a proof: how long a page believes in a connection that has died, through either
//! proxy. `tests/browser/watches/proven.rs` has a browser's sockets.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::relay::{Direction, Relay};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::holds;

use kubechurn_model::page::environment::Environment;

use crate::page::{Page, read_status, with_page, with_page_below};

const PODS: &str = "/api/v1/pods";

/// How long the page may take to notice that the API is gone, in milliseconds since the last proof; the second number is for
/// the turns of the page's clock. `crates/client/tests/it/heartbeat.rs` holds the first without it.
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

/// The length of each gap that the page has reported for Pods, in milliseconds.
fn gaps(page: &Page) -> Vec<f64> {
    let said = page.notices_where(|one| one["type"] == "gap" && one["resource"] == "pods");
    let length = |words: &str| words.split_once("for ")?.1.split_once(" s")?.0.parse::<f64>().ok();
    said.iter().map(|words| 1_000.0 * length(words).unwrap_or_else(|| panic!("{words}"))).collect()
}

async fn holds_what_is_live_to_proofs(fault: Fault, through: Through) {
    let cluster = Cluster::start(&Options { pods: 50, bookmark_seconds: 600, ..Options::default() }).await;
    let mut relay = Relay::start(cluster.port()).await;
    let (kubectl, trunk);
    let (port, below) = match through {
        Through::Kubectl => {
            kubectl = KubectlProxy::start_plain(relay.port()).await;
            (kubectl.port(), ["", ""])
        }
        Through::Trunk => {
            trunk = TrunkServe::start(relay.port()).await;
            (trunk.port(), ["k8s/", "k8s-ws/"])
        }
    };
    let name = format!("{fault:?}_through_{through:?}");
    with_page_below(port, below, "#/pods?pin=deployments,nodes", async |page| {
        for resource in ["pods", "deployments", "nodes"] {
            page.reaches(resource, "live", Duration::from_secs(20)).await;
        }
        let before = cluster.list(PODS).await;
        page.shows("pods", &before, Duration::from_secs(5)).await;
        // How old the last proof was when Pods were first called stale.
        let first = Rc::new(Cell::new(None));
        let seen = Rc::clone(&first);
        page.watch(move |page, place| {
            let status = read_status(page, place).into_iter().find(|status| status.resource == "pods");
            let stale = status.filter(|status| seen.get().is_none() && status.state == "stale");
            stale.iter().for_each(|status| seen.set(status.age_ms));
        });
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
        let believed = page
            .in_time("the page says that it is stale", Duration::from_secs(60), async || {
                // A single socket is replaced so soon that only the gap shows it.
                let gap = gaps(page).into_iter().reduce(f64::max);
                gap.or(first.get()).ok_or_else(|| format!("{:?}", page.status_of("pods")))
            })
            .await;
        let bound = if fault == Fault::DeadSocket { NOTICED_ALONE } else { NOTICED };
        assert!(believed <= bound, "{name}: it was called live for {believed} of {bound} ms after its last proof");

        match fault {
            Fault::Stopped => cluster.go_on(),
            Fault::Blackholed | Fault::Gone => relay.pass().await,
            Fault::DeadSocket => {}
        }
        for resource in ["pods", "deployments", "nodes"] {
            page.comes_to(resource, "live", HEALED).await;
        }
        if fault != Fault::DeadSocket {
            cluster.delete(&pod(before.last_key())).await;
        }
        let truth = cluster.list(PODS).await;
        assert_eq!(truth.count(), before.count() - 1);
        page.shows("pods", &truth, Duration::from_secs(50)).await;
        page.is_balanced().await;

        let gaps = gaps(page);
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
    let cluster = Cluster::start(&Options { pods: 20, bookmark_seconds: 600, ..Options::default() }).await;
    with_page(cluster.port(), "#/pods?pin=nodes", async |page| {
        let opened = page.place().now();
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.reaches("nodes", "live", Duration::from_secs(20)).await;
        let states = Rc::new(RefCell::new(BTreeSet::new()));
        let seen = Rc::clone(&states);
        page.watch(move |page, _| {
            seen.borrow_mut().insert(page.view().header.connection.state);
        });
        let mut times = Vec::new();
        page.in_time("four requests were sent", Duration::from_secs(60), async || {
            let is_it = |url: &str| url.contains("timeoutSeconds=1&") || url.ends_with("timeoutSeconds=1");
            let place = page.place();
            let sent = place.sent.borrow();
            times = sent.iter().filter(|(_, url)| is_it(url)).map(|(time, _)| time - opened).collect();
            holds(times.len() >= 4, || format!("{times:?}"))
        })
        .await;
        let earliest = (1..).map(|question| f64::from(question) * 9_990.0);
        assert!(times.iter().zip(earliest).all(|(time, earliest)| *time >= earliest), "{times:?}");
        assert_eq!(*states.borrow(), BTreeSet::from(["live"]), "the page was live all the time");
    })
    .await;
}
