//! What lanes in groups cost: the time of a scene, however many objects are in a group.
//!
//! ```sh
//! ./dev bench marks
//! ```
//!
//! Each line is an hour of marks of Pods in 50 ReplicaSets, each with a Deployment of its own. A scene is 1,000 pixels wide
//! and 1,000 high. Times are in microseconds, the median and the longest. Work that does not fit into one scene is done
//! by the next ones: `first` are the scenes from nothing until all is found and counted, and `scenes` is how many there
//! were; where lanes stand by manager, each scene is after a thousand questions who wrote a mark. `follow` adds 650 marks before each scene, as 5,000 events a second do. `pan` moves through the hour. The program
//! fails where the median is more than 16 ms: a browser takes about three times as long, and must not stand still for
//! 50 ms.

use std::sync::Arc;
use std::time::Instant;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::{Owner, Owners, share};
use kubechurn_client::api::uid::Uid;
use kubechurn_columns::kinds::kind;
use kubechurn_model::timeline::lanes::{LaneChoice, LaneOrder, LanesBy, OpenGroups};
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::{Marks, NewMark};
use kubechurn_model::timeline::scale::Window;
use kubechurn_model::timeline::scene::TimelineView;
use kubechurn_model::timeline::{Chart, KindName, TimelineMut};

/// An hour, in milliseconds.
const HOUR: f64 = 3_600_000.0;
/// So many bytes that no mark is evicted.
const ROOM: usize = 1 << 30;
/// How many groups there are.
const GROUPS: usize = 50;
/// How many scenes are made of each way of moving.
const SCENES: usize = 60;
/// Who writes; nobody is known for what is beyond them.
const MANAGERS: [&str; 6] =
    ["kubectl", "kubelet", "kube-scheduler", "kube-controller-manager", "helm", "cluster-autoscaler"];
/// Of how many marks is asked before a scene who wrote them, where lanes stand by manager. The page asks for some
/// milliseconds.
const ASKED: usize = 1_000;
/// How long a scene may take, in microseconds.
const MOST: f64 = 16_000.0;

/// An object, and who owns it.
struct Known {
    kind: usize,
    key: ObjectKey,
    uid: Uid,
    owners: Option<Arc<Owners>>,
}

