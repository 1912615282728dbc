//! Two versions of an object line by line, as YAML in kubectl's form: equal parts are folded, and of a line that was changed the
//! words are marked that differ.

use serde_json::Value;

use crate::history::secret;
use crate::inspector::diff::{Rewrite, cut};
use crate::inspector::unified::{CONTEXT, edits};
use crate::inspector::yaml;

/// The most rows. What is beyond them is counted.
pub const MOST: usize = 1_000;
/// How many lines of a folded part one opening shows.
pub const OPENED: usize = 300;
/// A part of equal lines is folded from so many lines on, besides those around differences: fewer take no more room than the
/// word that stands for them.
const FOLDED: usize = 2;
/// The length limit of a line, in bytes.
const LONGEST: usize = 1_000;
/// Among so many lines the one is looked for that is of the same field.
const NEAR: usize = 40;

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A line that both have.
    Same,
    /// A line that only the old version has.
    Removed,
    /// A line that only the new version has.
    Added,
    /// A line of each, which are of one field.
    Changed,
    /// So many lines that both have.
    Folded(usize),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it shows.
    pub what: What,
    /// The number of its line, or of its first, in each of the two texts, from 1.
    pub numbers: (usize, usize),
    /// The line. One that both have stands before the difference. Of a folded part, the path of the field in which the lines
    /// after it are: `spec.containers[web]`.
    pub words: Rewrite,
}

/// The rows of two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The first ones.
    pub rows: Vec<Row>,
    /// How many lines only the old version has, and how many only the new one.
    pub counts: (usize, usize),
    /// How many rows there are beyond those.
    pub more: usize,
}

/// The rows of two versions. `open` has the numbers of the folded parts that are opened, by their first lines in the old text.
pub fn rows(old: &Value, new: &Value, open: &[usize]) -> Rows {
    let mut new = new.clone();
    distinguish(old, &mut new);
    let (old, new) = (yaml::text(old, false), yaml::text(&new, false));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let mut writer = Writer { old: &old, new: &new, open, made: Rows::default() };
    let mut at = (0, 0);
    for edit in &edits {
        writer.same(at, edit.old.start - at.0, at.0 == 0, false);
        writer.differing(edit.old.clone().collect(), edit.new.clone().collect());
        writer.made.counts.0 += edit.old.len();
        writer.made.counts.1 += edit.new.len();
        at = (edit.old.end, edit.new.end);
    }
    writer.same(at, old.len() - at.0, at.0 == 0, true);
    writer.made
}

/// Two values of a Secret are masked alike if they are as long as each other: that they differ is said in words.
fn distinguish(old: &Value, new: &mut Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            new.iter_mut().for_each(|(name, new)| old.get(name).into_iter().for_each(|old| distinguish(old, new)));
        }
        (Value::Array(old), Value::Array(new)) => old.iter().zip(new).for_each(|(old, new)| distinguish(old, new)),
        (Value::String(old), Value::String(new)) if old != new => {
            if let (Some(before), Some(now)) = (secret::mask(old), secret::mask(new)) {
                *new = if before == now { format!("{now}, another value") } else { now.to_owned() };
            }
        }
        _ => {}
    }
}

struct Writer<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    open: &'a [usize],
    made: Rows,
}

