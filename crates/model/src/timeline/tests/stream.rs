//! Gaps of one kind and of several.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

use crate::timeline::scale::Window;
use crate::timeline::scene::contents::{LaneRow, Scene};
use crate::timeline::scene::layout::TimelineView;
use crate::timeline::store::mark::MarkType;
use crate::timeline::store::marks::{Marks, NO_CONNECTION, NewMark};
use crate::timeline::{Chart, KindName};

const NAMES: [KindName; 3] = [
    KindName { short: "po", long: "Pod", title: "Pods" },
    KindName { short: "no", long: "Node", title: "Nodes" },
    KindName { short: "svc", long: "Service", title: "Services" },
];

/// The gaps of a minute, each with its begin, its end and its words; and how many were counted.
fn gaps(marks: &[Marks; 3], now: f64) -> (Vec<(f64, f64, String)>, u64) {
    let mut chart = Chart::of(NAMES.to_vec());
    let view = TimelineView {
        width: 1_000.0,
        height: 220.0,
        window: Window { from: now - 60_000.0, to: now },
        ..TimelineView::default()
    };
    let marks: Vec<&Marks> = marks.iter().collect();
    chart.draw(&marks, &view, now);
    let scene = &chart.scene;
    let gaps = scene.gaps.iter().map(|gap| (gap.from, gap.to, gap.note.clone()));
    (gaps.collect(), scene.counts.of(MarkType::Gap))
}

/// The rows of a minute, each with the parts that gaps cover.
fn row_gaps(marks: &[Marks; 3], now: f64) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut chart = Chart::of(NAMES.to_vec());
    let window = Window { from: now - 60_000.0, to: now };
    let view = TimelineView { width: 1_000.0, height: 220.0, window, ..TimelineView::default() };
    let marks: Vec<&Marks> = marks.iter().collect();
    chart.draw(&marks, &view, now);
    let Scene { lanes, row_gaps, scale, .. } = &chart.scene;
    let row = |row: &LaneRow| {
        let own = row_gaps.iter().filter(|gap| gap.y == row.y);
        let times = own.map(|gap| (scale.time(gap.x).round(), scale.time(gap.x + gap.width).round()));
        (row.key.to_string(), times.collect())
    };
    lanes.iter().flatten().map(row).collect()
}

#[test]
fn a_gap_is_drawn_once_and_only_over_lanes_of_what_was_not_watched() {
    let mut marks: [Marks; 3] = Default::default();
    for (at, own) in marks.iter_mut().enumerate() {
        let (key, uid, version) = (ObjectKey::new("", &format!("of-{at}")), "u".into(), ResourceVersion::new("7"));
        let (mark_type, tone) = (MarkType::Updated, Tone::Good);
        let new = NewMark { key: &key, uid: &uid, mark_type, resource_version: &version, folded: 1, tone };
        own.push(1_000.0 * (3 - at) as f64, new);
    }
    lost(&mut marks[0], 10_000.0, 20_000.0);
    marks[0].gap(15_000.0, 30_000.0, "gap of 15 s");
    marks[0].gap(31_000.0, 32_000.0, "gap of 1 s");
    lost(&mut marks[1], 18_000.0, 22_000.0);
    let expected = [
        ("of-0".to_owned(), vec![(10_000.0, 30_000.0), (31_000.0, 32_000.0)]),
        ("of-1".to_owned(), vec![(18_000.0, 22_000.0)]),
        ("of-2".to_owned(), Vec::new()),
    ];
    assert_eq!(row_gaps(&marks, 60_000.0), expected);
}

fn lost(marks: &mut Marks, from: f64, to: f64) {
    marks.open_gap(from, NO_CONNECTION);
    marks.close_gap(to);
}

#[test]
fn a_connection_that_several_kinds_lost_is_one_gap() {
    let mut marks: [Marks; 3] = Default::default();
    lost(&mut marks[0], 1_000.0, 5_000.0);
    lost(&mut marks[1], 4_000.0, 9_000.0);
    lost(&mut marks[0], 8_000.0, 12_000.0);
    lost(&mut marks[2], 20_000.0, 21_000.0);
    let words = |kinds: &str| format!("no connection: {kinds}");
    let expected = vec![(1_000.0, 12_000.0, words("Pods and Nodes")), (20_000.0, 21_000.0, words("Services"))];
    let (found, counted) = gaps(&marks, 60_000.0);
    assert_eq!((found, counted), (expected.clone(), 2));
    // A gap that still lasts takes in those that have ended. It is not counted before it ends.
    marks[1].open_gap(20_500.0, NO_CONNECTION);
    let (found, counted) = gaps(&marks, 60_000.0);
    assert_eq!((&found[1], counted), (&(20_000.0, 60_000.0, words("Nodes and Services")), 1));
}

#[test]
fn gaps_that_have_causes_of_their_own_stay_apart() {
    let mut marks: [Marks; 3] = Default::default();
    for at in [0, 1] {
        marks[at].gap(1_000.0, 2_000.0, "gap of 1 s");
    }
    marks[0].gap(1_500.0, 2_000.0, "gap of 1 s");
    for own in &mut marks {
        own.gap_of_all(1_000.0, 3_000.0, "overload");
    }
    let (found, counted) = gaps(&marks, 60_000.0);
    let words: Vec<&str> = found.iter().map(|(.., note)| &**note).collect();
    assert_eq!(words, ["Pods: gap of 1 s", "Nodes: gap of 1 s", "Pods: gap of 1 s", "overload"]);
    assert_eq!(counted, 4);
}
