//! The ways in which a user moves about on the timeline.

use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::page::keys::{self, Focus, Press};

use super::*;

/// Presses a key, and shows a frame: whether the timeline follows the time, and the length of its window.
fn press(play: &mut Play, key: &str) -> (bool, String) {
    let press = Press { key, ..Press::default() };
    play.command(keys::command(press, Focus::Table, true).expect("a key of the timeline"));
    play.frame();
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
    assert_eq!(play.place.time_of_day(1_795_423_272_402.9), "08:41:12.402");
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
