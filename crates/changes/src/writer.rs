//! Who seems to have written a version: inferred from `metadata.managedFields`.
//!
//! The server keeps an entry for each manager, operation and subresource, with the time of its last write in whole
//! seconds and the fields that it owns. The writer is whose entry is new or has another time; else whose entry gained a
//! field; else who owns the field that changed. An entry that only lost fields shows no write: somebody else took or
//! removed them. A deletion and a removed field leave no trace, so nothing here is certain, and the type says so.
//!
//! This is the one rule of the page: the feed, the inspector and the lanes by manager ask [`of_change`]. Where an audit log says who
//! made the request, that user is the [`NamedWriter`] in place of the managers.

use smallvec::SmallVec;
use smol_str::{SmolStr, format_smolstr};

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;

use crate::audit::Request;
use crate::diff;
use kubechurn_client::json::{self, Cursor};

/// The most entries that are compared. The API server itself merges the oldest entries when there are more than ten
/// (`managedfields`, `capmanagers.go`), so that only a server of another make has more.
const MOST: usize = 64;
/// The longest list whose items are matched with the steps of an entry's fields.
const MOST_ITEMS: usize = 200;
/// How deep the fields of an entry are followed.
const DEEPEST: u8 = 40;

/// What in `managedFields` shows that a manager wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Its entry is new; of an object that was not known before, the entry is among the oldest.
    New,
    /// The time of its entry moved.
    TimeMoved,
    /// The entry owns a field more than before: a second write within a second.
    FieldsMoved,
    /// The entry, which did not change, owns the field that changed.
    OwnsField,
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
        write!(formatter, "{}, inferred", self.name())
    }
}

impl InferredWriter {
    /// The manager and its subresource, as in `kubelet (status)`.
    pub fn name(&self) -> SmolStr {
        match &*self.subresource {
            "" => self.manager.clone(),
            subresource => format_smolstr!("{} ({subresource})", self.manager),
        }
    }
}

/// Who is named as the writer of a change.
#[derive(Clone, Copy, Debug)]
pub enum NamedWriter<'a> {
    /// Who made the request, for certain: of a deletion, who asked for it.
    User(&'a Request),
    /// The manager that seems to have written it.
    Manager(&'a InferredWriter),
}

impl NamedWriter<'_> {
    /// The name by which it is counted and looked for: that of the user in full, or that of the manager.
    pub fn name(&self) -> SmolStr {
        match self {
            NamedWriter::User(request) => request.who().into(),
            NamedWriter::Manager(writer) => writer.manager.clone(),
        }
    }

    /// As it is shown: a user in short, or a manager with its subresource.
    pub fn words(&self) -> SmolStr {
        match self {
            NamedWriter::User(request) => brief(&request.who()).into(),
            NamedWriter::Manager(writer) => writer.name(),
        }
    }
}

/// A user as a row has room for it: `sa:deployment-controller` for a service account of the system.
pub fn brief(user: &str) -> String {
    let words = user.replace("system:serviceaccount:kube-system:", "sa:").replace("system:serviceaccount:", "sa:");
    words.replace("system:node:", "node:")
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
    /// Goes over an entry.
    fn read(cursor: &mut Cursor<'a>) -> Option<Entry<'a>> {
        let (mut entry, mut is_first) = (Entry::default(), true);
        cursor.pass(b'{')?;
        while let Some(name) = cursor.name(is_first)? {
            let value = cursor.skimmed()?;
            match &*name {
                "manager" => entry.manager = value,
                "operation" => entry.operation = value,
                "subresource" => entry.subresource = value,
                "apiVersion" => entry.api_version = value,
                "time" => entry.time = value,
                "fieldsV1" => entry.fields = value,
                _ => {}
            }
            is_first = false;
        }
        cursor.pass(b'}')?;
        Some(entry)
    }

    /// Whether both entries belong to one manager in one role. Only time and fields may then differ.
    fn follows(&self, other: &Entry<'_>) -> bool {
        (self.manager, self.operation, self.subresource, self.api_version)
            == (other.manager, other.operation, other.subresource, other.api_version)
    }
}

fn managed_fields(text: &str) -> &str {
    json::value_at(text, &["metadata", "managedFields"]).unwrap_or_default()
}

/// A Pod has two or three.
type Entries<'a> = SmallVec<[Entry<'a>; 4]>;

