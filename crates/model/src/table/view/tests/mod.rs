//! The view against a plain sorted and filtered vector, and what it does with single changes.

mod provisional;
mod several;

use proptest::prelude::*;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::ResourceVersion;

use super::*;
use crate::table::view::frozen::AROUND;
use kubechurn_columns::column::Column;

const RETENTION: f64 = 10_000.0;

fn object(name: &str, ready: i64, version: u32) -> Arc<Object> {
    Arc::new(Object {
        key: ObjectKey::new("shop", name),
        uid: format!("uid-{name}").into(),
        resource_version: ResourceVersion::new(&version.to_string()),
        owners: None,
        cells: [Cell::Number(ready), Cell::Static("Running")].into(),
        flaw: None,
        extra: None,
    })
}

fn filter(text: &str) -> Filter {
    Filter::parse(text, &[Column::figures("READY"), Column::words("STATUS")]).unwrap()
}

fn added(name: &str, ready: i64) -> Change {
    Change::Added { new: object(name, ready, 1), listed: false, folded: 1 }
}

fn updated(name: &str, from: i64, to: i64) -> Change {
    Change::Updated { old: object(name, from, 1), new: object(name, to, 2), folded: 1 }
}

fn deleted(name: &str) -> Change {
    Change::Deleted { last: object(name, 0, 3), folded: 1, final_state_unknown: false }
}

fn names(view: &TableView) -> Vec<String> {
    let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
    rows.map(|row| format!("{}{}", row.object.key.name, if row.deleted_at().is_some() { "†" } else { "" })).collect()
}

/// How many rows of deleted objects there are, and how many went before their time.
fn retained(view: &TableView) -> (usize, usize) {
    (view.deleted().len(), view.deleted().crowded_out())
}

fn view(changes: &[Change]) -> TableView {
    let mut view = TableView::default();
    changes.iter().for_each(|change| view.apply(change, 0.0));
    view
}

#[test]
fn a_deleted_row_lingers_in_its_place_beside_its_successor_and_then_goes() {
    let mut view = view(&[added("a", 1), added("b", 1), added("c", 1)]);
    view.apply(&deleted("b"), 1000.0);
    assert_eq!((names(&view), view.counts()), (vec!["a".into(), "b†".into(), "c".into()], (2, 2)));
    view.apply(&added("b", 0), 2000.0);
    assert_eq!((names(&view).len(), view.counts()), (4, (3, 3)));
    view.expire(1000.0 + RETENTION);
    assert_eq!(names(&view), ["a", "b", "c"]);
    view.apply(&added("d", 0), 20_000.0);
    assert_eq!(names(&view), ["a", "b", "c", "d"]);
}

#[test]
fn rows_move_when_the_value_they_are_sorted_by_changes() {
    let mut view = view(&[added("a", 1), added("b", 2), added("c", 3)]);
    view.sort_by(Sort { key: SortKey::Column(0), descending: true });
    assert_eq!(names(&view), ["c", "b", "a"]);
    view.apply(&updated("a", 1, 9), 5.0);
    assert_eq!(names(&view), ["a", "c", "b"]);
    view.sort_by(Sort { key: SortKey::Changed, descending: false });
    view.apply(&updated("b", 2, 3), 6.0);
    view.apply(&deleted("c"), 7.0);
    assert_eq!(names(&view), ["c†", "b", "a"]);
}

#[test]
fn a_filter_follows_the_rows_through_their_changes() {
    let mut view = view(&[added("web-1", 1), added("web-2", 2), added("db", 3)]);
    view.filter_by(filter("  WEB run "));
    assert_eq!((names(&view), view.counts()), (vec!["web-1".into(), "web-2".into()], (2, 3)));
    view.filter_by(filter("9"));
    view.apply(&updated("db", 3, 9), 1.0);
    assert_eq!((names(&view), view.counts()), (vec!["db".into()], (1, 3)));
    view.apply(&updated("db", 9, 8), 2.0);
    assert_eq!((names(&view).len(), view.counts()), (0, (0, 3)));
    view.filter_by(filter(""));
    assert_eq!(view.counts(), (3, 3));
}

