//! How long a user waits for a page that is opened for the first time, and what the time goes to.

use std::time::Duration;

use serde_json::Value;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::wait_until;

/// Reads the page once per frame, because a user cannot see more. The page's clock starts with the navigation.
const WATCHER: &str = "
    window.__start = { first: null, all: null, error: null, frames: 0, steps: {}, long: [] };
    const { steps, long } = window.__start;
    const at = (step, time) => steps[step] ??= time ?? performance.now();
    new PerformanceObserver(list => long.push(...list.getEntries().map(({ startTime, duration }) => [startTime, duration])))
        .observe({ type: 'longtask' });
    for (const name of ['instantiate', 'instantiateStreaming']) {
        const original = WebAssembly[name];
        WebAssembly[name] = (...given) => original.apply(WebAssembly, given).then(made => (at('instantiated'), made));
    }
    window.WebSocket = new Proxy(WebSocket, {
        construct(target, given) {
            at('list asked');
            const socket = new target(...given);
            socket.addEventListener('open', () => at('list begins'));
            return socket;
        },
    });
    const fetched = window.fetch;
    window.fetch = (...given) => {
        const url = String(given[0]?.url ?? given[0]);
        const answer = fetched.apply(window, given);
        const step = /version$/.test(url) ? 'version' : /\\/pods\\?/.test(url) ? 'list' : null;
        if (step === null) return answer;
        at(`${step} asked`);
        return answer.then(response => (at(step === 'list' ? 'list begins' : 'version answered'), response));
    };
    const look = () => {
        const start = window.__start;
        start.frames += 1;
        try {
            if (document.querySelector('.shell') !== null) at('drawn');
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

/// The times of the page's files, as the browser noted them.
const FILES: &str = "
    const end = part => performance.getEntriesByType('resource').find(({ name }) => name.includes(part))?.responseEnd;
    return { 'HTML there': performance.getEntriesByType('navigation')[0].responseEnd, 'wasm there': end('.wasm') }";

/// What is traced, in the order in which it happened before requests began early.
const STEPS: [&str; 8] = [
    "HTML there",
    "version asked",
    "version answered",
    "wasm there",
    "instantiated",
    "list asked",
    "list begins",
    "drawn",
];

const ROUNDS: usize = 5;

/// What was measured of one start.
struct Start {
    first: f64,
    all: f64,
    steps: Vec<f64>,
    longest: f64,
}

/// Prints a row for each size of cluster, and the steps of the start for the smallest.
pub async fn report() {
    println!("\n## Start: from navigation, median of {ROUNDS} fresh browsers\n");
    println!("| Pods | first row, ms | all rows, ms |\n|---:|---:|---:|");
    let mut traced = Vec::new();
    for pods in [1_000, 10_000] {
        let cluster = Cluster::start(&Options { pods, ..Options::default() }).await;
        let proxy = KubectlProxy::start(cluster.port()).await;
        let mut starts = Vec::new();
        for _ in 0..ROUNDS {
            starts.push(start(&format!("{}#/pods", proxy.url())).await);
        }
        println!("| {pods} | {:.0} | {:.0} |", median(&starts, |one| one.first), median(&starts, |one| one.all));
        if traced.is_empty() {
            traced = starts;
        }
    }
    println!("\n| step of the start with the fewest Pods | ms from navigation |\n|---|---:|");
    for (at, step) in STEPS.into_iter().enumerate() {
        println!("| {step} | {:.0} |", median(&traced, |one| one.steps[at]));
    }
    println!("| first row | {:.0} |", median(&traced, |one| one.first));
    println!("| longest task | takes {:.0} |", median(&traced, |one| one.longest));
}

/// Opens the page in a new browser.
async fn start(url: &str) -> Start {
    let browser = Browser::start(WATCHER).await;
    browser.driver.goto(url).await.expect("the page loads");
    let (first, all, start) = wait_until("all rows are there", Duration::from_secs(60), async || {
        let start = browser.run("return window.__start", Vec::new()).await;
        let times = start["first"].as_f64().zip(start["all"].as_f64());
        times.map(|(first, all)| (first, all, start.clone())).ok_or_else(|| start.to_string())
    })
    .await;
    let files = browser.run(FILES, Vec::new()).await;
    browser.quit().await;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let steps = STEPS.map(|step| start["steps"][step].as_f64().unwrap_or_else(|| number(&files[step])));
    let long = start["long"].as_array().into_iter().flatten().map(|task| number(&task[1]));
    Start { first, all, steps: steps.to_vec(), longest: long.fold(0.0, f64::max) }
}

fn median(starts: &[Start], of: impl Fn(&Start) -> f64) -> f64 {
    Samples::new(starts.iter().map(of).collect()).at(0.5)
}
