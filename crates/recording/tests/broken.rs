//! Broken files, made by hand and made from a good one by each kind of break: each is refused with line and reason, and what was
//! read before is what the good file has there.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubechurn_recording::native::read;
use kubechurn_recording::{Block, Line, member};

/// Lines of every kind, a block of them.
const LINES: &str = include_str!("../../../fuzz/corpus/file/all-lines");

const FOREIGN: &str = "it is not compressed by gzip, as a recording is";
const TORN: &str = "it breaks off before its first line";
const NO_JSON: &str = "it is no JSON object";
const NO_BLOCK: &str = "it is not the beginning of a block of a recording";
const NEWER: &str = "a newer version of kubechurn wrote it: use that one";
const NO_BEGIN: &str = "it does not say when it begins";
const NO_WATCH: &str = "it names no watch";
const NOT_WATCHED: &str = "the block does not say what it watches";
const NO_OBJECT: &str = "it names no object";
const UNKNOWN_OBJECT: &str = "its object is not in the block";
const NO_TYPE: &str = "it is of no type that is known";
const NO_STEP: &str = "it is of no kind that is known";
const NO_SINCE: &str = "it does not say since when";
const NO_RESOURCE: &str = "it does not name the resource";
const NO_TEXT: &str = "its text is none";
const NO_FIT: &str = "its edits do not fit the text before it";
const NOT_LIKE: &str = "what it is like is not in the block";
const NO_TIME: &str = "its time is none";

fn packed(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_ref()).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn block(text: &str) -> Vec<u8> {
    member::framed(&packed(text)).expect("it is a member")
}

/// What is read of a file, and why not all is.
fn outcome(file: &[u8]) -> (Vec<String>, Option<String>) {
    let mut said = Vec::new();
    let read = read(file, |at, line| said.push(format!("{at} {line:?}")));
    (said, read.err().map(|(block, refusal)| format!("block {block}, {refusal}")))
}

/// What a good file of these blocks says.
fn good(blocks: &[&str]) -> Vec<String> {
    let file: Vec<u8> = blocks.iter().flat_map(|text| block(text)).collect();
    let (said, refused) = outcome(&file);
    assert_eq!(refused, None);
    said
}

/// A block that follows the first one.
fn second() -> String {
    LINES.replace("\"block\":0", "\"block\":1")
}

