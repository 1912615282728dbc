//! The health of a watch is what befell it: what the page says of a watch is compared with what the cluster has sent.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::holds;
use kubechurn_model::view::health::HealthRow;

use crate::page::{Page, with_page};
use crate::shell::server::SOCKET_AGENT;

const SOON: Duration = Duration::from_secs(30);

/// The page's connections for a resource, as the cluster lists them.
async fn sockets(cluster: &Cluster, resource: &str) -> Vec<Value> {
    let all = cluster.get(&format!("/_control/connections?resource={resource}")).await;
    let all = all.as_array().into_iter().flatten();
    all.filter(|one| one["userAgent"] == SOCKET_AGENT).cloned().collect()
}

fn sum(sockets: &[Value], field: &str) -> u64 {
    sockets.iter().filter_map(|one| one[field].as_u64()).sum()
}

/// Waits until the only watch is as it is meant to be, while the page's clock runs many times as fast.
async fn comes(page: &Page, what: &str, is_so: impl Fn(&HealthRow) -> bool) -> HealthRow {
    page.in_time(what, SOON, async || {
        let row = page.view(|view| view.dialogs.health.as_ref().and_then(|model| model.rows.first().cloned()));
        let row = row.ok_or_else(|| "it is closed".to_owned())?;
        if is_so(&row) { Ok(row) } else { Err(format!("{row:?}")) }
    })
    .await
}

fn says(row: &HealthRow, words: &str) -> bool {
    row.words.iter().any(|one| one.contains(words))
}

#[tokio::test]
async fn what_a_watch_received_is_what_the_cluster_sent() {
    let cluster = Cluster::start(&Options { pods: 60, rate: 0, bookmark_seconds: 2, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/nodes?health=1", async |page| {
        page.reaches("nodes", "live", SOON).await;
        let list = reqwest::get(format!("{}api/v1/nodes?pretty=false", proxy.url())).await.expect("an answer");
        let list = list.bytes().await.expect("a list").len() as u64;
        let ledger = |name: &str| page.field("nodes", "ledger")[name].as_u64().unwrap_or_default();
        assert_eq!(ledger("bytes") - sum(&sockets(&cluster, "nodes").await, "bytes").min(ledger("bytes")), list);
        for number in 0..20 {
            let labels = json!({ "number": number.to_string() });
            let metadata = json!({ "name": "spare", "labels": labels });
            cluster.put(&json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata })).await;
        }
        page.in_time("all frames have come", SOON, async || {
            let sockets = sockets(&cluster, "nodes").await;
            let (frames, bytes) = (sum(&sockets, "frames"), sum(&sockets, "bytes"));
            let own = (ledger("frames"), ledger("bytes") - list);
            holds(own == (frames, bytes) && frames > 20, || format!("{own:?}, and {:?} were sent", (frames, bytes)))
        })
        .await;
        let version = || page.field("nodes", "resourceVersion").as_str().unwrap_or_default().to_owned();
        let row = comes(page, "a bookmark", |row| row.bookmark != "none yet" && row.version == version()).await;
        assert!(row.lists == "1" && says(&row, "1 page of a list, 1 watch"), "{row:?}");
    })
    .await;
}

#[tokio::test]
async fn it_says_how_a_watch_ended_and_why_everything_was_listed_again() {
    let cluster = Cluster::start(&Options { pods: 60, rate: 0, bookmark_seconds: 2, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods?health=1", async |page| {
        page.reaches("pods", "live", SOON).await;
        let row = comes(page, "a watch", |row| says(row, "1 page of a list, 1 watch")).await;
        assert!(!says(&row, "ended") && row.lists == "1", "{row:?}");

        cluster.control("cut?resource=pods").await;
        comes(page, "a cut", |row| says(row, "1 × close code 1006") && row.state == "live").await;
        cluster.control("fault?end=close&resource=pods&times=1").await;
        comes(page, "an end", |row| says(row, "1 × close code 1000") && row.state == "live").await;

        cluster.control("fault?status=503&verb=watch&resource=pods").await;
        cluster.control("cut?resource=pods").await;
        let row = comes(page, "a refusal", |row| says(row, "It fails:") && says(row, "It is tried again in")).await;
        assert!(says(&row, "why one was refused"), "{row:?}");
        cluster.control("clear").await;
        let mut row = comes(page, "the end of the refusal", |row| row.state == "live").await;

        // Nobody remembers what came after the version of the watch. On a busy machine the first watch of a server that begins may
        // end at once, which is another reason to list anew.
        for restart in 1..=5 {
            cluster.control(&format!("restart?revision={restart}000000")).await;
            let before = std::mem::take(&mut row.lists);
            row = comes(page, "a relist", |row| row.lists != before && row.state == "live").await;
            assert!(row.version.parse::<u64>().is_ok_and(|version| version >= restart * 1_000_000), "{row:?}");
            if says(&row, "× ERROR 410") {
                break;
            }
        }
        assert!(says(&row, "Listed again at ") && says(&row, "(410: "), "{row:?}");
        assert!(says(&row, "1 × ERROR 410"), "{row:?}");

        // Each socket that was asked for reached the cluster, or was refused.
        let asked = page.look(|page, _| page.view().dialogs.health.as_ref().map(|model| model.total.clone()));
        let (lists, _) = row.lists.split_once(", of which ").expect("it was listed again");
        assert!(asked.is_some_and(|total| total.contains(&format!(" and {lists} lists, for "))), "the total");
        page.is_balanced().await;
    })
    .await;
}
