//! Rows: which are in the document, which are drawn again, and which keep their place.

use std::collections::BTreeMap;

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::table::cursor::Step;
use kubechurn_model::table::layout::ColumnChange;

use super::{Focus, Play};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("p{at:03}@{}", at + 1)).collect()
}

fn listed(count: usize) -> Play {
    let names = names(count);
    let mut play = Play::listed("#/pods", &names.iter().map(String::as_str).collect::<Vec<_>>());
    drawn(&mut play);
    play
}

/// The names of the rows that were drawn since the last call, in the order of drawing.
fn drawn(play: &mut Play) -> Vec<String> {
    let drawn = std::mem::take(&mut play.page.view_mut().rows.drawn);
    drawn.into_iter().map(|(_, row)| row.key.name.to_string()).collect()
}

#[test]
fn one_change_draws_one_row() {
    let mut play = listed(500);
    let window = play.page.view().rows.window.clone();
    // 528 pixels are 22 rows, and six above and below are in the document.
    assert_eq!((window.first, window.places.len(), *play.page.view().rows.length), (0, 34, 500));
    play.hears("pods", "MODIFIED", "p003@501");
    play.frame();
    assert_eq!(drawn(&mut play), ["p003"]);
    assert_eq!(*play.page.view().rows.window, *window, "no element moves");
    play.hears("pods", "MODIFIED", "p400@502");
    play.frame();
    assert_eq!(drawn(&mut play), [""; 0], "what is out of sight costs nothing");
}

#[test]
fn rows_that_leave_hand_their_elements_on() {
    let mut play = listed(500);
    let before = play.page.view().rows.window.places.clone();
    play.command(Command::Scroll { top: 50.0 * 25.0, height: 528.0 });
    play.frame();
    let after = &play.page.view().rows.window;
    assert_eq!((after.first, after.places.len()), (44, 34));
    let (mut before, mut places) = (before, after.places.clone());
    before.sort();
    places.sort();
    assert_eq!(places, before, "the same elements show other rows");
    assert_eq!(drawn(&mut play).len(), 34);
}

#[test]
fn the_row_that_is_seen_first_stays_where_it_is() {
    let mut play = listed(500);
    play.command(Command::Scroll { top: 2_500.0, height: 528.0 });
    play.frame();
    for at in 0..3 {
        play.hears("pods", "ADDED", &format!("a{at}@{}", 501 + at));
    }
    play.frame();
    assert_eq!(*play.page.view().rows.scroll, 2_575.0, "three rows came above it");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    play.frame();
    let scroll = *play.page.view().rows.scroll;
    play.hears("pods", "ADDED", "a9@510");
    play.frame();
    assert_eq!(*play.page.view().rows.scroll, scroll, "at the very top, what comes is wanted in sight");
}

#[test]
fn rows_wait_while_the_pointer_is_over_them() {
    let mut play = listed(5);
    play.command(Command::PointerOverTable(true));
    play.frame();
    play.hears("pods", "ADDED", "a@101");
    play.frame();
    play.wait(600.0);
    play.frame();
    assert_eq!((*play.page.view().rows.length, *play.page.view().table.waiting), (5, 1));
    play.command(Command::PointerOverTable(false));
    play.frame();
    assert_eq!(*play.page.view().rows.length, 6);
    play.command(Command::PointerOverTable(true));
    play.frame();
    play.hears("pods", "ADDED", "b@102");
    play.frame();
    assert_eq!(*play.page.view().rows.length, 6);
    play.wait(2_600.0);
    play.frame();
    assert_eq!(*play.page.view().rows.length, 7, "a pointer that rests holds nothing");
}

#[test]
fn the_cursor_goes_where_it_is_seen() {
    let mut play = listed(500);
    play.command(Command::Row(Step::Last));
    assert_eq!(play.done(), "focus table, scroll 12000");
    play.frame();
    let at = play.page.view().rows.cursor.clone();
    assert!(at.as_ref().is_some_and(|id| id.starts_with("row-499-")), "{at:?}");
    play.command(Command::RowPage(-1));
    assert_eq!(play.done(), "focus table", "it is seen already");
    play.command(Command::Cell(2));
    play.frame();
    let cell = play.page.view().rows.cursor.clone();
    assert!(cell.as_ref().is_some_and(|id| id.starts_with("row-480-") && id.ends_with("-1")), "{cell:?}");
    play.command(Command::SortNext);
    play.done();
    assert_eq!(play.page.view().header.route.sort, "", "the page goes there once the address has it");
    play.arrive();
    assert_eq!(play.page.view().header.route.sort, "NAME", "by the column of the cell");
    play.command(Command::OpenRow);
    assert_eq!(play.done(), "push #/pods?sort=NAME&sel=n/p480");
}