/// The first entries. There are none where one of them cannot be read.
fn entries(managed_fields: &str) -> Entries<'_> {
    let read = || {
        let (mut cursor, mut found) = (Cursor::new(managed_fields), Entries::new());
        cursor.pass(b'[')?;
        while found.len() < MOST && cursor.item(found.is_empty())? {
            found.push(Entry::read(&mut cursor)?);
        }
        Some(found)
    };
    read().unwrap_or_default()
}

/// Who seems to have written a change. Nobody is named where nothing was written: a deletion leaves no trace, and what a
/// first list brings was written before.
pub fn of_change(delta_type: DeltaType, old: Option<&str>, new: Option<&str>) -> Writers {
    match (delta_type, old, new) {
        (DeltaType::Added, _, Some(new)) => makers(managed_fields(new)),
        (DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync, Some(old), Some(new)) => between(old, new),
        _ => Writers::new(),
    }
}

/// When a manager wrote the version last, by its entry: the newest, where it has several.
pub(crate) fn written_at(text: &str, writer: &InferredWriter) -> Option<Timestamp> {
    let is = |value: &str, wanted: &str| json::unescaped(value).unwrap_or_default() == *wanted;
    let entries = entries(managed_fields(text));
    let its =
        entries.iter().filter(|entry| is(entry.manager, &writer.manager) && is(entry.subresource, &writer.subresource));
    its.filter_map(|entry| Timestamp::parse_set(&json::unescaped(entry.time)?)).max()
}

/// Who seems to have written `new`, in the order of the entries, each name once.
fn between(old_text: &str, new_text: &str) -> Writers {
    if old_text == new_text {
        return Writers::new();
    }
    let (old, new) = (managed_fields(old_text), managed_fields(new_text));
    let after = entries(new);
    let before = if old == new { Entries::new() } else { entries(old) };
    if before.is_empty() && old != new {
        return makers(new);
    }
    let was = |entry: &Entry<'_>| before.iter().find(|known| entry.follows(known)).copied();
    let moved = after.iter().filter_map(|entry| match was(entry) {
        None => Some((entry, Evidence::New)),
        Some(known) if known.time != entry.time => Some((entry, Evidence::TimeMoved)),
        Some(_) => None,
    });
    let mut found: SmallVec<[(&Entry<'_>, Evidence); 4]> = SmallVec::new();
    if old != new {
        found.extend(moved);
        if found.is_empty() {
            let gains = |entry: &&Entry<'_>| was(entry).is_some_and(|known| gains(known.fields, entry.fields));
            found.extend(after.iter().filter(gains).map(|entry| (entry, Evidence::FieldsMoved)));
        }
    }
    if found.is_empty() {
        // Who writes a field owns all that the write changed: others who own one of these fields did not write.
        let (old, new) = (Parts::read(old_text), Parts::read(new_text));
        let owned =
            |entry: &Entry<'_>| json::members(entry.fields).map_or(0, |steps| changed_below(&steps, &old, &new, 0));
        let counts: SmallVec<[usize; 4]> = after.iter().map(owned).collect();
        let most = counts.iter().copied().max().unwrap_or_default();
        let mut owners = after.iter().zip(&counts).filter(|(_, count)| most > 0 && **count == most);
        if let (Some((owner, _)), None) = (owners.next(), owners.next()) {
            found.push((owner, Evidence::OwnsField));
        }
    }
    names(&found)
}

/// Whether a set of fields has one that it did not have before.
fn gains(before: &str, after: &str) -> bool {
    before != after
        && diff::diff(before, after).is_ok_and(|diff| diff.changes.iter().any(|change| change.new.is_some()))
}

/// How many of these fields have another value than before. A field that is gone is none of them.
fn changed(fields: &str, old: Option<&str>, new: &str, depth: u8) -> usize {
    if old == Some(new) || depth == DEEPEST {
        return 0;
    }
    let Some(steps) = json::members(fields) else { return 0 };
    if steps.is_empty() {
        return usize::from(depth > 0);
    }
    changed_below(&steps, &Parts::read(old.unwrap_or_default()), &Parts::read(new), depth)
}

fn changed_below(steps: &[json::Member<'_>], old: &Parts<'_>, new: &Parts<'_>, depth: u8) -> usize {
    let below = steps.iter().take(MOST_ITEMS).map(|step| {
        let Some((kind, wanted)) = step.name.split_once(':') else { return 0 };
        let Some(value) = new.at(kind, wanted) else { return 0 };
        changed(step.value, old.at(kind, wanted), value, depth + 1)
    });
    below.sum()
}

/// The members of an object, or the items of a list, read once for all fields that lead into it.
struct Parts<'a> {
    members: json::Members<'a>,
    items: json::Items<'a>,
}

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Parts<'a> {
        Parts { members: json::members(text).unwrap_or_default(), items: few_items(text) }
    }

    /// The part to which a step leads: `f` to a member, and the others to an item.
    fn at(&self, kind: &str, wanted: &str) -> Option<&'a str> {
        match kind {
            "f" => json::named(&self.members, wanted),
            kind => {
                let mut items = self.items.iter().enumerate();
                items.find(|(at, item)| is_item(kind, wanted, *at, item)).map(|(_, item)| *item)
            }
        }
    }
}

