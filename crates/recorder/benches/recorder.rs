//! What the recorder costs: bytes for each version against its text, the time to write one and to read one back.

mod data;

use std::time::{Duration, Instant};

use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{BUDGET, Interest, NewVersion, Pushed, Recorder};

use crate::data::{Template, Version, filling, longest_life, recorded};

fn main() {
    println!(
        "| what | versions | text, MB | written, MB | part | µs to write one | µs to read one | kept | memory, MB |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let rollout = recorded();
    let count = rollout.len();
    row("a real rollout, 45 s of twelve watches", count as u64, |at| rollout[at as usize].clone());
    let pods = rollout.iter().filter(|version| version.resource.plural == "pods");
    let largest = pods.max_by_key(|version| version.text.len()).expect("the recording has Pods");
    let status = format!(r#""filling":"{}","status":"#, filling(largest.text.len()));
    let template = largest.text.replacen(r#""status":"#, &status, 1);
    let template = Template::new(template);
    for (pods, updates) in [(300, 72_000), (300, 1_000_000), (20_000, 200_000)] {
        let length = template.update(0, pods).text.len();
        row(&format!("{updates} updates of {pods} Pods of {length} bytes"), updates, |at| template.update(at, pods));
    }
    // What a Pod goes through from its making to its end: each step differs from the one before in many places.
    let life = longest_life(&rollout);
    let (pods, updates, steps) = (300, 72_000, life.len() as u64);
    let length = life.iter().map(String::len).sum::<usize>() / life.len();
    let life: Vec<Template> = life.into_iter().map(Template::new).collect();
    row(&format!("{updates} steps of the lives of {pods} Pods, {steps} steps of {length} bytes each"), updates, |at| {
        life[(at / pods % steps) as usize].update(at, pods)
    });
}

/// Writes so many versions, reads back all that are kept, and prints a row. What it takes to make a version is not measured.
fn row(what: &str, count: u64, make: impl Fn(u64) -> Version) {
    let mut recorder = Recorder::new(BUDGET);
    let mut kept: Vec<(u64, u64)> = Vec::new();
    let mut writing = Duration::ZERO;
    for at in 0..count {
        let Version { resource, object, text } = make(at);
        let (delta_type, interest) = (DeltaType::Updated, Interest::Change);
        let began = Instant::now();
        let new = NewVersion {
            at: at as f64,
            delta_type,
            resource,
            object: &object,
            text: Some(&text),
            interest,
            was_known: true,
        };
        let pushed = recorder.push(new);
        writing += began.elapsed();
        if let Pushed::Kept(sequence) = pushed {
            kept.push((sequence, at));
        }
    }
    let totals = recorder.totals();
    let (mut reading, mut read, mut raw) = (Duration::ZERO, 0_u64, 0);
    for (sequence, at) in kept {
        let began = Instant::now();
        let text = recorder.read(sequence);
        reading += began.elapsed();
        if let Some(text) = text {
            assert!(text == make(at).text, "version {sequence} came back as another text");
            read += 1;
            raw += text.len();
        }
    }
    assert_eq!(read, totals.kept, "a version that is kept cannot be read");
    let written = recorder.written_bytes();
    println!(
        "| {what} | {count} | {:.1} | {:.1} | {:.1} % | {:.2} | {:.2} | {} | {:.1} |",
        raw as f64 / 1e6,
        written as f64 / 1e6,
        written as f64 * 100.0 / raw as f64,
        writing.as_secs_f64() * 1e6 / count as f64,
        reading.as_secs_f64() * 1e6 / read as f64,
        totals.kept,
        recorder.bytes().0 as f64 / 1e6
    );
}
