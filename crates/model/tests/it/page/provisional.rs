//! A first list on its way, as the user sees it: rows, counts, words, the pointer, the cursor and the inspector.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::{bookmark, event};
use kubechurn_model::page::command::{Command, Copied};
use kubechurn_model::table::cursor::Step;
use kubechurn_model::table::export::Format;

use super::Play;

const LISTED: &str = r#"{"k8s.io/initial-events-end":"true"}"#;

/// A page whose list of Pods has begun, in a table of 528 pixels: 22 rows, and six more in the document.
fn listing(fragment: &str) -> (Play, InformerId) {
    let mut play = Play::found(fragment);
    play.command(Command::Scroll { top: 0.0, height: 528.0 });
    let (id, _) = play.informers[0];
    play.reflects(id, Input::Start);
    play.reflects(id, Input::Opened);
    (play, id)
}

impl Play {
    fn brings(&mut self, id: InformerId, names: impl IntoIterator<Item = String>) {
        for (at, name) in names.into_iter().enumerate() {
            self.reflects(id, Input::Frame(&event("ADDED", &format!("{name}@{}", at + 1))));
        }
    }

    fn ends(&mut self, id: InformerId) {
        self.reflects(id, Input::Frame(&bookmark("999", LISTED)));
        self.frame();
    }

    /// The elements of the rows in the document, in their order.
    fn places(&self) -> Vec<u64> {
        self.page.view().rows.window.places.clone()
    }

    /// How many Pods there are, as the sidebar says.
    fn in_sidebar(&self) -> &str {
        let items = &self.page.view().sidebar.items;
        items.iter().find(|item| item.name == "pods").map_or("", |item| &item.count)
    }

    /// The document's title.
    fn title(&self) -> &str {
        &self.page.view().header.title
    }

    fn length(&self) -> usize {
        *self.page.view().rows.length
    }

    /// The state of each row that was drawn since the last call, the newest model of each element only.
    fn drawn_states(&mut self) -> Vec<(String, &'static str)> {
        let drawn = std::mem::take(&mut self.page.view_mut().rows.drawn);
        drawn.into_iter().map(|(_, row)| (row.key.name.to_string(), row.state)).collect()
    }

    #[track_caller]
    fn balances(&self) {
        assert!(self.page.view().footer.pipeline.balanced, "{}", self.page.view().footer.pipeline.ledger);
    }
}

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|at| format!("p{at:03}"))
}

#[test]
fn the_first_rows_are_there_in_the_first_frame_after_the_first_items() {
    let (mut play, id) = listing("#/pods");
    play.frame();
    assert_eq!(play.page.view().rows.empty.as_deref(), Some("Connecting, to list Pods in any namespace …"));
    play.brings(id, names(3));
    play.frame();
    assert_eq!((play.length(), play.page.view().rows.empty.as_deref(), play.state()), (3, None, "listing"));
    let drawn = play.drawn_states();
    assert_eq!(drawn.len(), 3);
    assert!(drawn.iter().all(|(_, state)| *state == "provisional"), "{drawn:?}");
    let table = &play.page.view().table;
    assert_eq!((&**table.count, &**table.provisional), ("0 / 0", "3 provisional rows"));
    assert_eq!(play.in_sidebar(), "…", "how many there are is not known");
    assert_eq!(play.title(), "Pods · kubechurn", "the number of Pods is not known");
    assert_eq!(play.page.view().header.connection.detail, "3 so far");
    play.balances();
    let places = play.places();
    play.ends(id);
    play.wait(600.0);
    play.frame();
    let table = &play.page.view().table;
    assert_eq!((&**table.count, &**table.provisional, play.state()), ("3 / 3", "", "live"));
    assert_eq!(play.in_sidebar(), "3");
    assert_eq!(play.title(), "Pods 3 · kubechurn");
    assert_eq!(play.places(), places, "the same elements");
    let drawn = play.drawn_states();
    assert!(drawn.iter().all(|(_, state)| *state == "live") && drawn.len() >= 3, "{drawn:?}");
    play.balances();
}

#[test]
fn who_does_nothing_sees_a_calm_first_screen_and_scrolled_rows_stay_where_they_are() {
    let (mut play, id) = listing("#/pods");
    play.brings(id, names(100));
    play.frame();
    let (places, window) = (play.places(), play.page.view().rows.window.clone());
    play.drawn_states();
    play.brings(id, (100..200).map(|at| format!("p{at:03}")));
    play.frame();
    assert_eq!((play.places(), &*play.page.view().rows.window), (places, &*window));
    let drawn = play.drawn_states();
    assert!(drawn.len() <= 34, "only ages are drawn anew: {drawn:?}");
    play.command(Command::Scroll { top: 2_500.0, height: 528.0 });
    play.frame();
    play.brings(id, (0..3).map(|at| format!("a{at}")));
    play.frame();
    assert_eq!(*play.page.view().rows.scroll, 2_575.0, "three rows came above it");
    let places = play.places();
    play.ends(id);
    assert_eq!((*play.page.view().rows.scroll, play.places(), play.length()), (2_575.0, places, 203));
}

