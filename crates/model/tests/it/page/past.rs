//! What the objects of a first list say of their past, as the feed shows it.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::feed::{FeedCommand, FeedRow, past};
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::page::time_words::{TimeWords, Zone};

use super::Play;
use super::changes::LISTED;

/// A frame of a Pod that was made at this second of 1970, with this status.
fn made_at(object: &str, second: u64, status: &str) -> String {
    let time = time(second);
    let frame = event("ADDED", object);
    let frame = frame.replace("\"metadata\":{", &format!("\"metadata\":{{\"creationTimestamp\":\"{time}\","));
    let at = frame.rfind("}}").expect("an object in an event");
    format!("{},\"status\":{status}{}", &frame[..at], &frame[at..])
}

fn time(second: u64) -> String {
    format!("1970-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
}

/// A feed of Pods at the 600th second, whose list brings these frames.
fn listed(frames: &[String]) -> (Play, InformerId) {
    let mut play = Play::found("#/pods?view=changes");
    let (id, _) = play.informers[0];
    play.place.now.set(600_000.0);
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 600.0, width: 900.0 }));
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    frames.iter().for_each(|frame| play.reflects(id, Input::Frame(frame)));
    play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    play.frame();
    (play, id)
}

fn rows(play: &Play) -> Vec<String> {
    let text = |row: &FeedRow| {
        let words: String = row.words.iter().chain(&row.below).map(|piece| format!("{} ", piece.text)).collect();
        format!("{} {}{}: {}{}", row.what, row.name, row.name_end, words, row.time).trim_end().to_owned()
    };
    play.page.view().feed.window.rows.iter().map(text).collect()
}

#[test]
fn the_past_stands_below_what_was_received_and_is_counted_nowhere() {
    let crash = format!(
        r#"{{"containerStatuses":[{{"name":"app","restartCount":1,
            "lastState":{{"terminated":{{"exitCode":137,"reason":"OOMKilled","finishedAt":"{}"}}}}}}]}}"#,
        time(540)
    );
    let (mut play, id) = listed(&[made_at("a@1", 300, &crash), made_at("b@2", 420, "{}")]);
    let past = [
        "past-head : Before you came, from the objects: 3",
        "past n/a: container app ended with exit code 137, OOMKilled  00:09:00",
        "past n/b: created  00:07:00",
        "past n/a: created  00:05:00",
    ];
    assert_eq!(rows(&play), past);
    let view = play.page.view();
    assert!(view.feed.frame.words.starts_with("0 changes") && view.feed.frame.empty.starts_with("Nothing has changed"));
    let ages: Vec<&str> = view.feed.window.rows.iter().map(|row| &*row.age).collect();
    assert_eq!(ages[1..], ["1 min", "3 min", "5 min"]);
    assert!(view.feed.window.rows[1].href.contains("a"), "it leads to its object");
    // What is received stands above, and is counted alone.
    play.change(id, "ADDED", "c@10");
    assert!(rows(&play)[0].starts_with("change n/c") && rows(&play)[1..] == past, "{:?}", rows(&play));
    assert!(play.page.view().feed.frame.words.starts_with("1 change "));
    assert_eq!(play.page.view().feed.frame.newer, 0);
    // It folds, and the filter is one for both.
    play.command(Command::Feed(FeedCommand::Open(past::HEAD)));
    play.frame();
    assert_eq!(rows(&play)[1..], past[..1]);
    play.command(Command::Feed(FeedCommand::Open(past::HEAD)));
    play.command(Command::Filter(String::from("status:failing")));
    play.frame();
    assert_eq!(rows(&play), ["past-head : Before you came, from the objects: 1 of 3", past[1]]);
    play.command(Command::Filter(String::from("oomkilled !name:a")));
    play.frame();
    assert!(rows(&play).is_empty());
}

#[test]
fn of_very_many_the_newest_are_kept_and_they_are_read_in_slices() {
    let frames: Vec<String> =
        (1..=3_000).map(|at| made_at(&format!("p{at}@{at}"), 1 + at * 7_919 % 590, "{}")).collect();
    let mut play = Play::found("#/pods?view=changes");
    let (id, _) = play.informers[0];
    play.place.now.set(600_000.0);
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 300.0, width: 900.0 }));
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    frames.iter().for_each(|frame| play.reflects(id, Input::Frame(frame)));
    play.reflects(id, Input::Frame(&bookmark("9000", LISTED)));
    // Each look at the clock takes a millisecond: a frame reads a part.
    play.place.step.set(1.0);
    play.frame();
    assert!(rows(&play)[0].ends_with(" objects are being read"), "{:?}", rows(&play)[0]);
    for _ in 0..1_000 {
        play.frame();
    }
    assert_eq!(rows(&play)[0], "past-head : Before you came, from the objects: 2,000, the newest of 3,000");
    assert!(rows(&play)[1].ends_with("created  00:09:50"), "{:?}", rows(&play)[1]);
    assert_eq!(play.page.view().feed.window.length, 2_001);
}

