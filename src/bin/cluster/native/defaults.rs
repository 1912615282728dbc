//! What the server fills in when an object is created: the defaults that clients and columns rely on.

use serde_json::{Value, json};

use super::resource::Resource;

/// Fills a new object in. Its status is the server's to say. The number makes addresses differ.
pub fn complete(resource: &Resource, object: &mut Value, number: u64) {
    if resource.is_custom() {
        return;
    }
    let name = object["metadata"]["name"].clone();
    match &*resource.kind {
        "Namespace" => {
            set(object, "/metadata/labels/kubernetes.io~1metadata.name", name);
            set(object, "/spec/finalizers", json!(["kubernetes"]));
            set(object, "/status/phase", "Active".into());
        }
        "Pod" => {
            set(object, "/status/phase", "Pending".into());
            set(object, "/status/qosClass", "BestEffort".into());
        }
        "Job" if object.pointer("/spec/manualSelector") != Some(&json!(true)) => {
            let uid = object["metadata"]["uid"].clone();
            set(object, "/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid", uid.clone());
            for prefix in ["", "batch.kubernetes.io~1"] {
                set(object, &format!("/spec/template/metadata/labels/{prefix}controller-uid"), uid.clone());
                set(object, &format!("/spec/template/metadata/labels/{prefix}job-name"), name.clone());
            }
            let labels = object.pointer("/spec/template/metadata/labels").cloned();
            default(object, "/metadata/labels", labels.unwrap_or_default());
        }
        "Service" => {
            let external = object.pointer("/spec/type").is_some_and(|kind| kind == "ExternalName");
            if !external {
                // No two are alike until there are sixty thousand.
                let address = format!("10.97.{}.{}", number / 250 % 250, number % 250 + 1);
                default(object, "/spec/clusterIP", address.into());
                let address = object.pointer("/spec/clusterIP").cloned().unwrap_or_default();
                default(object, "/spec/clusterIPs", json!([address]));
                default(object, "/spec/ipFamilies", json!(["IPv4"]));
                default(object, "/spec/ipFamilyPolicy", "SingleStack".into());
            }
            if object.pointer("/spec/type").is_some_and(|kind| kind == "NodePort" || kind == "LoadBalancer") {
                for (place, port) in elements(object, "/spec/ports").enumerate() {
                    default(port, "/nodePort", (30_000 + (number + place as u64) % 2768).into());
                }
            }
            set(object, "/status", json!({"loadBalancer": {}}));
        }
        "PersistentVolumeClaim" => set(object, "/status/phase", "Pending".into()),
        _ => {}
    }
    complete_spec(resource, object);
}

