//! Measures what a change costs in the feed and in the detectors, with few rows and with many.
//!
//! `cargo run --release -p kubechurn-changes --example feed`
//!
//! With a recording of watch frames, what each update in it costs: to be read, to be looked at by the detectors, and to go
//! into the feed. The recording has an object `{"frame": "…"}` in each line, as `tests/fixtures/rollout.jsonl`.
//!
//! `cargo run --release -p kubechurn-changes --example feed -- tests/fixtures/rollout.jsonl`

use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use kubechurn_changes::feed::{Feed, Limits};
use kubechurn_changes::findings::Findings;
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::Value;
use serde_json::value::RawValue;

/// How often a recording is played. The fastest round counts: the others show how busy the machine was.
const ROUNDS: u32 = 50;

/// How many changes are made up.
const CHANGES: u64 = 200_000;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(path) => recorded(&path),
        None => {
            made_up();
            Ok(())
        }
    }
}

/// A recorded change.
struct Change {
    kind: String,
    key: ObjectKey,
    uid: Uid,
    delta_type: DeltaType,
    old: Option<String>,
    new: String,
}

fn read(path: &str) -> Result<Vec<Change>, Box<dyn Error>> {
    let mut last: HashMap<String, String> = HashMap::new();
    let mut changes = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let Some(frame) = line["frame"].as_str() else { continue };
        let parts: HashMap<&str, &RawValue> = serde_json::from_str(frame)?;
        let (frame_type, new) = (parts["type"].get(), parts["object"].get().to_owned());
        let object: Value = serde_json::from_str(&new)?;
        let metadata = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
        if metadata("uid").is_empty() {
            continue;
        }
        let old = match frame_type {
            "\"DELETED\"" => last.remove(metadata("uid")),
            _ => last.insert(metadata("uid").to_owned(), new.clone()),
        };
        changes.push(Change {
            kind: object["kind"].as_str().unwrap_or_default().to_owned(),
            key: ObjectKey::new(metadata("namespace"), metadata("name")),
            uid: Uid::new(metadata("uid")),
            delta_type: match frame_type {
                "\"ADDED\"" => DeltaType::Added,
                "\"DELETED\"" => DeltaType::Deleted,
                _ => DeltaType::Updated,
            },
            old,
            new,
        });
    }
    Ok(changes)
}

fn recorded(path: &str) -> Result<(), Box<dyn Error>> {
    let changes = read(path)?;
    let marks = Marks::default();
    let mut fastest = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let (mut feed, mut findings) = (Feed::new(Limits::default()), Findings::default());
        let mut took = [Duration::ZERO; 3];
        for (seq, change) in changes.iter().enumerate() {
            let began = Instant::now();
            let line = black_box(Line::new(
                ReceivedChange {
                    seq: seq as u64,
                    at: seq as f64,
                    kind: (*change.kind).into(),
                    key: change.key.clone(),
                    uid: change.uid.clone(),
                    delta_type: change.delta_type,
                    old: change.old.as_deref(),
                    new: Some(&change.new),
                },
                &marks,
            ));
            let read = Instant::now();
            findings.push(&line);
            let found = Instant::now();
            black_box(feed.push(line));
            let pushed = Instant::now();
            // What is new or gone is not compared.
            if change.delta_type == DeltaType::Updated {
                for (took, part) in took.iter_mut().zip([read - began, found - read, pushed - found]) {
                    *took += part;
                }
            }
        }
        fastest = [0, 1, 2].map(|at| fastest[at].min(took[at]));
    }
    let updates: Vec<&Change> = changes.iter().filter(|change| change.delta_type == DeltaType::Updated).collect();
    let count = updates.len().max(1);
    let bytes = updates.iter().map(|change| change.new.len()).sum::<usize>() / count;
    let [read, found, pushed] = fastest.map(|part| part.as_secs_f64() * 1e6 / count as f64);
    println!("{count} updates of {bytes} bytes: line {read:.2} µs, detectors {found:.2} µs, feed {pushed:.2} µs");
    Ok(())
}

fn made_up() {
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
        let took = began.elapsed().as_secs_f64() * 1e6;
        println!(
            "{objects} objects, {} rows: feed {pushed:.2} µs a change, detectors {found:.2} µs; {cards} cards made in {took:.0} µs",
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
    let received = ReceivedChange {
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
