//! The parts together: frames in, scenes and hits out.

mod events;
mod groups;
mod lost;
mod states;
mod stream;

use proptest::prelude::*;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

use crate::kind_id::KindId;
use crate::timeline::hit::Hit;
use crate::timeline::scale::{Viewport, Window};
use crate::timeline::scene::contents::Kept;
use crate::timeline::scene::contents::Scene;
use crate::timeline::scene::fold::CHAR;
use crate::timeline::scene::layout::TimelineView;
use crate::timeline::scene::summary::summary;
use crate::timeline::store::mark::{MarkType, Resync};
use crate::timeline::store::marks::{BUDGET, Marks, NewMark};
use crate::timeline::{Chart, Timeline, TimelineMut};

struct Fixture {
    marks: Marks,
    chart: Chart,
    viewport: Viewport,
    view: TimelineView,
}

impl Fixture {
    fn new(budget: usize) -> Fixture {
        let viewport = Viewport::default();
        let view = TimelineView {
            width: 1_000.0,
            height: 220.0,
            window: viewport.window(0.0),
            labels: Some(236.0),
            ..TimelineView::default()
        };
        Fixture { marks: Marks::new(budget), chart: Chart::default(), viewport, view }
    }

    fn push(&mut self, now: f64, mark_type: MarkType, name: &str, uid: &str, tone: Tone) {
        let version = ResourceVersion::new(&format!("{now:.0}"));
        let (key, uid) = (&ObjectKey::new("shop", name), &uid.into());
        self.marks.push(now, NewMark { key, uid, mark_type, resource_version: &version, folded: 1, tone });
    }

    fn scene(&mut self, now: f64) -> &Scene {
        self.view.window = self.viewport.window(now);
        self.chart.draw(&[&self.marks], &self.view, now);
        &self.chart.scene
    }

    fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        Timeline::new(vec![&self.marks], &self.chart).hit(x, y)
    }
}

#[test]
fn a_recreated_name_keeps_both_uids() {
    let mut fixture = Fixture::new(BUDGET);
    let steps =
        [(MarkType::Added, "one"), (MarkType::Deleted, "one"), (MarkType::Added, "two"), (MarkType::Deleted, "")];
    for (index, (mark_type, uid)) in steps.into_iter().enumerate() {
        fixture.push(index as f64 * 2_000.0, mark_type, "ledger-0", uid, Tone::Good);
    }
    let uids: Vec<String> = fixture.marks.iter().map(|mark| mark.uid.to_string()).collect();
    assert_eq!(uids, ["one", "one", "two", "two"]);
    assert!(fixture.marks.iter().all(|mark| &*mark.key.unwrap().name == "ledger-0"));
    let scene = fixture.scene(10_000.0).clone();
    let hits: Vec<_> = scene.glyphs.iter().filter_map(|glyph| fixture.hit(glyph.x, glyph.y)).collect();
    assert_eq!(hits.len(), 4);
    assert!(hits.iter().any(|hit| hit.owner().unwrap().uid == "one"));
}

#[test]
fn the_column_of_labels_has_room_for_each_name() {
    let mut fixture = Fixture::new(BUDGET);
    fixture.view.labels = None;
    let name = "checkout-7c9d8f5b64-frontend-99dt6";
    fixture.push(1_000.0, MarkType::Added, name, "u", Tone::Good);
    let left = fixture.scene(2_000.0).layout.left;
    assert!(left >= (name.len() + "shop ".len()) as f64 * CHAR, "{left}");
    // A name that is much longer than the canvas leaves most of it to the time.
    fixture.push(2_000.0, MarkType::Added, &"long-".repeat(50), "v", Tone::Good);
    assert_eq!(fixture.scene(3_000.0).layout.left, 400.0);
    fixture.view.labels = Some(612.0);
    assert_eq!(fixture.scene(3_000.0).layout.left, 612.0);
    let scene = fixture.scene(3_000.0);
    assert!(scene.glyphs.iter().all(|glyph| glyph.x >= scene.layout.left));
}

