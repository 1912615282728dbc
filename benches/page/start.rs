//! How long a user waits for a page that is opened for the first time.

use std::time::Duration;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::wait_until;

/// Reads the page once per frame, because a user cannot see more. The page's clock starts with the navigation.
const WATCHER: &str = "
    window.__start = { first: null, all: null, error: null, frames: 0 };
    const look = () => {
        const start = window.__start;
        start.frames += 1;
        try {
            const row = document.querySelector('[role=row][data-key]');
            if (row !== null) start.first ??= performance.now();
            const pods = window.kubechurn?.status?.()?.find(status => status.resource === 'pods');
            if (row !== null && pods?.synced) start.all = performance.now();
        } catch (error) {
            start.error = String(error);
        }
        if (start.all === null) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);";

const ROUNDS: usize = 5;

/// Prints a row for each size of cluster.
pub async fn report() {
    println!("\n## Start: from navigation, median of {ROUNDS} fresh browsers\n");
    println!("| Pods | first row, ms | all rows, ms |\n|---:|---:|---:|");
    for pods in [1_000, 10_000] {
        let cluster = Cluster::start(&Options { pods, ..Options::default() }).await;
        let proxy = KubectlProxy::start(cluster.port()).await;
        let mut first = Vec::new();
        let mut all = Vec::new();
        for _ in 0..ROUNDS {
            let browser = Browser::start(WATCHER).await;
            browser.driver.goto(format!("{}#/pods", proxy.url())).await.expect("the page loads");
            let times = wait_until("all rows are there", Duration::from_secs(60), async || {
                let start = browser.run("return window.__start", Vec::new()).await;
                start["first"].as_f64().zip(start["all"].as_f64()).ok_or_else(|| start.to_string())
            })
            .await;
            first.push(times.0);
            all.push(times.1);
            browser.quit().await;
        }
        println!("| {pods} | {:.0} | {:.0} |", Samples::new(first).at(0.5), Samples::new(all).at(0.5));
    }
}
