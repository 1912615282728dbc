//! A correct run, written by hand, and every way in which it can be wrong: the judge finds each of them.

use std::io::Cursor;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::KINDS;
use kubechurn_recording::native::FileWriter;
use kubechurn_recording::{Header, Line, Step, Text, Version, Watch};
use serde_json::{Value, json};

use kubechurn_harness::judge::honesty::{API, HEADER, Outage, SLACK, Sample, gaps, honesty};
use kubechurn_harness::judge::ledger::Ledger;
use kubechurn_harness::judge::log::PageLog;
use kubechurn_harness::judge::recording::{Recorded, Recording};
use kubechurn_harness::judge::{Case, Verdict, judge};
use kubechurn_harness::truth::{Item, Truth};

const ONE: &str = "api/v1/pods?watch=true&resourceVersion=10&timeoutSeconds=301";
const TWO: &str = "api/v1/pods?watch=true&resourceVersion=30&timeoutSeconds=302";

/// A cluster's log and a page's entries that fit together: a list, a watch, an interruption during which one object
/// lives unseen and another disappears, a second list, and an object whose deletion and whole life were folded.
struct Run {
    ledger: Vec<Value>,
    entries: Vec<Value>,
    recorded: Vec<Recorded>,
    status: Value,
}

fn write(revision: u64, kind: &str, name: &str) -> Value {
    let (key, uid) = (format!("n/{}", &name[..1]), name);
    json!({ "record": "write", "revision": revision, "type": kind, "key": key, "uid": uid, "resource": "pods" })
}

fn sent(connection: u64, kind: &str, uid: Option<&str>, revision: u64) -> Value {
    json!({ "record": "frame", "connection": connection, "type": kind, "uid": uid,
        "resourceVersion": revision.to_string(), "fault": "" })
}

fn opened(connection: u64, path: &str) -> Value {
    json!({ "record": "open", "connection": connection, "transport": "websocket", "path": format!("/{path}") })
}

fn entry(word: &str, said: &[Value]) -> Value {
    let mut entry = vec![json!(1.0), json!(word), json!("pods"), json!("")];
    entry.extend(said.iter().cloned());
    Value::Array(entry)
}

fn frame(kind: &str, name: &str, version: u64, fate: &str) -> Value {
    let key = name.get(..1).map(|name| format!("n/{name}")).unwrap_or_default();
    entry("frame", &[json!(kind), json!(key), json!(name), json!(version.to_string()), json!(fate)])
}

fn applied(word: &str, name: &str, version: u64, folded: u64) -> Value {
    let key = format!("n/{}", &name[..1]);
    entry("applied", &[json!(word), json!(key), json!(name), json!(version.to_string()), json!(""), json!(folded)])
}

fn shown(word: &str, name: &str, version: u64) -> Value {
    entry("shown", &[json!(word), json!(format!("n/{}", &name[..1])), json!(name), json!(version.to_string())])
}

fn recorded(kind: &str, name: &str, version: u64) -> Recorded {
    Recorded { kind: kind.to_owned(), key: format!("n/{}", &name[..1]), uid: name.to_owned(), version }
}