/// Fills in what a spec does not say, of a new object or of one that has a new spec.
pub fn complete_spec(resource: &Resource, object: &mut Value) {
    if resource.is_custom() {
        return;
    }
    let mut fill = |pointer: &str, value: Value| default(object, &format!("/spec/{pointer}"), value);
    match &*resource.kind {
        "Pod" => pod_spec(object, "/spec", "Always"),
        "Deployment" => {
            fill("replicas", 1.into());
            fill("revisionHistoryLimit", 10.into());
            fill("progressDeadlineSeconds", 600.into());
            fill("strategy/type", "RollingUpdate".into());
            if object.pointer("/spec/strategy/type").is_some_and(|kind| kind == "RollingUpdate") {
                default(object, "/spec/strategy/rollingUpdate/maxSurge", "25%".into());
                default(object, "/spec/strategy/rollingUpdate/maxUnavailable", "25%".into());
            }
            pod_spec(object, "/spec/template/spec", "Always");
        }
        "ReplicaSet" => {
            fill("replicas", 1.into());
            pod_spec(object, "/spec/template/spec", "Always");
        }
        "StatefulSet" => {
            fill("replicas", 1.into());
            fill("serviceName", "".into());
            fill("podManagementPolicy", "OrderedReady".into());
            fill("revisionHistoryLimit", 10.into());
            let kept = json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
            fill("persistentVolumeClaimRetentionPolicy", kept);
            fill("updateStrategy/type", "RollingUpdate".into());
            if object.pointer("/spec/updateStrategy/type").is_some_and(|kind| kind == "RollingUpdate") {
                default(object, "/spec/updateStrategy/rollingUpdate/partition", 0.into());
            }
            pod_spec(object, "/spec/template/spec", "Always");
        }
        "DaemonSet" => {
            fill("revisionHistoryLimit", 10.into());
            fill("updateStrategy/type", "RollingUpdate".into());
            if object.pointer("/spec/updateStrategy/type").is_some_and(|kind| kind == "RollingUpdate") {
                default(object, "/spec/updateStrategy/rollingUpdate/maxSurge", 0.into());
                default(object, "/spec/updateStrategy/rollingUpdate/maxUnavailable", 1.into());
            }
            pod_spec(object, "/spec/template/spec", "Always");
        }
        "Job" => {
            let fields = [
                ("backoffLimit", json!(6)),
                ("completionMode", json!("NonIndexed")),
                ("manualSelector", json!(false)),
                ("parallelism", json!(1)),
                ("podReplacementPolicy", json!("TerminatingOrFailed")),
                ("suspend", json!(false)),
            ];
            // Without either number, one Pod that completes is enough; with a parallelism, any.
            if object.pointer("/spec/parallelism").is_none() {
                default(object, "/spec/completions", 1.into());
            }
            for (field, value) in fields {
                default(object, &format!("/spec/{field}"), value);
            }
            pod_spec(object, "/spec/template/spec", "Always");
        }
        "CronJob" => {
            fill("concurrencyPolicy", "Allow".into());
            fill("suspend", false.into());
            fill("successfulJobsHistoryLimit", 3.into());
            fill("failedJobsHistoryLimit", 1.into());
            fill("jobTemplate/metadata", json!({}));
            pod_spec(object, "/spec/jobTemplate/spec/template/spec", "Always");
        }
        "Service" => {
            fill("type", "ClusterIP".into());
            fill("sessionAffinity", "None".into());
            let kind = object.pointer("/spec/type").and_then(Value::as_str).unwrap_or_default().to_owned();
            if kind != "ExternalName" {
                default(object, "/spec/internalTrafficPolicy", "Cluster".into());
            }
            if ["NodePort", "LoadBalancer"].contains(&kind.as_str()) {
                default(object, "/spec/externalTrafficPolicy", "Cluster".into());
            }
            if kind == "LoadBalancer" {
                default(object, "/spec/allocateLoadBalancerNodePorts", true.into());
            }
            for port in elements(object, "/spec/ports") {
                let target = port.get("port").cloned().unwrap_or_default();
                default(port, "/protocol", "TCP".into());
                default(port, "/targetPort", target);
            }
        }
        "Secret" => {
            default(object, "/type", "Opaque".into());
            encode_string_data(object);
        }
        _ => {}
    }
}

/// `stringData` is how one writes a Secret, and never how one reads it.
pub fn encode_string_data(secret: &mut Value) {
    let Some(Value::Object(plain)) = secret.as_object_mut().and_then(|fields| fields.remove("stringData")) else {
        return;
    };
    for (name, value) in plain {
        if let Value::String(value) = value {
            let name = name.replace('~', "~0").replace('/', "~1");
            set(secret, &format!("/data/{name}"), super::base64::encode_standard(value.as_bytes()).into());
        }
    }
}

fn pod_spec(object: &mut Value, pointer: &str, restart: &str) {
    for (field, value) in [
        ("restartPolicy", json!(restart)),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
    ] {
        default(object, &format!("{pointer}/{field}"), value);
    }
    for list in ["containers", "initContainers"] {
        for container in elements(object, &format!("{pointer}/{list}")) {
            let newest = container
                .get("image")
                .and_then(Value::as_str)
                .is_some_and(|image| image.ends_with(":latest") || !image.contains(':'));
            default(container, "/imagePullPolicy", if newest { "Always" } else { "IfNotPresent" }.into());
            default(container, "/resources", json!({}));
            default(container, "/terminationMessagePath", "/dev/termination-log".into());
            default(container, "/terminationMessagePolicy", "File".into());
            for port in elements(container, "/ports") {
                default(port, "/protocol", "TCP".into());
            }
        }
    }
}

/// The elements of a list that are objects.
fn elements<'a>(object: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.pointer_mut(pointer).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter(|one| one.is_object())
}

/// Sets a field where nothing is; and nothing where an ancestor is no object.
fn default(object: &mut Value, pointer: &str, value: Value) {
    if object.pointer(pointer).is_none_or(Value::is_null) {
        set(object, pointer, value);
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    for field in pointer.split('/').skip(1).map(|field| field.replace("~1", "/").replace("~0", "~")) {
        if place.is_null() {
            *place = json!({});
        }
        let Value::Object(fields) = place else { return };
        place = fields.entry(field).or_insert(Value::Null);
    }
    *place = value;
}
