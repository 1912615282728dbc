//! Files that are written and read again, and files that are none.

mod properties;

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::process::Command;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recording::native::{FileWriter, read, unpacked};
use kubechurn_recording::{Block, FULL, Header, Line, Request, Step, Text, Version, Watch, Writer, member};
use proptest::prelude::*;

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

/// What a line says, with its time, as text.
fn said(file: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    read(file, |at, line| all.push(format!("{at} {line:?}"))).expect("it is a recording");
    all
}

fn refused(file: &[u8]) -> String {
    let (block, refusal) = read(file, |_, _| {}).expect_err("it is none");
    format!("block {block}, {refusal}")
}

fn pod(name: &str, version: u32, phase: &str) -> String {
    let long = "the same in all of them, and long enough that a whole text would be longer than its edits".repeat(3);
    format!(
        r#"{{"metadata":{{"name":"{name}","uid":"{name}-uid","resourceVersion":"{version}"}},"spec":"{long}","status":{{"phase":"{phase}"}}}}"#
    )
}

struct Written {
    file: FileWriter<Cursor<Vec<u8>>>,
    /// What [`said`] must give, but for the first line of each block, and watches that are repeated.
    lines: Vec<String>,
}

impl Written {
    fn new() -> Written {
        let header = Header {
            title: String::from("a title, ä \"quoted\""),
            program: String::from("kubechurn 0.1.0"),
            server: String::from("http://127.0.0.1:8001/"),
            release: String::from("v1.36.2"),
            ahead: -1.5,
            redaction: vec![String::from("annotations that look like tokens")],
        };
        Written { file: FileWriter::new(header, Cursor::default()), lines: Vec::new() }
    }

    fn push(&mut self, at: f64, line: &Line<'_>) {
        self.file.push(at, line).expect("memory can be written");
        self.lines.push(format!("{at} {line:?}"));
    }

    fn pod(&mut self, at: f64, delta_type: DeltaType, name: &str, text: Text<'_>) {
        let (key, uid) = (ObjectKey::new("shop", name), Uid::new(&format!("{name}-uid")));
        self.push(at, &Line::Version(Version { watch: 0, delta_type, key: &key, uid: &uid, text }));
    }

    fn watch(&mut self) {
        let scope = Scope { label_selector: String::from("app=web"), ..Scope::default() };
        self.push(1_764_176_400_123.5, &Line::Watch(Watch { number: 0, resource: PODS, scope, is_repeated: false }));
    }
}

#[test]
fn what_was_written_is_read_to_the_byte_in_its_order_with_its_times() {
    let mut written = Written::new();
    written.watch();
    let began = 1_764_176_400_123.5;
    written.pod(began + 0.25, DeltaType::Replaced, "web-1", Text::Whole(&pod("web-1", 1, "Pending")));
    written.pod(began + 0.5, DeltaType::Replaced, "web-2", Text::Whole(&pod("web-2", 2, "Größe 🦀 \\ \" \u{7f}")));
    written.pod(began + 0.5, DeltaType::Replaced, "web-3", Text::NotKept);
    written.push(began + 1.0, &Line::Step(0, Step::Listed));
    written.pod(began + 5.25, DeltaType::Updated, "web-1", Text::Whole(&pod("web-1", 3, "Running")));
    written.push(began + 6.0, &Line::Note("somebody looked here"));
    // The clock was set back.
    written.pod(began - 1_000.0, DeltaType::Deleted, "web-1", Text::Whole(&pod("web-1", 4, "Running")));
    written.pod(began, DeltaType::Deleted, "web-3", Text::None);
    let request = Request {
        watch: 0,
        uid: Uid::new("web-1-uid"),
        version: Cow::Borrowed("4"),
        is_deletion: true,
        user: Cow::Borrowed("alice"),
        impersonated: Cow::Borrowed("bob"),
        agent: Cow::Borrowed("kubectl/v1.36.2"),
        address: Cow::Borrowed("10.0.0.7"),
        verb: Cow::Borrowed("delete"),
        at: 1_764_176_400_123.25,
        id: Cow::Borrowed("a-1"),
    };
    written.push(began + 10.0, &Line::Request(request.clone()));
    let nobody = Request { version: "".into(), is_deletion: false, impersonated: "".into(), id: "".into(), ..request };
    written.push(began + 10.5, &Line::Request(nobody));
    let since = began + 20.5;
    for step in [
        Step::Lost(since, String::from("closed (1006)")),
        Step::Lists(String::from("410 Gone")),
        Step::Relisted,
        Step::Gap(since, String::new()),
        Step::Refused(String::from("watch (403): no")),
        Step::Ended,
    ] {
        written.push(began + 30.0, &Line::Step(0, step));
    }
    written.push(began + 31.0, &Line::Definition("{\"kind\":\"CustomResourceDefinition\"}"));
    let (file, lines) = (written.file.finish().expect("memory can be written").into_inner(), written.lines);
    let said = said(&file);
    assert!(said[0].contains("quoted") && said[0].contains("look like tokens"), "{}", said[0]);
    assert_eq!(said[1..], lines);
    assert!(file.len() < 1_200, "{} bytes", file.len());
}

