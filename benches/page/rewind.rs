//! How fast the page shows another moment: after a click, while the moment is dragged, and while it is played.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::{self, Metrics};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;

/// Without other numbers on the command line.
const PODS: u32 = 10_000;
/// Writes a second that come in while the moment is dragged.
const MEANWHILE: u32 = 200;
/// As many changes as there are in an hour at 20 a second, in as short a time as the page can take them.
const CHANGES: u64 = 72_000;
const RATE: u32 = 3_000;
/// How far the two moments are apart that are compared, in milliseconds: some 2,000 objects have changed in that time.
const COMPARED: f64 = 3_500.0;
/// How often a moment is gone to, from now and from another moment: the 95th of a hundred needs some tens.
const ROUNDS: usize = 40;
/// How often two moments are compared.
const COMPARISONS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(120);

/// Goes to a part of the recording, and returns after how many milliseconds the rows in sight are there, and after how many
/// all are read and in order.
const GO: &str = "
    const [from, part, filter, done] = arguments;
    const last = performance.timeOrigin + performance.now();
    const moment = new Date(from + part * (last - from)).toISOString();
    const began = performance.now();
    location.hash = '#/pods?' + filter + 'at=' + moment;
    let seen = 0, whole = 0, quiet = 0;
    const look = () => {
        const there = kubechurn_moment() === moment.slice(11, 23);
        const rows = [...document.querySelectorAll('[data-testid=table-scroll] .row')].slice(0, 20);
        const read = row => row.dataset.state === 'unrecorded' || row.querySelector('[data-col=STATUS]').textContent !== '';
        if (there && rows.length === 20 && rows.every(read)) seen ||= performance.now() - began;
        // How much is left to be read is shown a frame after the rows in sight.
        const reads = document.querySelector('[data-testid=progress]').textContent !== '';
        if (!seen || reads) whole = quiet = 0;
        else whole ||= performance.now() - began;
        if (whole && ++quiet === 5) return done([seen, whole]);
        requestAnimationFrame(look);
    };
    window.kubechurn_moment = () => document.querySelector('[data-testid=rewind-time]')?.value.replace('Z', '');
    requestAnimationFrame(look)";

