//! What happened between two moments and is no difference: fields that were changed and changed back, and objects that came
//! and went.

use std::collections::BTreeMap;

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_changes::part::PartKind;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::feed::span::tally::exactly;
use crate::feed::span::{SpanRow, SpanSection};
use crate::history::{Entry, History};
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

/// A field with its values, one after the other.
type Course = (String, Vec<String>);

/// What an object that is as it was went through between two of its versions, as `replicas 5 → 3 → 5`; empty if that is not
/// kept, or says nothing.
pub(super) fn taken_back(
    (resource, key): (ApiResource, &ObjectKey),
    (from, to): (u64, u64),
    history: &History,
    marks: &Marks,
) -> String {
    let between = |entry: &&Entry| entry.sequence > from && entry.sequence <= to;
    let entries = history.of(&resource, key);
    let is_whole = entries.iter().filter(between).count() <= MOST_READ;
    let mut courses: Vec<Course> = Vec::new();
    for entry in entries.iter().filter(between).take(MOST_READ) {
        let Some(change) = history.change(entry.sequence) else { continue };
        let line = Line::new(change.received(entry.sequence, resource.kind.into()), marks);
        add(&mut courses, &line, &key.name);
    }
    let is_back = |(_, values): &&Course| values.first() == values.last();
    let mut back = courses.iter().filter(|course| !is_whole || is_back(course));
    let Some((path, values)) = back.next() else { return String::new() };
    let more = match back.count() {
        0 => String::new(),
        1 => String::from(", and 1 more field"),
        more => format!(", and {more} more fields"),
    };
    let shown: Vec<&str> = values.iter().map(|value| &**value).take(MOST_VALUES).collect();
    let ellipsis = if values.len() > MOST_VALUES || !is_whole { " → …" } else { "" };
    format!("{path} {}{ellipsis}{more}", shown.join(" → "))
}

/// Adds the values that a change gave its fields.
fn add(courses: &mut Vec<Course>, line: &Line, name: &str) {
    for field in line.fields.iter().filter(|_| line.noise.is_none()) {
        let parts = field.parts(name);
        let of = |kind: PartKind| parts.iter().find(|part| part.kind == kind).map(|part| part.text.trim().to_owned());
        let Some(path) = of(PartKind::Path) else { continue };
        let value = |kind, is_there: bool| of(kind).filter(|_| is_there).unwrap_or_else(|| String::from("none"));
        let [old, new] = [value(PartKind::Old, field.old.is_some()), value(PartKind::New, field.new.is_some())];
        match courses.iter_mut().find(|(known, _)| *known == path) {
            Some((_, values)) => values.push(new),
            None => courses.push((path, vec![old, new])),
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
