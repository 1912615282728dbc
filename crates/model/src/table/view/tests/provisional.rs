//! Rows of a list that is not complete: against a plain map of what is known and of what is only listed, and in single
//! steps.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn list(view: &mut TableView, name: &str, ready: i64) {
    view.apply_listed(KindId::ONLY, DeltaType::Replaced, &object(name, ready, 1), 10.0);
}

fn listed(name: &str, ready: i64) -> Change {
    Change::Added { new: object(name, ready, 1), listed: true, folded: 1 }
}

fn ends(view: &mut TableView) {
    view.end_list(KindId::ONLY, "");
    while view.has_leaving() {
        view.expire(20.0);
    }
}

/// Name of each shown row, in brackets while it is provisional.
fn shown(view: &TableView) -> String {
    let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
    let words = rows.map(|row| match (row.provisional, &*row.object.key.name) {
        (true, name) => format!("({name})"),
        (false, name) => name.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn row<'a>(view: &'a TableView, name: &str) -> &'a Row {
    view.row(view.find(KindId::ONLY, &ObjectKey::new("shop", name)).unwrap()).unwrap()
}

#[test]
fn what_a_list_brings_is_shown_in_its_place_and_counts_as_nothing() {
    let mut view = TableView::default();
    view.filter_by(filter("web"));
    for (name, ready) in [("web-3", 1), ("db", 2), ("web-1", 3)] {
        list(&mut view, name, ready);
    }
    assert_eq!((shown(&view), view.len()), ("(web-1) (web-3)".into(), 2));
    let sums = view.sums();
    assert_eq!((view.counts(), sums.live, sums.shown, sums.hidden, sums.provisional.rows), ((0, 0), 0, 0, 0, 3));
    assert!(view.is_balanced() && view.rows().live_among(0, 100).next().is_none());
    view.filter_by(filter(""));
    view.sort_by(Sort { key: SortKey::Column(0), descending: true });
    assert_eq!((shown(&view), view.counts()), ("(web-1) (db) (web-3)".into(), (0, 0)));
}

#[test]
fn the_complete_list_confirms_rows_in_place_and_the_others_go_without_a_trace() {
    let mut view = TableView::default();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        list(&mut view, name, 1);
    }
    let before = row(&view, "b").clone();
    view.filter_by(filter("1"));
    for name in ["b", "d"] {
        view.apply(&listed(name, 1), 15.0);
        assert!(view.is_balanced(), "{:?}", view.sums());
    }
    assert_eq!((shown(&view), view.counts()), ("(a) b (c) d (e) (f) (g)".into(), (2, 2)));
    let after = row(&view, "b");
    assert_eq!((after.born, after.changed_at, after.changed), (before.born, 10.0, 0), "the same row, and no mark");
    assert_eq!(after.delta, DeltaType::Replaced);
    assert_ne!(after.version, before.version, "it is drawn anew");
    ends(&mut view);
    assert_eq!((shown(&view), view.counts(), retained(&view)), ("b d".into(), (2, 2), (0, 0)));
    let expected = ProvisionalSums { made: 7, confirmed: 2, dropped: 5, rows: 0, leaving: false };
    assert_eq!((view.sums().provisional, view.sums().taken.deleted), (expected, 0));
    assert!(view.is_balanced());
}

#[test]
fn a_list_that_comes_again_doubles_nothing() {
    let mut view = TableView::default();
    list(&mut view, "a", 1);
    list(&mut view, "b", 1);
    list(&mut view, "a", 5);
    list(&mut view, "b", 1);
    assert_eq!((shown(&view), row(&view, "a").changed), ("(a) (b)".into(), 0));
    view.sort_by(Sort { key: SortKey::Column(0), descending: true });
    list(&mut view, "b", 9);
    assert_eq!(shown(&view), "(b) (a)");
    // What is known does not come from a list that is not complete.
    view.apply(&listed("a", 5), 15.0);
    list(&mut view, "a", 99);
    assert_eq!((shown(&view), &row(&view, "a").object), ("(b) a".into(), &object("a", 5, 1)));
    // Another object of the same name is another row: what was drawn of the first one is drawn anew.
    let born = row(&view, "b").born;
    let other = Arc::new(Object { uid: "another".into(), ..(*object("b", 9, 2)).clone() });
    view.apply_listed(KindId::ONLY, DeltaType::Replaced, &other, 16.0);
    assert_ne!(row(&view, "b").born, born);
    view.apply_listed(KindId::ONLY, DeltaType::Deleted, &other, 17.0);
    view.expire(17.0);
    assert_eq!((shown(&view), retained(&view)), ("a".into(), (0, 0)));
    assert!(view.is_balanced(), "{:?}", view.sums());
}