impl Writer<'_> {
    fn push(&mut self, what: What, (old, new): (usize, usize), words: Rewrite) {
        if self.made.rows.len() >= MOST {
            self.made.more += 1;
            return;
        }
        self.made.rows.push(Row { what, numbers: (old + 1, new + 1), words });
    }

    /// Writes so many lines that both have, from these places on: those beside a difference, and the rest folded.
    fn same(&mut self, (old, new): (usize, usize), lines: usize, is_first: bool, is_last: bool) {
        let before = if is_first { 0 } else { CONTEXT.min(lines) };
        let after = if is_last { 0 } else { CONTEXT.min(lines - before) };
        let mut folded = before..lines - after;
        if folded.len() <= FOLDED {
            folded = 0..0;
        }
        while self.open.contains(&(old + folded.start + 1)) && !folded.is_empty() {
            folded.start = (folded.start + OPENED).min(folded.end);
        }
        let mut at = 0;
        while at < lines {
            if at == folded.start && !folded.is_empty() {
                let within =
                    self.new.get(new + folded.end).map_or_else(String::new, |_| within(self.new, new + folded.end));
                let words = Rewrite { before: within, ..Rewrite::default() };
                self.push(What::Folded(folded.len()), (old + at, new + at), words);
                at = folded.end;
                continue;
            }
            let line = Rewrite { before: cut(self.old[old + at], LONGEST), ..Rewrite::default() };
            self.push(What::Same, (old + at, new + at), line);
            at += 1;
        }
    }

    /// Writes lines that stand in each other's place: those of one field side by side.
    fn differing(&mut self, old: Vec<usize>, new: Vec<usize>) {
        let mut new = new.as_slice();
        for (nth, &at) in old.iter().enumerate() {
            if self.made.rows.len() >= MOST {
                self.made.more += (old.len() - nth).max(new.len());
                return;
            }
            let is_of = |old: usize, new: usize| field(self.old[old]) == field(self.new[new]);
            let place = new.iter().take(NEAR).position(|other| is_of(at, *other));
            // What stands before that line may be of a field that is still to come.
            let is_next = |place: &usize| {
                let later = || old[nth + 1..].iter().take(NEAR);
                !new[..*place].iter().any(|new| later().any(|old| is_of(*old, *new)))
            };
            match place.filter(is_next) {
                Some(place) => {
                    self.added(at, &new[..place]);
                    self.push(What::Changed, (at, new[place]), Rewrite::of_lines(self.old[at], self.new[new[place]]));
                    new = &new[place + 1..];
                }
                None => {
                    let words = Rewrite { old: cut(self.old[at], LONGEST), ..Rewrite::default() };
                    let beside = new.first().copied().unwrap_or(self.new.len());
                    self.push(What::Removed, (at, beside), words);
                }
            }
        }
        self.added(old.last().map_or(0, |last| last + 1), new);
    }

    fn added(&mut self, beside: usize, lines: &[usize]) {
        for &at in lines {
            self.push(What::Added, (beside, at), Rewrite { new: cut(self.new[at], LONGEST), ..Rewrite::default() });
        }
    }
}

/// What says of which field a line is: its indentation and its key; of an item of a list without keys, its dash.
fn field(line: &str) -> &str {
    if let Some(end) = line.find(": ") {
        return &line[..end];
    }
    let indent = line.len() - line.trim_start().len();
    if line[indent..].starts_with("- ") { &line[..indent + 2] } else { line }
}

/// Whether a line begins an item of a list, and how far it is indented.
fn indent(line: &str) -> (usize, bool) {
    let text = line.trim_start();
    (line.len() - text.len(), text.starts_with("- "))
}

