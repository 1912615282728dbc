//! The differences between two versions of an object, as the inspector shows them: field paths, with old and new values.
//!
//! The fields are those that [`kubechurn_changes::diff`] finds, in the order in which the feed shows them.

mod rewrite;

use serde_json::Value;

use kubechurn_changes::diff as comparison;
use kubechurn_changes::noise;
use kubechurn_changes::{rank, with_zero};
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::json;

use crate::history::secret;

pub use kubechurn_changes::diff::NotReadable;
pub use rewrite::Rewrite;

/// The length limit of a value's text, in bytes.
pub const LONGEST: usize = 300;

/// Fields that are left out, because they change with every version and say nothing about the object: where the comparison
/// begins, and the path from there.
const SILENT: [(&str, &str); 4] = [
    ("", "metadata.managedFields"),
    ("", "metadata.resourceVersion"),
    ("/metadata", "managedFields"),
    ("/metadata", "resourceVersion"),
];

/// What happened to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The field is new.
    Added(String),
    /// The field is gone.
    Removed(String),
    /// The value changed.
    Changed(Rewrite),
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
    /// The first differences, the most telling first.
    pub changes: Vec<FieldChange>,
    /// Differences that say little: versions, heartbeats, and times that move with another field.
    pub noise: Vec<FieldChange>,
    /// How many more differences there are.
    pub more: usize,
}

/// Compares two versions of an object of a kind, such as `Pod`, given as JSON.
///
/// # Errors
///
/// When they differ and one of them cannot be read.
pub fn diff(kind: &str, old: &str, new: &str) -> Result<Diff, NotReadable> {
    let found = comparison::diff(old, new)?;
    let generation = json::member(new, "metadata").and_then(|metadata| json::member(metadata, "generation"));
    let reasons = noise::classify(None, kind, &found, generation.and_then(json::integer));
    let mut ranked: Vec<_> = found.changes.iter().zip(&reasons).filter(|(change, _)| !is_silent("", change)).collect();
    // The order of the texts stays among fields that say equally much.
    let rank_of = |change: &comparison::FieldChange<'_>| {
        rank(kind, &change.path, &change.new.and_then(json::unescaped).unwrap_or_default())
    };
    sort_by(&mut ranked, |(one, _), (two, _)| rank_of(one).cmp(&rank_of(two)));
    let (noise, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|(_, reason)| reason.is_some());
    let shown = |fields: Vec<(&comparison::FieldChange<'_>, _)>| {
        fields.into_iter().map(|(change, _)| field_change(change)).collect()
    };
    Ok(Diff { changes: shown(others), noise: shown(noise), more: found.more })
}

/// Compares two values, given as JSON, of the field to which a JSON pointer leads; with paths that begin at the field, in
/// kubectl's order. `None` if they are the same.
///
/// # Errors
///
/// When they differ and one of them cannot be read.
pub fn diff_field(pointer: &str, old: &str, new: &str) -> Result<Option<Diff>, NotReadable> {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let found = comparison::diff_field(name, old, new)?;
    let shown = found.changes.iter().filter(|change| !is_silent(pointer, change));
    let mut changes: Vec<FieldChange> = shown.map(field_change).collect();
    let mut items = Vec::new();
    let mut placed: Vec<(String, FieldChange)> =
        changes.drain(..).map(|change| (place(&change.path, &mut items), change)).collect();
    sort_by(&mut placed, |(one, _), (two, _)| one.cmp(two));
    changes.extend(placed.into_iter().map(|(_, change)| change));
    // The whole object has changed also where only a silent field has.
    let differs = !changes.is_empty() || found.more > 0 || (pointer.is_empty() && !found.is_empty());
    Ok(differs.then_some(Diff { changes, noise: Vec::new(), more: found.more }))
}

/// Where a field stands in kubectl's order: members by their names, and the items of a list in the order in which they came,
/// which `items` remembers by their paths.
fn place(path: &str, items: &mut Vec<String>) -> String {
    let (mut place, mut rest) = (String::new(), path);
    while !rest.is_empty() {
        let (name, length) = if let Some(quoted) = rest.strip_prefix("[\"") {
            let end = quoted.find("\"]").unwrap_or(quoted.len());
            (quoted[..end].to_owned(), end + 4)
        } else if rest.starts_with('[') {
            let length = rest.find(']').map_or(rest.len(), |end| end + 1);
            let item = &path[..path.len() - rest.len() + length];
            let number = items.iter().position(|known| known == item).unwrap_or_else(|| {
                items.push(item.to_owned());
                items.len() - 1
            });
            (format!("{number:06}"), length)
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            (rest[..end].to_owned(), end)
        };
        // No name has a letter that comes before this one.
        place.push('\0');
        place.push_str(&name);
        rest = rest.get(length..).unwrap_or_default();
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    place
}

/// Whether a difference is left out: of a field that changes with every version, or of `kind` and `apiVersion`, which the items
/// of a list lack.
fn is_silent(pointer: &str, change: &comparison::FieldChange<'_>) -> bool {
    let is_one_sided = change.old.is_none() || change.new.is_none();
    let is_type = pointer.is_empty() && matches!(&*change.path, "kind" | "apiVersion");
    SILENT.contains(&(pointer, &change.path)) || (is_type && is_one_sided)
}

fn field_change(found: &comparison::FieldChange<'_>) -> FieldChange {
    // A value that serde does not read, because it is too deep, is shown as its text.
    let value = |json: &str| serde_json::from_str(json).unwrap_or_else(|_| Value::from(json));
    let [old, new] = with_zero(&found.path, [found.old, found.new]).map(|json| json.map(value));
    let change = match (old, new) {
        _ if found.reordered => Change::Reordered,
        (Some(old), Some(new)) if masks(&old) || masks(&new) => Change::Secret("value changed"),
        (Some(old), Some(new)) => Change::Changed(Rewrite::of(&old, &new)),
        (None, Some(new)) if masks(&new) => Change::Secret("value added"),
        (None, Some(new)) => Change::Added(brief(&new)),
        (Some(old), None) if masks(&old) => Change::Secret("value removed"),
        (Some(old), None) => Change::Removed(brief(&old)),
        (None, None) => Change::Reordered,
    };
    FieldChange { path: found.path.to_string(), change }
}

fn masks(value: &Value) -> bool {
    value.as_str().is_some_and(|text| secret::mask(text).is_some())
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
