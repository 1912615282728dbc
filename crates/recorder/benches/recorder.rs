//! What the recorder costs: bytes for each version against its text, the time to write one and to read one back.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use kubechurn_client::api::object::{Object, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{BUDGET, Interest, NewVersion, Pushed, Recorder};
use serde_json::Value;

const RECORDING: &str = include_str!("../../../tests/fixtures/rollout.jsonl");

#[derive(Clone)]
struct Version {
    resource: ApiResource,
    object: Object,
    text: String,
}

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

/// The texts of the Pod of which most versions were recorded.
fn longest_life(rollout: &[Version]) -> Vec<String> {
    let mut lives: HashMap<String, Vec<String>> = HashMap::new();
    for version in rollout.iter().filter(|version| version.resource.plural == "pods") {
        lives.entry(version.object.uid.to_string()).or_default().push(version.text.clone());
    }
    lives.into_values().max_by_key(|life| (life.len(), life[0].clone())).expect("the recording has Pods")
}

/// What is missing for a Pod of 5,000 bytes: simulated kubelets write less than real ones.
fn filling(length: usize) -> String {
    (0..5_000_usize.saturating_sub(length + 14)).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect()
}

/// A Pod that others are made of. It is read once: the allocator would clean up after that while a version is written.
struct Template {
    text: String,
    name: String,
    uid: String,
    version: String,
}

impl Template {
    fn new(text: String) -> Template {
        let value: Value = serde_json::from_str(&text).expect("the recording is JSON");
        let of = |name: &str| value["metadata"][name].as_str().unwrap_or_default().to_owned();
        let version = format!("\"{}\"", of("resourceVersion"));
        Template { name: of("name"), uid: of("uid"), version, text }
    }

    /// One of the things that a kubelet writes, to one Pod after the other.
    fn update(&self, at: u64, pods: u64) -> Version {
        let (pod, round) = (at.wrapping_mul(7919) % pods, at / pods);
        let mut text = self.text.clone();
        let put = |text: &mut String, old: &str, new: &str| *text = text.replace(old, new);
        put(&mut text, &self.name, &format!("web-{pod:05}"));
        put(&mut text, &self.uid, &format!("{:08x}-f75c-4c98-a521-31d23bec73db", pod.wrapping_mul(0x9E37_79B9)));
        put(&mut text, &self.version, &format!("\"{}\"", 1_000_000 + at));
        let minute = |of: u64| format!("T{:02}:{:02}:{:02}Z", of / 3600 % 24, of / 60 % 60, of % 60);
        put(&mut text, "T08:13:27Z", &minute(29_607 + pod));
        put(&mut text, "T08:13:28Z", &minute(29_608 + round));
        put(&mut text, r#""ready":true"#, if round.is_multiple_of(3) { r#""ready":false"# } else { r#""ready":true"# });
        put(&mut text, r#""restartCount":0"#, &format!("\"restartCount\":{}", round / 3));
        let object = decode_metadata(&text).expect("a Pod");
        Version { resource: PODS, object, text }
    }
}

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

fn recorded() -> Vec<Version> {
    let mut resources: HashMap<String, ApiResource> = HashMap::new();
    let lines = RECORDING.lines().map(|line| serde_json::from_str::<Value>(line).expect("the recording is JSON"));
    let versions = lines.filter_map(|line| {
        let event: HashMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(line.get("frame")?.as_str()?).ok()?;
        if matches!(event.get("type")?.get(), "\"BOOKMARK\"" | "\"ERROR\"") {
            return None;
        }
        let name = line["resource"].as_str()?;
        let resource = *resources.entry(name.to_owned()).or_insert_with(|| {
            let plural: &'static str = name.to_owned().leak();
            ApiResource { group: "", version: "v1", plural, kind: plural, namespaced: true, cluster: "" }
        });
        let text = event.get("object")?.get().to_owned();
        Some(Version { resource, object: decode_metadata(&text).ok()?, text })
    });
    versions.collect()
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
