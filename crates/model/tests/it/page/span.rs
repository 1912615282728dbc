//! A chosen stretch of time: dragged on the timeline, or around a change; its counts, and the feed of it.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::feed::span::{SpanCommand, SpanModel};
use kubechurn_model::navigation::route::Route;
use kubechurn_model::page::command::{Command, Rows, TimelineCommand};
use kubechurn_model::page::effect::Pace;
use kubechurn_model::page::keys::{self, Focus, Press};
use kubechurn_model::timeline::scale::Window;
use kubechurn_model::timeline::scene::Scene;

use kubechurn_client::testing::event;

use super::Play;
use super::changes::{listed, listed_at, names};

fn scene(play: &Play) -> &Scene {
    play.page.scene().expect("a scene")
}

fn model(play: &Play) -> SpanModel {
    (*play.page.view().feed.span).clone().expect("a stretch is chosen")
}

fn counts(play: &Play, title: &str) -> Vec<(String, String, String)> {
    let model = model(play);
    let section = model.sections.into_iter().find(|section| section.title == title);
    let rows = section.into_iter().flat_map(|section| section.rows);
    rows.map(|row| (row.name, row.count, row.note)).collect()
}

/// Presses the pointer at one place, moves it to another one, and releases it there.
fn drag(play: &mut Play, from: (f64, f64), to: (f64, f64), shift: bool) {
    play.command(Command::Timeline(TimelineCommand::Press(from.0, from.1, shift)));
    for part in [0.3, 1.0] {
        let x = from.0 + (to.0 - from.0) * part;
        play.command(Command::Timeline(TimelineCommand::Drag(x, to.1)));
        play.frame();
    }
    play.command(Command::Timeline(TimelineCommand::Release(to.0, to.1)));
}

/// A feed on which an object was added each second for twenty seconds, and three in each of the last four.
fn busy(fragment: &str) -> (Play, InformerId) {
    let (mut play, id) = listed_at(fragment);
    play.command(Command::Timeline(TimelineCommand::Resize(1_012.0, 220.0)));
    for second in 0..20 {
        for number in 0..if second < 16 { 1 } else { 3 } {
            play.change(id, "ADDED", &format!("p{second}-{number}@{}", 100 + 10 * second + number));
        }
        play.place.now.set((play.place.now.get() / 1_000.0).ceil() * 1_000.0);
    }
    play.frame();
    (play, id)
}

#[test]
fn a_stretch_is_dragged_on_the_axis_and_counted_and_the_feed_is_limited_to_it() {
    let (mut play, _) = busy("#/pods?view=changes");
    let (layout, scale) = (scene(&play).layout, scene(&play).scale);
    let now = play.place.now.get();
    // The last four seconds: the window follows the time, and the drag ends at its right end.
    let window = Window { from: (now / 1_000.0).floor() * 1_000.0 - 4_000.0, to: now + 1_000.0 };
    let axis = layout.bottom + 8.0;
    play.command(Command::Timeline(TimelineCommand::Press(scale.x(window.from), axis, false)));
    play.command(Command::Timeline(TimelineCommand::Drag(scale.x(now), axis)));
    play.frame();
    assert!(scene(&play).span.is_some(), "it is drawn while it is dragged");
    play.done();
    play.command(Command::Timeline(TimelineCommand::Release(scale.x(now), axis)));
    let asked = play.done();
    assert!(asked.contains("push #/pods?span=") && asked.contains("&view=changes"), "{asked}");
    play.arrive();
    play.frame();
    let chosen = play.page.view().header.route.span.expect("the address has it");
    assert!((chosen.from - window.from).abs() < 200.0 && (chosen.to - now).abs() < 400.0, "{chosen:?} {window:?}");
    let feed = play.feed();
    let rows: usize =
        feed.iter().map(|(name, words)| usize::from(name.contains("p1") || words.contains("added"))).sum();
    assert!(rows > 0, "{feed:?}");
    assert_eq!(counts(&play, "kind"), [("Pod".into(), "12".into(), "× 3".into())], "{:?}", model(&play));
    assert_eq!((&*model(&play).words, &*model(&play).reading), ("12 changes", ""));
    let [from, to] = scene(&play).span.expect("it is drawn");
    assert!((scene(&play).scale.time(to) - scene(&play).scale.time(from) - (chosen.to - chosen.from)).abs() < 200.0);

    // Esc gives it up, and the feed is whole again.
    play.command(Command::Leave);
    play.arrive();
    play.frame();
    assert_eq!((&play.page.view().header.route.span, play.page.view().feed.span.is_none()), (&None, true));
    assert!(play.page.view().feed.frame.words.starts_with("28 changes"), "{}", play.page.view().feed.frame.words);
}

