//! One Pod in our form, read from the same JSON as kube's types; the names are those of the event.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_columns::kinds;

use crate::stream::Pod;

/// A small Pod: five labels, one owner, one container, four conditions, no managed fields.
pub const JSON: &str = include_str!("pod.json");

/// Makes our objects.
pub struct Pods {
    ours: Object,
}

impl Pods {
    pub fn new() -> Pods {
        let decode = kinds::kind("pods").expect("the table knows Pods").decode;
        Pods { ours: decode.read(JSON).expect("it is a Pod") }
    }

    /// Our object, which shares no memory with others.
    pub fn ours(&self, pod: Pod) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new(&namespace(pod), &name(pod)),
            uid: uid(pod).into(),
            resource_version: ResourceVersion::new(&pod.version.to_string()),
            ..self.ours.clone()
        })
    }
}

pub fn namespace(pod: Pod) -> String {
    format!("team-{:02}", pod.name % 50)
}

pub fn name(pod: Pod) -> String {
    format!("checkout-7d4b9c8f6d-{:06x}", pod.name)
}

pub fn uid(pod: Pod) -> String {
    format!("{:08x}-1f2e-4d3c-8b4a-{:012x}", pod.name, pod.life)
}
