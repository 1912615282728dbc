//! The inspector: texts that were kept or come from the server, and a Secret's values, which are shown only on request.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::inspector::last_write::Outcome;
use kubechurn_model::inspector::tab::Tab;
use kubechurn_model::page::command::{Command, InspectorCommand, TimelineCommand};
use kubechurn_model::page::effect::{Answer, Request};
use kubechurn_model::page::time_words::{TimeWords, Zone};
use serde_json::json;

use super::{Focus, Play};

fn text(lines: &kubechurn_model::inspector::yaml::Yaml) -> String {
    lines.lines.iter().map(|line| format!("{}{}{}\n", line.lead, line.key, line.value)).collect()
}

#[test]
fn what_was_received_is_shown_and_nothing_asked() {
    let mut play = Play::listed("#/pods?sel=n/a&tab=yaml", &["a@1"]);
    play.frame();
    let view = &play.page.view().inspector;
    let inspected = view.inspected.as_ref().expect("it is open");
    assert_eq!((&*inspected.key, inspected.state, &*inspected.words), ("n/a", "live", ""));
    assert_eq!(view.yaml.words, "resourceVersion 1, as received");
    assert!(text(&view.yaml.yaml).contains("name"), "{}", text(&view.yaml.yaml));
    assert_eq!(view.versions.shown.len(), 1);
    let done = play.done();
    assert!(!done.contains("get pods"), "{done}");
    play.hears("pods", "DELETED", "a@101");
    play.frame();
    play.frame();
    play.frame();
    play.frame();
    let inspected = play.page.view().inspector.inspected.clone();
    let inspected = inspected.as_ref().expect("it stays open");
    assert_eq!(inspected.state, "deleted");
    let words = &*inspected.words;
    assert!(words.starts_with("Deleted at "), "{words}");
    assert!(words.ends_with(". This is the last state that this session received."), "{words}");
}

#[test]
fn what_is_not_in_the_table_is_fetched_and_perhaps_not_there() {
    let mut play = Play::listed("#/pods?sel=n/gone", &["a@1"]);
    assert!(play.requests.iter().any(|(_, request)| super::word_of(request) == "get pods n/gone"));
    let failure = Failure::from_response(404, None, r#"{"kind":"Status","reason":"NotFound","code":404}"#);
    play.answers("get", Answer::Get(Err(failure)));
    play.frame();
    let inspected = play.page.view().inspector.inspected.clone();
    let inspected = inspected.as_ref().expect("it is open");
    assert_eq!(inspected.state, "unknown");
    assert!(inspected.words.starts_with("The server has no Pod of this name."), "{}", inspected.words);
    play.effects.clear();
    play.command(Command::Select(None));
    play.arrive();
    assert!(play.page.view().inspector.inspected.is_none());
}

#[test]
fn a_late_answer_is_not_shown_for_another_object() {
    let mut play = Play::listed("#/pods?sel=n/gone", &["a@1"]);
    play.command(Command::Select(Some(("pods", ObjectKey::new("n", "a")))));
    play.arrive();
    let other = r#"{"metadata":{"namespace":"n","name":"gone","uid":"x","resourceVersion":"9"}}"#;
    play.answers("get pods n/gone", Answer::Get(Ok(other.to_owned())));
    play.frame();
    let words = play.page.view().inspector.yaml.words.clone();
    assert_eq!(words, "resourceVersion 1, as received");
}

#[test]
fn events_are_watched_once_the_object_has_been_looked_at_for_a_moment() {
    let mut play = Play::listed("#/pods?sel=n/a", &["a@1"]);
    play.frame();
    assert!(!play.effects.iter().any(|effect| effect.starts_with("start events")));
    for _ in 0..5 {
        play.hears("pods", "MODIFIED", &format!("a@{}", play.place.now.get() as u64));
        play.frame();
    }
    assert_eq!(play.effects.iter().filter(|effect| *effect == "start events n").count(), 1);
    play.effects.clear();
    play.command(Command::Select(None));
    assert!(play.arrive().contains("stop events"), "the watch ends with the look");
}

#[test]
fn a_secrets_value_is_on_the_screen_only_while_it_is_looked_at() {
    let mut play = Play::found("#/secrets?sel=n/a&tab=yaml");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    let (id, _) = play.informers[0];
    play.lists(id, &["a@1"]);
    play.frame();
    play.frame();
    let secret = r#"{"kind":"Secret","metadata":{"namespace":"n","name":"a","uid":"a","resourceVersion":"1"},
                     "data":{"password":"aHVudGVyMg=="}}"#;
    while play.requests.iter().any(|(_, request)| super::word_of(request).starts_with("get")) {
        play.answers("get", Answer::Get(Ok(secret.to_owned())));
        play.frame();
    }
    let shown = text(&play.page.view().inspector.yaml.yaml);
    assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    let reveal = || Command::Inspector(InspectorCommand::Reveal(String::from("password")));
    play.command(reveal());
    play.answers("get", Answer::Get(Ok(secret.to_owned())));
    let revealed = play.page.view().inspector.revealed.clone();
    assert_eq!(*revealed, Some((String::from("password"), String::from("hunter2"))));
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    assert_eq!(*play.page.view().inspector.revealed, None, "on another tab nobody looks at it");
    // A later answer is dropped.
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Yaml)));
    play.command(reveal());
    play.command(Command::Inspector(InspectorCommand::Tab(Tab::Summary)));
    play.answers("get", Answer::Get(Ok(secret.to_owned())));
    assert_eq!(*play.page.view().inspector.revealed, None);
}