/// Drags the moment to and fro for so many frames, or plays, and returns the length of each frame, and of each task over 50 ms.
const FRAMES: &str = "
    const [drags, done] = [arguments[0], arguments[arguments.length - 1]];
    const canvas = document.getElementById('timeline-canvas'), box = canvas.getBoundingClientRect();
    const left = document.querySelector('.lane-labels').getBoundingClientRect().width, width = box.width - 12 - left;
    const y = box.bottom - 6, from = box.left + left + 0.8 * width;
    const send = (type, x) => drags && canvas.dispatchEvent(new PointerEvent(type,
        { clientX: x, clientY: y, pointerId: 1, button: 0, bubbles: true, cancelable: true }));
    const long = [], frames = [];
    // To go there from now is measured by itself.
    send('pointermove', from); send('pointerdown', from); send('pointerup', from);
    setTimeout(() => {
        new PerformanceObserver(list => long.push(...list.getEntries().map(entry => entry.duration))).observe({ entryTypes: ['longtask'] });
        send('pointermove', from); send('pointerdown', from);
        let last = performance.now();
        const step = () => {
            frames.push(performance.now() - last);
            last = performance.now();
            if (frames.length === 300) { send('pointerup', from); return done([frames, long]); }
            send('pointermove', from + Math.sin(frames.length / 40) * 0.15 * width);
            requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    }, 1500)";

/// Compares the state at a time with that so many milliseconds later, and returns how long that takes, how many objects differ,
/// and how long the longest task was.
const COMPARE: &str = "
    const [at, width, done] = arguments;
    let longest = 0, began = 0;
    const observer = new PerformanceObserver(list => list.getEntries().forEach(entry => longest = Math.max(longest, entry.duration)));
    observer.observe({ entryTypes: ['longtask'] });
    const text = name => document.querySelector(`[data-testid=${name}]`)?.textContent ?? '';
    const look = () => {
        const found = /^([\\d,]+) objects? differ/.exec(text('span-words'));
        const isThere = began && found && text('span-reading') === '' && document.querySelector('[data-testid=feed-row]');
        if (isThere) {
            const took = performance.now() - began;
            return setTimeout(() => { observer.disconnect(); done([took, Number(found[1].replace(',', '')), longest]); }, 200);
        }
        if (!began && !document.querySelector('[data-testid=span]')) {
            began = performance.now();
            location.hash = `#/pods?view=changes&span=${Math.round(at)}-${Math.round(at + width)}&net=1`;
        }
        requestAnimationFrame(look);
    };
    location.hash = '#/pods?view=changes';
    requestAnimationFrame(look)";

/// The goals, in milliseconds: the 95th of a hundred to the rows in sight with [`PODS`], and to all rows with these and with more
/// Pods; of a frame; a single task; the median of a comparison.
const SEEN: f64 = 50.0;
const WHOLE: [f64; 2] = [200.0, 1_500.0];
const FRAME: f64 = 20.0;
const TASK: f64 = 50.0;
const COMPARISON: f64 = 300.0;
/// The goal for how busy the main thread is while a moment is played, in %.
const BUSY: f64 = 50.0;

/// The goals that were missed. A gate leaves room for what else the machine does: it fails beyond so many times its goal.
#[derive(Default)]
struct Missed(Vec<String>);

impl Missed {
    const ROOM: f64 = 1.3;

    fn judge(&mut self, what: &str, value: f64, goal: f64) {
        if value > goal * Self::ROOM {
            self.0.push(format!("{what}: {value:.0}, at most {goal:.0}"));
        }
    }
}

/// Prints the times, for each number of Pods, and panics where goals are missed by far.
pub async fn report(sizes: &[u32]) {
    let mut missed = Missed::default();
    for pods in if sizes.is_empty() { &[PODS] } else { sizes } {
        one(*pods, &mut missed).await;
    }
    assert!(missed.0.is_empty(), "goals that were missed: {:#?}", missed.0);
}

async fn one(pods: u32, missed: &mut Missed) {
    let cluster = Cluster::start(&Options { pods, rate: 0, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page("rewind", &proxy.url(), "#/pods", async |page| {
        page.browser.devtools("Performance.enable", json!({})).await;
        page.reaches("pods", "live", PATIENCE).await;
        let began: f64 = page.read("return performance.timeOrigin + performance.now()", Vec::new()).await;
        let empty = metrics::wasm(&page.browser).await;
        cluster.rate(RATE).await;
        cluster.advance(CHANGES, RATE).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, PATIENCE).await;
        let recorded = metrics::wasm(&page.browser).await;
        println!("\n## Rewind: {pods} Pods, {CHANGES} changes\n");
        println!("| what | p50, ms | p95, ms | most, ms |\n|---|---:|---:|---:|");
        for (what, goes_back, filter) in
            [("from now", true, ""), ("from another moment", false, ""), ("with a filter", false, "q=Running&")]
        {
            let (mut seen, mut whole) = (Vec::new(), Vec::new());
            for round in 0..ROUNDS {
                if goes_back {
                    live(page).await;
                }
                // Parts that lie now here, now there.
                let part = 0.05 + 0.9 * (round as f64 * 0.618).fract();
                let [first, all] = go(page, began, part, filter).await;
                seen.push(first);
                whole.push(all);
            }
            let seen = row(&format!("to the visible rows, {what}"), seen);
            let whole = row(&format!("to all rows, read and in order, {what}"), whole);
            let is_large = pods > PODS;
            if !is_large {
                missed.judge(&format!("the visible rows, {what}"), seen.at(0.95), SEEN);
            }
            missed.judge(&format!("all rows, {what}"), whole.at(0.95), WHOLE[usize::from(is_large)]);
        }
        live(page).await;
        let (mut times, mut longest, mut differ) = (Vec::new(), 0.0_f64, 0.0);
        for round in 0..COMPARISONS {
            let ended = began + CHANGES as f64 / f64::from(RATE) * 1_000.0;
            let at = began + (ended - began) * (0.1 + 0.8 * (round as f64 * 0.618).fract());
            let [took, objects, task]: [f64; 3] = measured(page, COMPARE, vec![at.into(), COMPARED.into()]).await;
            times.push(took);
            (longest, differ) = (longest.max(task), objects);
        }
        let times = row(&format!("to what is different between two moments, {differ:.0} objects"), times);
        println!("| the longest task while two moments are compared | | | {longest:.0} |");
        missed.judge("what is different", times.at(0.5), COMPARISON);
        missed.judge("a task while two moments are compared", longest, TASK);
        page.open("#/pods").await;
        for (what, rate) in [("dragged", 0), ("dragged while writes come in", MEANWHILE)] {
            cluster.rate(rate).await;
            frames(page, what, true, missed).await;
        }
        live(page).await;
        page.shows("pods", &cluster.quiet("/api/v1/pods").await, PATIENCE).await;
        // Some hundred times as many changes a second as in an hour at 20: a speed of 1 is one of 100.
        go(page, began, 0.05, "").await;
        page.press(" ").await;
        let before = Metrics::read(&page.browser).await;
        frames(page, "played", false, missed).await;
        let after = Metrics::read(&page.browser).await;
        let busy = 100.0 * (after.task - before.task) / (after.timestamp - before.timestamp);
        println!("| main thread busy while it is played, % | {busy:.0} | | |");
        missed.judge("main thread busy while it is played", busy, BUSY);
        let rewound = metrics::wasm(&page.browser).await;
        let [empty, recorded, rewound] = [empty, recorded, rewound].map(|bytes| bytes / 1e6);
        println!(
            "| wasm memory after the list, the changes, the rewind, MB | {empty:.0} | {recorded:.0} | {rewound:.0} |"
        );
    })
    .await;
}

async fn live(page: &Page) {
    page.press("L").await;
    let live = "return document.querySelector('[data-testid=connection]').dataset.state === 'live'";
    page.becomes("the page is live", live, true.into()).await;
}

async fn frames(page: &Page, what: &str, drags: bool, missed: &mut Missed) {
    let (frames, long): (Vec<f64>, Vec<f64>) = measured(page, FRAMES, vec![drags.into()]).await;
    let frames = row(&format!("a frame while it is {what}"), frames);
    let longest = long.iter().copied().fold(0.0, f64::max);
    missed.judge(&format!("a frame while it is {what}"), frames.at(0.95), FRAME);
    missed.judge(&format!("a task while it is {what}"), longest, TASK);
    println!("| tasks over 50 ms while it is {what} | {} | | {longest:.0} |", long.len());
}

async fn go(page: &Page, began: f64, part: f64, filter: &str) -> [f64; 2] {
    measured(page, GO, vec![began.into(), part.into(), filter.into()]).await
}

/// Runs a script that says when it is done, and reads what it says.
async fn measured<T: DeserializeOwned>(page: &Page, script: &str, arguments: Vec<Value>) -> T {
    let answer = page.browser.driver.execute_async(script, arguments).await.expect("the page runs the script");
    serde_json::from_value(answer.json().clone()).expect("the script says numbers")
}

fn row(what: &str, times: Vec<f64>) -> Samples {
    let times = Samples::new(times);
    let [middle, late, most] = [0.5, 0.95, 1.0].map(|part| times.at(part));
    println!("| {what} | {middle:.0} | {late:.0} | {most:.0} |");
    times
}
