//! The corpus of the fuzz target `audit`, replayed on every test run, and lines like those.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

#[path = "../properties/audit.rs"]
mod properties;

/// Versions and lines that fit them, of which some are broken in each test.
const LINES: &str = include_str!("../../../../fuzz/corpus/audit/users-and-what-they-did");

#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/audit");
    let mut count = 0;
    for file in fs::read_dir(corpus).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(bytes.len() <= 4 << 10, "as long as the fuzzer makes them");
        properties::log(&bytes);
        count += 1;
    }
    assert!((5..=100).contains(&count), "{count} files");
}

#[test]
fn a_line_of_another_uid_is_the_same_in_whichever_order_it_comes() {
    let uid = r#""uid":"u""#;
    for (at, _) in LINES.match_indices(uid) {
        properties::log(format!("{}{}{}", &LINES[..at], r#""uid":"v""#, &LINES[at + uid.len()..]).as_bytes());
    }
}

proptest! {
    #[test]
    fn whatever_lines_hold_nothing_panics_and_each_request_ends_in_one_place(
        cuts in prop::collection::vec((0..LINES.len(), 0..12_usize, prop::sample::select(vec![
            "", "\"", "\\", "{", "}", "[", "]", ",", "-", "99999999999", "1e400", "\n", "\u{0}", "🦀", "create", "delete",
            "deletecollection", "2026-11-26T17:00:05.5Z", "0001-01-01T00:00:00Z",
        ])), 1..6),
        order in prop::collection::vec(0..LINES.lines().count(), 0..12),
    ) {
        let mut text = LINES.as_bytes().to_vec();
        for (at, length, new) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, new.bytes());
        }
        properties::log(&text);
        // Others lines are missing, doubled, and in another order.
        let lines: Vec<&str> = LINES.lines().collect();
        let others: Vec<&str> = order.iter().map(|at| lines[*at]).collect();
        properties::log(others.join("\n").as_bytes());
    }
}