#[test]
fn states_are_bands_until_the_object_ends() {
    let mut fixture = Fixture::new(BUDGET);
    fixture.push(0.0, MarkType::Replaced, "a", "u", Tone::Wait);
    fixture.push(70_000.0, MarkType::Updated, "a", "u", Tone::Good);
    fixture.push(80_000.0, MarkType::Updated, "a", "u", Tone::Good);
    fixture.push(90_000.0, MarkType::Deleted, "a", "u", Tone::Good);
    let scene = fixture.scene(100_000.0);
    let found: Vec<_> = scene
        .bands
        .iter()
        .map(|band| (band.tone, scene.scale.time(band.x), scene.scale.time(band.x + band.width)))
        .collect();
    assert_eq!(found, [(Tone::Wait, 40_000.0, 70_000.0), (Tone::Good, 70_000.0, 90_000.0)]);
}

#[test]
fn the_state_before_an_evicted_mark_is_still_known() {
    let mut fixture = Fixture::new(600);
    fixture.push(0.0, MarkType::Added, "a", "u", Tone::Bad);
    for at in 1..20 {
        fixture.push(
            f64::from(at) * 1_000.0,
            MarkType::Updated,
            "a",
            "u",
            if at < 15 { Tone::Bad } else { Tone::Good },
        );
    }
    assert!(fixture.marks.evicted().of(MarkType::Added) == 1);
    let scene = fixture.scene(20_000.0);
    assert_eq!(scene.bands.last().map(|band| band.tone), Some(Tone::Good));
    assert!(scene.gaps.iter().any(|gap| gap.kept == Kept::Nothing && gap.note.ends_with("older marks dropped")));
}

#[test]
fn a_delete_is_drawn_on_top_of_its_fold() {
    let mut fixture = Fixture::new(BUDGET);
    for index in 0..12 {
        fixture.push(50_000.0 + f64::from(index), MarkType::Updated, "a", "u", Tone::Plain);
    }
    fixture.push(50_012.0, MarkType::Deleted, "a", "u", Tone::Plain);
    fixture.push(50_013.0, MarkType::Added, "a", "v", Tone::Plain);
    let scene = fixture.scene(60_000.0);
    assert_eq!(scene.pills.len(), 1);
    assert_eq!(scene.pills[0].counts.of(MarkType::Deleted), 1);
    assert_eq!(scene.pills[0].counts.total(), 14);
    assert_eq!(scene.glyphs.iter().map(|glyph| glyph.mark_type).collect::<Vec<_>>(), [MarkType::Deleted]);
    let (x, y) = (scene.pills[0].x + 20.0, scene.pills[0].y);
    let hit = fixture.hit(x, y).unwrap();
    assert!(hit.to_string().contains("1 added, 12 updated, 1 deleted"), "{hit}");
}

#[test]
fn relists_and_gaps_are_drawn_with_their_words() {
    let mut fixture = Fixture::new(BUDGET);
    fixture.push(30_000.0, MarkType::Updated, "a", "u", Tone::Plain);
    fixture.marks.open_gap(39_000.0, "no connection");
    let scene = fixture.scene(39_500.0);
    assert_eq!((scene.gaps.len(), scene.notes[0].text.as_str()), (1, "no connection"));
    fixture.marks.relist(40_100.0, "relist (410)");
    fixture.marks.gap(39_000.0, 40_200.0, "gap of 1.2 s");
    let scene = fixture.scene(60_000.0).clone();
    assert_eq!(scene.gaps.len(), 1);
    assert_eq!((scene.scale.time(scene.gaps[0].x).round(), scene.gaps[0].to), (39_000.0, 40_200.0));
    assert_eq!(scene.lines.len(), 1);
    assert_eq!(scene.notes.len(), 1);
    assert_eq!(scene.notes[0].text, "relist (410), gap of 1.2 s");
    assert_eq!(summary(&scene), "Last 60 s: 1 updated; 1 relist, 1 gap. shop/a");
    let hit = fixture.hit(scene.lines[0].x, scene.layout.bottom - 2.0).unwrap();
    assert!(matches!(&hit, Hit::Stream { note, .. } if note == "relist (410)"), "{hit}");
    assert_eq!(fixture.marks.iter().last().unwrap().from, 39_000.0);
}