fn good() -> Run {
    let ledger = vec![
        write(1, "ADDED", "z1"),
        write(2, "DELETED", "z1"),
        write(3, "ADDED", "a1"),
        write(4, "ADDED", "b1"),
        opened(1, ONE),
        write(11, "MODIFIED", "a1"),
        sent(1, "MODIFIED", Some("a1"), 11),
        write(12, "ADDED", "c1"),
        sent(1, "ADDED", Some("c1"), 12),
        sent(1, "BOOKMARK", None, 13),
        // Nothing arrives from here on.
        write(20, "MODIFIED", "a1"),
        sent(1, "MODIFIED", Some("a1"), 20),
        write(21, "DELETED", "b1"),
        write(22, "ADDED", "d1"),
        write(23, "DELETED", "d1"),
        opened(2, TWO),
        // While nothing is drained, objects appear and disappear: the life of one is folded into the deletion before
        // it.
        write(31, "DELETED", "c1"),
        sent(2, "DELETED", Some("c1"), 31),
        write(32, "ADDED", "c2"),
        sent(2, "ADDED", Some("c2"), 32),
        write(33, "DELETED", "c2"),
        sent(2, "DELETED", Some("c2"), 33),
    ];
    let item = |name: &str, version: u64| {
        entry("item", &[json!(format!("n/{}", &name[..1])), json!(name), json!(version.to_string())])
    };
    let entries = vec![
        item("a1", 3),
        item("b1", 4),
        entry("replaced", &[json!(""), json!("10")]),
        entry("watch", &[json!(ONE)]),
        applied("listed", "a1", 3, 1),
        shown("listed", "a1", 3),
        applied("listed", "b1", 4, 1),
        shown("listed", "b1", 4),
        frame("MODIFIED", "a1", 11, "queued"),
        frame("ADDED", "c1", 12, "queued"),
        frame("BOOKMARK", "", 13, "bookmark"),
        applied("updated", "a1", 11, 1),
        shown("updated", "a1", 11),
        applied("added", "c1", 12, 1),
        shown("added", "c1", 12),
        item("a1", 20),
        item("c1", 12),
        entry("replaced", &[json!("13"), json!("30")]),
        entry("watch", &[json!(TWO)]),
        entry("notice", &[json!("relist"), json!(1.0), json!(1.0), json!("words")]),
        applied("updated", "a1", 20, 1),
        shown("updated", "a1", 20),
        applied("absent", "b1", 4, 1),
        shown("gone", "b1", 4),
        applied("synced", "c1", 12, 1),
        shown("synced", "c1", 12),
        frame("DELETED", "c1", 31, "queued"),
        frame("ADDED", "c2", 32, "queued"),
        frame("DELETED", "c2", 33, "queued"),
        applied("deleted", "c1", 31, 3),
        shown("gone", "c1", 31),
    ];
    let counters = json!({ "frames": 6, "bookmarks": 1, "errors": 0, "watched": 5, "streamed": 0, "listed": 4,
        "deltas": 10, "applied": 8, "coalesced": 2, "queued": 0 });
    let recorded = vec![
        recorded("LISTED", "a1", 3),
        recorded("LISTED", "b1", 4),
        recorded("MODIFIED", "a1", 11),
        recorded("ADDED", "c1", 12),
        recorded("LISTED", "a1", 20),
        recorded("DELETED", "b1", 0),
        recorded("DELETED", "c1", 31),
        recorded("ADDED", "c2", 32),
        recorded("DELETED", "c2", 33),
    ];
    Run { ledger, entries, recorded, status: json!({ "balanced": true, "ledger": counters }) }
}

fn verdict(run: &Run) -> Verdict {
    let lines: Vec<String> = run.ledger.iter().map(Value::to_string).collect();
    let ledger = Ledger::read(&[lines.join("\n")]);
    let log = PageLog::read(&[json!({ "now": 5.0, "real": 5.0, "dropped": 0, "entries": run.entries })]);
    let item = Item { uid: "a1".to_owned(), resource_version: "20".to_owned() };
    let truth = Truth { items: [("n/a".to_owned(), item)].into(), revision: 33 };
    let digest = truth.digest();
    let recording = &Recording([("pods".to_owned(), run.recorded.clone())].into());
    let status = &run.status;
    judge(&Case { ledger: &ledger, log: &log, recording, resource: "pods", truth: &truth, digest: &digest, status })
}

/// The first attempt never reached the cluster. The second asked for the same number of seconds.
#[test]
fn a_watch_that_was_asked_for_twice_in_the_same_words_is_accounted_for() {
    let mut run = good();
    for url in [ONE, TWO] {
        let at = run.entries.iter().position(|one| *one == entry("watch", &[json!(url)])).unwrap();
        run.entries.insert(at, entry("watch", &[json!(url)]));
    }
    let found = verdict(&run);
    assert!(found.complaints.is_empty() && found.residual == 0, "{:#?}", found.complaints);
}

#[test]
fn a_good_run_is_accounted_for() {
    let run = good();
    let found = verdict(&run);
    assert!(found.complaints.is_empty(), "{:#?}", found.complaints);
    let sorts = (found.lives, found.shown, found.coalesced, found.unobservable, found.unaccounted);
    assert_eq!((sorts, found.residual, found.digests, found.recorded), ((6, 3, 1, 2, 0), 0, (4, 4), 8));
}

