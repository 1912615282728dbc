//! The versions of an object that this session received, each with what it changed.

use serde::de::IgnoredAny;

use kubechurn_changes::writer::{InferredWriter, of_change};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::history::who::By;
use crate::history::{Entry, Version};
use crate::inspector::diff::{Diff, diff};

/// A version in relation to the one before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The object was created: there was nothing before it.
    Created,
    /// A list brought the version, and no older version is known.
    Listed,
    /// The version before it is kept: its resourceVersion, and the differences.
    Diff(String, Diff),
    /// The version before it is not kept, and so the changes are not known.
    Alone,
    /// The object is missing from a list: no frame reported its deletion.
    Unseen,
    /// Its text cannot be read.
    Unreadable(String),
}

/// One version, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownVersion {
    /// The sequence number among everything that was received.
    pub sequence: u64,
    /// What happened to the object.
    pub delta_type: DeltaType,
    /// When the version was received, in milliseconds since 1970.
    pub at: f64,
    /// The same as a time of day, by the clock of whoever shows it.
    pub time: String,
    /// Its resourceVersion.
    pub resource_version: String,
    /// The uid, which distinguishes objects that had the name one after the other.
    pub uid: Uid,
    /// Who seems to have written it.
    pub writers: Vec<String>,
    /// Who made the request, where that is certain.
    pub by: Option<By>,
    /// What changed.
    pub body: Body,
}

/// Reads a version of an object of a kind, such as `Pod`, and compares it with the one that is kept before it, if any.
pub fn show(kind: &str, version: &Version, before: Option<&Version>) -> ShownVersion {
    let before = before.filter(|before| before.entry.uid == version.entry.uid);
    let text = before.and_then(|before| before.text.as_deref());
    let writers = of_change(version.entry.delta_type, text, version.text.as_deref());
    let body = read(kind, version, before);
    let Entry { sequence, at, delta_type, .. } = version.entry;
    ShownVersion {
        sequence,
        delta_type,
        at,
        time: String::new(),
        resource_version: version.entry.resource_version.to_string(),
        uid: version.entry.uid.clone(),
        writers: writers.iter().map(|writer| InferredWriter::name(writer).to_string()).collect(),
        by: None,
        body,
    }
}

fn read(kind: &str, version: &Version, before: Option<&Version>) -> Body {
    let Some(text) = &version.text else {
        return match version.entry.delta_type {
            DeltaType::Deleted => Body::Unseen,
            _ => Body::Unreadable(String::from("its text is no JSON object")),
        };
    };
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return Body::Unreadable(error.to_string());
    }
    match (before, version.entry.delta_type) {
        (Some(Version { entry, text: Some(old) }), _) => match diff(kind, old, text) {
            Ok(diff) => Body::Diff(entry.resource_version.to_string(), diff),
            Err(error) => Body::Unreadable(error.to_string()),
        },
        (None, DeltaType::Added) => Body::Created,
        (None, DeltaType::Replaced | DeltaType::Sync) => Body::Listed,
        _ => Body::Alone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspector::diff::{Change, FieldChange, Rewrite};
    use kubechurn_client::api::object::ResourceVersion;

    fn version(delta_type: DeltaType, uid: &str, text: Option<&str>) -> Version {
        let entry = Entry {
            sequence: 3,
            at: 0.0,
            delta_type,
            uid: uid.into(),
            resource_version: ResourceVersion::new("7"),
            has_text: text.is_some(),
        };
        Version { entry, text: text.map(Into::into) }
    }

    #[test]
    fn a_version_shows_what_it_changed_or_why_that_is_not_known() {
        let before = version(DeltaType::Replaced, "u", Some(r#"{"a":1}"#));
        let after = |delta_type, text| version(delta_type, "u", Some(text));
        let changed = Diff {
            changes: vec![FieldChange { path: "a".into(), change: Change::Changed(Rewrite::of(&1.into(), &2.into())) }],
            ..Diff::default()
        };
        for (version, before, expected) in [
            (after(DeltaType::Added, "{}"), None, Body::Created),
            (after(DeltaType::Replaced, "{}"), None, Body::Listed),
            (after(DeltaType::Updated, "{}"), None, Body::Alone),
            (after(DeltaType::Deleted, "{}"), None, Body::Alone),
            (after(DeltaType::Updated, r#"{"a":2}"#), Some(&before), Body::Diff("7".into(), changed)),
            (version(DeltaType::Deleted, "u", None), Some(&before), Body::Unseen),
            (version(DeltaType::Added, "new life", Some("{}")), Some(&before), Body::Created),
        ] {
            assert_eq!(show("X", &version, before).body, expected);
        }
        assert!(matches!(show("X", &after(DeltaType::Updated, "{"), Some(&before)).body, Body::Unreadable(_)));
    }
}
