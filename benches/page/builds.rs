//! What this build of the page costs against other builds under load: all in one browser, in turns.

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
/// The events a second, where no others are asked for.
const RATE: u32 = 1_000;

/// How often each build is measured.
const ROUNDS: usize = 5;

/// The seconds of load before a window, in which the browser compiles what is used most, and of a window.
const BEFORE: u64 = 4;
const WINDOW: u64 = 20;

/// The share of CPU, and the bytes of wasm memory, of each window.
#[derive(Clone, Default)]
struct Windows {
    cpu: Vec<f64>,
    memory: Vec<f64>,
}

/// Prints CPU and memory of each build, at each of these numbers of events a second. `KUBECHURN_BEFORE` names the folders of the
/// other builds, as `PATH` names folders. Where `is_alone`, the kinds of *What changed* are not watched beside Pods, as they were not in
/// builds that did not know how to.
pub async fn report(rates: &[u32], is_alone: bool) {
    let others = std::env::var_os("KUBECHURN_BEFORE").expect("KUBECHURN_BEFORE names folders of other built pages");
    let folders: Vec<PathBuf> = std::env::split_paths(&others).chain([tools::dist()]).collect();
    let cluster = Cluster::start(&Options { pods: PODS, ..Options::default() }).await;
    let mut proxies = Vec::new();
    for folder in &folders {
        proxies.push(KubectlProxy::start_serving(cluster.port(), folder.clone()).await);
    }
    let browser = Browser::start(INSTRUMENTS).await;
    browser.devtools("Performance.enable", json!({})).await;
    if is_alone {
        let script = json!({"source": "try { localStorage.setItem('kubechurn.kept', 'off') } catch {} // an empty page has no storage"});
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", script).await;
    }
    for rate in if rates.is_empty() { &[RATE] } else { rates } {
        let mut windows: Vec<Windows> = folders.iter().map(|_| Windows::default()).collect();
        for _ in 0..ROUNDS {
            for (proxy, windows) in proxies.iter().zip(&mut windows) {
                measure(&browser, &cluster, (proxy, *rate), windows).await;
            }
        }
        println!("\n## Builds: {PODS} Pods, {rate} events/s, {ROUNDS} windows of {WINDOW} s of each, in turns\n");
        println!("| build | main thread's CPU, % | this one to it | wasm memory, MB | this one to it |");
        println!("|---|---:|---:|---:|---:|");
        let last = windows.last().expect("this build").clone();
        for (folder, windows) in folders.iter().zip(windows) {
            let cpu = cells(&windows.cpu, &last.cpu, 100.0);
            let memory = cells(&windows.memory, &last.memory, 1e-6);
            println!("| {} | {cpu} | {memory} |", folder.display());
        }
    }
    browser.quit().await;
}

/// The median, the least and the greatest value, and the ratio of the last build's median to it.
fn cells(values: &[f64], last: &[f64], unit: f64) -> String {
    let [values, last] = [values, last].map(|values| Samples::new(values.to_vec()));
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|part| values.at(part) * unit);
    format!("{middle:.1} ({low:.1}–{high:.1}) | {:.2}", last.at(0.5) / values.at(0.5))
}

/// A window of load on a page that was just opened.
async fn measure(browser: &Browser, cluster: &Cluster, (proxy, rate): (&KubectlProxy, u32), windows: &mut Windows) {
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
    cluster.rate(rate).await;
    cluster.advance(BEFORE * u64::from(rate), rate).await;
    let before = Metrics::read(browser).await;
    cluster.advance(WINDOW * u64::from(rate), rate).await;
    let after = Metrics::read(browser).await;
    windows.cpu.push((after.thread - before.thread) / (after.timestamp - before.timestamp));
    windows.memory.push(metrics::wasm(browser).await);
}
