//! What the page's main thread does while the cluster churns.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::freshness;
use crate::harness::browser::Browser;
use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::INSTRUMENTS;
use crate::harness::proxy::KubectlProxy;
use crate::harness::wait::{holds, wait_until};
use crate::quantile::Samples;

const PODS: u32 = 5_000;

/// The rates that the goals are about.
const RATES: [u32; 2] = [50, 200];

/// The ladder that is climbed until the first long task.
const LADDER: [u32; 4] = [500, 1_000, 2_000, 5_000];

/// Seconds of load in one window.
const WINDOW: u64 = 20;

const FRAMES: usize = 600;

const LONG_TASKS: &str = "
    window.__long = [];
    new PerformanceObserver(list => window.__long.push(...list.getEntries().map(entry => entry.duration)))
        .observe({ type: 'longtask' });";

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
        let frames = frames(&browser).await;
        let freshness = freshness::probe(&browser, &cluster).await;
        row(rate, &window, &frames, Some(&freshness));
    }
    for rate in LADDER {
        cluster.rate(rate).await;
        let window = window(&browser, &cluster, rate).await;
        let frames = frames(&browser).await;
        row(rate, &window, &frames, None);
        if window.long.count() > 0 {
            break;
        }
    }
    cluster.rate(0).await;
    browser.quit().await;
}

/// One stretch of load, with nothing asked of the page meanwhile.
struct Window {
    done: f64,
    busy: f64,
    cpu: f64,
    long: Samples,
    wasm: f64,
}

async fn window(browser: &Browser, cluster: &Cluster, rate: u32) -> Window {
    // The first second at a new rate belongs to the one before.
    cluster.advance(u64::from(rate), rate).await;
    browser.run("window.__long.length = 0", Vec::new()).await;
    let (revision, started, before) = (cluster.revision().await, Instant::now(), Metrics::read(browser).await);
    cluster.advance(WINDOW * u64::from(rate), rate).await;
    let (after, seconds) = (Metrics::read(browser).await, started.elapsed().as_secs_f64());
    let done = (cluster.revision().await - revision) as f64 / seconds;
    let wall = after.timestamp - before.timestamp;
    let found = browser.run("return [window.__long, window.__memory?.buffer.byteLength ?? 0]", Vec::new()).await;
    Window {
        done,
        busy: (after.task_seconds - before.task_seconds) / wall,
        cpu: (after.cpu_seconds - before.cpu_seconds) / wall,
        long: samples(&found[0]),
        wasm: found[1].as_f64().unwrap_or(f64::NAN),
    }
}

/// The browser's own counters of the page's main thread.
struct Metrics {
    timestamp: f64,
    /// By the wall's clock: on a machine with neighbours, more than the page used.
    task_seconds: f64,
    cpu_seconds: f64,
}

impl Metrics {
    async fn read(browser: &Browser) -> Self {
        let answer = browser.devtools("Performance.getMetrics", json!({})).await;
        let metric = |name: &str| {
            let metrics = answer["metrics"].as_array().into_iter().flatten();
            let found = metrics.filter(|metric| metric["name"] == name).find_map(|metric| metric["value"].as_f64());
            found.unwrap_or_else(|| panic!("no metric {name} in {answer}"))
        };
        Self { timestamp: metric("Timestamp"), task_seconds: metric("TaskDuration"), cpu_seconds: metric("ThreadTime") }
    }
}

/// The times between frames. It has a window of its own, because a page that asks for every frame is busier.
async fn frames(browser: &Browser) -> Samples {
    let script = format!(
        "new Promise(resolve => {{
            const times = [];
            const frame = now => {{
                times.push(now);
                if (times.length > {FRAMES}) resolve(times.slice(1).map((time, index) => time - times[index]));
                else requestAnimationFrame(frame);
            }};
            requestAnimationFrame(frame);
        }})"
    );
    samples(&browser.resolve(&script).await)
}

fn samples(values: &Value) -> Samples {
    Samples::new(values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
}

fn row(rate: u32, window: &Window, frames: &Samples, freshness: Option<&Samples>) {
    let freshness = freshness.map_or_else(|| "–".to_owned(), |it| format!("{:.0} / {:.0}", it.at(0.5), it.at(0.95)));
    let longest = if window.long.count() > 0 { format!("{:.0}", window.long.at(1.0)) } else { "–".to_owned() };
    println!(
        "| {rate} | {:.0} | {:.1} % | {:.1} % | {} | {longest} | {:.1} / {:.1} / {:.1} | {freshness} | {:.1} |",
        window.done,
        window.busy * 100.0,
        window.cpu * 100.0,
        window.long.count(),
        frames.at(0.5),
        frames.at(0.95),
        frames.at(1.0),
        window.wasm / 1e6,
    );
}