/// The path of the field that the line at this place is in.
fn within(lines: &[&str], at: usize) -> String {
    let mut inner = indent(lines[at]);
    let mut names: Vec<String> = Vec::new();
    for line in lines[..at].iter().rev() {
        let own = indent(line);
        // The dashes of a list stand directly below its key.
        if own.0 < inner.0 || (own.0 == inner.0 && inner.1 && !own.1) {
            let text = line.trim_start();
            match text.strip_prefix("- ") {
                Some(item) => names.push(format!("[{}]", item.strip_prefix("name: ").unwrap_or("…"))),
                None => names.push(text.trim_end_matches(':').to_owned()),
            }
            inner = own;
        }
        if inner == (0, false) {
            break;
        }
    }
    names.reverse();
    let mut path = String::new();
    for name in names {
        path.push_str(if path.is_empty() || name.starts_with('[') { "" } else { "." });
        path.push_str(&name);
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The rows as text: a sign, and the line with what differs in brackets.
    fn shown(rows: &Rows) -> Vec<String> {
        let row = |row: &Row| {
            let Rewrite { before, old, new, after } = &row.words;
            match row.what {
                What::Same => format!("  {before}"),
                What::Removed => format!("- {old}"),
                What::Added => format!("+ {new}"),
                What::Changed => format!("~ {before}[{old}|{new}]{after}"),
                What::Folded(lines) => format!("… {lines} {before}"),
            }
        };
        rows.rows.iter().map(row).collect()
    }

    fn pod(image: &str, ready: bool) -> Value {
        let labels: serde_json::Map<String, Value> = (0..9).map(|at| (format!("l{at}"), json!("x"))).collect();
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels, "name": "web"},
            "spec": {"containers": [{"env": [{"name": "A", "value": "1"}], "image": "side", "name": "side", "ports": [1, 2, 3, 4]},
                {"args": ["a", "b"], "image": image, "name": "web", "tty": true}]},
            "status": {"ready": ready}})
    }

    #[test]
    fn equal_parts_are_folded_and_words_within_lines_are_marked() {
        let found = rows(&pod("web:1.14", true), &pod("web:9-typo", false), &[]);
        let expected = [
            "… 24 spec.containers[…]",
            "    args:",
            "    - a",
            "    - b",
            "~     image: web:[1.14|9-typo]",
            "    name: web",
            "    tty: true",
            "  status:",
            "~   ready: [true|false]",
        ];
        let rows_shown: Vec<String> = shown(&found);
        assert_eq!(rows_shown.len(), expected.len(), "{rows_shown:#?}");
        assert_eq!(found.counts, (2, 2));
        assert_eq!(rows_shown[4].trim_start_matches("~ ").trim_start(), "image: web:[1.14|9-typo]");
        assert!(matches!(found.rows[0].what, What::Folded(_)) && found.rows[0].numbers == (1, 1), "{rows_shown:#?}");
        // Opened, nothing is missing.
        let all = rows(&pod("web:1.14", true), &pod("web:9-typo", false), &[1]);
        assert_eq!(all.rows.len(), yaml::text(&pod("", true), false).lines().count());
    }

    #[test]
    fn lines_of_one_field_stand_side_by_side_and_others_alone() {
        let old = json!({"a": 1, "b": 2, "list": ["x", "p"], "gone": {"deep": true}});
        let new = json!({"a": 9, "b": 2, "list": ["x", "q"], "zoo": "new"});
        let expected =
            ["~ a: [1|9]", "  b: 2", "- gone:", "-   deep: true", "  list:", "  - x", "~ - [p|q]", "+ zoo: new"];
        assert_eq!(shown(&rows(&old, &new, &[])), expected);
        assert_eq!(shown(&rows(&new, &new, &[])), ["… 6 "], "the same are folded whole");
    }

    #[test]
    fn a_secret_s_values_are_masked_and_distinguished() {
        let secret = |value: &str| {
            let text = json!({"kind": "Secret", "data": {"a": value, "b": "c2FtZQ=="}}).to_string();
            serde_json::from_str::<Value>(&secret::redact(&text, 7).unwrap()).unwrap()
        };
        let found = shown(&rows(&secret("b25l"), &secret("dHdv"), &[]));
        assert_eq!(found[1], "~   a: •••• 3 bytes[|, another value]", "{found:?}");
        let found = shown(&rows(&secret("b25l"), &secret("bG9uZ2Vy"), &[]));
        assert_eq!(found[1], "~   a: •••• [3|6] bytes", "{found:?}");
    }

    #[test]
    fn very_many_lines_are_bounded_and_counted() {
        let list = |word: &str| Value::from((0..5_000).map(|at| format!("{word}{at}")).collect::<Vec<_>>());
        let found = rows(&json!({"a": list("x")}), &json!({"a": list("y")}), &[]);
        assert_eq!((found.rows.len(), found.more, found.counts), (MOST, 4_001, (5_000, 5_000)));
        let long = |end: &str| json!({"a": format!("{}{end}", "long ".repeat(10_000))});
        let found = rows(&long("one"), &long("two"), &[]);
        assert!(found.rows.iter().all(|row| row.words.whole_old().len() < 2 * LONGEST), "{found:?}");
    }

    proptest! {
        #[test]
        fn each_side_has_all_of_its_lines(old in "[a-c]{0,9}", new in "[a-c]{0,9}") {
            let object = |letters: &str| json!({"list": letters.chars().map(String::from).collect::<Vec<_>>(), "z": 1});
            let (old, new) = (object(&old), object(&new));
            let found = rows(&old, &new, &[]);
            let mut sides = (String::new(), String::new());
            for row in &found.rows {
                let whole = |text: String| text + "\n";
                match row.what {
                    What::Folded(lines) => {
                        let text = yaml::text(&old, false);
                        let from = row.numbers.0 - 1;
                        let part: String = text.lines().skip(from).take(lines).map(|line| format!("{line}\n")).collect();
                        sides.0.push_str(&part);
                        sides.1.push_str(&part);
                    }
                    what => {
                        if what != What::Added { sides.0.push_str(&whole(row.words.whole_old())); }
                        if what != What::Removed { sides.1.push_str(&whole(row.words.whole_new())); }
                    }
                }
            }
            prop_assert_eq!(sides, (yaml::text(&old, false), yaml::text(&new, false)));
        }
    }
}
