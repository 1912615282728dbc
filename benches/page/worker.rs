//! Whether a worker pays: the least that a page costs that takes in every write of a storm, with its sockets on the main thread and
//! with its sockets in a worker that hands rows over in batches.
//!
//! Both pages read each frame with `JSON.parse` and make a row of it, which is the same work on either side. So the difference
//! is what a worker saves and costs: the browser's taking in of messages moves, and the rows are passed on.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::Metrics;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

/// What both pages run where their sockets are: `take` gets the row of each frame.
const SOCKETS: &str = "
    const PATHS = ['api/v1/pods', 'api/v1/events', 'api/v1/nodes', 'apis/apps/v1/replicasets', 'apis/apps/v1/deployments',
        'apis/batch/v1/jobs'];
    const row = text => {
        const { type, object } = JSON.parse(text);
        const { namespace = '', name, uid, resourceVersion } = object.metadata;
        const cells = [object.status?.phase, object.spec?.nodeName, object.reason, object.message, object.type]
            .map(cell => cell ?? '');
        return [type, object.kind, namespace, name, uid, resourceVersion, ...cells];
    };
    const open = (base, take) => PATHS.map(async path => {
        const list = await (await fetch(`${base}/k8s/${path}?limit=1`)).json();
        const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}`;
        const socket = new WebSocket(`${base.replace('http', 'ws')}/k8s/${path}?${query}`);
        socket.onmessage = ({ data }) => take(row(data));
    });";

/// The sockets on the main thread.
const MAIN: &str = "
    window.rows = new Map();
    window.received = 0;
    const take = row => { window.received += 1; window.rows.set(row[4], row) };
    open(location.origin, take);";

/// The sockets in a worker, which hands rows over ten times a second: as one text in one buffer that
/// is moved and not copied.
const WORKER: &str = "
    window.rows = new Map();
    window.received = 0;
    const body = `${SOCKETS}
        let rows = [];
        const encoder = new TextEncoder();
        open('${location.origin}', row => rows.push(row.join('\\x1f')));
        setInterval(() => {
            if (rows.length === 0) return;
            const { buffer } = encoder.encode(rows.join('\\x1e'));
            rows = [];
            postMessage(buffer, [buffer]);
        }, 100);`;
    const worker = new Worker(URL.createObjectURL(new Blob([body], { type: 'text/javascript' })));
    const decoder = new TextDecoder();
    worker.onmessage = ({ data }) => {
        for (const text of decoder.decode(data).split('\\x1e')) {
            const row = text.split('\\x1f');
            window.received += 1;
            window.rows.set(row[4], row);
        }
    };";

/// The writes per second that are asked for.
const RATES: [u32; 3] = [1_000, 3_770, 20_000];
/// How long each page is measured, in seconds.
const WINDOW: u64 = 10;

/// What a page cost in one window.
struct Cost {
    events: f64,
    process: f64,
    main: f64,
    busy: f64,
}

/// Prints a row for each rate.
pub async fn report() {
    println!("\n## A worker: six watches, all writes of a storm, {WINDOW} s each\n");
    println!(
        "| writes/s asked | events/s: main, worker | process, µs of processor time an event: main, worker, ratio \
         | main thread, µs an event: main, worker, ratio | busy: main, worker |"
    );
    println!("|---:|---:|---:|---:|---:|");
    let cluster = Cluster::start(&Options { pods: 5_000, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    for rate in RATES {
        let main = measure(&proxy, &cluster, rate, &format!("{SOCKETS}{MAIN}")).await;
        let worker = format!("const SOCKETS = {};{WORKER}", json!(SOCKETS));
        let worker = measure(&proxy, &cluster, rate, &worker).await;
        let each = |cost: f64, of: &Cost| cost / of.events * 1e6;
        let ratio = |one: f64, other: f64| one / other;
        let (p1, p2) = (each(main.process, &main), each(worker.process, &worker));
        let (m1, m2) = (each(main.main, &main), each(worker.main, &worker));
        println!(
            "| {rate} | {:.0}, {:.0} | {p1:.0}, {p2:.0}, {:.2} | {m1:.0}, {m2:.0}, {:.2} | {:.1} %, {:.1} % |",
            main.events / WINDOW as f64,
            worker.events / WINDOW as f64,
            ratio(p2, p1),
            ratio(m2, m1),
            main.busy * 100.0,
            worker.busy * 100.0,
        );
    }
}

/// Opens a bare page that runs `script`, and measures it under load.
async fn measure(proxy: &KubectlProxy, cluster: &Cluster, rate: u32, script: &str) -> Cost {
    let browser = Browser::start("").await;
    browser.driver.goto(format!("{}k8s/version", proxy.url())).await.expect("the server says its version");
    browser.devtools("Performance.enable", json!({})).await;
    browser.run(script, Vec::new()).await;
    cluster.rate(rate).await;
    let received = async || browser.run("return window.received", Vec::new()).await.as_f64().unwrap_or(f64::NAN);
    wait_until("rows come", Duration::from_secs(20), async || {
        let received = received().await;
        holds(received > 1_000.0, || format!("{received} rows"))
    })
    .await;
    let (before, first) = (Metrics::read(&browser).await, received().await);
    tokio::time::sleep(Duration::from_secs(WINDOW)).await;
    let (after, last) = (Metrics::read(&browser).await, received().await);
    cluster.rate(0).await;
    browser.quit().await;
    Cost {
        events: last - first,
        process: after.process - before.process,
        main: after.thread - before.thread,
        busy: (after.task - before.task) / (after.timestamp - before.timestamp),
    }
}