/// Breaks the correct run in one way. The judge must complain with these words.
#[track_caller]
fn broken(words: &str, harm: impl FnOnce(&mut Run)) -> Verdict {
    let mut run = good();
    harm(&mut run);
    let found = verdict(&run);
    assert!(found.complaints.iter().any(|complaint| complaint.contains(words)), "{words}: {:#?}", found.complaints);
    found
}

/// The index of the first entry with this word that contains this text.
fn place(run: &Run, word: &str, text: &str) -> usize {
    let is_it = |entry: &Value| entry[1] == word && entry.to_string().contains(text);
    run.entries.iter().position(is_it).unwrap_or_else(|| panic!("no {word} with {text}"))
}

#[test]
fn what_is_lost_or_made_up_is_found() {
    for (words, word, text) in [
        ("the store's changes are not the table's", "shown", "\"updated\",\"n/a\",\"a1\",\"11\""),
        ("its end was not shown", "shown", "\"gone\",\"n/b\""),
        ("never shown", "applied", "\"deleted\",\"n/c\""),
        ("lives unaccounted for", "notice", "relist"),
        ("by one account", "frame", "BOOKMARK"),
        ("was sent", "frame", "\"ADDED\",\"n/c\",\"c1\""),
        ("never made up for", "frame", "\"c2\",\"33\""),
        ("items of lists", "item", "a1"),
        ("the rows differs", "shown", "\"updated\",\"n/a\",\"a1\",\"20\""),
    ] {
        broken(words, |run| drop(run.entries.remove(place(run, word, text))));
    }
    for (words, extra) in [
        ("never written", shown("updated", "a1", 19)),
        ("do not rise", shown("updated", "a1", 11)),
        ("do not rise", shown("updated", "a1", 20)),
        ("rows that the table does not have", shown("missing", "a1", 20)),
        ("shown as gone though it is there", shown("gone", "a1", 20)),
        ("by one account", frame("MODIFIED", "a1", 20, "queued")),
    ] {
        broken(words, |run| run.entries.push(extra));
    }
    broken("a watch that the cluster has not", |run| run.ledger.retain(|line| line["connection"] != 2));
    broken("though 12 had come", |run| {
        let at = place(run, "replaced", "\"13\"");
        run.entries[at] = entry("replaced", &[json!("11"), json!("30")]);
    });
    broken("deltas", |run| run.status["ledger"]["coalesced"] = json!(1));
    broken("adds up", |run| run.status["balanced"] = json!(false));
    let found = broken("the ledger differs", |run| run.ledger.push(write(32, "ADDED", "e1")));
    assert_eq!((found.unaccounted, found.digests), (1, (3, 4)));
}

#[test]
fn what_is_not_in_the_recording_or_made_up_there_is_found() {
    broken("2 writes are not recorded", |run| run.recorded.retain(|one| one.uid != "c2"));
    broken("1 writes are not recorded", |run| run.recorded.retain(|one| one.version != 11));
    broken("the recording differs", |run| run.recorded.retain(|one| one.version != 20));
    broken("versions that were never written", |run| run.recorded.push(recorded("MODIFIED", "a1", 25)));
    broken("versions that do not rise", |run| run.recorded.push(recorded("MODIFIED", "a1", 11)));
    // What the page could not hear is in no recording, and must be said to be missing.
    broken("3 writes are not recorded", |run| drop(run.entries.remove(place(run, "notice", "relist"))));
}

