//! What is kept of an object on demand: owners, labels, the whole text.

use std::collections::BTreeMap;

use crate::api::object::{DecodeError, Extra, Object};
use crate::api::owner::OwnerReference;
use crate::api::time::Timestamp;
use crate::api::uid::Uid;
use crate::json::{self, Text};

/// What to keep of each object on demand. By default that is nothing, for 150,000 Pods have a million labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// `metadata.ownerReferences`.
    pub owners: bool,
    /// `metadata.labels`.
    pub labels: bool,
    /// All of the object's JSON, as the server sent it.
    pub text: bool,
}

impl Object {
    /// The owners, if they were kept.
    pub fn owners(&self) -> &[OwnerReference] {
        self.owners.as_ref().map_or(&[], |owners| owners)
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

    /// The uid of the object that a Kubernetes Event is about, if the Event has it. It is a UUID.
    pub fn regarding(&self) -> Option<&Uid> {
        self.extra.as_ref()?.regarding.as_ref()
    }

    /// When the object is to be gone, if somebody asked for that.
    pub fn deletion(&self) -> Option<Timestamp> {
        self.extra.as_ref()?.deletion
    }

    /// Notes the uid of the object that a Kubernetes Event is about. A text that is no UUID is the uid of no object: as uid of
    /// a Node a kubelet writes its name (`getNodeRef` in `pkg/kubelet/kubelet.go`), and as that of a Pod that it reads from a
    /// file, a hash of the file.
    pub fn set_regarding(&mut self, uid: &str) {
        let uid = Uid::new(uid);
        if uid.is_uuid() {
            self.extra.get_or_insert_default().regarding = Some(uid);
        }
    }

    /// Keeps what `keep` asks for of `text`, from which the object was read. The owners were read with the rest of the
    /// metadata, and are dropped here unless `keep` asks for them.
    ///
    /// # Errors
    ///
    /// When the metadata cannot be read.
    pub fn keep(&mut self, text: &str, keep: Keep) -> Result<(), DecodeError> {
        if !keep.owners {
            self.owners = None;
        }
        if !keep.labels && !keep.text {
            return Ok(());
        }
        let known = self.extra.take().map(|extra| *extra).unwrap_or_default();
        let mut extra = Extra { text: keep.text.then(|| text.trim_ascii().into()), ..known };
        if keep.labels {
            let [labels, ..] = json::pick(text, &["metadata labels"])?;
            let mut values = BTreeMap::new();
            json::each_member(labels, &mut |name, value| {
                values.insert(Box::from(name), value);
            })?;
            let label = |(name, value)| Text::read(value).map(|value| (name, Box::from(&*value)));
            extra.labels = values.into_iter().map(label).collect::<serde_json::Result<_>>()?;
        }
        self.extra = Some(Box::new(extra));
        Ok(())
    }
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
            object.keep(text, keep).unwrap();
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
        let odd = r#"{"metadata":{"name":"a","labels":null,"ownerReferences":null}}"#;
        let mut object = decode_metadata(odd).unwrap();
        object.keep(odd, Keep { owners: true, labels: true, text: false }).unwrap();
        assert_eq!((object.owners().len(), object.labels().count(), object.text()), (0, 0, None));
        let uid = "0b1f6f7e-7c3a-4d7e-9a3e-2f1d5c6b7a89";
        for (text, expected) in
            [("node-a", None), ("", None), ("0b1f6f7e7c3a4d7e9a3e2f1d5c6b7a89", None), (uid, Some(uid))]
        {
            object.set_regarding(text);
            object.keep(odd, Keep { text: true, ..nothing }).unwrap();
            assert_eq!(object.regarding().map(ToString::to_string).as_deref(), expected);
        }
        assert!(object.keep(r#"{"metadata":{"labels":7}}"#, Keep { labels: true, ..nothing }).is_err());
    }
}