fn resync(count: u64, settled: f64) -> Resync {
    Resync { namespace: "".into(), count, since: 0.0, settled }
}

/// A resync is one mark, drawn in the lane of each object on the screen that was replayed.
#[test]
fn a_resync_is_one_mark_that_each_lane_in_sight_shows() {
    let mut fixture = Fixture::new(BUDGET);
    for (at, mark_type, name) in [
        (10_000.0, MarkType::Replaced, "told"),
        (10_000.0, MarkType::Replaced, "gone"),
        (20_000.0, MarkType::Deleted, "gone"),
        (20_000.0, MarkType::Replaced, "changed"),
        (40_000.0, MarkType::Updated, "changed"),
    ] {
        fixture.push(at, mark_type, name, "u", Tone::Good);
    }
    // The queue was empty last before the change.
    fixture.marks.resync(40_000.0, resync(150_000, 39_990.0));
    fixture.push(45_000.0, MarkType::Added, "later", "u", Tone::Good);
    fixture.push(46_000.0, MarkType::Updated, "told", "u", Tone::Bad);
    let scene = fixture.scene(60_000.0).clone();
    let lane = |y: f64| scene.lanes.iter().flatten().find(|lane| lane.y == y).unwrap().key.name.to_string();
    let glyphs: Vec<_> = scene.glyphs.iter().filter(|glyph| glyph.mark_type == MarkType::Sync).collect();
    assert_eq!(glyphs.iter().map(|glyph| lane(glyph.y)).collect::<Vec<_>>(), ["told"]);
    assert_eq!((fixture.marks.len(), scene.lanes.iter().flatten().count()), (8, 4));
    assert_eq!(
        summary(&scene),
        "Last 60 s: 1 added, 2 updated, 1 deleted, 3 replaced; 1 resync. shop/told; shop/later; shop/changed; shop/gone deleted"
    );
    // A resync changes no state.
    let bands = scene.bands.iter().filter(|band| lane(band.y) == "told");
    assert_eq!(bands.map(|band| band.tone).collect::<Vec<_>>(), [Tone::Good, Tone::Bad]);
    let hit = fixture.hit(glyphs[0].x, glyphs[0].y).unwrap();
    assert_eq!(hit.to_string(), "◇ Sync shop/told (uid u), resync: 150,000 objects replayed, 20 s ago");
    assert_eq!((hit.owner().unwrap().uid.to_string(), hit.at()), ("u".into(), Some(40_000.0)));
    let mark = fixture.marks.iter().find(|mark| mark.mark_type == MarkType::Sync).unwrap();
    assert_eq!((mark.key, mark.folded, mark.resync.unwrap().count), (None, 150_000, 150_000));
}

#[test]
fn a_resync_has_its_own_place_and_time() {
    let mut fixture = Fixture::new(BUDGET);
    fixture.push(10_000.0, MarkType::Replaced, "a", "u", Tone::Plain);
    let own = resync(1, 20_000.0);
    let others = [Resync { namespace: "other".into(), ..own.clone() }, Resync { since: 15_000.0, ..own.clone() }];
    for other in others {
        fixture.marks.resync(20_000.0, other);
    }
    let key = ObjectKey::new("shop", "a");
    assert_eq!(fixture.marks.resyncs_since_change(&key), None);
    fixture.marks.resync(21_000.0, Resync { namespace: "shop".into(), ..own.clone() });
    fixture.marks.resync(22_000.0, own.clone());
    assert_eq!(fixture.marks.resyncs_since_change(&key), Some((2, 22_000.0)));
    let scene = fixture.scene(60_000.0).clone();
    assert_eq!(scene.glyphs.iter().filter(|glyph| glyph.mark_type == MarkType::Sync).count(), 2);
    fixture.push(30_000.0, MarkType::Updated, "a", "u", Tone::Plain);
    assert_eq!(fixture.marks.resyncs_since_change(&key), None);
    assert_eq!(fixture.marks.resyncs_since_change(&ObjectKey::new("shop", "b")), None);
}

