//! Measures what a change costs in the feed and in the detectors, with few rows and with many.
//!
//! `cargo run --release -p kubechurn-changes --example feed`

use std::hint::black_box;
use std::time::Instant;

use kubechurn_changes::feed::{Feed, Limits};
use kubechurn_changes::findings::Findings;
use kubechurn_changes::line::{Line, Received};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

/// How many changes are made up.
const CHANGES: u64 = 200_000;

fn main() {
    for (objects, rows) in [(100, 100), (1_000, 1_000), (20_000, 20_000)] {
        let lines: Vec<Line> = (0..CHANGES).map(|turn| line(turn, objects)).collect();
        let mut feed = Feed::new(Limits { rows, lines: 100_000, bytes: 1 << 30 });
        let began = Instant::now();
        lines.iter().for_each(|line| {
            black_box(feed.push(line.clone()));
        });
        let pushed = began.elapsed().as_secs_f64() * 1e6 / CHANGES as f64;
        let mut findings = Findings::default();
        let began = Instant::now();
        lines.iter().for_each(|line| findings.push(line));
        let found = began.elapsed().as_secs_f64() * 1e6 / CHANGES as f64;
        let began = Instant::now();
        let cards = findings.cards(CHANGES as f64).len();
        let told = began.elapsed().as_secs_f64() * 1e6;
        println!(
            "{objects} objects, {} rows: feed {pushed:.2} µs a change, detectors {found:.2} µs; {cards} cards told in {told:.0} µs",
            feed.len()
        );
    }
}

/// A change of one of many objects, a millisecond after the one before.
fn line(turn: u64, objects: u64) -> Line {
    let text = |turn: u64| {
        let (generation, phase) = (turn / 7, if turn.is_multiple_of(3) { "Pending" } else { "Running" });
        format!(
            r#"{{"metadata":{{"generation":{generation}}},"spec":{{"size":{turn}}},"status":{{"phase":"{phase}"}}}}"#
        )
    };
    let object = turn % objects;
    let (old, new) = (text(turn), text(turn + 1));
    let received = Received {
        seq: turn,
        at: turn as f64,
        kind: "Widget".into(),
        key: ObjectKey::new("shop", &format!("w{object}")),
        uid: Uid::new(&format!("00000000-0000-0000-0000-{object:012x}")),
        delta_type: DeltaType::Updated,
        old: Some(&old),
        new: Some(&new),
    };
    Line::new(received, &Marks::default())
}
