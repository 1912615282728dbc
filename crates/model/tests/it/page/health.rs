//! The health of the watches: whose they are, what befell each of them, and what it asked for.

use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, status};
use kubechurn_model::page::command::Command;
use kubechurn_model::page::keys::Focus;
use kubechurn_model::recording::Selected;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::health::{HealthModel, HealthRow};
use kubechurn_recording::Header;

use super::Play;
use super::saving::read;

impl Play {
    fn health(&self) -> Option<&HealthModel> {
        self.page.view().dialogs.health.as_ref()
    }

    /// The only watch.
    fn watch(&self) -> &HealthRow {
        &self.health().expect("it is open").rows[0]
    }
}

#[test]
fn it_opens_by_key_and_by_address_and_says_whose_watches_these_are() {
    let mut play = Play::listed("#/pods?ns=shop", &["a@1", "b@2"]);
    play.hears("pods", "MODIFIED", "a@101");
    play.frame();
    assert!(play.health().is_none());
    assert_eq!(play.on("H", Focus::Table), Some(Command::Health(true)));
    play.command(Command::Health(true));
    assert_eq!(play.done(), "push #/pods?ns=shop&health=1");
    play.arrive();
    let HealthRow { title, scope, state, version, lists, .. } = play.watch();
    assert_eq!((*title, &**scope, *state, &**version, &**lists), ("Pods", "shop", "live", "101", "1"));
    let whose = |play: &Play| play.health().map(|model| model.whose.clone()).unwrap_or_default();
    assert!(whose(&play).starts_with("The watches of this page."), "{}", whose(&play));

    let now = play.place.now.get();
    play.rewind(RewindCommand::To(now - 50.0));
    assert!(whose(&play).starts_with("These are the watches as they are now"), "{}", whose(&play));
    assert_eq!(play.watch().version, "101", "a watch is not rewound");

    play.command(Command::Health(false));
    play.arrive();
    assert!(play.health().is_none());
    let direct = Play::listed("#/pods?health=1", &["a@1"]);
    assert_eq!(direct.watch().title, "Pods");
}

#[test]
fn it_says_what_befell_a_watch_and_what_it_asked_for() {
    let mut play = Play::listed("#/pods?health=1", &["a@1", "b@2"]);
    let id = play.informers[0].0;
    assert_eq!(play.watch().bookmark, "now", "a streaming list ends with one");
    play.wait(7_000.0);
    play.hears("pods", "MODIFIED", "a@101");
    play.reflects(id, Input::Closed(1006));
    play.frame();
    play.wait(500.0);
    play.frame();
    let words = play.watch().words.join(" ");
    assert!(words.starts_with("It fails: the connection broke (close code 1006)."), "{words}");
    assert!(words.contains("Watches ended: 1 × close code 1006."), "{words}");
    assert!(words.contains("Asked for: 2 watches"), "{words}");
    assert_eq!((&*play.watch().bookmark, &*play.watch().version), ("7 s", "101"));

    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&format!(r#"{{"type":"ERROR","object":{}}}"#, status("410 Expired too old"))));
    play.frame();
    play.wait(500.0);
    play.frame();
    let words = play.watch().words.join(" ");
    assert!(words.contains("It is tried again in ") && words.contains("1 × ERROR 410"), "{words}");
    play.wait(2_000.0);
    play.reflects(id, Input::Timer);
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&bookmark("200", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.frame();
    play.wait(500.0);
    play.frame();
    let HealthRow { words, lists, version, .. } = play.watch();
    assert_eq!((&**lists, &**version), ("2, of which 1 again", "200"));
    assert!(words[0].starts_with("Listed again at ") && words[0].ends_with(" (410: too old): 0 objects."), "{words:?}");
    assert!(words.contains(&"A list takes up to 1 seat, a watch 1 until it is open.".to_owned()), "{words:?}");
    let total = &play.health().expect("it is open").total;
    assert!(total.contains(" came in 3 events and 2 lists, for 3 requests."), "{total}");
}

#[test]
fn of_a_recording_it_says_what_the_file_has() {
    let mut play = Play::listed("#/pods", &["a@1", "b@2"]);
    play.hears("pods", "MODIFIED", "a@101");
    let id = play.informers[0].0;
    play.reflects(id, Input::Relist("a comparison differed"));
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&bookmark("200", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.frame();
    play.frame();
    let blocks = play.page.reports().recording(Header::default(), Selected::default());
    play.place.url.borrow_mut().1 = String::from("#/pods?health=1");
    let mut opened = read(blocks, &play.place);
    opened.frame(&play.place);
    let model = opened.view().dialogs.health.as_ref().expect("it is open");
    assert!(model.whose.contains("asks no server for anything"), "{}", model.whose);
    assert_eq!(model.rows.len(), 1);
    let HealthRow { state, heard, bookmark, events, words, lists, .. } = &model.rows[0];
    assert_eq!((*state, &**heard, &**bookmark, &**events), ("recording", "", "", ""));
    assert_eq!(lists, "2, of which 1 again");
    assert!(words.len() == 1 && words[0].contains("(a comparison differed)"), "{words:?}");
    assert!(!model.total.contains("requests"), "{}", model.total);
}