/// However many resyncs there are, they hide no change, and stay when the marks before them are evicted.
#[test]
fn resyncs_hide_nothing_and_of_those_that_are_near_one_is_drawn() {
    let mut fixture = Fixture::new(3_500);
    fixture.push(0.0, MarkType::Replaced, "a", "u", Tone::Bad);
    let key = ObjectKey::new("shop", "a");
    for at in 1..60 {
        fixture.push(f64::from(at), MarkType::Updated, "b", "u", Tone::Plain);
    }
    assert!(!fixture.marks.has_lane(&key), "its mark is evicted");
    fixture.marks.attend(&key, &"u".into(), Tone::Bad);
    for at in 0..10 {
        fixture.marks.resync(52_000.0 + 100.0 * f64::from(at), resync(2, 51_000.0));
    }
    assert_eq!(fixture.marks.resyncs_since_change(&key), Some((10, 52_900.0)));
    fixture.view.selected = Some((KindId::ONLY, key));
    let drawn = |fixture: &mut Fixture, now: f64| {
        let scene = fixture.scene(now).clone();
        let glyphs = scene.glyphs.iter().filter(|glyph| glyph.y == scene.layout.row_y(0));
        let seqs: Vec<u64> = glyphs.filter(|glyph| glyph.mark_type == MarkType::Sync).map(|glyph| glyph.seq).collect();
        (seqs, scene)
    };
    let (seqs, scene) = drawn(&mut fixture, 60_000.0);
    // Twelve pixels are a second, so that ten resyncs take the place of one or two.
    assert!((1..=2).contains(&seqs.len()), "{seqs:?}");
    let glyph = scene.glyphs.iter().find(|glyph| glyph.seq == seqs[0]).unwrap();
    let hit = fixture.hit(glyph.x, glyph.y).unwrap().to_string();
    assert!(hit.starts_with("◇ Sync shop/a (uid u), resync: 2 objects replayed, "), "{hit}");
    assert_eq!(drawn(&mut fixture, 61_234.5).0, seqs, "the same, wherever the window is");
    assert_eq!(scene.bands.first().map(|band| band.tone), Some(Tone::Bad));

    // A pill counts what changed, and stands where it would without the resync.
    let mut fixture = Fixture::new(BUDGET);
    for at in [0.0, 1.0, 2.0] {
        fixture.push(50_000.0 + at, MarkType::Updated, "a", "u", Tone::Plain);
    }
    fixture.marks.resync(50_100.0, resync(1, 50_050.0));
    fixture.push(50_200.0, MarkType::Deleted, "a", "u", Tone::Plain);
    let scene = fixture.scene(60_000.0).clone();
    assert_eq!((scene.pills.len(), scene.pills[0].counts.total(), scene.pills[0].mark_type), (1, 4, MarkType::Updated));
    assert!(scene.glyphs.iter().all(|glyph| glyph.mark_type == MarkType::Deleted), "{:?}", scene.glyphs);
}

#[test]
fn hostile_names_stay_text() {
    let mut fixture = Fixture::new(BUDGET);
    let name = "<img src=x onerror=alert(1)>\u{202e}\n";
    fixture.push(1.0, MarkType::Added, name, "<b>uid</b>", Tone::Plain);
    fixture.marks.relist(2.0, "<script>");
    let scene = fixture.scene(10.0).clone();
    assert_eq!(&*scene.lanes[0].as_ref().unwrap().key.name, name);
    let hit = fixture.hit(10.0, scene.layout.row_y(0)).unwrap();
    assert!(hit.to_string().starts_with("shop/<img src=x onerror=alert(1)>"), "{hit}");
}

#[test]
fn the_header_counts_the_last_minute_by_type() {
    let mut fixture = Fixture::new(400);
    for index in 0..100 {
        fixture.push(f64::from(index) * 1_000.0, MarkType::Updated, "a", "u", Tone::Plain);
    }
    let counts = fixture.marks.counts_since(99_000.0 - 60_000.0);
    assert_eq!(counts.of(MarkType::Updated), 61, "evicted marks count");
    assert!(fixture.marks.len() < 10);
}

