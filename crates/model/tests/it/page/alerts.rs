//! Watched filters: what is notified, when, and what it costs.

use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::event;
use kubechurn_model::feed::alerts::AlertCommand;
use kubechurn_model::page::command::Command;

use super::changes::{listed, listed_at};

#[test]
fn a_change_that_passes_notifies_once_in_ten_seconds_and_the_mark_goes_when_the_user_is_there() {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "before@10");
    play.command(Command::Filter(String::from("type:added")));
    play.command(Command::Alerts(AlertCommand::Watch));
    assert!(play.done().contains("ask to notify"));
    assert_eq!(play.message(), "You are notified of what passes type:added from now on.");
    play.change(id, "DELETED", "a@11");
    assert_eq!(play.done(), "", "it does not pass");
    play.change(id, "ADDED", "c@12");
    let done = play.done();
    assert!(done.starts_with("notify 1 change: type:added: Pod ") && done.ends_with("c added, mark 1"), "{done}");
    play.change(id, "ADDED", "d@13");
    play.change(id, "ADDED", "e@14");
    assert_eq!(play.done(), "");
    play.wait(9_000.0);
    assert_eq!(play.done().matches("notify").count(), 0);
    play.wait(1_500.0);
    let done = play.done();
    assert!(done.contains("notify 2 changes: type:added") && done.contains("mark 3"), "{done}");
    play.command(Command::ToggleHelp);
    assert!(play.done().contains("mark 0"));
    let items = play.page.view().dialogs.alerts.items.clone();
    assert_eq!((items.len(), &*items[0].filter, &*items[0].count), (1, "type:added", "3"));
    play.command(Command::Alerts(AlertCommand::End(items[0].id)));
    play.change(id, "ADDED", "f@15");
    play.wait(20_000.0);
    assert!(!play.done().contains("notify"));
}

#[test]
fn a_relist_never_notifies_and_nothing_notifies_twice() {
    let (mut play, id) = listed();
    play.command(Command::Alerts(AlertCommand::Watch));
    play.done();
    // The watch breaks off, and the list that follows shows another version, a new object, and one that is gone.
    play.reflects(id, Input::Relist("asked"));
    play.reflects(id, Input::Opened);
    play.reflects(id, Input::Frame(&event("ADDED", "a@20")));
    play.reflects(id, Input::Frame(&event("ADDED", "new@21")));
    let end = kubechurn_client::testing::bookmark("30", r#"{"k8s.io/initial-events-end":"true"}"#);
    play.reflects(id, Input::Frame(&end));
    (0..5).for_each(|_| play.frame());
    assert!(!play.done().contains("notify"), "a relist");
    play.change(id, "ADDED", "c@31");
    assert!(play.done().contains("notify 1 change: whatever changes"));
}

#[test]
fn a_hidden_page_notifies_of_what_a_socket_brings_without_a_frame() {
    let (mut play, id) = listed_at("#/pods");
    play.command(Command::Alerts(AlertCommand::Watch));
    assert_eq!(play.message(), "You are notified of what passes kind:/^(Pod)$/ from now on.");
    play.place.hidden.set(true);
    play.page.visibility_changed(&play.place);
    play.settle();
    play.done();
    play.reflects(id, Input::Frame(&event("ADDED", "c@10")));
    let done = play.done();
    assert!(done.contains("notify 1 change") && done.contains("mark 1"), "{done}");
    // The next one waits for its time, and a timer wakes the page.
    play.reflects(id, Input::Frame(&event("ADDED", "d@11")));
    assert!(!play.done().contains("notify"));
    play.wait(11_000.0);
    assert!(play.done().contains("notify 1 change"));
    play.place.hidden.set(false);
    play.page.visibility_changed(&play.place);
    play.settle();
    assert!(play.done().contains("mark 0"));
    // Without a filter, nothing is notified while the page is hidden, and nothing is looked at.
    play.command(Command::Alerts(AlertCommand::EndAll));
    play.place.hidden.set(true);
    play.page.visibility_changed(&play.place);
    play.settle();
    play.done();
    play.reflects(id, Input::Frame(&event("ADDED", "e@12")));
    assert_eq!(play.done(), "");
}
