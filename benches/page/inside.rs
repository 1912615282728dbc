//! What *Inside* costs: steps to and fro through a long stream, steps while the cluster goes on, the page's frames meanwhile, and the
//! memory after it was left.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::metrics::{self, Metrics};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

const PODS: u32 = 300;
/// As many objects as a stream has, so that it has every event of them, and how many events there are.
const OBJECTS: usize = 8;
const EVENTS: usize = 10_000;
/// Beyond the last step of every stream.
const END: usize = 1_000_000_000;
/// The writes a second that come in meanwhile.
const MEANWHILE: u32 = 1_000;
/// At how many places of the stream steps are made, and how many to and fro.
const PLACES: usize = 10;
const STEPS: usize = 50;
/// How long frames are measured, in seconds, and how often, in turns.
const SECONDS: u64 = 8;
const TURNS: usize = 3;
/// The most that a step may take, in milliseconds.
const GOAL: f64 = 16.0;
const PATIENCE: Duration = Duration::from_secs(120);

/// Goes to a step, and returns how long that took with its frame, and which step it is then.
const GO: &str = "
    const [step, done] = arguments;
    const input = document.querySelector('[data-testid=inside-number]');
    const began = performance.now();
    input.value = String(step);
    input.dispatchEvent(new Event('change', { bubbles: true }));
    requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done([performance.now() - began, Number(input.value)]);
        port2.postMessage(0);
    })";

/// Makes so many steps in a direction, and returns for each how long the page worked, without the frame and with it: its own work,
/// style, layout and painting.
const WALK: &str = "
    const [handle, count, done] = arguments;
    const button = document.querySelector(`[data-testid=${handle}]`);
    const times = [];
    const step = async () => {
        if (times.length === count) return done(times);
        let frame = 0;
        requestAnimationFrame(() => frame = performance.now());
        const began = performance.now();
        button.click();
        for (let turn = 0; turn < 20; turn++) await null;
        const worked = performance.now() - began;
        requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => { times.push([worked, worked + performance.now() - frame]); setTimeout(step, 0); };
            port2.postMessage(0);
        });
    };
    step()";

/// What is shown of a step.
const SHOWN: &str = "return document.querySelector('[data-testid=inside-parts]').innerText
    + document.querySelector('[data-testid=inside-sentence]').innerText";
const NOTES: &str = "return document.querySelector('[data-testid=inside-notes]').textContent";

/// Prints the times, and fails where a step takes longer than it may.
pub async fn report() {
    let cluster = Cluster::start(&Options { pods: PODS, rate: 0, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let mut late = f64::NAN;
    with_page("inside", &proxy.url(), "#/pods?pin=configmaps", async |page| {
        page.browser.devtools("Performance.enable", json!({})).await;
        page.reaches("pods", "live", PATIENCE).await;
        page.reaches("configmaps", "live", PATIENCE).await;
        for event in 0..EVENTS {
            let name = format!("inside-{}", event % OBJECTS);
            cluster
                .put(&json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"event": event.to_string()},
                    "metadata": {"name": name, "namespace": "default"}}))
                .await;
        }
        let truth = cluster.quiet("/api/v1/configmaps").await;
        page.shows("configmaps", &truth, PATIENCE).await;
        let before = metrics::wasm(&page.browser).await;
        open(page, "configmaps").await;
        let [_, last] = go(page, END).await;
        let notes: String = page.read(NOTES, Vec::new()).await;
        println!("\n## Inside: {last:.0} steps\n\n{notes}\n");
        println!("| what | p50, ms | p95, ms | most, ms |\n|---|---:|---:|---:|");
        go(page, 3).await;
        let shown: String = page.read(SHOWN, Vec::new()).await;
        let (mut worked, mut whole, mut jumps) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..PLACES {
            // Now here, now there.
            let part = 0.02 + 0.95 * (place as f64 * 0.618).fract();
            jumps.push(go(page, (last * part) as usize).await[0]);
            walk(page, &mut worked, &mut whole).await;
        }
        late = row("a step, its work", worked);
        row("a step with its frame", whole);
        row("to another place of the stream, with its frame", jumps);
        go(page, 3).await;
        let again: String = page.read(SHOWN, Vec::new()).await;
        assert_eq!(shown, again, "the state after all of these steps is that of before");
        let opened = metrics::wasm(&page.browser).await;
        for _ in 0..5 {
            leave(page).await;
            open(page, "configmaps").await;
            go(page, END).await;
        }
        leave(page).await;
        let left = metrics::wasm(&page.browser).await;
        let [before, opened, left] = [before, opened, left].map(|bytes| bytes / 1e6);
        println!("\nWasm memory: {before:.1} MB before, {opened:.1} once opened, {left:.1} after it was opened and left five times more.\n");
        meanwhile(page, &cluster).await;
    })
    .await;
    assert!(late <= GOAL, "the p95 of the work of a step is {late:.1} ms, and may be {GOAL}");
}