#[test]
fn columns_are_kept_and_rows_made_anew_only_where_they_must() {
    let mut play = listed(3);
    let places = play.page.view().rows.window.places.clone();
    play.command(Command::Columns(ColumnChange::Width(String::from("NAME"), 40)));
    assert_eq!(play.done(), r#"store kubechurn.columns.pods {"order":[],"shown":{},"widths":{"NAME":40}}"#);
    play.frame();
    assert_eq!(play.page.view().rows.window.places, places, "a width changes while it is dragged");
    play.command(Command::Columns(ColumnChange::Show(String::from("AGE"), false)));
    play.frame();
    assert_ne!(play.page.view().rows.window.places, places, "an element has the cells of its columns");
    assert!(play.page.view().table.heads.iter().all(|head| head.title != "AGE"));
    play.command(Command::Columns(ColumnChange::Reset));
    assert!(play.done().ends_with("store kubechurn.columns.pods nothing"));
    assert!(play.page.view().table.heads.iter().any(|head| head.title == "AGE"));
}

#[test]
fn a_paused_page_takes_in_what_comes_and_shows_it_later() {
    let mut play = listed(3);
    play.command(Command::TogglePause);
    play.hears("pods", "DELETED", "p000@101");
    play.hears("pods", "ADDED", "x@102");
    play.frame();
    play.wait(600.0);
    play.frame();
    assert_eq!((*play.page.view().rows.length, &*play.page.view().footer.pipeline.keys), (3, "2"));
    assert!(play.page.view().footer.pipeline.balanced);
    play.command(Command::TogglePause);
    play.frame();
    assert_eq!(*play.page.view().rows.length, 4, "the deleted one is shown for a while");
    assert_eq!((play.state(), play.on("p", Focus::Table)), ("live", Some(Command::TogglePause)));
}

#[test]
fn what_an_object_did_last_is_known_when_other_kinds_come_into_the_table() {
    let mut play = listed(2);
    play.hears("pods", "MODIFIED", "p000@50");
    play.frame();
    play.wait(10_000.0);
    // What the row says of its last change, as it is drawn.
    let last = |play: &mut Play| {
        play.frame();
        let drawn = std::mem::take(&mut play.page.view_mut().rows.drawn);
        let mut rows = drawn.into_iter().map(|(_, row)| row).filter(|row| &*row.key.name == "p000");
        rows.next_back().map(|row| (row.delta, row.cells.last().unwrap().text.clone())).unwrap()
    };
    let before = last(&mut play);
    assert_eq!(before, (("Updated", "●"), String::from("10s")));
    play.command(Command::Join("nodes"));
    play.arrive();
    assert_eq!(last(&mut play), before, "the list that comes with another kind is no change");
}

#[test]
fn what_is_being_deleted_says_so_in_its_row_and_its_lane_whatever_its_kind() {
    let mut play = Play::listed("#/configmaps", &["a@1", "b@2"]);
    drawn(&mut play);
    let object = |name: &str, version: u32, deletion: &str| {
        format!(
            r#"{{"type":"MODIFIED","object":{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"n",
            "uid":"{name}","resourceVersion":"{version}"{deletion}}}}}}}"#
        )
    };
    let id = play.informers[0].0;
    let deletion = r#","deletionTimestamp":"2026-11-25T10:00:00Z","finalizers":["example.org/keep"]"#;
    play.reflects(id, Input::Frame(&object("a", 10, deletion)));
    play.reflects(id, Input::Frame(&object("b", 11, "")));
    play.frame();
    // State and words of the row that was drawn last of an object.
    let drawn_of = |play: &mut Play, name: &str| {
        let rows = &play.page.view_mut().rows.drawn;
        let mut rows = rows.iter().map(|(_, row)| row).filter(|row| &*row.key.name == name);
        rows.next_back().map(|row| (row.state, row.deletion.clone().unwrap_or_default()))
    };
    let words = String::from("being deleted, and to be gone at 2026-11-25T10:00:00Z");
    assert_eq!(drawn_of(&mut play, "a"), Some(("live", words)));
    assert_eq!(drawn_of(&mut play, "b"), Some(("live", String::new())));
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    play.frame();
    let summary = play.page.view().timeline.summary.to_string();
    assert!(summary.contains("n/a Terminating") && !summary.contains("n/b Terminating"), "{summary}");
    // What is gone is not being deleted any more.
    play.reflects(id, Input::Frame(&object("a", 12, deletion).replace("MODIFIED", "DELETED")));
    play.frame();
    assert_eq!(drawn_of(&mut play, "a"), Some(("deleted", String::new())));
}

