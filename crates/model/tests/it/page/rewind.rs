//! A page that shows another moment: rows, counts, feed, titles, exports and handles are of that moment, and nothing of later.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::bookmark;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::history::Budget;
use kubechurn_model::inspector::last_write::Outcome;
use kubechurn_model::page::command::{Command, InspectorCommand, TimelineCommand};
use kubechurn_model::page::effect::Pace;
use kubechurn_model::page::keys::Focus;
use kubechurn_model::rewind::banner::{RewindCommand, RewindModel};
use kubechurn_model::table::export::Format;
use kubechurn_model::view::RowModel;
use serde_json::{Value, json};

use super::Play;

const LISTED: &str = r#"{"k8s.io/initial-events-end":"true"}"#;

/// Rows as they are drawn, by the numbers of their elements.
type Drawn = BTreeMap<u64, Arc<RowModel>>;

fn pod(namespace: &str, name: &str, version: u32, phase: &str) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "uid": name, "resourceVersion": version.to_string()},
        "spec": {"containers": [{"name": "c"}]}, "status": {"phase": phase}})
}

impl Play {
    fn event(&mut self, id: InformerId, word: &str, object: &Value) {
        self.reflects(id, Input::Frame(&json!({"type": word, "object": object}).to_string()));
    }

    /// Goes to a moment, and shows frames until nothing is left to do.
    pub(super) fn rewind(&mut self, command: RewindCommand) {
        self.command(Command::Rewind(command));
        self.arrive();
        self.rests();
    }

    /// Shows frames for as long as one is hurried.
    fn rests(&mut self) {
        for _ in 0..50 {
            if std::mem::take(&mut self.frame) != Some(Pace::Hurried) {
                return;
            }
            self.place.now.set(self.place.now.get() + 1.0);
            self.page.frame(&self.place);
            self.settle();
        }
        panic!("it goes on and on");
    }

    fn banner(&self) -> Option<RewindModel> {
        (*self.page.view().header.rewind).clone()
    }

    /// The rows in the document: name, status and Δ.
    fn table(&mut self, drawn: &mut Drawn) -> Vec<String> {
        drawn.extend(std::mem::take(&mut self.page.view_mut().rows.drawn));
        let view = self.page.view();
        let titles: Vec<&str> = view.table.heads.iter().map(|head| head.title).collect();
        let places = view.rows.window.places.iter();
        let rows = places.map(|place| {
            let row = &drawn[place];
            let cell = |title| titles.iter().position(|own| *own == title).map_or("", |at| &row.cells[at].text);
            let words = [&*row.key.name, cell("STATUS"), cell("Δ"), row.flaw.as_deref().unwrap_or_default()];
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        });
        rows.collect()
    }

    /// Each row in the document with what happens next to its object, and when; nothing where there is no such column.
    fn next(&mut self, drawn: &mut Drawn) -> Vec<String> {
        self.table(drawn);
        let view = self.page.view();
        let Some(column) = view.table.heads.iter().position(|head| head.title == "NEXT") else { return Vec::new() };
        let rows = view.rows.window.places.iter().map(|place| &drawn[place]);
        let seconds = |at: f64| format!(" (at {} s)", (at / 1_000.0).floor());
        let cells = rows.map(|row| (&row.key.name, &row.cells[column]));
        cells.map(|(name, cell)| format!("{name} {}{}", cell.text, cell.at.map_or_else(String::new, seconds))).collect()
    }

    /// The names of the rows in the document whose objects do not exist any more.
    fn gone(&mut self, drawn: &mut Drawn) -> Vec<String> {
        self.table(drawn);
        let rows = self.page.view().rows.window.places.iter().map(|place| &drawn[place]);
        rows.filter(|row| row.gone).map(|row| row.key.name.to_string()).collect()
    }

    fn json(text: Option<String>) -> Value {
        serde_json::from_str(&text.expect("it is watched")).expect("JSON")
    }
}

/// A page on which `a` is Pending at 10 s and Running at 20 s, `b` comes at 30 s and goes at 40 s; it is 60 s then.
fn played(fragment: &str) -> (Play, InformerId, Drawn) {
    let mut play = Play::found(fragment);
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    play.command(Command::Timeline(TimelineCommand::Resize(1_012.0, 220.0)));
    let (id, _) = play.informers[0];
    play.place.now.set(10_000.0);
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    play.event(id, "ADDED", &pod("shop", "a", 1, "Pending"));
    play.event(id, "ADDED", &pod("cart", "z", 2, "Running"));
    play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    for (at, word, object) in [
        (20_000.0, "MODIFIED", pod("shop", "a", 10, "Running")),
        (30_000.0, "ADDED", pod("shop", "b", 11, "Pending")),
        (40_000.0, "DELETED", pod("shop", "b", 12, "Failed")),
    ] {
        play.frame();
        play.place.now.set(at);
        play.event(id, word, &object);
    }
    play.frame();
    play.place.now.set(60_000.0);
    play.rests();
    play.frame();
    (play, id, Drawn::new())
}

