//! What the page's main thread does while the cluster changes.

use std::time::{Duration, Instant};

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::freshness;
use kubechurn_harness::measure::metrics::{self, LONG_TASKS, Metrics};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::INSTRUMENTS;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 5_000;

/// The rates that have goals.
const RATES: [u32; 2] = [50, 200];

/// Higher rates, which are tried until the first long task.
const LADDER: [u32; 4] = [500, 1_000, 2_000, 5_000];

/// The seconds of load in one window.
const WINDOW: u64 = 20;

/// The seconds in which frames are counted.
const FRAMES: u64 = 10;

/// Prints a row for each rate.
pub async fn report() {
    let cluster = Cluster::start(&Options { pods: PODS, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{LONG_TASKS}")).await;
    browser.driver.goto(format!("{}#/pods?sort=NAME", proxy.url())).await.expect("the page loads");
    browser.devtools("Performance.enable", json!({})).await;
    wait_until("Pods are live", Duration::from_secs(60), async || {
        let script = "return window.kubechurn?.status?.().find(status => status.resource === 'pods') ?? {}";
        let status = browser.run(script, Vec::new()).await;
        holds(status["state"] == "live" && status["synced"] == true, || status.to_string())
    })
    .await;

    println!("\n## {PODS} Pods under load, {WINDOW} s each\n");
    println!("Goals at 200 events/s: busy at most 15 %, no task over 50 ms, freshness p95 at most 150 ms.\n");
    println!(
        "| events/s asked | events/s done | main thread busy | its CPU | tasks > 50 ms | longest, ms \
         | frame p50 / p95 / max, ms | freshness p50 / p95, ms | wasm, MB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for rate in RATES {
        cluster.rate(rate).await;
        let window = window(&browser, &cluster, rate).await;
        let frames = metrics::frames(&browser, FRAMES).await;
        let freshness = freshness::probe(&browser, &cluster).await;
        row(rate, &window, &frames, Some(&freshness));
    }
    for rate in LADDER {
        cluster.rate(rate).await;
        let window = window(&browser, &cluster, rate).await;
        let frames = metrics::frames(&browser, FRAMES).await;
        row(rate, &window, &frames, None);
        if window.long.count() > 0 {
            break;
        }
    }
    cluster.rate(0).await;
    browser.quit().await;
}

/// A window of load, in which no script runs in the page.
struct Window {
    done: f64,
    busy: f64,
    cpu: f64,
    long: Samples,
    wasm: f64,
}

async fn window(browser: &Browser, cluster: &Cluster, rate: u32) -> Window {
    // The first second at a new rate still belongs to the previous rate.
    cluster.advance(u64::from(rate), rate).await;
    metrics::forget_long_tasks(browser).await;
    let (revision, started, before) = (cluster.revision().await, Instant::now(), Metrics::read(browser).await);
    cluster.advance(WINDOW * u64::from(rate), rate).await;
    let (after, seconds) = (Metrics::read(browser).await, started.elapsed().as_secs_f64());
    let done = (cluster.revision().await - revision) as f64 / seconds;
    let wall = after.timestamp - before.timestamp;
    Window {
        done,
        busy: (after.task - before.task) / wall,
        cpu: (after.thread - before.thread) / wall,
        long: metrics::long_tasks(browser).await,
        wasm: metrics::wasm(browser).await,
    }
}

fn row(rate: u32, window: &Window, frames: &Samples, freshness: Option<&Samples>) {
    let freshness = freshness.map_or_else(|| "–".to_owned(), |it| format!("{:.0} / {:.0}", it.at(0.5), it.at(0.95)));
    println!(
        "| {rate} | {:.0} | {:.1} % | {:.1} % | {} | {:.1} / {:.1} / {:.1} | {freshness} | {:.1} |",
        window.done,
        window.busy * 100.0,
        window.cpu * 100.0,
        metrics::tasks(&window.long),
        frames.at(0.5),
        frames.at(0.95),
        frames.at(1.0),
        window.wasm / 1e6,
    );
}
