//! The order in which what fails now comes first.

use super::*;
use crate::timeline::store::marks::Detail;

fn set(fixture: &mut Fixture, mark_type: MarkType, (kind, name): Object<'_>, tone: Tone) {
    let (key, uid, resource_version) = (&key((kind, name)), &Uid::new("u"), &ResourceVersion::new("7"));
    let detail = Detail { regarding: if kind == EVENT { "pod/gone" } else { "" }, ..Detail::default() };
    let new = NewMark { key, uid, mark_type, resource_version, folded: 1, tone };
    fixture.marks[kind].push_with(fixture.now, new, detail);
}

#[test]
fn what_fails_now_comes_first_and_stays_in_sight_while_it_is_quiet() {
    let mut fixture = Fixture::new(LanesBy::Object);
    fixture.choice.order = LaneOrder::Worst;
    fixture.view.height = 150.0;
    fixture.now = 1_000.0;
    set(&mut fixture, MarkType::Updated, (POD, "broken"), Tone::Bad);
    set(&mut fixture, MarkType::Updated, (POD, "quiet"), Tone::Good);
    fixture.now = 900_000.0;
    set(&mut fixture, MarkType::Updated, (POD, "starting"), Tone::Wait);
    set(&mut fixture, MarkType::Updated, (EVENT, "broken.1"), Tone::Bad);
    for at in 0..30 {
        set(&mut fixture, MarkType::Updated, (POD, &format!("well-{at}")), Tone::Good);
    }
    let first = |fixture: &mut Fixture| {
        let rows = fixture.rows();
        rows.iter().take(3).cloned().collect::<Vec<_>>()
    };
    let rows = first(&mut fixture);
    assert_eq!(rows[..2], ["po shop/broken", "po shop/starting"]);
    assert!(rows[2].starts_with("po shop/well-"), "{rows:?}");
    // What fails from now on stands above what is well, and others of its kind keep their places.
    fixture.now += 3_000.0;
    set(&mut fixture, MarkType::Updated, (POD, "well-3"), Tone::Bad);
    set(&mut fixture, MarkType::Updated, (POD, "starting"), Tone::Good);
    assert_eq!(first(&mut fixture)[..2], ["po shop/broken", "po shop/well-3"]);
    // What is over, or gone, does not stay.
    fixture.now += 3_000.0;
    set(&mut fixture, MarkType::Deleted, (POD, "broken"), Tone::Bad);
    set(&mut fixture, MarkType::Updated, (POD, "well-3"), Tone::Good);
    assert!(fixture.rows().iter().all(|row| row != "po shop/quiet"));
    fixture.now += 61_000.0;
    assert_eq!(fixture.rows(), Vec::<String>::new());
}

#[test]
fn a_closed_group_is_as_bad_as_the_worst_below_it() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    fixture.choice.order = LaneOrder::Worst;
    fixture.now += 3_000.0;
    fixture.push(MarkType::Updated, (POD, "single"), None, "n-1");
    assert_eq!(fixture.rows()[0], "po shop/single");
    fixture.now += 3_000.0;
    set(&mut fixture, MarkType::Updated, (POD, "web-7c9d-b81kq"), Tone::Bad);
    assert!(fixture.rows()[0].starts_with("▸ deploy shop/web"), "{:?}", fixture.rows());
}
