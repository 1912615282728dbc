//! What happened between two moments and is no difference: fields that were changed and changed back, in objects that are as they
//! were and in objects that differ in others, and objects that came and went.

use std::collections::BTreeMap;

use kubechurn_changes::field::Field;
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_changes::value::Value;
use kubechurn_changes::{part, short_path};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use smol_str::SmolStr;

use crate::feed::span::tally::exactly;
use crate::feed::span::{SpanRow, SpanSection};
use crate::history::History;
use crate::timeline::mark::grouped;
use crate::timeline::scene::fit;

/// How many versions of an object are read to see which fields went and came back.
const MOST_READ: usize = 40;
/// How many values of a field are shown.
const MOST_VALUES: usize = 6;
/// How many rows are shown.
const MOST_ROWS: usize = 8;
/// How many characters of a name are shown.
const LABEL: usize = 34;

/// How many fields of an object are kept that differs in others.
const MOST_FIELDS: usize = 8;

/// A field that was changed and changed back.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Its path.
    pub path: SmolStr,
    /// The path as it is shown.
    pub label: String,
    /// Its values, one after the other.
    values: Vec<Option<Value>>,
    /// Whether it had more values.
    has_more: bool,
}

impl Course {
    /// Its values as they are shown, of long ones what differs.
    pub fn shown(&self) -> Vec<String> {
        self.ended(part::words(&self.path, &self.values.iter().map(Option::as_ref).collect::<Vec<_>>(), true))
    }

    /// Its values with all that is kept of them.
    pub fn whole(&self) -> Vec<String> {
        let whole = |value: &Option<Value>| value.as_ref().map_or_else(|| String::from("none"), Value::whole);
        self.ended(self.values.iter().map(whole).collect())
    }

    /// Its values as they are kept, for programs, and whether it had more.
    pub fn kept(&self) -> (Vec<Option<&str>>, bool) {
        (self.values.iter().map(|value| value.as_ref().map(Value::kept)).collect(), self.has_more)
    }

    fn ended(&self, mut values: Vec<String>) -> Vec<String> {
        if self.has_more {
            values.push(String::from("…"));
        }
        values
    }

    /// Whether it has the value again that it had first.
    fn is_back(&self) -> bool {
        match (self.values.first(), self.values.last()) {
            (Some(Some(first)), Some(Some(last))) => first.is(last),
            (first, last) => first == last,
        }
    }

    /// The same with as many values as are shown.
    fn shortened(mut self, has_more: bool) -> Course {
        self.has_more = has_more || self.values.len() > MOST_VALUES;
        self.values.truncate(MOST_VALUES);
        self
    }
}

/// What an object that is as it was went through between two of its versions, as `replicas 5 → 3 → 5`; empty if that is not
/// kept, or says nothing.
pub(super) fn taken_back(
    of: (ApiResource, &ObjectKey),
    between: (u64, u64),
    history: &History,
    marks: &Marks,
) -> String {
    let (courses, is_whole) = courses(of, between, history, marks);
    let mut back = courses.into_iter().filter(|course| !is_whole || course.is_back());
    let Some(first) = back.next() else { return String::new() };
    let more = match back.count() {
        0 => String::new(),
        1 => String::from(", and 1 more field"),
        more => format!(", and {more} more fields"),
    };
    let first = first.shortened(!is_whole);
    format!("{} {}{more}", first.label, first.shown().join(" → "))
}

/// The fields of an object that it has at the second of two versions as at the first, and had otherwise in between; it differs in
/// others, as the line says.
pub(super) fn within(
    of: (ApiResource, &ObjectKey),
    between: (u64, u64),
    line: &Line,
    history: &History,
    marks: &Marks,
) -> Vec<Course> {
    // Where not all is named that differs, it is not known of a field whether it does.
    if line.more > line.other_paths.len() {
        return Vec::new();
    }
    let (courses, is_whole) = courses(of, between, history, marks);
    let differing = || line.fields.iter().map(|field| &field.path).chain(&line.other_paths);
    let is_as_it_was = |course: &Course| course.is_back() && !differing().any(|path| is_of_one(path, &course.path));
    let back = courses.into_iter().filter(is_as_it_was).take(MOST_FIELDS);
    back.map(|course| course.shortened(!is_whole)).collect()
}