#[test]
fn shift_drags_a_stretch_on_the_lanes_and_a_plain_drag_moves_the_picture() {
    let (mut play, _) = busy("#/pods");
    let layout = scene(&play).layout;
    drag(&mut play, (400.0, layout.top + 20.0), (600.0, layout.top + 25.0), false);
    play.frame();
    assert!(!*play.page.view().timeline.following, "it shows the past");
    let moved = play.place.now.get() - scene(&play).scale.window.to;
    assert!((moved / scene(&play).scale.ms_per_pixel() - 200.0).abs() < 10.0, "by 200 pixels: {moved} ms");
    assert_eq!(play.page.view().header.route.span, None);
    play.done();
    drag(&mut play, (600.0, layout.top + 20.0), (400.0, layout.top + 25.0), true);
    assert!(play.done().contains("push #/pods?span="));
    // A click selects, as ever, and a drag that the browser takes away changes nothing.
    play.command(Command::Timeline(TimelineCommand::Follow));
    play.frame();
    let y = scene(&play).lanes.iter().flatten().next().expect("a lane").y;
    play.command(Command::Timeline(TimelineCommand::Press(500.0, y, false)));
    play.command(Command::Timeline(TimelineCommand::Release(500.0, y)));
    assert!(play.done().contains("sel="));
    play.command(Command::Timeline(TimelineCommand::Press(500.0, layout.bottom + 5.0, false)));
    play.command(Command::Timeline(TimelineCommand::Drag(700.0, layout.bottom + 5.0)));
    play.command(Command::Timeline(TimelineCommand::GiveUp));
    play.command(Command::Timeline(TimelineCommand::Release(700.0, layout.bottom + 5.0)));
    assert_eq!(play.done(), "");
}

#[test]
fn the_overview_s_brush_sets_the_window_and_its_edges_are_dragged() {
    let (mut play, _) = busy("#/pods");
    let (layout, strip) = (scene(&play).layout, scene(&play).strip);
    let y = (layout.strip_top + layout.strip_bottom) / 2.0;
    let now = play.place.now.get();
    let wanted = Window { from: now - 15_000.0, to: now - 5_000.0 };
    drag(&mut play, (strip.x(wanted.from), y), (strip.x(wanted.to), y), false);
    play.frame();
    let is_near = |play: &Play, wanted: Window| {
        let window = scene(play).scale.window;
        (window.from - wanted.from).abs() < 400.0 && (window.to - wanted.to).abs() < 400.0
    };
    assert!(is_near(&play, wanted), "{:?} {wanted:?}", scene(&play).scale.window);
    assert!(!*play.page.view().timeline.following && play.page.view().header.route.span.is_none());
    // Its left edge.
    let framed = scene(&play).framed;
    let strip = scene(&play).strip;
    drag(&mut play, (framed[0] + 1.0, y), (strip.x(wanted.from - 5_000.0), y), false);
    play.frame();
    let wanted = Window { from: wanted.from - 5_000.0, ..wanted };
    assert!(is_near(&play, wanted), "{:?} {wanted:?}", scene(&play).scale.window);
    // With Shift, the stretch itself is chosen.
    play.done();
    drag(&mut play, (strip.x(now - 8_000.0), y), (strip.x(now - 6_000.0), y), true);
    assert!(play.done().contains("push #/pods?span="));
    play.arrive();
    assert!(is_near(&play, wanted), "the window stays");
    play.command(Command::Timeline(TimelineCommand::DoubleClick(strip.x(now - 30_000.0), y)));
    play.arrive();
    assert!(*play.page.view().timeline.following && play.page.view().header.route.span.is_none());
}

#[test]
fn what_else_changed_around_a_change_is_two_seconds_on_both_sides() {
    let (mut play, _) = busy("#/pods?view=changes");
    let at = play.page.view().feed.window.rows.last().expect("a row").at;
    play.command(Command::Span(SpanCommand::Around(at)));
    play.arrive();
    let chosen = play.page.view().header.route.span.expect("chosen");
    assert!(chosen.from <= at - 2_000.0 && at + 2_000.0 <= chosen.to && chosen.span() <= 4_002.0, "{chosen:?}");
    // What is not a time is none.
    play.command(Command::Span(SpanCommand::Around(f64::NAN)));
    play.arrive();
    assert_eq!(play.page.view().header.route.span, Some(chosen));
    // By its key at the mark under the pointer, from the table: the feed is shown.
    let (mut play, _) = busy("#/pods");
    let press = Press { key: "e", ..Press::default() };
    let key = || keys::command(press, Focus::Table, Rows::Table, true).expect("a key");
    play.command(key());
    assert!(play.message().starts_with("Point at a mark"), "{}", play.message());
    let glyph = scene(&play).glyphs[0];
    let wanted = scene(&play).scale.time(glyph.x);
    play.command(Command::Timeline(TimelineCommand::Hover(Some((glyph.x, glyph.y)))));
    play.command(key());
    play.arrive();
    let route = play.page.view().header.route.clone();
    let chosen = route.span.expect("chosen");
    assert!(route.changes && ((chosen.from + chosen.to) / 2.0 - wanted).abs() < 200.0, "{chosen:?} {wanted}");
    // A click on a mark offers the same.
    play.command(Command::Timeline(TimelineCommand::Click(glyph.x, glyph.y)));
    assert!(play.page.view().timeline.clicked.is_some());
}

