//! Times of which less is kept than was received.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

use crate::local_time::Offsets;
use crate::timeline::scale::Window;
use crate::timeline::scene::contents::{GapArea, Kept};
use crate::timeline::scene::layout::TimelineView;
use crate::timeline::scene::pointer::lost_at;
use crate::timeline::store::mark::MarkType;
use crate::timeline::store::marks::{Marks, NewMark};
use crate::timeline::{Chart, KindName, Timeline};

const MINUTE: f64 = 60_000.0;
/// 13:00 on some day.
const ONE: f64 = 1_000.0 * 24.0 * 60.0 * MINUTE + 13.0 * 60.0 * MINUTE;

/// Marks one object every second for some minutes after one o'clock.
fn marks(minutes: f64) -> Marks {
    let mut marks = Marks::of_kind("Pod");
    let (key, uid) = (&ObjectKey::new("shop", "web"), &"u".into());
    for second in 0..(minutes * 60.0) as u32 {
        let (mark_type, resource_version) = (MarkType::Updated, &ResourceVersion::new(&second.to_string()));
        let new = NewMark { key, uid, mark_type, resource_version, folded: 1, tone: Tone::Good };
        marks.push(ONE + f64::from(second) * 1_000.0, new);
    }
    marks
}

/// Has the oldest marks go, up to a quarter of all.
fn evict(marks: &mut Marks) {
    let wanted = marks.len() * 3 / 4;
    for budget in (0..marks.charged()).rev().step_by(500) {
        if marks.len() <= wanted {
            return;
        }
        marks.limit(budget);
    }
}

fn draw(chart: &mut Chart, marks: &[&Marks], window: (f64, f64), now: f64) {
    let view = TimelineView {
        width: 1_000.0,
        height: 220.0,
        window: Window { from: window.0, to: window.1 },
        offsets: Offsets::fixed(2.0 * 60.0 * MINUTE),
        ..TimelineView::default()
    };
    chart.draw(marks, &view, now);
}

#[test]
fn what_is_dropped_is_a_span_in_the_lanes_and_in_the_overview() {
    let (mut own, mut chart, now) = (marks(60.0), Chart::default(), ONE + 60.0 * MINUTE);
    let all = (ONE - 10.0 * MINUTE, now);
    draw(&mut chart, &[&own], all, now);
    assert!(chart.scene.gaps.is_empty() && chart.scene.lost.is_empty(), "all is kept");

    chart.texts_since = Some(ONE + 40.0 * MINUTE);
    draw(&mut chart, &[&own], all, now);
    let bounds = |areas: &[GapArea]| {
        let kept = areas
            .iter()
            .map(|area| (((area.from - ONE) / MINUTE).round(), ((area.to - ONE) / MINUTE).round(), area.kept));
        kept.collect::<Vec<_>>()
    };
    assert_eq!(bounds(&chart.scene.gaps), [(0.0, 40.0, Kept::Marks)]);
    assert_eq!(
        (bounds(&chart.scene.lost), &*chart.scene.gaps[0].note),
        (bounds(&chart.scene.gaps), "only marks before 15:40")
    );
    assert_eq!(chart.scene.notes[0].text, "only marks before 15:40");

    evict(&mut own);
    let oldest = own.iter().next().unwrap().at;
    let begin = ((oldest - ONE) / MINUTE).round();
    assert!((14.0..35.0).contains(&begin), "{begin}");
    draw(&mut chart, &[&own], all, now);
    let expected = [(-10.0, begin, Kept::Nothing), (begin, 40.0, Kept::Marks)];
    assert_eq!(bounds(&chart.scene.gaps), expected);
    assert_eq!(bounds(&chart.scene.lost), [(0.0, begin, Kept::Nothing), expected[1]]);
    let note = format!("nothing is kept before 15:{begin:02}, ");
    assert!(chart.scene.gaps[0].note.starts_with(&note), "{}", chart.scene.gaps[0].note);

    // The words are shown wherever the pointer is in the span, beside what else is there.
    let (scene, y) = (chart.scene.clone(), chart.scene.layout.row_y(0));
    let x = |minute: f64| scene.scale.x(ONE + minute * MINUTE);
    assert_eq!(lost_at(&scene, x(38.0), y), Some("only marks before 15:40"));
    assert_eq!((lost_at(&scene, x(45.0), y), lost_at(&scene, 20.0, y)), (None, None));
    let hit = Timeline::new(vec![&own], &chart).hit(x(38.0), y).unwrap();
    assert!(hit.owner().is_some(), "the lane is there: {hit}");
    let hit = Timeline::new(vec![&own], &chart).hit(x(1.0), y).unwrap().to_string();
    assert!(hit.contains(&note), "{hit}");
    let strip = |minute: f64| lost_at(&scene, scene.strip.x(ONE + minute * MINUTE), scene.layout.strip_top + 3.0);
    assert_eq!((strip(38.0), strip(50.0)), (Some("only marks before 15:40"), None));
    assert_eq!(strip(5.0).map(|note| note.contains("nothing is kept before 15:")), Some(true));
    // A window after it shows nothing of it.
    draw(&mut chart, &[&own], (now - MINUTE, now), now);
    assert_eq!((chart.scene.gaps.len(), chart.scene.lost.len()), (0, 2));
}

#[test]
fn as_long_as_one_kind_has_all_its_marks_something_is_kept() {
    let [mut one, two, three] = [marks(60.0), marks(60.0), Marks::of_kind("Node")];
    let names = ["Pods", "Jobs", "Nodes"].map(|title| KindName { short: "x", long: "X", title });
    let (mut chart, now) = (Chart::of(names.to_vec()), ONE + 60.0 * MINUTE);
    evict(&mut one);
    draw(&mut chart, &[&one, &two, &three], (ONE, now), now);
    assert!(chart.scene.gaps[0].note.starts_with("Pods: nothing is kept before 15:"), "{:?}", chart.scene.gaps);
    assert_eq!((chart.scene.gaps.len(), chart.scene.lost.len()), (1, 0));
}
