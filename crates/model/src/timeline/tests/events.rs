//! Events on the lanes of the objects that they are about.

use kubechurn_client::api::uid::Uid;
use kubechurn_columns::kinds::kind;

use super::*;
use crate::timeline::KindName;
use crate::timeline::lanes::{LaneChoice, LaneOrder, OpenGroups};
use crate::timeline::store::marks::Detail;

/// The marks of Pods, Nodes and Events.
struct Kinds {
    marks: [Marks; 3],
    chart: Chart,
    view: TimelineView,
}

const NAMES: [KindName; 3] = [
    KindName { short: "po", long: "Pod", title: "Pods" },
    KindName { short: "no", long: "Node", title: "Nodes" },
    KindName { short: "ev", long: "Event", title: "Events" },
];

impl Kinds {
    fn new() -> Kinds {
        let Fixture { view, .. } = Fixture::new(BUDGET);
        let chart = Chart::of(NAMES.to_vec()).with_groups(&["pods", "nodes", "events"].map(|name| kind(name).unwrap()));
        Kinds { marks: NAMES.map(|name| Marks::of_kind(name.long)), chart, view }
    }

    fn push(&mut self, kind: usize, now: f64, (namespace, name): (&str, &str), detail: Detail<'_>) {
        self.push_as(MarkType::Updated, Tone::Plain, (kind, now), (&ObjectKey::new(namespace, name), detail));
    }