/// Receives a version of the Pod `n/a` with this value.
fn hears_value(play: &mut Play, version: u64, value: &str) {
    let metadata = format!(r#"{{"name":"a","namespace":"n","uid":"a-1","resourceVersion":"{version}"}}"#);
    let (id, _) = play.informers[0];
    let frame = format!(r#"{{"type":"MODIFIED","object":{{"metadata":{metadata},"spec":{{"v":"{value}"}}}}}}"#);
    play.reflects(id, Input::Frame(&frame));
    play.place.now.set(play.place.now.get() + 400.0);
    play.frame();
}

fn inspect(play: &mut Play, command: InspectorCommand) {
    play.command(Command::Inspector(command));
    play.frame();
}

#[test]
fn the_last_write_of_a_field_is_found_and_followed() {
    let mut play = Play::listed("#/pods?sel=n/a&tab=yaml", &["a@1"]);
    play.command(Command::Timeline(TimelineCommand::Resize(800.0, 200.0)));
    for version in 101..=400 {
        hears_value(&mut play, version, if version < 150 { "old" } else { "new" });
    }
    let answer = |play: &Play| play.page.view().inspector.last_write.as_ref().expect("there is an answer").clone();
    inspect(&mut play, InspectorCommand::LastWrite(Some(String::from("/spec/v"))));
    assert!(matches!(answer(&play).outcome, Outcome::Searching(_)), "a long search takes several frames");
    play.effects.clear();
    play.frame = None;
    play.frame();
    assert!(play.frame.is_some(), "the search asks for the next frame itself");
    play.frame();
    let found = answer(&play);
    let Outcome::Written(written) = &found.outcome else { panic!("{found:?}") };
    let shown = play.page.view().inspector.versions.shown.clone();
    assert!(shown.iter().all(|version| version.sequence > written.sequence), "the change is not among the first shown");
    assert_eq!((&*found.path, written.is_listed), ("spec.v", false));
    assert!(*play.page.view().timeline.following);
    let (sequence, before) = (written.sequence, found.clone());

    // Another version with the same value changes nothing, and another value is the new answer at once.
    hears_value(&mut play, 401, "new");
    play.frame();
    assert_eq!((answer(&play).outcome, &*answer(&play).version.to_string()), (before.outcome, "401"));
    inspect(&mut play, InspectorCommand::Change(sequence));
    let versions = play.page.view().inspector.versions.clone();
    assert_eq!((*play.page.view().inspector.tab, versions.marked), (Tab::Changes, Some(sequence)));
    let marked = versions.shown.iter().find(|version| version.sequence == sequence).expect("it is shown");
    assert_eq!(marked.resource_version, "150");
    assert!(versions.newer > 0 && versions.older > 0 && versions.shown.len() <= 40);
    assert_eq!(versions.newer + versions.shown.len() + versions.older, 302);
    assert!(!*play.page.view().timeline.following, "the timeline went to the time of the change");
    inspect(&mut play, InspectorCommand::Newest);
    assert_eq!(play.page.view().inspector.versions.newer, 0);

    inspect(&mut play, InspectorCommand::Tab(Tab::Yaml));
    hears_value(&mut play, 402, "newest");
    play.frame();
    let Outcome::Written(written) = answer(&play).outcome else { panic!("{:?}", answer(&play)) };
    assert!(written.sequence > sequence);
    inspect(&mut play, InspectorCommand::LastWrite(None));
    assert!(play.page.view().inspector.last_write.is_none());
}

#[test]
fn the_keys_go_from_change_to_change_and_stay_at_the_ends() {
    let mut play = Play::listed("#/pods?sel=n/a", &["a@1"]);
    for version in 101..=160 {
        hears_value(&mut play, version, "x");
    }
    let marked = |play: &Play| {
        let versions = &play.page.view().inspector.versions;
        let shown = versions.shown.iter().find(|version| Some(version.sequence) == versions.marked);
        shown.map(|version| version.resource_version.clone()).expect("the marked version is shown")
    };
    let mut step = |by: isize| {
        inspect(&mut play, InspectorCommand::Step(by));
        marked(&play)
    };
    assert_eq!(step(-1), "160", "first the newest");
    assert_eq!([step(-1), step(1), step(1)], ["159", "160", "160"]);
    assert_eq!([step(-50), step(-50), step(-1), step(1)], ["110", "1", "1", "101"]);
    play.command(Command::Select(None));
    play.arrive();
    inspect(&mut play, InspectorCommand::Step(1));
    assert!(play.page.view().inspector.inspected.is_none(), "nothing is selected, and nothing happens");
}

/// The version that is marked among those that are shown, or nothing.
fn marked(play: &Play) -> Option<String> {
    let versions = &play.page.view().inspector.versions;
    let mut shown = versions.shown.iter().filter(|version| Some(version.sequence) == versions.marked);
    shown.next().map(|version| version.resource_version.clone())
}

/// Follows a link, as the browser does.
fn follow(play: &mut Play, href: &str) {
    play.place.url.borrow_mut().1 = href.trim_start_matches('#').to_owned();
    play.command(Command::Arrive(href.to_owned()));
    play.frame();
}

#[test]
fn each_change_of_a_group_has_a_link_to_itself() {
    let (mut play, id) = super::changes::listed();
    let owner =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true}]);
    for (name, version) in [("p", "10"), ("q", "11")] {
        let pod = json!({"type": "ADDED", "object": {"metadata": {"name": name, "namespace": "shop", "uid": name,
            "resourceVersion": version, "ownerReferences": owner}}});
        play.reflects(id, Input::Frame(&pod.to_string()));
    }
    play.frame();
    let rows = |play: &Play| play.page.view().feed.window.rows.clone();
    let group = rows(&play).first().cloned().expect("a row");
    assert_eq!((&*group.kind, &*group.name_end, &*group.href), ("2 Pods of", "et web", ""), "{group:?}");
    // It is of two objects: Enter opens it.
    play.press(&["j", "Enter"], Focus::Table);
    let lines: Vec<_> = rows(&play).into_iter().filter(|row| row.what == "line").collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    for line in lines {
        let version = if line.name_end.ends_with('p') { "10" } else { "11" };
        follow(&mut play, &line.href);
        assert_eq!(marked(&play).as_deref(), Some(version), "{line:?}");
    }
}

