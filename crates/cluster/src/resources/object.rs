//! One version of one object, serialised once: lists and watches only copy the text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::resources::resource::Resource;

/// The finalizer that keeps an object until its dependents are deleted (`metav1.FinalizerDeleteDependents`).
pub const DELETE_DEPENDENTS: &str = "foregroundDeletion";
/// The finalizer that keeps an object until no object refers to it as its owner (`metav1.FinalizerOrphanDependents`).
pub const ORPHAN_DEPENDENTS: &str = "orphan";

/// An empty resourceVersion, into which the version is written later.
const VERSION: &str = "\"resourceVersion\":\"\"";

/// The order of the fields in `metadata`, which is that of the real server's Go struct.
const METADATA_ORDER: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// The order of the fields beside `metadata` where it is not alphabetical: the order in the real server's structs,
/// which do not contradict one another.
const FIELD_ORDER: [&str; 36] = [
    "immutable",
    "data",
    "binaryData",
    "stringData",
    "revision",
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "series",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
    "subjects",
    "roleRef",
    "rules",
    "aggregationRule",
    "value",
    "globalDefault",
    "description",
    "preemptionPolicy",
    "provisioner",
    "parameters",
    "reclaimPolicy",
    "mountOptions",
    "allowVolumeExpansion",
    "volumeBindingMode",
    "allowedTopologies",
    "secrets",
    "imagePullSecrets",
];

/// One version of one object.
#[derive(Debug, Clone)]
pub struct Object {
    /// `namespace/name`, or the name of a cluster-scoped object.
    pub key: Arc<str>,
    /// Namespace; empty at the cluster scope.
    pub namespace: Box<str>,
    pub name: Box<str>,
    /// The uid, which distinguishes objects that had the same name in turn.
    pub uid: Arc<str>,
    /// The revision of the write that made this version.
    pub revision: u64,
    /// Labels, sorted by name.
    pub labels: Box<[(Box<str>, Box<str>)]>,
    /// The JSON as it is stored, with `kind` and `apiVersion` first and an empty resourceVersion, because the revision
    /// of a write is not known before the write.
    raw: Arc<str>,
    /// The position of the resourceVersion in the text, between its quotes.
    version_at: usize,
    /// The range of `"metadata"` and its value.
    metadata_at: Range<usize>,
}

/// The metadata in the stored text that lists and watches need.
#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
    #[serde(default)]
    labels: Value,
    #[serde(borrow, rename = "resourceVersion")]
    version: &'a RawValue,
}

/// An object that is to be written.
#[derive(Debug, Clone)]
pub struct Draft {
    /// `metadata`; a `resourceVersion` in it is ignored.
    pub metadata: Map<String, Value>,
    /// Every other field but `kind` and `apiVersion`.
    pub fields: Fields,
}

/// The fields beside `metadata`.
#[derive(Debug, Clone)]
pub enum Fields {
    /// Parsed, as from a request.
    Parsed(Map<String, Value>),
    /// The members of a JSON object, without its braces: the form in which the scenario writes thousands of objects.
    Text(String),
}

impl Draft {
    /// Splits an object into its parts; `None` if it is not a JSON object with an object as its `metadata`.
    pub fn from_value(object: Value) -> Option<Self> {
        let Value::Object(mut fields) = object else { return None };
        fields.remove("kind");
        fields.remove("apiVersion");
        let Some(Value::Object(metadata)) = fields.remove("metadata") else { return None };
        Some(Self { metadata, fields: Fields::Parsed(fields) })
    }

