//! Rounds of both ways over the same frames, one directly after the other, in an otherwise idle page.

use serde_json::{Value, json};

use kubechurn_harness::bench_page::{READY, serve};
use kubechurn_harness::browser::Browser;
use kubechurn_harness::measure::quantile::Samples;

/// The number of measured rounds for each size.
const ROUNDS: usize = 15;

/// The number of rounds before them, in which the browser's compilers optimise the code.
const WARM_UP: usize = 3;

/// The characters of text in one round: enough for a tenth of a second on the faster way.
const CHARACTERS: usize = 48_000_000;

/// The characters of text that one way reads before the other way's turn.
const SLICE: f64 = 2e6;

/// The sizes, in the order of the page's shapes.
const SIZES: [&str; 3] = ["3 KB", "14 KB", "50 KB"];

const PAGE: &str = r#"<!doctype html>
<meta charset="utf-8">
<title>frames</title>
<script type="module">
    import init from './frames.js';

    const ways = {
        row: texts => frames.run(texts),
        parse(texts) {
            let events = 0;
            for (const text of texts) if (JSON.parse(text).type === 'MODIFIED') events += 1;
            if (events !== texts.length) throw new Error(`${events} events of ${texts.length}`);
        },
    };

    // The milliseconds of each way over all texts. The ways take turns over slices of the texts, so that any other load
    // on the machine affects both.
    window.measure = (order, slice) => {
        const times = { row: 0, parse: 0 };
        for (let from = 0; from < texts.length; from += slice) {
            const some = texts.slice(from, from + slice);
            for (const way of order) {
                const began = performance.now();
                ways[way](some);
                times[way] += performance.now() - began;
            }
            order.reverse();
        }
        return times;
    };

    // The contents that the rows should have after the last frame of each Pod, and the number of rows that differ.
    window.check = () => {
        const last = new Map();
        for (const text of window.texts) {
            const { metadata, spec, status } = JSON.parse(text).object;
            const ready = `${status.containerStatuses.length}/${spec.containers.length}`;
            const { restartCount, lastState } = status.containerStatuses[0];
            // With a known end, the cell includes an age, which changes with time.
            const restarts = restartCount > 0 && lastState.terminated ? '' : ` ${restartCount}`;
            const key = `${metadata.namespace}/${metadata.name}`;
            last.set(key, `${key} ${metadata.uid} ${metadata.resourceVersion} ${ready} ${status.phase}${restarts}`
                + ` ${status.podIP} ${spec.nodeName} <none> <none>`);
        }
        const rows = frames.rows();
        const wrong = rows.filter(row => last.get(row.split(' ')[0]) !== row);
        return { rows: rows.length, wrong: wrong.length, first: wrong[0] ?? null,
            wanted: wrong.length > 0 ? last.get(wrong[0].split(' ')[0]) ?? null : null };
    };

    await init();
    window.ready = true;
</script>
"#;

/// Prints a row for each selected size, and returns the worst ratio of all rounds.
pub async fn report(wanted: impl Fn(&str) -> bool) -> f64 {
    let browser = Browser::start("").await;
    let url = serve("frames", PAGE).await;
    browser.driver.goto(&url).await.expect("the page loads");
    browser.resolve(READY).await;
    println!("\n## From frame to row, against JSON.parse: {ROUNDS} rounds of {} MB each\n", CHARACTERS / 1_000_000);
    println!(
        "| Pods of | mean frame, B | ratio, median | ratio, worst | to the row, MB/s | JSON.parse, MB/s | shortest run, ms |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let mut worst = f64::INFINITY;
    for (shape, size) in SIZES.iter().enumerate().filter(|(_, size)| wanted(size)) {
        browser.run("frames.start(arguments[0])", vec![shape.into()]).await;
        let mut rounds = Vec::new();
        for number in 0..WARM_UP + ROUNDS {
            let round = Round::run(&browser, number).await;
            if number >= WARM_UP {
                rounds.push(round);
            }
        }
        check(&browser, size).await;
        let of = |value: fn(&Round) -> f64| Samples::new(rounds.iter().map(value).collect());
        let ratios = of(Round::ratio);
        worst = worst.min(ratios.at(0.0));
        println!(
            "| {size} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} |",
            of(|round| round.characters / round.frames).at(0.5),
            ratios.at(0.5),
            ratios.at(0.0),
            of(|round| round.characters / round.row / 1e3).at(0.5),
            of(|round| round.characters / round.parse / 1e3).at(0.5),
            of(|round| round.row.min(round.parse)).at(0.0),
        );
    }
    browser.quit().await;
    worst
}

/// One run of each way, back to back; the first one alternates from round to round.
struct Round {
    frames: f64,
    characters: f64,
    row: f64,
    parse: f64,
}

impl Round {
    async fn run(browser: &Browser, number: usize) -> Self {
        let build = "window.texts = frames.build(arguments[0]);
            return [texts.length, texts.reduce((sum, text) => sum + text.length, 0)]";
        let built = browser.run(build, vec![CHARACTERS.into()]).await;
        // Garbage of the previous round must not be collected during this one.
        browser.devtools("HeapProfiler.collectGarbage", json!({})).await;
        let count = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number: {value}"));
        let (frames, characters) = (count(&built[0]), count(&built[1]));
        let order = if number.is_multiple_of(2) { json!(["row", "parse"]) } else { json!(["parse", "row"]) };
        let slice = (SLICE / characters * frames).ceil();
        let times = browser.run("return measure(...arguments)", vec![order, slice.into()]).await;
        Self { frames, characters, row: count(&times["row"]), parse: count(&times["parse"]) }
    }

    fn ratio(&self) -> f64 {
        self.parse / self.row
    }
}

/// Checks that every Pod was updated in the last round, and that its row shows its last frame.
async fn check(browser: &Browser, size: &str) {
    let found = browser.run("return check()", Vec::new()).await;
    assert!(found["rows"] == 500 && found["wrong"] == 0, "Pods of {size}: {found}");
}
