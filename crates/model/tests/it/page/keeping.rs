//! What the browser keeps: blocks that are appended, a tab that is killed, a disk that is full or slow, several recordings.

use std::collections::BTreeMap;

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::history::Budget;
use kubechurn_model::kept::{
    ABOUT, DiskAnswer, DiskFailure, DiskRequest, KeepCommand, Kept, KeptModel, Listed, Piece, block_name, first_line,
    part_name, pieces,
};
use kubechurn_model::page::Page;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::effect::{Answer, Request, RequestId};
use kubechurn_model::page::environment::Recorded;
use kubechurn_model::recording::{NoteCommand, RecordingCommand};
use kubechurn_recording::{Block, Header, Line};
use serde_json::Value;

use super::saving::{SECRET, TOKENS, read, recorded};
use super::{Place, Play};

type Files = BTreeMap<String, Vec<u8>>;

/// The test's substitute for the private file system. Nothing is compressed.
#[derive(Default)]
struct Disk {
    folders: BTreeMap<String, Files>,
    in_use: Vec<String>,
    /// The name of the exception with which it fails.
    fails: Option<&'static str>,
}

impl Disk {
    fn answer(&mut self, request: DiskRequest) -> Result<DiskAnswer, DiskFailure> {
        if let Some(name) = self.fails.filter(|_| !matches!(request, DiskRequest::End(_))) {
            return Err(DiskFailure { name: name.to_owned(), words: String::from("it failed.") });
        }
        let gone = || DiskFailure { name: String::from("NotFoundError"), words: String::new() };
        let bytes = match request {
            DiskRequest::Write { id, place, lines, is_last } => {
                if place == (0, 0) {
                    let about = (ABOUT.to_owned(), first_line(&lines).to_vec());
                    assert_eq!(self.folders.insert(id.clone(), Files::from([about])), None, "it is a new folder");
                    self.in_use.push(id.clone());
                }
                let files = self.folders.get_mut(&id).ok_or_else(gone)?;
                let bytes = lines.len();
                if !lines.is_empty() {
                    assert_eq!(files.insert(part_name(place), lines), None, "no file is changed");
                }
                if is_last {
                    let parts: Vec<Vec<u8>> = (0..).map_while(|at| files.remove(&part_name((place.0, at)))).collect();
                    files.insert(block_name(place.0), parts.concat());
                }
                bytes
            }
            DiskRequest::End(id) => {
                self.in_use.retain(|own| *own != id);
                0
            }
            DiskRequest::Delete(id) => {
                self.folders.remove(&id);
                0
            }
            DiskRequest::Download(id, _) => self.folders.get(&id).ok_or_else(gone)?.values().map(Vec::len).sum(),
            DiskRequest::List => {
                let all = self.folders.iter().map(|(id, files)| Kept {
                    id: id.clone(),
                    about: String::from_utf8(files.get(ABOUT).cloned().unwrap_or_default()).unwrap(),
                    to: 61_000.0,
                    bytes: files.values().map(|bytes| bytes.len() as f64).sum(),
                    is_in_use: self.in_use.contains(id),
                });
                return Ok(DiskAnswer::Listed(Listed { all: all.collect(), room: Some(9e9) }));
            }
        };
        Ok(DiskAnswer::Done(bytes as f64))
    }

    /// The blocks of the only recording, or the last one.
    fn blocks(&self) -> Vec<Vec<u8>> {
        let files = self.folders.values().next_back().expect("something is kept");
        let block = |piece| match piece {
            Piece::Block(name) => files[&name].clone(),
            Piece::Parts(names) => names.iter().flat_map(|name| files[name].clone()).collect(),
        };
        pieces(files.keys().map(String::as_str)).into_iter().map(block).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.folders.values().flat_map(|files| files.keys().map(String::as_str)).filter(|name| *name != ABOUT).collect()
    }
}

impl Play {
    fn keeps(&mut self, command: KeepCommand) {
        self.command(Command::Recording(RecordingCommand::Keep(command)));
    }

    fn next_disk(&mut self) -> Option<(RequestId, DiskRequest)> {
        let at = self.requests.iter().position(|(_, request)| matches!(request, Request::Disk(_)))?;
        let (id, Request::Disk(request)) = self.requests.remove(at) else { unreachable!("it is one") };
        Some((id, request))
    }

