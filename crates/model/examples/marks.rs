//! What marks cost: their memory, the time to make one, and the time of a scene.
//!
//! ```sh
//! ./dev bench marks
//! ```
//!
//! Each line is an hour of marks of one kind, with times of the page's clock. Memory is what the allocator holds for the marks,
//! their lanes and their counts. The keys and uids of the objects are not in it, because the objects share them. A scene is
//! 1,000 pixels wide and 500 high, and its time is the median of many, each of another window. The program fails where a
//! million marks take more than 24 bytes each with all of that, or a scene of theirs more than 8 ms. Each state has a word,
//! one of twelve. With `plain` after the command no state has one.

use std::time::Instant;

use allocation_counter::measure;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::Uid;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::{Detail, Marks, NewMark};
use kubechurn_model::timeline::scale::Window;
use kubechurn_model::timeline::scene::TimelineView;
use kubechurn_model::timeline::{Chart, TimelineMut};

/// An hour, in milliseconds.
const HOUR: f64 = 3_600_000.0;

/// When the hour begins, and when it ends, in milliseconds since 1970.
const BEGIN: f64 = 1.79e12;
const END: f64 = BEGIN + HOUR;

/// So many bytes that no mark is evicted.
const ROOM: usize = 1 << 30;

/// How many scenes are made of each way of moving.
const SCENES: usize = 60;

/// The words of states. How alarming a state is follows from its word.
const WORDS: [&str; 12] = [
    "Running",
    "Pending",
    "CrashLoopBackOff",
    "Completed",
    "ContainerCreating",
    "ImagePullBackOff",
    "3/3",
    "2/3",
    "0/3",
    "Ready",
    "Terminating",
    "NotReady",
];

/// A generator of numbers that are the same in each run (PCG's multiplier and increment).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The objects: each has a name and a uid.
fn objects(count: usize) -> Vec<(ObjectKey, Uid)> {
    let object = |at: usize| {
        let key = ObjectKey::new(&format!("shop-{}", at % 20), &format!("web-{at:06}-5d9c7b8f6d-x2x7p"));
        (key, Uid::new(&format!("{at:08x}-8f6a-4b1d-9c2e-7a60f1b2c3d4")))
    };
    (0..count).map(object).collect()
}

/// Pushes marks that are spread evenly over an hour. One of a thousand is a delete. The state of an object changes with
/// one mark of `steady` on average. `words` says whether states have words.
fn push(marks: &mut Marks, (count, steady): (usize, usize), objects: &[(ObjectKey, Uid)], words: bool) {
    let mut numbers = Numbers(7);
    let mut states = vec![0; objects.len()];
    for at in 0..count {
        let number = numbers.below(objects.len());
        let ((key, uid), state) = (&objects[number], &mut states[number]);
        let mark_type = match numbers.below(1_000) {
            0 => MarkType::Deleted,
            1 => MarkType::Added,
            _ => MarkType::Updated,
        };
        if numbers.below(steady) == 0 {
            *state = numbers.below(if words { WORDS.len() } else { 3 });
        }
        let version = ResourceVersion::new(&(4_000_000_000 + at).to_string());
        let now = BEGIN + HOUR * (at + 1) as f64 / count as f64;
        let tone = [Tone::Good, Tone::Wait, Tone::Bad][*state % 3];
        let new = NewMark { key, uid, mark_type, resource_version: &version, folded: 1, tone };
        let word = if words { WORDS[*state] } else { "" };
        marks.push_with(now, new, Detail { word, ..Detail::default() });
    }
}

/// The median and the longest time of a scene over these windows, in microseconds.
fn scenes(marks: &Marks, windows: impl Iterator<Item = Window>) -> (f64, f64) {
    let mut chart = Chart::default();
    let mut times = Vec::new();
    for window in windows {
        let view = TimelineView { width: 1_000.0, height: 500.0, window, ..TimelineView::default() };
        let start = Instant::now();
        TimelineMut::new(vec![marks], &mut chart).scene(&view, END);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() - 1])
}

fn main() {
    let words = std::env::args().nth(1).as_deref() != Some("plain");
    println!(
        "{:>9} {:>7} {:>6} {:>10} {:>8} | median and longest scene in µs: {:>12} {:>17} {:>17} {:>17}",
        "marks", "objects", "steady", "bytes/mark", "push ns", "zoom", "last minute", "pan, 10 min", "pan, 50 min"
    );
    for count in [10_000, 1_000_000] {
        for (objects, steady) in [(1, 50), (300, 50), (300, 1), (20_000, 50)] {
            let objects = self::objects(objects);
            let mut marks = Marks::new(ROOM);
            let start = Instant::now();
            let held = measure(|| push(&mut marks, (count, steady), &objects, words));
            let pushed = start.elapsed().as_secs_f64() * 1e9 / count as f64;
            assert_eq!(marks.len(), count, "a mark was evicted");
            let part = |at: usize| at as f64 / SCENES as f64;
            // Following: from two seconds to the whole hour.
            let zoom = (0..SCENES).map(|at| Window { from: END - 2_000.0 * 1_800_f64.powf(part(at)), to: END });
            let minute = (0..SCENES).map(|at| Window { from: END - 60_000.0 - at as f64 * 5.0, to: END });
            let pan = |span: f64| {
                (0..SCENES).map(move |at| {
                    let to = END - (HOUR - span) * part(at) - 1_000.0;
                    Window { from: to - span, to }
                })
            };
            let times = [
                scenes(&marks, zoom),
                scenes(&marks, minute),
                scenes(&marks, pan(600_000.0)),
                scenes(&marks, pan(3_000_000.0)),
            ];
            print!(
                "{count:>9} {:>7} {steady:>6} {:>10.1} {pushed:>8.0} |                              ",
                objects.len(),
                held.bytes_current as f64 / count as f64
            );
            times.iter().for_each(|(median, longest)| print!(" {median:>8.0} {longest:>8.0}"));
            println!();
            if count == 1_000_000 {
                let bytes = held.bytes_current as f64 / count as f64;
                assert!(bytes <= 24.0, "a mark takes too much memory");
                assert!(times.iter().all(|(median, _)| *median <= 8_000.0), "a scene takes longer than 8 ms");
            }
        }
    }
}
