//! Every fault on a schedule, for as long as is asked for. Every half minute it is measured how much the page and the cluster
//! hold. None of these figures may grow by more than its noise.
//!
//! The page keeps no log for the judge, for that would grow. Instead, after each fault every kind must be live and equal to an
//! independent list, and the time of a false `live` is measured. Before the first fault the page gets enough changes to fill
//! its budgets, for until then it is supposed to grow.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::faults::Dice;
use crate::faults::matrix::FAULTS;
use crate::faults::seed::{Gathered, KINDS, Outcome, PLACE, gather, honest, strike, whole};
use crate::faults::watcher::WATCHER;
use crate::faults::world::{RATE, World};
use crate::page::{INSTRUMENTS, Page, with_page_in};

/// The time between two samples.
const EVERY: Duration = Duration::from_secs(30);

/// How many writes a second there are.
const BUSY: u32 = 200;

/// The number and the rate of the writes that fill the page's budgets: 16 MB of texts, and 57,000 marks of each kind but the
/// rarest.
const FILL: (u64, u32) = (300_000, 4_000);

/// A page is whole again within this after a fault, in milliseconds. Faults come every few seconds for as long as this lasts:
/// between them a reflector's waits grow as client-go's do, to twice as long as after a single one.
const HEAL: f64 = 20_000.0;

/// What is measured, and what a slope of it may be over the whole run, as a part of its mean: a table of as many rows
/// differs from moment to moment.
const FIGURES: [(&str, f64); 7] = [
    ("wasm memory, MB", 0.02),
    // Each look of a test into the page leaves some 0.3 KB there, and there are dozens after a fault; what the program itself
    // holds of the browser's values is counted in the next line.
    ("script heap, MB", 2.0),
    ("JavaScript values that wasm holds", 0.05),
    ("DOM nodes", 0.05),
    ("event listeners", 0.05),
    ("sockets of the page", 0.10),
    ("file handles of the cluster", 0.10),
];

/// One sample.
struct Sample {
    /// Seconds since the beginning.
    at: f64,
    figures: [f64; 7],
}

/// Runs for this many minutes, and prints the results as Markdown. Returns whether nothing grows and nothing else is wrong.
pub async fn soak(minutes: u64, seed: u64) -> bool {
    let length = Duration::from_secs(60 * minutes);
    let mut dice = Dice::new(seed);
    let mut world = World::start(seed, (200, BUSY), false, false).await;
    let mut outcome = Outcome { seed, ..Outcome::default() };
    let mut samples = Vec::new();
    let url = world.url();
    let browser = Browser::start(&format!("{INSTRUMENTS}{WATCHER}")).await;
    with_page_in(browser, "soak", &url, PLACE, async |page| {
        let mut gathered = Gathered { heal: HEAL, ..Gathered::default() };
        for (name, ..) in KINDS {
            page.reaches(name, "live", Duration::from_secs(30)).await;
        }
        fill(&world, page).await;
        let (began, mut next, mut due) = (Instant::now(), 0, EVERY);
        while began.elapsed() < length {
            world.cluster.advance(10, RATE).await;
            strike(FAULTS[next % FAULTS.len()], &mut world, page, &mut dice, &mut gathered).await;
            next += 1;
            // Between two faults nothing is under way, so that samples are alike.
            if began.elapsed() >= due {
                due += EVERY;
                samples.push(Sample { at: began.elapsed().as_secs_f64(), figures: measure(&world, page).await });
            }
            world.cluster.rate(BUSY).await;
        }
        outcome.faults = gathered.healed.iter().map(|(fault, heal)| (Some(*fault), *heal)).collect();
        whole(&world, page).await;
        page.is_balanced().await;
        gather(page, &mut gathered).await;
        outcome.slow = gathered.slow;
        honest(&gathered.seen.samples, &gathered.outages, &mut outcome);
    })
    .await;
    let grows = report(minutes, &samples);
    crate::faults::table::print_faults(std::slice::from_ref(&outcome));
    // A run that comes this far was equal to an independent list after each fault.
    println!(
        "\n{} faults, after each of which every kind was live and equal to an independent list",
        outcome.faults.len()
    );
    outcome.complaints().for_each(|complaint| println!("- {complaint}"));
    !grows && outcome.complaints().next().is_none()
}

/// Fills the page's budgets.
async fn fill(world: &World, page: &Page) {
    let (writes, rate) = FILL;
    world.cluster.rate(rate).await;
    world.cluster.advance(writes, rate).await;
    whole(world, page).await;
    world.cluster.rate(BUSY).await;
}