#[test]
fn rows_of_a_namespace_that_is_not_followed_any_more_say_so() {
    let mut play = Play::found("#/pods?ns=m,n");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    let ids: Vec<_> = play.informers.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids.len(), 2);
    for (id, namespace) in ids.iter().zip(["m", "n"]) {
        play.reflects(*id, Input::Start);
        play.reflects(*id, Input::Opened);
        let frame = event("ADDED", "a@1").replace("\"namespace\":\"n\"", &format!("\"namespace\":\"{namespace}\""));
        play.reflects(*id, Input::Frame(&frame));
        play.reflects(*id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    }
    // The state of each row, as it was drawn last.
    let mut known = BTreeMap::new();
    let mut states = |play: &mut Play| {
        play.frame();
        let drawn = std::mem::take(&mut play.page.view_mut().rows.drawn);
        known.extend(drawn.into_iter().map(|(_, row)| (row.key.namespace.to_string(), row.state)));
        known.clone().into_iter().map(|(namespace, state)| format!("{namespace} {state}")).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut play), ["m live", "n live"]);
    play.reflects(ids[0], Input::Closed(1006));
    play.reflects(ids[0], Input::Failed(Failure::from_response(403, None, "")));
    play.wait(5_000.0);
    assert_eq!(states(&mut play), ["m stale", "n live"]);
    play.reflects(ids[0], Input::Timer);
    play.reflects(ids[0], Input::Opened);
    play.reflects(ids[0], Input::Frame(&bookmark("101", "{}")));
    assert_eq!(states(&mut play), ["m live", "n live"]);
}

#[test]
fn ages_are_drawn_by_the_clock_of_the_server() {
    let mut play = Play::found("#/pods");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    // This machine believes that it is 1970-01-01T00:00:01Z, and the server has 06:18.
    let mut clock = ServerClock::default();
    clock.answered("Thu, 01 Jan 1970 06:18:00 GMT", 900.0, 1_000.0);
    play.place.server_clock.set(clock);
    let id = play.informers[0].0;
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    let made = "\"metadata\":{\"creationTimestamp\":\"1970-01-01T06:00:00Z\",";
    play.reflects(id, Input::Frame(&event("ADDED", "a@1").replace("\"metadata\":{", made)));
    play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.frame();
    let rows = &play.page.view_mut().rows.drawn;
    let cells: Vec<String> = rows.last().expect("a row").1.cells.iter().map(|cell| cell.text.clone()).collect();
    assert!(cells.contains(&String::from("18m")), "{cells:?}");
}

#[test]
fn what_has_no_time_stands_last_in_both_directions() {
    for (sort, expected) in [("LAST%20SEEN", "new old quiet"), ("-LAST%20SEEN", "old new quiet")] {
        let mut play = Play::found(&format!("#/events?sort={sort}"));
        play.command(Command::Scroll { top: 0.0, height: 528.0 });
        let id = play.informers[0].0;
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        for (name, time) in [("quiet", ""), ("old", "1970-01-01T00:00:00Z"), ("new", "1970-01-01T00:00:01Z")] {
            let last = if time.is_empty() { String::new() } else { format!(r#","lastTimestamp":"{time}""#) };
            let frame = format!(
                r#"{{"type":"ADDED","object":{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"n",
                "uid":"{name}","resourceVersion":"5"}},"involvedObject":{{"kind":"Thing","name":"{name}"}},"reason":"Quiet","type":"Normal"{last}}}}}"#
            );
            play.reflects(id, Input::Frame(&frame));
        }
        play.reflects(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
        (0..5).for_each(|_| play.frame());
        let rows: BTreeMap<usize, String> =
            play.page.view().rows.drawn.iter().map(|(_, row)| (row.rank, row.key.name.to_string())).collect();
        assert_eq!(rows.into_values().collect::<Vec<_>>().join(" "), expected, "{sort}");
    }
}