    /// A string in `metadata`; empty if it is missing.
    pub fn meta(&self, field: &str) -> &str {
        self.metadata.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Serialises the draft as the version that `revision` makes.
    pub fn into_object(mut self, resource: &Resource, revision: u64) -> Object {
        let namespace: Box<str> = self.meta("namespace").into();
        let name: Box<str> = self.meta("name").into();
        let uid: Arc<str> = self.meta("uid").into();
        let labels = labels_of(self.metadata.get("labels").and_then(Value::as_object));
        let mut text = String::with_capacity(4096);
        text.push_str("{\"kind\":\"");
        text.push_str(&resource.kind);
        text.push_str("\",\"apiVersion\":\"");
        text.push_str(&resource.api_version);
        text.push_str("\",");
        let metadata_start = text.len();
        text.push_str("\"metadata\":{");
        let mut version_at = 0;
        self.metadata.remove("resourceVersion");
        let mut names: Vec<String> = METADATA_ORDER.iter().map(|field| (*field).to_owned()).collect();
        let mut others: Vec<String> =
            self.metadata.keys().filter(|key| !METADATA_ORDER.contains(&key.as_str())).cloned().collect();
        others.sort();
        names.append(&mut others);
        if resource.is_custom() {
            // The real server keeps these as maps, which Go writes in alphabetical order.
            names.sort();
        }
        for field in names {
            if field == "resourceVersion" {
                separate(&mut text);
                text.push_str(VERSION);
                version_at = text.len() - 1;
            } else if let Some(value) = self.metadata.remove(&field) {
                push_member(&mut text, &field, &value);
            }
        }
        text.push('}');
        let metadata_at = metadata_start..text.len();
        match self.fields {
            Fields::Parsed(fields) => {
                // Sorted here, because any dependency may enable the feature by which a Map keeps its order.
                let mut fields: Vec<_> = fields.iter().collect();
                let place = |field: &str| FIELD_ORDER.iter().position(|known| *known == field).unwrap_or(usize::MAX);
                let place = |field: &str| if resource.is_custom() { usize::MAX } else { place(field) };
                fields.sort_by_key(|(field, _)| (place(field), *field));
                fields.into_iter().for_each(|(field, value)| push_member(&mut text, field, value));
            }
            Fields::Text(fields) => {
                separate(&mut text);
                text.push_str(&fields);
            }
        }
        text.push('}');
        let key = resource.key(&namespace, &name).into();
        Object { key, namespace, name, uid, revision, labels, raw: text.into(), version_at, metadata_at }
    }
}

impl Object {
    /// Reads the stored text of a key; `None` if this program has not written the text.
    pub fn decode(resource: &Resource, raw: Arc<str>, revision: u64) -> Option<Self> {
        // Kind and apiVersion come first, and contain no quotes.
        let start = raw.find("\"metadata\":{")?;
        let mut rest =
            serde_json::Deserializer::from_str(&raw[start + "\"metadata\":".len()..]).into_iter::<&RawValue>();
        let metadata = rest.next()?.ok()?.get();
        let metadata_at = start..start + "\"metadata\":".len() + metadata.len();
        let Metadata { name, namespace, uid, labels, version } = serde_json::from_str(metadata).ok()?;
        // The position comes from the parser and not from a search: a label may have the same name and come first.
        let version = Some(version.get()).filter(|version| *version == "\"\"")?;
        let version_at = version.as_ptr().addr() - raw.as_ptr().addr() + 1;
        let key = resource.key(&namespace, &name).into();
        let (namespace, name, uid) = (namespace.into(), name.into(), uid.into());
        let labels = labels_of(labels.as_object());
        Some(Self { key, namespace, name, uid, revision, labels, raw, version_at, metadata_at })
    }

    /// The text as it is stored.
    pub fn raw(&self) -> &Arc<str> {
        &self.raw
    }

    /// The whole JSON object, as in a GET or a watch.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.raw.len() + 20);
        self.push(0, self.raw.len(), &mut text);
        text
    }

    /// Appends the object without kind and apiVersion, as in the items of a list, and without its opening brace.
    pub fn push_item_tail(&self, text: &mut String) {
        self.push(self.metadata_at.start, self.raw.len(), text);
    }

    /// `"metadata":{…}`.
    pub fn metadata(&self) -> String {
        let mut text = String::with_capacity(self.metadata_at.len() + 20);
        self.push(self.metadata_at.start, self.metadata_at.end, &mut text);
        text
    }

