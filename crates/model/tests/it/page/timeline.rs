//! The ways in which a user moves about on the timeline.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::release::Release;
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::page::effect::Answer;
use kubechurn_model::page::time_words::{TimeWords, Zone};
use kubechurn_model::timeline::lanes::{LaneOrder, LanesBy};
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::scene::LaneRow;

use super::*;

/// Has the page hear of a Pod, whose managers wrote it last at these seconds.
fn write(play: &mut Play, word: &str, (name, version): (&str, u32), managers: &[(&str, u32)]) {
    let entry = |(manager, second): &(&str, u32)| {
        format!(r#"{{"manager":"{manager}","operation":"Update","time":"2026-11-21T08:16:{second:02}Z"}}"#)
    };
    let managers: Vec<String> = managers.iter().map(entry).collect();
    let object = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"{version}","managedFields":[{}]}}}}"#,
        managers.join(",")
    );
    let (id, _) = play.informers[0];
    play.place.now.set(play.place.now.get() + 1.0);
    play.reflects(id, Input::Frame(&format!(r#"{{"type":"{word}","object":{object}}}"#)));
}

/// Lets so much time pass that the order of rows follows what happened.
fn look(play: &mut Play) {
    (0..30).for_each(|_| play.frame());
}

/// The rows of the timeline: an indent for each level, the name, and what is counted.
fn rows(play: &Play) -> Vec<String> {
    let rows = play.page.scene().expect("a scene").lanes.iter().flatten();
    let row = |row: &LaneRow| {
        let group = row.group.as_ref().expect("a row among groups");
        let counts: Vec<String> = group.counts.iter().map(|(mark_type, count)| mark_type.phrase(count)).collect();
        format!("{}{} {}", "  ".repeat(group.depth.into()), group.name, counts.join(", "))
    };
    rows.map(row).collect()
}

#[test]
fn lanes_by_manager_have_what_the_recorder_knows() {
    let mut play = Play::listed("#/pods?lanes=manager&order=name&open=*", &["a@1"]);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    write(&mut play, "ADDED", ("b", 10), &[("kubectl", 1)]);
    write(&mut play, "MODIFIED", ("b", 11), &[("kubectl", 1), ("kubelet", 2)]);
    // Until here the groups were not looked at.
    play.frame();
    write(&mut play, "MODIFIED", ("b", 12), &[("kubectl", 1), ("kubelet", 3)]);
    write(&mut play, "MODIFIED", ("b", 13), &[("kubectl", 4), ("kubelet", 3)]);
    // Nothing shows who wrote this, and nobody who deletes.
    write(&mut play, "MODIFIED", ("b", 14), &[("kubectl", 4), ("kubelet", 3)]);
    write(&mut play, "DELETED", ("b", 15), &[("kubectl", 4), ("kubelet", 3)]);
    look(&mut play);
    let expected = [
        "kubectl ",
        "  shop/b 1 added, 1 updated",
        "kubelet ",
        "  shop/b 2 updated",
        "not known ",
        "  n/a 1 replaced",
        "  shop/b 1 updated, 1 deleted",
    ];
    assert_eq!(rows(&play), expected);
    let summary = play.page.view().timeline.summary.to_string();
    assert!(summary.contains("lanes by manager (inferred): manager kubectl, open, 1 object; "), "{summary}");
}

#[test]
fn who_wrote_many_marks_is_found_in_several_frames() {
    let mut play = Play::listed("#/pods", &[]);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    write(&mut play, "ADDED", ("b", 10), &[("kubectl", 0)]);
    for at in 1..2_000_u32 {
        let (one, other) = (at / 2 % 60, at.div_ceil(2) % 60);
        write(&mut play, "MODIFIED", ("b", 10 + at), &[("kubectl", one), ("kubelet", other)]);
    }
    play.wait(1_000.0);
    play.place.step.set(0.5);
    play.command(Command::Timeline(TimelineCommand::LanesBy(LanesBy::Manager)));
    play.arrive();
    play.frame();
    let counted = |play: &Play| -> u64 {
        play.page
            .scene()
            .unwrap()
            .lanes
            .iter()
            .flatten()
            .filter_map(|row| Some(row.group.as_ref()?.counts.total()))
            .sum()
    };
    let first = counted(&play);
    assert!((16..1_000).contains(&first), "{first} in one frame");
    let mut frames = 1;
    while counted(&play) < 2_000 {
        play.frame();
        frames += 1;
        assert!(frames < 200, "{} of 2,000 are counted", counted(&play));
    }
    assert!(frames > 3, "{frames}");
    play.place.step.set(0.0);
    look(&mut play);
    let mut rows = rows(&play);
    rows.sort();
    assert_eq!(rows, ["kubectl 1 added, 999 updated", "kubelet 1,000 updated"]);
}

/// Presses a key, and shows a frame: whether the timeline follows the time, and the length of its window.
fn press(play: &mut Play, key: &str) -> (bool, String) {
    play.press(&[key], Focus::Table);
    let panel = &play.page.view().timeline;
    (*panel.following, panel.span.to_string())
}

#[test]
fn keys_move_the_timeline_and_zoom_from_milliseconds_to_days() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.place.now.set(1_795_423_272_402.0);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 220.0)));
    assert_eq!(press(&mut play, "+"), (true, String::from("last 30 s")));
    assert_eq!(press(&mut play, "-"), (true, String::from("last 60 s")));
    assert_eq!(press(&mut play, "d"), (true, String::from("last 60 s")), "there is nothing later than now");
    assert_eq!(press(&mut play, "a"), (false, String::from("60 s")));
    let window = |play: &Play| play.page.scene().expect("a scene").scale.window;
    let before = window(&play);
    let words = TimeWords { env: &play.place, zone: Zone::Local };
    assert_eq!(words.time_of_day(1_795_423_272_402.9), "08:41:12.402");
    assert!((play.place.now.get() - before.to - 15_100.0).abs() < 101.0, "a quarter of a minute ago");
    // Keys zoom around the middle of a window of the past.
    assert_eq!(press(&mut play, "+"), (false, String::from("30 s")));
    let middle = (before.from + before.to) / 2.0;
    assert!((window(&play).from - (middle - 15_000.0)).abs() < 0.01, "{:?}", window(&play));
    for _ in 0..30 {
        press(&mut play, "+");
    }
    assert_eq!(press(&mut play, "+"), (false, String::from("5 ms")));
    assert!(window(&play).contains(middle));
    let labels: Vec<String> = play.page.scene().expect("a scene").ticks.iter().map(|tick| tick.label()).collect();
    assert!(labels.iter().all(|label| label.ends_with(" s") && label.contains('.')), "{labels:?}");
    for _ in 0..40 {
        press(&mut play, "=");
        press(&mut play, "-");
        press(&mut play, "-");
    }
    assert_eq!(press(&mut play, "-"), (false, String::from("7 d")));
    play.command(Command::Timeline(TimelineCommand::Follow));
    assert_eq!(press(&mut play, "+"), (true, String::from("last 3.5 d")));
}

