//! What is read of a file of which only some time is looked at, with an index and without, and with indexes that are wrong.

use std::cell::RefCell;
use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recording::index::{self, Entry};
use kubechurn_recording::native::{self, FileWriter, LAST, StateWriter, read};
use kubechurn_recording::places::{Looked, Places};
use kubechurn_recording::{Header, Line, Newest, Part, Step, Text, Version, Watch, member};

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };
const SETS: ApiResource = ApiResource {
    group: "apps",
    version: "v1",
    plural: "replicasets",
    kind: "ReplicaSet",
    namespaced: true,
    cluster: "",
};
/// When the file begins, in milliseconds since 1970.
const BEGAN: f64 = 1_795_714_696_000.0;
/// How many blocks it has, of ten seconds each.
const BLOCKS: u32 = 30;

fn text(name: &str, version: u32) -> String {
    let noise: String =
        (0..40_u64).map(|at| format!("{:x}", (u64::from(version) + at).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}-u","resourceVersion":"{version}"}},"status":"{noise}"}}"#)
}

/// A file whose objects change once a second; before the tenth block of it there is a state, if there is to be one.
fn written(has_state: bool) -> (Vec<u8>, Vec<Entry>) {
    let mut file =
        FileWriter::new(Header { title: "long".into(), program: "p".into(), ..Header::default() }, Cursor::default());
    let mut newest = Newest::default();
    let push = |file: &mut FileWriter<Cursor<Vec<u8>>>, newest: &mut Newest, at: f64, line: Line<'_>| {
        newest.take(&line);
        file.push(at, &line).expect("memory can be written");
    };
    for (number, resource) in [PODS, SETS].into_iter().enumerate() {
        let watch = Watch { number: number as u32, resource, scope: Scope::default(), is_repeated: false };
        push(&mut file, &mut newest, BEGAN, Line::Watch(watch));
        push(&mut file, &mut newest, BEGAN, Line::Step(number as u32, Step::Listed));
    }
    let mut state = None;
    for block in 0..BLOCKS {
        for second in 0..10 {
            let (at, version) = (BEGAN + f64::from(block * 10 + second) * 1_000.0, block * 10 + second);
            let name = format!("web-{}", version % 7);
            // Of ReplicaSets only the first half of the file has something.
            let watch = u32::from(second == 5 && block < BLOCKS / 2);
            let (key, uid, text) =
                (ObjectKey::new("shop", &name), Uid::new(&format!("{name}-u")), text(&name, version));
            let is_gone = version % 50 == 49;
            let delta_type = if is_gone { DeltaType::Deleted } else { DeltaType::Updated };
            let text = Text::Whole(&text);
            push(&mut file, &mut newest, at, Line::Version(Version { watch, delta_type, key: &key, uid: &uid, text }));
        }
        file.end_block().expect("memory can be written");
        if block == 9 && has_state {
            state = Some((StateWriter::new(file.end_of_blocks()), newest.beginning(), at_of(block + 1)));
        }
        if block == 12
            && let Some((mut writer, mut lines, at)) = state.take()
        {
            lines.next(usize::MAX, |line| writer.push(at, line)).expect("memory can be written");
            file.push_state(writer).expect("memory can be written");
        }
    }
    let file = file.finish().expect("memory can be written").into_inner();
    let begins = native::index_begins(&file).expect("it has an index");
    let lines = native::unpacked(&file[begins as usize..file.len() - LAST]).expect("it is whole");
    let entries = index::read(&lines, begins).expect("it is an index");
    (file, entries)
}

fn at_of(block: u32) -> f64 {
    BEGAN + f64::from(block) * 10_000.0
}

/// What is looked at of a file, how everything was before it, and how many bytes were read for that.
fn looked(file: &[u8], from: Option<f64>, to: Option<f64>) -> (Looked, String, u64) {
    let mut places = Places::new(Cursor::new(file)).expect("memory can be read");
    let looked = places.looked(from, to).expect("memory can be read");
    let newest = places.newest(&looked.before).expect("memory can be read").expect("it is right");
    (looked, state_of(&newest), places.read)
}