/// Whether one path is the other one, or leads into what the other one names.
fn is_of_one(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The fields that the versions after the first one of two changed, up to the second one, and whether all of these versions were
/// read.
fn courses(
    (resource, key): (ApiResource, &ObjectKey),
    (from, to): (u64, u64),
    history: &History,
    marks: &Marks,
) -> (Vec<Course>, bool) {
    let mut between = history.of(&resource, key);
    between.retain(|entry| entry.sequence > from && entry.sequence <= to);
    let is_whole = between.len() <= MOST_READ;
    let mut courses: Vec<Course> = Vec::new();
    // A single change takes nothing back.
    for entry in between.iter().filter(|_| between.len() > 1).take(MOST_READ) {
        let Some(change) = history.change(entry.sequence) else { continue };
        let line = Line::new(change.received(entry.sequence, resource.kind.into()), marks);
        add(&mut courses, &line, &key.name);
    }
    (courses, is_whole)
}

/// Adds the values that a change gave its fields.
fn add(courses: &mut Vec<Course>, line: &Line, name: &str) {
    let said = line.fields.iter().filter(|field| line.noise.is_none() && !field.reordered);
    for Field { path, old, new, .. } in said {
        let [old, new] = [old, new].map(|value| value.as_ref().map(Value::brief));
        match courses.iter_mut().find(|known| known.path == *path) {
            Some(course) => course.values.push(new),
            None => {
                let (path, label) = (path.clone(), short_path::short(path, name));
                courses.push(Course { path, label, values: vec![old, new], has_more: false });
            }
        }
    }
}

/// Who controlled an object that came and went, as `ReplicaSet web-1`; empty if nobody did, or if none of its versions is kept.
pub(super) fn controller_of((resource, key): (ApiResource, &ObjectKey), history: &History, marks: &Marks) -> String {
    let entries = history.of(&resource, key);
    let read = || {
        let sequence = entries.iter().rev().find(|entry| entry.has_text)?.sequence;
        let line = Line::new(history.change(sequence)?.received(sequence, resource.kind.into()), marks);
        line.controller().map(|owner| format!("{} {}", owner.kind, owner.name))
    };
    read().unwrap_or_default()
}

/// An object that is no difference, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed<'a> {
    /// Its kind, in one word.
    pub kind: &'a str,
    /// Its name.
    pub key: &'a ObjectKey,
    /// What it went through, or who controlled it.
    pub words: &'a str,
    /// Whether it came and went.
    pub is_gone: bool,
}

/// The rows of these objects: each that is as it was, and those that came and went by their controller.
pub(super) fn section<'a>(all: impl Iterator<Item = Passed<'a>>) -> Option<SpanSection> {
    let mut by_name: BTreeMap<String, (SpanRow, u64)> = BTreeMap::new();
    for one in all {
        let name = match (one.is_gone, one.words) {
            (true, words) if !words.is_empty() => format!("{} of {words}", one.kind),
            _ => format!("{} {}", one.kind, one.key),
        };
        let filter = match (one.is_gone, one.words.rsplit_once(' ')) {
            (true, Some((kind, name))) => exactly("owner", &format!("{kind}/{name}"), "$"),
            _ => exactly("name", &one.key.name, "$"),
        };
        let filter = format!("{} {filter}", exactly("kind", one.kind, "$"));
        let note = if one.is_gone { String::from("came and went") } else { one.words.to_owned() };
        let row = || SpanRow { label: fit(&name, LABEL), note, filter, is_each: true, ..SpanRow::default() };
        by_name.entry(name.clone()).or_insert_with(|| (row(), 0)).1 += 1;
    }
    let more = by_name.len().saturating_sub(MOST_ROWS);
    let rows = by_name.into_iter().take(MOST_ROWS).map(|(name, (row, count))| {
        let count = if count > 1 { grouped(count) } else { String::new() };
        SpanRow { name: format!("{name}: {}", row.note), count, ..row }
    });
    let rows: Vec<SpanRow> = rows.collect();
    (!rows.is_empty()).then_some(SpanSection { title: "there and back", rows, more })
}
