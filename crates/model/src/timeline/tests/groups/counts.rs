//! What closed groups count: the marks of the window that are held, and no others.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A scene of the last so many milliseconds, which leaves nothing to the next one.
fn one_scene(fixture: &mut Fixture, span: f64, end: f64) {
    let (choice, now) = (fixture.choice.clone(), fixture.now);
    fixture.view.window = Window { from: end - span, to: end };
    let view = fixture.view.clone();
    let mut timeline = fixture.timeline();
    timeline.choose_lanes(&choice);
    timeline.scene(&view, now);
    assert!(!timeline.is_behind());
}

#[test]
fn evicted_marks_leave_the_counts_with_the_next_scene() {
    let mut fixture = Fixture::new(LanesBy::Kind);
    fixture.marks[POD] = Marks::new(12_000);
    fixture.now = 1.79e12;
    let push = |fixture: &mut Fixture, count: usize| {
        for at in 0..count {
            fixture.now += 20.0;
            let mark_type = if at % 7 == 0 { MarkType::Deleted } else { MarkType::Updated };
            fixture.push(mark_type, (POD, &format!("p-{}", at % 5)), None, "");
            fixture.push(MarkType::Updated, (NODE, "n"), None, "");
        }
    };
    push(&mut fixture, 700);
    assert!(fixture.marks[POD].evicted().total() > 100);
    // More than a scene counts: it would show if all of them were counted anew.
    (0..21_000).for_each(|_| fixture.push(MarkType::Updated, (NODE, "n"), None, ""));
    fixture.view.window = Window { from: fixture.now - 12_000.0, to: fixture.now };
    fixture.past_scene();
    for count in [0, 1, 2, 5, 10, 20, 40, 0, 200, 0, 150] {
        push(&mut fixture, count);
        let (evicted, end) = (fixture.marks[POD].evicted().total(), fixture.now);
        // One that begins before all marks of the kind that are held, and some that begin among them.
        for later in [0.0, 7_000.0, 9_030.0] {
            one_scene(&mut fixture, 12_000.0, end + later);
            check_counts(&fixture).unwrap();
        }
        let held = fixture.marks[POD].charged() - 200;
        fixture.marks[POD].limit(held);
        assert!(fixture.marks[POD].evicted().total() > evicted);
        one_scene(&mut fixture, 12_000.0, end);
        check_counts(&fixture).unwrap();
        if fixture.marks[POD].len() < 100 {
            break;
        }
    }
}

#[test]
fn the_ends_of_a_window_may_lie_among_many_marks() {
    let mut fixture = Fixture::new(LanesBy::Kind);
    // With room for all of them, in small pieces.
    fixture.marks = std::array::from_fn(|_| Marks::new(60_000));
    fixture.now = 1.79e12;
    for at in 0..5_000 {
        fixture.now += 0.01;
        fixture.push(MarkType::Updated, (at % 3, &format!("o-{}", at % 7)), None, "");
    }
    assert!(fixture.marks.iter().all(|own| own.evicted().total() == 0));
    let (last, span) = (fixture.now, 60_000.0);
    fixture.now += 30_000.0;
    fixture.choice.order = LaneOrder::Name;
    fixture.view.window = Window { from: last - span - 100.0, to: last - 100.0 };
    fixture.past_scene();
    // All marks are in one part of the drawing, or in two. An end of the window goes through them and back.
    let there = (0..130).map(f64::from);
    for at in there.clone().chain(there.rev()) {
        for end in [last - 60.0 + at, last - 60.0 + at + span] {
            one_scene(&mut fixture, span, end);
            check_counts(&fixture).unwrap();
        }
    }
    // What is evicted is before the window at first, in the part in which that begins, and then in the window.
    for later in [0.0, 35.0].into_iter().chain(std::iter::repeat(35.0)) {
        fixture.marks.iter_mut().for_each(|own| own.limit(own.charged().saturating_sub(300)));
        one_scene(&mut fixture, span, last - 60.0 + later + span);
        check_counts(&fixture).unwrap();
        if fixture.marks[POD].len() < 100 {
            break;
        }
    }
}

