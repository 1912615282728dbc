//! Logs against the demo cluster: a crash with the run before it, a log that breaks off and goes on, and what is forbidden.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use kubechurn_client::record::time::Time;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::logs::command::LogCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::view::logs::LogModel;

use crate::page::{Page, with_page};

const SOON: Duration = Duration::from_secs(60);
/// The second at which the containers here have started.
const STARTED: &str = "2026-11-21T08:13:27Z";
const FAST: &str = "demo.kubechurn.dev/log-rate";

fn pod(name: &str, uid: &str, annotations: Value, (state, last): (Value, Value)) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop", "uid": uid, "annotations": annotations},
        "spec": {"nodeName": "n", "containers": [{"name": "web", "image": "example/web:1"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "web", "image": "example/web:1", "ready": true,
            "restartCount": if last.is_null() { 0 } else { 1 }, "state": state, "lastState": last}]}})
}

fn running() -> Value {
    json!({"running": {"startedAt": STARTED}})
}

fn this_second() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right").as_secs();
    Time::from_seconds(i64::try_from(since).expect("it is not that late")).to_string()
}

async fn log(page: &Page, what: &str, is_so: impl Fn(&LogModel) -> bool) -> LogModel {
    page.in_time(what, SOON, async || {
        let log = page.view(|view| (*view.inspector.log).clone());
        if is_so(&log) { Ok(log) } else { Err(format!("{log:?}")) }
    })
    .await
}

async fn open(page: &Page, name: &str) {
    page.reaches("pods", "live", SOON).await;
    wait_until("the Pod is there", SOON, async || {
        holds(page.rows("pods").iter().any(|row| row.key == format!("shop/{name}")), || String::from("it is not"))
    })
    .await;
    page.open(&format!("#/pods?sel=shop/{name}&tab=logs"));
}

#[tokio::test]
async fn a_crash_is_read_with_the_run_before_and_a_deleted_pod_s_log_is_kept() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    let ended = json!({"terminated": {"startedAt": "2026-11-21T08:10:00Z", "finishedAt": "2026-11-21T08:10:09Z", "exitCode": 1, "reason": "Error"}});
    cluster.put(&pod("web", "w", json!({}), (running(), ended))).await;
    with_page(cluster.port(), "#/pods", async |page| {
        open(page, "web").await;
        let shown = log(page, "both runs are read", |log| {
            log.sources.len() == 2
                && log.sources[0].state == "over"
                && log.sources[1].state == "follows"
                && log.counts.0 > 20
        })
        .await;
        assert_eq!(shown.sources[0].name, "web: previous run");
        let received = shown.counts.0;
        let words = "fatal: cannot go on, exit 1";
        page.command(Command::Logs(LogCommand::Filter(String::from(words))));
        let lines = |log: &LogModel| log.rows.iter().filter(|row| row.what == "line").cloned().collect::<Vec<_>>();
        // What is filtered is shown a moment later: until then all lines are.
        let shown = log(page, "the last words are found", |log| {
            let lines = lines(log);
            !lines.is_empty() && lines.iter().all(|row| row.text.contains(words))
        })
        .await;
        let last = &lines(&shown)[0];
        assert!(last.source.contains("previous run") && last.time.contains(":10:09"), "{last:?}");
        page.command(Command::Logs(LogCommand::Filter(String::new())));
        cluster.delete("/api/v1/namespaces/shop/pods/web").await;
        let shown =
            log(page, "the Pod's end is said", |log| log.notes.iter().any(|words| words.contains("The Pod is gone")))
                .await;
        assert!(shown.counts.0 >= received && shown.counts.1 == shown.counts.0, "{:?}", shown.counts);
    })
    .await;
}

#[tokio::test]
async fn a_log_that_is_cut_goes_on_without_a_line_twice_or_missing() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    let now = this_second();
    let state = json!({"running": {"startedAt": now}});
    cluster.put(&pod("web", "w", json!({FAST: "500"}), (state, Value::Null))).await;
    with_page(cluster.port(), "#/pods", async |page| {
        open(page, "web").await;
        let mut before = log(page, "lines come", |log| log.counts.0 > 100).await.counts.0;
        for _ in 0..3 {
            cluster.control("cut?resource=pods").await;
            before = log(page, "it goes on", |log| log.counts.0 > before + 500).await.counts.0;
        }
        // The run ends, so that what is kept can be compared with what the server has.
        let state = json!({"terminated": {"startedAt": now, "finishedAt": this_second(), "exitCode": 0, "reason": "Completed"}});
        cluster.put(&pod("web", "w", json!({FAST: "500"}), (state, Value::Null))).await;
        let shown = log(page, "its end is said", |log| log.notes.iter().any(|words| words.contains("has ended"))).await;
        let all = cluster.text("/api/v1/namespaces/shop/pods/web/log?container=web").await;
        assert_eq!(shown.counts, (all.lines().count() as u64, all.lines().count() as u64, 0));
    })
    .await;
}

#[tokio::test]
async fn without_the_permission_the_page_says_what_is_missing_and_reads_on_when_it_is_given() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    cluster.put(&pod("web", "w", json!({}), (running(), Value::Null))).await;
    cluster.control("forbid?resource=pods/log").await;
    with_page(cluster.port(), "#/pods", async |page| {
        open(page, "web").await;
        let shown = log(page, "what is missing is said", |log| log.can_ask_again && !log.notes.is_empty()).await;
        assert!(shown.notes[0].contains("kubectl auth can-i get pods/log -n shop"), "{:?}", shown.notes);
        cluster.control("allow?resource=pods/log").await;
        page.command(Command::Logs(LogCommand::Again));
        log(page, "lines come", |log| log.counts.0 > 0 && log.notes.is_empty()).await;
    })
    .await;
}
