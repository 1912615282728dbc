//! What happened while a kind was not watched, as the feed says it.

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Recorded;
use kubechurn_model::recording::Selected;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_recording::Header;

use super::Play;
use super::changes::{LISTED, listed_at};
use super::saving::read;

impl Play {
    /// The words of the rows about watches.
    fn notices(&self) -> Vec<String> {
        let rows = self.page.view().feed.window.rows.iter().filter(|row| row.what == "notice");
        rows.map(|row| row.words.iter().map(|piece| &*piece.text).collect()).collect()
    }

    fn goes(&mut self, fragment: &str) {
        self.command(Command::Go(Box::new(Route::parse(fragment))));
        self.arrive();
    }

    fn lists_again(&mut self, id: InformerId, objects: &[&str]) {
        self.reflects(id, Input::Opened);
        for object in objects {
            self.reflects(id, Input::Frame(&event("ADDED", object)));
        }
        self.reflects(id, Input::Frame(&bookmark("100", LISTED)));
    }

    fn passes(&mut self, milliseconds: f64) {
        self.place.now.set(self.place.now.get() + milliseconds);
        self.frame();
    }
}

#[test]
fn a_kind_that_was_not_watched_for_a_time_says_what_came_of_it() {
    let (mut play, id) = listed_at("#/configmaps?view=changes");
    play.change(id, "ADDED", "c@10");
    play.goes("#/pods");
    play.passes(6_800.0);
    play.goes("#/configmaps?view=changes");
    let id = play.informers.iter().find(|(_, name)| *name == "configmaps").unwrap().0;
    play.reflects(id, Input::Start);
    play.lists_again(id, &["a@1", "c@20", "d@21"]);
    play.passes(800.0);
    assert!(play.notices().is_empty(), "another kind's may follow");
    play.passes(900.0);
    let words = "configmaps not watched for 7 s: 1 gone (n/b), 1 changed, 1 new";
    assert_eq!(play.notices(), [words]);
    assert!(play.page.view().feed.frame.words.starts_with("2 changes "), "it is no change itself");
    // A filter hides it, and without one it is there again.
    play.command(Command::Filter(String::from("name:c")));
    play.frame();
    assert!(play.notices().is_empty() && !play.feed().is_empty());
    play.command(Command::Filter(String::new()));
    play.frame();
    assert_eq!(play.notices(), [words]);
    // Where nothing happened, nothing is said.
    play.goes("#/pods");
    play.passes(6_800.0);
    play.goes("#/configmaps?view=changes");
    let id = play.informers.iter().find(|(_, name)| *name == "configmaps").unwrap().0;
    play.reflects(id, Input::Start);
    play.lists_again(id, &["a@1", "c@20", "d@21"]);
    play.passes(2_000.0);
    assert_eq!(play.notices(), [words]);
}

#[test]
fn an_outage_that_ends_with_a_list_says_what_came_of_it_for_all_kinds_in_one_line() {
    let mut play = Play::found("#/pods,configmaps?view=changes");
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    let ids: Vec<InformerId> = play.informers.iter().map(|(id, _)| *id).collect();
    for id in &ids {
        play.reflects(*id, Input::Start);
        play.lists_again(*id, &["a@1", "b@2"]);
    }
    play.frame();
    // The history is gone while nothing is heard.
    for id in &ids {
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#;
        play.reflects(*id, Input::Frame(gone));
    }
    play.passes(30_000.0);
    for id in &ids {
        play.reflects(*id, Input::Timer);
        play.lists_again(*id, &["a@30"]);
        // The watch goes on from the list.
        play.reflects(*id, Input::Frame(&event("MODIFIED", "a@101")));
    }
    play.passes(2_000.0);
    let words = "pods, configmaps not watched for 30 s: 2 gone (n/b, n/b), 2 changed";
    assert_eq!(play.notices(), [words]);
    // At another moment it is there if it was.
    let feed = |play: &Play| play.feed();
    let (noticed_at, live) = (play.place.now.get(), feed(&play));
    play.passes(1_000.0);
    for (at, notices) in [(noticed_at - 500.0, &[][..]), (noticed_at, &[words])] {
        play.command(Command::Rewind(RewindCommand::To(at)));
        play.arrive();
        play.frame();
        assert_eq!(play.notices(), notices, "{at}");
    }
    assert_eq!(feed(&play), live);
    play.command(Command::Rewind(RewindCommand::To(noticed_at - 500.0)));
    play.frame();
    // Played on, it comes when it came.
    play.command(Command::Rewind(RewindCommand::Drag(noticed_at)));
    play.frame();
    play.frame();
    assert_eq!((play.notices(), feed(&play)), (vec![words.to_owned()], live));
}