    /// Everything is done that is asked of the disk.
    fn writes(&mut self, disk: &mut Disk) {
        while let Some((id, request)) = self.next_disk() {
            let answer = Answer::Disk(disk.answer(request));
            self.page.answer(id, answer, &self.place);
            self.settle();
        }
    }

    /// A second passes, with a frame before its end.
    fn second(&mut self, disk: &mut Disk) {
        self.frame();
        self.writes(disk);
        self.wait(1_000.0);
        self.writes(disk);
    }

    fn kept(&self) -> KeptModel {
        (*self.page.view().dialogs.kept).clone().expect("the list is open")
    }

    fn digest(&self) -> Option<String> {
        self.page.reports().digest_of("pods")
    }
}

/// An object of so many bytes that is like no other one.
fn large(at: u32, bytes: u32) -> String {
    let letters = (0..bytes).map(|place| char::from(b'a' + (place.wrapping_mul(place + 7 * at + 1) >> 7) as u8 % 26));
    let text: String = letters.collect();
    let version = 600 + at;
    let metadata = format!(r#"{{"name":"large-{at}","namespace":"shop","uid":"l{at}","resourceVersion":"{version}"}}"#);
    format!(r#"{{"type":"ADDED","object":{{"metadata":{metadata},"text":"{text}"}}}}"#)
}

/// What a page shows that opens what is kept.
fn digest(disk: &Disk, place: &Place) -> Option<String> {
    read(disk.blocks(), place).reports().digest_of("pods")
}

#[test]
fn what_is_received_is_kept_within_a_second_and_a_killed_tab_costs_no_more() {
    let (mut play, mut disk) = (recorded(), Disk::default());
    play.second(&mut disk);
    assert_eq!((disk.folders.len(), &**play.page.view().footer.kept), (0, ""), "it is off by itself");
    play.keeps(KeepCommand::Toggle);
    assert_eq!(play.message(), "Kept in this browser from now on, beginning with what the page has.");
    play.writes(&mut disk);
    // What the page has is there at once.
    assert_eq!(digest(&disk, &play.place), play.digest());
    for round in 10..20 {
        play.hears("pods", if round == 15 { "ADDED" } else { "MODIFIED" }, &format!("pod-{}@{round}", round % 5));
        play.second(&mut disk);
        assert_eq!(digest(&disk, &play.place), play.digest(), "at {round}");
    }
    // Each file was written once, and nothing is written where nothing came.
    let names = disk.names().join(" ");
    assert!(names.starts_with("000000-000000 000000-000001 ") && disk.names().len() <= 12, "{names}");
    play.second(&mut disk);
    assert_eq!(disk.names().join(" "), names);
    for files in disk.folders.values() {
        for (name, bytes) in files {
            let text = String::from_utf8_lossy(bytes);
            let left: Vec<_> = SECRET.iter().chain(&TOKENS).filter(|canary| text.contains(**canary)).collect();
            assert!(left.is_empty(), "{left:?} in {name}: {text}");
        }
    }
    let about = &disk.folders.values().next().unwrap()[ABOUT];
    let (_, header) = Kept { about: String::from_utf8(about.clone()).unwrap(), ..Kept::default() }.header().unwrap();
    assert_eq!(header.server, "127.0.0.1:8080");
    assert!(header.redaction[0].contains("credentials"), "{header:?}");

    // The last part is torn, or was not closed: what came before is there.
    let before = play.digest();
    play.hears("pods", "ADDED", "late@30");
    play.second(&mut disk);
    assert_ne!(play.digest(), before);
    let last = disk.names().last().unwrap().to_string();
    let files = disk.folders.values_mut().next().unwrap();
    let part = files.get_mut(&last).unwrap();
    part.truncate(part.len() / 2);
    assert_eq!(digest(&disk, &play.place), before);
    disk.folders.values_mut().next().unwrap().remove(&last);
    assert_eq!(digest(&disk, &play.place), before);
    // It was killed while a part was written, or while the block was compressed: a file that was not closed is empty.
    for name in [last, block_name(0)] {
        disk.folders.values_mut().next().unwrap().insert(name, Vec::new());
        assert_eq!(digest(&disk, &play.place), before);
    }
}

#[test]
fn a_block_is_complete_after_so_many_parts_and_so_many_bytes() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.keeps(KeepCommand::Toggle);
    play.writes(&mut disk);
    for round in 0..300 {
        play.hears("pods", "MODIFIED", &format!("a@{}", round + 200));
        play.second(&mut disk);
    }
    let names = disk.names();
    assert_eq!((names[0], names[1], names.len()), ("000000", "000001-000000", 1 + 300 + 1 - 256), "{names:?}");
    assert_eq!(digest(&disk, &play.place), play.digest());
    // No second passes, and more comes than a part, and more than a block, may have.
    let id = play.informers[0].0;
    for at in 0..8 {
        play.reflects(id, Input::Frame(&large(at, 1_100_000)));
        play.page.frame(&play.place);
        play.settle();
        play.writes(&mut disk);
    }
    play.second(&mut disk);
    assert_eq!(digest(&disk, &play.place), play.digest());
    // It is switched off: nothing is left in parts, and nothing more is written.
    play.keeps(KeepCommand::Toggle);
    play.writes(&mut disk);
    assert!(play.message().ends_with(" are kept in this browser, and nothing more."), "{}", play.message());
    assert!(disk.names().iter().all(|name| !name.contains('-')) && disk.in_use.is_empty(), "{:?}", disk.names());
    let kept = digest(&disk, &play.place);
    assert_eq!((&kept, &**play.page.view().footer.kept), (&play.digest(), ""));
    play.hears("pods", "ADDED", "later@900");
    play.second(&mut disk);
    assert_eq!(digest(&disk, &play.place), kept);
}

#[test]
fn a_slow_disk_is_asked_for_one_thing_at_a_time_and_loses_nothing() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.keeps(KeepCommand::Toggle);
    let asked = |play: &Play| play.requests.iter().filter(|(_, request)| matches!(request, Request::Disk(_))).count();
    for round in 0..30 {
        play.hears("pods", "ADDED", &format!("p-{round}@{}", round + 200));
        play.frame();
        play.wait(1_000.0);
        assert_eq!(asked(&play), 1);
    }
    // It is switched off before anything was written: all of it is.
    play.keeps(KeepCommand::Toggle);
    play.writes(&mut disk);
    assert_eq!((digest(&disk, &play.place), disk.names()), (play.digest(), vec!["000000"]));

    // What the recorder must drop before it is written, is said.
    play.keeps(KeepCommand::Toggle);
    play.frame();
    play.command(Command::Recorder(Budget::Small));
    let id = play.informers[0].0;
    for at in 0..26 {
        play.reflects(id, Input::Frame(&large(at, 900_000)));
        play.frame();
    }
    let notices: Value = serde_json::from_str(&play.page.reports().notices()).unwrap();
    let said: Vec<&Value> = notices.as_array().unwrap().iter().filter(|notice| notice["type"] == "kept").collect();
    assert_eq!(said.len(), 1, "{notices}");
}

