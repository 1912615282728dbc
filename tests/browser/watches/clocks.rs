//! The machine sleeps, or its wall clock is set, by hours: what the page does with its two clocks.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::truth::{Truth, pod};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const PODS: &str = "/api/v1/pods";
const HOUR: f64 = 3_600_000.0;

/// Lets the test move the wall clock and the monotonic clock apart, in the open page.
const CLOCKS: &str = "
    const [wall, monotonic] = [Date.now.bind(Date), performance.now.bind(performance)];
    window.moved = { wall: 0, monotonic: 0 };
    Date.now = () => wall() + moved.wall;
    performance.now = () => monotonic() + moved.monotonic;
    return true";

/// Runs before the page does, and keeps its timers, so that those that are due can come with the end of a sleep.
const TIMERS: &str = "{
    const [set, clear] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
    const timers = new Map();
    window.setTimeout = (call, wait = 0, ...given) => {
        const come = () => { timers.delete(id); call(...given); };
        const id = set(come, wait);
        timers.set(id, { come, due: performance.now() + wait });
        return id;
    };
    window.clearTimeout = id => { timers.delete(id); clear(id); };
    window.wake = () => {
        for (const [id, timer] of [...timers].sort(([, one], [, other]) => one.due - other.due)) {
            // One that comes may have taken another back.
            if (timers.has(id) && timer.due <= performance.now()) { clear(id); timer.come(); }
        }
    };
}";

async fn with_clocks(name: &str, test: impl AsyncFnOnce(&Page, &Cluster, Truth)) {
    let (_turn, cluster, proxy) = started(&Options { pods: 30, bookmark_seconds: 600, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}\n{TIMERS}")).await;
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        let truth = cluster.list(PODS).await;
        page.shows("pods", &truth, Duration::from_secs(5)).await;
        let _: bool = page.read(CLOCKS, Vec::new()).await;
        test(page, &cluster, truth).await;
    })
    .await;
}

async fn moves(page: &Page, clock: &str, by: f64) {
    let _: bool = page.read("moved[arguments[0]] += arguments[1]; return true", vec![clock.into(), by.into()]).await;
}

/// Changes a Pod. Returns when its mark was made, how far that is from the wall clock, and which times came before.
async fn mark(page: &Page, cluster: &Cluster, key: &str) -> (f64, f64) {
    let count = "return kubechurn.marks('pods').length";
    let before: usize = page.read(count, Vec::new()).await;
    cluster.patch(&pod(key), &json!({ "metadata": { "labels": { "kubechurn.test/at": format!("{before}") } } })).await;
    let mut seen = (0.0, 0.0);
    wait_until("the change has its mark", Duration::from_secs(30), async || {
        let script = "
            const marks = kubechurn.marks('pods').filter(mark => mark.type === 'Updated');
            return [marks.at(-1)?.time ?? 0, Date.now(), marks.length, kubechurn.marks('pods').every((mark, at, all) =>
                at === 0 || mark.time >= all[at - 1].time)]";
        let (time, wall, updates, ordered): (f64, f64, usize, bool) = page.read(script, Vec::new()).await;
        assert!(ordered, "the marks' times run backwards");
        let fresh = updates > 0 && time > 0.0 && page.read::<usize>(count, Vec::new()).await > before;
        seen = (time, wall);
        holds(fresh, || format!("{time} of {wall}, {updates} updates"))
    })
    .await;
    seen
}