#[test]
fn what_has_no_row_does_not_balance() {
    let balances = |changes: &[Change]| view(changes).is_balanced();
    assert!(balances(&[added("a", 1), updated("a", 1, 2), deleted("a"), added("a", 1)]));
    assert!(!balances(&[deleted("a")]) && !balances(&[updated("a", 1, 2)]));
    let mut view = view(&[added("web-1", 1), added("db", 3)]);
    view.filter_by(filter("web"));
    assert!(view.is_balanced());
    view.arranged.shown = None;
    view.arranged.verdicts.live_shown = 2;
    assert!(!view.is_balanced(), "one that is neither shown nor hidden");
}

#[test]
fn nothing_moves_while_the_table_is_frozen() {
    let mut view = view(&[added("b", 1), added("d", 1)]);
    view.freeze(0, 10);
    view.apply(&added("a", 1), 1.0);
    view.apply(&deleted("b"), 2.0);
    view.expire(2.0 + RETENTION);
    assert_eq!((names(&view), view.waiting()), (vec!["b†".into(), "d".into()], 1));
    view.unfreeze();
    view.expire(2.0 + RETENTION);
    assert_eq!((names(&view), view.waiting()), (vec!["a".into(), "d".into()], 0));
}

#[test]
fn a_new_choice_applies_at_once_to_rows_that_linger_and_never_to_what_is_frozen() {
    let mut view = view(&[added("a", 1), added("b", 1), added("c", 1)]);
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        view.apply(&deleted(name), 1_000.0 * at as f64);
    }
    for (retention, now, expected) in [
        (Retention::TenSeconds, 9_999.0, vec!["a†", "b†", "c"]),
        (Retention::Minute, 50_000.0, vec!["a†", "b†", "c"]),
        (Retention::UntilDismissed, 1e12, vec!["a†", "b†", "c"]),
        (Retention::FiveMinutes, 300_999.0, vec!["b†", "c"]),
        (Retention::TwoSeconds, 301_000.0, vec!["c"]),
    ] {
        view.retain_for(retention);
        view.expire(now);
        assert_eq!(names(&view), expected, "{retention:?} at {now}");
    }
    view.retain_for(Retention::AtOnce);
    view.freeze(0, 10);
    view.apply(&deleted("c"), 302_000.0);
    view.expire(302_000.0);
    assert_eq!(names(&view), ["c†"], "what is frozen stays, marked");
    view.unfreeze();
    view.expire(302_000.0);
    assert!(names(&view).is_empty() && retained(&view) == (0, 0));
}

#[test]
fn deleted_rows_that_stay_are_bounded_counted_and_dismissed() {
    let mut view = TableView::default();
    view.retain_for(Retention::UntilDismissed);
    for number in 0..MOST + 3 {
        let name = format!("a-{number:02}");
        view.apply(&added(&name, 1), 0.0);
        view.apply(&deleted(&name), number as f64);
        view.expire(number as f64);
    }
    view.apply(&added("b", 1), 100.0);
    assert_eq!((retained(&view), &*names(&view)[0]), ((MOST, 3), "a-03†"), "the oldest went");
    view.retain_for(Retention::UntilDismissed);
    assert_eq!(retained(&view).1, 3, "the same choice is no new one");
    view.filter_by(filter("b"));
    view.freeze(0, 10);
    view.dismiss();
    assert_eq!((retained(&view), view.counts(), names(&view)), ((0, 0), (1, 1), vec!["b".into()]));
    view.filter_by(filter(""));
    assert_eq!((names(&view), view.rows().len()), (vec!["b".into()], 1));
}

#[test]
fn an_update_says_which_cells_changed() {
    let mut view = view(&[added("a", 1)]);
    view.apply(&updated("a", 1, 2), 1.0);
    let row = view.row(view.find(KindId::ONLY, &ObjectKey::new("shop", "a")).unwrap()).unwrap();
    assert_eq!((row.changed, row.delta), (0b01, DeltaType::Updated));
}

