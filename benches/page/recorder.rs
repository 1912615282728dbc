//! What recording and reading cost the page's main thread: the same page with its recorder and with the recorder turned off,
//! in turns.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::Metrics;
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::INSTRUMENTS;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 5_000;
const RATES: [u32; 3] = [200, 1_000, 5_000];

/// How often each of the two pages is measured at each rate.
const ROUNDS: usize = 5;

/// The seconds of load before a window, in which the browser compiles what is used most, and of a window.
const BEFORE: u64 = 4;
const WINDOW: u64 = 10;

/// The goal for the CPU of the page with its recorder, against that of the page without it.
const GOAL: f64 = 1.15;
/// A ratio above this one is no noise of the machine any more.
const MOST: f64 = 1.3;

/// Prints a row for each rate, and fails if the recorder costs much more than it should.
pub async fn report() {
    let cluster = Cluster::start(&Options { pods: PODS, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start(INSTRUMENTS).await;
    browser.devtools("Performance.enable", json!({})).await;
    println!("\n## The recorder: {PODS} Pods, {ROUNDS} windows of {WINDOW} s with it and without it, in turns\n");
    println!("| events/s asked | main thread's CPU without it | with it | ratio of the medians, goal {GOAL} |");
    println!("|---:|---:|---:|---:|");
    let mut worst: f64 = 0.0;
    for rate in RATES {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            without.push(window(&browser, &cluster, &proxy, rate, "0").await);
            with.push(window(&browser, &cluster, &proxy, rate, "64").await);
        }
        let (without, with) = (Samples::new(without), Samples::new(with));
        let ratio = with.at(0.5) / without.at(0.5);
        worst = worst.max(ratio);
        let shown = |samples: &Samples| {
            let [low, middle, high] = [0.0, 0.5, 1.0].map(|part| samples.at(part) * 100.0);
            format!("{middle:.1} % ({low:.1}–{high:.1})")
        };
        println!("| {rate} | {} | {} | {ratio:.2} |", shown(&without), shown(&with));
    }
    browser.quit().await;
    assert!(worst <= MOST, "the recorder costs {worst:.2} of the page without it, at most {MOST}");
}

/// The share of a window in which the main thread is busy, on a page that was just opened with this choice of memory.
async fn window(browser: &Browser, cluster: &Cluster, proxy: &KubectlProxy, rate: u32, megabytes: &str) -> f64 {
    cluster.rate(0).await;
    let address = format!("{}#/pods?sort=NAME", proxy.url());
    browser.driver.goto(&address).await.expect("the page loads");
    browser.run("localStorage.setItem('kubechurn.recorder', arguments[0])", vec![json!(megabytes)]).await;
    // The same address with another fragment would load nothing.
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    browser.driver.goto(&address).await.expect("the page loads");
    let script = "return { pods: window.kubechurn?.status?.().find(status => status.resource === 'pods') ?? {}, \
                  budget: window.kubechurn?.recorder?.().budget }";
    wait_until("Pods are live", Duration::from_secs(60), async || {
        let page = browser.run(script, Vec::new()).await;
        let is_chosen = page["budget"].as_f64().map(|budget| budget / 1e6) == megabytes.parse().ok();
        let pods = &page["pods"];
        holds(is_chosen && pods["state"] == "live" && pods["synced"] == true, || page.to_string())
    })
    .await;
    cluster.rate(rate).await;
    cluster.advance(BEFORE * u64::from(rate), rate).await;
    let before = Metrics::read(browser).await;
    cluster.advance(WINDOW * u64::from(rate), rate).await;
    let after = Metrics::read(browser).await;
    (after.thread - before.thread) / (after.timestamp - before.timestamp)
}
