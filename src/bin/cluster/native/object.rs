//! One version of one object, serialised once: lists and watches only copy its text.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::resource::Resource;

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

/// One version of one object.
#[derive(Debug)]
pub struct Object {
    /// `namespace/name`, or the name of a cluster-scoped object.
    pub key: Arc<str>,
    /// Namespace; empty at the cluster scope.
    pub namespace: Box<str>,
    /// Name.
    pub name: Box<str>,
    /// Names this life of the object.
    pub uid: Arc<str>,
    /// The write that made this version.
    pub revision: u64,
    /// The uids of the objects that own it.
    pub owners: Box<[Arc<str>]>,
    /// Labels, sorted by name.
    pub labels: Box<[(Box<str>, Box<str>)]>,
    /// The JSON, with `kind` and `apiVersion` first.
    text: Box<str>,
    /// Where the text's resourceVersion stands, without its quotes.
    version_at: Range<usize>,
    /// Where `"metadata"` and its value stand.
    metadata_at: Range<usize>,
}

/// An object that is about to be written.
#[derive(Debug, Clone)]
pub struct Draft {
    /// `metadata`; `resourceVersion` in it is ignored.
    pub metadata: Map<String, Value>,
    /// Every other field but `kind` and `apiVersion`.
    pub fields: Fields,
}

/// The fields beside `metadata`.
#[derive(Debug, Clone)]
pub enum Fields {
    /// Parsed, as from a request.
    Parsed(Map<String, Value>),
    /// Members of a JSON object, without its braces: what the scenario writes by the thousand.
    Text(String),
}

impl Draft {
    /// Takes an object apart; `None` if it is no JSON object with an object for `metadata`.
    pub fn from_value(object: Value) -> Option<Self> {
        let Value::Object(mut fields) = object else { return None };
        fields.remove("kind");
        fields.remove("apiVersion");
        let Some(Value::Object(metadata)) = fields.remove("metadata") else { return None };
        Some(Self { metadata, fields: Fields::Parsed(fields) })
    }

    /// A string of `metadata`; empty if absent.
    pub fn meta(&self, field: &str) -> &str {
        self.metadata.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Serialises it as the version that `revision` makes.
    pub fn into_object(mut self, resource: &Resource, revision: u64) -> Object {
        let namespace: Box<str> = self.meta("namespace").into();
        let name: Box<str> = self.meta("name").into();
        let uid: Arc<str> = self.meta("uid").into();
        let labels = labels_of(&self.metadata);
        let owners = self.metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten();
        let owners = owners.filter_map(|owner| owner["uid"].as_str().map(Arc::from)).collect();
        let mut text = String::with_capacity(4096);
        text.push_str("{\"kind\":\"");
        text.push_str(&resource.kind);
        text.push_str("\",\"apiVersion\":\"");
        text.push_str(&resource.api_version);
        text.push_str("\",");
        let metadata_start = text.len();
        text.push_str("\"metadata\":{");
        let mut version_at = 0..0;
        self.metadata.remove("resourceVersion");
        let ordered = METADATA_ORDER.iter().map(|field| (*field).to_owned());
        let mut others: Vec<String> =
            self.metadata.keys().filter(|key| !METADATA_ORDER.contains(&key.as_str())).cloned().collect();
        others.sort();
        for field in ordered.chain(others) {
            if field == "resourceVersion" {
                separate(&mut text);
                text.push_str("\"resourceVersion\":\"");
                let start = text.len();
                text.push_str(&revision.to_string());
                version_at = start..text.len();
                text.push('"');
            } else if let Some(value) = self.metadata.remove(&field) {
                push_member(&mut text, &field, &value);
            }
        }
        text.push('}');
        let metadata_at = metadata_start..text.len();
        match self.fields {
            Fields::Parsed(fields) => {
                // Sorted by hand: whether a Map keeps its order is up to a feature that any dependency may set.
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(field, _)| *field);
                fields.into_iter().for_each(|(field, value)| push_member(&mut text, field, value));
            }
            Fields::Text(fields) => {
                separate(&mut text);
                text.push_str(&fields);
            }
        }
        text.push('}');
        let key = resource.key(&namespace, &name).into();
        Object { key, namespace, name, uid, revision, owners, labels, text: text.into(), version_at, metadata_at }
    }
}

impl Object {
    /// The whole JSON object, as a GET answers it and a watch carries it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same without kind and apiVersion, which items of a list do not have; its opening brace is missing.
    pub fn item_tail(&self) -> &str {
        &self.text[self.metadata_at.start..]
    }

    /// `"metadata":{…}`.
    pub fn metadata(&self) -> &str {
        &self.text[self.metadata_at.clone()]
    }

    /// Whether it is being deleted.
    pub fn is_leaving(&self) -> bool {
        const MARK: &str = "\"deletionTimestamp\"";
        // The text may say so elsewhere; few texts say it at all.
        self.metadata().contains(MARK) && self.to_value()["metadata"]["deletionTimestamp"].is_string()
    }

    /// The same state under another resourceVersion: what a deletion reports.
    pub fn at_revision(&self, revision: u64) -> Self {
        let version = revision.to_string();
        let text = [&self.text[..self.version_at.start], &version, &self.text[self.version_at.end..]].concat();
        let version_at = self.version_at.start..self.version_at.start + version.len();
        let metadata_end = self.metadata_at.end - self.version_at.len() + version.len();
        Self {
            key: Arc::clone(&self.key),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: Arc::clone(&self.uid),
            revision,
            owners: self.owners.clone(),
            labels: self.labels.clone(),
            text: text.into(),
            version_at,
            metadata_at: self.metadata_at.start..metadata_end,
        }
    }

    /// Whether the other version says the same, resourceVersion aside.
    pub fn is_same_state(&self, other: &Self) -> bool {
        let around = |object: &Self| (object.version_at.start, object.text.len() - object.version_at.end);
        let (start, tail) = around(self);
        (start, tail) == around(other)
            && self.text[..start] == other.text[..start]
            && self.text[self.version_at.end..] == other.text[other.version_at.end..]
    }

    /// Parses the text.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.text).expect("the text was written by this file from parsed JSON")
    }
}

fn labels_of(metadata: &Map<String, Value>) -> Box<[(Box<str>, Box<str>)]> {
    let labels = metadata.get("labels").and_then(Value::as_object);
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
    // Display of a Value is compact JSON and cannot fail for a String.
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

    use super::super::builtin::PODS;
    use super::*;

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
        assert!(object.item_tail().starts_with(r#""metadata":{"name""#));
        let metadata: Value = serde_json::from_str(&format!("{{{}}}", deleted.metadata())).unwrap();
        assert_eq!(
            (&metadata["metadata"]["resourceVersion"], &metadata["metadata"]["zeta"]),
            (&json!("1000"), &json!(1))
        );
        assert_eq!(&*object.key, "shop/web");
    }
}
