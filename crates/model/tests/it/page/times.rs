//! Times as the page shows them: by the local clock, in UTC, or by the name of the zone; where clocks are put back, and where a
//! day begins.

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::inspector::last_write::Outcome;
use kubechurn_model::page::command::{InspectorCommand, TimelineCommand};
use kubechurn_model::page::time_words::{TimeWords, Zone};
use kubechurn_model::table::export::Format;
use kubechurn_model::timeline::mark::MarkType;

use super::*;

const HOUR: f64 = 3_600_000.0;
/// 25 October 2026, 01:00 UTC: in Berlin, 03:00 becomes 02:00.
const BACK: f64 = 1_792_890_000_000.0;

/// A page in Berlin half an hour before the clocks are put back, which received a version then and one half an hour after.
fn berlin(fragment: &str) -> Play {
    let mut play = Play::listed(fragment, &["a@1"]);
    play.place.zone.set((BACK, 2.0 * HOUR, HOUR));
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
    for (by, version) in [(-0.5, 101), (0.5, 102)] {
        play.place.now.set(BACK + by * HOUR + 5_678.0);
        play.hears("pods", "MODIFIED", &format!("a@{version}"));
        play.frame();
    }
    (0..30).for_each(|_| play.frame());
    play
}

/// The times of the feed, those of the inspector's changes, and the clock that the footer names.
fn shown(play: &Play) -> (Vec<&str>, Vec<&str>, &str) {
    let view = play.page.view();
    (
        view.feed.window.rows.iter().map(|row| &*row.time).collect(),
        view.inspector.versions.shown.iter().map(|version| &*version.time).take(2).collect(),
        &view.footer.clock,
    )
}

#[test]
fn one_switch_shows_every_time_by_another_clock_and_the_next_visit_knows_it() {
    let mut play = berlin("#/pods?view=changes&sel=n/a&tab=changes");
    let (feed, changes, clock) = shown(&play);
    assert_eq!((&changes[..], clock), (&["02:30:05.678", "02:30:05.678"][..], "local time"), "an hour passed");
    assert!(feed.contains(&"02:30:05.678"), "{feed:?}");
    play.press(&["z"], Focus::Table);
    assert_eq!(play.message(), "Times are shown in UTC.");
    assert!(play.done().contains("store kubechurn.zone utc"));
    (0..10).for_each(|_| play.frame());
    let (feed, changes, clock) = shown(&play);
    assert_eq!((&changes[..], clock), (&["01:30:05.678Z", "00:30:05.678Z"][..], "UTC"));
    assert!(feed.iter().all(|time| time.ends_with('Z')), "{feed:?}");
    let frame = play.page.view().feed.frame.words.clone();
    assert!(frame.contains("since 00:30:05Z"), "{frame}");
    assert!(play.page.view().timeline.span.ends_with(" · UTC"), "{}", *play.page.view().timeline.span);
    play.press(&["z"], Focus::Control);
    (0..10).for_each(|_| play.frame());
    assert_eq!(shown(&play).1, ["02:30:05.678", "02:30:05.678"]);
    assert!(play.page.view().timeline.span.ends_with(" · Europe/Berlin"));
    assert!(play.done().contains("store kubechurn.zone named"));
    let next = Play::at("http://127.0.0.1:8080/#/pods", &[("kubechurn.zone", "named")]);
    assert_eq!(&*next.page.view().footer.clock, "Europe/Berlin");
    play.press(&["z"], Focus::Table);
    assert!(play.done().contains("store kubechurn.zone nothing"));
    let odd = Play::at("http://127.0.0.1:8080/#/pods", &[("kubechurn.zone", "mars")]);
    assert_eq!(&*odd.page.view().footer.clock, "local time");
}