#[test]
fn a_full_disk_is_said_and_ends_nothing_else() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.keeps(KeepCommand::Toggle);
    play.keeps(KeepCommand::GoOn);
    play.second(&mut disk);
    let kept = digest(&disk, &play.place);
    assert!(kept.is_some() && kept == play.digest());
    play.keeps(KeepCommand::List);
    play.writes(&mut disk);
    disk.fails = Some("QuotaExceededError");
    play.hears("pods", "ADDED", "b@200");
    play.second(&mut disk);
    let words = "Nothing more is kept: the browser has no more room for pages of this address. \
                 Delete something of what is kept, or save the recording as a file.";
    assert_eq!((play.message(), &*play.kept().said), (words, words));
    let model = play.kept();
    assert!(!model.is_on && !model.goes_on && play.effects.contains(&String::from("store in tab kubechurn.keep off")));
    assert!(play.page.reports().notices().contains("no more room"), "{}", play.page.reports().notices());
    play.hears("pods", "ADDED", "c@201");
    play.second(&mut disk);
    assert_eq!((play.state(), digest(&disk, &play.place)), ("live", kept));
    // There is room again: another recording begins, with all that the page has.
    disk.fails = None;
    play.keeps(KeepCommand::Toggle);
    play.second(&mut disk);
    assert_eq!((disk.folders.len(), digest(&disk, &play.place)), (2, play.digest()));
    // Another tab deletes it.
    disk.folders.clear();
    play.hears("pods", "ADDED", "d@202");
    play.second(&mut disk);
    assert!(play.message().starts_with("Nothing more is kept: it is not there any more"), "{}", play.message());
    assert_eq!(disk.folders.len(), 0);
    for (name, words) in [
        ("SecurityError", "as in a private window"),
        ("NotSupportedError", "createWritable"),
        ("AbortError", "AbortError: it failed"),
    ] {
        disk.fails = Some(name);
        play.keeps(KeepCommand::Toggle);
        play.second(&mut disk);
        assert!(play.message().contains(words), "{}", play.message());
        assert!(play.message().ends_with(" as a file."), "{}", play.message());
        assert!(!play.kept().is_on);
    }
}

