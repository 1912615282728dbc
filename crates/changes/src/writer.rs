//! Who seems to have written a version: inferred from `metadata.managedFields`.
//!
//! The server keeps an entry for each manager, operation and subresource, with the time of its last write in whole
//! seconds and the fields that it owns. A write that changes neither leaves no trace, so nothing here is certain, and the
//! type says so. The rule is that of the inspector (`page::inspector::fields` of the model), on text; but of two
//! managers of which one took a field from the other within a second, only the one that took it is told.

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::raw;

/// The most entries that are compared. The API server itself merges the oldest entries when there are more than ten
/// (`managedfields`, `capmanagers.go`), so that only a server of another make has more.
const MOST: usize = 64;

/// What in `managedFields` shows that a manager wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Its entry is new; of an object that was not known before, the entry is among the oldest.
    New,
    /// The time of its entry moved.
    TimeMoved,
    /// The entry owns other fields than before: a second write within a second.
    FieldsMoved,
}

/// A manager that seems to have written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InferredWriter {
    /// The manager's name, such as `kubectl-set`.
    pub manager: SmolStr,
    /// The subresource through which it wrote, such as `status`; empty for the object itself.
    pub subresource: SmolStr,
    /// What shows it.
    pub evidence: Evidence,
}

/// The managers that seem to have written one version: nearly always one.
pub type Writers = SmallVec<[InferredWriter; 1]>;

impl std::fmt::Display for InferredWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.subresource {
            "" => write!(formatter, "{}, inferred", self.manager),
            subresource => write!(formatter, "{} ({subresource}), inferred", self.manager),
        }
    }
}

/// An entry. Each part is JSON as it stands in the text.
#[derive(Clone, Copy, Default)]
struct Entry<'a> {
    manager: &'a str,
    operation: &'a str,
    subresource: &'a str,
    api_version: &'a str,
    time: &'a str,
    fields: &'a str,
}

impl<'a> Entry<'a> {
    fn read(text: &'a str) -> Option<Entry<'a>> {
        let mut entry = Entry::default();
        for member in raw::members(text)? {
            match member.name {
                "manager" => entry.manager = member.value,
                "operation" => entry.operation = member.value,
                "subresource" => entry.subresource = member.value,
                "apiVersion" => entry.api_version = member.value,
                "time" => entry.time = member.value,
                "fieldsV1" => entry.fields = member.value,
                _ => {}
            }
        }
        Some(entry)
    }

    /// Whether both entries belong to one manager in one role. Only time and fields may then differ.
    fn follows(&self, other: &Entry<'_>) -> bool {
        (self.manager, self.operation, self.subresource, self.api_version)
            == (other.manager, other.operation, other.subresource, other.api_version)
    }
}

fn managed_fields(text: &str) -> &str {
    raw::value_at(text, &["metadata", "managedFields"]).unwrap_or_default()
}

/// A Pod has two or three.
type Entries<'a> = SmallVec<[Entry<'a>; 4]>;

fn entries(managed_fields: &str) -> Entries<'_> {
    let items = raw::items(managed_fields).unwrap_or_default();
    items.into_iter().take(MOST).filter_map(Entry::read).collect()
}

/// Who seems to have written `new`, in the order of the entries, each name once. Without an old version: whose entries
/// have the oldest time, which are those who made the object.
pub fn writers(old: Option<&str>, new: &str) -> Writers {
    match old {
        Some(old) => between(managed_fields(old), managed_fields(new)),
        None => makers(managed_fields(new)),
    }
}