#[test]
fn scenes_are_due_when_something_moved() {
    let mut fixture = Fixture::new(BUDGET);
    let now = 100_000.0;
    fixture.scene(now);
    let due = |fixture: &Fixture, now: f64| {
        fixture.chart.is_due(
            &[&fixture.marks],
            &TimelineView { window: fixture.viewport.window(now), ..fixture.view.clone() },
            now,
        )
    };
    assert!(!due(&fixture, now + 70.0), "less than a pixel");
    assert!(due(&fixture, now + 140.0));
    fixture.push(now, MarkType::Added, "a", "u", Tone::Plain);
    assert!(!due(&fixture, now + 20.0) && due(&fixture, now + 140.0));
    fixture.view.scroll = 1;
    assert!(due(&fixture, now + 1.0));
}

#[test]
fn a_picture_in_which_nothing_moves_is_painted_once() {
    let mut fixture = Fixture::new(BUDGET);
    fixture.push(100_000.0, MarkType::Added, "a", "u", Tone::Good);
    let looks_new = |fixture: &mut Fixture, now: f64| {
        fixture.scene(now);
        TimelineMut::new(vec![&fixture.marks], &mut fixture.chart).take_looks_new()
    };
    assert!(looks_new(&mut fixture, 101_000.0) && !looks_new(&mut fixture, 101_001.0), "not a quarter of a pixel");
    assert!((102..160).all(|second| looks_new(&mut fixture, f64::from(second) * 1_000.0)), "the mark moves");
    assert!(fixture.chart.scene.moves());
    // Afterwards only the overview moves on, by a column at a time: here one of almost five seconds.
    let later = (720..780).filter(|second| looks_new(&mut fixture, f64::from(*second) * 1_000.0)).count();
    assert!(later <= 13 && !fixture.chart.scene.moves(), "painted {later} times: {:?}", fixture.chart.scene);
    let column = fixture.chart.scene.strip.ms_per_pixel() * 3.0;
    assert!((4_000.0..6_000.0).contains(&column), "{column}");
    fixture.push(780_000.0, MarkType::Updated, "a", "u", Tone::Bad);
    assert!(looks_new(&mut fixture, 781_000.0), "and a change is seen");
    // What stands still is compared with what was painted, and not with the scene before.
    let moves = (0..40).filter(|step| looks_new(&mut fixture, 781_000.0 + 5.0 * f64::from(*step))).count();
    assert!((2..20).contains(&moves), "{moves} of 40 steps that are each too small to be seen");
}

#[test]
fn objects_that_come_and_go_leave_no_memory_behind() {
    let mut fixture = Fixture::new(64 << 10);
    let mut at = 0.0;
    let mut sizes = Vec::new();
    for round in 0..20 {
        for index in 0..1_000 {
            at += 1.0;
            let name = format!("pod-{round}-{index}");
            fixture.push(at, MarkType::Added, &name, &name, Tone::Wait);
            fixture.push(at, MarkType::Deleted, &name, &name, Tone::Bad);
        }
        fixture.scene(at);
        sizes.push(fixture.marks.bytes() + fixture.chart.bytes());
        assert!(fixture.marks.ring.bytes() + fixture.marks.lanes.charged() <= 64 << 10);
    }
    // Marks go by the chunk, so that the size goes up and down a little.
    let (early, late) = sizes.split_at(10);
    assert!(late.iter().max() < early.iter().max().map(|most| most + 1_000).as_ref(), "{sizes:?}");
    let evicted = fixture.marks.evicted();
    assert_eq!(evicted.total() as usize + fixture.marks.len(), 40_000);
}