#[test]
fn an_object_created_since_is_news_where_its_row_was_provisional() {
    let mut view = TableView::default();
    list(&mut view, "a", 1);
    list(&mut view, "b", 1);
    view.sort_by(Sort { key: SortKey::Changed, descending: false });
    view.apply(&added("b", 2), 50.0);
    let b = row(&view, "b");
    assert_eq!((b.delta, b.changed_at, b.provisional), (DeltaType::Added, 50.0, false));
    assert_eq!(shown(&view), "b (a)");
}

#[test]
fn nothing_moves_under_the_pointer_when_a_list_comes_and_when_it_ends() {
    let mut view = TableView::default();
    view.freeze(0, 4);
    list(&mut view, "d", 1);
    list(&mut view, "f", 1);
    view.freeze(0, 4);
    assert_eq!(
        (shown(&view), view.len(), view.waiting()),
        ("(d) (f)".into(), 2, 0),
        "an empty table holds nothing back"
    );
    for name in ["a", "g", "h", "i"] {
        list(&mut view, name, 1);
    }
    view.freeze(0, 4);
    assert_eq!((shown(&view), view.waiting()), ("(d) (f) (g) (h)".into(), 2), "what comes below moves nothing");
    for name in ["d", "g", "a"] {
        view.apply(&listed(name, 1), 15.0);
    }
    view.end_list(KindId::ONLY, "");
    view.expire(16.0);
    view.freeze(0, 4);
    assert_eq!(shown(&view), "d (f) g (h)", "what goes stays until the pointer rests");
    assert!(view.sums().provisional.leaving && view.is_balanced());
    // Until then the object may be there after all.
    view.apply(&added("f", 1), 17.0);
    view.unfreeze();
    view.expire(18.0);
    assert_eq!((shown(&view), view.counts()), ("a d f g".into(), (4, 4)));
    assert!(view.is_balanced() && !view.sums().provisional.leaving);
}

/// A change of what has no row but a provisional one does not balance, and is shown all the same.
#[test]
fn a_change_of_what_is_only_listed_is_noticed() {
    let mut view = TableView::default();
    list(&mut view, "a", 1);
    list(&mut view, "b", 1);
    view.apply(&deleted("b"), 11.0);
    assert_eq!((shown(&view), retained(&view)), ("(a) (b)".into(), (0, 0)));
    view.apply(&updated("a", 1, 2), 12.0);
    assert_eq!((shown(&view), view.sums().taken.without_a_row, view.is_balanced()), ("a (b)".into(), 2, false));
}

#[test]
fn of_several_namespaces_one_list_ends_by_itself() {
    let mut view = TableView::default();
    let of = |namespace: &str| Arc::new(Object { key: ObjectKey::new(namespace, "a"), ..(*object("a", 1, 1)).clone() });
    for namespace in ["bank", "shop"] {
        view.apply_listed(KindId::ONLY, DeltaType::Replaced, &of(namespace), 0.0);
    }
    view.end_list(KindId::ONLY, "bank");
    view.expire(1.0);
    let left: Vec<String> =
        view.window(0, 9).into_iter().filter_map(|id| Some(view.row(id)?.object.key.to_string())).collect();
    assert_eq!(
        (left, view.provisional_of(KindId::ONLY), view.provisional_of(KindId(3))),
        (vec!["shop/a".into()], 1, 0)
    );
}