/// A state in words.
fn state_of(newest: &Newest) -> String {
    let all = RefCell::new(String::new());
    let ended = newest.beginning().next(usize::MAX, |line| {
        *all.borrow_mut() += &format!("{line:?}\n");
        Ok::<_, ()>(())
    });
    assert_eq!(ended, Ok(true));
    all.into_inner()
}

/// The state after all lines that came before the block that begins at this time, by reading all of them.
fn state_at(file: &[u8], from: f64) -> String {
    let mut newest = Newest::default();
    read(file, |at, line| {
        if at < from {
            newest.take(&line);
        }
    })
    .expect("it is a recording");
    state_of(&newest)
}

#[test]
fn only_the_blocks_that_are_looked_at_are_read_and_the_state_before_them_is_right() {
    for has_state in [false, true] {
        let (file, entries) = written(has_state);
        assert_eq!(entries.len(), BLOCKS as usize + usize::from(has_state));
        let blocks: Vec<&Entry> = entries.iter().filter(|entry| entry.state.is_none()).collect();
        assert_eq!((blocks[3].from, blocks[3].to), (at_of(3), at_of(3) + 9_000.0));
        assert_eq!(blocks[3].kinds, ["pods", "replicasets.apps"]);
        // Each block says again what is watched, which is nothing of these kinds.
        assert_eq!(blocks[20].kinds, ["pods"]);
        for first in 0..BLOCKS {
            for count in [1, 2, BLOCKS - first] {
                let last = (first + count).min(BLOCKS) - 1;
                let (from, to) = (at_of(first) + 1.0, at_of(last) + 5_000.0);
                let (looked, state, bytes) = looked(&file, Some(from), Some(to));
                assert_eq!(looked.why, None);
                let expected: Vec<(u64, u64)> =
                    blocks[first as usize..=last as usize].iter().map(|entry| (entry.at, entry.end())).collect();
                assert_eq!(looked.blocks.iter().map(|place| (place.at, place.end)).collect::<Vec<_>>(), expected);
                if first > 0 {
                    assert_eq!(state, state_at(&file, at_of(first)), "{first}");
                }
                let is_of_state = matches!(looked.before.first(), Some(place) if matches!(place.part, Part::State(_)));
                assert_eq!(is_of_state, has_state && first >= 10, "{first}");
                if is_of_state {
                    assert!(looked.before.len() as u32 == first - 10 + 1);
                    let most = (3 + first - 10) * (file.len() as u32 / BLOCKS) + 600 * (count + first);
                    assert!(bytes < u64::from(most), "{bytes} of {} bytes, {first} {count}", file.len());
                }
            }
        }
        // A file that an older program reads, line by line, has the same lines.
        let (mut with, mut without) = (Vec::new(), Vec::new());
        read(&file, |at, line| with.push(format!("{at} {line:?}"))).expect("it is a recording");
        read(&written(false).0, |at, line| without.push(format!("{at} {line:?}"))).expect("it is a recording");
        assert_eq!(with, without);
    }
}

#[test]
fn without_an_index_or_with_a_torn_one_the_heads_of_the_blocks_say_the_same() {
    let (file, entries) = written(true);
    let begins = entries.last().expect("blocks").end() as usize;
    let (from, to) = (Some(at_of(14)), Some(at_of(16)));
    let (expected, state, bytes) = looked(&file, from, to);
    let mut least = u64::MAX;
    for end in (begins..file.len()).step_by(23).chain([begins, begins + 1, file.len() - 1, file.len() - LAST]) {
        let (looked, again, read) = looked(&file[..end], from, to);
        assert_eq!(
            (&looked.blocks, &looked.before, &again, looked.why),
            (&expected.blocks, &expected.before, &state, None)
        );
        least = least.min(read);
    }
    assert!(bytes < least, "{bytes} {least}");
}