#[test]
fn lanes_begin_with_what_their_objects_say_and_no_mark_is_made_of_it() {
    let failed = format!(
        r#"{{"conditions":[{{"type":"Ready","status":"False","reason":"NotReady","lastTransitionTime":"{}"}}]}}"#,
        time(570)
    );
    let (mut play, id) = listed(&[made_at("a@1", 300, &failed), made_at("b@2", 590, "{}")]);
    play.change(id, "ADDED", "c@10");
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    play.frame();
    let scene = play.page.scene().unwrap();
    let name = |y: f64| scene.lanes.iter().flatten().find(|lane| lane.y == y).unwrap().key.name.to_string();
    let mut past: Vec<_> = scene
        .past
        .iter()
        .map(|glyph| (name(glyph.y), &*glyph.moment.words, scene.scale.time(glyph.x).round()))
        .collect();
    past.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let expected =
        [(String::from("a"), "Ready became False: NotReady", 570_000.0), (String::from("b"), "created", 590_000.0)];
    assert_eq!(past, expected, "what is older is not in the window");
    // The stretch before the list is hatched, from the edge where it began earlier.
    let mut areas: Vec<_> = scene.past_areas.iter().map(|area| (name(area.y), area.x > scene.layout.left)).collect();
    areas.sort();
    assert_eq!(areas, [(String::from("a"), false), (String::from("b"), true)], "and none of what came later");
    let marks: Vec<serde_json::Value> = serde_json::from_str(&play.page.reports().marks_of("pods").unwrap()).unwrap();
    assert_eq!((marks.len(), scene.glyphs.len()), (3, 3));
    // The pointer says that it was not received.
    let at = scene.past.iter().find(|glyph| name(glyph.y) == "a").map(|glyph| (glyph.x, glyph.y));
    play.command(Command::Timeline(TimelineCommand::Hover(at)));
    play.frame();
    let words: &str = &play.page.view().timeline.hover;
    assert!(
        words.ends_with("from the objects, Thu 1970-01-01 00:09:30 +00:00 Europe/Berlin: Ready became False: NotReady"),
        "{words}"
    );
}

#[test]
fn what_is_older_than_a_day_has_its_date() {
    const DAY: f64 = 86_400_000.0;
    let (mut play, _) = listed(&[made_at("a@1", 540, "{}")]);
    let past = |play: &Play| rows(play).into_iter().find(|row| row.starts_with("past ")).unwrap_or_default();
    assert!(past(&play).ends_with(" 00:09:00"), "{:?}", rows(&play));
    for (days, time) in [(2.0, " 1 Jan 00:09"), (399.0, " 1 Jan 1970")] {
        play.place.now.set(days * DAY);
        play.frame();
        assert!(past(&play).ends_with(time), "{:?}", rows(&play));
    }
    play.place.now.set(400.0 * DAY);
    let words = TimeWords { env: &play.place, zone: Zone::Local };
    let shown = [399.5, 398.544_51, 35.0].map(|days| words.date_and_time(days * DAY));
    assert_eq!(shown, ["12:00:00.000", "3 Feb 13:04", "5 Feb 1970"]);
}

#[test]
fn an_event_that_is_hours_old_stands_at_its_own_time_on_the_lane() {
    let mut play = Play::found("#/pods,events?view=changes");
    play.place.now.set(9_000_000.0);
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
    let [pods, events] = ["pods", "events"].map(of);
    play.lists(pods, &["a@1"]);
    play.reflects(events, Input::Start);
    play.reflects(events, Input::Opened);
    let about = r#"{"type":"ADDED","object":{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","uid":"e",
        "resourceVersion":"5","creationTimestamp":"1970-01-01T00:10:00Z"},"involvedObject":{"kind":"Pod","name":"a","namespace":"n",
        "uid":"a"},"type":"Warning","reason":"BackOff","message":"again","count":3,
        "firstTimestamp":"1970-01-01T00:10:00Z","lastTimestamp":"1970-01-01T00:20:00Z"}}"#;
    play.reflects(events, Input::Frame(about));
    play.reflects(events, Input::Frame(&bookmark("9", LISTED)));
    play.frame();
    let said = rows(&play);
    assert!(said.iter().any(|row| row.contains("BackOff") && row.contains("00:20:00")), "{said:?}");
    let marks: Vec<serde_json::Value> = serde_json::from_str(&play.page.reports().marks_of("events").unwrap()).unwrap();
    assert!(
        marks.iter().all(|mark| mark["type"] == "Replaced" || mark["type"] == "Relist" || mark["type"] == "Sync"),
        "{marks:?}"
    );
}
