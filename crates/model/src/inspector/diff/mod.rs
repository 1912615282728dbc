//! The differences between two versions of an object: field paths, with old and new values.
//!
//! Elements of lists are matched in the way in which Kubernetes merges lists: by name, type or another key, if each
//! element has one.

use serde_json::{Map, Value};

use kubechurn_client::api::sort::{sort, sort_by};

use crate::history::secret;

/// The most differences that are reported. The rest is only counted.
pub const MOST: usize = 200;
/// The length limit of a value's text, in bytes.
pub const LONGEST: usize = 300;

/// Fields that are left out, because they change with every version and say nothing about the object.
const SILENT: [&str; 2] = ["metadata.managedFields", "metadata.resourceVersion"];

/// The keys that tell elements of lists apart; a key may consist of several fields. The first key that all elements
/// have, each with another value, is used. The keys are those of the API's own lists (`patchMergeKey`,
/// `x-kubernetes-list-map-keys`).
const KEYS: [&[&str]; 10] = [
    &["mountPath"],
    &["devicePath"],
    &["containerPort", "protocol"],
    &["containerPort"],
    &["name"],
    &["type"],
    &["uid"],
    &["ip"],
    &["key"],
    &["port"],
];

/// What happened to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The field is new.
    Added(String),
    /// The field is gone.
    Removed(String),
    /// The value changed: old and new.
    Changed(String, String),
    /// The elements are the same, but in another order.
    Reordered,
    /// A secret value changed.
    Secret(&'static str),
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The path, such as `status.containerStatuses[cart].ready`.
    pub path: String,
    /// What happened.
    pub change: Change,
}

/// The differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The first differences, in the order of their paths.
    pub changes: Vec<FieldChange>,
    /// How many more differences there are.
    pub more: usize,
}

/// Compares two versions.
pub fn diff(old: &Value, new: &Value) -> Diff {
    let mut walk = Walk { path: String::new(), diff: Diff::default() };
    walk.compare(old, new);
    walk.diff
}

struct Walk {
    path: String,
    diff: Diff,
}

impl Walk {
    fn within(&mut self, step: &str, visit: impl FnOnce(&mut Walk)) {
        let length = self.path.len();
        self.path.push_str(step);
        visit(self);
        self.path.truncate(length);
    }

    fn tell(&mut self, change: impl FnOnce() -> Change) {
        if self.diff.changes.len() < MOST {
            self.diff.changes.push(FieldChange { path: cut(&self.path, LONGEST), change: change() });
        } else {
            self.diff.more += 1;
        }
    }

    fn compare(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.compare_maps(old, new),
            (Value::Array(old), Value::Array(new)) => self.compare_lists(old, new),
            _ if old == new => {}
            (Value::String(one), Value::String(other))
                if secret::mask(one).is_some() || secret::mask(other).is_some() =>
            {
                self.tell(|| Change::Secret("value changed"));
            }
            _ => self.tell(|| Change::Changed(brief(old), brief(new))),
        }
    }

    fn compare_maps(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        sort(&mut names);
        names.dedup();
        for name in names {
            let step = step(name, self.path.is_empty());
            self.within(&step, |walk| {
                if SILENT.contains(&&*walk.path) {
                    return;
                }
                walk.one(old.get(name), new.get(name));
            });
        }
    }

    fn one(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(old, new),
            (None, Some(new)) if masks(new) => self.tell(|| Change::Secret("value added")),
            (Some(old), None) if masks(old) => self.tell(|| Change::Secret("value removed")),
            (None, Some(new)) => self.tell(|| Change::Added(brief(new))),
            (Some(old), None) => self.tell(|| Change::Removed(brief(old))),
            (None, None) => {}
        }
    }

    fn compare_lists(&mut self, old: &[Value], new: &[Value]) {
        if old == new {
            return;
        }
        match KEYS.into_iter().find_map(|key| Some((keys(old, key)?, keys(new, key)?))) {
            Some((before, after)) if !before.is_empty() || !after.is_empty() => {
                self.compare_keyed(old, new, &before, &after);
            }
            _ => self.compare_in_order(old, new),
        }
    }

    fn compare_keyed(&mut self, old: &[Value], new: &[Value], before: &[String], after: &[String]) {
        let told = self.diff.changes.len() + self.diff.more;
        let places: std::collections::HashMap<&String, &Value> = before.iter().zip(old).collect();
        let kept: std::collections::HashSet<&String> = after.iter().collect();
        for (name, value) in before.iter().zip(old).filter(|(name, _)| !kept.contains(name)) {
            self.within(&format!("[{name}]"), |walk| walk.one(Some(value), None));
        }
        for (name, value) in after.iter().zip(new) {
            self.within(&format!("[{name}]"), |walk| walk.one(places.get(name).copied(), Some(value)));
        }
        if told == self.diff.changes.len() + self.diff.more && before != after {
            self.tell(|| Change::Reordered);
        }
    }

    /// Skips equal elements at both ends of the lists, and compares the rest position by position.
    fn compare_in_order(&mut self, old: &[Value], new: &[Value]) {
        let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (&old_rest[..old_rest.len() - end], &new_rest[..new_rest.len() - end]);
        for at in 0..old_rest.len().max(new_rest.len()) {
            self.within(&format!("[{}]", start + at), |walk| walk.one(old_rest.get(at), new_rest.get(at)));
        }
    }
}

