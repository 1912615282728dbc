//! What it takes to open a recording: updates of Pods, 150 a second, read by a page without a browser.
//!
//! ```sh
//! ./dev bench opening         # or: ./dev bench opening 1000000 10000, for other numbers of updates and of Pods
//! ```
//!
//! With the name of a file after the numbers, the recording is written there, to be opened in a browser.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../recording.rs"]
mod recording;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../shell"]
mod shell {
    pub mod place;
}
#[path = "../../../crates/recorder/benches/data/mod.rs"]
mod data;

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recording::native::FileWriter;
use kubechurn_recording::{Block, Header, Line, Step, Text, Version, Watch, Writer};

use crate::data::{Template, filling, longest_life, recorded};
use crate::recording::Opened;

const BEGIN: f64 = 1_795_248_807_000.0;

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let (updates, pods) = (numbers.first().copied().unwrap_or(200_000), numbers.get(1).copied().unwrap_or(10_000));
    if let Some(name) = std::env::args().skip(1).find(|argument| argument.ends_with(".churn")) {
        return write(&name, updates, pods);
    }
    let blocks = recorded_blocks(updates, pods);
    let length: usize = blocks.iter().map(Vec::len).sum();
    println!("{updates} updates of {pods} Pods, {} blocks, {:.1} MB unpacked", blocks.len(), length as f64 / 1e6);
    let began = Instant::now();
    let lines: usize = blocks.iter().map(|block| lines(block)).sum();
    println!("{lines} lines are read in {:.2} s", began.elapsed().as_secs_f64());
    for place in ["#/pods", "#/pods?view=changes"] {
        let began = Instant::now();
        let opened = Opened::of(&blocks, place);
        let took = began.elapsed().as_secs_f64();
        println!("{place} is shown in {took:.2} s, {:.1} µs a line", took * 1e6 / lines as f64);
        assert!(opened.look(|page, _| page.reports().digest_of("pods")).is_some());
    }
}

fn lines(block: &[u8]) -> usize {
    let (text, mut block) = (str::from_utf8(block).expect("lines are text"), Block::default());
    std::iter::from_fn(|| block.next(text).expect("a recording").map(drop)).count()
}

fn recorded_blocks(updates: u64, pods: u64) -> Vec<Vec<u8>> {
    let (mut writer, mut blocks) = (Writer::new(Header::default()), Vec::new());
    each_line(updates, pods, &mut |at, line| {
        writer.push(at, line);
        if writer.is_full() {
            blocks.push(writer.take());
            writer.end_block();
        }
    });
    blocks.push(writer.take());
    blocks
}

/// Writes the same as a file, with which a browser can be measured.
fn write(name: &str, updates: u64, pods: u64) {
    let file = File::create_new(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut file = FileWriter::new(Header::default(), BufWriter::new(file));
    each_line(updates, pods, &mut |at, line| file.push(at, line).expect("the disk has room"));
    file.finish().expect("the disk has room");
}

fn each_line(updates: u64, pods: u64, push: &mut dyn FnMut(f64, &Line<'_>)) {
    let rollout = recorded();
    // Of what fails, the page would look for the cause.
    let is_well = |text: &String| text.contains(r#""ready":true"#) && !text.contains(r#""deletionTimestamp""#);
    let longest = longest_life(&rollout).into_iter().filter(is_well).max_by_key(String::len).expect("a Pod is well");
    let status = format!(r#""filling":"{}","status":"#, filling(longest.len()));
    let template = Template::new(longest.replacen(r#""status":"#, &status, 1));
    for at in 0..updates + pods {
        let mut version = template.update(at, pods);
        version.text = version.text.replace(r#""ready":false"#, r#""ready":true"#);
        let time = BEGIN + at.saturating_sub(pods) as f64 * 1_000.0 / 150.0;
        if at == 0 {
            let watch = Watch { number: 0, resource: version.resource, scope: Scope::default(), is_repeated: false };
            push(time, &Line::Watch(watch));
        }
        let (key, uid, text) = (&version.object.key, &version.object.uid, Text::Whole(&version.text));
        let delta_type = if at < pods { DeltaType::Replaced } else { DeltaType::Updated };
        push(time, &Line::Version(Version { watch: 0, delta_type, key, uid, text }));
        if at + 1 == pods {
            push(time, &Line::Step(0, Step::Listed));
        }
    }
}
