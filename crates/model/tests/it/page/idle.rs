//! A page on which nothing happens: how often it must be woken, and what it draws then.

use kubechurn_client::cache::heartbeat;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::event;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{Answer, FoundApi};

use super::Play;

/// Time passes second by second, and each tick has its frame. The requests about watches are answered. Returns how many
/// ticks there were, and how many rows were drawn.
fn rest(play: &mut Play, seconds: u32) -> (usize, usize) {
    let (mut ticks, mut drawn) = (0, 0);
    for _ in 0..seconds {
        ticks += play.wait(1_000.0);
        play.requests.retain(|(id, request)| {
            let is_heartbeat = super::word_of(request).starts_with("heartbeat");
            if is_heartbeat {
                play.page.answer(*id, Answer::Heartbeat(heartbeat::Answer::Quiet), &play.place);
            }
            !is_heartbeat
        });
        play.settle();
        play.page.frame(&play.place);
        play.settle();
        drawn += std::mem::take(&mut play.page.view_mut().rows.drawn).len();
    }
    (ticks, drawn)
}

#[test]
fn a_quiet_page_wakes_a_few_times_in_ten_seconds_and_each_second_while_an_age_is_young() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2", "c@3"]);
    // After half a minute the page compares what it has with the server, which does not answer in time.
    rest(&mut play, 75);
    let (ticks, drawn) = rest(&mut play, 60);
    // Every ten seconds the ages, a question about the watch, and two steps of the age of its last proof.
    assert!((12..=26).contains(&ticks), "{ticks} ticks in a minute");
    assert_eq!(drawn, 18, "three rows say every ten seconds how long ago the list brought them");
    assert_eq!(play.state(), "live");
    play.hears("pods", "MODIFIED", "a@4");
    rest(&mut play, 10);
    let (ticks, drawn) = rest(&mut play, 60);
    assert!((55..=75).contains(&ticks), "{ticks} ticks in a minute");
    assert_eq!(drawn, 60 + 12, "a row that changed says each second how long ago");
    rest(&mut play, 60);
    assert_eq!(rest(&mut play, 60).1, 18, "until that is two minutes ago");
}

#[test]
fn a_hidden_page_wakes_twice_a_minute() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    play.place.hidden.set(true);
    play.page.visibility_changed(&play.place);
    play.settle();
    rest(&mut play, 60);
    let ticks = play.wait(50_000.0);
    assert!((1..=3).contains(&ticks), "{ticks} ticks in 50 s");
    play.place.hidden.set(false);
    play.page.visibility_changed(&play.place);
    play.settle();
    assert!(play.page.deadline(&play.place) - play.place.now.get() <= 1_000.0);
}

#[test]
fn a_silent_watch_is_asked_about_on_time() {
    for offset in [0.0, 130.0, 999.0] {
        let mut play = Play::listed("#/pods", &["a@1"]);
        play.wait(offset);
        play.hears("pods", "MODIFIED", "a@2");
        let heard = play.place.now.get();
        play.frame();
        play.done();
        while !play.effects.iter().any(|words| words == "heartbeat pods") {
            let deadline = play.page.deadline(&play.place);
            assert!(deadline - heard <= 10_250.0, "asked {} ms after the last proof", deadline - heard);
            play.place.now.set(deadline);
            play.page.tick(&play.place);
            play.settle();
        }
        assert!(play.place.now.get() - heard >= 10_000.0);
    }
}

#[test]
fn what_comes_last_is_counted_within_half_a_second() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    rest(&mut play, 10);
    // The first change is shown with all the sums, and the second a moment later.
    play.hears("pods", "ADDED", "b@2");
    play.frame();
    play.hears("pods", "ADDED", "c@3");
    play.frame();
    let shown = play.place.now.get();
    let wait = play.page.deadline(&play.place) - shown;
    assert!(wait <= 500.0, "{wait}");
    play.wait(wait);
    play.page.frame(&play.place);
    assert_eq!(&*play.page.view().table.count, "3 / 3");
}

#[test]
fn a_list_on_its_way_is_counted_often_and_an_api_is_looked_for_when_it_is_due() {
    let mut play = Play::found("#/pods");
    let (id, _) = play.informers[0];
    for input in [Input::Start, Input::Opened, Input::Frame(&event("ADDED", "a@1"))] {
        play.reflects(id, input);
    }
    assert!(play.wait(2_000.0) >= 7, "while a list comes, its progress is shown");

    let mut play = Play::at("http://127.0.0.1:8080/#/pods", &[]);
    play.answers("find", Answer::Find(Err(vec![(String::from("http://127.0.0.1:8080/k8s/"), String::from("no"))])));
    play.done();
    let began = play.place.now.get();
    while play.done().is_empty() {
        let deadline = play.page.deadline(&play.place);
        play.place.now.set(deadline);
        play.page.tick(&play.place);
        play.settle();
    }
    let waited = play.place.now.get() - began;
    assert!((1_450.0..=1_550.0).contains(&waited), "a short outage: {waited} ms");
    play.answers(
        "find",
        Answer::Find(Ok(FoundApi { http: String::from("http://127.0.0.1:8080/k8s/"), release: None, readable: true })),
    );
    play.wait(3_000.0);
    assert!(play.done().contains("start pods"));
}

#[test]
fn a_row_that_is_held_is_let_go_on_time() {
    let mut play = Play::listed("#/pods", &["a@1"]);
    rest(&mut play, 5);
    play.command(Command::PointerOverTable(true));
    play.frame();
    let began = play.place.now.get();
    let mut deadlines = Vec::new();
    while play.place.now.get() - began < 4_000.0 {
        let deadline = play.page.deadline(&play.place);
        deadlines.push(deadline - began);
        play.place.now.set(deadline);
        play.page.tick(&play.place);
        play.page.frame(&play.place);
        play.settle();
    }
    assert!(deadlines.contains(&2_400.0), "2.5 s after the pointer moved: {deadlines:?}");
}
