//! Marks and who wrote them in, groups of managers out.

use std::collections::BTreeMap;

use proptest::prelude::*;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::uid::Uid;

use super::{Fixture, NODE, Object, POD, key, uid};
use crate::kind_id::KindId;
use crate::timeline::Timeline;
use crate::timeline::lanes::index::managers::MOST;
use crate::timeline::lanes::{LaneChoice, LaneOrder, LanesBy, OpenGroups};
use crate::timeline::scale::Window;
use crate::timeline::scene::contents::LaneRow;
use crate::timeline::scene::summary::summary;
use crate::timeline::store::mark::{MarkType, grouped};
use crate::timeline::store::marks::{Marks, NewMark};

/// Marks whose writers are known by their versions.
struct Written {
    fixture: Fixture,
    writers: BTreeMap<String, String>,
    next: u64,
}

impl Written {
    fn new() -> Written {
        let mut fixture = Fixture::new(LanesBy::Manager);
        fixture.now = 100_000.0;
        fixture.choice.order = LaneOrder::Name;
        fixture.view.height = 8_000.0;
        Written { fixture, writers: BTreeMap::new(), next: 1 }
    }

    /// Marks a change, which `writer` made; nobody knows who did if that is empty.
    fn push(&mut self, mark_type: MarkType, object: Object<'_>, writer: &str) {
        let version = self.next.to_string();
        self.next += 1;
        let (key, uid, resource_version) = (&key(object), &Uid::new(&uid(object)), &ResourceVersion::new(&version));
        let mark = NewMark { key, uid, mark_type, resource_version, folded: 1, tone: Tone::Good };
        self.fixture.marks[object.0].push(self.fixture.now, mark);
        self.fixture.now += 1.0;
        if !writer.is_empty() {
            self.writers.insert(version, writer.to_owned());
        }
    }

    /// Asks who wrote at most so many marks. Returns whether some are left.
    fn find(&mut self, most: usize) -> bool {
        let (choice, writers) = (self.fixture.choice.clone(), &self.writers);
        let mut timeline = self.fixture.timeline();
        timeline.choose_lanes(&choice);
        timeline.find_writers(most, &mut |_, mark| {
            writers.get(mark.resource_version.as_str()).cloned().map(|name| (name, false))
        })
    }

    /// The rows, when all is found and counted.
    fn rows(&mut self) -> Vec<String> {
        while self.find(7) {
            assert!(self.fixture.chart.groups.is_behind);
        }
        self.fixture.rows()
    }

    fn shown(&self) -> impl Iterator<Item = &LaneRow> {
        self.fixture.chart.scene.lanes.iter().flatten()
    }
}