/// A file with another index than its own.
fn with_index(file: &[u8], entries: &[Entry], change: impl FnOnce(&mut Vec<Entry>, &mut u64)) -> Vec<u8> {
    let begins = entries.last().expect("blocks").end();
    let (mut entries, mut said) = (entries.to_vec(), begins);
    change(&mut entries, &mut said);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&index::write(&entries)).expect("memory can be written");
    let member = member::framed(&encoder.finish().expect("memory can be written")).expect("it is a member");
    let mut changed = file[..begins as usize].to_vec();
    changed.extend_from_slice(&member);
    let mut last = file[file.len() - LAST..].to_vec();
    let line = index::end(said, BEGAN);
    let at = last.len() - 8 - line.len();
    last[at..at + line.len()].copy_from_slice(line.as_bytes());
    changed.extend_from_slice(&last);
    changed
}

#[test]
fn an_index_that_is_wrong_is_not_used_and_that_is_said() {
    let (file, entries) = written(true);
    let (from, to) = (Some(at_of(14)), Some(at_of(16)));
    let (expected, state, _) = looked(&file, from, to);
    let same = with_index(&file, &entries, |_, _| {});
    assert_eq!(looked(&same, from, to).0, expected);
    type Change = Box<dyn FnOnce(&mut Vec<Entry>, &mut u64)>;
    // The state stands after the blocks 10, 11 and 12: the block 14 is the sixteenth.
    let wrong: Vec<(&str, Change)> = vec![
        ("begins nowhere", Box::new(|_, begins| *begins = u64::MAX)),
        ("begins before", Box::new(|_, begins| *begins -= 1)),
        ("begins at a block", Box::new(|entries, begins| *begins = entries[5].at)),
        ("begins at its own end", Box::new(|_, begins| *begins = 1 << 40)),
        ("lacks a block", Box::new(|entries, _| drop(entries.remove(3)))),
        ("lacks the last", Box::new(|entries, _| drop(entries.pop()))),
        ("is empty", Box::new(|entries, _| entries.clear())),
        ("overlaps", Box::new(|entries, _| entries[4].bytes += 1)),
        ("a block twice", Box::new(|entries, _| entries.insert(4, entries[4].clone()))),
        ("goes out of the file", Box::new(|entries, _| entries[30].bytes += 1 << 40)),
        ("no bytes", Box::new(|entries, _| entries[2].bytes = 0)),
        (
            "two blocks as one",
            Box::new(|entries, _| {
                entries[15].bytes += entries[16].bytes;
                entries.remove(16);
            }),
        ),
        (
            "no beginnings of blocks",
            Box::new(|entries, _| {
                entries[15].bytes += 7;
                entries[16].at += 7;
                entries[16].bytes -= 7;
            }),
        ),
        ("another time", Box::new(|entries, _| entries[15].from += 500.0)),
        ("another time before", Box::new(|entries, _| entries[16].from = entries[17].from)),
        ("hides a block", Box::new(|entries, _| entries[18].from = 0.0)),
        ("all times are one", Box::new(|entries, _| entries.iter_mut().for_each(|entry| entry.from = BEGAN))),
        ("all are late", Box::new(|entries, _| entries.iter_mut().for_each(|entry| entry.from = BEGAN + 1e9))),
        ("a state of another block", Box::new(|entries, _| entries[13].state = Some(entries[11].at))),
        ("a state of no block", Box::new(|entries, _| entries[13].state = Some(entries[10].at + 1))),
        ("a state that is none", Box::new(|entries, _| entries[12].state = Some(entries[12].at))),
        ("no state", Box::new(|entries, _| entries[13].state = None)),
    ];
    for (what, change) in wrong {
        let file = with_index(&file, &entries, change);
        let (looked, again, _) = looked(&file, from, to);
        assert!(looked.why.is_some(), "{what}");
        assert_eq!((&looked.blocks, &looked.before, &again), (&expected.blocks, &expected.before, &state), "{what}");
    }
}
