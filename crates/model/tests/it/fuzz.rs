//! The corpus of the fuzz targets in `fuzz/`, replayed through the same functions on every test run.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use crate::bad_input::cases::{self, Sent};

/// The functions, which the fuzz targets include too.
mod properties;

/// A fuzz target: its name and its function.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 3] =
    [("frame", properties::frame), ("list", properties::list), ("selector", properties::selector)];

/// The size limit of a file: small enough to be read, and to be kept in the repository for ever.
const LONGEST_FILE: usize = 4096;
const MOST_FILES: usize = 300;
const MOST_BYTES: usize = 600_000;

#[test]
fn fuzz_corpus() {
    let (mut files, mut bytes) = (0, 0);
    for (target, property) in TARGETS {
        let before = files;
        for (path, data) in corpus(target) {
            assert!(data.len() <= LONGEST_FILE, "{} is too long to keep", path.display());
            assert!(catch_unwind(|| property(&data)).is_ok(), "{} breaks a promise", path.display());
            files += 1;
            bytes += data.len();
        }
        assert!(files > before, "{target} has a corpus");
    }
    assert!(files <= MOST_FILES && bytes <= MOST_BYTES, "{files} files of {bytes} bytes: minimise the corpus");
}

/// The bad inputs that are short enough are in the fuzzers' corpus. `KUBECHURN_SEED=1` writes those that are missing.
#[test]
fn bad_inputs_are_in_the_corpus() {
    let mut missing = Vec::new();
    let known = |target| corpus(target).into_iter().map(|(_, data)| data).collect::<BTreeSet<_>>();
    let (frames, lists) = (known("frame"), known("list"));
    let mut seed = |target: &str, kind: &str, data: Vec<u8>| {
        let known = if target == "frame" { &frames } else { &lists };
        if data.len() <= LONGEST_FILE && !known.contains(&data) {
            missing.push((target.to_owned(), kind.to_owned(), data));
        }
    };
    for case in cases::cases() {
        match case.sent {
            Sent::Frames(texts) => texts.into_iter().for_each(|text| seed("frame", case.kind, text.into())),
            Sent::Bytes(bytes) => seed("frame", case.kind, bytes),
            Sent::Pages(texts) => texts.into_iter().for_each(|text| seed("list", case.kind, text.into())),
        }
    }
    for (kind, text) in cases::objects().into_iter().map(|item| (item.kind, item.text)) {
        seed("list", kind, format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{text}]}}"#).into());
    }
    if std::env::var_os("KUBECHURN_SEED").is_some() {
        for (number, (target, kind, data)) in missing.iter().enumerate() {
            let slug: String =
                kind.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
            fs::write(folder(target).join(format!("bad-{slug}-{number}")), data).unwrap();
        }
    }
    let missing: Vec<String> = missing.into_iter().map(|(target, kind, _)| format!("{target}: {kind}")).collect();
    assert!(missing.is_empty(), "not in the corpus: {missing:#?}");
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// The files of a target's corpus, with their paths.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}
