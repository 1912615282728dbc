//! What a page costs on which nothing happens, in sight and hidden.

use std::time::{Duration, Instant};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::processes::ProcessorTime;
use kubechurn_harness::measure::wakes::{WAKES, Wakes};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 300;

/// A window in which 30 rows are visible.
const WINDOW: (u32, u32) = (1440, 1250);

/// How long is measured, in seconds.
const SECONDS: u64 = 30;

/// Prints a row for a page whose rows are young, one for the same page when its ages change seldom and its timeline is
/// empty, and one for the page while another tab hides it.
pub async fn report() {
    let cluster = Cluster::start(&Options { pods: PODS, bookmark_seconds: 60, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start(WAKES).await;
    browser.driver.set_window_rect(0, 0, WINDOW.0, WINDOW.1).await.expect("the window can be resized");
    browser.driver.goto(format!("{}#/pods", proxy.url())).await.expect("the page loads");
    wait_until("Pods are live", Duration::from_secs(60), async || {
        let script = "return window.kubechurn?.status?.().find(status => status.resource === 'pods') ?? {}";
        let status = browser.run(script, Vec::new()).await;
        holds(status["state"] == "live" && status["synced"] == true, || status.to_string())
    })
    .await;
    let began = Instant::now();
    let rows = "const seen = document.querySelector('[data-testid=table-scroll]').getBoundingClientRect();
        return [...document.querySelectorAll('[role=row][data-key]')].map(row => row.getBoundingClientRect())
            .filter(row => row.top >= seen.top && row.bottom <= seen.bottom).length";
    let rows = browser.run(rows, Vec::new()).await;
    println!("\n## A quiet cluster of {PODS} Pods, {rows} rows visible, {SECONDS} s each\n");
    println!(
        "Goals: the page's process and the GPU's together at most 1 % of a core; hidden, at most one wake in 10 s.\n"
    );
    println!(
        "| page | its process | GPU process | whole browser | timers | frames | requests | changes of the document |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    // The first seconds belong to the list and to discovery.
    until(began, 10).await;
    row("in sight, since 10 s", &browser).await;
    until(began, 150).await;
    row("in sight, since 150 s", &browser).await;
    browser.hide().await;
    until(began, 190).await;
    row("hidden", &browser).await;
    browser.quit().await;
}

/// Waits until so many seconds have passed since then.
async fn until(began: Instant, seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds).saturating_sub(began.elapsed())).await;
}

/// Measures, and prints it. Nothing asks the browser for anything meanwhile.
async fn row(what: &str, browser: &Browser) {
    let wakes = Wakes::read(browser).await;
    let (before, began) = (ProcessorTime::read(browser), Instant::now());
    tokio::time::sleep(Duration::from_secs(SECONDS)).await;
    let used = ProcessorTime::read(browser).shares_since(before, began.elapsed().as_secs_f64());
    let wakes = Wakes::read(browser).await.since(wakes);
    println!(
        "| {what} | {:.2} % | {:.2} % | {:.2} % | {} | {} | {} | {} |",
        used.renderers * 100.0,
        used.gpu * 100.0,
        used.all * 100.0,
        wakes.timers,
        wakes.frames,
        wakes.requests,
        wakes.changes,
    );
}
