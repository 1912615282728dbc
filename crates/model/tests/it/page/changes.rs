//! The feed of changes, as the page shows it.

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::feed::{FeedCommand, FeedRow};
use kubechurn_model::history::Budget;
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::table::cursor::Step;
use serde_json::{Value, json};

use super::{Focus, Play};

pub(super) const LISTED: &str = r#"{"k8s.io/initial-events-end":"true"}"#;

/// A feed of Pods whose list is complete: `a` and `b`.
pub(super) fn listed() -> (Play, InformerId) {
    listed_at("#/pods?view=changes")
}

/// The same at another place.
pub(super) fn listed_at(fragment: &str) -> (Play, InformerId) {
    let mut play = Play::found(fragment);
    let (id, _) = play.informers[0];
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    for name in ["a@1", "b@2"] {
        play.reflects(id, Input::Frame(&event("ADDED", name)));
    }
    play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    play.frame();
    (play, id)
}

impl Play {
    pub(super) fn change(&mut self, id: InformerId, kind: &str, object: &str) {
        self.reflects(id, Input::Frame(&event(kind, object)));
        self.frame();
    }

    /// The object and the words of each row in sight.
    pub(super) fn feed(&self) -> Vec<(String, String)> {
        let rows = self.page.view().feed.window.rows.iter();
        rows.map(|row| (row.name.clone() + &row.name_end, row.words.iter().map(|piece| &*piece.text).collect()))
            .collect()
    }
}

pub(super) fn names(rows: &[(String, String)]) -> Vec<&str> {
    rows.iter().map(|(name, _)| name.rsplit('/').next().unwrap_or_default()).collect()
}

#[test]
fn a_list_is_no_change_and_what_comes_after_it_is_shown_newest_first() {
    let (mut play, id) = listed();
    assert_eq!(play.feed(), []);
    assert!(play.page.view().feed.frame.empty.starts_with("Nothing has changed"));
    assert!(*play.page.view().feed.shown && &**play.page.view().header.title == "What changed · kubechurn");
    play.change(id, "ADDED", "c@10");
    play.change(id, "DELETED", "b@11");
    let rows = play.feed();
    assert_eq!(names(&rows), ["b", "c"]);
    assert!(rows[0].1.contains("deleted") && rows[1].1.contains("added"), "{rows:?}");
    // What changed in nothing but its version says nothing.
    play.change(id, "MODIFIED", "a@12");
    let rows = play.feed();
    assert_eq!((rows.len(), &*rows[0].0), (3, ""), "{rows:?}");
    assert!(rows[0].1.contains("1 folded as noise"), "{rows:?}");
    assert!(play.page.view().feed.frame.words.starts_with("3 changes since"), "{}", play.page.view().feed.frame.words);
}

#[test]
fn rows_stay_while_the_user_looks_and_newer_ones_are_counted() {
    let (mut play, id) = listed();
    for version in 10..40 {
        play.change(id, "ADDED", &format!("n{version}@{version}"));
    }
    play.command(Command::Feed(FeedCommand::Scroll { top: 54.0, height: 270.0, width: 900.0 }));
    play.frame();
    let before = play.feed();
    play.change(id, "ADDED", "y@50");
    play.change(id, "ADDED", "z@51");
    assert_eq!(play.feed(), before);
    assert_eq!(play.page.view().feed.frame.newer, 2);
    let scrolled = *play.page.view().feed.newest;
    play.command(Command::Feed(FeedCommand::Newest));
    play.frame();
    assert_eq!((*play.page.view().feed.newest, play.page.view().feed.frame.newer), (scrolled + 1, 0));
    assert!(names(&play.feed()).contains(&"z"), "{:?}", play.feed());
    // The pointer holds them, too, and lets go when it has rested.
    let before = play.feed();
    play.command(Command::Feed(FeedCommand::Pointer(true)));
    play.change(id, "ADDED", "last@52");
    assert_eq!(play.feed(), before);
    play.command(Command::Feed(FeedCommand::Pointer(false)));
    play.frame();
    assert!(names(&play.feed()).contains(&"last"), "{:?}", play.feed());
}

