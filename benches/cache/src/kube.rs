//! The same Pod in types that users of kube have.

pub use k8s_openapi::api::core::v1::Pod as TypedPod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::PartialObjectMeta;
use kube_runtime::reflector::Lookup;
use serde::de::DeserializeOwned;

use crate::pods::{JSON, name, namespace, uid};
use crate::stream::Pod;

/// Metadata only: the smallest type.
pub type MetadataPod = PartialObjectMeta<TypedPod>;

/// One of the types.
pub trait Kube: Lookup<DynamicType = ()> + Clone + DeserializeOwned + 'static {
    fn metadata(&mut self) -> &mut ObjectMeta;
}

impl Kube for TypedPod {
    fn metadata(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Kube for MetadataPod {
    fn metadata(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Makes kube's objects.
pub struct KubePods<K>(K);

impl<K: Kube> KubePods<K> {
    pub fn new() -> KubePods<K> {
        KubePods(serde_json::from_str(JSON).expect("it is a Pod"))
    }

    pub fn make(&self, pod: Pod) -> K {
        let mut object = self.0.clone();
        let metadata = object.metadata();
        metadata.namespace = Some(namespace(pod));
        metadata.name = Some(name(pod));
        metadata.uid = Some(uid(pod));
        metadata.resource_version = Some(pod.version.to_string());
        object
    }
}