fn masks(value: &Value) -> bool {
    value.as_str().is_some_and(|text| secret::mask(text).is_some())
}

/// The keys of the elements; `None` if an element has no such key, or two elements have the same.
fn keys(list: &[Value], key: &[&str]) -> Option<Vec<String>> {
    let names: Option<Vec<String>> = list
        .iter()
        .map(|element| {
            let words: Option<Vec<String>> = key
                .iter()
                .map(|word| match element.as_object()?.get(*word)? {
                    Value::String(text) => Some(cut(text, LONGEST)),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                })
                .collect();
            Some(words?.join("/"))
        })
        .collect();
    let names = names?;
    let mut sorted: Vec<&String> = names.iter().collect();
    sort(&mut sorted);
    sorted.windows(2).all(|pair| pair[0] != pair[1]).then_some(names)
}

/// The part of a path that leads to a field: `.name`, or `[a.b/c]` if a dot in the name would mislead.
fn step(name: &str, first: bool) -> String {
    let plain = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_-$".contains(letter));
    match (plain, first) {
        (true, true) => name.to_owned(),
        (true, false) => format!(".{}", cut(name, LONGEST)),
        (false, _) => format!("[{}]", cut(name, LONGEST)),
    }
}

/// A value in one line of about [`LONGEST`] bytes at most. A text that looks like another type stands in quotes.
pub fn brief(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out, true);
    cut(&out, LONGEST)
}

fn write(value: &Value, out: &mut String, alone: bool) {
    if out.len() > LONGEST {
        return;
    }
    match value {
        Value::String(text) => {
            let text = secret::mask(text).unwrap_or(text);
            let misleads = text.is_empty()
                || text.parse::<f64>().is_ok()
                || ["true", "false", "null"].contains(&text)
                || text.contains(|letter: char| letter.is_control())
                || text.starts_with(['"', '{', '['])
                || text.trim() != text
                || (!alone && text.contains([',', '}', ']', ':']));
            let text = cut(text, LONGEST);
            if misleads { out.push_str(&format!("{text:?}")) } else { out.push_str(&text) }
        }
        Value::Array(list) => {
            out.push('[');
            for (at, element) in list.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write(element, out, false);
                if out.len() > LONGEST {
                    break;
                }
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            sort_by(&mut members, |(one, _), (two, _)| one.cmp(two));
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&cut(name, LONGEST));
                out.push_str(": ");
                write(value, out, false);
                if out.len() > LONGEST {
                    break;
                }
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// The text, or its beginning with an ellipsis if it is longer than `longest` bytes.
pub fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(longest);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests;