#[test]
fn under_the_pointer_is_what_a_mark_changed() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    let (id, _) = play.informers[0];
    for (word, version, image) in [("ADDED", 10, "web:1.14"), ("MODIFIED", 11, "web:9-typo")] {
        let metadata = format!(r#"{{"name":"b","namespace":"shop","uid":"b","resourceVersion":"{version}"}}"#);
        let spec = format!(r#"{{"containers":[{{"name":"web","image":"{image}"}}]}}"#);
        play.place.now.set(play.place.now.get() + 5_000.0);
        let frame = format!(r#"{{"type":"{word}","object":{{"metadata":{metadata},"spec":{spec}}}}}"#);
        play.reflects(id, Input::Frame(&frame));
    }
    look(&mut play);
    let scene = play.page.scene().expect("a scene");
    let glyphs = scene.glyphs.iter().filter(|glyph| glyph.mark_type == MarkType::Updated);
    let glyph = *glyphs.max_by(|one, other| one.x.total_cmp(&other.x)).expect("a mark");
    play.command(Command::Timeline(TimelineCommand::Hover(Some((glyph.x, glyph.y)))));
    play.frame();
    let words = play.page.view().timeline.hover.to_string();
    assert!(words.contains("1.14 → ") && words.contains("9-typo; ● Updated shop/b"), "{words}");
}

/// What the keyboard's cursor came to.
fn in_hand(play: &Play) -> String {
    play.page.view().timeline.in_hand.to_string()
}

#[test]
fn keys_go_through_lanes_and_marks_and_open_them() {
    let mut play = Play::listed("#/pods?order=name", &["a@1"]);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 200.0)));
    let long = 5_000.0;
    for version in [10, 11] {
        play.place.now.set(play.place.now.get() + long);
        write(&mut play, if version == 10 { "ADDED" } else { "MODIFIED" }, ("b", version), &[]);
    }
    for name in 'c'..='p' {
        write(&mut play, "ADDED", (&name.to_string(), 20), &[]);
    }
    play.command(Command::Timeline(TimelineCommand::Order(LaneOrder::Name)));
    play.arrive();
    look(&mut play);
    let hand = |play: &Play| *play.page.view().timeline.hand;
    assert_eq!((hand(&play), in_hand(&play)), (None, String::new()));
    play.press(&["ArrowDown"], Focus::Lanes);
    assert!(play.done().contains("focus lanes"));
    assert!(in_hand(&play).starts_with("n/a "), "{}", in_hand(&play));
    play.press(&["j"], Focus::Lanes);
    assert!(in_hand(&play).starts_with("shop/b (uid b)"), "{}", in_hand(&play));
    // From the label to the first mark, the last one, and no further.
    play.press(&["ArrowRight"], Focus::Lanes);
    assert!(in_hand(&play).contains("▲ Added shop/b"), "{}", in_hand(&play));
    let first = hand(&play).expect("a place");
    play.press(&["ArrowRight", "l"], Focus::Lanes);
    assert!(in_hand(&play).contains("● Updated shop/b"), "{}", in_hand(&play));
    assert!(hand(&play).is_some_and(|(x, y)| x > first.0 + 20.0 && y == first.1));
    // What is said stays, while time goes on and the cursor with its mark.
    let (said, at) = (in_hand(&play), hand(&play));
    play.wait(3_000.0);
    look(&mut play);
    assert_eq!(in_hand(&play), said);
    assert!(hand(&play) < at, "{:?} {at:?}", hand(&play));
    assert!(play.page.view().timeline.hover.contains("● Updated shop/b"));
    play.done();
    play.press(&["Enter"], Focus::Lanes);
    let done = play.done();
    assert!(done.contains("sel=shop%2Fb") || done.contains("sel=shop/b"), "{done}");
    assert!(done.contains("tab=changes"), "{done}");
    // Back to the label, and to lanes that were not in sight.
    play.press(&["ArrowLeft", "ArrowLeft"], Focus::Lanes);
    assert!(in_hand(&play).starts_with("shop/b (uid b)"), "{}", in_hand(&play));
    play.press(&["End"], Focus::Lanes);
    look(&mut play);
    play.press(&["End"], Focus::Lanes);
    assert!(in_hand(&play).starts_with("shop/p "), "{}", in_hand(&play));
    play.press(&["Home"], Focus::Lanes);
    look(&mut play);
    play.press(&["Home"], Focus::Lanes);
    assert!(in_hand(&play).starts_with("n/a "), "{}", in_hand(&play));
    // A pointer takes it, and a canvas without the focus has none.
    play.command(Command::Timeline(TimelineCommand::Hover(Some((10.0, 100.0)))));
    look(&mut play);
    assert_eq!(hand(&play), None);
    play.press(&["j"], Focus::Lanes);
    play.command(Command::Timeline(TimelineCommand::Blur));
    look(&mut play);
    assert_eq!(hand(&play), None);
}