    /// The text after the metadata, from the comma on: `,"spec":{…},"status":{…}}`.
    pub fn after_metadata(&self) -> &str {
        &self.raw[self.metadata_at.end..]
    }

    /// Whether the metadata contains a text. Most objects do not contain what is searched for.
    pub fn metadata_contains(&self, part: &str) -> bool {
        self.raw[self.metadata_at.clone()].contains(part)
    }

    /// Whether it is being deleted.
    pub fn is_being_deleted(&self) -> bool {
        // The text may contain the name elsewhere, but it is rare, so parsing is rare.
        self.metadata_contains("\"deletionTimestamp\"") && self.to_value()["metadata"]["deletionTimestamp"].is_string()
    }

    /// The same state under another resourceVersion, as a deletion reports it.
    pub fn at_revision(&self, revision: u64) -> Self {
        Self { revision, ..self.clone() }
    }

    /// Whether the other version has the same contents, apart from the resourceVersion.
    pub fn is_same_state(&self, other: &Self) -> bool {
        self.raw == other.raw
    }

    /// Parses the text.
    pub fn to_value(&self) -> Value {
        let mut value: Value = serde_json::from_str(&self.raw).unwrap_or_default();
        if let Some(version) = value.pointer_mut("/metadata/resourceVersion") {
            *version = self.revision.to_string().into();
        }
        value
    }

    fn push(&self, start: usize, end: usize, text: &mut String) {
        text.push_str(&self.raw[start..self.version_at]);
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(text, format_args!("{}", self.revision));
        text.push_str(&self.raw[self.version_at..end]);
    }
}

fn labels_of(labels: Option<&Map<String, Value>>) -> Box<[(Box<str>, Box<str>)]> {
    let mut labels: Vec<(Box<str>, Box<str>)> = labels
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.as_str().into(), value.as_str()?.into())))
        .collect();
    labels.sort();
    labels.into()
}

fn push_member(text: &mut String, field: &str, value: &Value) {
    separate(text);
    // The Display of a Value is compact JSON, and cannot fail for a String.
    let _ = std::fmt::Write::write_fmt(text, format_args!("{}:{value}", Value::from(field)));
}

fn separate(text: &mut String) {
    if !text.ends_with(['{', ',']) {
        text.push(',');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::builtin::PODS;

    #[test]
    fn the_text_is_in_the_servers_order_and_restamps() {
        let value = json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Running"}, "spec": {}, "metadata": {
            "annotations": {"resourceVersion": "\"resourceVersion\":\"1\""}, "labels": {"a": "1", "b": "2"},
            "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "1", "zeta": 1}});
        let object = Draft::from_value(value).unwrap().into_object(&PODS, 99);
        let expected = concat!(
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"99","#,
            r#""labels":{"a":"1","b":"2"},"annotations":{"resourceVersion":"\"resourceVersion\":\"1\""},"zeta":1},"#,
            r#""spec":{},"status":{"phase":"Running"}}"#
        );
        assert_eq!(object.text(), expected);
        let deleted = object.at_revision(1000);
        assert_eq!(deleted.text(), expected.replace(r#""99""#, r#""1000""#));
        assert_eq!(deleted.at_revision(99).text(), expected);
        let mut tail = String::new();
        object.push_item_tail(&mut tail);
        assert!(tail.starts_with(r#""metadata":{"name""#));
        let decoded = Object::decode(&PODS, Arc::clone(object.raw()), 99).unwrap();
        assert_eq!((decoded.text(), &decoded.labels), (object.text(), &object.labels));
        assert_eq!((&decoded.key, &decoded.uid, decoded.metadata()), (&object.key, &object.uid, object.metadata()));
        assert!(Object::decode(&PODS, Arc::from("{}"), 1).is_none());
        let metadata: Value = serde_json::from_str(&format!("{{{}}}", deleted.metadata())).unwrap();
        assert_eq!(
            (&metadata["metadata"]["resourceVersion"], &metadata["metadata"]["zeta"]),
            (&json!("1000"), &json!(1))
        );
        assert_eq!(&*object.key, "shop/web");
    }
}
