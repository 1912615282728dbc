//! What the server fills in when an object is created: the defaults that clients and columns rely on.

use serde_json::{Value, json};

use super::resource::Resource;

/// Fills a new object in. Its status is the server's to say.
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
            pod_spec(object, "/spec", "Always");
            set(object, "/status/phase", "Pending".into());
            set(object, "/status/qosClass", "BestEffort".into());
        }
        "Deployment" => {
            workload(object, "Always");
            default(object, "/spec/revisionHistoryLimit", 10.into());
            default(object, "/spec/progressDeadlineSeconds", 600.into());
            default(object, "/spec/strategy/type", "RollingUpdate".into());
            if object["spec"]["strategy"]["type"] == "RollingUpdate" {
                default(object, "/spec/strategy/rollingUpdate/maxSurge", "25%".into());
                default(object, "/spec/strategy/rollingUpdate/maxUnavailable", "25%".into());
            }
        }
        "ReplicaSet" => workload(object, "Always"),
        "StatefulSet" => {
            workload(object, "Always");
            default(object, "/spec/podManagementPolicy", "OrderedReady".into());
            default(object, "/spec/updateStrategy/type", "RollingUpdate".into());
        }
        "DaemonSet" => {
            pod_spec(object, "/spec/template/spec", "Always");
            default(object, "/spec/updateStrategy/type", "RollingUpdate".into());
        }
        "Job" => {
            pod_spec(object, "/spec/template/spec", "Never");
            for (pointer, value) in [("completions", 1), ("parallelism", 1), ("backoffLimit", 6)] {
                default(object, &format!("/spec/{pointer}"), value.into());
            }
            let uid = object["metadata"]["uid"].clone();
            if object["spec"]["manualSelector"] != true {
                for at in ["/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
                    set(object, &format!("{at}/batch.kubernetes.io~1controller-uid"), uid.clone());
                }
                set(object, "/spec/template/metadata/labels/batch.kubernetes.io~1job-name", name);
            }
        }
        "CronJob" => {
            default(object, "/spec/concurrencyPolicy", "Allow".into());
            default(object, "/spec/suspend", false.into());
        }
        "Service" => {
            default(object, "/spec/type", "ClusterIP".into());
            default(object, "/spec/sessionAffinity", "None".into());
            if object["spec"]["type"] != "ExternalName" {
                // No two are alike until there are fifteen thousand.
                default(object, "/spec/clusterIP", format!("10.97.{}.{}", number / 250 % 250, number % 250 + 1).into());
                let address = object["spec"]["clusterIP"].clone();
                default(object, "/spec/clusterIPs", json!([address]));
            }
            for port in elements(object, "/spec/ports") {
                let target = port["port"].clone();
                default(port, "/protocol", "TCP".into());
                default(port, "/targetPort", target);
            }
            set(object, "/status", json!({"loadBalancer": {}}));
        }
        "Secret" => {
            default(object, "/type", "Opaque".into());
            encode_string_data(object);
        }
        "PersistentVolumeClaim" => set(object, "/status/phase", "Pending".into()),
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

fn workload(object: &mut Value, restart: &str) {
    default(object, "/spec/replicas", 1.into());
    pod_spec(object, "/spec/template/spec", restart);
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
            let newest =
                container["image"].as_str().is_some_and(|image| image.ends_with(":latest") || !image.contains(':'));
            default(container, "/imagePullPolicy", if newest { "Always" } else { "IfNotPresent" }.into());
            default(container, "/resources", json!({}));
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
