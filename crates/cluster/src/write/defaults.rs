//! The defaults that the server fills in: those that clients and columns rely on.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::resources::resource::Resource;
use crate::write::qos;

/// Completes a new object. A client cannot set its status. `number` makes addresses distinct.
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
            tolerate_node_failures(object);
            complete_spec(resource, object);
            // The admission plugin ServiceAccount; but a missing account is no reason to refuse a Pod here.
            if object.pointer("/spec/serviceAccountName").and_then(Value::as_str).is_none_or(str::is_empty) {
                set(object, "/spec/serviceAccountName", "default".into());
                same_account(object, "/spec");
            }
            let class = qos::class(&object["spec"]);
            set(object, "/status/qosClass", class.into());
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
                // The addresses are distinct for the first sixty thousand numbers.
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
        "PersistentVolumeClaim" | "PersistentVolume" => set(object, "/status/phase", "Pending".into()),
        _ => {}
    }
    complete_spec(resource, object);
}

/// Fills in defaults of a spec, for a new object or a new spec.
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
            for claim in elements(object, "/spec/volumeClaimTemplates") {
                default(claim, "/apiVersion", "v1".into());
                default(claim, "/kind", "PersistentVolumeClaim".into());
                default(claim, "/spec/volumeMode", "Filesystem".into());
                default(claim, "/status/phase", "Pending".into());
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
            // With a limit per index, failures do not count together; and a Pod that a policy ignores is not replaced
            // before it has ended.
            let is_set = |pointer: &str| object.pointer(pointer).is_some_and(|value| !value.is_null());
            let limit = if is_set("/spec/backoffLimitPerIndex") { i32::MAX } else { 6 };
            let replaced = if is_set("/spec/podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
            let fields = [
                ("backoffLimit", json!(limit)),
                ("completionMode", json!("NonIndexed")),
                ("manualSelector", json!(false)),
                ("parallelism", json!(1)),
                ("podReplacementPolicy", json!(replaced)),
                ("suspend", json!(false)),
            ];
            // Without either number one Pod must complete; with a parallelism alone, any one Pod.
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
        "HorizontalPodAutoscaler" => {
            fill("minReplicas", 1.into());
            let target = json!({"type": "Utilization", "averageUtilization": 80});
            fill("metrics", json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]));
        }
        "PersistentVolumeClaim" => fill("volumeMode", "Filesystem".into()),
        "PersistentVolume" => {
            fill("persistentVolumeReclaimPolicy", "Retain".into());
            fill("volumeMode", "Filesystem".into());
        }
        "Secret" => {
            default(object, "/type", "Opaque".into());
            encode_string_data(object);
        }
        _ => {}
    }
}

/// Moves `stringData` into `data`: a Secret is written with the former and read with the latter.
pub fn encode_string_data(secret: &mut Value) {
    let Some(Value::Object(plain)) = secret.as_object_mut().and_then(|fields| fields.remove("stringData")) else {
        return;
    };
    for (name, value) in plain {
        if let Value::String(value) = value {
            let name = name.replace('~', "~0").replace('/', "~1");
            set(secret, &format!("/data/{name}"), STANDARD.encode(value).into());
        }
    }
}

/// Adds the tolerations with which a Pod stays on a failed node for five minutes (the admission plugin
/// DefaultTolerationSeconds).
fn tolerate_node_failures(pod: &mut Value) {
    let known = pod.pointer("/spec/tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut all = known.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |one: &Value| {
            let text = |field: &str| one[field].as_str().unwrap_or_default();
            ["", key].contains(&text("key")) && ["", "NoExecute"].contains(&text("effect"))
        };
        if !known.iter().any(tolerates) {
            all.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
    set(pod, "/spec/tolerations", all.into());
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
    same_account(object, pointer);
    for list in ["containers", "initContainers"] {
        for container in elements(object, &format!("{pointer}/{list}")) {
            let newest = container
                .get("image")
                .and_then(Value::as_str)
                .is_some_and(|image| image.ends_with(":latest") || !image.contains(':'));
            default(container, "/imagePullPolicy", if newest { "Always" } else { "IfNotPresent" }.into());
            default(container, "/resources", json!({}));
            // A resource with a limit and no request gets its limit as the request.
            let limits = container.pointer("/resources/limits").and_then(Value::as_object).cloned();
            for (name, limit) in limits.unwrap_or_default() {
                let name = name.replace('~', "~0").replace('/', "~1");
                default(container, &format!("/resources/requests/{name}"), limit);
            }
            default(container, "/terminationMessagePath", "/dev/termination-log".into());
            default(container, "/terminationMessagePolicy", "File".into());
            for port in elements(container, "/ports") {
                default(port, "/protocol", "TCP".into());
            }
        }
    }
}

/// Sets the account under its deprecated field name too, which may also be the only one that is given
/// (`pkg/apis/core/v1/conversion.go`).
fn same_account(object: &mut Value, pointer: &str) {
    let [new, old] = ["serviceAccountName", "serviceAccount"].map(|field| format!("{pointer}/{field}"));
    let said = |field| object.pointer(field).and_then(Value::as_str).filter(|name| !name.is_empty());
    if let Some(name) = said(&new).or_else(|| said(&old)).map(str::to_owned) {
        set(object, &new, name.as_str().into());
        set(object, &old, name.into());
    }
}

/// The elements of a list that are objects.
fn elements<'a>(object: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.pointer_mut(pointer).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter(|one| one.is_object())
}

/// Sets a field that is missing, unless an ancestor is not an object.
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