#[test]
fn the_filter_is_the_feed_s_while_it_is_in_view() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@10");
    play.change(id, "DELETED", "b@11");
    play.command(Command::Filter(String::from("type:deleted")));
    play.frame();
    assert_eq!(names(&play.feed()), ["b"]);
    play.command(Command::Filter(String::from("/(")));
    play.frame();
    assert!(play.page.view().header.filter_error.is_some());
    play.command(Command::Filter(String::from("name:nothing-is-called-so")));
    play.frame();
    assert_eq!((play.feed().len(), &*play.page.view().feed.frame.empty), (0, "No change passes the filter."));
}

#[test]
fn without_a_recorder_nothing_is_shown_and_the_page_says_so() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@10");
    play.command(Command::Recorder(Budget::Off));
    play.change(id, "MODIFIED", "a@11");
    play.change(id, "ADDED", "d@12");
    let frame = &play.page.view().feed.frame;
    assert_eq!((names(&play.feed()), &*frame.waiting), (vec!["c"], "the recorder is off: no change is shown"));
    let report = |play: &Play| -> Value { serde_json::from_str(&play.page.reports().recorder()).unwrap() };
    let recorder = report(&play);
    assert_eq!((&recorder["kept"], &recorder["dropped"], &recorder["received"]), (&json!(0), &json!(5), &json!(5)));
    assert!(recorder["whole_since"].is_number(), "{recorder}");
    (0..6).for_each(|_| play.frame());
    assert_eq!(play.page.view().footer.pipeline.memory[1..], ["recorder off", "marks 0.1 MB"]);
    // The marks are there all the same, and each says that its version is not kept.
    let marks: Vec<Value> = serde_json::from_str(&play.page.reports().marks_of("pods").unwrap()).unwrap();
    assert!(marks.len() == 5 && marks.iter().all(|mark| mark["kept"] == json!(false)), "{marks:?}");
    // A page that begins so says why its feed is empty; with memory it shows what comes from then on.
    let (mut play, id) = listed();
    play.command(Command::Recorder(Budget::Off));
    play.frame();
    assert!(play.page.view().feed.frame.empty.starts_with("The recorder is off"), "{:?}", play.page.view().feed.frame);
    play.command(Command::Recorder(Budget::Usual));
    play.change(id, "ADDED", "e@13");
    assert_eq!((names(&play.feed()), &*play.page.view().feed.frame.waiting), (vec!["e"], ""));
    assert_eq!(report(&play)["kept"], json!(1));
}

/// A frame of a Pod with an annotation of 40 KB, which is another one for each seed.
fn unlike(word: &str, object: &str, seed: u64) -> String {
    let mut number = seed;
    let text = std::iter::repeat_with(|| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (number >> 33) as u8 % 26)
    });
    let text: String = text.take(40_000).collect();
    event(word, object).replace("\"metadata\":{", &format!("\"metadata\":{{\"annotations\":{{\"x\":\"{text}\"}},"))
}

#[test]
fn a_change_is_shown_even_if_the_list_was_too_long_to_be_kept() {
    let mut play = Play::found("#/pods?view=changes");
    play.command(Command::Recorder(Budget::Small));
    let (id, _) = play.informers[0];
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    for at in 1_000..1_400 {
        play.reflects(id, Input::Frame(&unlike("ADDED", &format!("p{at}@{at}"), at)));
    }
    play.reflects(id, Input::Frame(&bookmark("1400", LISTED)));
    play.frame();
    let recorder: Value = serde_json::from_str(&play.page.reports().recorder()).unwrap();
    assert!(recorder["dropped"].as_u64() > Some(50), "lists fill half of the memory: {recorder}");
    assert_eq!(play.feed(), []);
    play.reflects(id, Input::Frame(&unlike("MODIFIED", "p1399@2000", 1_399)));
    play.frame();
    assert_eq!(play.feed(), [(String::from("n/p1399"), String::from("changed, the version before is not kept"))]);
    // From the second one on, what changed is known.
    let labelled = unlike("MODIFIED", "p1399@2001", 1_399)
        .replace("\"annotations\"", "\"labels\":{\"tier\":\"front\"},\"annotations\"");
    play.reflects(id, Input::Frame(&labelled));
    play.frame();
    assert!(play.feed()[0].1.contains("labels"), "{:?}", play.feed());
}