#[test]
fn an_object_that_two_managers_write_stands_in_both_with_the_marks_of_each() {
    let mut written = Written::new();
    written.push(MarkType::Added, (POD, "a"), "kubectl");
    for _ in 0..4 {
        for writer in ["kubelet", "kubectl", "kubelet"] {
            written.fixture.now += 4_000.0;
            written.push(MarkType::Updated, (POD, "a"), writer);
        }
    }
    written.push(MarkType::Updated, (NODE, "kubelet-1"), "kubelet");
    assert_eq!(written.rows(), ["▸ manager kubectl 1 added, 4 updated", "▸ manager kubelet 9 updated"]);
    written.fixture.choice.open = OpenGroups::all(true);
    let open = [
        "▾ manager kubectl",
        "  po shop/a 1 added, 4 updated",
        "▾ manager kubelet",
        "  no kubelet-1 1 updated",
        "  po shop/a 8 updated",
    ];
    assert_eq!(written.rows(), open);
    let scene = &written.fixture.chart.scene;
    for (row, count) in [(1, 5), (3, 1), (4, 8)] {
        let y = scene.layout.row_y(row);
        let glyphs: Vec<_> = scene.glyphs.iter().filter(|glyph| glyph.y == y).collect();
        assert_eq!(glyphs.len(), count, "in row {row}");
        for glyph in glyphs {
            let hit = written.fixture.hit(glyph.x, y).unwrap().to_string();
            let version = hit.split("resourceVersion ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
            let writer = if row == 1 { "kubectl" } else { "kubelet" };
            assert_eq!(written.writers[version], writer, "{hit}");
        }
    }
    assert!(!scene.bands.iter().any(|band| band.y == scene.layout.row_y(0)));
    let bands =
        |row: usize| scene.bands.iter().filter(move |band| band.y == scene.layout.row_y(row)).map(|band| band.width);
    assert_eq!(bands(1).collect::<Vec<_>>(), bands(4).collect::<Vec<_>>(), "the states are those of the object");
    let hit = written.fixture.hit(60.0, scene.layout.row_y(2)).unwrap();
    assert_eq!(hit.to_string(), "manager kubelet (inferred), 2 objects");
    let text = summary(scene);
    assert!(
        text.contains("lanes by manager (inferred): manager kubectl, open, 1 object; level 2 Pod shop/a, 1 added, 4"),
        "{text}"
    );
}

#[test]
fn marks_that_stand_close_are_folded_by_manager() {
    let mut written = Written::new();
    for _ in 0..40 {
        written.push(MarkType::Updated, (POD, "a"), "kubectl");
        written.push(MarkType::Updated, (POD, "a"), "kubelet");
        written.push(MarkType::Updated, (POD, "a"), "kubelet");
    }
    written.fixture.now += 10_000.0;
    written.fixture.choice.open = OpenGroups::all(true);
    written.rows();
    let scene = &written.fixture.chart.scene;
    let pills = |row: usize| scene.pills.iter().filter(move |pill| pill.y == scene.layout.row_y(row));
    let counts = |row: usize| pills(row).map(|pill| pill.counts.total()).sum::<u64>();
    assert_eq!((counts(1), counts(3)), (40, 80));
    let pill = pills(3).next().unwrap();
    let hit = written.fixture.hit(pill.x + pill.width / 2.0, pill.y).unwrap().to_string();
    assert!(hit.starts_with("Pod shop/a (uid 2-a): 80 updated within "), "{hit}");
}

#[test]
fn nobody_is_known_where_nobody_is_named() {
    let mut written = Written::new();
    written.push(MarkType::Added, (POD, "a"), "");
    written.push(MarkType::Updated, (POD, "a"), "not known");
    written.fixture.marks[POD].relist(written.fixture.now, "relist");
    // A manager may even have that name.
    let rows = written.rows();
    assert_eq!(rows.len(), 2);
    for row in ["▸ manager not known 1 added", "▸ manager not known 1 updated"] {
        assert!(rows.iter().any(|own| own == row), "{rows:?}");
    }
}

#[test]
fn names_are_bounded_and_what_is_beyond_them_stands_together() {
    let mut written = Written::new();
    for at in 0..10_000 {
        written.push(MarkType::Updated, (POD, &format!("p-{}", at % 90)), &format!("manager-{at}"));
    }
    // The newest marks are asked for first.
    for writer in [&*"m".repeat(100_000), "a/b/c", "\u{202e}<b>", ""] {
        written.push(MarkType::Updated, (POD, "a"), writer);
    }
    let rows = written.rows();
    assert_eq!(rows.len(), 256, "254 managers, the others, and those who are not known");
    assert!(rows.contains(&String::from("▸ manager a/b/c 1 updated")));
    assert!(rows.iter().all(|row| row.chars().count() < 160), "{rows:?}");
    assert!(rows.contains(&String::from("▸ other managers 9,749 updated")), "{rows:?}");
    let counted: u64 = written.shown().map(|row| row.group.as_ref().unwrap().counts.total()).sum();
    assert_eq!(counted, 10_004);
    written.fixture.choice.open.turn("manager:a/b/c");
    let rows = written.rows();
    let at = rows.iter().position(|row| row == "▾ manager a/b/c").expect("the group is open");
    assert_eq!(rows[at + 1], "  po shop/a 1 updated");
}

#[test]
fn objects_are_bounded_and_those_beyond_stand_together() {
    let mut written = Written::new();
    let most = u64::try_from(MOST).unwrap();
    for at in 0..most + 500 {
        // All of them are in the window.
        written.fixture.now = 100_000.0;
        written.push(MarkType::Updated, (POD, &format!("p-{at}")), "kubelet");
    }
    let rows = |written: &mut Written| {
        while written.find(100_000) {}
        written.fixture.rows()
    };
    assert_eq!(rows(&mut written), [format!("▸ manager kubelet {} updated", grouped(most + 500))]);
    let bytes = written.fixture.chart.groups.index.bytes();
    assert!(bytes < 40_000_000, "{bytes}");
    let is_there = |written: &Written, name: &str| written.shown().any(|row| &*row.key.name == name);
    assert_eq!(written.shown().next().unwrap().group.as_ref().unwrap().members as usize, MOST);
    written.fixture.choice.open = OpenGroups::all(true);
    assert_eq!(rows(&mut written)[1], "  other objects 500 updated");
    assert!(!is_there(&written, "p-0"), "the newest were asked for first");
    // When marks are evicted, there is room for new objects, and the rest goes with its marks.
    let last = written.fixture.marks[POD].charged() / 2;
    written.fixture.marks[POD].limit(last);
    written.fixture.now += 10_000.0;
    written.push(MarkType::Updated, (POD, "a"), "kubelet");
    let rows = rows(&mut written);
    assert_eq!(rows[1], "  po shop/a 1 updated", "{:?}", &rows[..3]);
    assert!(!is_there(&written, "other objects"));
}

#[test]
fn evicted_marks_leave_the_counts_of_rows_that_stay() {
    let mut written = Written::new();
    // With room for all of them, in small pieces.
    written.fixture.marks[POD] = Marks::new(20_000);
    written.fixture.choice.open.turn("manager:kubelet");
    for at in 0..400 {
        written.push(MarkType::Updated, (POD, "a"), if at % 2 == 0 { "kubectl" } else { "kubelet" });
    }
    let rows = |count: usize| {
        [
            format!("▸ manager kubectl {count} updated"),
            "▾ manager kubelet".into(),
            format!("  po shop/a {count} updated"),
        ]
    };
    assert_eq!(written.rows(), rows(200));
    let held = written.fixture.marks[POD].charged() / 2;
    written.fixture.marks[POD].limit(held);
    let held = written.fixture.marks[POD].len();
    assert!((2..350).contains(&held), "{held}");
    assert_eq!(written.rows(), rows(held / 2));
}

#[test]
fn what_is_selected_or_kept_stands_whole_on_top() {
    let mut written = Written::new();
    for writer in ["kubectl", "kubelet"] {
        written.fixture.now += 5_000.0;
        written.push(MarkType::Updated, (POD, "a"), writer);
        written.push(MarkType::Updated, (POD, "b"), "kubelet");
    }
    written.fixture.choice.kept = vec![String::from("pods/shop/b"), String::from("manager:kubectl")];
    written.fixture.view.selected = Some((KindId(POD as u8), key((POD, "a"))));
    let rows = ["po shop/a", "★ po shop/b", "★ ▸ manager kubectl 1 updated", "▸ manager kubelet 3 updated"];
    assert_eq!(written.rows(), rows);
    let scene = &written.fixture.chart.scene;
    let glyphs = |row: usize| scene.glyphs.iter().filter(|glyph| glyph.y == scene.layout.row_y(row)).count();
    assert_eq!((glyphs(0), glyphs(1)), (2, 2), "all marks of the object");
    let timeline = Timeline::new(written.fixture.marks.iter().collect(), &written.fixture.chart);
    let words = timeline.group_words_of(KindId(POD as u8), &key((POD, "a")));
    assert_eq!(words.as_deref(), Some("manager:kubelet"), "the group of whoever wrote it last");
    (written.fixture.view.selected, written.fixture.choice.kept) = (None, Vec::new());
    assert_eq!(written.rows().len(), 2);
    let slots = written.fixture.chart.groups.index.tree.slots();
    for at in 0..50 {
        let name = if at % 2 == 0 { "a" } else { "b" };
        written.fixture.view.selected = Some((KindId(POD as u8), key((POD, name))));
        written.fixture.now += 10.0;
        assert_eq!(written.rows().len(), 3);
    }
    assert!(written.fixture.chart.groups.index.tree.slots() <= slots, "places are used again");
}

#[test]
fn the_past_and_the_order_by_churn_know_managers_too() {
    let mut written = Written::new();
    for (writer, count) in [("one", 3), ("two", 5), ("three", 1)] {
        (0..count).for_each(|_| written.push(MarkType::Updated, (POD, "a"), writer));
        written.fixture.now += 100_000.0;
    }
    written.fixture.choice.order = LaneOrder::Churn;
    written.push(MarkType::Updated, (POD, "a"), "three");
    let now = written.fixture.now;
    while written.find(7) {}
    written.fixture.view.window = Window { from: now - 350_000.0, to: now };
    written.fixture.past_scene();
    let all = ["▸ manager two 5 updated", "▸ manager one 3 updated", "▸ manager three 2 updated"];
    assert_eq!(written.fixture.shown(), all);
    written.fixture.choice.order = LaneOrder::LastChange;
    written.fixture.view.window = Window { from: now - 350_000.0, to: now - 150_000.0 };
    written.fixture.past_scene();
    assert_eq!(written.fixture.shown(), all[..2]);
}

#[test]
fn another_grouping_gives_the_memory_back() {
    let mut written = Written::new();
    for at in 0..5_000 {
        written.push(MarkType::Updated, (POD, &format!("p-{}", at % 500)), &format!("manager-{}", at % 7));
    }
    written.rows();
    let by_manager = written.fixture.chart.groups.index.bytes();
    assert!(by_manager >= 5_000 * 4, "{by_manager}");
    assert!(by_manager < 5_000 * 4 * 2 + 7 * 500 * 200, "{by_manager}");
    written.fixture.choice = LaneChoice::default();
    assert!(!written.find(7), "nobody is asked");
    written.fixture.scene();
    assert!(written.fixture.chart.groups.bytes() < 1_000, "{}", written.fixture.chart.groups.bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever happens, and however late it is asked who wrote what, each manager has the marks that it made and that
    /// are held.
    #[test]
    fn each_manager_has_the_marks_that_it_made(
        events in proptest::collection::vec((0usize..3, 0usize..12, 0usize..5, 0usize..4, 0.0f64..40.0, 0usize..60), 1..300),
        budget in prop_oneof![2_000usize..9_000, Just(1 << 20)],
    ) {
        let managers = ["", "kubectl", "kubelet", "a/b"];
        let mut written = Written::new();
        written.fixture.marks = std::array::from_fn(|_| Marks::new(budget));
        let names: Vec<String> = (0..12).map(|at| format!("o-{at}")).collect();
        for (kind, name, mark_type, writer, step, most) in events {
            written.fixture.now += step;
            written.push(MarkType::ALL[mark_type], (kind, &names[name]), managers[writer]);
            if most < 20 {
                written.find(most);
            }
            if most % 7 == 0 {
                let (view, now) = (written.fixture.view.clone(), written.fixture.now);
                written.fixture.timeline().scene(&view, now);
            }
        }
        let mut expected: BTreeMap<(String, usize, String), u64> = BTreeMap::new();
        for (kind, own) in written.fixture.marks.iter().enumerate() {
            for mark in own.iter() {
                let writer = written.writers.get(mark.resource_version.as_str()).map_or("not known", |writer| writer);
                let name = mark.key.unwrap().name.to_string();
                *expected.entry((writer.to_owned(), kind, name)).or_default() += 1;
            }
        }
        written.fixture.choice.open = OpenGroups::all(true);
        written.rows();
        let (mut found, mut manager) = (BTreeMap::new(), String::new());
        for row in written.shown() {
            let group = row.group.as_ref().unwrap();
            match group.open {
                Some(_) => manager = row.key.name.to_string(),
                None => drop(found.insert((manager.clone(), row.kind.index(), row.key.name.to_string()), group.counts.total())),
            }
        }
        prop_assert_eq!(&found, &expected);
        written.fixture.choice.open = OpenGroups::all(false);
        written.rows();
        for row in written.shown() {
            let of = |(manager, ..): &&(String, usize, String)| *manager == *row.key.name;
            let group = row.group.as_ref().unwrap();
            let members = expected.keys().filter(of).count();
            prop_assert_eq!(group.members as usize, members);
            let sum: u64 = expected.iter().filter(|(at, _)| of(at)).map(|(_, count)| count).sum();
            prop_assert_eq!(group.counts.total(), sum);
        }
        let entries = written.fixture.chart.groups.index.tree.slots();
        prop_assert!(entries <= 1 + 4 + 3 * 12 * 4, "{} entries", entries);
    }
}