/// While the cluster goes on: steps, what the view leaves out, and the page's frames with it and without.
async fn meanwhile(page: &Page, cluster: &Cluster) {
    cluster.rate(MEANWHILE).await;
    cluster.advance(u64::from(MEANWHILE), MEANWHILE).await;
    println!("| at {MEANWHILE} writes/s | frame p50 / p95 / most, ms | main thread's CPU |\n|---|---:|---:|");
    let mut shares = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (is_open, shares) in [false, true].into_iter().zip(&mut shares) {
            if is_open {
                open(page, "pods").await;
                go(page, 3).await;
            }
            let before = Metrics::read(&page.browser).await;
            let frames = metrics::frames(&page.browser, SECONDS).await;
            let after = Metrics::read(&page.browser).await;
            let share = (after.thread - before.thread) / (after.timestamp - before.timestamp);
            let what = if is_open { "with Inside open" } else { "without" };
            let [middle, high, most] = [0.5, 0.95, 1.0].map(|part| frames.at(part));
            println!("| {what} | {middle:.1} / {high:.1} / {most:.1} | {:.1} % |", share * 100.0);
            shares.push(share);
            if is_open {
                leave(page).await;
            }
        }
    }
    let [without, with] = shares.map(|shares| Samples::new(shares).at(0.5));
    println!("\nThe CPU with it is {:.2} of that without it.\n", with / without);
    open(page, "pods").await;
    go(page, 3).await;
    println!("| what | p50, ms | p95, ms | most, ms |\n|---|---:|---:|---:|");
    let (mut worked, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        walk(page, &mut worked, &mut whole).await;
    }
    row("a step meanwhile, its work", worked);
    row("a step meanwhile with its frame", whole);
    let notes: String = page.read(NOTES, Vec::new()).await;
    println!("\nThe view says: {notes}");
    assert!(notes.contains("left out"), "it says what it leaves out");
    cluster.rate(0).await;
    let truth = cluster.quiet("/api/v1/pods").await;
    leave(page).await;
    page.shows("pods", &truth, PATIENCE).await;
    page.is_balanced().await;
}

async fn walk(page: &Page, worked: &mut Vec<f64>, whole: &mut Vec<f64>) {
    for handle in ["inside-forward", "inside-back"] {
        let times: Vec<[f64; 2]> = measured(page, WALK, vec![handle.into(), STEPS.into()]).await;
        worked.extend(times.iter().map(|[time, _]| time));
        whole.extend(times.iter().map(|[_, time]| time));
    }
}

async fn open(page: &Page, kind: &str) {
    page.open(&format!("#/inside?kind={kind}")).await;
    wait_until("a stream is played", PATIENCE, async || {
        let script = "return document.querySelector('[data-testid=inside-number]') !== null && document.querySelector('[data-testid=inside-forward]') !== null";
        holds(page.read::<bool>(script, Vec::new()).await, || String::from("it is not"))
    })
    .await;
}

async fn leave(page: &Page) {
    page.open("#/pods").await;
    let is_left = "return document.querySelector('[data-testid=inside]') === null";
    page.becomes("Inside is left", is_left, true.into()).await;
}

/// Goes to a step, or to the last one.
async fn go(page: &Page, step: usize) -> [f64; 2] {
    measured(page, GO, vec![step.into()]).await
}

/// Runs a script that says when it is done, and reads what it says.
async fn measured<T: DeserializeOwned>(page: &Page, script: &str, arguments: Vec<Value>) -> T {
    let answer = page.browser.driver.execute_async(script, arguments).await.expect("the page runs the script");
    serde_json::from_value(answer.json().clone()).expect("the script says numbers")
}

/// Prints a row, and returns the time that few are over.
fn row(what: &str, times: Vec<f64>) -> f64 {
    let times = Samples::new(times);
    let [middle, high, most] = [0.5, 0.95, 1.0].map(|part| times.at(part));
    println!("| {what} | {middle:.1} | {high:.1} | {most:.1} |");
    high
}
