//! Two versions of an object side by side, as the inspector shows them.

use std::sync::Arc;

use kubechurn_model::history::Budget;
use kubechurn_model::inspector::comparison::What;
use kubechurn_model::inspector::tab::Tab;
use kubechurn_model::page::command::{Compare, InspectorCommand};
use kubechurn_model::view::inspector::ComparisonModel;

use super::*;

/// A version of the Pod `n/a`.
fn pod(version: u32, image: &str, status: &str) -> String {
    let labels: Vec<String> = (0..9).map(|at| format!(r#""l{at}":"x""#)).collect();
    format!(
        r#"{{"metadata":{{"labels":{{{}}},"name":"a","namespace":"n","resourceVersion":"{version}","uid":"a-1"}},"spec":{{"containers":[{{"name":"web","image":"{image}","args":["b"]}}]}},"status":{status}}}"#,
        labels.join(",")
    )
}

/// A page that shows the changes of `n/a`, of which four versions came five seconds after each other: 1 and 101 to 103.
fn compared(fragment: &str) -> Play {
    let mut play = Play::listed(fragment, &["a@1"]);
    let (id, _) = play.informers[0];
    for (version, image, status) in [
        (101, "web:1.14", r#"{"phase":"Pending"}"#),
        (102, "web:1.15", r#"{"phase":"Running"}"#),
        (103, "web:1.14", r#"{"phase":"Running","podIP":"10.0.0.1"}"#),
    ] {
        play.place.now.set(play.place.now.get() + 5_000.0);
        let frame = format!(r#"{{"type":"MODIFIED","object":{}}}"#, pod(version, image, status));
        play.reflects(id, Input::Frame(&frame));
    }
    (0..5).for_each(|_| play.frame());
    play
}

fn compare(play: &mut Play, command: Compare) {
    play.command(Command::Inspector(InspectorCommand::Compare(command)));
    play.frame();
}

fn shown(play: &Play) -> Arc<ComparisonModel> {
    (*play.page.view().inspector.comparison).clone().expect("two versions are compared")
}

/// The number of the version of a resourceVersion.
fn number(play: &Play, version: &str) -> u64 {
    let versions = &play.page.view().inspector.versions.shown;
    versions.iter().find(|one| one.resource_version == version).expect("it is kept").sequence
}

fn fields(model: &ComparisonModel) -> Vec<&str> {
    model.fields.changes.iter().map(|change| &*change.path).collect()
}

/// The lines that differ, the old ones with a minus and the new ones with a plus.
fn lines(model: &ComparisonModel) -> Vec<String> {
    let row = |row: &kubechurn_model::inspector::comparison::Row| match row.what {
        What::Removed => vec![format!("-{}", row.words.old.trim())],
        What::Added => vec![format!("+{}", row.words.new.trim())],
        What::Changed => {
            vec![format!("-{}", row.words.whole_old().trim()), format!("+{}", row.words.whole_new().trim())]
        }
        What::Same | What::Folded(_) => Vec::new(),
    };
    model.rows.rows.iter().flat_map(row).collect()
}

#[test]
fn any_two_versions_are_compared_and_the_address_has_both() {
    let mut play = compared("#/pods?sel=n/a&tab=changes");
    let [first, second, third] = ["101", "102", "103"].map(|version| number(&play, version));
    compare(&mut play, Compare::With(third));
    let model = shown(&play);
    assert_eq!((model.old, model.new, model.follows), (Some(second), Some(third), false), "the one before it");
    assert_eq!(fields(&model), ["spec.containers[web].image", "status.podIP"]);
    let expected = [
        "-- image: web:1.15",
        "+- image: web:1.14",
        "-resourceVersion: \"102\"",
        "+resourceVersion: \"103\"",
        "+podIP: 10.0.0.1",
    ];
    let mut found = lines(&model);
    found.sort_by_key(|line| {
        expected
            .iter()
            .position(|other| line.trim_start_matches(['-', '+', ' ']) == other.trim_start_matches(['-', '+', ' ']))
    });
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(model.words.starts_with("2 fields differ, −2 +3 lines; 5"), "{}", model.words);
    let url = play.place.url.borrow().1.clone();
    assert!(url.contains(&format!("change={third}.103&against={second}.102")), "{url}");

    // Another old one: what changed and changed back is no difference.
    compare(&mut play, Compare::Old(first));
    assert_eq!(fields(&shown(&play)), ["status.phase", "status.podIP"]);
    compare(&mut play, Compare::Swap);
    let model = shown(&play);
    assert_eq!((model.old, model.new), (Some(third), Some(first)));
    assert!(model.words.contains("the right one is the older one"), "{}", model.words);
    assert!(lines(&model).contains(&String::from("-podIP: 10.0.0.1")), "{:?}", lines(&model));
    // All versions are offered, the newest first.
    let offered: Vec<&str> = model.choices.iter().map(|(_, words)| &**words).collect();
    assert_eq!(offered.len(), 4);
    assert!(offered[0].ends_with("● Updated · 103") && offered[3].ends_with(" · 1"), "{offered:?}");

    // The link leads there again, in a page that has the same versions under other numbers, too.
    let url = play.place.url.borrow().1.clone();
    let again = compared(&url.replace(&format!("against={third}."), "against=900."));
    assert_eq!(fields(&shown(&again)), fields(&model));
    // What is copied is their difference, too, with the times of both.
    play.place.zone.set((0.0, 0.0, 3_600_000.0));
    play.command(Command::Inspector(InspectorCommand::CopyDifference));
    let copied = play.requests.iter().find_map(|(_, request)| match request {
        Request::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("it is copied");
    let heads: Vec<&str> = copied.lines().take(2).collect();
    assert!(heads[0].starts_with("--- Pod n/a 103\t1970-01-01T01:00:") && heads[0].ends_with("+01:00"), "{heads:?}");
    assert!(
        heads[1].starts_with("+++ Pod n/a 101\t1970-01-01T01:00:") && copied.contains("\n-  podIP: 10.0.0.1\n"),
        "{copied}"
    );
    compare(&mut play, Compare::End);
    assert!(play.page.view().inspector.comparison.is_none());
    assert!(!play.place.url.borrow().1.contains("against"));
}

#[test]
fn a_new_version_that_is_the_newest_moves_on() {
    let mut play = compared("#/pods?sel=n/a&tab=changes");
    let first = number(&play, "101");
    compare(&mut play, Compare::With(first));
    compare(&mut play, Compare::Old(first));
    compare(&mut play, Compare::New(None));
    let third = number(&play, "103");
    assert_eq!((shown(&play).new, shown(&play).follows), (Some(third), true));
    let (id, _) = play.informers[0];
    play.place.now.set(play.place.now.get() + 5_000.0);
    let frame = format!(r#"{{"type":"MODIFIED","object":{}}}"#, pod(104, "web:2", r#"{"phase":"Failed"}"#));
    play.reflects(id, Input::Frame(&frame));
    (0..5).for_each(|_| play.frame());
    let model = shown(&play);
    assert_eq!(fields(&model), ["spec.containers[web].image", "status.phase"]);
    assert_eq!((model.old, model.choices[0].0), (Some(first), model.new.expect("the newest")));
}

#[test]
fn equal_parts_are_folded_until_they_are_opened_and_fields_are_one_press_away() {
    let mut play = compared("#/pods?sel=n/a&tab=changes");
    play.press(&["v"], Focus::Table);
    let model = shown(&play);
    let folded = model.rows.rows.iter().find(|row| matches!(row.what, What::Folded(_))).expect("labels are folded");
    assert!(model.is_made && !model.as_fields);
    compare(&mut play, Compare::Unfold(folded.numbers.0));
    assert!(shown(&play).rows.rows.len() > model.rows.rows.len(), "{:?}", shown(&play).rows);
    compare(&mut play, Compare::Fields(true));
    assert!(shown(&play).as_fields);
    // What is opened belongs to these two.
    let first = number(&play, "101");
    compare(&mut play, Compare::Old(first));
    assert!(shown(&play).rows.rows.iter().any(|row| matches!(row.what, What::Folded(_))));
    // Esc leaves the comparison, and then the object; the key ends it, too.
    play.press(&["Escape"], Focus::Control);
    assert_eq!(
        (play.page.view().inspector.comparison.is_none(), *play.page.view().inspector.tab),
        (true, Tab::Changes)
    );
    assert!(play.page.view().inspector.inspected.is_some());
    play.press(&["v", "v"], Focus::Control);
    assert!(play.page.view().inspector.comparison.is_none() && play.page.view().inspector.inspected.is_some());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let lost = |play: &Play| shown(play).words.clone();
    let play = compared("#/pods?sel=n/a&tab=changes&change=3.103&against=900.77");
    assert_eq!(lost(&play), "The version 77 is not kept: it was evicted, or another visit had it. Choose another one.");
    assert_eq!((shown(&play).old, shown(&play).is_made), (None, false));
    assert!(shown(&play).choices.len() > 2, "there is something to choose");

    // An object of the same name that came later, and a deletion that no frame reported.
    let mut play = compared("#/pods?sel=n/a&tab=changes");
    let first = number(&play, "101");
    play.hears("pods", "DELETED", "a@104");
    let (id, _) = play.informers[0];
    let other = pod(105, "web:1.14", "{}").replace("a-1", "a-2");
    play.reflects(id, Input::Frame(&format!(r#"{{"type":"ADDED","object":{other}}}"#)));
    (0..10).for_each(|_| play.frame());
    compare(&mut play, Compare::With(first));
    compare(&mut play, Compare::Old(first));
    compare(&mut play, Compare::New(None));
    assert!(
        lost(&play).ends_with(" They are two objects, which had this name one after the other."),
        "{}",
        lost(&play)
    );
    compare(&mut play, Compare::New(Some(first)));
    assert_eq!(lost(&play), "Both are the same version.");

    let mut play = Play::listed("#/pods?sel=n/a&tab=changes", &["a@1"]);
    play.press(&["v"], Focus::Table);
    assert_eq!(play.message(), "There is one version, and none to compare it with.");
    assert!(play.page.view().inspector.comparison.is_none());
    play.command(Command::Recorder(Budget::Off));
    play.frame();
    play.press(&["v"], Focus::Table);
    assert_eq!(play.message(), "No version of the object is kept.");
}
