//! What this build of the page costs against another build under load: both in one browser, in turns.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::{self, Metrics};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::INSTRUMENTS;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 5_000;
const RATE: u32 = 1_000;

/// How often each build is measured.
const ROUNDS: usize = 5;

/// The seconds of load before a window, in which the browser compiles what is used most, and of a window.
const BEFORE: u64 = 4;
const WINDOW: u64 = 20;

/// The share of CPU, and the bytes of wasm memory, of each window.
#[derive(Default)]
struct Windows {
    cpu: Vec<f64>,
    memory: Vec<f64>,
}

/// Prints CPU and memory of both builds. `KUBECHURN_BEFORE` names the folder of the other one.
pub async fn report() {
    let other = std::env::var_os("KUBECHURN_BEFORE").expect("KUBECHURN_BEFORE names the folder of another built page");
    let cluster = Cluster::start(&Options { pods: PODS, ..Options::default() }).await;
    let before = KubectlProxy::start_serving(cluster.port(), PathBuf::from(other)).await;
    let now = KubectlProxy::start_serving(cluster.port(), tools::dist()).await;
    let browser = Browser::start(INSTRUMENTS).await;
    browser.devtools("Performance.enable", json!({})).await;
    let mut windows = [Windows::default(), Windows::default()];
    for _ in 0..ROUNDS {
        for (proxy, windows) in [&before, &now].into_iter().zip(&mut windows) {
            measure(&browser, &cluster, proxy, windows).await;
        }
    }
    browser.quit().await;
    println!("\n## Two builds: {PODS} Pods, {RATE} events/s, {ROUNDS} windows of {WINDOW} s of each, in turns\n");
    println!("| what | before | now | ratio of the medians |");
    println!("|---|---:|---:|---:|");
    let [before, now] = windows;
    row("main thread's CPU, %", before.cpu, now.cpu, 100.0);
    row("wasm memory, MB", before.memory, now.memory, 1e-6);
}

fn row(what: &str, before: Vec<f64>, now: Vec<f64>, unit: f64) {
    let [before, now] = [before, now].map(Samples::new);
    let [first, second] = [&before, &now].map(|samples| {
        let [low, middle, high] = [0.0, 0.5, 1.0].map(|part| samples.at(part) * unit);
        format!("{middle:.1} ({low:.1}–{high:.1})")
    });
    println!("| {what} | {first} | {second} | {:.2} |", now.at(0.5) / before.at(0.5));
}

/// A window of load on a page that was just opened.
async fn measure(browser: &Browser, cluster: &Cluster, proxy: &KubectlProxy, windows: &mut Windows) {
    cluster.rate(0).await;
    // From another document: the same address with another fragment would load nothing.
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    browser.driver.goto(format!("{}#/pods?sort=NAME", proxy.url())).await.expect("the page loads");
    let script = "return window.kubechurn?.status?.().find(status => status.resource === 'pods') ?? {}";
    wait_until("Pods are live", Duration::from_secs(60), async || {
        let pods = browser.run(script, Vec::new()).await;
        holds(pods["state"] == "live" && pods["synced"] == true, || pods.to_string())
    })
    .await;
    cluster.rate(RATE).await;
    cluster.advance(BEFORE * u64::from(RATE), RATE).await;
    let before = Metrics::read(browser).await;
    cluster.advance(WINDOW * u64::from(RATE), RATE).await;
    let after = Metrics::read(browser).await;
    windows.cpu.push((after.thread - before.thread) / (after.timestamp - before.timestamp));
    windows.memory.push(metrics::wasm(browser).await);
}