#[test]
fn what_is_no_recording_is_refused_and_nothing_of_it_is_read() {
    let whole = packed(LINES);
    let first = |members: &str| packed(format!("{{{members}}}\n"));
    let files: Vec<(Vec<u8>, &str)> = vec![
        // What other programs write.
        (Vec::new(), FOREIGN),
        (b"PK\x03\x04rest".to_vec(), FOREIGN),
        (b"\x7fELF\x02\x01\x01".to_vec(), FOREIGN),
        (b"\x89PNG\r\n\x1a\n".to_vec(), FOREIGN),
        (b"%PDF-1.7".to_vec(), FOREIGN),
        (b"BZh91AY&SY".to_vec(), FOREIGN),
        (b"\x28\xb5\x2f\xfd\x04".to_vec(), FOREIGN),
        (b"\xfd7zXZ\0".to_vec(), FOREIGN),
        (b"<!doctype html><title>404</title>".to_vec(), FOREIGN),
        (LINES.as_bytes().to_vec(), FOREIGN),
        (vec![0; 4_096], FOREIGN),
        ([b"\xef\xbb\xbf", &whole[..]].concat(), FOREIGN),
        ([b"\n", &whole[..]].concat(), FOREIGN),
        ([b"\x1f\x8b\x07", &whole[3..]].concat(), FOREIGN),
        // What is cut off before anything was said.
        (vec![0x1f], FOREIGN),
        (vec![0x1f, 0x8b], FOREIGN),
        (vec![0x1f, 0x8b, 8], TORN),
        (whole[..10].to_vec(), TORN),
        (whole[..18].to_vec(), TORN),
        (member::head(0).to_vec(), TORN),
        (block(LINES)[..member::HEAD + 4].to_vec(), TORN),
        (packed(""), TORN),
        (packed("\u{0}"), TORN),
        (packed(r#"{"churn":1,"from":1}"#), TORN),
        // What was compressed, and is something else.
        (packed("hello\n"), NO_JSON),
        (packed("\n"), NO_JSON),
        (packed("\u{0}\n"), NO_JSON),
        (packed(b"\xff\xfe\xff\n"), NO_JSON),
        (packed("<!doctype html>\n"), NO_JSON),
        (packed("[]\n"), NO_JSON),
        (packed("[{\"churn\":1,\"from\":1}]\n"), NO_JSON),
        (packed("\"churn\"\n"), NO_JSON),
        (packed("1\n"), NO_JSON),
        (packed("null\n"), NO_JSON),
        (packed("{\"churn\":1,\"from\":1\n"), NO_JSON),
        (packed("{\"churn\":1,\"from\":1}{\"a\":1}\n"), NO_JSON),
        (packed("{churn:1,from:1}\n"), NO_JSON),
        (packed("{'churn':1,'from':1}\n"), NO_JSON),
        (packed("{\"churn\":1,,\"from\":1}\n"), NO_JSON),
        (packed(format!("{{\"churn\":1,\"from\":{}\n", "[".repeat(100_000))), NO_JSON),
        ([packed(packed(LINES)), packed("\n")].concat(), NO_JSON),
        (packed("{}\n"), NO_BLOCK),
        (packed("{\"a\":1}\n"), NO_BLOCK),
        (packed("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}\n"), NO_BLOCK),
        (packed("{\"kind\":\"List\",\"items\":[]}\n"), NO_BLOCK),
        (packed(LINES.split_once('\n').expect("lines").1), NO_BLOCK),
        // A first line that is wrong.
        (first(r#""churn":0.5,"from":1"#), NO_BLOCK),
        (first(r#""churn":"1","from":1"#), NO_BLOCK),
        (first(r#""churn":-1,"from":1"#), NO_BLOCK),
        (first(r#""churn":null,"from":1"#), NO_BLOCK),
        (first(r#""churn":99999999999,"from":1"#), NO_BLOCK),
        (first(r#""Churn":1,"from":1"#), NO_BLOCK),
        (first(r#""churn":2,"from":1"#), NEWER),
        (first(r#""churn":4294967295"#), NEWER),
        (first(r#""churn":1"#), NO_BEGIN),
        (first(r#""churn":1,"from":"1""#), NO_BEGIN),
        (first(r#""churn":1,"from":null"#), NO_BEGIN),
        (first(r#""churn":1,"from":1e15"#), NO_BEGIN),
        (first(r#""churn":1,"from":-1e300"#), NO_BEGIN),
        (first(r#""churn":1,"from":[1]"#), NO_BEGIN),
        // Nothing but what is passed over.
        (first(r#""churn":1,"from":1,"index":0"#), TORN),
        (first(r#""churn":1,"from":1,"state":0"#), TORN),
        (first(r#""churn":1,"from":1,"state":-1"#), "it does not say before which block all was so"),
    ];
    assert!(files.len() >= 60);
    for (file, reason) in files {
        let shown = String::from_utf8_lossy(&file[..file.len().min(60)]).into_owned();
        let (said, refused) = outcome(&file);
        assert_eq!((said.len(), refused), (0, Some(format!("block 1, line 1: {reason}"))), "{shown:?}");
    }
}

/// A change of a member of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Break {
    Gone,
    Null,
    Negative,
    Huge,
    Word,
    Object,
}

const BREAKS: [Break; 6] = [Break::Gone, Break::Null, Break::Negative, Break::Huge, Break::Word, Break::Object];

impl Break {
    fn of(self, line: &str, member: &str) -> String {
        let mut all =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).expect("it is an object");
        let value = match self {
            Break::Gone => None,
            Break::Null => Some(serde_json::Value::Null),
            Break::Negative => Some((-7).into()),
            Break::Huge => Some(1e300.into()),
            Break::Word => Some("x".into()),
            Break::Object => Some(serde_json::json!({"a": [1]})),
        };
        match value {
            Some(value) => drop(all.insert(member.to_owned(), value)),
            None => drop(all.remove(member)),
        }
        serde_json::to_string(&all).expect("it is JSON")
    }

    /// The reasons with which a line is refused whose member is broken so; none, where the line is read all the same or passed over.
    fn reasons(self, line: &str, member: &str) -> &'static [&'static str] {
        let is_version = line.contains("\"type\"");
        match (member, self) {
            ("watch", Break::Gone | Break::Null | Break::Negative | Break::Huge | Break::Word | Break::Object) => {
                &[NO_WATCH]
            }
            // A line of a kind that nobody knows is passed over.
            ("type" | "step" | "note" | "definition", Break::Gone) => &[],
            ("type", _) => &[NO_TYPE, NOT_WATCHED],
            ("step", Break::Word) => &[NO_STEP],
            // What is no text is no step, and so the line is taken for a version.
            ("step", _) => &[NO_OBJECT, NO_TYPE, NOT_WATCHED],
            ("note" | "definition", Break::Word) => &[],
            ("note" | "definition", _) => &[NO_TEXT],
            ("object", _) => &[NO_OBJECT],
            ("text", Break::Gone) => &[],
            ("text", Break::Word) => &[],
            ("text", _) => &[NO_TEXT],
            ("edits", Break::Gone) => &[],
            ("edits", _) => &[NO_FIT],
            // Without it the edits are of no text.
            ("like", Break::Huge | Break::Word | Break::Object | Break::Null | Break::Negative | Break::Gone) => {
                &[NO_FIT]
            }
            ("since", Break::Negative) => &[],
            ("since", _) => &[NO_SINCE],
            ("version" | "plural" | "kind", Break::Word) if !is_version => &[],
            ("version" | "plural" | "kind", _) if !is_version => &[NO_RESOURCE],
            ("ms", Break::Huge) => &[NO_TIME],
            _ => &[],
        }
    }
}

#[test]
fn each_member_of_each_line_that_is_broken_is_refused_at_its_line_or_changes_nothing_else() {
    let all: Vec<&str> = LINES.lines().collect();
    let expected = good(&[LINES]);
    assert_eq!(expected.len(), all.len());
    let (mut refused, mut read_on) = (0, 0);
    for (at, line) in all.iter().enumerate().skip(1) {
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).expect("an object");
        for name in members.keys() {
            for change in BREAKS {
                let broken = change.of(line, name);
                let mut lines = all.clone();
                lines[at] = &broken;
                let (said, refusal) = outcome(&block(&(lines.join("\n") + "\n")));
                let reasons = change.reasons(line, name);
                let what = format!("{change:?} {name} of {line}: {refusal:?}");
                match &refusal {
                    Some(words) if reasons.is_empty() => {
                        // What it lacks is missed later.
                        let later =
                            words.strip_prefix("block 1, line ").and_then(|rest| rest.split(':').next()?.parse().ok());
                        assert!(later.is_some_and(|later: usize| later > at + 1), "{what}");
                        refused += 1;
                    }
                    Some(words) => {
                        let is_it = |reason: &&str| *words == format!("block 1, line {}: {reason}", at + 1);
                        assert!(reasons.iter().any(is_it), "{what}");
                        assert_eq!(said, expected[..at], "{what}");
                        refused += 1;
                    }
                    None => {
                        assert!(reasons.is_empty(), "{what}");
                        assert!(said.len() >= expected.len() - 1, "{what}");
                        read_on += 1;
                    }
                }
                assert_eq!(said[..at.min(said.len())], expected[..at.min(said.len())], "{what}");
            }
        }
    }
    assert!(refused >= 100 && read_on >= 50, "{refused} {read_on}");
}

/// Damages a line.
type Damage = fn(&str) -> String;

#[test]
fn a_line_that_is_damaged_is_refused_and_those_before_it_are_read() {
    let (all, expected) = (LINES.lines().collect::<Vec<_>>(), good(&[LINES]));
    let damages: [(&str, Damage); 6] = [
        ("cut", |line| line[..line.len() / 2].to_owned()),
        ("without its end", |line| line[..line.len() - 1].to_owned()),
        ("twice on a line", |line| line.repeat(2)),
        ("a control character", |line| line.replacen(':', "\u{1}:", 1)),
        ("a comma too many", |line| line.replacen(',', ",,", 1)),
        ("something else", |_| String::from("PK\u{3}\u{4}")),
    ];
    for (at, line) in all.iter().enumerate() {
        for (what, damage) in damages {
            let damaged = damage(line);
            if damaged == *line {
                continue;
            }
            let mut lines = all.clone();
            lines[at] = &damaged;
            let (said, refused) = outcome(&block(&(lines.join("\n") + "\n")));
            assert_eq!(
                (said, refused),
                (expected[..at].to_vec(), Some(format!("block 1, line {}: {NO_JSON}", at + 1))),
                "{what} {line}"
            );
        }
    }
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let head: String = LINES.lines().take(2).map(|line| format!("{line}\n")).collect();
    for (line, reason) in [
        (r#"{"type":"ADDED","watch":9,"object":0,"name":"a","uid":"u","text":"{}"}"#, NOT_WATCHED),
        (r#"{"type":"ADDED","watch":0,"object":1,"name":"a","uid":"u","text":"{}"}"#, UNKNOWN_OBJECT),
        (r#"{"type":"ADDED","watch":0,"object":4294967295,"name":"a","uid":"u","text":"{}"}"#, UNKNOWN_OBJECT),
        (r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","like":1,"edits":[]}"#, NOT_LIKE),
        (r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","edits":[1]}"#, NO_FIT),
        (r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","edits":[[9],1]}"#, NO_FIT),
        (r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","edits":[-1]}"#, NO_FIT),
        (r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","edits":["a",1.5]}"#, NO_FIT),
        (r#"{"type":"LISTED","watch":0,"ms":1e18,"object":0}"#, NO_TIME),
        (r#"{"step":"gap","watch":0,"since":1e16}"#, NO_SINCE),
        (r#"{"step":"began","watch":1,"version":"v1","plural":"","kind":"Pod"}"#, NO_RESOURCE),
    ] {
        let (said, refused) = outcome(&block(&format!("{head}{line}\n")));
        assert_eq!((said.len(), refused), (2, Some(format!("block 1, line 3: {reason}"))), "{line}");
    }
    // An object of another watch.
    let other = LINES.lines().nth(1).expect("a watch").replace("\"watch\":0", "\"watch\":1");
    let line = r#"{"type":"ADDED","watch":1,"object":0,"text":"{}"}"#;
    let known = r#"{"type":"ADDED","watch":0,"object":0,"name":"a","uid":"u","text":"{}"}"#;
    let (_, refused) = outcome(&block(&format!("{head}{other}\n{known}\n{line}\n")));
    assert_eq!(refused, Some(format!("block 1, line 5: {UNKNOWN_OBJECT}")));
}

#[test]
fn blocks_that_are_damaged_are_refused_and_those_before_them_are_read() {
    let (one, two) = (block(LINES), block(&second()));
    let (first, both) = (good(&[LINES]), good(&[LINES, &second()]));
    let file = [&one[..], &two].concat();
    let check = |file: &[u8], read: usize, refused: Option<&str>, what: &str| {
        let (said, refusal) = outcome(file);
        assert_eq!(refusal.as_deref(), refused, "{what}");
        assert_eq!(said, both[..read], "{what}");
    };
    const SPOILED: &str = "block 2, line 1: it is not as it was written: its checksum does not match";
    // A byte of what is compressed, of the checksum, and of the length behind it.
    for at in (one.len() + member::HEAD..file.len()).step_by(17).chain(file.len() - 8..file.len()) {
        let mut spoiled = file.clone();
        spoiled[at] ^= 0x20;
        check(&spoiled, first.len(), Some(SPOILED), &format!("byte {at}"));
    }
    // Wherever it is cut, what is whole is read, and nothing is refused.
    for end in (one.len()..file.len()).step_by(29) {
        let (said, refused) = outcome(&file[..end]);
        assert_eq!(refused, None, "{end}");
        assert!(said.len() >= first.len() && both.starts_with(&said), "{end}");
    }
    // A length that leads elsewhere.
    for length in [21, one.len() as u32 - 1, one.len() as u32 + 1, two.len() as u32 + one.len() as u32 - 1] {
        let mut wrong = file.clone();
        wrong[member::LENGTH_AT..member::HEAD].copy_from_slice(&length.to_le_bytes());
        let (said, refused) = outcome(&wrong);
        let is_said = refused.is_some_and(|words| words.starts_with("block 1, line 1: it is not as it was written"));
        assert!(is_said || both.starts_with(&said), "{length}");
    }
    // The second one is something else.
    for (other, reason) in [
        (block(""), None),
        (block("hello\n"), Some(NO_JSON)),
        (block("{}\n"), Some(NO_BLOCK)),
        (block(&second().replace("\"churn\":1", "\"churn\":7")), Some(NEWER)),
        (block(second().split_once('\n').expect("lines").1), Some(NO_BLOCK)),
        (block(&String::from_utf8_lossy(&packed("x"))), None),
        // What follows a file and is no block is its torn end.
        (b"PK\x03\x04".to_vec(), None),
        (vec![0; 100], None),
    ] {
        let refused = reason.map(|reason| format!("block 2, line 1: {reason}"));
        check(&[&one[..], &other].concat(), first.len(), refused.as_deref(), &format!("{reason:?}"));
    }
}

/// What a reader gets that reads line by line, as the page does, is nothing before the first line is right.
#[test]
fn the_page_gets_no_line_of_what_is_refused_at_its_beginning() {
    for text in ["hello\n", "{}\n", "{\"churn\":9,\"from\":1}\n", "{\"churn\":1}\n", "[]\n"] {
        assert!(Block::default().next(text).is_err(), "{text}");
    }
    let mut block = Block::default();
    assert!(matches!(block.next(LINES), Ok(Some((_, Line::Header(_))))));
}