#[derive(Clone, Debug)]
enum Step {
    List(u8, i64),
    Unlist(u8),
    Known(u8, i64),
    Gone(u8),
    End,
    Sort(usize, bool),
    Filter(&'static str),
    Freeze(bool),
    Work,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..30_u8, 0..20_i64).prop_map(|(name, ready)| Step::List(name, ready)),
        1 => (0..30_u8).prop_map(Step::Unlist),
        4 => (0..30_u8, 0..20_i64).prop_map(|(name, ready)| Step::Known(name, ready)),
        1 => (0..30_u8).prop_map(Step::Gone),
        1 => Just(Step::End),
        1 => (0..4_usize, any::<bool>()).prop_map(|(key, descending)| Step::Sort(key, descending)),
        1 => proptest::sample::select(&["", "1", "web", "READY:2"][..]).prop_map(Step::Filter),
        1 => any::<bool>().prop_map(Step::Freeze),
        2 => Just(Step::Work),
    ];
    proptest::collection::vec(step, 0..150)
}

proptest! {
    /// However items, changes, ends, orders, filters and the pointer follow one another: what is known is exactly what the
    /// changes said, what is provisional is the rest of what was listed, and no row is there twice.
    #[test]
    fn what_is_listed_never_mixes_with_what_is_known(steps in steps()) {
        let mut view = TableView::default();
        view.retain_for(Retention::AtOnce);
        let mut known: BTreeMap<String, i64> = BTreeMap::new();
        let mut only_listed: BTreeMap<String, i64> = BTreeMap::new();
        for (now, step) in steps.into_iter().enumerate() {
            let now = now as f64;
            let name = |number: u8| format!("{}-{number:02}", if number.is_multiple_of(2) { "web" } else { "db" });
            match step {
                Step::List(number, ready) => {
                    list(&mut view, &name(number), ready);
                    if !known.contains_key(&name(number)) {
                        only_listed.insert(name(number), ready);
                    }
                }
                Step::Unlist(number) => {
                    let gone = object(&name(number), 0, 1);
                    view.apply_listed(KindId::ONLY, DeltaType::Deleted, &gone, now);
                    view.unfreeze();
                    view.expire(now);
                    only_listed.remove(&name(number));
                }
                Step::Known(number, ready) => {
                    match known.insert(name(number), ready) {
                        Some(before) => view.apply(&updated(&name(number), before, ready), now),
                        None => view.apply(&listed(&name(number), ready), now),
                    }
                    only_listed.remove(&name(number));
                }
                Step::Gone(number) => {
                    if known.remove(&name(number)).is_some() {
                        view.apply(&deleted(&name(number)), now);
                    }
                }
                Step::End => {
                    view.unfreeze();
                    ends(&mut view);
                    only_listed.clear();
                }
                Step::Sort(key, descending) => {
                    let key = [SortKey::Key, SortKey::Name, SortKey::Column(0), SortKey::Changed][key];
                    view.sort_by(Sort { key, descending });
                }
                Step::Filter(words) => view.filter_by(filter(words)),
                Step::Freeze(true) => view.freeze(0, 5),
                Step::Freeze(false) => view.unfreeze(),
                Step::Work => drop(view.work(|| false)),
            }
            prop_assert!(view.is_balanced(), "{:?}", view.sums());
            prop_assert_eq!((view.counts().1, view.sums().provisional.rows), (known.len(), only_listed.len()));
        }
        view.unfreeze();
        view.expire(1e9);
        view.filter_by(filter(""));
        view.sort_by(Sort { key: SortKey::Name, descending: false });
        while view.work(|| true) {}
        let rows = |provisional: bool| {
            let rows = view.window(0, 1000).into_iter().filter_map(|id| view.row(id));
            let rows = rows.filter(|row| row.provisional == provisional).map(|row| {
                let ready = row.object.cells.get(0).map(|cell| format!("{cell:?}"));
                (row.object.key.name.to_string(), ready.unwrap_or_default())
            });
            rows.collect::<Vec<_>>()
        };
        let expected = |plain: &BTreeMap<String, i64>| {
            let rows = plain.iter().map(|(name, ready)| (name.clone(), format!("Number({ready})")));
            rows.collect::<Vec<_>>()
        };
        prop_assert_eq!((rows(false), rows(true)), (expected(&known), expected(&only_listed)));
    }
}