#[test]
fn keys_open_and_close_groups_of_lanes() {
    let mut play = Play::listed("#/pods?lanes=namespace", &["a@1", "b@2"]);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    look(&mut play);
    let lanes = |play: &Play| play.page.scene().expect("a scene").lanes.iter().flatten().count();
    assert_eq!(lanes(&play), 1);
    play.press(&["ArrowDown", "ArrowRight"], Focus::Lanes);
    play.arrive();
    look(&mut play);
    assert_eq!(lanes(&play), 3);
    play.press(&["ArrowDown"], Focus::Lanes);
    assert!(in_hand(&play).starts_with("n/a "), "{}", in_hand(&play));
    play.press(&["ArrowUp", "ArrowLeft"], Focus::Lanes);
    play.arrive();
    look(&mut play);
    assert_eq!(lanes(&play), 1);
}

/// The bands of a custom object that is ready and then is not, where its definition has these of its columns.
fn bands_of_a_custom_object(keeps: &[&str]) -> Vec<(String, Tone)> {
    let mut play = Play::at("http://127.0.0.1:8080/#/widgets", &[]);
    play.is_found(Some(Release { major: 1, minor: 35 }));
    play.answers("discover", requests::discovery());
    let list = include_str!("../../../../../tests/fixtures/lists/customresourcedefinitions.apiextensions.k8s.io.json");
    let mut list: serde_json::Value = serde_json::from_str(list).unwrap();
    let mut definition = list["items"][0].take();
    definition["kind"] = "CustomResourceDefinition".into();
    let columns = definition["spec"]["versions"][0]["additionalPrinterColumns"].as_array_mut().expect("columns");
    columns.retain(|column| keeps.contains(&column["name"].as_str().unwrap_or_default()));
    play.answers("define", Answer::Definition(Ok(definition.to_string())));
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    let id = play.informers.iter().find(|(_, name)| name.contains("widgets")).expect("it is watched").0;
    for (word, version, status) in [("ADDED", 1, "True"), ("MODIFIED", 2, "False")] {
        play.place.now.set(play.place.now.get() + 20_000.0);
        let object = format!(
            r#"{{"metadata":{{"name":"one","namespace":"shop","uid":"u","resourceVersion":"{version}"}},
                "status":{{"phase":"Odd","conditions":[{{"type":"Ready","status":"{status}"}}]}}}}"#
        );
        if version == 1 {
            play.reflects(id, Input::Start);
            play.reflects(id, Input::Opened);
        }
        play.reflects(id, Input::Frame(&format!(r#"{{"type":"{word}","object":{object}}}"#)));
        play.frame();
    }
    play.place.now.set(play.place.now.get() + 20_000.0);
    look(&mut play);
    let scene = play.page.scene().expect("a scene");
    scene.bands.iter().map(|band| (band.word.to_string(), band.tone)).collect()
}

#[test]
fn the_lane_of_a_custom_object_has_bands_of_its_condition() {
    let bands = |good: &str, bad: &str| [(good.to_owned(), Tone::Good), (bad.to_owned(), Tone::Wait)];
    assert_eq!(bands_of_a_custom_object(&["Size", "Phase", "Ready"]), bands("True", "False"));
    // Where no column says it, the status does.
    assert_eq!(bands_of_a_custom_object(&["Size"]), bands("Ready", "Ready: False"));
}