#[test]
fn a_row_of_several_changes_leads_to_the_one_that_it_names_first() {
    let (mut play, id) = super::changes::listed();
    let mut times = Vec::new();
    for (after, version, image, ready) in
        [(0.0, "10", "1", "True"), (100_000.0, "11", "2", "True"), (1_000.0, "12", "2", "False")]
    {
        play.place.now.set(play.place.now.get() + after);
        let pod = json!({"type": if version == "10" { "ADDED" } else { "MODIFIED" }, "object": {
            "metadata": {"name": "p", "namespace": "shop", "uid": "p", "resourceVersion": version},
            "spec": {"containers": [{"name": "c", "image": image}]},
            "status": {"conditions": [{"type": "PodScheduled", "status": ready}]}}});
        play.reflects(id, Input::Frame(&pod.to_string()));
        times.push(play.place.now.get());
        play.frame();
    }
    play.frame();
    let row = play.page.view().feed.window.rows.first().cloned().expect("a row");
    let words: String = row.words.iter().map(|piece| &*piece.text).collect();
    assert!(words.starts_with("image of c 1 → 2") && row.repetition.starts_with("× 2"), "{row:?}");
    assert!((row.at - times[1]).abs() < 1.0 && times[2] - times[1] >= 1_000.0, "its first change's time: {row:?}");
    follow(&mut play, &row.href);
    assert_eq!(marked(&play).as_deref(), Some("11"));
}