/// The items of a list that is not too long.
fn few_items(list: &str) -> json::Items<'_> {
    json::items(list).filter(|items| items.len() <= MOST_ITEMS).unwrap_or_default()
}

/// Whether a step of `fieldsV1` leads to this item. `k:` precedes the fields that identify it, `v:` its value, and `i:` its
/// place (structured-merge-diff, `fieldpath/serialize-pe.go`).
fn is_item(step: &str, wanted: &str, at: usize, item: &str) -> bool {
    let are_same = |one: &str, other: &str| diff::diff(one, other).is_ok_and(|diff| diff.is_empty());
    match step {
        "k" => json::members(wanted).is_some_and(|keys| {
            keys.iter().all(|key| json::member(item, &key.name).is_some_and(|value| are_same(value, key.value)))
        }),
        "v" => are_same(wanted, item),
        "i" => wanted.parse() == Ok(at),
        _ => false,
    }
}

/// Whose entries have the oldest time: they made the object.
fn makers(managed_fields: &str) -> Writers {
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
        let text = |value| SmolStr::new(json::unescaped(value).unwrap_or_default());
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
    fn a_user_is_short_enough_to_be_read_in_a_row() {
        for (user, words) in [
            ("system:serviceaccount:kube-system:deployment-controller", "sa:deployment-controller"),
            ("asked for by system:serviceaccount:shop:robot", "asked for by sa:shop:robot"),
            ("system:node:node-2", "node:node-2"),
            ("system:kube-scheduler", "system:kube-scheduler"),
            ("alice as bob", "alice as bob"),
        ] {
            assert_eq!(brief(user), words);
        }
    }

    #[test]
    fn the_writer_is_whose_entry_is_new_or_moved() {
        let status = r#"{"manager":"kubelet","operation":"Update","subresource":"status","time":"1"}"#;
        let old = object(&[&entry("kubectl-edit", 1, "f:a"), &entry("helm", 2, "f:b"), status]);
        let check = |new: &[&str], expected: &[(&str, Evidence)]| {
            let found = of_change(DeltaType::Updated, Some(&old), Some(&object(new)));
            let found: Vec<_> = found.iter().map(|writer| (&*writer.manager, writer.evidence)).collect();
            assert_eq!(found, expected);
        };
        let helm = entry("helm", 2, "f:b");
        let robbed = helm.replace(r#""f:b":{}"#, "");
        check(&[&entry("kubectl-edit", 2, "f:a"), &helm, status], &[("kubectl-edit", Evidence::TimeMoved)]);
        check(&[&entry("kubectl-edit", 1, "f:c"), &helm, status], &[("kubectl-edit", Evidence::FieldsMoved)]);
        check(&[&entry("kubectl-edit", 1, "f:c"), &entry("helm", 3, "f:b")], &[("helm", Evidence::TimeMoved)]);
        check(&[&entry("kubectl-edit", 1, "f:a,f:b"), &robbed], &[("kubectl-edit", Evidence::FieldsMoved)]);
        // Who only loses a field did not write.
        let nothing = r#"{"manager":"kubectl-edit","operation":"Update","time":"1","fieldsV1":{}}"#;
        check(&[nothing, &helm, status], &[]);
        check(&[&helm, status], &[]);
        check(&[&entry("new", 2, "f:a"), &helm], &[("new", Evidence::New)]);
        check(&["7", "{"], &[]);
        let made = |text: &str| of_change(DeltaType::Added, None, Some(text));
        let names: Vec<SmolStr> = made(&old).iter().map(InferredWriter::name).collect();
        assert_eq!(names, ["kubectl-edit", "kubelet (status)"]);
        assert!(made("nothing").is_empty());
        assert_eq!(made(&object(&[status]))[0].to_string(), "kubelet (status), inferred");
        for delta_type in [DeltaType::Deleted, DeltaType::Replaced, DeltaType::Updated] {
            assert!(of_change(delta_type, None, Some(&old)).is_empty(), "{delta_type:?}");
        }
        let after = object(&[&entry("kubectl-edit", 2, "f:a"), &helm, status]);
        assert!(of_change(DeltaType::Deleted, Some(&old), Some(&after)).is_empty());
    }

    /// An object with these fields, which a person and a kubelet own, and a list of both.
    fn owned(rest: &str) -> String {
        let person = r#"{"manager":"scale","operation":"Update","fieldsV1":{"f:spec":{"f:replicas":{},"f:list":{
            "k:{\"name\":\"x\"}":{".":{},"f:image":{}},"v:\"one\"":{},"i:2":{}}}}}"#;
        let both = r#"{"manager":"apply","operation":"Apply","time":"1","fieldsV1":{"f:spec":{"f:shared":{}}}},
            {"manager":"helm","operation":"Apply","time":"1","fieldsV1":{"f:spec":{"f:shared":{},"f:own":{}}}}"#;
        let kubelet = r#"{"manager":"kubelet","operation":"Update","subresource":"status","time":"1",
            "fieldsV1":{"f:status":{"f:atomic":{}}}}"#;
        // An Event's fields stand at the root.
        let events = r#"{"manager":"events","operation":"Update","time":"1","fieldsV1":{"f:count":{}}}"#;
        format!(r#"{{"metadata":{{"managedFields":[{person},{both},{kubelet},{events}]}},{rest}}}"#)
    }

    #[test]
    fn who_owns_the_field_that_changed_wrote_it() {
        let list =
            |image: &str, last: &str| format!(r#""spec":{{"list":[{{"image":"{image}","name":"x"}},"one",{last}]}}"#);
        for (old, new, expected) in [
            (r#""spec":{"replicas":1}"#, r#""spec":{"replicas":2}"#, &["scale"][..]),
            (r#""spec":{}"#, r#""spec":{"replicas":2}"#, &["scale"]),
            // Nobody is known to have removed a field.
            (r#""spec":{"replicas":1}"#, r#""spec":{}"#, &[]),
            (r#""status":{"atomic":[{"a":1}]}"#, r#""status":{"atomic":[{"a":2}]}"#, &["kubelet (status)"]),
            (r#""other":1"#, r#""other":2"#, &[]),
            (r#""count":1"#, r#""count":2"#, &["events"]),
            // Of two that own a field, the one who wrote owns all that changed.
            (r#""spec":{"shared":1}"#, r#""spec":{"shared":2}"#, &[]),
            (r#""spec":{"shared":1,"own":1}"#, r#""spec":{"shared":2,"own":2}"#, &["helm"]),
            (&list("a", "7"), &list("b", "7"), &["scale"]),
            (&list("a", "7"), &list("a", "8"), &["scale"]),
        ] {
            let found = of_change(DeltaType::Updated, Some(&owned(old)), Some(&owned(new)));
            let names: Vec<SmolStr> = found.iter().map(InferredWriter::name).collect();
            assert_eq!(names, expected, "{old} {new}");
            assert!(found.iter().all(|writer| writer.evidence == Evidence::OwnsField));
        }
    }
}
