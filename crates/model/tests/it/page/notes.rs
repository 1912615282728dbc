//! Notes of the user's own: how they are written, where they stand, and what of them a saved recording has.

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::page::environment::Recorded;
use kubechurn_model::page::keys::Focus;
use kubechurn_model::recording::{NoteCommand, NoteModel, RecordingCommand, Selected};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_recording::{Block, Header, Line};

use super::Play;
use super::changes::listed;
use super::saving::read;

/// Text that would do something if it were more than text.
const HOSTILE: &str = "<img src=x onerror=alert(1)> \u{1b}[31m {{x}}";

impl Play {
    fn noted(&mut self, command: NoteCommand) {
        self.command(Command::Recording(RecordingCommand::Note(command)));
        self.frame();
        self.frame();
    }

    fn field(&self) -> Option<NoteModel> {
        (*self.page.view().dialogs.note).clone()
    }

    /// What each row of the feed is, and its words.
    fn told_rows(&self) -> Vec<String> {
        let rows = self.page.view().feed.window.rows.iter();
        let words =
            |row: &kubechurn_model::feed::FeedRow| row.words.iter().map(|piece| &*piece.text).collect::<String>();
        rows.map(|row| format!("{}{}: {}", row.name, row.name_end, words(row))).collect()
    }
}

/// A page of Pods on which two changes came, with a note between them and one after.
fn noted() -> Play {
    let (mut play, id) = listed();
    play.change(id, "ADDED", "c@10");
    play.place.now.set(5_000.0);
    play.press(&["N"], Focus::Table);
    assert!(play.field().expect("the field is open").text.is_empty());
    play.noted(NoteCommand::Keep(format!("  {HOSTILE} ")));
    assert_eq!(play.field(), None);
    assert!(play.message().starts_with("Noted at 00:00:05"), "{}", play.message());
    play.place.now.set(8_000.0);
    play.change(id, "DELETED", "b@11");
    play.noted(NoteCommand::Begin);
    play.noted(NoteCommand::Keep(String::from("rolled back")));
    play
}

#[test]
fn a_note_stands_at_its_time_in_the_feed_and_is_found_changed_and_removed() {
    let mut play = noted();
    let rows = play.told_rows();
    assert_eq!((rows[0].as_str(), rows.len()), (": rolled back", 4), "{rows:?}");
    assert!(rows[1].ends_with("/b: deleted") && rows[2] == format!(": {HOSTILE}"), "{rows:?}");
    for (filter, found) in [("ONERROR", 1), ("kind:note", 2), ("!kind:note", 2), ("type:deleted", 1), ("rolled", 1)] {
        play.command(Command::Filter(filter.to_owned()));
        play.frame();
        assert_eq!(play.told_rows().len(), found, "{filter}");
    }
    play.command(Command::Filter(String::new()));
    // Esc, and nothing written, keep nothing.
    play.noted(NoteCommand::Begin);
    play.noted(NoteCommand::Leave);
    play.noted(NoteCommand::Begin);
    play.noted(NoteCommand::Keep(String::from("  ")));
    assert_eq!(play.told_rows(), rows);
    // Enter on its row opens it, and what is written then takes its place, as far as there is room for it.
    play.command(Command::Feed(FeedCommand::Step(kubechurn_model::table::cursor::Step::First)));
    play.command(Command::Feed(FeedCommand::OpenRow));
    assert_eq!(play.field().expect("the field is open").text, "rolled back");
    play.noted(NoteCommand::Keep("ä".repeat(1_500)));
    play.command(Command::Feed(FeedCommand::Newest));
    play.frame();
    assert_eq!(play.told_rows()[0], format!(": {}", "ä".repeat(1_000)));
    let note = play.page.view().feed.window.rows[2].note.expect("it is a note");
    play.noted(NoteCommand::Change(note));
    play.noted(NoteCommand::Remove);
    assert_eq!(play.told_rows().len(), 3, "{:?}", play.told_rows());
}

#[test]
fn a_moment_has_the_notes_up_to_it_and_one_can_be_written_there() {
    let mut play = noted();
    play.rewind(RewindCommand::To(6_000.0));
    let rows = play.told_rows();
    assert!(rows.len() == 2 && rows[0] == format!(": {HOSTILE}"), "{rows:?}");
    play.noted(NoteCommand::Begin);
    assert_eq!(play.field().expect("the field is open").at, 6_000.0);
    play.noted(NoteCommand::Keep(String::from("here it began")));
    assert_eq!(play.told_rows().len(), 3);
    play.rewind(RewindCommand::To(5_500.0));
    assert_eq!(play.told_rows(), rows);
    play.rewind(RewindCommand::Live);
    assert_eq!(play.told_rows()[2], ": here it began");
}

#[test]
fn the_timeline_has_a_mark_for_each_note_with_its_words_whole() {
    let mut play = noted();
    play.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 300.0)));
    play.frame();
    let scene = play.page.scene().expect("a scene");
    let [first, second] = &scene.noted[..] else { panic!("{:?}", scene.noted) };
    assert!(first.x < second.x && first.strip_x < second.strip_x, "{:?}", scene.noted);
    let places = [(first.x, scene.layout.top - 8.0), (first.strip_x, scene.layout.strip_bottom + 3.0)];
    for (x, y) in places {
        play.command(Command::Timeline(TimelineCommand::Hover(Some((x.expect("it is in sight"), y)))));
        play.frame();
        let words = play.page.view().timeline.hover.to_string();
        assert!(words.contains(&format!("noted: {HOSTILE}")), "{words}");
    }
    let (x, y) = places[0];
    play.command(Command::Timeline(TimelineCommand::Click(x.expect("it is in sight"), y)));
    assert_eq!(play.field().expect("a click opens it").text, HOSTILE);
}

#[test]
fn a_saved_recording_has_the_notes_in_the_order_of_times_and_shows_them() {
    let play = noted();
    let blocks = play.page.reports().recording(Header::default(), Selected::default());
    let (text, mut block) = (String::from_utf8(blocks[0].clone()).unwrap(), Block::default());
    let (mut last, mut notes) = (0.0, Vec::new());
    while let Some((at, line)) = block.next(&text).unwrap() {
        assert!(at >= last, "{line:?}");
        last = at;
        if let Line::Note(text) = line {
            notes.push((at, text.to_owned()));
        }
    }
    assert_eq!(notes[0], (5_000.0, HOSTILE.to_owned()));
    assert_eq!((notes[1].1.as_str(), notes.len(), notes[1].0), ("rolled back", 2, last));
    *play.place.url.borrow_mut() = (String::from("http://127.0.0.1:8080/"), String::from("#/pods?view=changes"));
    let mut page = read(blocks, &play.place);
    let env = |now| Recorded { around: &play.place, now, ahead: 0.0 };
    page.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }), &env(last));
    for frame in 0..20 {
        page.frame(&env(last + f64::from(frame)));
    }
    let words = |page: &kubechurn_model::page::Page| -> Vec<String> {
        let rows = page.view().feed.window.rows.iter();
        rows.filter(|row| row.note.is_some()).map(|row| row.words[0].text.clone()).collect()
    };
    assert_eq!(words(&page), ["rolled back", HOSTILE]);
    // A note can be written there, too.
    for command in [NoteCommand::Begin, NoteCommand::Keep(String::from("seen later"))] {
        page.command(Command::Recording(RecordingCommand::Note(command)), &env(last + 30.0));
        page.frame(&env(last + 40.0));
    }
    assert_eq!(words(&page), ["seen later", "rolled back", HOSTILE]);
}