#[test]
fn a_row_of_then_says_that_its_object_is_gone_now() {
    let (mut play, id, mut drawn) = played("#/pods");
    play.rewind(RewindCommand::To(35_000.0));
    assert_eq!(play.gone(&mut drawn), ["b"]);
    // It goes while the moment is shown; and another one gets the name.
    play.event(id, "DELETED", &pod("cart", "z", 13, "Running"));
    let mut other = pod("shop", "a", 14, "Pending");
    other["metadata"]["uid"] = json!("a-2");
    play.event(id, "DELETED", &pod("shop", "a", 14, "Running"));
    play.event(id, "ADDED", &other);
    play.frame();
    play.rests();
    assert_eq!(play.gone(&mut drawn), ["z", "a", "b"]);
    play.rewind(RewindCommand::Live);
    assert_eq!(play.gone(&mut drawn), [""; 0], "deleted rows say so themselves");
}

#[test]
fn a_row_of_then_says_what_happens_next_to_its_object() {
    let (mut play, id, mut drawn) = played("#/pods");
    assert_eq!(play.next(&mut drawn), [""; 0], "of what comes next nothing is known now");
    for (at, rows) in [
        (15_000.0, &["z –", "a ● +5 s (at 20 s)"][..]),
        (19_950.0, &["z –", "a ● +0 s (at 20 s)"]),
        (20_000.0, &["z –", "a –"]),
        (12_340.0, &["z –", "a ● +7.6 s (at 20 s)"]),
        (35_000.0, &["z –", "a –", "b ✕ +5 s (at 40 s)"]),
        (38_500.0, &["z –", "a –", "b ✕ +1.5 s (at 40 s)"]),
    ] {
        play.rewind(RewindCommand::To(at));
        assert_eq!(play.next(&mut drawn), rows, "{at}");
    }
    // What is received meanwhile comes next, too, and so does another object of that name.
    play.event(id, "MODIFIED", &pod("cart", "z", 13, "Failed"));
    let mut other = pod("shop", "a", 15, "Pending");
    other["metadata"]["uid"] = json!("a-2");
    play.event(id, "DELETED", &pod("shop", "a", 14, "Running"));
    play.event(id, "ADDED", &other);
    play.frame();
    play.rests();
    assert_eq!(play.next(&mut drawn), ["z ● +22 s (at 60 s)", "a ✕ +22 s (at 60 s)", "b ✕ +1.5 s (at 40 s)"]);
    // Nobody sorts by it, and no export has it: it is not of the object.
    assert!(play.page.view().table.heads.iter().any(|head| head.title == "NEXT" && head.sort.is_empty()));
    play.rewind(RewindCommand::Live);
    assert_eq!(play.next(&mut drawn), [""; 0]);
}

#[test]
fn rows_counts_ages_and_handles_are_of_the_moment_and_now_comes_back() {
    let (mut play, id, mut drawn) = played("#/pods");
    let now = play.table(&mut drawn);
    assert_eq!(play.banner(), None);
    for (at, rows, count) in [
        (35_000.0, &["z Running 25s", "a Running 15s", "b Pending 5s"][..], "3 / 3"),
        (20_000.0, &["z Running 10s", "a Running 0s"], "2 / 2"),
        (19_999.0, &["z Running 9s", "a Pending 9s"], "2 / 2"),
        (45_000.0, &["z Running 35s", "a Running 25s"], "2 / 2"),
    ] {
        play.rewind(RewindCommand::To(at));
        assert_eq!(play.table(&mut drawn), rows, "{at}");
        assert_eq!(*play.page.view().table.count, count, "{at}");
        let names: Vec<String> = rows.iter().map(|row| row.split(' ').next().unwrap_or_default().to_owned()).collect();
        let rows = Play::json(play.page.reports().rows_of("pods", &play.place));
        let mut rows: Vec<String> = rows
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["cells"]["NAME"].as_str().unwrap().to_owned())
            .collect();
        rows.sort_by_key(|name| names.iter().position(|own| own == name));
        assert_eq!(rows, names, "{at}");
        assert_eq!(play.state(), "rewound");
        assert!(play.page.view().header.title.starts_with("⏪ "), "{}", *play.page.view().header.title);
    }
    // What comes meanwhile is received, and not shown.
    let then = play.page.reports().digest_of("pods");
    play.event(id, "MODIFIED", &pod("shop", "a", 13, "Failed"));
    play.event(id, "ADDED", &pod("shop", "c", 14, "Pending"));
    play.frame();
    play.rests();
    assert_eq!(play.table(&mut drawn), ["z Running 35s", "a Running 25s"]);
    assert_eq!(play.page.reports().digest_of("pods"), then);
    play.wait(1_000.0);
    play.frame();
    assert_eq!(play.banner().expect("a banner").since, "2 changes since");
    play.press(&["L"], Focus::Table);
    play.arrive();
    play.rests();
    assert_eq!((play.banner(), play.state()), (None, "live"));
    let rows = play.table(&mut drawn);
    assert_eq!(rows.len(), 3, "{rows:?} {now:?}");
    assert!(rows[1].starts_with("a Failed") && rows[2].starts_with("c Pending"), "{rows:?}");
    assert_ne!(play.page.reports().digest_of("pods"), then);
}