#[test]
fn whoever_points_at_a_time_sees_date_and_zone() {
    let mut play = berlin("#/pods");
    let full = |play: &Play, at: f64| play.page.full_time(at, &play.place);
    let expected =
        ["Sun 2026-10-25 02:30:05.678 +02:00 Europe/Berlin", "Sun 2026-10-25 02:30:05.678 +01:00 Europe/Berlin"];
    assert_eq!([-0.5, 0.5].map(|by| full(&play, BACK + by * HOUR + 5_678.0)), expected, "only so they are told apart");
    assert_eq!(full(&play, BACK), "Sun 2026-10-25 02:00:00 +01:00 Europe/Berlin", "objects know whole seconds");
    // A mark of the lanes is pointed at with the canvas.
    let scene = play.page.scene().expect("a scene");
    let glyph = *scene.glyphs.iter().find(|glyph| glyph.mark_type == MarkType::Updated).expect("a mark");
    play.command(Command::Timeline(TimelineCommand::Hover(Some((glyph.x, glyph.y)))));
    play.frame();
    let words = play.page.view().timeline.hover.to_string();
    assert!(words.starts_with(expected[1]), "{words}");
    play.press(&["z"], Focus::Table);
    assert_eq!(full(&play, BACK - 0.5), "Sun 2026-10-25 00:59:59.999 UTC");
}

#[test]
fn the_last_write_and_a_deletion_are_shown_by_the_clock() {
    let mut play = berlin("#/pods?sel=n/a&tab=yaml");
    let uid = || Command::Inspector(InspectorCommand::LastWrite(Some(String::from("/metadata/uid"))));
    play.command(uid());
    (0..3).for_each(|_| play.frame());
    let answer = (*play.page.view().inspector.last_write).clone().expect("an answer");
    assert!(matches!(answer.outcome, Outcome::Before(at) if Some(at) == answer.at), "{answer:?}");
    let before = TimeWords { env: &play.place, zone: Zone::Local }.time_of_day(answer.at.unwrap_or_default());
    assert_eq!(answer.when, format!("before {before}, since when its versions are kept"));
    play.press(&["z"], Focus::Table);
    let when = play.page.view().inspector.last_write.as_ref().map(|answer| answer.when.clone());
    assert!(when.as_deref().is_some_and(|when| when.contains("Z, since")), "{when:?}");
    play.hears("pods", "DELETED", "a@103");
    (0..30).for_each(|_| play.frame());
    let words = play.page.view().inspector.inspected.as_ref().map(|one| one.words.clone()).unwrap_or_default();
    assert!(words.starts_with("Deleted at 01:30:") && words.contains("Z."), "{words}");
}

#[test]
fn what_leaves_the_page_bears_its_zone() {
    let mut play = berlin("#/pods");
    let written = |play: &Play, zone| TimeWords { env: &play.place, zone }.rfc3339(BACK - 1.0);
    let all = [Zone::Local, Zone::Utc, Zone::Named].map(|zone| written(&play, zone));
    let expected =
        ["2026-10-25T02:59:59.999+02:00", "2026-10-25T00:59:59.999Z", "2026-10-25T02:59:59.999+02:00[Europe/Berlin]"];
    assert_eq!(all, expected);
    play.done();
    play.command(Command::Export(Format::Csv));
    assert!(play.done().starts_with("save pods-20261025T023008.csv"));
    play.press(&["z"], Focus::Table);
    play.done();
    play.command(Command::Export(Format::Json));
    assert!(play.done().starts_with("save pods-20261025T013008Z.ndjson"));
}

#[test]
fn west_of_greenwich_and_on_a_clock_that_was_set_back_the_zone_is_shown_too() {
    let place = Place::default();
    place.now.set(BACK);
    place.zone.set((0.0, 0.0, -3.5 * HOUR));
    let words = TimeWords { env: &place, zone: Zone::Local };
    assert_eq!(words.full(BACK + 1.0), "Sat 2026-10-24 21:30:00.001 -03:30 Europe/Berlin");
    assert_eq!(words.date_and_time(BACK - 30.0 * HOUR), "23 Oct 15:30");
    assert_eq!(TimeWords { zone: Zone::Utc, ..words }.date_and_time(BACK - 30.0 * HOUR), "23 Oct 19:00Z");
    assert_eq!(words.date_and_second(BACK - HOUR), "20:30:00");
}
