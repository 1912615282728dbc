//! Lives of objects, written as texts with the time of each, and what the search says of their fields.

use super::*;

/// A version: what happened, the uid, and what the object has beside its metadata.
type Life<'a> = &'a [(DeltaType, &'a str, &'a str)];

const ADDED: DeltaType = DeltaType::Added;
const UPDATED: DeltaType = DeltaType::Updated;
const LISTED: DeltaType = DeltaType::Replaced;

struct Lives {
    entries: Vec<Entry>,
    texts: Vec<String>,
}

/// The versions have the numbers from 0, as resourceVersions too, and are a second apart.
fn lives(life: Life<'_>) -> Lives {
    let version = |(at, (delta_type, uid, _)): (usize, &(DeltaType, &str, &str))| Entry {
        sequence: at as u64,
        at: at as f64 * 1_000.0,
        delta_type: *delta_type,
        uid: Uid::new(uid),
        resource_version: ResourceVersion::new(&at.to_string()),
        has_text: true,
    };
    let text = |(at, (_, uid, fields)): (usize, &(DeltaType, &str, &str))| {
        let manager = format!(r#"{{"manager":"m{at}","operation":"Update","time":"{at}"}}"#);
        format!(r#"{{"metadata":{{"uid":"{uid}","resourceVersion":"{at}","managedFields":[{manager}]}},{fields}}}"#)
    };
    Lives {
        entries: life.iter().enumerate().map(version).collect(),
        texts: life.iter().enumerate().map(text).collect(),
    }
}

impl Lives {
    /// Asks for a field of the newest version, and compares so many versions at a time. Returns the outcome, and how often
    /// the search was continued.
    fn ask_in_steps(&self, pointer: &str, has_dropped: bool, most: usize) -> (Outcome, usize) {
        let (newest, text) = (self.entries.last().unwrap(), self.texts.last().unwrap());
        let question = Question { pointer, text, uid: &newest.uid, version: &newest.resource_version, has_dropped };
        let mut search = Search::new(question, &self.entries).unwrap();
        for steps in 1.. {
            let outcome = search.step(most, |entry| self.texts.get(entry.sequence as usize).cloned());
            if !matches!(outcome, Outcome::Searching(_)) {
                return (outcome, steps);
            }
        }
        unreachable!("the loop has no end")
    }

    fn ask(&self, pointer: &str) -> Outcome {
        self.ask_in_steps(pointer, false, 7).0
    }
}

/// In words: the number of the version, its writers, and the changes.
fn words(outcome: &Outcome) -> String {
    let Outcome::Written(written) = outcome else { return format!("{outcome:?}") };
    let mut words = format!("{}", written.sequence);
    words += if written.since.is_none() { " created" } else { "" };
    words += if written.is_listed { " listed" } else { "" };
    written.writers.iter().for_each(|writer| words += &format!(" {}", writer.manager));
    for FieldChange { path, change } in &written.changes.changes {
        words += if path.is_empty() { "; " } else { "; ." };
        words += path;
        words += &match change {
            Change::Added(new) => format!("+{new}"),
            Change::Removed(old) => format!("-{old}"),
            Change::Changed(words) if path.is_empty() => format!("{}→{}", words.whole_old(), words.whole_new()),
            Change::Changed(words) => format!(" {}→{}", words.whole_old(), words.whole_new()),
            change => format!("{change:?}"),
        };
    }
    words
}

fn check(life: Life<'_>, pointer: &str, expected: &str) {
    assert_eq!(words(&lives(life).ask(pointer)), expected, "{pointer}");
}

#[test]
fn a_field_that_was_set_twice_has_the_second_change() {
    let life: Life<'_> = &[
        (ADDED, "u", r#""spec":{"image":"a","n":1}"#),
        (UPDATED, "u", r#""spec":{"image":"b","n":1}"#),
        (UPDATED, "u", r#""spec":{"image":"c","n":1}"#),
        (UPDATED, "u", r#""spec":{"n":1,"image":"c"},"status":{}"#),
    ];
    check(life, "/spec/image", "2 m2; b→c");
    check(life, "/spec", "2 m2; .image b→c");
    check(life, "/spec/n", "0 created m0; +1");
    check(life, "/status", "3 m3; +{}");
    let Outcome::Written(written) = lives(life).ask("/spec/image") else { panic!("it was written") };
    assert_eq!((written.at, written.since), (2_000.0, Some(1_000.0)));
    assert_eq!(written.writers[0].to_string(), "m2, inferred");
}

#[test]
fn the_value_of_now_is_looked_for_and_not_an_equal_one_of_an_earlier_time() {
    let life: Life<'_> = &[
        (ADDED, "u", r#""v":"a""#),
        (UPDATED, "u", r#""v":"b""#),
        (UPDATED, "u", r#""v":"\u0061""#),
        (UPDATED, "u", r#""v":"a""#),
    ];
    check(life, "/v", "2 m2; b→a");
}

#[test]
fn an_item_of_a_list_is_matched_by_its_key() {
    let life: Life<'_> = &[
        (ADDED, "u", r#""containers":[{"name":"web","image":"v1"}]"#),
        (UPDATED, "u", r#""containers":[{"name":"web","image":"v2"}]"#),
        (UPDATED, "u", r#""containers":[{"name":"side","image":"v1"},{"name":"web","image":"v2"}]"#),
    ];
    check(life, "/containers/1/image", "1 m1; v1→v2");
    check(life, "/containers/0/image", "2 m2; +v1");
}

#[test]
fn a_field_of_an_object_that_was_made_again_came_with_its_creation() {
    let gone: Life<'_> = &[
        (ADDED, "first", r#""v":1"#),
        (UPDATED, "first", r#""v":2"#),
        (DeltaType::Deleted, "first", r#""v":2"#),
        (ADDED, "second", r#""v":2"#),
        (UPDATED, "second", r#""v":2,"w":1"#),
    ];
    check(gone, "/v", "3 created m3; +2");
    check(gone, "/w", "4 m4; +1");
    check(&gone[..3], "/v", "1 m1; 1→2");
}

#[test]
fn a_parent_that_was_replaced_as_a_whole_wrote_the_fields_below_it() {
    let life: Life<'_> = &[
        (ADDED, "u", r#""spec":{"a":{"x":1}}"#),
        (UPDATED, "u", r#""spec":"none""#),
        (UPDATED, "u", r#""spec":{"a":{"x":1}}"#),
        (UPDATED, "u", r#""spec":{"a":{"x":1},"b":2}"#),
    ];
    check(life, "/spec/a/x", "2 m2; +1");
    check(life, "/spec/a", "2 m2; +{x: 1}");
}

#[test]
fn what_is_no_longer_kept_is_not_guessed() {
    let life: Life<'_> = &[(UPDATED, "u", r#""v":1"#), (UPDATED, "u", r#""v":1,"w":1"#)];
    check(life, "/v", "Before(0.0)");
    check(&[(LISTED, "u", r#""v":1"#)], "/v", "Before(0.0)");
    check(&[(LISTED, "u", r#""v":1"#), (LISTED, "u", r#""v":2"#)], "/v", "1 listed m1; 1→2");
    let made: Life<'_> = &[(ADDED, "u", r#""v":1"#), (UPDATED, "u", r#""v":1,"w":1"#)];
    assert_eq!(lives(made).ask_in_steps("/v", true, 9).0, Outcome::Before(0.0), "older versions were dropped");
    let mut dropped = lives(made);
    dropped.texts[0] = String::from("{");
    assert_eq!(dropped.ask("/v"), Outcome::Unknown, "a text that cannot be read");
    let search = |version: &str| {
        let Lives { entries, texts } = lives(made);
        let (uid, version) = (Uid::new("u"), ResourceVersion::new(version));
        let question = Question { pointer: "/v", text: &texts[0], uid: &uid, version: &version, has_dropped: false };
        Search::new(question, &entries).map(|mut search| search.step(9, |_| None))
    };
    assert_eq!(search("9"), None, "the version that is shown was never received");
    assert_eq!(search("1"), Some(Outcome::Before(1_000.0)), "the text was dropped during the search");
}

#[test]
fn the_search_is_bounded_and_can_be_done_in_parts() {
    let life = vec![(ADDED, "u", r#""v":1"#); MOST];
    let mut life: Vec<_> = life.into_iter().chain([(UPDATED, "u", r#""v":1"#)]).collect();
    let (outcome, steps) = lives(&life).ask_in_steps("/v", false, 100);
    assert!(matches!(outcome, Outcome::Further(at) if at == 1_000.0), "{outcome:?}");
    assert_eq!(steps, MOST / 100);
    life.remove(0);
    life[0].2 = r#""v":2"#;
    let (outcome, _) = lives(&life).ask_in_steps("/v", false, 100);
    assert_eq!(words(&outcome), "1 m1; 2→1", "the oldest change of those that are compared");
}

#[test]
fn the_metadata_is_not_written_by_each_version() {
    let life: Life<'_> = &[(ADDED, "u", r#""v":1"#), (UPDATED, "u", r#""v":2"#)];
    assert!(words(&lives(life).ask("/metadata")).starts_with("0 created m0; +"));
    check(life, "/metadata/resourceVersion", "1 m1; \"0\"→\"1\"");
}

#[test]
fn a_secret_s_value_is_not_shown() {
    let mask = |mark: &str| format!("\"data\":{{\"p\":\"•••• 7 bytes\\u001f{mark}\"}}");
    let (one, two) = (mask("0123456789abcdef"), mask("fedcba9876543210"));
    let life: Life<'_> = &[(ADDED, "u", &one), (UPDATED, "u", &two)];
    check(life, "/data/p", "1 m1; Secret(\"value changed\")");
    check(&life[..1], "/data/p", "0 created m0; +•••• 7 bytes");
}