#[test]
fn lines_of_a_kind_that_is_not_known_are_passed_over_but_for_their_time() {
    let mut block = Block::default();
    let text = "{\"churn\":1,\"block\":0,\"from\":10}\n{\"later\":{},\"ms\":5}\n{}\n{\"note\":\"x\",\"ms\":1}\n";
    assert!(matches!(block.next(text), Ok(Some((10.0, Line::Header(_))))));
    assert_eq!(block.next(text), Ok(Some((16.0, Line::Note("x")))));
    assert_eq!(block.next(text), Ok(None));
}

/// A file of three blocks, and what it says.
fn long() -> (Vec<u8>, Vec<String>, usize) {
    let mut written = Written::new();
    written.watch();
    let (mut at, mut bytes, mut random) = (1_764_176_400_200.0, 0, 1_u64);
    while bytes < 2 * FULL + FULL / 2 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        at += 1.0;
        let noise = format!("{random:x}").repeat(4_000);
        let name = format!("web-{}", random >> 60);
        written.pod(at, DeltaType::Updated, &name, Text::Whole(&pod(&name, at as u32 % 1_000_000, &noise)));
        bytes += noise.len();
    }
    let count = written.lines.len();
    (written.file.finish().expect("memory can be written").into_inner(), written.lines, count)
}

#[test]
fn each_block_can_be_read_alone_and_one_that_breaks_off_costs_only_itself() {
    let (file, lines, count) = long();
    let members = member::members(&file);
    // Three blocks, the index, and the line that says where it begins.
    assert_eq!(members.len(), 5);
    let own = |line: &String| !line.contains("Header(") && !line.contains("is_repeated: true");
    let all: Vec<String> = said(&file).into_iter().filter(own).collect();
    assert_eq!((all.len(), &all), (count, &lines));
    // The last block alone says what it watches, and has every text.
    let last: Vec<String> = said(&file[members[2].clone()]).into_iter().filter(own).collect();
    assert!(last.len() > 5 && lines.ends_with(&last), "{}", last.len());
    // Wherever the file breaks off, the blocks before are whole, and so is what is read of the last one.
    for part in 1..5 {
        let end = members[1].end + (members[2].len() * part / 5).max(1);
        let read: Vec<String> = said(&file[..end]).into_iter().filter(own).collect();
        assert!(read.len() >= count - last.len() && lines.starts_with(&read), "{} of {count}", read.len());
    }
    // A byte that was changed is noticed, and what came before is read.
    let mut spoiled = file.clone();
    spoiled[members[1].end - 200] ^= 0x10;
    assert_eq!(refused(&spoiled), "block 2, line 1: it is not as it was written: its checksum does not match");
    // One that another program has packed again.
    let mut plain = Vec::new();
    for member in members {
        plain.extend_from_slice(unpacked(&file[member]).expect("it is as it was written").as_bytes());
    }
    assert_eq!(plain.iter().filter(|byte| **byte == b'\n').count(), count + 3 + 2 + 4 + 1);
}

/// The reader in Python that the guide has.
const GUIDE: &str = include_str!("../../../docs/guide/file.md");