#[test]
fn before_the_first_list_nothing_is_known_and_that_is_said() {
    let (mut play, _, mut drawn) = played("#/pods");
    play.rewind(RewindCommand::To(9_000.0));
    assert_eq!(play.table(&mut drawn), [""; 0]);
    let words = (*play.page.view().rows.empty).clone().expect("words");
    assert_eq!(words, "It is not known which Pods there were at this moment: they were not watched.");
    let troubles = &play.page.view().table.trouble;
    assert_eq!((troubles.len(), &*troubles[0].what), (1, "Pods: not watched at this moment."));
    let item = play.page.view().sidebar.items.iter().find(|item| item.name == "pods").cloned().expect("Pods");
    assert_eq!(item.count, "");
}

#[test]
fn order_filter_and_namespaces_are_of_the_moment() {
    let (mut play, _, mut drawn) = played("#/pods?ns=shop&q=STATUS:Pending");
    play.rewind(RewindCommand::To(35_000.0));
    assert_eq!(play.table(&mut drawn), ["b Pending 5s"]);
    assert_eq!(*play.page.view().table.count, "1 / 2");
    play.rewind(RewindCommand::To(15_000.0));
    assert_eq!(play.table(&mut drawn), ["a Pending 5s"]);
    play.command(Command::Filter(String::new()));
    play.command(Command::SortBy("STATUS"));
    play.arrive();
    play.rests();
    assert_eq!(play.table(&mut drawn), ["a Pending 5s"]);
    play.rewind(RewindCommand::To(35_000.0));
    assert_eq!(play.table(&mut drawn), ["b Pending 5s", "a Running 15s"]);
    assert_eq!(*play.page.view().table.progress, "");
}

