//! What it costs to go to a moment: an hour at 20 changes a second over 10,000 Pods of 5 to 7 KB.
//!
//! ```sh
//! ./dev bench rewind          # or: ./dev bench rewind 150000, for another number of Pods
//! ```
//!
//! Times are of this machine, and medians. A Pod is one of a recorded rollout with filling, and each change is one of what a
//! kubelet writes. `past` is what the recorder takes, `rows` the time from a moment to all rows with their names, and `visible`
//! to the first 40 in order and read. `order` is what the rest of the order takes, `read` to read the other rows, of which
//! `texts` is for their texts, and `whole` all of that together; `filter` is what it takes to filter them then. A step is one
//! second further or back, with the rows that changed. Before that the bytes are printed that the parts of a page take for so
//! many Pods, with pointers of eight bytes. The page's have four: built for `wasm32-wasip1` with
//! `-Ctarget-feature=+simd128`, and run by a WASI runtime, it prints what they take there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use allocation_counter::measure;
use serde_json::Value;

use kubechurn_changes::noise::Marks;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::backoff::Moment as Now;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::{Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_columns::kinds::{Kind, pods};
use kubechurn_model::feed::net::{Asked, Net};
use kubechurn_model::history::coverage::Before;
use kubechurn_model::history::{History, Was};
use kubechurn_model::kind_id::KindId;
use kubechurn_model::rewind::{Present, Rewound};
use kubechurn_model::table::filter::Filter;
use kubechurn_model::table::schema::TableSchema;
use kubechurn_model::table::view::TableView;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::{Marks as Lanes, NewMark};

const RECORDING: &str = include_str!("../../../tests/fixtures/rollout.jsonl");
const PODS: u64 = 10_000;
const CHANGES: u64 = 72_000;
const HOUR: f64 = 3_600_000.0;
const BEGIN: f64 = 1.79e12;
const BUDGET: usize = 256_000_000;

/// A Pod that others are made of: a text with places for what differs.
struct Template(Vec<String>);

impl Template {
    fn new() -> Template {
        let pods = RECORDING.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let frame: HashMap<String, Box<serde_json::value::RawValue>> =
                serde_json::from_str(line.get("frame")?.as_str()?).ok()?;
            (line["resource"] == "pods").then(|| frame.get("object").map(|object| object.get().to_owned()))?
        });
        let mut text = pods.max_by_key(String::len).expect("the recording has Pods");
        let value: Value = serde_json::from_str(&text).expect("the recording is JSON");
        let of = |name: &str| value["metadata"][name].as_str().unwrap_or_default().to_owned();
        for (old, new) in [
            (of("name"), "\u{1}name\u{1}"),
            (of("uid"), "\u{1}uid\u{1}"),
            (format!("\"{}\"", of("resourceVersion")), "\"\u{1}version\u{1}\""),
            (String::from("T08:13:28Z"), "\u{1}time\u{1}"),
            (String::from(r#""ready":true"#), "\"ready\":\u{1}ready\u{1}"),
            (String::from(r#""restartCount":0"#), "\"restartCount\":\u{1}restarts\u{1}"),
            (String::from(r#""status":"#), "\u{1}filling\u{1}\"status\":"),
        ] {
            text = text.replace(&old, new);
        }
        Template(text.split('\u{1}').map(str::to_owned).collect())
    }

    fn text(&self, pod: u64, version: u64, round: u64) -> String {
        let mut text = String::with_capacity(8_192);
        let length = 2_000 + (pod % 7) as usize * 300;
        for part in &self.0 {
            match &**part {
                "name" => text.push_str(&format!("web-{pod:05}")),
                "uid" => text.push_str(&format!("{:08x}-f75c-4c98-a521-31d23bec73db", pod.wrapping_mul(0x9E37_79B9))),
                "version" => text.push_str(&version.to_string()),
                "time" => {
                    text.push_str(&format!("T{:02}:{:02}:{:02}Z", round / 60 % 24, round % 60, version % 60));
                }
                "ready" => text.push_str(if round.is_multiple_of(3) { "true" } else { "false" }),
                "restarts" => text.push_str(&(round / 3).to_string()),
                "filling" => {
                    text.push_str("\"filling\":\"");
                    text.extend((0..length).map(|at| char::from(b'a' + (at * at % 23) as u8)));
                    text.push_str("\",");
                }
                part => text.push_str(part),
            }
        }
        text
    }
}

struct Session {
    informers: SharedInformerFactory,
    id: InformerId,
    history: History,
}

impl Session {
    fn input(&mut self, input: Input<'_>, now: f64) {
        let Some(informer) = self.informers.get_mut(self.id) else { return };
        let before = Before::of(informer, &input, self.history.received());
        let history = &mut self.history;
        informer.handle_tapped(input, Now { now, random: 0.0 }, &mut |received| {
            history.push(pods::KIND.resource, received);
        });
        informer.drain(usize::MAX, now);
        let notices = informer.take_notices();
        let of = (before, &*informer, &notices[..]);
        self.history.coverage.handled(
            self.id,
            (pods::KIND.resource, &Scope::default()),
            of,
            (now, self.history.received()),
        );
    }
}

impl Present for Session {
    fn find(&self, _kind: &'static Kind, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.informers.get(self.id)?.store().get(key)
    }

    fn each(&self, _kind: &'static Kind, each: &mut dyn FnMut(&Arc<Object>)) {
        self.informers.get(self.id).into_iter().flat_map(|informer| informer.store().iter()).for_each(each);
    }
}

/// A session that has listed so many Pods.
fn listed(pods: u64, budget: usize, template: &Template) -> Session {
    let mut informers = SharedInformerFactory::default();
    let id = informers.informer_for(pods::KIND.resource, &Scope::default(), || {
        let reflector = Options { watch_list: false, ..Options::default() };
        SharedInformer::new(pods::KIND.decode, InformerOptions { reflector, backlog: None })
    });
    informers.start();
    let mut session = Session { informers, id, history: History::new(budget, 0) };
    session.input(Input::Start, BEGIN - 2.0);
    session.input(Input::Piece(br#"{"kind":"PodList","metadata":{"resourceVersion":"200000"},"items":["#), BEGIN - 1.0);
    for pod in 0..pods {
        let comma = if pod == 0 { "" } else { "," };
        session.input(Input::Piece(format!("{comma}{}", template.text(pod, 1 + pod, 0)).as_bytes()), BEGIN - 1.0);
    }
    session.input(Input::Piece(b"]}"), BEGIN - 1.0);
    session.input(Input::PageEnd, BEGIN);
    session.input(Input::Opened, BEGIN);
    session
}

/// Prints what the parts of a page take for so many Pods.
fn parts(pods: u64, template: &Template) {
    let mut session = None;
    let store = measure(|| session = Some(listed(pods, 0, template))).bytes_current;
    let Some(session) = session else { return };
    let mut objects = Vec::new();
    session.each(&pods::KIND, &mut |object| objects.push((KindId(0), object.clone(), (DeltaType::Replaced, BEGIN))));
    let mut marks = Lanes::new(64 << 20);
    let lanes = measure(|| {
        for (_, object, _) in &objects {
            let (mark_type, folded, tone) = (MarkType::Replaced, 1, Tone::Good);
            let (key, uid, resource_version) = (&object.key, &object.uid, &object.resource_version);
            marks.push(BEGIN, NewMark { key, uid, mark_type, resource_version, folded, tone });
        }
    });
    let table = measure(|| {
        let mut view = TableView::of(Arc::new(TableSchema::of(&[&pods::KIND])));
        view.fill(objects.clone());
        view.work(|| true);
        std::mem::forget(view);
    });
    let recorded = listed(pods, 64_000_000, template).history.bytes().0;
    for (what, bytes) in [
        ("store, with the objects", store),
        ("table", table.bytes_current),
        ("timeline, with a mark each", lanes.bytes_current),
        ("recorder, by its own count", recorded as i64),
    ] {
        println!("{what}: {:.1} MB, {:.0} bytes a Pod", bytes as f64 / 1e6, bytes as f64 / pods as f64);
    }
}

fn record(pods: u64) -> Session {
    let template = Template::new();
    parts(pods, &template);
    let mut session = listed(pods, BUDGET, &template);
    for at in 0..CHANGES {
        let text = template.text(at.wrapping_mul(7919) % pods, 200_001 + at, 1 + at / pods);
        let frame = format!(r#"{{"type":"MODIFIED","object":{text}}}"#);
        session.input(Input::Frame(&frame), BEGIN + HOUR * (at + 1) as f64 / CHANGES as f64);
    }
    session
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn main() {
    let pods = std::env::args().nth(1).and_then(|pods| pods.parse().ok()).unwrap_or(PODS);
    let session = record(pods);
    let history = &session.history;
    let (bytes, budget) = history.bytes();
    println!("{pods} Pods, {CHANGES} changes; recorder: {:.1} of {:.0} MB", bytes as f64 / 1e6, budget as f64 / 1e6);
    let schema = Arc::new(TableSchema::of(&[&pods::KIND]));
    let at = |minute: f64| {
        let moment = history.moment(BEGIN + minute * 60_000.0);
        Rewound::at(moment, schema.clone(), &[], (history, &session))
    };
    println!(
        "{:>6} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9} {:>17}",
        "minute",
        "unread",
        "past",
        "rows",
        "visible",
        "order",
        "texts",
        "read",
        "whole",
        "filter",
        "counts",
        "bytes/row",
        "of the recorder's"
    );
    for minute in [1.0, 10.0, 30.0, 50.0, 59.0] {
        let mut times = [const { Vec::new() }; 8];
        let mut rest = (0, 0);
        for _ in 0..5 {
            let known = history.coverage.known(pods::KIND.resource, history.moment(BEGIN + minute * 60_000.0));
            let past = milliseconds(|| assert!(history.past(pods::KIND.resource, &known).count() > 0));
            let texts = milliseconds(|| {
                let versions = history.past(pods::KIND.resource, &known).filter_map(|past| match past.was {
                    Was::Version(record) => history.text(record.sequence),
                    Was::Newest(_) | Was::Evicted => None,
                });
                versions.for_each(|text| assert!(!text.is_empty()));
            }) - past;
            let start = Instant::now();
            let mut rewound = at(minute);
            let ordered = start.elapsed().as_secs_f64() * 1e3;
            let unread = rewound.unread();
            rewound.table_mut().seek(40, || true);
            let first = rewound.table().window(0, 40);
            rewound.read(&first, history);
            let visible = start.elapsed().as_secs_f64() * 1e3;
            let names = milliseconds(|| assert!(!rewound.table_mut().work(|| true)));
            let read = milliseconds(|| assert!(!rewound.work(history, || true)));
            let whole = start.elapsed().as_secs_f64() * 1e3;
            let filter = Filter::over("Running", rewound.table().schema()).expect("a filter");
            let filters = milliseconds(|| {
                rewound.table_mut().filter_by(filter);
                rewound.table_mut().work(|| true);
            });
            let each = [past, ordered, visible, names, texts, read, whole, filters];
            times.iter_mut().zip(each).for_each(|(times, one)| times.push(one));
            rest = (unread, rewound.table().counts().0);
        }
        let held = measure(|| {
            std::mem::forget({
                let mut rewound = at(minute);
                rewound.work(history, || true);
                rewound
            })
        });
        let [past, ordered, visible, names, texts, read, whole, filters] = times.map(median);
        println!(
            "{minute:>6} {:>7} {past:>7.1} {ordered:>7.1} {visible:>7.1} {names:>7.1} {texts:>7.1} {read:>7.1} {whole:>7.1} {filters:>7.1} {:>7} {:>9.0} {:>15.1} %",
            rest.0,
            rest.1,
            held.bytes_current as f64 / pods as f64,
            100.0 * held.bytes_current as f64 / bytes as f64
        );
    }
    let mut rewound = at(30.0);
    rewound.work(history, || true);
    rewound.table_mut().work(|| true);
    for (what, direction) in [("forward", 1.0), ("back", -1.0)] {
        let mut times = Vec::new();
        for step in 1..=100 {
            let moment = history.moment(rewound.moment().at + direction * 1_000.0);
            let mut looked = None;
            times.push(milliseconds(|| {
                looked = rewound.step(moment, history, &session);
                rewound.work(history, || true);
            }));
            assert!(looked.is_some_and(|looked| looked <= 21), "step {step}: {looked:?}");
        }
        let longest = times.iter().copied().fold(0.0, f64::max);
        println!("a step of a second {what}: {:.2} ms, longest {longest:.2} ms", median(times));
    }
    // What is different between two moments: 100 seconds apart, and nearly the whole hour.
    for (from, to) in [(30.0, 30.0 + 100.0 / 60.0), (1.0, 59.0)] {
        let (mut times, mut differ) = (Vec::new(), String::new());
        for _ in 0..5 {
            times.push(milliseconds(|| {
                let ends = [from, to].map(|minute| BEGIN + minute * 60_000.0);
                let asked = Asked { ends, kinds: vec![(&pods::KIND, "")], namespaces: Vec::new() };
                let mut net = Net::new(asked, BEGIN + HOUR, kubechurn_changes::filter::Filter::default(), history);
                while net.work(history, &Marks::default(), || true) {}
                net.settle();
                differ = net.words();
            }));
        }
        println!("from minute {from:.0} to {to:.0}: {:.1} ms. {differ}", median(times));
    }
}
