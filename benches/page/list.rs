//! How long a user waits for the first list of a large cluster, against a bare page in the same browser that only reads the same
//! list to its end, and against the page with a streaming list over its socket.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::{self, LONG_TASKS, milliseconds};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::INSTRUMENTS;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::wait_until;

/// Reads the page once per frame, because a user cannot see more. The page's clock starts with the navigation.
const WATCHER: &str = "
    window.__start = { first: null, all: null };
    const look = () => {
        const start = window.__start;
        if (document.querySelector('[role=row][data-key]') !== null) start.first ??= performance.now();
        const pods = window.kubechurn?.status?.()?.find(status => status.resource === 'pods');
        if (start.first !== null && pods?.synced && pods.ledger.queued === 0) start.all = performance.now();
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);";

/// Reads the list as the page asks for it, and drops what comes.
const BARE: &str = "(async () => {
    const begin = performance.now();
    const answer = await fetch('/k8s/api/v1/pods?pretty=false&resourceVersion=0');
    const reader = answer.body.getReader();
    let [first, bytes] = [null, 0];
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        first ??= performance.now() - begin;
        bytes += value.length;
    }
    return { first, all: performance.now() - begin, bytes };
})()";

/// The measured sizes of cluster, and how often each is measured.
const SIZES: [(u32, usize); 4] = [(1_000, 5), (10_000, 5), (30_000, 3), (150_000, 3)];

/// The page on one cluster: a sample of each round.
#[derive(Default)]
struct Times {
    first: Vec<f64>,
    all: Vec<f64>,
    tasks: Vec<f64>,
    memory: Vec<f64>,
}

/// Prints a row for each size of cluster.
pub async fn report(sizes: &[u32]) {
    println!("\n## The first list: from navigation, medians of fresh browsers, the ways in turns\n");
    println!(
        "| Pods | list, MB | bare fetch: first byte / all, ms | first row, ms | all rows, ms | all / bare fetch \
         | tasks > 50 ms, all rounds | longest, ms | wasm, MB | streaming list: first row / all rows, ms |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (pods, rounds) in SIZES.into_iter().filter(|(pods, _)| sizes.is_empty() || sizes.contains(pods)) {
        let cluster = Cluster::start(&Options { pods, ..Options::default() }).await;
        let proxy = KubectlProxy::start(cluster.port()).await;
        let (mut bare_first, mut bare_all, mut bytes) = (Vec::new(), Vec::new(), f64::NAN);
        let (mut fetched, mut streamed) = (Times::default(), Times::default());
        for _ in 0..rounds {
            let browser = Browser::start("").await;
            browser.driver.goto(format!("{}k8s/version", proxy.url())).await.expect("the server says its version");
            let read = browser.resolve(BARE).await;
            bare_first.push(read["first"].as_f64().unwrap_or(f64::NAN));
            bare_all.push(read["all"].as_f64().unwrap_or(f64::NAN));
            bytes = read["bytes"].as_f64().unwrap_or(f64::NAN);
            browser.quit().await;
            open(&format!("{}#/pods", proxy.url()), &mut fetched).await;
            open(&format!("{}?list=stream#/pods", proxy.url()), &mut streamed).await;
        }
        let median = |samples: Vec<f64>| Samples::new(samples).at(0.5);
        let (bare, all) = (median(bare_all), median(fetched.all));
        let tasks = Samples::new(fetched.tasks);
        println!(
            "| {pods} | {:.1} | {:.0} / {bare:.0} | {:.0} | {all:.0} | {:.2} | {} | {} | {:.1} | {:.0} / {:.0} |",
            bytes / 1e6,
            median(bare_first),
            median(fetched.first),
            all / bare,
            tasks.count(),
            milliseconds(tasks.at(1.0)),
            median(fetched.memory) / 1e6,
            median(streamed.first),
            median(streamed.all),
        );
    }
}

/// Opens the page in a fresh browser, and adds what it took.
async fn open(address: &str, times: &mut Times) {
    let browser = Browser::start(&format!("{INSTRUMENTS}{LONG_TASKS}{WATCHER}")).await;
    browser.driver.goto(address).await.expect("the page loads");
    browser.devtools("Performance.enable", json!({})).await;
    let (first, all) = wait_until("all rows are there", Duration::from_secs(180), async || {
        let start = browser.run("return window.__start", Vec::new()).await;
        start["first"].as_f64().zip(start["all"].as_f64()).ok_or_else(|| start.to_string())
    })
    .await;
    times.first.push(first);
    times.all.push(all);
    times.memory.push(metrics::wasm(&browser).await);
    let long = browser.run("return __long", Vec::new()).await;
    times.tasks.extend(long.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64));
    browser.quit().await;
}