#[test]
fn each_mark_says_whether_its_version_is_still_recorded() {
    let (mut play, id) = listed();
    play.command(Command::Recorder(Budget::Small));
    for version in 1_000..1_500 {
        play.reflects(id, Input::Frame(&unlike("MODIFIED", &format!("a@{version}"), version)));
    }
    play.frame();
    let recorder: Value = serde_json::from_str(&play.page.reports().recorder()).unwrap();
    assert!(recorder["dropped"].as_u64() > Some(50) && recorder["kept"].as_u64() > Some(100), "{recorder}");
    let marks: Vec<Value> = serde_json::from_str(&play.page.reports().marks_of("pods").unwrap()).unwrap();
    let kept = |wanted: bool| marks.iter().filter(|mark| mark["kept"] == json!(wanted)).count();
    assert_eq!(json!([kept(true), kept(false)]), json!([recorder["kept"], recorder["dropped"]]));
    // The oldest are gone, and the newest are there.
    assert_eq!((&marks[0]["kept"], &marks[marks.len() - 1]["kept"]), (&json!(false), &json!(true)));
    assert_eq!(marks.len(), 502);
}

/// A frame of the Pod `a` with these fields beside its metadata.
fn with_fields(version: u32, fields: &str) -> String {
    let frame = event("MODIFIED", &format!("a@{version}"));
    let at = frame.rfind("}}").expect("an object in an event");
    format!("{},{fields}{}", &frame[..at], &frame[at..])
}

/// What stands in each place of the feed.
fn kinds_of_rows(play: &Play) -> Vec<(&'static str, String)> {
    let words = |row: &FeedRow| row.words.iter().map(|piece| &*piece.text).collect();
    play.page.view().feed.window.rows.iter().map(|row| (row.what, words(row))).collect()
}