    fn push_as(
        &mut self,
        mark_type: MarkType,
        tone: Tone,
        (kind, now): (usize, f64),
        (key, detail): (&ObjectKey, Detail<'_>),
    ) {
        let (uid, resource_version) = (&"u".into(), &ResourceVersion::new(&format!("{now:.0}")));
        let new = NewMark { key, uid, mark_type, resource_version, folded: 1, tone };
        self.marks[kind].push_with(now, new, detail);
    }

    fn event(&mut self, now: f64, tone: Tone, name: &str, regarding: &str) {
        let key = ObjectKey::new(if regarding.starts_with("node/") { "default" } else { "shop" }, name);
        let detail = Detail { regarding, ..Detail::default() };
        self.push_as(MarkType::Updated, tone, (2, now), (&key, detail));
    }

    fn scene(&mut self, now: f64) -> &Scene {
        self.view.window = Window { from: now - 60_000.0, to: now };
        let marks: Vec<&Marks> = self.marks.iter().collect();
        self.chart.draw(&marks, &self.view, now);
        &self.chart.scene
    }

    fn rows(&mut self, now: f64) -> Vec<String> {
        self.scene(now).lanes.iter().flatten().map(|row| format!("{} {}", row.kind_name, row.key)).collect()
    }

    fn hit(&self, x: f64, y: f64) -> String {
        let marks = self.marks.iter().collect();
        Timeline::new(marks, &self.chart).hit(x, y).map_or_else(String::new, |hit| hit.to_string())
    }
}

#[test]
fn an_event_is_a_mark_on_its_object_s_lane_and_has_no_lane_of_its_own() {
    let mut kinds = Kinds::new();
    kinds.push(0, 1_000.0, ("shop", "web"), Detail::default());
    kinds.push(0, 2_000.0, ("other", "web"), Detail::default());
    kinds.push(1, 3_000.0, ("", "node-a"), Detail::default());
    kinds.event(30_000.0, Tone::Plain, "web.1", "pod/web");
    kinds.event(40_000.0, Tone::Bad, "web.2", "pod/web");
    kinds.event(41_000.0, Tone::Bad, "node-a.1", "node/node-a");
    // Nothing is known of this Pod, so that its Event stands with others of its like.
    kinds.event(42_000.0, Tone::Plain, "gone.1", "pod/gone");
    let rows = kinds.rows(50_000.0);
    assert_eq!(rows, [" Events of other objects", "no node-a", "po shop/web", "po other/web"]);
    let scene = kinds.chart.scene.clone();
    let drawn = |row: usize| {
        let own = scene.events.iter().filter(|event| event.y == scene.layout.row_y(row));
        own.map(|event| (scene.scale.time(event.x).round(), event.tone, event.count)).collect::<Vec<_>>()
    };
    assert_eq!(drawn(2), [(30_000.0, Tone::Plain, 1), (40_000.0, Tone::Bad, 1)]);
    assert_eq!((drawn(1), drawn(0).len(), drawn(3).len()), (vec![(41_000.0, Tone::Bad, 1)], 0, 0));
    assert_eq!((scene.active, scene.scrollable), (4, 4));
    // Under the middle of the row is the Event, even where a mark of the object is near.
    let (x, y) = (scene.scale.x(40_000.0), scene.layout.row_y(2));
    assert_eq!(kinds.hit(x, y + 5.0), "Warning shop/web.2 about Pod shop/web (uid u), 10 s ago");
    assert!(kinds.hit(scene.scale.x(1_000.0), y).starts_with("● Updated Pod shop/web"));
    // Each mark is held and counted once, by the Events.
    assert_eq!(kinds.marks.each_ref().map(Marks::len), [2, 1, 4]);
    assert_eq!(scene.counts.total(), 7);
}

#[test]
fn events_of_objects_that_are_gone_fold_into_one_row_that_opens() {
    let mut kinds = Kinds::new();
    kinds.push(0, 1_000.0, ("shop", "web"), Detail::default());
    for at in 0..30 {
        kinds.event(2_000.0 + f64::from(at), Tone::Bad, &format!("gone.{at}"), &format!("pod/gone-{at}"));
    }
    for order in LaneOrder::ALL {
        let choice = LaneChoice { order, ..LaneChoice::default() };
        TimelineMut::new(kinds.marks.iter().collect(), &mut kinds.chart).choose_lanes(&choice);
        let mut rows = kinds.rows(10_000.0);
        rows.sort();
        assert_eq!(rows, [" Events of other objects", "po shop/web"], "{order:?}");
    }
    let row = kinds.chart.scene.lanes.iter().flatten().find(|row| row.key.namespace.is_empty()).unwrap().clone();
    let group = row.group.unwrap();
    assert_eq!((group.members, group.open), (30, Some(false)));
    assert!(summary(&kinds.chart.scene).contains("Events of other objects, 30 objects"));
    let words = Timeline::new(kinds.marks.iter().collect(), &kinds.chart).group_words(group.id).unwrap();
    let open = OpenGroups { all: false, named: vec![words] };
    let choice = LaneChoice { open, ..LaneChoice::default() };
    TimelineMut::new(kinds.marks.iter().collect(), &mut kinds.chart).choose_lanes(&choice);
    assert!(kinds.rows(10_000.0).contains(&"ev shop/gone.29".to_owned()));
    // Once the object has a lane, its Event is there.
    kinds.view.height = 1_000.0;
    kinds.push(0, 11_000.0, ("shop", "gone-29"), Detail::default());
    let rows = kinds.rows(14_000.0);
    assert!(rows.contains(&"po shop/gone-29".to_owned()) && !rows.contains(&"ev shop/gone.29".to_owned()), "{rows:?}");
}

#[test]
fn an_event_raises_the_lane_of_its_object_and_leaves_when_its_marks_do() {
    let mut kinds = Kinds::new();
    kinds.push(0, 1_000.0, ("shop", "old"), Detail::default());
    for at in 0..30 {
        kinds.push(0, 2_000.0 + f64::from(at), ("shop", &format!("pod-{at}")), Detail::default());
    }
    assert!(!kinds.rows(10_000.0).contains(&"po shop/old".to_owned()), "other lanes changed later");
    kinds.event(70_000.0, Tone::Bad, "old.1", "pod/old");
    assert_eq!(kinds.rows(90_000.0), ["po shop/old"], "nothing else happened in the last minute");
    let bytes = kinds.marks[2].event_targets.bytes();
    kinds.marks[2].limit(0);
    assert!(kinds.marks[2].is_empty() && kinds.marks[2].event_targets.is_empty() && bytes > 0);
    assert_eq!((kinds.scene(90_300.0).events.len(), kinds.marks[2].evicted().total()), (0, 1));
}

/// However often Events come, and however many there are, few are drawn, and each Warning is among them.
#[test]
fn events_that_are_near_are_one_and_a_warning_is_not_hidden() {
    let mut kinds = Kinds::new();
    kinds.push(0, 0.0, ("shop", "web"), Detail::default());
    for at in 0..20_000_u32 {
        let (name, tone) = (format!("web.{}", at % 50), if at == 7_777 { Tone::Bad } else { Tone::Plain });
        kinds.event(1_000.0 + f64::from(at), tone, &name, "pod/web");
    }
    let scene = kinds.scene(60_000.0);
    assert!((20..60).contains(&scene.events.len()), "{}", scene.events.len());
    assert_eq!(scene.events.iter().map(|event| event.count).sum::<u64>(), 20_000);
    let warnings: Vec<f64> = scene.events.iter().filter(|event| event.tone == Tone::Bad).map(|event| event.x).collect();
    assert_eq!(warnings, [scene.scale.x(8_777.0)]);
    // The same ones are drawn wherever the window is.
    let seqs = |scene: &Scene| scene.events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let before = seqs(scene);
    assert_eq!(seqs(kinds.scene(60_977.0)), before);
    // The end of an Event says nothing about the Pod.
    let key = ObjectKey::new("shop", "web.1");
    let detail = Detail { regarding: "pod/web", ..Detail::default() };
    kinds.push_as(MarkType::Deleted, Tone::Plain, (2, 60_980.0), (&key, detail));
    assert_eq!(seqs(kinds.scene(60_990.0)), before);
}

#[test]
fn an_event_of_an_earlier_object_is_not_on_the_lane_of_a_later_one() {
    let uids = ["0b1f6f7e-7c3a-4d7e-9a3e-2f1d5c6b7a89", "1b1f6f7e-7c3a-4d7e-9a3e-2f1d5c6b7a89"].map(Uid::new);
    let [first, second] = &uids;
    let mut kinds = Kinds::new();
    let (pod, version) = (ObjectKey::new("shop", "web-0"), ResourceVersion::new("7"));
    let add = |kinds: &mut Kinds, now: f64, uid: &Uid| {
        let mark_type = MarkType::Added;
        let new = NewMark { key: &pod, uid, mark_type, resource_version: &version, folded: 1, tone: Tone::Plain };
        kinds.marks[0].push(now, new);
    };
    let about = |kinds: &mut Kinds, now: f64, name: &str, uid: Option<&Uid>| {
        let detail = Detail { regarding: "pod/web-0", regarding_uid: uid, ..Detail::default() };
        kinds.push_as(MarkType::Updated, Tone::Plain, (2, now), (&ObjectKey::new("shop", name), detail));
    };
    add(&mut kinds, 1_000.0, second);
    about(&mut kinds, 10_000.0, "of-the-first", Some(first));
    about(&mut kinds, 20_000.0, "of-the-second", Some(second));
    about(&mut kinds, 30_000.0, "of-whichever", None);
    assert_eq!(kinds.rows(40_000.0), ["po shop/web-0", " Events of other objects"]);
    let on_the_lane = |kinds: &mut Kinds, now: f64| {
        let scene = kinds.scene(now);
        let y = scene.lanes[0].as_ref().unwrap().y;
        scene.events.iter().filter(|event| event.y == y).map(|event| event.count).sum::<u64>()
    };
    assert_eq!(on_the_lane(&mut kinds, 40_000.0), 2);
    // Of a lane that has had both objects, both are shown.
    add(&mut kinds, 41_000.0, first);
    assert_eq!((kinds.rows(45_000.0), on_the_lane(&mut kinds, 45_000.0)), (vec!["po shop/web-0".into()], 3));
}

#[test]
fn hostile_events_are_bounded() {
    let mut kinds = Kinds::new();
    kinds.push(0, 0.0, ("shop", "web"), Detail::default());
    for (at, regarding) in ["", "/", "pod/", "pod", "//web", "pod/web/", "\u{202e}/x"].into_iter().enumerate() {
        kinds.event(1_000.0 + at as f64, Tone::Bad, &format!("e{at}"), regarding);
    }
    for at in 0..3_000 {
        kinds.event(2_000.0 + f64::from(at), Tone::Plain, &format!("many-{at}"), "POD/web");
        kinds.event(2_000.0 + f64::from(at), Tone::Plain, &format!("lots-{at}"), "pod/web");
    }
    let scene = kinds.scene(10_000.0);
    let counted: u64 = scene.events.iter().map(|event| event.count).sum();
    assert_eq!(counted, 64, "of very many Events of one object the latest are drawn");
}

#[test]
fn an_event_of_a_list_is_no_mark_of_its_arrival() {
    for (mark_type, count) in [(MarkType::Replaced, 0), (MarkType::Added, 1)] {
        let mut kinds = Kinds::new();
        kinds.push(0, 1_000.0, ("shop", "web"), Detail::default());
        let detail = Detail { regarding: "pod/web", ..Detail::default() };
        kinds.push_as(mark_type, Tone::Bad, (2, 30_000.0), (&ObjectKey::new("shop", "web.1"), detail));
        assert_eq!(kinds.scene(50_000.0).events.len(), count, "{mark_type:?}");
    }
}