#[test]
fn in_a_recording_it_is_shown_at_its_time_whatever_line_comes_next() {
    let (mut play, id) = listed_at("#/configmaps?view=changes");
    for (now, back) in [(100_000.0, "a@30"), (200_000.0, "a@60")] {
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#;
        play.reflects(id, Input::Frame(gone));
        play.place.now.set(now);
        play.reflects(id, Input::Timer);
        play.lists_again(id, &[back]);
        play.reflects(id, Input::Frame(&event("MODIFIED", &back.replace('@', "@1"))));
        play.frame();
    }
    let mut page = read(play.page.reports().recording(Header::default(), Selected::default()), &play.place);
    let mut shown_at = |at: f64| {
        let mut now = 200_000.0;
        let env = |now| Recorded { around: &play.place, now, ahead: 0.0 };
        page.command(Command::Rewind(RewindCommand::To(at)), &env(now));
        page.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }), &env(now));
        for _ in 0..20 {
            now += 20.0;
            page.frame(&env(now));
        }
        page.view().feed.window.rows.iter().map(|row| row.what).collect::<Vec<_>>()
    };
    let first = ["notice", "change", "noise"];
    // Nothing else is in the file for a long time, and nothing at all after the second.
    assert_eq!(shown_at(99_999.0), [""; 0]);
    assert_eq!([100_000.0, 199_000.0].map(&mut shown_at), [first, first]);
    assert_eq!(shown_at(200_000.0), [&["notice", "noise"], &first[..]].concat());
}

#[test]
fn the_feed_of_some_kinds_has_no_changes_of_others() {
    let mut play = Play::found("#/pods,configmaps?view=changes");
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    for (id, name) in play.informers.clone() {
        play.reflects(id, Input::Start);
        play.lists_again(id, &["a@1"]);
        play.change(id, "ADDED", &format!("{name}@110"));
    }
    let seen = |play: &Play| {
        let names: Vec<String> = play.feed().into_iter().map(|(name, _)| name).collect();
        let words = &play.page.view().feed.frame.words;
        (names.join(" "), words.split(" since").next().unwrap().to_owned(), words.ends_with(", 1 kind"))
    };
    let both = ("n/configmaps n/pods".to_owned(), "2 changes".to_owned(), false);
    assert_eq!(seen(&play), both);
    play.goes("#/pods?view=changes");
    assert_eq!(seen(&play), ("n/pods".to_owned(), "1 change".to_owned(), true));
    let pods = play.informers.iter().find(|(_, name)| *name == "pods").unwrap().0;
    play.change(pods, "MODIFIED", "pods@120");
    assert_eq!(seen(&play).1, "2 changes");
    play.goes("#/pods,configmaps?view=changes");
    assert_eq!(seen(&play).1, "3 changes");
}

#[test]
fn one_cause_of_several_kinds_is_one_banner() {
    let mut play = Play::found("#/pods,nodes,configmaps");
    let ids: Vec<InformerId> = play.informers.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids.len(), 3);
    for id in &ids {
        play.reflects(*id, Input::Start);
        play.lists_again(*id, &["a@1"]);
    }
    play.frame();
    assert!(play.page.view().table.trouble.is_empty());
    for (number, id) in ids.iter().enumerate() {
        play.reflects(*id, Input::Closed(1006));
        let words = format!("no answer from http://127.0.0.1:8080/k8s/{number}");
        play.reflects(*id, Input::Failed(Failure::unreachable(words)));
    }
    play.frame();
    let trouble = play.page.view().table.trouble.clone();
    assert!(trouble.len() == 1 && trouble[0].what.contains(" and 2 more kinds"), "{trouble:?}");
}
