//! The names, labels and volumes of a StatefulSet's Pods (`pkg/controller/statefulset/stateful_set_utils.go`).

use serde_json::{Value, json};

use super::super::history::REVISION_HASH;
use super::super::{object, pod};
use super::Version;

/// The label with the name of a Pod, so that a Service can select this Pod alone.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
/// The label with the ordinal of a Pod.
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

pub fn pod_name(set: &Value, ordinal: usize) -> String {
    format!("{}-{ordinal}", object::name(set))
}

/// The ordinal of a Pod; `None` if its name is not that of a Pod of this StatefulSet.
pub fn ordinal(set: &Value, pod: &Value) -> Option<usize> {
    let number = object::name(pod).strip_prefix(object::name(set))?.strip_prefix('-')?;
    let ordinal = number.parse().ok()?;
    (number == format!("{ordinal}")).then_some(ordinal)
}

/// Whether the phase is Running.
pub fn is_running(pod: &Value) -> bool {
    object::text(pod, "/status/phase") == "Running"
}

/// The name of a Pod's claim for one of the `volumeClaimTemplates`.
fn claim_name(set: &Value, template: &Value, ordinal: usize) -> String {
    format!("{}-{}-{ordinal}", object::name(template), object::name(set))
}

fn claim_templates(set: &Value) -> impl Iterator<Item = &Value> {
    set["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten()
}

/// A Pod to create.
pub fn new_pod(set: &Value, version: &Version, ordinal: usize) -> Value {
    let mut pod = pod::from_template(&version.template, set, object::name(set));
    let name = pod_name(set, ordinal);
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.remove("generateName");
    }
    object::set(&mut pod, &["metadata", "name"], name.as_str().into());
    object::set(&mut pod, &["metadata", "labels", REVISION_HASH], version.name.as_str().into());
    identify(set, &mut pod, &name, ordinal);
    object::set(&mut pod, &["spec", "hostname"], name.into());
    if let Some(service) = set["spec"]["serviceName"].as_str().filter(|service| !service.is_empty()) {
        object::set(&mut pod, &["spec", "subdomain"], service.into());
    }
    pod
}

/// Restores the labels and volumes of a Pod (`updateIdentity`, `updateStorage`).
pub fn identify(set: &Value, pod: &mut Value, name: &str, ordinal: usize) {
    object::set(pod, &["metadata", "labels", POD_NAME], name.into());
    object::set(pod, &["metadata", "labels", POD_INDEX], ordinal.to_string().into());
    let mut volumes: Vec<Value> = Vec::new();
    for template in claim_templates(set) {
        let claim = json!({"claimName": claim_name(set, template, ordinal)});
        volumes.push(json!({"name": object::name(template), "persistentVolumeClaim": claim}));
    }
    if volumes.is_empty() {
        return;
    }
    let others = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    let is_other = |volume: &Value| volumes.iter().all(|own| own["name"] != volume["name"]);
    let others: Vec<Value> = others.into_iter().filter(is_other).collect();
    volumes.extend(others);
    object::set(pod, &["spec", "volumes"], volumes.into());
}

/// The claims of a Pod, to be created where they are missing. Claims that are deleted with the StatefulSet are owned by
/// it.
pub fn claims(set: &Value, ordinal: usize) -> Vec<Value> {
    let claim = |template: &Value| {
        let mut metadata = object::part(template, "metadata");
        metadata["name"] = claim_name(set, template, ordinal).into();
        metadata["namespace"] = object::namespace(set).into();
        for (label, value) in set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten() {
            object::set(&mut metadata, &["labels", label], value.clone());
        }
        if object::text(set, "/spec/persistentVolumeClaimRetentionPolicy/whenDeleted") == "Delete" {
            metadata["ownerReferences"] = json!([object::controller_reference(set)]);
        }
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": template["spec"]})
    };
    claim_templates(set).map(claim).collect()
}

/// Whether claims are deleted when the StatefulSet is scaled down.
pub fn drops_claims(set: &Value) -> bool {
    object::text(set, "/spec/persistentVolumeClaimRetentionPolicy/whenScaled") == "Delete"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<usize>) {
        let set = json!({"metadata": {"name": "web"}});
        assert_eq!(ordinal(&set, &json!({"metadata": {"name": name}})), expected, "{name}");
    }

    #[test]
    fn ordinals_are_read_from_names() {
        check("web-0", Some(0));
        check("web-12", Some(12));
        check("web-012", None);
        check("web-", None);
        check("web-a", None);
        check("web-+1", None);
        check("web-2-1", None);
        check("db-1", None);
    }
}
