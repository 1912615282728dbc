//! What a log costs that is followed for long: a Pod writes 2,000 lines a second, and the cluster goes on beside it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::{self, LONG_TASKS, Metrics};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 300;
/// The writes a second that come in beside it.
const WRITES: u32 = 50;
/// The lines a second.
const LINES: u64 = 2_000;
const MINUTE: Duration = Duration::from_secs(60);
const POD: &str = "/api/v1/namespaces/default/pods/writer";

const COUNTS: &str = "const log = document.querySelector('[data-testid=log]');
    return ['received', 'dropped'].map(name => Number(log?.dataset[name] ?? 0))";

/// Prints a row for each minute. There are `minutes` of them.
pub async fn report(minutes: u64) {
    let cluster = Cluster::start(&Options { pods: PODS, rate: WRITES, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{LONG_TASKS}")).await;
    with_page_in(browser, "log", &proxy.url(), "#/pods", async |page| {
        page.browser.devtools("Performance.enable", json!({})).await;
        page.reaches("pods", "live", MINUTE).await;
        println!("\n## A log of {LINES} lines a second, followed, beside {WRITES} writes a second\n");
        println!("| minute | lines/s | lines that came | dropped | main thread's CPU | tasks > 50 ms | wasm, MB |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        minute(page, "before, no log in sight", async || cluster.advance(60 * u64::from(WRITES), WRITES).await).await;
        let started = second(page, 0).await;
        cluster.put(&writer(json!({"running": {"startedAt": started}}))).await;
        page.open("#/pods?sel=default/writer&tab=logs").await;
        for number in 1..=minutes {
            let wanted = number * 60 * LINES;
            minute(page, &number.to_string(), async || {
                wait_until("lines come", 2 * MINUTE, async || {
                    let [received, _] = counts(page).await;
                    holds(received >= wanted, || format!("{received} of {wanted}"))
                })
                .await;
            })
            .await;
        }
        cluster.rate(0).await;
        // No line that came is of later.
        let ended = second(page, 1).await;
        let state =
            json!({"terminated": {"startedAt": started, "finishedAt": ended, "exitCode": 0, "reason": "Completed"}});
        cluster.put(&writer(state)).await;
        let notes = "return document.querySelector('[data-testid=log-notes]').textContent.includes('has ended')";
        page.becomes("its end is said", notes, true.into()).await;
        let [received, dropped] = counts(page).await;
        let all = cluster.text(&format!("{POD}/log?container=main")).await.lines().count() as u64;
        let kept: String = page.text("log-kept").await;
        println!("\nOf {all} lines {received} came; {dropped} older ones were dropped, and {kept}.");
        metrics::forget_long_tasks(&page.browser).await;
        page.click("log-save").await;
        page.painted().await;
        println!("Saved, the tasks over 50 ms were: {}.", metrics::tasks(&metrics::long_tasks(&page.browser).await));
        assert_eq!(received, all, "each line came once");
        page.is_balanced().await;
    })
    .await;
}

/// Prints what the page did while something goes on.
async fn minute(page: &Page, what: &str, goes_on: impl AsyncFnOnce()) {
    metrics::forget_long_tasks(&page.browser).await;
    let (began, [was, _], before) = (Instant::now(), counts(page).await, Metrics::read(&page.browser).await);
    goes_on().await;
    let ([received, dropped], after) = (counts(page).await, Metrics::read(&page.browser).await);
    println!(
        "| {what} | {:.0} | {received} | {dropped} | {:.1} % | {} | {:.1} |",
        (received - was) as f64 / began.elapsed().as_secs_f64(),
        (after.thread - before.thread) / (after.timestamp - before.timestamp) * 100.0,
        metrics::tasks(&metrics::long_tasks(&page.browser).await),
        metrics::wasm(&page.browser).await / 1e6,
    );
}

/// The second that it is, or one that will be.
async fn second(page: &Page, later: u32) -> String {
    let script = "return new Date(Date.now() + 1000 * arguments[0]).toISOString().replace(/[.][0-9]+/, '')";
    page.read(script, vec![later.into()]).await
}

/// How many lines came, and how many were dropped.
async fn counts(page: &Page) -> [u64; 2] {
    page.read(COUNTS, Vec::new()).await
}

fn writer(state: Value) -> Value {
    let rate = json!({"demo.kubechurn.dev/log-rate": LINES.to_string()});
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "writer", "namespace": "default", "uid": "writer", "annotations": rate},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "example/writer:1"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "image": "example/writer:1", "ready": true,
            "restartCount": 0, "state": state}]}})
}