/// What the judge reads by the book is what was written.
#[test]
fn a_recording_is_read_by_what_the_book_says_of_it() {
    let resource = KINDS[0].resource;
    let watch = Watch { number: 0, resource, scope: Scope::default(), is_repeated: false };
    let (key, uid) = (ObjectKey::new("n", "ä"), Uid::new("a1"));
    let mut file = FileWriter::new(Header::default(), Cursor::new(Vec::new()));
    file.push(1.0, &Line::Watch(watch)).unwrap();
    for (version, delta_type) in [(3, DeltaType::Replaced), (11, DeltaType::Updated), (20, DeltaType::Deleted)] {
        let text = format!(r#"{{"metadata":{{"name":"ä","resourceVersion":"{version}"}},"status":{{"words":"ß"}}}}"#);
        let text = Text::Whole(&text);
        file.push(2.0, &Line::Version(Version { watch: 0, delta_type, key: &key, uid: &uid, text })).unwrap();
        if version == 3 {
            file.push(2.0, &Line::Step(0, Step::Listed)).unwrap();
        }
        file.flush().unwrap();
    }
    let Recording(read) = Recording::read(&file.finish().unwrap().into_inner());
    let read: Vec<_> =
        read[resource.plural].iter().map(|one| (&*one.kind, &*one.key, &*one.uid, one.version)).collect();
    assert_eq!(read, [("LISTED", "n/ä", "a1", 3), ("MODIFIED", "n/ä", "a1", 11), ("DELETED", "n/ä", "a1", 20)]);
}

#[test]
fn what_lived_in_a_cluster_that_ended_is_gone() {
    let first = [write(1, "ADDED", "a1"), write(2, "ADDED", "b1"), write(3, "DELETED", "b1")];
    let second = [write(1000, "ADDED", "a2")];
    let text = |lines: &[Value]| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let ledger = Ledger::read(&[text(&first), text(&second)]);
    let ends: Vec<_> = ledger.of("pods", u64::MAX).map(|write| (write.revision, &*write.kind, &*write.uid)).collect();
    assert_eq!(ends[3..], [(999, "ENDED", "a1"), (1000, "ADDED", "a2")]);
    assert_eq!(ledger.state("pods", 1000)["n/a"].uid, "a2");
}

fn sample(at: f64, state: &str) -> Sample {
    let value = json!([at, state, { "pods": state }]);
    Sample::read(&value).expect("it is a sample")
}

fn outage(from: f64, to: f64) -> Outage {
    Outage { fault: "fault", from, to, resource: "", bound: API, slack: SLACK }
}

#[test]
fn live_is_timed_while_nothing_can_come() {
    let samples = [sample(0.0, "live"), sample(30_000.0, "stale"), sample(60_000.0, "live")];
    for (from, to, live, fine) in [
        (20_000.0, 50_000.0, 10_000.0, true),
        (10_000.0, 50_000.0, 20_000.0, false),
        // The page says "live" again before anything can have arrived.
        (29_000.0, 80_000.0, 21_000.0, false),
        (31_000.0, 59_000.0, 0.0, true),
    ] {
        let (longest, complaints) = honesty(&samples, &["pods", HEADER], &[outage(from, to)]);
        assert_eq!((longest, complaints.is_empty()), (live, fine), "{from} to {to}: {complaints:?}");
    }
    let other = Outage { resource: "nodes", ..outage(0.0, 30_000.0) };
    assert_eq!(honesty(&samples, &["pods"], &[other]).1.len(), 0, "another resource's outage");
    let late = Outage { slack: SLACK + 4_000.0, ..outage(10_000.0, 50_000.0) };
    assert_eq!(honesty(&samples, &["pods"], &[late]).1.len(), 0, "a page whose timers were four seconds late");
}

#[test]
fn gaps_cover_the_silence() {
    let samples = [sample(0.0, "live"), sample(30_000.0, "stale"), sample(60_000.0, "live")];
    let log = |drawn: &[(f64, f64)]| {
        let entries: Vec<Value> =
            drawn.iter().map(|(from, to)| entry("notice", &[json!("gap"), json!(from), json!(to)])).collect();
        // The page's clock is a minute behind.
        PageLog::read(&[
            json!({ "now": -60_000.0, "real": 0.0, "dropped": 0, "entries": [] }),
            json!({ "now": 40_000.0, "real": 100_000.0, "dropped": 0, "entries": entries }),
        ])
    };
    for (drawn, fine) in [
        (&[(-41_000.0, 0.0)] as &[_], true),
        (&[(-41_000.0, -20_000.0), (-21_000.0, 0.0)], true),
        (&[], false),
        (&[(-30_000.0, 0.0)], false),
        (&[(-41_000.0, -20_000.0)], false),
        (&[(-41_000.0, -30_000.0), (-20_000.0, 0.0)], false),
    ] {
        let complaints = gaps(&log(drawn), &samples, ("pods", "pods"), &[outage(20_000.0, 58_000.0)]);
        assert_eq!(complaints.is_empty(), fine, "{drawn:?}: {complaints:?}");
    }
    let live = [sample(0.0, "live")];
    assert!(gaps(&log(&[]), &live, ("pods", "pods"), &[outage(20_000.0, 25_000.0)]).is_empty(), "nothing was missed");
}
