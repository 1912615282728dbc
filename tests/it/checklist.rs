//! `docs/checklist.md` is true: each rule of the client and of the server has its test, and each test that the table
//! names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::tidy::files;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// One line of the table.
struct Row {
    number: u32,
    upstream: String,
    /// The file and the name of the test.
    test: Option<(String, String)>,
}

/// A side of the conversation. Its rules stand under this heading of `docs/checklist.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Client,
    Server,
    Proxy,
}

impl Side {
    fn heading(self) -> &'static str {
        match self {
            Self::Client => "## The client\n",
            Self::Server => "## The server\n",
            Self::Proxy => "## The proxy\n",
        }
    }

    /// The numbers of the rules for which this side needs a test at least.
    fn numbers(self) -> Vec<u32> {
        match self {
            Self::Client => (1..=6).chain(11..=12).chain(33..=38).chain(40..=62).chain(65..=77).collect(),
            Self::Server => [4, 8, 9, 10, 12].into_iter().chain(13..=29).chain(78..=90).collect(),
            Self::Proxy => vec![24, 30, 31],
        }
    }

    /// The side whose tests are in a file.
    fn of(path: &Path) -> Self {
        match path {
            _ if path.starts_with(Path::new(ROOT).join("crates/cluster/src")) => Self::Server,
            _ if path.starts_with(Path::new(ROOT).join("crates/cluster/tests")) => Self::Proxy,
            _ => Self::Client,
        }
    }
}

/// The text under a heading, up to the next heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let after = text.split_once(heading).map_or("", |(_, after)| after);
    after.split("\n## ").next().unwrap_or_default()
}

/// The rows of a side's table: the lines of four cells that begin with a number.
///
/// The test of a rule has the rule's number above it, as in `/// 37. TestNoRelistOnTooManyRequests`.
fn rows(text: &str) -> Vec<Row> {
    let cells = |line: &str| -> Option<Row> {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [number, _, upstream, test] = cells[..] else { return None };
        let path = test.trim_matches('`').split_once("::");
        let test = path.map(|(file, name)| (file.to_owned(), name.to_owned()));
        Some(Row { number: number.parse().ok()?, upstream: upstream.to_owned(), test })
    };
    text.lines().filter_map(cells).collect()
}

/// The comments and attributes directly above a function, the nearest first; `None` if there is no such function.
fn above<'a>(source: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = |line: &str| ["fn ", "async fn "].iter().any(|word| line.starts_with(&format!("{word}{name}(")));
    let at = lines.iter().position(|line| begins(line))?;
    let is_part = |line: &&&str| line.starts_with("//") || line.starts_with("#[");
    Some(lines[..at].iter().rev().take_while(is_part).copied().collect())
}

/// What is wrong with a row. `source` is the text of the file that the row names.
fn fault(row: &Row, source: Option<&str>) -> Option<&'static str> {
    let Some((_, name)) = &row.test else {
        return Some("has no test");
    };
    let Some(above) = source.and_then(|source| above(source, name)) else {
        return Some("names a test that is not there");
    };
    let numbered = || above.iter().any(|line| line.starts_with(&format!("/// {}. ", row.number)));
    match () {
        _ if !above.iter().any(|line| ["#[test]", "#[tokio::test"].iter().any(|mark| line.starts_with(mark))) => {
            Some("names a function that is no test")
        }
        _ if row.upstream.is_empty() => Some("does not say where it comes from"),
        _ if !numbered() => Some("names a test that does not bear its number"),
        _ => None,
    }
}

#[test]
fn every_rule_has_its_test() {
    let read = |file: &str| fs::read_to_string(Path::new(ROOT).join(file));
    let text = read("docs/checklist.md").unwrap();
    for side in [Side::Client, Side::Server, Side::Proxy] {
        let rows = rows(section(&text, side.heading()));
        let numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{side:?}: each rule has one row, in order: {numbers:?}");
        let missing: Vec<u32> = side.numbers().into_iter().filter(|number| !numbers.contains(number)).collect();
        assert!(missing.is_empty(), "{side:?}: {missing:?} have no row");
        let faults: Vec<String> = rows
            .iter()
            .filter_map(|row| {
                let source = row.test.as_ref().and_then(|(file, _)| read(file).ok());
                fault(row, source.as_deref()).map(|fault| format!("{} {fault}: {:?}", row.number, row.test))
            })
            .collect();
        assert!(faults.is_empty(), "{side:?}: {faults:#?}");
        let astray = rows
            .iter()
            .filter_map(|row| row.test.as_ref())
            .find(|(file, _)| Side::of(&Path::new(ROOT).join(file)) != side);
        assert_eq!(astray, None, "{side:?}: the test of another side");
        // Each rule has its own test.
        let own: Vec<_> = rows.iter().filter_map(|row| row.test.as_ref()).collect();
        assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), own.len(), "{side:?}");
    }
}

#[test]
fn no_rule_of_a_side_has_two_tests() {
    let mut claims: BTreeMap<(Side, u32), usize> = BTreeMap::new();
    for path in ["src", "crates"].into_iter().flat_map(|folder| files(folder, &["rs"])) {
        let text = fs::read_to_string(&path).unwrap();
        let numbers =
            text.lines().filter_map(|line| line.trim().strip_prefix("/// ")?.split_once(". ")?.0.parse().ok());
        numbers.for_each(|number| *claims.entry((Side::of(&path), number)).or_default() += 1);
    }
    let doubled: Vec<_> = claims.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty() && !claims.is_empty(), "{doubled:?}");
}

#[test]
fn the_rest_of_the_checklist_says_whose_it_is() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/checklist.md")).unwrap();
    let numbers = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [number, rule, whose] = cells[..] else { return None };
        (!rule.is_empty() && !whose.is_empty()).then_some(number.parse::<u32>().ok()?)
    });
    assert_eq!(numbers.collect::<Vec<_>>(), (8..=10).chain(13..=32).chain(78..=90).collect::<Vec<_>>());
}

#[test]
fn a_table_that_is_wrong_is_found() {
    let check = |line: &str, source: &str, expected: Option<&str>| {
        let row = rows(line).pop().unwrap();
        assert_eq!(fault(&row, Some(source)), expected, "{line}");
    };
    let source = "/// 5. TestA: b.\n#[test]\nfn a() {}\n\n/// 6. TestB.\nfn b() {}\n";
    check("| 5 | rule | TestA | `x.rs::a` |", source, None);
    check("| 5 | rule | TestA | — |", source, Some("has no test"));
    check("| 5 | rule | TestA |  |", source, Some("has no test"));
    check("| 5 | rule | TestA | `x.rs::aa` |", source, Some("names a test that is not there"));
    check("| 5 | rule |  | `x.rs::a` |", source, Some("does not say where it comes from"));
    check("| 6 | rule | TestA | `x.rs::a` |", source, Some("names a test that does not bear its number"));
    check("| 6 | rule | TestB | `x.rs::b` |", source, Some("names a function that is no test"));
}
