//! What a file costs: bytes for each version against its text, and against all texts compressed at once; and the time to write and
//! to read one.

#[path = "../../recorder/benches/data/mod.rs"]
mod data;

use std::io::{Cursor, Write};
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recording::native::{FileWriter, read};
use kubechurn_recording::{Header, Line, Text, Version, Watch};

use crate::data::{Template, filling, longest_life, recorded};

fn main() {
    println!(
        "| what | versions | text, MB | file, MB | bytes each | part | gzip of the texts, MB | µs to write one | µs to read one |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let rollout = recorded();
    row("a real rollout, 45 s of twelve watches", rollout.len() as u64, |at| rollout[at as usize].clone());
    let pods = rollout.iter().filter(|version| version.resource.plural == "pods");
    let largest = pods.max_by_key(|version| version.text.len()).expect("the recording has Pods");
    let status = format!(r#""filling":"{}","status":"#, filling(largest.text.len()));
    let template = Template::new(largest.text.replacen(r#""status":"#, &status, 1));
    for (pods, updates) in [(300, 72_000), (10_000, 540_000)] {
        let length = template.update(0, pods).text.len();
        row(&format!("{updates} updates of {pods} Pods of {length} bytes"), updates, |at| template.update(at, pods));
    }
    let life = longest_life(&rollout);
    let (steps, length) = (life.len() as u64, life.iter().map(String::len).sum::<usize>() / life.len());
    let life: Vec<Template> = life.into_iter().map(Template::new).collect();
    row(&format!("72000 steps of the lives of 300 Pods, {steps} steps of {length} bytes each"), 72_000, |at| {
        life[(at / 300 % steps) as usize].update(at, 300)
    });
}

/// Writes so many versions, 150 a second, reads all of them, and prints a row.
fn row(what: &str, count: u64, make: impl Fn(u64) -> data::Version) {
    let mut file = FileWriter::new(Header::default(), Cursor::new(Vec::new()));
    let mut plain = GzEncoder::new(Vec::new(), Compression::default());
    let (mut text, mut write, mut watches) = (0, 0.0, Vec::new());
    for at in 0..count {
        let version = make(at);
        let number = watches.iter().position(|other| *other == version.resource);
        let at = 1_795_248_807_000.0 + at as f64 * 1_000.0 / 150.0;
        let watch = number.unwrap_or_else(|| {
            let (number, resource) = (watches.len() as u32, version.resource);
            watches.push(resource);
            let watch = Watch { number, resource, scope: Scope::default(), is_repeated: false };
            file.push(at, &Line::Watch(watch)).expect("memory can be written");
            number as usize
        });
        text += version.text.len();
        plain.write_all(version.text.as_bytes()).expect("memory can be written");
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
    let plain = plain.finish().expect("memory can be written").len();
    let (megabytes, each) = (|bytes: usize| bytes as f64 / 1e6, |seconds: f64| seconds * 1e6 / count as f64);
    println!(
        "| {what} | {count} | {:.1} | {:.2} | {:.0} | {:.1} % | {:.2} | {:.1} | {:.1} |",
        megabytes(text),
        megabytes(file.len()),
        file.len() as f64 / count as f64,
        file.len() as f64 * 100.0 / text as f64,
        megabytes(plain),
        each(write),
        each(read)
    );
}
