//! The trigger of a resource: the field whose value most watches ask for. An event is handed only to the watches that
//! ask for its value.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;

/// A field that selects the watches of an event. The real server's `IndexerFuncs` name the same fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trigger {
    /// The node of a Pod: every kubelet watches its own Pods.
    NodeName,
    /// The name of an object: every kubelet watches its own Node, and the Secrets and ConfigMaps that its Pods use, by
    /// name.
    Name,
}

/// The fields of a Pod that the trigger reads.
#[derive(Deserialize)]
struct Pod<'a> {
    #[serde(borrow)]
    spec: Option<PodSpec<'a>>,
}

#[derive(Deserialize)]
struct PodSpec<'a> {
    #[serde(borrow, default, rename = "nodeName")]
    node_name: Cow<'a, str>,
}

/// The spec of a Pod. It follows the metadata directly unless a client has written another field in between.
fn pod_spec(object: &Object) -> Option<PodSpec<'_>> {
    match object.after_metadata().strip_prefix(",\"spec\":") {
        Some(rest) => serde_json::Deserializer::from_str(rest).into_iter().next()?.ok(),
        None => serde_json::from_str::<Pod<'_>>(object.raw()).ok()?.spec,
    }
}

impl Trigger {
    /// The trigger of a resource, if it has one.
    pub fn of(resource: &Resource) -> Option<Self> {
        match (resource.group(), &*resource.plural) {
            ("", "pods") => Some(Self::NodeName),
            ("", "secrets" | "configmaps" | "nodes") => Some(Self::Name),
            _ => None,
        }
    }

    /// Whether the cache also indexes objects by this field. A name needs no index: it is part of the key.
    pub fn is_index(self) -> bool {
        self == Self::NodeName
    }

    /// An object's value.
    pub fn value(self, object: &Object) -> Arc<str> {
        match self {
            Self::Name => Arc::from(&*object.name),
            Self::NodeName => pod_spec(object).map_or_else(|| Arc::from(""), |spec| Arc::from(&*spec.node_name)),
        }
    }

    /// The value that a filter asks for, if it asks for exactly one.
    pub fn asked(self, filter: &Filter) -> Option<&str> {
        required(
            filter,
            match self {
                Self::NodeName => "spec.nodeName",
                Self::Name => "metadata.name",
            },
        )
    }
}

/// The value that a filter requires of a field.
pub fn required<'a>(filter: &'a Filter, field: &str) -> Option<&'a str> {
    let found = filter.fields.requirements().iter().find(|one| one.field() == field && one.is_equality())?;
    Some(found.value())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::resources::builtin::PODS;
    use crate::resources::object::Draft;

    #[test]
    fn a_pod_is_of_its_node_wherever_that_stands() {
        let check = |fields: Value, expected: &str| {
            let mut value = json!({"metadata": {"name": "web", "namespace": "shop"}});
            value.as_object_mut().unwrap().append(fields.clone().as_object_mut().unwrap());
            let object = Draft::from_value(value).unwrap().into_object(&PODS, 1);
            assert_eq!(&*Trigger::NodeName.value(&object), expected, "{fields}");
        };
        check(json!({"spec": {"nodeName": "n1"}, "status": {"nodeName": "x"}}), "n1");
        check(json!({"aaa": {"nodeName": "x"}, "spec": {"a": [{"nodeName": "x"}], "nodeName": "n1"}}), "n1");
        check(json!({"spec": {"nodeName": "a\"b"}}), "a\"b");
        for fields in [json!({}), json!({"spec": {}}), json!({"spec": null}), json!({"spec": {"nodeName": 7}})] {
            check(fields, "");
        }
    }
}