#[test]
fn nothing_moves_under_the_pointer_or_the_cursor_when_the_list_is_replaced() {
    let (mut play, id) = listing("#/pods");
    play.command(Command::PointerOverTable(true));
    play.frame();
    play.brings(id, (0..5).map(|at| format!("m{at}")));
    play.frame();
    assert_eq!((play.length(), play.places().len()), (5, 5), "a pointer over an empty table holds nothing back");
    play.command(Command::Row(Step::First));
    play.command(Command::Row(Step::By(2)));
    play.frame();
    let cursor = play.page.view().rows.cursor.clone();
    let places = play.places();
    // The list breaks, and the next one has some of the objects, and others above them.
    play.reflects(id, Input::Closed(1006));
    play.frame();
    assert_eq!(play.places(), places);
    play.wait(1_200.0);
    play.reflects(id, Input::Timer);
    play.reflects(id, Input::Opened);
    play.command(Command::PointerOverTable(true));
    play.brings(id, ["a0", "m1", "m2", "m4"].map(String::from));
    play.frame();
    play.ends(id);
    assert_eq!((play.places(), &*play.page.view().rows.cursor), (places, &*cursor));
    play.balances();
    // The pointer rests: what the list did not have goes, and the cursor stays with its object.
    play.wait(3_000.0);
    play.frame();
    play.frame();
    assert_eq!((play.length(), &*play.page.view().rows.cursor), (4, &*cursor));
    play.wait(600.0);
    play.frame();
    assert_eq!((&**play.page.view().table.count, &**play.page.view().table.provisional), ("4 / 4", ""));
    play.balances();
}

#[test]
fn a_list_that_breaks_says_so_and_what_follows_and_keeps_its_rows() {
    let (mut play, id) = listing("#/pods");
    play.brings(id, names(3));
    play.frame();
    play.reflects(id, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":429,"message":"too many"}}"#));
    play.frame();
    assert_eq!((play.length(), play.state()), (3, "connecting"));
    let trouble = &play.page.view().table.trouble[0];
    assert_eq!(trouble.what, "Pods: the list broke off, and its rows are provisional");
    assert!(trouble.words.contains("too many") && trouble.next.starts_with("next try in "), "{trouble:?}");
    play.balances();
}

#[test]
fn what_is_taken_out_of_the_page_has_no_provisional_row() {
    let (mut play, id) = listing("#/pods");
    play.brings(id, names(3));
    play.frame();
    play.effects.clear();
    play.command(Command::Export(Format::Csv));
    assert!(play.done().ends_with(" 0"), "no row is exported");
    assert_eq!(play.message(), "Exporting 0 rows … 3 provisional rows are left out: the list is not complete.");
    // What the user copies is what the user sees.
    play.command(Command::Row(Step::First));
    play.frame();
    play.effects.clear();
    play.command(Command::Copy(Copied::Name));
    assert_eq!(play.done(), "copy p000");
    assert_eq!(play.page.reports().rows_of("pods", &play.place).as_deref(), Some("[]"));
}

#[test]
fn the_inspector_of_a_provisional_row_says_that_the_list_is_not_complete() {
    let (mut play, id) = listing("#/pods?sel=n/p001&tab=yaml");
    play.brings(id, names(3));
    play.frame();
    let words = "The list is not complete: this is what it has brought so far, and the next one may not have it.";
    let inspected = |play: &Play| {
        let inspected = play.page.view().inspector.inspected.clone();
        let inspected = inspected.as_ref().expect("it is open");
        (inspected.state, inspected.words.clone())
    };
    for _ in 0..5 {
        assert_eq!(inspected(&play), ("provisional", words.into()));
        play.wait(500.0);
        play.frame();
    }
    assert_eq!(play.page.view().inspector.yaml.words, "resourceVersion 2, as received");
    assert!(!play.done().contains("get pods"), "its text was received");
    play.ends(id);
    play.frame();
    assert_eq!(inspected(&play), ("live", String::new()));
}

#[test]
fn a_paused_page_shows_no_more_of_a_list_than_it_did() {
    let (mut play, id) = listing("#/pods");
    play.brings(id, names(2));
    play.frame();
    play.command(Command::TogglePause);
    play.brings(id, names(5));
    play.frame();
    play.ends(id);
    play.wait(600.0);
    play.frame();
    assert_eq!((play.length(), &**play.page.view().table.provisional), (2, "2 provisional rows"));
    play.balances();
    play.command(Command::TogglePause);
    play.frame();
    play.wait(600.0);
    play.frame();
    assert_eq!((play.length(), &**play.page.view().table.count), (5, "5 / 5"));
    play.balances();
}

/// A screen reader hears once that rows are provisional, and once that the list is complete.
#[test]
fn a_long_list_is_said_to_be_provisional_once() {
    let (mut play, id) = listing("#/pods");
    let mut said = Vec::new();
    for at in 0..30 {
        play.brings(id, [format!("p{at}")]);
        play.wait(250.0);
        play.frame();
        let spoken = play.page.view().dialogs.spoken.to_string();
        if !spoken.is_empty() && said.last() != Some(&spoken) {
            said.push(spoken);
        }
    }
    assert_eq!(said, ["Listing Pods: the rows are provisional until the list is complete."]);
    play.ends(id);
    play.wait(600.0);
    play.frame();
    assert_eq!(play.page.view().dialogs.spoken.as_str(), "Listing finished: 30 Pods.");
}