/// A block of marks on both sides of a gap is not drawn as one fold.
#[test]
fn two_bursts_of_one_lane_are_two_pills() {
    let mut fixture = Fixture::new(BUDGET);
    let cell = 64.0 * 60_000.0 / fixture.scene(0.0).scale.width;
    let begin = 10.0 * cell;
    let times = (0..82).map(|index| begin + f64::from(index) * 25.0 + if index < 70 { 0.0 } else { 2_400.0 });
    times.for_each(|at| fixture.push(at, MarkType::Updated, "a", "u", Tone::Good));
    let scene = fixture.scene(60_000.0);
    assert_eq!(scene.pills.iter().map(|pill| pill.counts.total()).collect::<Vec<_>>(), [70, 12]);
}

#[test]
fn states_that_change_often_are_bands_of_their_own() {
    let mut fixture = Fixture::new(BUDGET);
    let cell = 64.0 * 60_000.0 / fixture.scene(0.0).scale.width;
    for index in 0..32_u32 {
        let tone = if (index / 6).is_multiple_of(2) { Tone::Good } else { Tone::Wait };
        fixture.push(10.0 * cell + f64::from(index) * 125.0, MarkType::Updated, "a", "u", tone);
    }
    let tones: Vec<Tone> = fixture.scene(60_000.0).bands.iter().map(|band| band.tone).collect();
    assert_eq!(tones, [Tone::Good, Tone::Wait].repeat(3));
}