/// The lane of an owner is freed with its marks, while what it owns has some.
#[test]
fn an_owner_whose_marks_are_evicted_is_still_there_by_name() {
    let mut fixture = Fixture::new(LanesBy::Owner);
    fixture.marks[DEPLOYMENT] = Marks::new(1_500);
    fixture.now = 50_000.0;
    fixture.push(MarkType::Updated, (DEPLOYMENT, "web"), None, "");
    fixture.push(MarkType::Added, (REPLICA_SET, "web-1"), Some((DEPLOYMENT, "web")), "");
    assert_eq!(fixture.rows(), ["▸ deploy shop/web 1 added, 1 updated"]);
    while fixture.marks[DEPLOYMENT].has_lane(&key((DEPLOYMENT, "web"))) {
        fixture.push(MarkType::Updated, (DEPLOYMENT, "other"), None, "");
    }
    let rows = fixture.rows();
    assert!(rows.contains(&String::from("▸ Deployment shop/web 1 added")), "{rows:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever came when, whoever owns whom, whatever was evicted, and however one has moved about before: the closed
    /// groups together count each mark of the window once that is held, and open rows are the lanes that have marks in
    /// it.
    #[test]
    fn closed_groups_count_every_mark_once(
        by in prop_oneof![Just(LanesBy::Owner), Just(LanesBy::Node), Just(LanesBy::Namespace), Just(LanesBy::Kind)],
        order in proptest::sample::select(LaneOrder::ALL.to_vec()),
        events in proptest::collection::vec((0usize..3, 0usize..12, 0usize..14, 0usize..5, 0.0f64..4_000.0, any::<bool>()), 1..200),
        budget in prop_oneof![2_000usize..12_000, Just(1 << 20)],
        // How far from the newest mark windows end, in milliseconds.
        ends in proptest::collection::vec(prop_oneof![Just(0.0), 0.0f64..400.0, 0.0f64..90_000.0], 1..8),
    ) {
        let mut fixture = Fixture::new(by);
        fixture.marks = std::array::from_fn(|_| Marks::new(budget));
        fixture.choice.order = order;
        fixture.view.height = 3_000.0;
        fixture.now = 100_000.0;
        for (number, (kind, name, owner, mark_type, step, looks)) in events.into_iter().enumerate() {
            fixture.now += step;
            let owner_name = format!("o-{owner}");
            let owner = (owner < 12).then_some(((kind + owner) % 3, &*owner_name));
            fixture.push(MarkType::ALL[mark_type], (kind, &format!("o-{name}")), owner, &format!("n-{}", name % 3));
            if looks {
                // So long that rows are arranged anew.
                fixture.now += 3_000.0;
                let from = fixture.now - if number < 60 { 60_000.0 } else { 300_000.0 };
                fixture.view.window = Window { from, to: fixture.now };
                fixture.past_scene();
                check_counts(&fixture)?;
            }
        }
        fixture.now += 3_000.0;
        for end in ends {
            let to = fixture.now - end;
            for window in [Window { from: to - 60_000.0, to }, Window { from: to - 10_000.0, to }] {
                fixture.view.window = window;
                fixture.choice.open = OpenGroups::all(false);
                fixture.past_scene();
                check_counts(&fixture)?;
                fixture.choice.open = OpenGroups::all(true);
                fixture.past_scene();
                let mut lanes: BTreeMap<(usize, String), usize> = BTreeMap::new();
                for row in fixture.chart.scene.lanes.iter().flatten().filter(|row| row.kind.index() < KINDS.len()) {
                    *lanes.entry((row.kind.index(), row.key.name.to_string())).or_default() += 1;
                }
                prop_assert!(lanes.values().all(|count| *count == 1), "{:?}", lanes);
                for held in held(&fixture) {
                    prop_assert!(lanes.contains_key(&held), "{:?} is not in {:?}", held, lanes);
                }
            }
        }
    }
}

/// The marks of the window that are held: the kind and the name of each.
fn held(fixture: &Fixture) -> impl Iterator<Item = (usize, String)> {
    let Window { from, to } = fixture.view.window;
    let name = |own: &Marks, mark| own.info(mark).key.map(|key| key.name.to_string());
    let of = move |(kind, own): (usize, _)| {
        let own: &Marks = own;
        own.ring.range(from, to).filter_map(move |mark| Some((kind, name(own, mark)?)))
    };
    fixture.marks.iter().enumerate().flat_map(of)
}

/// Checks the counts of all rows against the marks that are held. Groups are closed.
fn check_counts(fixture: &Fixture) -> Result<(), TestCaseError> {
    let rows = || fixture.chart.scene.lanes.iter().flatten().map(|row| (row, row.group.as_deref().unwrap()));
    let is_single = |held: &(usize, String)| {
        let is_it = |(row, group): (&LaneRow, &GroupRow)| {
            group.open.is_none() && (row.kind.index(), &*row.key.name) == (held.0, &*held.1)
        };
        rows().any(is_it)
    };
    let counted: u64 = rows().map(|(_, group)| group.counts.total()).sum();
    prop_assert_eq!(counted, held(fixture).filter(|held| !is_single(held)).count() as u64);
    if fixture.choice.by == LanesBy::Kind {
        for (row, group) in rows() {
            let kind = NAMES.iter().position(|name| name.title == &*row.key.name).unwrap();
            prop_assert_eq!(group.counts.total(), held(fixture).filter(|held| held.0 == kind).count() as u64);
        }
    }
    // What is drawn is what is counted, unless it is a single mark.
    for (row, group) in rows().filter(|(_, group)| group.open.is_some()) {
        let pills = fixture.chart.scene.pills.iter().filter(|pill| pill.y == row.y);
        let drawn: u64 = pills.map(|pill| pill.counts.total()).sum();
        prop_assert!(drawn <= group.counts.total(), "{} of {:?}", drawn, group.counts);
    }
    Ok(())
}