#[test]
fn a_reload_goes_on_only_where_the_tab_was_asked_to_and_with_another_file() {
    let mut disk = Disk::default();
    let begin = |stored: &[(&str, &str)]| {
        let mut play = Play::at("http://127.0.0.1:8080/#/pods", stored);
        play.is_found(None);
        let id = play.informers[0].0;
        play.lists(id, &["a@1"]);
        play
    };
    let mut play = begin(&[]);
    play.keeps(KeepCommand::Toggle);
    assert!(play.effects.contains(&String::from("store in tab kubechurn.keep off")), "{:?}", play.effects);
    play.keeps(KeepCommand::GoOn);
    assert_eq!(play.effects.last().map(String::as_str), Some("store in tab kubechurn.keep on"));
    play.second(&mut disk);
    let mut after = begin(&[("tab kubechurn.keep", "off")]);
    after.second(&mut disk);
    assert_eq!(disk.folders.len(), 1);
    let mut after = begin(&[("tab kubechurn.keep", "on")]);
    after.place.secrets.set(50);
    after.second(&mut disk);
    assert_eq!((disk.folders.len(), digest(&disk, &after.place)), (2, after.digest()));
    after.keeps(KeepCommand::Toggle);
    assert!(after.effects.contains(&String::from("store in tab kubechurn.keep off")));
}

#[test]
fn what_is_kept_is_listed_opened_handed_over_and_deleted() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.keeps(KeepCommand::List);
    assert_eq!(play.kept().total, "Looking …");
    play.writes(&mut disk);
    assert_eq!((&*play.kept().total, play.kept().items.len()), ("Nothing is kept.", 0));
    for _ in 0..2 {
        play.keeps(KeepCommand::Toggle);
        play.second(&mut disk);
        play.keeps(KeepCommand::Toggle);
        play.writes(&mut disk);
    }
    play.keeps(KeepCommand::Toggle);
    play.second(&mut disk);
    let in_use = play.kept().items.into_iter().filter(|item| item.is_in_use).count();
    assert_eq!(in_use, 1, "what is being written is in the list that is open");
    // One whose tab was killed before its first line was written.
    disk.folders.insert(String::from("empty"), Files::new());
    play.keeps(KeepCommand::List);
    play.writes(&mut disk);
    let model = play.kept();
    assert!(model.is_on && model.state.ends_with(" of this page are kept so far."), "{}", model.state);
    assert_eq!(&**play.page.view().footer.kept, "0 kB");
    let items: Vec<_> = model.items.iter().map(|item| (&*item.title, &*item.time, item.is_in_use)).collect();
    let (title, time) = ("127.0.0.1:8080", "00:00:01 – 00:01:01");
    let none = ("recording", "00:01:01 – 00:01:01", false);
    let own = (title, "00:00:01 – 00:00:04", true);
    assert_eq!(items, [(title, time, false), (title, time, false), own, none]);
    assert_eq!(model.total, "4 recordings, 2 kB of 9.0 GB that the browser gives pages of this address.");

    let [first, second] = [0, 1].map(|at| model.items[at].id.clone());
    play.effects.clear();
    play.keeps(KeepCommand::Download(first.clone()));
    let request = play.requests.iter().find_map(|(_, request)| match request {
        Request::Disk(DiskRequest::Download(id, name)) => Some((id.clone(), name.clone())),
        _ => None,
    });
    let name = "127-0-0-1-8080-19700101T000001.churn";
    assert_eq!(request, Some((first.clone(), name.to_owned())));
    play.writes(&mut disk);
    assert!(play.message().starts_with(&format!("{name}: ")), "{}", play.message());

    // A deletion is asked for twice.
    play.keeps(KeepCommand::Delete(first.clone()));
    assert!(play.kept().items[0].is_asked && !play.kept().items[1].is_asked && disk.folders.len() == 4);
    play.keeps(KeepCommand::Delete(second.clone()));
    assert!(!play.kept().items[0].is_asked && play.kept().items[1].is_asked && disk.folders.len() == 4);
    play.keeps(KeepCommand::Delete(second.clone()));
    play.writes(&mut disk);
    assert!(!disk.folders.contains_key(&second) && play.kept().items.len() == 3);
    // What is gone cannot be handed over.
    disk.folders.remove(&first);
    play.keeps(KeepCommand::Download(first.clone()));
    play.writes(&mut disk);
    assert!(play.message().ends_with(
        " was not handed over: it is not there any more, because another tab deleted it, or the browser did."
    ));

    play.effects.clear();
    play.keeps(KeepCommand::Open(first.clone()));
    assert!(play.done().contains(&format!("open 127.0.0.1:8080 19700101T000001, kept in {first}")));
    assert_eq!(*play.page.view().dialogs.kept, None);
}