async fn has_gap_of(page: &Page, least: f64) {
    wait_until("the gap is reported", Duration::from_secs(20), async || {
        let gaps = "return kubechurn.notices().filter(said => said.type === 'gap').map(said => said.words)";
        let gaps: Vec<String> = page.read(gaps, Vec::new()).await;
        let long = |words: &String| {
            let seconds = words.split("for ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
            seconds.is_some_and(|seconds| seconds * 1000.0 >= least)
        };
        holds(gaps.iter().any(long), || format!("{gaps:?}"))
    })
    .await;
}

/// The monotonic clock of some machines stops while they sleep: only the wall clock is two hours later.
#[tokio::test]
async fn two_hours_of_sleep_are_a_gap_of_two_hours_and_marks_after_it_carry_the_time_of_day() {
    let name = "two_hours_of_sleep_are_a_gap_of_two_hours_and_marks_after_it_carry_the_time_of_day";
    with_clocks(name, async |page, cluster, truth| {
        moves(page, "wall", 2.0 * HOUR).await;
        // A key has the page read its clocks before its timers come.
        page.press("j").await;
        has_gap_of(page, 2.0 * HOUR).await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        let (time, wall) = mark(page, cluster, truth.last_key()).await;
        assert!((wall - time).abs() < 30_000.0, "{time} where the wall clock says {wall}");
        page.shows("pods", &cluster.list(PODS).await, Duration::from_secs(5)).await;
    })
    .await;
}

/// The monotonic clock of other machines goes on: both clocks are two hours later at once, and timers that were due meanwhile come.
#[tokio::test]
async fn two_hours_of_sleep_that_both_clocks_saw() {
    with_clocks("two_hours_of_sleep_that_both_clocks_saw", async |page, cluster, truth| {
        let both = "moved.monotonic += arguments[0]; moved.wall += arguments[0]; wake(); return true";
        let _: bool = page.read(both, vec![(2.0 * HOUR).into()]).await;
        has_gap_of(page, 2.0 * HOUR).await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        let (time, wall) = mark(page, cluster, truth.last_key()).await;
        assert!((wall - time).abs() < 30_000.0, "{time} where the wall clock says {wall}");
    })
    .await;
}

/// Somebody sets the clock back, and later right again. Nothing becomes stale from that, nothing runs backwards, and
/// nothing is listed again.
#[tokio::test]
async fn a_wall_clock_that_is_set_back_by_hours_and_right_again() {
    with_clocks("a_wall_clock_that_is_set_back_by_hours_and_right_again", async |page, cluster, truth| {
        for by in [-3.0, 3.0] {
            moves(page, "wall", by * HOUR).await;
            let (time, _) = mark(page, cluster, truth.last_key()).await;
            assert!(time > 0.0);
            let status = page.status_of("pods").await.expect("Pods are watched");
            assert_eq!(status.state, "live");
            assert!(status.age_ms.is_some_and(|age| (0.0..60_000.0).contains(&age)), "{status:?}");
        }
        let notices: Vec<Value> = page.read("return kubechurn.notices()", Vec::new()).await;
        assert_eq!(notices, Vec::<Value>::new());
        page.shows("pods", &cluster.list(PODS).await, Duration::from_secs(5)).await;
    })
    .await;
}

/// The answers of the server say what time it is there.
#[tokio::test]
async fn a_clock_that_is_six_hours_behind_the_server_s_is_reported_and_makes_no_age_wrong() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 30, ..Options::default() }).await;
    let name = "a_clock_that_is_six_hours_behind_the_server_s_is_reported_and_makes_no_age_wrong";
    let behind = "{ const now = Date.now.bind(Date); Date.now = () => now() - 6 * 3600000; }";
    let browser = Browser::start(&format!("{INSTRUMENTS}\n{behind}")).await;
    with_page_in(browser, name, &proxy.url(), "#/pods?sort=AGE", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        wait_until("the difference is reported", Duration::from_secs(20), async || {
            let words = "return kubechurn.notices().filter(said => said.type === 'clock').map(said => said.words)";
            let words: Vec<String> = page.read(words, Vec::new()).await;
            holds(words.iter().any(|words| words.contains("6h")), || format!("{words:?}"))
        })
        .await;
        let ages = "return [...document.querySelectorAll('[role=row] [data-col=AGE]')].map(cell => cell.textContent)";
        let ages: Vec<String> = page.read(ages, Vec::new()).await;
        assert!(ages.len() > 10 && !ages.iter().any(|age| age.contains("invalid")), "{ages:?}");
    })
    .await;
}