async fn measure(world: &World, page: &Page) -> [f64; 7] {
    let devtools = |command: &'static str| page.browser.devtools(command, json!({}));
    // The browser keeps what it wrote into the console for whoever opens its tools: a line for each request that failed.
    for command in ["Runtime.discardConsoleEntries", "Log.clear", "Console.clearMessages"] {
        devtools(command).await;
    }
    page.read::<Value>("performance.clearResourceTimings(); console.clear(); return null", Vec::new()).await;
    devtools("HeapProfiler.collectGarbage").await;
    devtools("Performance.enable").await;
    let metrics = devtools("Performance.getMetrics").await;
    let metric = |name: &str| {
        let found = metrics["metrics"].as_array().into_iter().flatten().find(|one| one["name"] == name);
        found.and_then(|one| one["value"].as_f64()).unwrap_or(f64::NAN)
    };
    let wasm: f64 = page.read("return window.__memory?.buffer.byteLength ?? 0", Vec::<Value>::new()).await;
    let values: f64 = page.read("return window.__values?.() ?? 0", Vec::<Value>::new()).await;
    let sockets = world.near.requests().iter().filter(|line| line.contains("watch=true")).count();
    let handles =
        fs::read_dir(format!("/proc/{}/fd", world.cluster.process().pid())).map_or(f64::NAN, |it| it.count() as f64);
    let mega = |bytes: f64| bytes / 1e6;
    let heap = mega(metric("JSHeapUsedSize"));
    [mega(wasm), heap, values, metric("Nodes"), metric("JSEventListeners"), sockets as f64, handles]
}

/// A straight line through points, by least squares: its slope, and how sure that is (one standard error).
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let square: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / square;
    let rest: f64 = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    (slope, (rest / (count - 2.0).max(1.0) / square).sqrt())
}

/// Whether a slope is more than noise: three standard errors, and more over the run than a part of the mean.
fn is_growth((slope, error): (f64, f64), hours: f64, mean: f64, part: f64) -> bool {
    slope > 3.0 * error && slope * hours > part * mean
}

/// Prints the samples. Returns whether anything grows.
fn report(minutes: u64, samples: &[Sample]) -> bool {
    let end = samples.last().map_or(0.0, |sample| sample.at);
    let settled: Vec<&Sample> = samples.iter().filter(|sample| sample.at >= end / 4.0).collect();
    println!("\n{minutes} minutes, {} samples, {} of them after the first quarter:\n", samples.len(), settled.len());
    println!("| | at the end | least, most | slope an hour | noise (3 standard errors) | |");
    println!("|---|---:|---:|---:|---:|---|");
    let mut grows = settled.len() < 4;
    for (at, (name, part)) in FIGURES.into_iter().enumerate() {
        let points: Vec<(f64, f64)> = settled.iter().map(|sample| (sample.at / 3600.0, sample.figures[at])).collect();
        let figures = points.iter().map(|point| point.1);
        let (least, most) = (figures.clone().fold(f64::MAX, f64::min), figures.clone().fold(f64::MIN, f64::max));
        let mean = figures.sum::<f64>() / points.len() as f64;
        let hours = points.last().zip(points.first()).map_or(0.0, |(last, first)| last.0 - first.0);
        let (slope, error) = slope(&points);
        let growth = is_growth((slope, error), hours, mean, part);
        grows |= growth;
        let last = points.last().map_or(f64::NAN, |point| point.1);
        let word = if growth { "**grows**" } else { "no slope beyond noise" };
        println!("| {name} | {last:.1} | {least:.1}, {most:.1} | {slope:+.2} | {:.2} | {word} |", 3.0 * error);
    }
    grows
}

#[test]
fn a_slope_is_distinguished_from_noise() {
    let noise = |at: usize| if at.is_multiple_of(2) { 0.5 } else { -0.5 };
    for (rise, grows) in [(0.0, false), (50.0, true), (-50.0, false), (0.2, false)] {
        let points: Vec<(f64, f64)> =
            (0..40).map(|at| (at as f64 / 120.0, 100.0 + rise * at as f64 / 120.0 + noise(at))).collect();
        let found = slope(&points);
        assert!((found.0 - rise).abs() < 3.0, "{found:?}");
        assert_eq!(is_growth(found, 0.33, 100.0, 0.05), grows, "{rise}: {found:?}");
    }
}