#[test]
fn a_click_on_a_count_filters_the_feed_of_the_stretch_and_a_second_one_takes_it_back() {
    let (mut play, _) = busy("#/pods");
    let now = play.place.now.get();
    play.command(Command::Go(Box::new(Route::parse(&format!("#/pods?span={}-{}", now as u64 - 3_000, now as u64)))));
    play.arrive();
    play.frame();
    let rows: Vec<_> = model(&play).sections.into_iter().flat_map(|section| section.rows).collect();
    assert_eq!(rows[0].filter, "kind:Pod");
    play.command(Command::Span(SpanCommand::Filter(rows[0].filter.clone())));
    let there = play.arrive();
    assert!(play.page.view().header.route.changes, "{there}");
    play.frame();
    assert!(!play.feed().is_empty());
    let all = play.feed();
    play.command(Command::Filter(String::from("kind:Node")));
    play.frame();
    assert_eq!(play.feed(), []);
    play.command(Command::Span(SpanCommand::Filter(String::from("kind:Node"))));
    play.arrive();
    assert_eq!((&*play.page.view().header.route.text, play.feed()), ("", all));
}

#[test]
fn a_stretch_survives_in_the_address_and_says_that_its_data_did_not() {
    let (play, _) = listed_at("#/pods?span=100-200&view=changes");
    assert!(play.page.view().header.route.fragment().contains("span=100-200"));
    let model = model(&play);
    assert_eq!(model.words, "0 changes");
    assert!(model.left_out.starts_with("nothing is known before"), "{model:?}");
    assert_eq!(play.page.view().feed.frame.empty, "Nothing that is kept changed in this time.");
}

#[test]
fn what_comes_while_the_stretch_is_shown_is_counted_too() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@10");
    play.change(id, "DELETED", "c@11");
    let now = play.place.now.get() as u64;
    play.command(Command::Go(Box::new(Route::parse(&format!("#/pods?span=0-{}&view=changes", now + 60_000)))));
    play.arrive();
    play.frame();
    assert_eq!(names(&play.feed()), ["c"]);
    // It reaches into the future: what comes later is counted, too.
    play.change(id, "ADDED", "d@12");
    play.frame();
    play.frame();
    play.frame();
    assert_eq!(model(&play).words, "3 changes");
    play.change(id, "MODIFIED", "d@13");
    (0..3).for_each(|_| play.frame());
    assert_eq!(model(&play).words, "3 changes, and 1 that says nothing");
}

#[test]
fn a_long_stretch_is_read_in_slices_and_says_how_far_it_is() {
    let (mut play, id) = listed();
    for version in 0..400 {
        play.reflects(id, Input::Frame(&event("ADDED", &format!("n{version}@{}", 100 + version))));
    }
    (0..3).for_each(|_| play.frame());
    let now = play.place.now.get() as u64;
    // Each look at the clock takes a millisecond, as if reading took it: a frame reads a few changes only.
    play.place.step.set(1.0);
    play.command(Command::Go(Box::new(Route::parse(&format!("#/pods?span=0-{now}&view=changes")))));
    let fragment = play.place.url.borrow().1.clone();
    play.command(Command::Arrive(fragment));
    let mut frames = 0;
    let mut seen = Vec::new();
    loop {
        play.frame = None;
        play.frame();
        frames += 1;
        let reading = model(&play).reading;
        if reading.is_empty() {
            break;
        }
        assert_eq!(play.frame, Some(Pace::Hurried), "the next slice is asked for");
        assert!(frames < 200, "{reading}");
        seen.push(reading);
    }
    assert!((10..=100).contains(&frames), "{frames} frames");
    assert!(seen.iter().all(|words| words.ends_with(" of 400")), "{seen:?}");
    seen.dedup();
    assert!(seen.len() > 5, "{seen:?}");
    assert_eq!(model(&play).words, "400 changes");
}