#[test]
fn an_opened_row_says_everything_and_stays_open_under_another_filter() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@9");
    play.reflects(id, Input::Frame(&with_fields(10, r#""spec":{"a":1,"b":2,"c":3,"d":4}"#)));
    let long = "a rather long value ".repeat(15).trim_end().to_owned();
    play.reflects(id, Input::Frame(&with_fields(11, &format!(r#""spec":{{"a":5,"b":6,"c":7,"d":"{long}"}}"#))));
    play.frame();
    let opened = play.page.view().feed.window.rows.iter().find(|row| row.opens).unwrap().id;
    play.command(Command::Feed(FeedCommand::Open(opened)));
    play.frame();
    let rows = kinds_of_rows(&play);
    for words in ["spec.b 2 → 6", "spec.c 3 → 7", &format!("spec.d 4 → {long}")] {
        assert!(rows.contains(&("field", words.to_owned())), "{rows:#?}");
    }
    // Places have heights of their own, and all of them are in the document.
    let window = &*play.page.view().feed.window;
    assert_eq!((window.heights.len(), window.heights.iter().sum::<f64>()), (window.length, window.height));
    // Another filter makes the rows anew: the same one is open.
    play.command(Command::Filter(String::from("!name:c")));
    play.frame();
    let row = play.page.view().feed.window.rows.iter().find(|row| row.what == "change").unwrap();
    assert!(row.is_open && row.id != opened, "{row:?}");
    assert!(kinds_of_rows(&play).contains(&("field", String::from("spec.b 2 → 6"))));
}

#[test]
fn what_an_opened_row_does_not_list_it_counts() {
    let (mut play, id) = listed();
    let fields = |value: u32| {
        let fields: Vec<String> = (0..15).map(|number| format!(r#""f{number:02}":{value}"#)).collect();
        format!(r#""spec":{{{}}}"#, fields.join(","))
    };
    play.reflects(id, Input::Frame(&with_fields(10, &fields(1))));
    play.frame();
    play.place.now.set(play.place.now.get() + 700_000.0);
    play.reflects(id, Input::Frame(&with_fields(11, &fields(2))));
    play.frame();
    let row = play.page.view().feed.window.rows.iter().find(|row| row.opens).unwrap();
    let (opened, more) = (row.id, row.more.clone());
    assert_eq!(more, "+ 13 more fields");
    play.command(Command::Feed(FeedCommand::Open(opened)));
    play.frame();
    let rows = kinds_of_rows(&play);
    let fields: Vec<&String> = rows.iter().filter(|(what, _)| *what == "field").map(|(_, words)| words).collect();
    assert!(fields.last().is_some_and(|last| last.starts_with("+ 3 more")), "{fields:#?}");
}

#[test]
fn a_paused_feed_stays_as_it_is_and_says_how_much_has_come() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@10");
    let before = play.feed();
    play.command(Command::TogglePause);
    play.change(id, "ADDED", "d@11");
    play.change(id, "DELETED", "c@12");
    play.command(Command::Filter(String::from("name:/^[cd]$/")));
    play.frame();
    assert_eq!(play.feed(), before, "it stays, under a filter too");
    let words = play.page.view().feed.frame.words.clone();
    assert!(words.starts_with("1 change ") && words.ends_with("; paused, 2 more since"), "{words}");
    play.command(Command::TogglePause);
    play.frame();
    assert_eq!(names(&play.feed()), ["d", "c"], "nothing was left out");
}

#[test]
fn of_kinds_that_may_not_be_read_no_change_can_be_seen_and_that_is_said() {
    for (code, words) in [(403, "forbidden"), (401, "does not take your credential")] {
        let mut play = Play::found("#/pods,nodes?view=changes");
        for (id, _) in play.informers.clone() {
            play.reflects(id, Input::Start);
            let refused = r#"{"kind":"Status","status":"Failure","code":403,"message":"no"}"#;
            let refused = refused.replace("403", &code.to_string());
            play.reflects(id, Input::Failed(Failure::from_response(code, None, &refused)));
        }
        play.frame();
        let empty = &play.page.view().feed.frame.empty;
        let begins = "No change of any of these 2 kinds can be seen. Pods";
        assert!(empty.starts_with(begins) && empty.contains(words), "{code}: {empty}");
    }
}

/// The name of the row in hand, and its words.
fn in_hand(play: &Play) -> Option<(String, String)> {
    let place = play.page.view().feed.window.hand?;
    play.feed().into_iter().nth(place)
}

#[test]
fn keys_go_through_the_rows_of_the_feed_and_not_of_the_table_behind_it() {
    let (mut play, id) = listed();
    for version in 10..40 {
        play.change(id, "ADDED", &format!("n{version}@{version}"));
    }
    let name = |play: &Play| in_hand(play).map(|(name, _)| name).unwrap_or_default();
    for (keys, expected) in [
        (&["j"][..], "n/n39"),
        (&["ArrowDown", "ArrowDown"], "n/n37"),
        (&["k"], "n/n38"),
        (&["End", "ArrowUp"], "n/n11"),
        (&["Home"], "n/n39"),
        (&["PageDown"], "n/n33"),
        (&["PageUp"], "n/n39"),
    ] {
        play.press(keys, Focus::Table);
        assert_eq!(name(&play), expected, "{keys:?}");
    }
    let done = play.done();
    assert!(done.contains("focus feed") && done.contains("scroll ") && !done.contains("focus table"), "{done}");
    assert!(play.page.view().rows.cursor.is_none(), "the hidden table has no row in hand");
    play.press(&["j", "Enter"], Focus::Table);
    let done = play.done();
    assert!(done.contains("n38") && done.contains("tab=changes") && done.contains("change="), "{done}");
    // The cursor stays on its row while others come.
    play.wait(5_000.0);
    play.change(id, "ADDED", "x@50");
    assert_eq!((&*play.feed()[0].0, &*name(&play)), ("n/x", "n/n38"));
    // A filter makes the rows anew.
    play.command(Command::Filter(String::from("name:n38")));
    play.frame();
    assert_eq!((play.feed().len(), &*name(&play)), (1, "n/n38"));
    play.done();
    play.command(Command::Row(Step::First));
    assert!(play.done().contains("focus feed"), "the filter's Enter leads to the rows in sight");
    for key in ["W", "c", "s", "y"] {
        assert_eq!(play.on(key, Focus::Table), None, "{key} is for the table");
    }
    play.command(Command::Timeline(TimelineCommand::Fill(true)));
    assert_eq!(play.on("j", Focus::Table), Some(Command::Timeline(TimelineCommand::Lane(Step::By(1)))));
}

/// A Pod with two labels.
fn labelled(play: &mut Play, id: InformerId, (name, version): (&str, u32), labels: [u32; 2]) {
    let [one, two] = labels;
    let labels = format!(r#"{{"one":"{one}","two":"{two}"}}"#);
    let metadata = format!(
        r#"{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"{version}","labels":{labels}}}"#
    );
    play.place.now.set(play.place.now.get() + 1_000.0);
    play.reflects(id, Input::Frame(&format!(r#"{{"type":"MODIFIED","object":{{"metadata":{metadata}}}}}"#)));
    play.frame();
}

#[test]
fn keys_open_a_row_and_close_it() {
    let (mut play, id) = listed();
    (0..3).for_each(|at| labelled(&mut play, id, ("p", 10 + at), [at, 0]));
    let what = |play: &Play| play.page.view().feed.window.rows.iter().map(|row| row.what).collect::<Vec<_>>();
    let before = what(&play);
    play.press(&["j", "ArrowRight", "ArrowDown"], Focus::Table);
    assert!(what(&play).len() > before.len() && what(&play)[1] == "line", "{:?}", what(&play));
    assert_eq!(play.page.view().feed.window.hand, Some(1));
    play.press(&["ArrowLeft"], Focus::Table);
    assert_eq!((what(&play), play.page.view().feed.window.hand), (before, Some(0)));
}

#[test]
fn what_is_noise_is_chosen_undone_and_remembered() {
    let (mut play, id) = listed();
    for name in ["p", "q"] {
        (0..2).for_each(|at| labelled(&mut play, id, (name, 10 + at), [at, 0]));
    }
    let count = |play: &Play| -> usize { play.feed().iter().filter(|(_, words)| words.contains("label one")).count() };
    let stored = |play: &Play| play.place.stored.borrow().get("kubechurn.noise").cloned().unwrap_or_default();
    assert_eq!(count(&play), 2, "{:?}", play.feed());
    play.press(&["j", "m"], Focus::Table);
    let offer = play.page.view().feed.noise.clone();
    assert_eq!(
        (&*offer.path, &offer.choices[..]),
        ("metadata.labels.one", &["every Pod".into(), "Pod shop/q alone".into()][..])
    );
    // Esc closes the menu, and nothing else.
    play.press(&["Escape"], Focus::Control);
    assert!(play.page.view().feed.noise.choices.is_empty() && count(&play) == 2);
    play.press(&["m"], Focus::Table);
    play.command(Command::Feed(FeedCommand::Noise(1)));
    play.frame();
    let noise = play.page.view().feed.noise.clone();
    assert!(noise.choices.is_empty(), "a choice closes the menu");
    assert_eq!(noise.done, "metadata.labels.one of Pod shop/q alone is folded as noise.");
    assert_eq!((count(&play), &*stored(&play)), (1, "Pod=shop/q metadata.labels.one\n"));
    assert_eq!(play.page.view().feed.frame.noise, ["metadata.labels.one of Pod shop/q alone"]);
    // What comes is noise too, and that of another object is not.
    labelled(&mut play, id, ("q", 20), [7, 0]);
    labelled(&mut play, id, ("p", 21), [7, 0]);
    assert!(play.feed().iter().all(|(name, words)| !name.contains('q') || !words.contains("label one")));
    play.command(Command::Feed(FeedCommand::UndoNoise));
    (0..3).for_each(|_| play.frame());
    assert_eq!((count(&play), &*stored(&play), &*play.page.view().feed.noise.done), (2, "", ""));
    // Of every object of the kind; the notice goes, and the list takes it back.
    play.press(&["Home", "m"], Focus::Table);
    play.command(Command::Feed(FeedCommand::Noise(0)));
    play.frame();
    assert_eq!((count(&play), &*stored(&play)), (0, "Pod metadata.labels.one\n"));
    play.wait(15_000.0);
    play.frame();
    assert_eq!(play.page.view().feed.noise.done, "");
    let fields: Vec<(String, String)> = play.place.stored.borrow().clone().into_iter().collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut again = Play::at("http://127.0.0.1:8080/#/pods?view=changes", &fields);
    again.frame();
    assert_eq!(again.page.view().feed.frame.noise, ["metadata.labels.one of every Pod"], "it is remembered");
    play.command(Command::Feed(FeedCommand::NoNoise(0)));
    (0..3).for_each(|_| play.frame());
    assert_eq!((count(&play), &*stored(&play)), (2, ""));
}
