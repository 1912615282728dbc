//! The tables, and the goals that decide whether the benchmark succeeds.

use kubechurn_harness::measure::metrics::{milliseconds, tasks};
use kubechurn_harness::measure::quantile::Samples;

use crate::session::{Answers, Load, RATE, ROUNDS, Session, Start, WINDOW, Window};

/// The number of relists in a row.
const RELISTS: usize = 10;
/// The number of resyncs in a row.
const RESYNCS: usize = 4;

/// Measures each size, prints the tables, and says whether every goal that could be judged was reached.
pub async fn report(sizes: &[u32]) -> bool {
    let mut rows = Vec::new();
    let mut gates = Gates(Vec::new());
    println!("\n## Any number of rows: {RATE} writes a second asked for, {WINDOW} s each\n");
    for &size in sizes {
        let (mut session, start) = Session::open(size).await;
        // This takes minutes and may fail, so intermediate figures are printed at once.
        eprintln!("{size}: all rows after {:.0} ms, wasm {:.1} MB", start.all, start.wasm / 1e6);
        let is_largest = Some(&size) == sizes.iter().max();
        let answers = if is_largest { session.answers().await } else { Vec::new() };
        let load = session.load().await;
        eprintln!("{size}: load is over: {} long tasks, wasm {:.1} MB", load.window.long.count(), load.wasm / 1e6);
        if is_largest {
            let (memory, tasks) = session.relists(RELISTS).await;
            sorts_and_filters(size, &answers, &mut gates);
            relists(&start, &memory, &tasks, &mut gates);
            let (window, freshness) = session.wide().await;
            wide(size, &window, &freshness, &mut gates);
            incident(size, session.incident().await, &mut gates);
            users(size, session.users().await, &mut gates);
            let (tasks, took) = session.resyncs(RESYNCS).await;
            resyncs(size, &tasks, &took, &mut gates);
        }
        session.end().await;
        rows.push((size, start, load));
    }
    starts(&rows);
    loads(&rows, &mut gates);
    gates.print()
}

fn starts(rows: &[(u32, Start, Load)]) {
    println!("\n| Pods | first row, ms | all rows, ms | tasks > 50 ms | longest, ms | wasm, MB |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for (size, start, _) in rows {
        let (first, all, wasm) = (start.first, start.all, start.wasm / 1e6);
        println!("| {size} | {first:.0} | {all:.0} | {} | {wasm:.1} |", tasks(&start.long));
    }
}

fn loads(rows: &[(u32, Start, Load)], gates: &mut Gates) {
    println!(
        "\n| Pods | writes/s done | busy | tasks > 50 ms | longest, ms | frame p50 / p95 / max, ms \
         | freshness p50 / p95, ms | wasm, MB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for (size, _, load) in rows {
        println!(
            "| {size} | {:.0} | {:.1} % | {} | {:.1} / {:.1} / {:.1} | {:.0} / {:.0} | {:.1} |",
            load.window.done,
            load.window.busy * 100.0,
            tasks(&load.window.long),
            load.frames.at(0.5),
            load.frames.at(0.95),
            load.frames.at(1.0),
            load.freshness.at(0.5),
            load.freshness.at(0.95),
            load.wasm / 1e6,
        );
    }
    println!(
        "\n| Pods | CPU: the page, s | its main thread | a page that only parses the watch | JSON.parse alone \
         | page / bare page | page / JSON.parse |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for (size, _, Load { window: Window { process, thread, .. }, bare, parse, .. }) in rows {
        let (to_bare, to_parse) = (process / bare, process / parse);
        println!("| {size} | {process:.2} | {thread:.2} | {bare:.2} | {parse:.2} | {to_bare:.2} | {to_parse:.2} |");
    }
    let Some((size, _, load)) = rows.last() else { return };
    // In addition to the memory for the texts of versions, which the load has filled.
    let rest = (load.wasm - load.budget) / 1e6;
    gates.at_most(&format!("memory at {size} Pods without the texts' budget, MB"), rest, 64.0);
    gates.at_most(
        &format!("page's CPU / a page that only parses the watch, at {size}"),
        load.window.process / load.bare,
        1.5,
    );
    gates.at_most(&format!("tasks over 50 ms under load, at {size}"), load.window.long.count() as f64, 0.0);
    gates.at_most(&format!("freshness p95, ms, at {size}"), load.freshness.at(0.95), 150.0);
    if let [(small, _, first), .., (large, _, last)] = rows {
        for (name, share) in [("p50", 0.5), ("p95", 0.95)] {
            let ratio = last.frames.at(share) / first.frames.at(share);
            gates.at_most(&format!("frame {name}, {large} / {small}"), ratio, 1.1);
        }
    }
}