#[test]
fn nothing_is_kept_of_a_recording_and_without_the_recorder() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.command(Command::Recorder(Budget::Off));
    play.keeps(KeepCommand::Toggle);
    assert!(play.message().starts_with("The recorder is off"), "{}", play.message());
    play.command(Command::Recorder(Budget::Usual));
    play.keeps(KeepCommand::Toggle);
    play.second(&mut disk);
    play.command(Command::Recorder(Budget::Off));
    play.second(&mut disk);
    assert_eq!(play.message(), "The recorder was switched off: nothing more is kept.");
    assert_eq!(disk.in_use, [""; 0]);

    let env = Recorded { around: &play.place, now: 0.0, ahead: 0.0 };
    let mut page = Page::open(&Header::default(), 1_000_000, &env);
    for command in [KeepCommand::List, KeepCommand::Toggle] {
        page.command(Command::Recording(RecordingCommand::Keep(command)), &env);
    }
    let model = (*page.view().dialogs.kept).clone().expect("the list is open");
    assert!(!model.is_on && model.is_recording && model.state.starts_with("This is a recording"), "{model:?}");
}

#[test]
fn a_hidden_page_keeps_what_its_sockets_bring_and_a_note_comes_once_with_its_time() {
    let (mut play, mut disk) = (Play::listed("#/pods", &["a@1"]), Disk::default());
    play.keeps(KeepCommand::Toggle);
    play.second(&mut disk);
    play.place.hidden.set(true);
    for round in 0..3 {
        // No frame and no timer.
        play.place.now.set(play.place.now.get() + 60_000.0);
        play.hears("pods", "ADDED", &format!("p-{round}@{}", 200 + round));
        play.writes(&mut disk);
    }
    play.place.hidden.set(false);
    play.frame();
    assert_eq!(digest(&disk, &play.place), play.digest());

    let note = |play: &mut Play, text: &str| {
        play.command(Command::Recording(RecordingCommand::Note(NoteCommand::Begin)));
        play.command(Command::Recording(RecordingCommand::Note(NoteCommand::Keep(text.to_owned()))));
    };
    note(&mut play, "now");
    let now = play.place.now.get();
    play.second(&mut disk);
    // At an earlier moment.
    play.place.url.borrow_mut().1 = String::from("#/pods?at=1970-01-01T00:01:00Z");
    play.arrive();
    note(&mut play, "then");
    play.second(&mut disk);
    play.hears("pods", "ADDED", "last@300");
    play.second(&mut disk);
    let mut notes = Vec::new();
    for text in disk.blocks() {
        let (text, mut block) = (String::from_utf8(text).unwrap(), Block::default());
        while let Some((at, line)) = block.next(&text).unwrap() {
            if let Line::Note(text) = line {
                notes.push((text.to_owned(), at));
            }
        }
    }
    assert_eq!(notes, [("now".to_owned(), now), ("then".to_owned(), 60_000.0)]);
    play.place.url.borrow_mut().1 = String::from("#/pods");
    play.arrive();
    assert_eq!(digest(&disk, &play.place), play.digest());
    // A note that comes last is no end.
    note(&mut play, "the end");
    play.second(&mut disk);
    assert_eq!(digest(&disk, &play.place), play.digest());
}
