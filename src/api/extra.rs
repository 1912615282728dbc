//! What is kept of an object beside its columns, if someone asks for it: owners, labels, the whole text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::api::object::{DecodeError, Object, map};
use crate::api::owner::{Owner, OwnerReference, share};
use crate::api::text::Text;

/// What to keep of each object. Nothing, unless it is needed: 150,000 Pods have a million labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// `metadata.ownerReferences`.
    pub owners: bool,
    /// `metadata.labels`.
    pub labels: bool,
    /// All of the object's JSON, as the server sent it.
    pub text: bool,
}

/// What was kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    owners: Option<Arc<[OwnerReference]>>,
    labels: Box<[(Box<str>, Box<str>)]>,
    text: Option<Box<str>>,
}

impl Object {
    /// The owners, if they were kept.
    pub fn owners(&self) -> &[OwnerReference] {
        self.extra.as_ref().and_then(|extra| extra.owners.as_deref()).unwrap_or_default()
    }

    /// The labels, sorted, if they were kept.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.extra.iter().flat_map(|extra| &extra.labels).map(|(name, value)| (&**name, &**value))
    }

    /// The value of a label, if labels were kept and it has that one.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels().find(|(label, _)| *label == name).map(|(_, value)| value)
    }

    /// The JSON of the object, if it was kept.
    pub fn text(&self) -> Option<&str> {
        self.extra.as_ref()?.text.as_deref()
    }
}

impl Extra {
    /// Owners and nothing else; `None` where there are none.
    pub(super) fn of_owners(owners: Option<Arc<[OwnerReference]>>) -> Option<Box<Extra>> {
        owners.map(|owners| Box::new(Extra { owners: Some(owners), ..Extra::default() }))
    }
}

/// Reads what shall be kept; `None` where nothing shall.
///
/// # Errors
///
/// When the metadata cannot be read.
pub fn extra(text: &str, keep: Keep) -> Result<Option<Box<Extra>>, DecodeError> {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Metadata<'a> {
        #[serde(borrow)]
        labels: Option<BTreeMap<Text<'a>, Text<'a>>>,
        #[serde(borrow)]
        owner_references: Option<Vec<Owner<'a>>>,
    }
    if keep == Keep::default() {
        return Ok(None);
    }
    let mut extra = Extra { text: keep.text.then(|| text.trim_ascii().into()), ..Extra::default() };
    if keep.owners || keep.labels {
        let Metadata { labels, owner_references } = serde_json::from_str::<Whole<'_>>(map(text)?)?.metadata;
        if let Some(labels) = labels.filter(|_| keep.labels) {
            extra.labels = labels.iter().map(|(name, value)| ((&**name).into(), (&**value).into())).collect();
        }
        extra.owners = owner_references.filter(|_| keep.owners).and_then(|owners| share(&owners));
    }
    Ok(Some(Box::new(extra)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::decode_metadata;

    #[test]
    fn what_is_asked_for_is_kept_and_nothing_else() {
        let text = r#"{"metadata":{"name":"a","labels":{"b":"2","a":"1"},
            "ownerReferences":[{"kind":"ReplicaSet","name":"r","uid":"u","controller":true},{"uid":"v"}]}}"#;
        let kept = |keep| {
            let mut object = decode_metadata(text).unwrap();
            object.extra = extra(text, keep).unwrap();
            let owners: Vec<String> =
                object.owners().iter().map(|owner| format!("{}/{}={}", owner.kind, owner.name, owner.uid)).collect();
            let labels: Vec<String> = object.labels().map(|(name, value)| format!("{name}={value}")).collect();
            (owners.join(" "), labels.join(" "), object.text() == Some(text))
        };
        let nothing = Keep::default();
        assert_eq!(kept(nothing), (String::new(), String::new(), false));
        assert_eq!(kept(Keep { owners: true, ..nothing }).0, "ReplicaSet/r=u /=v");
        assert_eq!(kept(Keep { labels: true, ..nothing }).1, "a=1 b=2");
        assert!(kept(Keep { text: true, ..nothing }).2);
        let odd = r#"{"metadata":{"labels":null,"ownerReferences":null}}"#;
        assert_eq!(extra(odd, Keep { owners: true, labels: true, text: false }).unwrap(), Some(Box::default()));
        assert!(extra(r#"{"metadata":{"labels":7}}"#, Keep { labels: true, ..nothing }).is_err());
    }
}