fn sorts_and_filters(size: u32, answers: &[Answers], gates: &mut Gates) {
    println!(
        "\nWith {size} Pods, from the keystroke or click; the page is otherwise idle. Of {ROUNDS} rounds, the medians:\n"
    );
    println!(
        "| what | first change, ms | the slowest round's | first rows right, ms | whole order, ms | tasks > 50 ms \
         | in all rounds | longest, ms | shown |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for answer in answers {
        let (first, most) = (milliseconds(answer.first.at(0.5)), milliseconds(answer.first.at(1.0)));
        let (right, done) = (milliseconds(answer.right.at(0.5)), milliseconds(answer.done.at(0.5)));
        let (tasks, all, count) = (answer.tasks.at(0.5), tasks(&answer.long), &answer.count);
        println!("| {} | {first} | {most} | {right} | {done} | {tasks:.0} | {all} | {count} |", answer.what);
    }
    let worst = answers.iter().map(|answer| answer.first.at(0.5)).filter(|time| time.is_finite());
    let worst = worst.reduce(f64::max).unwrap_or(f64::NAN);
    gates.at_most("sort and filter, first result, ms: the slowest median", worst, 100.0);
    let count: f64 = answers.iter().map(|answer| answer.tasks.at(0.5)).sum();
    gates.at_most("tasks over 50 ms while sorting and filtering, in most rounds", count, 0.0);
}

fn relists(start: &Start, memory: &[f64], long: &Samples, gates: &mut Gates) {
    let list: Vec<String> = memory.iter().map(|bytes| format!("{:.1}", bytes / 1e6)).collect();
    println!(
        "\nwasm, MB, after the first list {:.1}; before and after each of {RELISTS} relists: {}",
        start.wasm / 1e6,
        list.join(", ")
    );
    println!("Tasks over 50 ms during the relists: {}, the longest {} ms", long.count(), milliseconds(long.at(1.0)));
    // Memory that the load has filled, mostly with the texts of versions, does not count for the relists.
    let grown = memory.first().zip(memory.last()).map_or(f64::NAN, |(before, after)| after / before);
    gates.at_most("memory, after ten relists / before them", grown, 1.1);
}

fn resyncs(size: u32, long: &Samples, took: &Samples, gates: &mut Gates) {
    let (median, most) = (milliseconds(took.at(0.5)), milliseconds(took.at(1.0)));
    println!("\nUntil a resync had told all of {size} Pods again: {median} ms, at most {most} ms, of {RESYNCS}");
    gates.at_most("tasks over 50 ms while everything is told again", long.count() as f64, 0.0);
}

fn wide(size: u32, load: &Window, freshness: &Samples, gates: &mut Gates) {
    println!("\nWith a watch on each kind that is written to, so that every write reaches the page:\n");
    println!(
        "| Pods | writes/s done | events/s received | busy | tasks > 50 ms | longest, ms | freshness p50 / p95, ms |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    println!(
        "| {size} | {:.0} | {:.0} | {:.1} % | {} | {:.0} / {:.0} |",
        load.done,
        load.received,
        load.busy * 100.0,
        tasks(&load.long),
        freshness.at(0.5),
        freshness.at(0.95),
    );
    gates.at_most("tasks over 50 ms with every write on a watch", load.long.count() as f64, 0.0);
    gates.at_most("freshness p95 with every write on a watch, ms", freshness.at(0.95), 150.0);
}

fn incident(size: u32, (entry, opened, long): (f64, f64, Samples), gates: &mut Gates) {
    println!(
        "\nOf {size} Pods some fail: an entry of *Wrong now* after {} ms, its causes {} ms after it was opened; tasks over 50 ms: {}",
        milliseconds(entry),
        milliseconds(opened),
        tasks(&long)
    );
    gates.at_most("tasks over 50 ms while Pods fail and the incident is open", long.count() as f64, 0.0);
}

fn users(size: u32, (shown, changed, long): (f64, f64, Samples), gates: &mut Gates) {
    println!(
        "\nOf {size} Pods some use a ConfigMap that is to go: who, and what holds it, is shown {} ms after it was opened, and who has \
         the old data {} ms after a change of it; tasks over 50 ms: {}",
        milliseconds(shown),
        milliseconds(changed),
        tasks(&long)
    );
    gates.at_most("tasks over 50 ms while it is shown who uses an object", long.count() as f64, 0.0);
}

/// The measured figures and their limits.
struct Gates(Vec<(String, f64, f64)>);

impl Gates {
    fn at_most(&mut self, what: &str, measured: f64, most: f64) {
        self.0.push((what.to_owned(), measured, most));
    }

    /// Prints the limits; returns whether all hold. A figure that could not be measured does not hold.
    fn print(&self) -> bool {
        println!("\n| gate | measured | at most | |\n|---|---:|---:|---|");
        for (what, measured, most) in &self.0 {
            println!("| {what} | {measured:.2} | {most} | {} |", if measured <= most { "holds" } else { "**fails**" });
        }
        self.0.iter().all(|(_, measured, most)| measured <= most)
    }
}
