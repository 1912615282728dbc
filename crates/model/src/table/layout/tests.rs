//! Columns are arranged, stored, and read back.

use super::*;
use kubechurn_columns::kinds::kind;

fn schema(names: &[&str]) -> Arc<TableSchema> {
    Arc::new(TableSchema::of(&names.iter().filter_map(|name| kind(name)).collect::<Vec<_>>()))
}

fn titles(layout: &Layout) -> Vec<&'static str> {
    layout.sources.iter().map(|source| layout.title(*source)).collect()
}

fn order(titles: &[&str]) -> Arrangement {
    Arrangement { order: titles.iter().map(|title| title.to_string()).collect(), ..Arrangement::default() }
}

#[test]
fn columns_are_kubectl_s_until_they_are_arranged() {
    let none = Arrangement::default();
    for (name, wide, expected) in [
        ("pods", false, &["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"][..]),
        ("namespaces", false, &["NAME", "STATUS", "AGE", "Δ"]),
        (
            "deploy",
            true,
            &["NAMESPACE", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR", "Δ"],
        ),
    ] {
        assert_eq!(titles(&Layout::of(schema(&[name]), wide, &none)), expected, "{name}");
    }
    assert_eq!(titles(&Layout::of(Arc::default(), false, &none)), ["Δ"]);
}

#[test]
fn several_kinds_have_the_kind_before_and_the_namespace_if_any_has_one() {
    let none = Arrangement::default();
    for (names, expected) in [
        (&["deploy", "po"][..], "KIND NAMESPACE NAME READY UP-TO-DATE AVAILABLE STATUS RESTARTS AGE Δ"),
        (
            &["ns", "pv"],
            "KIND NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS VOLUMEATTRIBUTESCLASS REASON AGE Δ",
        ),
        (&["no", "sa"], "KIND NAMESPACE NAME STATUS ROLES AGE VERSION Δ"),
        (&["sc", "ns"], "KIND NAME PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE ALLOWVOLUMEEXPANSION STATUS AGE Δ"),
    ] {
        assert_eq!(titles(&Layout::of(schema(names), false, &none)).join(" "), expected, "{names:?}");
    }
    let layout = Layout::of(schema(&["deploy", "po"]), false, &order(&["NAME", "KIND"]));
    assert_eq!(titles(&layout)[..2], ["NAME", "READY"], "{:?}", titles(&layout));
    assert!(
        layout.fits(&schema(&["deploy", "po"]), false, false) && !layout.fits(&schema(&["po", "deploy"]), false, false)
    );
}

#[test]
fn an_order_copes_with_columns_that_come_and_go() {
    for (arrangement, expected) in [
        (order(&["AGE", "NAME"]), &["NAMESPACE", "AGE", "Δ", "NAME", "READY", "STATUS", "RESTARTS"][..]),
        (
            order(&["GONE", "NAME", "NAMESPACE", "GONE TOO"]),
            &["NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ", "NAMESPACE"],
        ),
        (order(&["NAME", "NAME"]), &["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"]),
    ] {
        let layout = Layout::of(schema(&["pods"]), false, &arrangement);
        let mut sorted = titles(&layout);
        // In every order, each column appears once.
        sorted.sort_unstable();
        assert_eq!(sorted.len(), 7);
        sorted.dedup();
        assert_eq!(sorted.len(), 7);
        assert_eq!(titles(&layout), expected, "{arrangement:?}");
    }
}

/// The titles after changes, one after the other.
fn after(changes: &[ColumnChange]) -> (Vec<&'static str>, Arrangement) {
    let mut arrangement = Arrangement::default();
    for change in changes {
        let layout = Layout::of(schema(&["namespaces"]), false, &arrangement);
        arrangement = layout.rearranged(&arrangement, change.clone());
    }
    (titles(&Layout::of(schema(&["namespaces"]), false, &arrangement)), arrangement)
}

#[test]
fn columns_are_moved_hidden_and_put_back() {
    use ColumnChange::{Move, Onto, Reset, Show};
    let [age, name, status] = ["AGE", "NAME", "STATUS"].map(String::from);
    for (changes, expected) in [
        (vec![Move(age.clone(), -1)], &["NAME", "AGE", "STATUS", "Δ"][..]),
        (vec![Move(age.clone(), -9)], &["AGE", "NAME", "STATUS", "Δ"]),
        (vec![Move(name.clone(), 9)], &["STATUS", "AGE", "Δ", "NAME"]),
        (vec![Onto(age.clone(), name.clone())], &["AGE", "NAME", "STATUS", "Δ"]),
        (vec![Onto(name.clone(), age.clone())], &["STATUS", "AGE", "NAME", "Δ"]),
        (vec![Onto(name.clone(), "NONE".into())], &["NAME", "STATUS", "AGE", "Δ"]),
        (vec![Show(status.clone(), false), Move(age.clone(), -1)], &["NAME", "AGE", "Δ"]),
        (vec![Show(status.clone(), false), Show(status.clone(), true)], &["NAME", "STATUS", "AGE", "Δ"]),
        (vec![Move(age.clone(), -1), Show(name.clone(), false), Reset], &["NAME", "STATUS", "AGE", "Δ"]),
        // One column always stays visible.
        (["NAME", "STATUS", "AGE", "Δ"].map(|title| Show(title.into(), false)).to_vec(), &["Δ"]),
    ] {
        let (titles, arrangement) = after(&changes);
        assert_eq!(titles, expected, "{changes:?}");
        // The arrangement survives being stored.
        let kept = arrangement.write().map_or_else(Arrangement::default, |text| Arrangement::read(&text));
        assert_eq!(kept, arrangement);
    }
    for text in ["", "null", "[]", "{\"order\":7}", "{\"widths\":{\"AGE\":-1}}"] {
        assert_eq!(Arrangement::read(text), Arrangement::default(), "{text}");
    }
}

#[test]
fn widths_grow_with_values_unless_they_were_chosen() {
    let mut layout = Layout::of(schema(&["namespaces"]), false, &Arrangement::default());
    assert!(layout.make_room(0, "kube-system"));
    assert!(layout.make_room(0, "a"), "nothing gets narrower by itself");
    assert!(!layout.make_room(1, &"x".repeat(65)));
    assert!(layout.make_room(9, "there is no such column"));
    assert_eq!(layout.template(), "minmax(11ch, 11fr) minmax(64ch, 64fr) minmax(5ch, 5fr) minmax(11ch, 11fr)");
    for (change, expected) in [
        (ColumnChange::Width("NAME".into(), 7), "7ch"),
        (ColumnChange::Width("NAME".into(), 0), "3ch"),
        (ColumnChange::Width("NAME".into(), 9_999), "300ch"),
        (ColumnChange::Widen("NAME".into(), 2), "13ch"),
        (ColumnChange::Widen("NAME".into(), -99), "3ch"),
        (ColumnChange::Fit("NAME".into()), "minmax(6ch, 6fr)"),
    ] {
        let arrangement = layout.rearranged(&Arrangement::default(), change.clone());
        let mut resized = Layout {
            schema: layout.schema.clone(),
            sources: layout.sources.clone(),
            widths: layout.widths.clone(),
            ..layout
        };
        resized.resize(&arrangement);
        let expected_grown = if expected.ends_with("fr)") { "minmax(11ch, 11fr)" } else { expected };
        assert_eq!(resized.template().split(" minmax").next(), Some(expected_grown), "{change:?}");
        let mut layout = Layout::of(schema(&["namespaces"]), false, &arrangement);
        let template = layout.template();
        assert_eq!(template.split(" minmax").next(), Some(expected), "{change:?}");
        assert_eq!(layout.make_room(0, "kube-system"), !["7ch", "3ch"].contains(&expected), "{change:?}");
    }
}

#[test]
fn the_menu_has_every_column() {
    let arrangement = Arrangement { widths: [(String::from("NODE"), 9)].into(), ..Arrangement::default() };
    let choices = Layout::of(schema(&["pods"]), false, &arrangement).choices(&arrangement);
    let node = choices.iter().find(|choice| choice.title == "NODE").unwrap();
    assert_eq!((node.shown, node.width, choices.len()), (false, Some(9), kind("pods").unwrap().columns.len() + 3));
    let arrangement = Arrangement { shown: [(String::from("NODE"), true)].into(), ..arrangement };
    assert!(titles(&Layout::of(schema(&["pods"]), false, &arrangement)).contains(&"NODE"));
}