#[test]
fn the_reader_in_the_guide_reads_what_is_written() {
    let (file, _, _) = long();
    let torn = &file[..file.len() - 3_000];
    let mut expected = Vec::new();
    read(torn, |at, line| {
        if let Line::Version(version) = line {
            let Text::Whole(text) = version.text else { panic!("every version has a text") };
            let rest = text.split_once("resourceVersion\":\"").expect("a version").1;
            let number = rest.split_once('"').expect("a version").0;
            let Version { key, .. } = version;
            expected.push(format!("{at:.3} MODIFIED pods {key} {number}"));
        }
    })
    .expect("it is a recording");
    let (_, rest) = GUIDE.split_once("```python\n").expect("the guide has a reader");
    let (program, _) = rest.split_once("```").expect("it ends");
    assert!(program.lines().count() <= 50);
    let path = std::env::temp_dir().join(format!("kubechurn-guide-{}.churn", std::process::id()));
    std::fs::write(&path, torn).expect("a file can be written");
    let printed = Command::new("python3").arg("-c").arg(program).arg(&path).output().expect("python3 is there");
    std::fs::remove_file(&path).expect("it was there");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed = String::from_utf8(printed.stdout).expect("it prints text");
    assert!(expected.len() > 50, "{}", expected.len());
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

/// Memory that can be looked at while a writer has it.
#[derive(Clone, Default)]
struct Disk(Rc<RefCell<Cursor<Vec<u8>>>>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.borrow_mut().seek(to)
    }
}

#[test]
fn what_was_flushed_is_read_of_a_file_that_was_never_ended() {
    let disk = Disk::default();
    let mut file = FileWriter::new(Header::default(), disk.clone());
    let notes = || {
        let mut notes = Vec::new();
        read(disk.0.borrow().get_ref(), |_, line| {
            if let Line::Note(words) = line {
                notes.push(words.to_owned());
            }
        })
        .expect("it is a recording");
        notes
    };
    for words in ["one", "two"] {
        file.push(1.0, &Line::Note(words)).expect("memory can be written");
    }
    file.flush().expect("memory can be written");
    assert_eq!(notes(), ["one", "two"]);
    file.push(2.0, &Line::Note("three")).expect("memory can be written");
    assert_eq!(notes(), ["one", "two"], "the process ends here");
    file.flush().expect("memory can be written");
    assert_eq!(notes(), ["one", "two", "three"]);
}