/// One delete among a million updates is drawn, and every frame is counted in a pill, at every zoom.
#[test]
fn a_delete_among_a_million_updates_is_drawn() {
    let mut fixture = Fixture::new(BUDGET);
    for at in 0..1_000_000_u32 {
        let mark_type = if at == 456_789 { MarkType::Deleted } else { MarkType::Updated };
        fixture.push(f64::from(at) * 0.6, mark_type, "a", "u", Tone::Good);
    }
    let (now, deleted) = (600_000.0, 456_789.0 * 0.6);
    for span in [600_000.0, 60_000.0, 6_000.0, 2_000.0] {
        for part in [0.1, 0.5, 0.9] {
            let window = Window { from: deleted - span * part, to: deleted + span * (1.0 - part) };
            fixture.view.window = window;
            fixture.chart.draw(&[&fixture.marks], &fixture.view, now);
            let scene = &fixture.chart.scene;
            let crosses: Vec<_> = scene.glyphs.iter().filter(|glyph| glyph.mark_type == MarkType::Deleted).collect();
            assert_eq!(crosses.iter().map(|cross| cross.seq).collect::<Vec<_>>(), [456_790], "{window:?}");
            let off = crosses[0].x - scene.scale.x(deleted);
            assert!((-1.0..64.0).contains(&off), "{off} pixels off");
            let inside = (0..1_000_000).filter(|at| window.contains(f64::from(*at) * 0.6)).count() as u64;
            assert_eq!(scene.pills.iter().map(|pill| pill.counts.total()).sum::<u64>(), inside);
            assert_eq!(scene.bands.len(), 2, "before and after it");
            let spots = scene.pills.len() + scene.glyphs.len();
            assert!(spots < 60, "{spots}");
            let taken = fixture.chart.scratch.spots.len();
            assert!(taken < 2_000, "{taken} blocks and marks were looked at");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_drawn_is_found_and_no_delete_is_hidden(
        budget in 500usize..40_000,
        steps in proptest::collection::vec((0.0f64..900.0, 0usize..5, 0usize..12, 0usize..4), 1..300),
        // In dense streams of few names and types, blocks are taken as a whole.
        (pace, names, types) in prop_oneof![
            Just((1.0, 12, 5)), (0.01f64..0.3, 1usize..3, 2usize..6), Just((0.05, 1, 3)), Just((0.2, 2, 3)), Just((0.3, 1, 2))
        ],
        // After how many marks the state changes; with each one, for 0.
        steady in prop_oneof![Just(0usize), Just(5), Just(11), Just(40)],
        hold in any::<bool>(),
        behind in 0.0f64..30_000.0,
    ) {
        let mut fixture = Fixture::new(budget);
        let mut at = 1_000.0;
        for (index, (step, mark_type, name, tone)) in steps.iter().enumerate() {
            at += step * pace;
            if pace < 1.0 && *step > 880.0 {
                at += 6_000.0;
            }
            let (name, mark_type) = (name % names, mark_type % types.min(5));
            let tone = index.checked_div(steady).map_or(*tone, |part| part % 4);
            let tone = [Tone::Plain, Tone::Good, Tone::Wait, Tone::Bad][tone];
            fixture.push(at, MarkType::ALL[mark_type], &format!("n{name}"), &format!("u{}", name % 3), tone);
            if step > &850.0 {
                fixture.view.hold = hold;
                fixture.scene(at);
            }
        }
        fixture.view.hold = false;
        fixture.viewport.pan(at, -behind);
        let scene = fixture.scene(at + 10_000.0).clone();
        let (left, right) = (scene.scale.left - 1e-6, scene.scale.left + scene.scale.width + 1e-6);
        for glyph in &scene.glyphs {
            prop_assert!(left <= glyph.x && glyph.x <= right + 5.0);
            let hit = fixture.hit(glyph.x, glyph.y);
            let found = matches!(hit, Some(Hit::Mark { .. } | Hit::Fold { .. }));
            prop_assert!(found, "{:?}", hit);
        }
        for pill in &scene.pills {
            prop_assert!(pill.x + pill.width <= right + 8.0);
        }
        for band in &scene.bands {
            prop_assert!((band.tone != Tone::Plain || !band.word.is_empty() || band.changing) && left <= band.x && band.x + band.width <= right + 1.0);
        }
        for row in scene.lanes.iter().flatten() {
            let mine = fixture.marks.iter().filter(|mark| mark.key == Some(&row.key));
            let mine = mine.filter(|mark| scene.scale.window.contains(mark.at));
            let (mut frames, mut deletes, mut all) = (0, Vec::new(), Vec::new());
            for mark in mine {
                let is_live = mark.mark_type != MarkType::Deleted;
                all.push((mark.sequence, scene.scale.x(mark.at), is_live.then_some(mark.tone)));
                frames += u64::from(mark.folded);
                if mark.mark_type == MarkType::Deleted {
                    deletes.push(scene.scale.x(mark.at));
                }
            }
            let pills: u64 = scene.pills.iter().filter(|pill| pill.y == row.y).map(|pill| pill.counts.total()).sum();
            let on_pill = |glyph: &&crate::timeline::scene::contents::Glyph| scene.pills.iter().any(|pill| {
                pill.y == glyph.y && (pill.first..=pill.last).contains(&glyph.seq)
            });
            let single = scene.glyphs.iter().filter(|glyph| glyph.y == row.y && !on_pill(glyph)).count() as u64;
            prop_assert_eq!(pills + single, frames);
            for pair in all.windows(2) {
                let [(before, left, _), (seq, right, _)] = [pair[0], pair[1]];
                // No number of a pill reaches so far.
                let together = |pill: &crate::timeline::scene::contents::Pill| pill.first <= before && seq <= pill.last;
                prop_assert!(right - left < 52.0 || !scene.pills.iter().filter(|pill| pill.y == row.y).any(together));
            }
            // A state that lasts five pixels has a band, and there is no other one.
            all.dedup_by_key(|(.., state)| *state);
            for pair in all.windows(2) {
                let [(_, left, state), (_, right, _)] = [pair[0], pair[1]];
                let middle = (left + right) / 2.0;
                let mut bands = scene.bands.iter().filter(|band| band.y == row.y);
                let band = bands.find(|band| band.x <= middle && middle <= band.x + band.width);
                let state = state.filter(|tone| *tone != Tone::Plain);
                prop_assert!(right - left < 5.0 || band.map(|band| band.tone) == state, "{:?} at {}", band, middle);
            }
            for x in deletes {
                let mut crosses = scene.glyphs.iter().filter(|glyph| glyph.mark_type == MarkType::Deleted);
                prop_assert!(crosses.any(|glyph| glyph.y == row.y && -9.0 < glyph.x - x && glyph.x - x < 64.0));
            }
        }
    }
}