/// The same of two values of `managedFields`; empty is none.
pub(crate) fn between(old: &str, new: &str) -> Writers {
    if old == new {
        return Writers::new();
    }
    let (before, after) = (entries(old), entries(new));
    let was = |entry: &Entry<'_>| before.iter().find(|known| entry.follows(known)).copied();
    let moved = after.iter().filter_map(|entry| match was(entry) {
        None => Some((entry, Evidence::New)),
        Some(known) if known.time != entry.time => Some((entry, Evidence::TimeMoved)),
        Some(_) => None,
    });
    let mut found: SmallVec<[(&Entry<'_>, Evidence); 4]> = moved.collect();
    if found.is_empty() {
        let differs = |entry: &&Entry<'_>| was(entry).is_some_and(|known| known.fields != entry.fields);
        found = after.iter().filter(differs).map(|entry| (entry, Evidence::FieldsMoved)).collect();
        // Who sets a field takes it from whoever owned it, so that both entries differ.
        let gains = |entry: &Entry<'_>| was(entry).is_some_and(|known| known.fields.len() < entry.fields.len());
        if found.iter().any(|(entry, _)| gains(entry)) {
            found.retain(|(entry, _)| gains(entry));
        }
    }
    names(&found)
}

pub(crate) fn makers(managed_fields: &str) -> Writers {
    let entries = entries(managed_fields);
    // Times are written in one form, `2026-11-21T08:16:27Z`, whose order is that of its letters.
    let oldest = entries.iter().map(|entry| entry.time).filter(|time| !time.is_empty()).min().unwrap_or_default();
    let found: SmallVec<[_; 4]> =
        entries.iter().filter(|entry| entry.time == oldest).map(|entry| (entry, Evidence::New)).collect();
    names(&found)
}

fn names(found: &[(&Entry<'_>, Evidence)]) -> Writers {
    let mut writers = Writers::new();
    for (entry, evidence) in found {
        let text = |value| SmolStr::new(raw::string(value).unwrap_or_default());
        let (manager, subresource) = (text(entry.manager), text(entry.subresource));
        if !writers.iter().any(|known| (&known.manager, &known.subresource) == (&manager, &subresource)) {
            writers.push(InferredWriter { manager, subresource, evidence: *evidence });
        }
    }
    writers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(entries: &[&str]) -> String {
        format!(r#"{{"metadata":{{"managedFields":[{}]}}}}"#, entries.join(","))
    }

    fn entry(manager: &str, time: u8, field: &str) -> String {
        format!(r#"{{"manager":"{manager}","operation":"Update","time":"{time}","fieldsV1":{{"{field}":{{}}}}}}"#)
    }

    #[test]
    fn the_writer_is_whose_entry_is_new_or_moved() {
        let status = r#"{"manager":"kubelet","operation":"Update","subresource":"status","time":"1"}"#;
        let old = object(&[&entry("kubectl-edit", 1, "f:a"), &entry("helm", 2, "f:b"), status]);
        let check = |new: &[&str], expected: &[(&str, Evidence)]| {
            let found = writers(Some(&old), &object(new));
            let found: Vec<_> = found.iter().map(|writer| (&*writer.manager, writer.evidence)).collect();
            assert_eq!(found, expected);
        };
        let helm = entry("helm", 2, "f:b");
        check(&[&entry("kubectl-edit", 2, "f:a"), &helm, status], &[("kubectl-edit", Evidence::TimeMoved)]);
        check(&[&entry("kubectl-edit", 1, "f:c"), &helm, status], &[("kubectl-edit", Evidence::FieldsMoved)]);
        check(&[&entry("kubectl-edit", 1, "f:c"), &entry("helm", 3, "f:b")], &[("helm", Evidence::TimeMoved)]);
        check(
            &[&entry("kubectl-edit", 1, "f:a,f:b"), &entry("helm", 2, "f")],
            &[("kubectl-edit", Evidence::FieldsMoved)],
        );
        check(&[&helm, status], &[]);
        check(&[&entry("new", 2, "f:a"), &helm], &[("new", Evidence::New)]);
        check(&["7", "{"], &[]);
        assert_eq!(
            writers(None, &old).iter().map(|writer| &*writer.manager).collect::<Vec<_>>(),
            ["kubectl-edit", "kubelet"]
        );
        assert!(writers(None, "nothing").is_empty());
        assert_eq!(writers(None, &object(&[status]))[0].to_string(), "kubelet (status), inferred");
    }
}