#[test]
fn files_that_are_none_are_refused_with_line_and_reason() {
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory can be written");
        encoder.finish().expect("memory can be written")
    };
    let first = r#"{"churn":1,"block":0,"from":1}"#;
    let watch = r#"{"step":"began","watch":0,"version":"v1","plural":"pods","kind":"Pod","namespaced":true}"#;
    let with = |lines: &str| packed(&format!("{first}\n{watch}\n{lines}\n"));
    for (file, words) in [
        (b"PK\x03\x04".to_vec(), "block 1, line 1: it is not compressed by gzip, as a recording is"),
        (Vec::new(), "block 1, line 1: it is not compressed by gzip, as a recording is"),
        (packed(first), "block 1, line 1: it breaks off before its first line"),
        (packed("hello\n"), "block 1, line 1: it is no JSON object"),
        (packed("{\"a\":1}\n"), "block 1, line 1: it is not the beginning of a block of a recording"),
        (packed("{\"churn\":2,\"from\":1}\n"), "block 1, line 1: a newer version of kubechurn wrote it: use that one"),
        (packed("{\"churn\":1}\n"), "block 1, line 1: it does not say when it begins"),
        (with(r#"{"type":"ADDED"}"#), "block 1, line 3: it names no watch"),
        (with(r#"{"watch":7,"type":"ADDED","object":0}"#), "block 1, line 3: the block does not say what it watches"),
        (with(r#"{"watch":0,"type":"ADDED","object":1}"#), "block 1, line 3: its object is not in the block"),
        (with(r#"{"watch":0,"type":"ADDED","object":-1}"#), "block 1, line 3: it names no object"),
        (with(r#"{"watch":0,"type":"BOOKMARK","object":0}"#), "block 1, line 3: it is of no type that is known"),
        (with(r#"{"watch":0,"step":"jumped"}"#), "block 1, line 3: it is of no kind that is known"),
        (with(r#"{"watch":0,"step":"gap"}"#), "block 1, line 3: it does not say since when"),
        (with(r#"{"step":"began","watch":1}"#), "block 1, line 3: it does not name the resource"),
        (with(r#"{"watch":0,"ms":1e300,"step":"ended"}"#), "block 1, line 3: its time is none"),
        (
            with(r#"{"watch":0,"type":"ADDED","object":0,"name":"a","uid":"u","edits":[5]}"#),
            "block 1, line 3: its edits do not fit the text before it",
        ),
        (
            with(r#"{"watch":0,"type":"ADDED","object":0,"name":"a","uid":"u","like":9,"edits":[]}"#),
            "block 1, line 3: what it is like is not in the block",
        ),
    ] {
        assert_eq!(refused(&file), words);
    }
}

#[test]
fn a_few_bytes_cannot_ask_for_all_memory() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let long = "x".repeat(1 << 20);
    let head = r#"{"churn":1,"block":0,"from":1}
{"step":"began","watch":0,"version":"v1","plural":"pods","kind":"Pod","namespaced":true}
"#;
    write!(encoder, "{head}").expect("memory can be written");
    writeln!(encoder, r#"{{"watch":0,"type":"ADDED","object":0,"name":"a","uid":"u","text":"{long}"}}"#)
        .expect("memory");
    for object in 1..600 {
        writeln!(encoder, r#"{{"watch":0,"type":"ADDED","object":{object},"name":"a","uid":"u","like":0,"edits":[]}}"#)
            .expect("memory can be written");
    }
    let file = encoder.finish().expect("memory can be written");
    assert_eq!(refused(&file), "block 1, line 515: the texts of its block are too large to be held");
}

/// Lines of every kind.
const LINES: &str = include_str!("../../../fuzz/corpus/file/all-lines");

#[test]
fn lines_of_every_kind_are_read_to_the_end() {
    let (mut block, mut count) = (Block::default(), 0);
    while block.next(LINES).expect("each is one").is_some() {
        count += 1;
    }
    assert_eq!(count, LINES.lines().count());
    properties::block(LINES.as_bytes());
}

#[test]
fn since_when_nothing_was_heard_is_written_as_it_was_read() {
    for since in ["179571.69669", "1795714696690.125", "-0.0000001", "999999999999999"] {
        let lost = format!(
            "{{\"churn\":1,\"block\":0,\"from\":1}}\n{{\"step\":\"lost\",\"watch\":0,\"since\":{since},\"reason\":\"\"}}\n"
        );
        let (mut block, mut writer) = (Block::default(), Writer::new(Header::default()));
        while let Some((at, line)) = block.next(&lost).unwrap() {
            writer.push(at, &line);
        }
        let written = String::from_utf8(writer.take()).unwrap();
        assert!(written.contains(&format!("\"since\":{since},")), "{written}");
        properties::block(lost.as_bytes());
    }
}

/// The index of a file of the properties.
const INDEX: &str = include_str!("../../../fuzz/corpus/file/an-index");

#[test]
fn an_index_of_the_corpus_is_used() {
    assert!(properties::index(INDEX.as_bytes()));
    assert!(!properties::index(LINES.as_bytes()));
    properties::block(INDEX.as_bytes());
}

#[test]
fn a_block_that_an_index_calls_a_state_is_not_left_out() {
    for line in 1..4 {
        let mut lines: Vec<String> = INDEX.lines().map(str::to_owned).collect();
        lines[line] = lines[line].replace("\"at\":", "\"state\":0,\"at\":");
        assert!(properties::index((lines.join("\n") + "\n").as_bytes()), "{lines:?}");
    }
}

proptest! {
    #[test]
    fn whatever_an_index_says_the_blocks_are_those_of_the_file(
        cuts in prop::collection::vec((0..INDEX.len(), 0..12_usize, prop::sample::select(vec![
            "", "\"", "{", "}", ",", "-", "0", "1", "9", "99999999999", "1e400", "\n", "\u{0}", "\"state\":0,", "\"at\":0,",
        ])), 1..4),
    ) {
        let mut text = INDEX.as_bytes().to_vec();
        for (at, length, new) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, new.bytes());
        }
        properties::index(&text);
    }

    #[test]
    fn whatever_lines_hold_nothing_panics_and_what_is_read_is_written_the_same(
        cuts in prop::collection::vec((0..LINES.len(), 0..12_usize, prop::sample::select(vec![
            "", "\"", "\\", "{", "}", "[", "]", ",", "-", "99999999999", "1e400", "NaN", "\n", "\u{0}", "🦀", "\"object\":0,", "\"like\":1,",
        ])), 1..6),
    ) {
        let mut text = LINES.as_bytes().to_vec();
        for (at, length, new) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, new.bytes());
        }
        properties::block(&text);
    }
}