/// Deployments, ReplicaSets, and then so many Pods.
fn objects(pods: usize) -> Vec<Known> {
    let uid = |kind: usize, at: usize| format!("{kind:08x}-8f6a-4b1d-9c2e-{at:012x}");
    let owned = |kind: &str, name: &str, uid: &str| {
        let text =
            format!(r#"[{{"apiVersion":"apps/v1","kind":"{kind}","name":"{name}","uid":"{uid}","controller":true}}]"#);
        share(&serde_json::from_str::<Vec<Owner<'_>>>(&text).expect("a list of owners"))
    };
    let of = |kind: usize, at: usize, name: String, owners| Known {
        kind,
        key: ObjectKey::new("shop", &name),
        uid: Uid::new(&uid(kind, at)),
        owners,
    };
    let mut all = Vec::new();
    for at in 0..GROUPS {
        all.push(of(0, at, format!("web-{at}"), None));
        let owners = owned("Deployment", &format!("web-{at}"), &uid(0, at));
        all.push(of(1, at, format!("web-{at}-5d9c7b8f6d"), owners));
    }
    let owners: Vec<_> =
        (0..GROUPS).map(|at| owned("ReplicaSet", &format!("web-{at}-5d9c7b8f6d"), &uid(1, at))).collect();
    for at in 0..pods {
        let set = at % GROUPS;
        all.push(of(2, at, format!("web-{set}-5d9c7b8f6d-{at:06}"), owners[set].clone()));
    }
    all
}

struct Bench {
    objects: Vec<Known>,
    marks: [Marks; 3],
    chart: Chart,
    choice: LaneChoice,
    made: usize,
    now: f64,
    random: u64,
}

impl Bench {
    fn push(&mut self) {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number =
            if self.made < self.objects.len() { self.made } else { (self.random >> 33) as usize % self.objects.len() };
        let Known { kind, key, uid, owners } = &self.objects[number];
        let mark_type = if self.random >> 20 & 1_023 == 0 { MarkType::Deleted } else { MarkType::Updated };
        let resource_version = &ResourceVersion::new(&(4_000_000_000 + self.made).to_string());
        let mark = NewMark { key, uid, mark_type, resource_version, folded: 1, tone: Tone::Good };
        let lane = self.marks[*kind].push(self.now, mark);
        self.marks[*kind].put(lane, owners.as_ref(), "");
        self.made += 1;
    }

    /// The time of one scene, in microseconds, and whether it left something for the next one.
    fn scene(&mut self, window: Window) -> (f64, bool) {
        let view = TimelineView { width: 1_000.0, height: 1_000.0, window, ..TimelineView::default() };
        let mut timeline = TimelineMut::new(self.marks.iter().collect(), &mut self.chart);
        let start = Instant::now();
        timeline.choose_lanes(&self.choice);
        timeline.find_writers(ASKED, &mut |_, mark| {
            let version: usize = mark.resource_version.as_str().parse().ok()?;
            MANAGERS.get(version.wrapping_mul(7) % 11).map(|name| (name.to_string(), false))
        });
        timeline.scene(&view, self.now);
        (start.elapsed().as_secs_f64() * 1e6, timeline.is_behind())
    }

    /// The times of scenes until nothing is left.
    fn settle(&mut self, window: Window) -> Vec<f64> {
        let mut times = Vec::new();
        loop {
            let (time, is_behind) = self.scene(window);
            times.push(time);
            if !is_behind {
                return times;
            }
        }
    }
}

/// Prints the median and the longest. Returns whether the median is short enough.
fn print(times: &mut [f64]) -> bool {
    times.sort_by(f64::total_cmp);
    let longest = times[times.len() - 1];
    let median = times[times.len() / 2];
    print!(" {median:>8.0} {longest:>8.0}");
    median <= MOST
}

fn main() {
    println!(
        "{:>9} {:>8} {:>22} | {:>24} {:>17} {:>17} {:>17} | {:>8}",
        "marks", "pods", "lanes", "first, scenes", "follow", "pan, 1 min", "pan, 50 min", "bytes"
    );
    let mut is_fast = true;
    let owner = |open: bool| (LanesBy::Owner, LaneOrder::LastChange, open);
    for (count, pods) in [(100_000, 5_000), (1_000_000, 5_000), (1_000_000, 150_000)] {
        let names = ["Deployment", "ReplicaSet", "Pod"];
        for (by, order, open) in [
            owner(false),
            owner(true),
            (LanesBy::Owner, LaneOrder::Churn, false),
            (LanesBy::Object, LaneOrder::Name, false),
            (LanesBy::Manager, LaneOrder::LastChange, false),
            (LanesBy::Manager, LaneOrder::Churn, true),
        ] {
            let kinds = ["deployments", "replicasets", "pods"].map(|name| kind(name).expect("a kind"));
            let names = names.map(|name| KindName { short: name, long: name, title: name });
            let mut bench = Bench {
                objects: objects(pods),
                marks: [0; 3].map(|_| Marks::new(ROOM)),
                chart: Chart::of(names.to_vec()).with_groups(&kinds),
                choice: LaneChoice { by, order, open: OpenGroups::all(open), ..LaneChoice::default() },
                made: 0,
                now: 0.0,
                random: 7,
            };
            for at in 0..count {
                bench.now = HOUR * (at + 1) as f64 / count as f64;
                bench.push();
            }
            print!(
                "{count:>9} {pods:>8} {:>22} |",
                format!("{}, {}, {}", by.name(), order.name(), if open { "open" } else { "closed" })
            );
            let minute = |now: f64| Window { from: now - 60_000.0, to: now };
            let mut first = bench.settle(Window { from: 0.0, to: HOUR });
            print!(" {:>6}", first.len());
            is_fast &= print(&mut first);
            bench.settle(minute(HOUR));
            let mut times = Vec::new();
            for _ in 0..SCENES {
                bench.now += 130.0;
                (0..650).for_each(|_| bench.push());
                times.push(bench.scene(minute(bench.now)).0);
            }
            is_fast &= print(&mut times);
            for span in [60_000.0, 3_000_000.0] {
                let pan = (0..SCENES).map(|at| {
                    let to = HOUR - (HOUR - span) * at as f64 / SCENES as f64 - 1_000.0;
                    bench.scene(Window { from: to - span, to }).0
                });
                let mut times: Vec<f64> = pan.collect();
                is_fast &= print(&mut times);
            }
            println!(" | {:>8}", bench.chart.bytes());
        }
    }
    assert!(is_fast, "a scene takes longer than 16 ms");
}