#[test]
fn lanes_are_those_of_the_rows_that_pass_the_filter_at_the_moment() {
    let (mut play, id, _) = played("#/pods?q=STATUS:Pending");
    let lanes = |play: &mut Play| {
        // Lanes follow a moment that moves a little later.
        play.place.now.set(play.place.now.get() + 200.0);
        play.frame();
        play.rests();
        let lanes = play.page.scene().expect("a scene").lanes.iter().flatten();
        let mut names: Vec<String> = lanes.map(|lane| lane.key.name.to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(lanes(&mut play), [""; 0]);
    for (at, expected) in [(35_000.0, "b"), (15_000.0, "a"), (35_000.0, "b")] {
        play.rewind(RewindCommand::To(at));
        assert_eq!(lanes(&mut play), [expected], "{at}");
    }
    // What comes meanwhile is none of its rows.
    play.event(id, "ADDED", &pod("shop", "c", 14, "Pending"));
    assert_eq!(lanes(&mut play), ["b"]);
    play.rewind(RewindCommand::Live);
    assert_eq!(lanes(&mut play), ["c"]);
}

#[test]
fn a_key_goes_to_the_mark_under_the_pointer_or_to_the_change_that_the_inspector_marks() {
    let (mut play, _, _) = played("#/pods");
    let scene = play.page.scene().expect("a scene").clone();
    let glyph = scene.glyphs.iter().find(|glyph| (scene.scale.time(glyph.x) - 30_000.0).abs() < 2_000.0);
    let glyph = glyph.expect("the mark of b's addition");
    play.command(Command::Timeline(TimelineCommand::Hover(Some((glyph.x, glyph.y)))));
    play.press(&["b"], Focus::Table);
    play.rests();
    assert_eq!(play.banner().expect("a banner").time, "00:00:30.000");
    play.rewind(RewindCommand::Live);
    // A click on it offers the way there.
    play.command(Command::Timeline(TimelineCommand::Press(glyph.x, glyph.y, false)));
    play.command(Command::Timeline(TimelineCommand::Release(glyph.x, glyph.y)));
    let clicked = (*play.page.view().timeline.clicked).expect("the time of the mark");
    assert_eq!((play.banner(), clicked), (None, 30_000.0));
    play.command(Command::Timeline(TimelineCommand::Press(1.0, 200.0, false)));
    play.command(Command::Timeline(TimelineCommand::Release(1.0, 200.0)));
    play.command(Command::Select(None));
    play.arrive();
    play.command(Command::Timeline(TimelineCommand::Hover(None)));
    play.rewind(RewindCommand::Live);
    play.press(&["b"], Focus::Table);
    assert!(play.message().starts_with("Point at a mark"), "{}", play.message());
    play.command(Command::Select(Some(("pods", kubechurn_client::api::object::ObjectKey::new("shop", "a")))));
    play.arrive();
    play.rests();
    play.press(&["b"], Focus::Table);
    play.rests();
    assert_eq!(play.banner().expect("a banner").time, "00:00:20.000");
}

#[test]
fn what_the_watch_of_that_time_selected_is_said_where_now_it_is_something_else() {
    let (mut play, _, mut drawn) = played("#/pods?ns=shop&labels=app%3Dweb");
    let said = |play: &Play| play.page.view().table.trouble.iter().map(|one| one.what.clone()).collect::<Vec<_>>();
    let list = |play: &mut Play| {
        let (id, _) = *play.informers.last().expect("it is watched anew");
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        play.reflects(id, Input::Frame(&bookmark("90", LISTED)));
        play.place.now.set(play.place.now.get() + 10_000.0);
        play.rests();
    };
    play.rewind(RewindCommand::To(35_000.0));
    assert_eq!(said(&play), [""; 0]);
    for (fragment, expected) in [
        ("#/pods?ns=shop", "Pods: only those in shop with app=web were watched at this moment."),
        ("#/pods?ns=shop&labels=app%3Ddb", "Pods: only those in shop with app=web were watched at this moment."),
        ("#/pods?labels=app%3Dweb", "Pods: only those in shop with app=web were watched at this moment."),
        ("#/pods?ns=cart&labels=app%3Dweb", "Pods: not watched at this moment."),
    ] {
        play.rewind(RewindCommand::Live);
        play.command(Command::Arrive(fragment.to_owned()));
        play.settle();
        list(&mut play);
        play.rewind(RewindCommand::To(35_000.0));
        assert_eq!(said(&play), [expected], "{fragment}");
        assert_eq!(play.table(&mut drawn).is_empty(), fragment.contains("cart"), "{fragment}");
    }
    // What is watched without a selector holds more than what is selected now.
    let at = play.place.now.get();
    play.rewind(RewindCommand::Live);
    play.command(Command::Arrive(String::from("#/pods")));
    play.settle();
    list(&mut play);
    play.command(Command::Arrive(String::from("#/pods?labels=app%3Dweb")));
    play.settle();
    list(&mut play);
    play.rewind(RewindCommand::To(at + 5_000.0));
    assert_eq!(said(&play), ["Pods: all were watched at this moment, not only those that are selected now."]);
}

#[test]
fn the_moment_is_in_the_address_and_moves_by_changes() {
    let (mut play, _, mut drawn) = played("#/pods");
    play.press(&[","], Focus::Table);
    assert!(play.done().contains("push #/pods?at=1970-01-01T00:00:40.000Z"));
    play.press(&[",", ","], Focus::Table);
    let done = play.done();
    assert!(done.contains("replace #/pods?at=1970-01-01T00:00:20.000Z") && !done.contains("push"), "{done}");
    play.rests();
    assert_eq!(play.table(&mut drawn), ["z Running 10s", "a Running 0s"]);
    let banner = play.banner().expect("a banner");
    assert_eq!((&*banner.time, &*banner.since), ("00:00:20.000", "2 changes since"));
    assert_eq!(banner.steps, ["", "+10 s"]);
    play.press(&["."], Focus::Table);
    play.rests();
    assert_eq!(play.table(&mut drawn), ["z Running 20s", "a Running 10s", "b Pending 0s"]);
    // A link leads there, and Esc leaves it.
    play.command(Command::Arrive(String::from("#/pods?at=1970-01-01T00:00:15.5Z")));
    play.rests();
    assert_eq!(play.table(&mut drawn), ["z Running 5s", "a Pending 5s"]);
    play.press(&["Escape"], Focus::Table);
    assert!(play.done().contains("push #/pods"));
    assert_eq!(play.banner(), None);
    // A typed time is one of the day that has been.
    play.rewind(RewindCommand::Typed(String::from("0:00:35")));
    assert_eq!(play.banner().expect("a banner").time, "00:00:35.000");
    play.rewind(RewindCommand::Typed(String::from("noon")));
    assert!(play.message().starts_with("Write a time of day"), "{}", play.message());
    // What lies ahead is now.
    play.rewind(RewindCommand::To(1e9));
    assert_eq!(play.banner(), None);
}

#[test]
fn a_file_has_the_rows_of_the_moment_and_its_time() {
    let (mut play, _, _) = played("#/pods?q=STATUS:Pending");
    play.command(Command::Rewind(RewindCommand::To(35_000.0)));
    // Before a frame has read any row.
    play.command(Command::Export(Format::Csv));
    let done = play.done();
    assert!(done.contains("save pods-19700101T000035.csv 1"), "{done}");
}

#[test]
fn it_plays_at_its_speed_and_leaves_out_what_is_quiet() {
    let (mut play, _, mut drawn) = played("#/pods");
    play.rewind(RewindCommand::To(20_500.0));
    play.command(Command::Rewind(RewindCommand::SkipQuiet));
    play.press(&[" "], Focus::Table);
    let began = play.place.now.get();
    let banner = play.banner().expect("a banner");
    assert!(banner.plays && !banner.skips_quiet);
    for _ in 0..20 {
        play.frame();
    }
    let passed = play.place.now.get() - began;
    play.press(&[" "], Focus::Table);
    let at = play.page.view().header.route.at.expect("a moment");
    assert!((at - 20_500.0 - passed).abs() <= 200.0, "{at} after {passed} ms");
    play.rests();
    assert_eq!(play.table(&mut drawn).len(), 2);
    // Ten seconds until the next change are left out.
    play.command(Command::Rewind(RewindCommand::SkipQuiet));
    play.command(Command::Rewind(RewindCommand::Play));
    for _ in 0..8 {
        play.frame();
    }
    play.command(Command::Rewind(RewindCommand::Play));
    play.rests();
    let rows = play.table(&mut drawn);
    assert_eq!(rows.last().map(String::as_str), Some("b Pending 0s"), "what has just changed is seen: {rows:?}");
    // At a hundred times the speed it comes to now, and goes on live.
    play.command(Command::Rewind(RewindCommand::Speed(6)));
    play.command(Command::Rewind(RewindCommand::Play));
    for _ in 0..10 {
        play.frame();
    }
    assert_eq!((play.banner(), play.state()), (None, "live"));
}

#[test]
fn the_feed_ends_with_the_moment_and_says_how_much_came_since() {
    let (mut play, _, _) = played("#/pods?view=changes");
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 400.0, width: 900.0 }));
    play.frame();
    let all = play.feed();
    assert_eq!(all.len(), 2, "{all:?}");
    play.rewind(RewindCommand::To(35_000.0));
    let then = play.feed();
    assert_eq!(then.len(), 2, "{then:?}");
    assert!(then.iter().all(|(_, words)| !words.contains("deleted")), "{then:?}");
    assert_eq!(play.page.view().feed.frame.later, "1 change since");
    play.rewind(RewindCommand::To(25_000.0));
    assert_eq!(play.feed().len(), 1, "{:?}", play.feed());
    assert_eq!(play.page.view().feed.window.rows[0].age, "5 s");
    play.rewind(RewindCommand::To(12_000.0));
    assert_eq!(play.feed(), []);
    assert!(play.page.view().feed.frame.empty.starts_with("Nothing that is kept changed between"));
    // Playing on adds what comes, without reading all anew.
    play.rewind(RewindCommand::To(35_000.0));
    assert_eq!(play.feed(), then);
    play.rewind(RewindCommand::Live);
    assert_eq!((play.feed(), &*play.page.view().feed.frame.later), (all, ""));
}