/// A step: a change of the store, something that the user does, or a slice of work.
#[derive(Clone, Debug)]
enum Step {
    Put(u8, i64),
    Delete(u8),
    Expire,
    Retention(Retention),
    Dismiss,
    Sort(usize, bool),
    Filter(&'static str),
    Work(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let filters =
        prop_oneof![Just(""), Just("1"), Just("12"), Just("web"), Just("web !1"), Just("READY:2"), Just("/-.[05]/")];
    let step = prop_oneof![
        6 => (0..60_u8, 0..20_i64).prop_map(|(name, ready)| Step::Put(name, ready)),
        2 => (0..60_u8).prop_map(Step::Delete),
        1 => Just(Step::Expire),
        1 => proptest::sample::select(&Retention::ALL[..]).prop_map(Step::Retention),
        1 => Just(Step::Dismiss),
        1 => (0..4_usize, any::<bool>()).prop_map(|(key, descending)| Step::Sort(key, descending)),
        1 => filters.prop_map(Step::Filter),
        3 => (1..6_u8).prop_map(Step::Work),
    ];
    proptest::collection::vec(step, 0..250)
}

/// Name, number and time of a row, and whether its object lives.
type Plain = (String, i64, u64, bool);

/// The rows that should be shown, in order. Rows that the sort does not distinguish may stand in another order.
fn plain(rows: &[Plain], sort: Sort, filter: &str) -> Vec<Plain> {
    let mut rows: Vec<Plain> = rows
        .iter()
        .filter(|(name, ready, ..)| match filter {
            "" => true,
            "web" => name.contains("web"),
            "web !1" => name.contains("web") && !name.contains('1') && !ready.to_string().contains('1'),
            "READY:2" => ready.to_string().contains('2'),
            "/-.[05]/" => name.ends_with('0') || name.ends_with('5'),
            word => name.contains(word) || ready.to_string().contains(word),
        })
        .cloned()
        .collect();
    rows.sort_by(|a, b| {
        let by = match sort.key {
            SortKey::Column(0) => a.1.cmp(&b.1),
            SortKey::Changed => b.2.cmp(&a.2),
            SortKey::Column(_) => std::cmp::Ordering::Equal,
            _ => a.0.cmp(&b.0),
        };
        let by = if sort.descending { by.reverse() } else { by };
        by.then_with(|| a.0.cmp(&b.0)).then_with(|| a.cmp(b))
    });
    rows
}

/// The first `count` rows that the view shows.
fn shown(view: &TableView, count: usize) -> Vec<Plain> {
    let rows = view.window(0, count).into_iter().map(|id| {
        let row = view.row(id).expect("what is shown is there");
        let Some(kubechurn_client::api::cell::CellRef::Number(ready)) = row.object.cells.get(0) else {
            panic!("{row:?}")
        };
        (row.object.key.name.to_string(), ready, row.changed_at as u64, row.deleted_at().is_none())
    });
    rows.collect()
}

/// Whether both are the same rows, in orders that differ only where the sort does not decide.
fn agrees(one: &[Plain], two: &[Plain], sort: Sort) -> bool {
    let key = |row: &Plain| match sort.key {
        SortKey::Column(0) => (row.1 as u64, row.0.clone()),
        SortKey::Changed => (row.2, row.0.clone()),
        _ => (0, row.0.clone()),
    };
    let sorted = |rows: &[Plain]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    one.iter().map(key).eq(two.iter().map(key)) && sorted(one) == sorted(two)
}

proptest! {
    /// Changes may arrive between any two slices, and the slices may end anywhere.
    #[test]
    fn a_view_made_in_slices_ends_as_a_plain_sorted_and_filtered_vector(steps in steps()) {
        let mut view = TableView::default();
        let mut rows: Vec<Plain> = Vec::new();
        let mut now = 0_u64;
        let (mut sort, mut text) = (Sort::default(), "");
        for step in steps {
            now += 400;
            match step {
                Step::Put(number, ready) => {
                    let name = format!("{}-{number:02}", if number % 2 == 0 { "web" } else { "db" });
                    match rows.iter_mut().find(|row| row.0 == name && row.3) {
                        Some(row) => {
                            view.apply(&updated(&name, row.1, ready), now as f64);
                            (row.1, row.2) = (ready, now);
                        }
                        None => {
                            view.apply(&added(&name, ready), now as f64);
                            rows.push((name, ready, now, true));
                        }
                    }
                }
                Step::Delete(number) => {
                    let name = format!("{}-{number:02}", if number % 2 == 0 { "web" } else { "db" });
                    if let Some(row) = rows.iter_mut().find(|row| row.0 == name && row.3) {
                        view.apply(&deleted(&name), now as f64);
                        (row.2, row.3) = (now, false);
                    }
                }
                Step::Expire => {
                    view.expire(now as f64);
                    rows.retain(|row| row.3 || ((now - row.2) as f64) < view.deleted().retention().milliseconds());
                    // Objects are deleted one at a time, so that the oldest go if there are too many.
                    let mut gone: Vec<u64> = rows.iter().filter(|row| !row.3).map(|row| row.2).collect();
                    gone.sort_unstable();
                    let oldest = gone.len().checked_sub(MOST).map_or(0, |first| gone.get(first).copied().unwrap_or(0));
                    rows.retain(|row| row.3 || row.2 >= oldest);
                }
                Step::Retention(retention) => view.retain_for(retention),
                Step::Dismiss => {
                    view.dismiss();
                    rows.retain(|row| row.3);
                }
                Step::Sort(key, descending) => {
                    let key = [SortKey::Key, SortKey::Name, SortKey::Column(0), SortKey::Changed][key];
                    sort = Sort { key, descending };
                    view.sort_by(sort);
                }
                Step::Filter(words) => {
                    text = words;
                    view.filter_by(filter(words));
                }
                Step::Work(mut slices) => {
                    view.work(|| {
                        slices -= 1;
                        slices > 0
                    });
                }
            }
            prop_assert!(view.is_balanced(), "{:?}", view.sums());
            let expected = plain(&rows, sort, text);
            let sure = match &view.arranged.work {
                Work::Sorting(sorting) => sorting.placing,
                _ => true,
            };
            if sure {
                // What is shown on the way is right, but not complete.
                let known = shown(&view, 1000);
                prop_assert!(known.len() <= expected.len());
                // Nothing may distinguish the two rows of one name, and one of them may be at the end.
                let ends_within = expected.get(known.len()).is_some_and(|next| known.last().is_some_and(|last| last.0 == next.0));
                prop_assert!(ends_within || agrees(&known, &expected[..known.len()], sort), "{:?} {:?}", known, expected);
            }
            if view.progress().is_none() {
                prop_assert_eq!((view.len(), view.counts().1), (expected.len(), rows.iter().filter(|row| row.3).count()));
                prop_assert_eq!(view.counts().0, expected.iter().filter(|row| row.3).count());
            }
        }
        while view.work(|| true) {}
        let expected = plain(&rows, sort, text);
        prop_assert!(agrees(&shown(&view, 1000), &expected, sort), "{:?} {:?}", shown(&view, 1000), expected);
        prop_assert_eq!(view.counts(), (expected.iter().filter(|row| row.3).count(), rows.iter().filter(|row| row.3).count()));
        for (at, id) in view.window(0, 1000).into_iter().enumerate() {
            prop_assert_eq!(view.position(id), Some(at));
        }
    }
}

#[test]
fn work_that_is_not_done_says_how_far_it_is_and_shows_the_first_rows() {
    let mut view = TableView::default();
    for number in 0..100 {
        view.apply(&added(&format!("web-{number:03}"), 99 - number), 0.0);
    }
    view.sort_by(Sort { key: SortKey::Column(0), descending: false });
    while view.progress().is_some_and(|progress| progress.done <= 8) {
        view.work(|| false);
    }
    assert!(
        view.progress().is_some_and(|progress| progress.sorting && progress.done < progress.of),
        "{:?}",
        view.progress()
    );
    assert_eq!(
        (view.len(), &names(&view)[..3]),
        (100, &["web-099".to_owned(), "web-098".into(), "web-097".into()][..])
    );
    let known = view.unplaced().expect("most rows have no place yet");
    assert_eq!((view.window(0, 100).len(), known > 0 && known < 100), (known, true));
    // Rows that change meanwhile have their place at once.
    view.apply(&updated("web-050", 49, -1), 1.0);
    assert_eq!(names(&view)[0], "web-050");
    while view.work(|| true) {}
    assert_eq!((view.progress(), names(&view).len(), &*names(&view)[1]), (None, 100, "web-099"));
    assert_eq!(view.unplaced(), None);
    view.filter_by(filter("9"));
    assert!(view.progress().is_some_and(|progress| !progress.sorting) && view.unplaced().is_none());
    assert_eq!(names(&view)[0], "web-099");
    while view.work(|| true) {}
    // A filter that is cleared takes no time.
    view.filter_by(filter(""));
    assert_eq!((view.progress(), view.counts()), (None, (100, 100)));
}

#[test]
fn the_rows_that_come_first_are_sought_alone_whichever_way_the_order_is_turned() {
    for (descending, first) in [(false, "web-000"), (true, "web-099")] {
        let mut view = TableView::default();
        for number in 0..100 {
            view.apply(&added(&format!("web-{number:03}"), number), 0.0);
        }
        view.sort_by(Sort { key: SortKey::Column(0), descending });
        view.seek(8, || false);
        assert!(view.arranged().seeks_the_first(), "it did what it was not asked for");
        let mut looks = 0;
        view.seek(8, || {
            looks += 1;
            true
        });
        assert_eq!((view.arranged().seeks_the_first(), &*names(&view)[0]), (false, first));
        let (known, before) = (view.unplaced().expect("no other row has its place"), looks);
        assert!(known >= 8 && looks > 1, "{known} {looks}");
        view.seek(8, || true);
        assert_eq!((view.unplaced(), looks), (Some(known), before));
    }
}

#[test]
fn of_the_rows_that_a_filter_lets_through_no_more_are_sought_than_are_wanted() {
    let mut view = TableView::default();
    for number in 0..400 {
        view.apply(&added(&format!("web-{number:03}"), number), 0.0);
    }
    view.filter_by(filter("9"));
    let found = view.len();
    view.seek(found, || panic!("they are there"));
    view.seek(found + 20, || true);
    assert!((found + 20..found + 24).contains(&view.len()), "{} after {found}", view.len());
    assert!(view.progress().is_some_and(|progress| !progress.sorting && progress.done < 400));
    view.seek(1_000, || true);
    assert_eq!((view.progress(), view.len()), (None, 400 - 9 * 9 * 4));
}

#[test]
fn a_table_that_is_frozen_is_frozen_around_the_window_alone() {
    let mut view = TableView::default();
    for number in 0..2_000 {
        view.apply(&added(&format!("web-{number:04}"), 1), 0.0);
    }
    view.freeze(1000, 20);
    let before = view.window(1000, 20);
    for number in 0..100 {
        view.apply(&added(&format!("a-{number:04}"), 1), 1.0);
    }
    view.freeze(1000, 20);
    assert_eq!((view.window(1000, 20), view.len(), view.waiting()), (before, 2_000, 100));
    // In another window the rows are found as they stand now.
    view.freeze(0, 20);
    assert_eq!(&*view.row(view.window(0, 1)[0]).unwrap().object.key.name, "a-0000");
    assert_eq!((view.waiting(), view.frozen.window.as_ref().map(|window| window.rows.len())), (100, Some(20 + AROUND)));
    view.unfreeze();
    assert_eq!((view.len(), view.waiting()), (2_100, 0));
}
