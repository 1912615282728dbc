//! Measures the diff of two versions of a Pod, and of all versions of a recorded rollout.
//!
//! `cargo run --release -p kubechurn-changes --example diff -- tests/fixtures/rollout.jsonl`

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use kubechurn_changes::diff::diff;
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_changes::writer::of_change;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::Value;
use serde_json::value::RawValue;

/// How often all pairs are compared. The fastest round counts: the others show how busy the machine was.
const ROUNDS: u32 = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which recording?")?;
    let mut last: HashMap<String, String> = HashMap::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let Some(frame) = line["frame"].as_str() else { continue };
        let parts: HashMap<&str, &RawValue> = serde_json::from_str(frame)?;
        let text = parts["object"].get().to_owned();
        let object: Value = serde_json::from_str(&text)?;
        let Some(uid) = object["metadata"]["uid"].as_str() else { continue };
        if let Some(old) = last.insert(uid.to_owned(), text.clone()) {
            pairs.push((old, text));
        }
    }
    let time = |what: &str, pairs: &[&(String, String)]| {
        let count = pairs.len().max(1);
        let bytes: usize = pairs.iter().map(|(_, new)| new.len()).sum();
        let fields: usize = pairs.iter().map(|(old, new)| diff(old, new).map_or(0, |diff| diff.len())).sum();
        let diffs = fastest(pairs, |old, new| {
            let _ = black_box(diff(black_box(old), black_box(new)));
        });
        let writers = fastest(pairs, |old, new| {
            black_box(of_change(DeltaType::Updated, Some(black_box(old)), Some(black_box(new))));
        });
        let marks = Marks::default();
        let lines = fastest(pairs, |old, new| {
            black_box(Line::new(received(black_box(old), black_box(new)), &marks));
        });
        println!(
            "{what}: {count} pairs of {} bytes and {} fields: diff {diffs:.2} µs, writers {writers:.2} µs, line {lines:.2} µs",
            bytes / count,
            fields / count,
        );
    };
    time("all versions", &pairs.iter().collect::<Vec<_>>());
    let pods: Vec<_> = pairs.iter().filter(|(_, new)| new.len() > 4_500 && new.contains("\"kind\":\"Pod\"")).collect();
    time("large Pods", &pods);
    Ok(())
}

/// The shortest time for one pair, in microseconds, on average over all pairs.
fn fastest(pairs: &[&(String, String)], run: impl Fn(&str, &str)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        pairs.iter().for_each(|(old, new)| run(old, new));
        began.elapsed()
    });
    rounds.min().unwrap_or_default().as_secs_f64() * 1e6 / pairs.len().max(1) as f64
}

fn received<'a>(old: &'a str, new: &'a str) -> ReceivedChange<'a> {
    let key = ObjectKey::new("shop", "web");
    let (uid, delta_type) = (Uid::new(""), DeltaType::Updated);
    ReceivedChange { seq: 0, at: 0.0, kind: "Pod".into(), key, uid, delta_type, old: Some(old), new: Some(new) }
}