#[test]
fn loops_and_fights_are_those_that_were_found_then() {
    let (mut play, id, _) = played("#/pods?view=changes");
    let cards = |play: &Play| {
        let rows = play.page.view().feed.wrong.rows.iter().filter(|row| row.is_card);
        rows.map(|row| (row.name.clone(), row.words.clone(), row.time.clone(), row.since.clone())).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for turn in 0..12_u32 {
        let name = if turn < 8 { "a" } else { "z" };
        let phase = ["Running", "Pending"][turn as usize % 2];
        play.event(id, "MODIFIED", &pod(if name == "a" { "shop" } else { "cart" }, name, 20 + turn, phase));
        play.frame();
        play.wait(200.0);
        play.frame();
        seen.push((play.place.now.get(), cards(&play)));
        play.wait(1_000.0);
    }
    let counts: Vec<usize> = seen.iter().map(|(_, cards)| cards.len()).collect();
    assert!(counts.contains(&0) && counts.contains(&1) && counts.is_sorted(), "{counts:?}");
    for (at, then) in seen.into_iter().rev() {
        play.rewind(RewindCommand::To(at));
        play.wait(200.0);
        play.rests();
        play.frame();
        assert_eq!(cards(&play), then, "at {at}");
    }
}

#[test]
fn a_click_on_the_axis_goes_there_and_the_flag_is_dragged() {
    let (mut play, _, mut drawn) = played("#/pods");
    let scene = |play: &Play| play.page.scene().expect("a scene").clone();
    let axis = scene(&play).layout.bottom + 8.0;
    let x = scene(&play).scale.x(35_000.0);
    play.command(Command::Timeline(TimelineCommand::Press(x, axis, false)));
    play.command(Command::Timeline(TimelineCommand::Release(x, axis)));
    play.arrive();
    play.rests();
    assert_eq!(play.table(&mut drawn).len(), 3);
    let flag = scene(&play).moment.expect("a flag");
    assert!(flag.words.starts_with("00:00:3"), "{flag:?}");
    let (x, later) = (flag.x.expect("in the window"), flag.later.expect("later"));
    assert!((x - later).abs() < 1.0 && flag.strip_x.is_some(), "{flag:?}");
    play.done();
    // While it is dragged rows follow, and the address when it is let go.
    let to = scene(&play).scale.x(25_000.0);
    play.command(Command::Timeline(TimelineCommand::Press(x + 20.0, axis, false)));
    play.command(Command::Timeline(TimelineCommand::Drag((x + to) / 2.0, axis)));
    play.command(Command::Timeline(TimelineCommand::Drag(to, axis)));
    play.frame();
    assert_eq!(play.table(&mut drawn).len(), 2);
    assert_eq!(play.done(), "");
    play.command(Command::Timeline(TimelineCommand::Release(to, axis)));
    assert!(play.done().contains("replace #/pods?at=1970-01-01T00:00:2"));
}

#[test]
fn the_inspector_shows_the_object_as_it_was_and_no_later_version() {
    let (mut play, id, _) = played("#/pods?sel=shop/a&tab=yaml");
    play.event(id, "MODIFIED", &pod("shop", "a", 13, "Failed"));
    play.frame();
    let inspected = |play: &Play| {
        let view = &play.page.view().inspector;
        let inspected = (*view.inspected).clone().expect("it is open");
        let phase = view.yaml.yaml.lines.iter().find(|line| line.key == "phase").map(|line| line.value.clone());
        (inspected.state, inspected.words, phase.unwrap_or_default(), view.versions.shown.len(), view.versions.later)
    };
    assert_eq!(inspected(&play), ("live", String::new(), "Failed".into(), 3, 0));
    play.rewind(RewindCommand::To(25_000.0));
    assert_eq!(inspected(&play), ("live", String::new(), "Running".into(), 2, 1));
    assert_eq!(play.page.view().inspector.yaml.words, "resourceVersion 10, as received");
    play.rewind(RewindCommand::To(15_000.0));
    assert_eq!(inspected(&play), ("live", String::new(), "Pending".into(), 1, 2));
    play.rewind(RewindCommand::To(5_000.0));
    let (state, words, _, shown, later) = inspected(&play);
    assert_eq!((state, &*words), ("unknown", "No Pod of this name is known at this moment."));
    assert_eq!((shown, later), (0, 3));
    // The keys for changes go through those of the object.
    play.rewind(RewindCommand::Live);
    assert_eq!(inspected(&play), ("live", String::new(), "Failed".into(), 3, 0));
    play.press(&[",", ","], Focus::Table);
    play.rests();
    assert_eq!(play.banner().expect("a banner").time, "00:00:20.000");
    assert!(!play.done().contains("get pods"), "the server has what is now");
    // What was gone then says so.
    play.rewind(RewindCommand::To(45_000.0));
    play.command(Command::Select(Some(("pods", kubechurn_client::api::object::ObjectKey::new("shop", "b")))));
    play.arrive();
    play.rests();
    let (state, words, phase, shown, later) = inspected(&play);
    assert_eq!((state, &*phase, shown, later), ("deleted", "Failed", 2, 0));
    assert_eq!(words, "Deleted at 00:00:40. This is the last state that this session received.");
}

#[test]
fn the_events_of_an_object_are_those_of_then() {
    let (mut play, _, _) = played("#/pods?sel=shop/a&tab=events");
    (0..6).for_each(|_| play.frame());
    // The last of its kind: what *What changed* shows is watched, too.
    let events = play.informers.iter().rfind(|(_, of)| *of == "events").expect("its Events are watched").0;
    let event = |name: &str, time: &str| {
        json!({"kind": "Event", "apiVersion": "v1", "type": "Normal", "reason": name, "lastTimestamp": time, "firstTimestamp": time,
            "metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "50"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "a", "uid": "a"}})
    };
    play.reflects(events, Input::Start);
    play.reflects(events, Input::Opened);
    play.event(events, "ADDED", &event("Pulled", "1970-01-01T00:00:15Z"));
    play.event(events, "ADDED", &event("Killing", "1970-01-01T00:00:35Z"));
    let listed = json!({"resourceVersion": "100", "annotations": {"k8s.io/initial-events-end": "true"}});
    play.event(events, "BOOKMARK", &json!({"kind": "Event", "apiVersion": "v1", "metadata": listed}));
    (0..3).for_each(|_| play.frame());
    let shown = |play: &Play| {
        let model = (*play.page.view().inspector.events).clone();
        (model.items.into_iter().map(|item| item.reason).collect::<Vec<_>>(), model.words)
    };
    assert_eq!(shown(&play), (vec!["Killing".into(), "Pulled".into()], String::new()));
    play.rewind(RewindCommand::To(25_000.0));
    let (reasons, words) = shown(&play);
    assert_eq!((reasons, words.starts_with("1 of its Events came")), (vec!["Pulled".into()], true), "{words}");
    play.rewind(RewindCommand::Live);
    assert_eq!(shown(&play).0, ["Killing", "Pulled"]);
}

#[test]
fn the_last_write_of_a_field_is_the_last_one_until_then() {
    let (mut play, id, _) = played("#/pods?sel=shop/a&tab=yaml");
    play.event(id, "MODIFIED", &pod("shop", "a", 13, "Failed"));
    play.frame();
    let written_at = |play: &mut Play| {
        let field = Some(String::from("/status/phase"));
        play.command(Command::Inspector(InspectorCommand::LastWrite(field)));
        play.frame();
        play.rests();
        let answer = play.page.view().inspector.last_write.as_ref().expect("there is an answer").clone();
        match answer.outcome {
            Outcome::Written(written) => written.at,
            // It is as old as the first list.
            Outcome::Before(at) => at,
            other => panic!("{other:?}"),
        }
    };
    assert!(written_at(&mut play) > 60_000.0);
    play.rewind(RewindCommand::To(25_000.0));
    assert_eq!(written_at(&mut play), 20_000.0);
    play.rewind(RewindCommand::To(15_000.0));
    assert_eq!(written_at(&mut play), 10_000.0);
    play.rewind(RewindCommand::Live);
    assert!(written_at(&mut play) > 60_000.0);
}

#[test]
fn what_a_list_brought_before_it_was_complete_is_no_part_of_the_past() {
    let mut play = Play::found("#/pods");
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    play.command(Command::Timeline(TimelineCommand::Resize(1_012.0, 220.0)));
    let (id, mut drawn) = (play.informers[0].0, Drawn::new());
    play.place.now.set(10_000.0);
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    play.event(id, "ADDED", &pod("shop", "a", 1, "Pending"));
    play.event(id, "ADDED", &pod("shop", "b", 2, "Pending"));
    play.rests();
    play.frame();
    assert_eq!(play.table(&mut drawn).len(), 2, "they are shown as they come");
    play.place.now.set(20_000.0);
    // While the list goes on, and afterwards.
    for is_complete in [false, true] {
        if is_complete {
            play.rewind(RewindCommand::Live);
            play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
            play.rests();
            play.frame();
            assert_eq!(play.table(&mut drawn).len(), 2);
            play.place.now.set(30_000.0);
        }
        play.rewind(RewindCommand::To(15_000.0));
        assert_eq!(play.table(&mut drawn), [""; 0], "{is_complete}");
        assert_eq!(Play::json(play.page.reports().rows_of("pods", &play.place)), json!([]), "{is_complete}");
    }
    play.rewind(RewindCommand::Live);
    assert_eq!(play.table(&mut drawn).len(), 2);
}

#[test]
fn the_owners_of_an_object_have_the_states_that_they_had() {
    let mut play = Play::found("#/pods?pin=replicasets&sel=shop/a");
    let id = |play: &Play, name: &str| play.informers.iter().find(|(_, own)| *own == name).expect("it is watched").0;
    let set = |version: u32, ready: u32| {
        json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "spec": {"replicas": 2},
            "metadata": {"name": "web", "namespace": "shop", "uid": "web", "resourceVersion": version.to_string()},
            "status": {"replicas": 2, "readyReplicas": ready}})
    };
    let mut owned = pod("shop", "a", 1, "Running");
    owned["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true}]);
    play.place.now.set(10_000.0);
    let (pods, sets) = (id(&play, "pods"), id(&play, "replicasets"));
    for (id, object) in [(pods, &owned), (sets, &set(2, 0))] {
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        play.event(id, "ADDED", object);
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    for (at, word, object) in
        [(20_000.0, "MODIFIED", set(10, 1)), (30_000.0, "MODIFIED", set(11, 2)), (40_000.0, "DELETED", set(12, 2))]
    {
        play.place.now.set(at);
        play.event(sets, word, &object);
        play.frame();
    }
    play.place.now.set(60_000.0);
    for (at, state) in [(15_000.0, "0/2"), (25_000.0, "1/2"), (35_000.0, "2/2"), (45_000.0, "")] {
        play.rewind(RewindCommand::To(at));
        let owners: Vec<(String, String)> =
            play.page.view().inspector.owners.iter().map(|link| (link.name.clone(), link.status.0.clone())).collect();
        assert_eq!(owners, [(String::from("web"), state.to_owned())], "{at}");
    }
}

#[test]
fn what_an_object_owns_is_what_it_owned_then() {
    let mut play = Play::found("#/replicasets?pin=pods&sel=shop/web");
    let id = |play: &Play, plural: &str| {
        play.informers.iter().find(|(_, resource)| *resource == plural).expect("it is watched").0
    };
    let object = |name: &str, version: u32, phase: &str, owner: &str| {
        let mut pod = pod("shop", name, version, phase);
        pod["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": true}]);
        pod
    };
    play.place.now.set(10_000.0);
    let (pods, sets) = (id(&play, "pods"), id(&play, "replicasets"));
    let set = json!({"kind": "ReplicaSet", "metadata":
        {"name": "web", "namespace": "shop", "uid": "web", "resourceVersion": "1"}, "spec": {"replicas": 2}});
    for (id, objects) in
        [(sets, vec![set]), (pods, vec![object("web-a", 2, "Pending", "web"), object("other", 3, "Running", "web")])]
    {
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        objects.iter().for_each(|object| play.event(id, "ADDED", object));
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    for (at, word, object) in [
        (20_000.0, "MODIFIED", object("web-a", 10, "Running", "web")),
        (30_000.0, "ADDED", object("web-b", 11, "Pending", "web")),
        // Its name begins like that of the set, and another one owns it.
        (31_000.0, "ADDED", object("web-c", 12, "Pending", "web-c")),
        (40_000.0, "DELETED", object("web-a", 13, "Failed", "web")),
    ] {
        play.place.now.set(at);
        play.event(pods, word, &object);
        play.frame();
    }
    play.place.now.set(60_000.0);
    for (at, expected) in [
        (15_000.0, vec!["other Running", "web-a Pending"]),
        (25_000.0, vec!["other Running", "web-a Running"]),
        (35_000.0, vec!["other Running", "web-a Running", "web-b Pending"]),
        (45_000.0, vec!["other Running", "web-b Pending"]),
    ] {
        play.rewind(RewindCommand::To(at));
        let found = &play.page.view().inspector.dependents;
        let owned: Vec<String> = found.links.iter().map(|link| format!("{} {}", link.name, link.status.0)).collect();
        assert_eq!(owned, expected, "{at}");
        assert_eq!(found.kinds, ["ReplicaSets", "Pods"], "{at}");
    }
    play.rewind(RewindCommand::To(5_000.0));
    assert!(play.page.view().inspector.dependents.links.is_empty());
}

#[test]
fn what_the_recorder_has_forgotten_is_not_called_nothing() {
    let (mut play, id, mut drawn) = played("#/pods?sel=shop/a");
    play.command(Command::Recorder(Budget::Off));
    play.event(id, "MODIFIED", &pod("shop", "a", 13, "Failed"));
    play.frame();
    play.rewind(RewindCommand::To(25_000.0));
    assert_eq!(play.table(&mut drawn), [""; 0]);
    let words = (*play.page.view().rows.empty).clone().expect("words");
    assert_eq!(words, "It is not known which Pods there were at this moment.");
    let troubles = &play.page.view().table.trouble;
    assert!(troubles[0].what.starts_with("Rows may be missing"), "{troubles:?}");
    let inspected = (*play.page.view().inspector.inspected).clone().expect("it is open");
    assert_eq!(inspected.words, "No Pod of this name is known at this moment.");
    // What has not changed since is known all the same.
    play.rewind(RewindCommand::Live);
    assert_eq!(play.table(&mut drawn).len(), 2);
}
