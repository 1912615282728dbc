//! What a file costs: bytes for each version against its text, and against all frames of a watch compressed by gzip and by zstd, with
//! the settings that they have by themselves; and the time to write and to read one. It fails where a goal is missed.

#[path = "../../../crates/recorder/benches/data/mod.rs"]
#[expect(dead_code, reason = "it has more than is needed here")]
mod data;

use std::io::{Cursor, Write};
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recording::native::{FileWriter, read};
use kubechurn_recording::{Header, Line, Text, Version, Watch};

use crate::data::{Template, longest_life, recorded};

/// The length of a Pod whose status is updated, in bytes: that of a Pod of a real cluster.
const LENGTH: usize = 6_700;
/// How many writes come in a second.
const RATE: f64 = 150.0;

/// What a row must not be beyond.
#[derive(Clone, Copy)]
enum Goal {
    None,
    /// Bytes for each version.
    Each(f64),
    /// Part of the text.
    Part(f64),
    /// Bytes in all.
    All(f64),
}

fn main() {
    println!(
        "| what | versions | frames, MB | file, MB | bytes each | part | gzip, MB | zstd, MB | µs to write one | µs to read one | goal |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    let rollout = recorded();
    let mut missed = Vec::new();
    let mut row = |what: &str, goal: Goal, count: u64, make: &dyn Fn(u64) -> data::Version| {
        if !row(what, goal, count, make) {
            missed.push(what.to_owned());
        }
    };
    row("a real rollout, 45 s of twelve watches", Goal::Part(9.0), rollout.len() as u64, &|at| {
        rollout[at as usize].clone()
    });
    let pods = rollout.iter().filter(|version| version.resource.plural == "pods");
    let largest = pods.max_by_key(|version| version.text.len()).expect("the recording has Pods");
    let filling: String = (largest.text.len() + 14..LENGTH).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect();
    let status = format!(r#""filling":"{filling}","status":"#);
    let template = Template::new(largest.text.replacen(r#""status":"#, &status, 1));
    for (pods, updates, goal) in [(300, 72_000, Goal::Each(60.0)), (10_000, 540_000, Goal::All(45e6))] {
        let length = template.update(0, pods).text.len();
        let what = format!("{updates} updates of {pods} Pods of {length} bytes");
        row(&what, goal, updates, &|at| template.update(at, pods));
    }
    let life = longest_life(&rollout);
    let (steps, length) = (life.len() as u64, life.iter().map(String::len).sum::<usize>() / life.len());
    let life: Vec<Template> = life.into_iter().map(Template::new).collect();
    let what = format!("72000 steps of the lives of 300 Pods, {steps} steps of {length} bytes each");
    row(&what, Goal::None, 72_000, &|at| life[(at / 300 % steps) as usize].update(at, 300));
    assert!(missed.is_empty(), "goals are missed: {missed:?}");
}

/// Writes so many versions, reads all of them, and prints a row. Returns whether the goal is reached.
fn row(what: &str, goal: Goal, count: u64, make: &dyn Fn(u64) -> data::Version) -> bool {
    let mut file = FileWriter::new(Header::default(), Cursor::new(Vec::new()));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zstd = zstd::Encoder::new(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL).expect("memory can be written");
    let (mut frames, mut write, mut watches) = (0, 0.0, Vec::new());
    for at in 0..count {
        let version = make(at);
        let number = watches.iter().position(|other| *other == version.resource);
        let at = 1_795_248_807_000.0 + at as f64 * 1_000.0 / RATE;
        let watch = number.unwrap_or_else(|| {
            let (number, resource) = (watches.len() as u32, version.resource);
            watches.push(resource);
            let watch = Watch { number, resource, scope: Scope::default(), is_repeated: false };
            file.push(at, &Line::Watch(watch)).expect("memory can be written");
            number as usize
        });
        let frame = format!("{{\"type\":\"MODIFIED\",\"object\":{}}}\n", version.text);
        frames += frame.len();
        gzip.write_all(frame.as_bytes()).expect("memory can be written");
        zstd.write_all(frame.as_bytes()).expect("memory can be written");
        let (watch, delta_type) = (watch as u32, DeltaType::Updated);
        let (key, uid, text) = (&version.object.key, &version.object.uid, Text::Whole(&version.text));
        let began = Instant::now();
        let line = Line::Version(Version { watch, delta_type, key, uid, text });
        file.push(at, &line).expect("memory can be written");
        write += began.elapsed().as_secs_f64();
    }
    let began = Instant::now();
    let file = file.finish().expect("memory can be written").into_inner();
    write += began.elapsed().as_secs_f64();
    let (began, mut seen) = (Instant::now(), 0);
    read(&file, |_, line| seen += u64::from(matches!(line, Line::Version(_)))).expect("it is a recording");
    let read = began.elapsed().as_secs_f64();
    assert_eq!(seen, count);
    let gzip = gzip.finish().expect("memory can be written").len();
    let zstd = zstd.finish().expect("memory can be written").len();
    let (megabytes, micros) = (|bytes: usize| bytes as f64 / 1e6, |seconds: f64| seconds * 1e6 / count as f64);
    let (each, part) = (file.len() as f64 / count as f64, file.len() as f64 * 100.0 / frames as f64);
    let (goal, is_reached) = match goal {
        Goal::None => (String::new(), true),
        Goal::Each(most) => (format!("{most} bytes each"), each <= most),
        Goal::Part(most) => (format!("{most} %"), part <= most),
        Goal::All(most) => (format!("{} MB", most / 1e6), file.len() as f64 <= most),
    };
    println!(
        "| {what} | {count} | {:.1} | {:.2} | {each:.0} | {part:.1} % | {:.2} | {:.2} | {:.1} | {:.1} | {goal}{} |",
        megabytes(frames),
        megabytes(file.len()),
        megabytes(gzip),
        megabytes(zstd),
        micros(write),
        micros(read),
        if is_reached { "" } else { ": missed" },
    );
    is_reached
}