#[test]
fn a_link_of_the_feed_leads_to_its_change_and_the_keys_go_on_from_there() {
    let (mut play, id) = super::changes::listed();
    for version in 10..70 {
        play.reflects(id, Input::Frame(&value(version)));
        play.frame();
    }
    play.frame();
    let row = play.page.view().feed.window.rows.first().cloned().expect("a row");
    assert!(row.opens && row.href.contains("change="), "{row:?}");
    play.command(Command::Feed(FeedCommand::Open(row.id)));
    play.frame();
    let lines: Vec<String> = play.page.view().feed.window.rows.iter().map(|row| row.href.clone()).collect();
    let older = lines.iter().find(|href| href.contains("change=57.65")).expect("each change has its link").clone();
    follow(&mut play, &older);
    assert_eq!(*play.page.view().inspector.tab, Tab::Changes);
    assert_eq!(marked(&play).as_deref(), Some("65"), "the clicked change, and not the newest");
    inspect(&mut play, InspectorCommand::Step(-1));
    assert_eq!(marked(&play).as_deref(), Some("64"));
    let address = play.page.view().header.route.fragment();
    assert!(address.contains("change=56.64"), "the address goes along: {address}");
    inspect(&mut play, InspectorCommand::Step(1));
    inspect(&mut play, InspectorCommand::Step(1));
    assert_eq!(marked(&play).as_deref(), Some("66"));
    // What comes later is counted, and pushes nothing away.
    let shown = play.page.view().inspector.versions.shown.clone();
    for version in 70..75 {
        play.reflects(id, Input::Frame(&value(version)));
        (0..4).for_each(|_| play.frame());
    }
    let versions = play.page.view().inspector.versions.clone();
    assert_eq!((versions.newer, &versions.shown, marked(&play).as_deref()), (5, &shown, Some("66")));
    // One that is far from the newest is shown too; and the same link leads there again.
    follow(&mut play, &older.replace("57.65", "4.12"));
    assert_eq!(marked(&play).as_deref(), Some("12"));
    // A number that another visit gave to another version marks nothing.
    follow(&mut play, &older.replace("57.65", "57.66"));
    assert_eq!(marked(&play), None);
    follow(&mut play, &older);
    assert_eq!(marked(&play).as_deref(), Some("65"));
}

/// A frame with a version of the Pod `n/a` that no other is like.
fn value(version: u64) -> String {
    let metadata = format!(r#"{{"name":"a","namespace":"n","uid":"a-1","resourceVersion":"{version}"}}"#);
    format!(r#"{{"type":"MODIFIED","object":{{"metadata":{metadata},"spec":{{"v":"{version}"}}}}}}"#)
}

#[test]
fn a_click_on_a_mark_leads_to_its_change_and_a_second_one_closes() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.command(Command::Timeline(TimelineCommand::Resize(800.0, 200.0)));
    for version in 101..=103 {
        let (id, _) = play.informers[0];
        play.place.now.set(play.place.now.get() + 5_000.0);
        play.reflects(id, Input::Frame(&value(version)));
        play.frame();
    }
    (0..5).for_each(|_| play.frame());
    let mut glyphs: Vec<(f64, f64)> =
        play.page.scene().expect("a scene").glyphs.iter().map(|glyph| (glyph.x, glyph.y)).collect();
    glyphs.sort_by(|one, two| one.0.total_cmp(&two.0));
    let (x, y) = glyphs[glyphs.len() - 2];
    let click = || Command::Timeline(TimelineCommand::Click(x, y));
    play.command(click());
    play.arrive();
    assert_eq!((*play.page.view().inspector.tab, marked(&play).as_deref()), (Tab::Changes, Some("102")));
    // Another mark of the same object.
    let (x, y) = glyphs[glyphs.len() - 1];
    play.command(Command::Timeline(TimelineCommand::Click(x, y)));
    play.arrive();
    assert_eq!(marked(&play).as_deref(), Some("103"));
    play.command(Command::Timeline(TimelineCommand::Click(x, y)));
    play.arrive();
    assert!(play.page.view().inspector.inspected.is_none(), "the same mark again closes");
}

#[test]
fn what_was_deleted_before_the_look_says_when_and_that_nothing_was_fetched() {
    let mut play = Play::listed("#/pods", &["a@1", "b@1"]);
    play.hears("pods", "DELETED", "a@101");
    let at = TimeWords { env: &play.place, zone: Zone::Local }.to_second(play.place.now.get());
    (0..4).for_each(|_| play.frame());
    follow(&mut play, "#/pods?sel=n/a");
    (0..20).for_each(|_| play.frame());
    let inspected = play.page.view().inspector.inspected.clone();
    let inspected = inspected.as_ref().expect("it is open");
    let expected = format!("Deleted at {}. This is the last state that this session received.", at);
    assert_eq!((inspected.state, &*inspected.words), ("deleted", &*expected));
    assert!(!play.done().contains("get pods"), "nothing is fetched");
}

#[test]
fn what_is_being_deleted_says_since_when() {
    let mut play = Play::listed("#/pods?sel=n/a&tab=yaml", &["a@1"]);
    let (id, _) = play.informers[0];
    let frame = r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"n","uid":"a-1","resourceVersion":"101",
        "deletionTimestamp":"2026-11-25T10:00:30Z","deletionGracePeriodSeconds":30,"finalizers":["example.com/a"]}}}"#;
    play.reflects(id, Input::Frame(&frame.replace("\n", " ")));
    (0..5).for_each(|_| play.frame());
    let inspected = play.page.view().inspector.inspected.clone();
    let words = inspected.as_ref().expect("it is open").words.clone();
    assert!(words.starts_with("Deleting since 10:00:00, with a grace period of 30 seconds; held by"), "{words}");
    let shown = text(&play.page.view().inspector.yaml.yaml);
    assert!(shown.starts_with("apiVersionv1\nkindPod\n"), "also where the text lacks them: {shown}");
    // And nobody wrote them.
    inspect(&mut play, InspectorCommand::LastWrite(Some(String::from("/kind"))));
    (0..3).for_each(|_| play.frame());
    let answer = play.page.view().inspector.last_write.clone();
    assert!(matches!(answer.as_ref().expect("an answer").outcome, Outcome::Before(_)), "{answer:?}");
}

