//! The relay between the real `kubectl proxy` and the demo cluster, with which later tests break networks.

use std::time::Duration;

use reqwest::{Client, Response};
use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::relay::{Direction, Relay};
use kubechurn_harness::wait::{holds, wait_until};

const WATCH: &str = "api/v1/pods?watch=true&resourceVersion=";

/// Anything that the relay does not hold back arrives within this time. Nothing that it holds back may arrive within
/// it.
const SOON: Duration = Duration::from_millis(500);

/// A watch over HTTP.
struct Watch(Response);

impl Watch {
    async fn open(http: &Client, url: &str, path: &str, revision: u64) -> Self {
        Self(http.get(format!("{url}{path}{revision}")).send().await.expect("the watch is answered"))
    }

    /// The next text within this time: `None` if there is none; an error for the end of the watch.
    async fn next(&mut self, within: Duration) -> Option<Result<String, ()>> {
        let piece = tokio::time::timeout(within, self.0.chunk()).await.ok()?;
        Some(piece.ok().flatten().map(|text| String::from_utf8_lossy(&text).into_owned()).ok_or(()))
    }

    async fn brings(&mut self, name: &str) {
        wait_until(&format!("the watch brings {name}"), Duration::from_secs(5), async || match self.next(SOON).await {
            Some(Ok(text)) => holds(text.contains(name), || text),
            other => Err(format!("{other:?}")),
        })
        .await;
    }
}

/// Everything that the relay can do to a watch, to a list, and to new connections.
#[tokio::test]
async fn a_relay_holds_cuts_refuses_and_comes_back() {
    let cluster = Cluster::start(&Options { pods: 5, bookmark_seconds: 600, ..Options::default() }).await;
    let mut relay = Relay::start(cluster.port()).await;
    let proxy = KubectlProxy::start_plain(relay.port()).await;
    let http = Client::builder().timeout(Duration::from_secs(60)).pool_max_idle_per_host(0).build();
    let http = http.expect("an HTTP client can be made");
    let lists = async || {
        let answer = tokio::time::timeout(SOON, http.get(format!("{}api/v1/pods", proxy.url())).send()).await;
        answer.ok().map(|answer| answer.is_ok_and(|answer| answer.status().is_success()))
    };
    let writes = async |name: &str| {
        for kind in ["ConfigMap", "Pod"] {
            let metadata = json!({ "namespace": "default", "name": name });
            cluster.put(&json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata })).await;
        }
    };
    let revision = cluster.revision().await;
    let mut pods = Watch::open(&http, &proxy.url(), WATCH, revision).await;
    let maps = WATCH.replace("pods", "configmaps");
    let mut maps = Watch::open(&http, &proxy.url(), &maps, revision).await;
    assert_eq!(relay.requests().iter().filter(|line| line.contains("watch=true")).count(), 2);

    writes("one").await;
    pods.brings("one").await;
    maps.brings("one").await;

    for direction in [Direction::Both, Direction::ToClient] {
        relay.hold(direction);
        writes("two").await;
        assert_eq!(pods.next(SOON).await, None, "{direction:?}: a held text arrives");
        assert_eq!(lists().await, None, "{direction:?}: a connection that is made meanwhile gets an answer");
        relay.pass().await;
        pods.brings("two").await;
        maps.brings("two").await;
        cluster.delete("/api/v1/namespaces/default/pods/two").await;
        cluster.delete("/api/v1/namespaces/default/configmaps/two").await;
        pods.brings("DELETED").await;
        maps.brings("DELETED").await;
    }

    relay.hold(Direction::ToServer);
    writes("three").await;
    pods.brings("three").await;
    maps.brings("three").await;
    assert_eq!(lists().await, None, "a held request is answered");
    relay.pass().await;
    assert_eq!(lists().await, Some(true));

    relay.hold_dials();
    // Idle connections would be used again otherwise.
    relay.cut_where(|line| !line.contains("watch=true"));
    writes("four").await;
    pods.brings("four").await;
    maps.brings("four").await;
    assert_eq!(lists().await, None, "a held connection attempt is answered");
    relay.pass().await;
    assert_eq!(lists().await, Some(true));

    assert_eq!(relay.freeze_where(Direction::Both, |line| line.contains("/api/v1/pods?watch=true")), 1);
    writes("five").await;
    maps.brings("five").await;
    assert_eq!(pods.next(SOON).await, None, "a frozen connection brings something");
    assert_eq!(lists().await, Some(true), "only one connection is frozen");

    relay.refuse().await;
    relay.cut_where(|line| !line.contains("watch=true"));
    assert_eq!(lists().await, Some(false), "no connection is refused");
    assert_eq!(relay.cut_where(|line| line.contains("/configmaps?watch=true")), 1);
    assert_eq!(maps.next(Duration::from_secs(5)).await, Some(Err(())), "a connection is cut");
    assert_eq!(pods.next(SOON).await, None, "another connection is cut");
    relay.pass().await;
    assert_eq!(lists().await, Some(true), "the cut connection does not come back");
    assert!(relay.cut() > 0);
    assert_eq!(pods.next(Duration::from_secs(5)).await, Some(Err(())), "a frozen connection is not cut");
}

/// A list that is garbled and one that ends in the middle: HTTP sees nothing wrong in either.
#[tokio::test]
async fn a_relay_spoils_an_answer_that_stays_whole_for_http() {
    let cluster = Cluster::start(&Options { pods: 40, ..Options::default() }).await;
    let relay = Relay::start(cluster.port()).await;
    let proxy = KubectlProxy::start_plain(relay.port()).await;
    let is_list = |line: &str| line.contains("/api/v1/pods");
    let list = async |spoil: &dyn Fn() -> usize| {
        // No connection is used twice: it would be spoilt where it is not meant.
        relay.cut();
        cluster.control("clear").await;
        cluster.control("fault?drip=2000&pause-ms=30&verb=list").await;
        let answer = reqwest::get(format!("{}api/v1/pods?pretty=false", proxy.url())).await.expect("an answer begins");
        assert_eq!(spoil(), 1);
        answer.bytes().await.expect("the answer comes to its end")
    };
    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
    let whole = list(&|| 1).await;
    assert!(is_json(&whole));
    let garbled = list(&|| relay.garble_where(is_list)).await;
    assert!(!is_json(&garbled) && garbled.len() == whole.len(), "{} of {} bytes", garbled.len(), whole.len());
    let ended = list(&|| relay.end_where(is_list)).await;
    assert!(!is_json(&ended) && ended.len() < whole.len() / 2, "{} of {} bytes", ended.len(), whole.len());
    assert!(whole.starts_with(&ended));
}