#[test]
fn command_lines_and_the_difference_of_two_versions_are_copied_and_never_run() {
    let mut play = Play::listed("#/pods?sel=n/a", &["a@1"]);
    let (id, _) = play.informers[0];
    for version in [101, 102] {
        play.reflects(id, Input::Frame(&value(version)));
        (0..5).for_each(|_| play.frame());
    }
    let inspected = play.page.view().inspector.inspected.clone();
    let lines = inspected.as_ref().expect("it is open").command_lines.clone();
    assert_eq!(lines[0].text, "kubectl describe pod a -n n");
    play.command(Command::Inspector(InspectorCommand::CopyLine(lines[0].text.clone())));
    play.answers("copy", Answer::Copy(true));
    assert_eq!(play.message(), "Copied the command line: kubectl describe pod a -n n");
    play.command(Command::Inspector(InspectorCommand::CopyDifference));
    let copied = play.requests.iter().find_map(|(_, request)| match request {
        Request::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("a copy");
    let heads: Vec<&str> = copied.lines().map(|line| line.split('\t').next().unwrap_or_default()).take(2).collect();
    assert_eq!(heads, ["--- Pod n/a 101", "+++ Pod n/a 102"]);
    assert!(copied.contains("\n-  v: \"101\"\n+  v: \"102\"\n") && !copied.contains("apiVersion: null"), "{copied}");
}

#[test]
fn of_a_yaml_that_changes_each_second_only_the_lines_in_sight_are_made() {
    let mut play = Play::found("#/configmaps?sel=n/a&tab=yaml");
    let (id, _) = play.informers[0];
    play.lists(id, &["a@1"]);
    play.frame();
    let frame = |version: u64| {
        let data: Vec<String> =
            (0..5_500).map(|at| format!(r#""key-{at:04}":"{version} {}""#, "v".repeat(190))).collect();
        let metadata = format!(r#"{{"name":"a","namespace":"n","uid":"a-1","resourceVersion":"{version}"}}"#);
        format!(r#"{{"type":"MODIFIED","object":{{"data":{{{}}},"metadata":{metadata}}}}}"#, data.join(","))
    };
    for version in 101..=103 {
        play.reflects(id, Input::Frame(&frame(version)));
        (0..5).for_each(|_| play.frame());
        let yaml = play.page.view().inspector.yaml.yaml.clone();
        assert_eq!((yaml.first, yaml.total), (0, 5_508));
        assert!(yaml.lines.len() <= 100, "{}", yaml.lines.len());
        assert!(yaml.lines[3].value.starts_with(&version.to_string()), "{:?}", yaml.lines[3]);
    }
    // The last lines are in reach.
    play.command(Command::Inspector(InspectorCommand::Scroll { top: 5_508.0 * 18.0 - 700.0, height: 700.0 }));
    play.frame();
    let yaml = play.page.view().inspector.yaml.yaml.clone();
    let last = yaml.lines.last().expect("there are lines");
    assert_eq!((&*last.key, &*last.value, yaml.first + yaml.lines.len()), ("uid", "a-1", 5_508));
    // A step within them makes none anew.
    play.command(Command::Inspector(InspectorCommand::Scroll { top: 5_508.0 * 18.0 - 701.0, height: 700.0 }));
    play.frame();
    assert_eq!(play.page.view().inspector.yaml.yaml, yaml);
}
