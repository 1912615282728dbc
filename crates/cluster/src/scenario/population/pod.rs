//! Pods as JSON: metadata, spec and the status of each state.

use serde_json::{Map, Value, json};

use super::model::{Container, Node, Pod, PodState, Template};
use crate::clock::timestamp;
use crate::resources::object::{Draft, Fields};

/// A new Pod.
pub fn draft(template: &Template, pod: &Pod, nodes: &[Node]) -> Draft {
    let created = timestamp(pod.created);
    let mut metadata = Map::new();
    let mut set = |field: &str, value: Value| metadata.insert(field.to_owned(), value);
    set("name", pod.name.as_str().into());
    set("generateName", template.prefix.as_str().into());
    set("namespace", template.namespace.as_str().into());
    set("uid", pod.uid.as_str().into());
    set("generation", 1.into());
    set("creationTimestamp", created.as_str().into());
    set("labels", template.labels.clone());
    set("ownerReferences", json!([template.owner]));
    set("managedFields", managed_fields(template, &created));
    let spec = spec(template, pod, nodes);
    let status = status(pod, nodes);
    Draft { metadata, fields: Fields::Text(format!("\"spec\":{spec},\"status\":{status}")) }
}

fn spec(template: &Template, pod: &Pod, nodes: &[Node]) -> Value {
    let token = format!("kube-api-access-{}", &pod.uid[..5]);
    let containers: Vec<Value> = pod
        .containers
        .iter()
        .map(|container| {
            json!({
                "name": container.name, "image": container.image,
                "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
                "volumeMounts": [{"name": token, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            })
        })
        .collect();
    let mut spec = json!({
        "volumes": [{"name": token, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}],
        "containers": containers, "restartPolicy": template.restart_policy, "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst", "serviceAccountName": "default", "serviceAccount": "default",
        "securityContext": {}, "schedulerName": "default-scheduler", "priority": 0, "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
    });
    if pod.state != PodState::Pending {
        spec["nodeName"] = nodes[pod.node].name.as_str().into();
    }
    spec
}

/// The status of a Pod in its present state.
pub fn status(pod: &Pod, nodes: &[Node]) -> Value {
    let changed = timestamp(pod.changed);
    let created = timestamp(pod.created);
    if pod.state == PodState::Pending {
        return json!({"phase": "Pending", "qosClass": "Burstable"});
    }
    let ready = if pod.state == PodState::Ready { "True" } else { "False" };
    let not_ready = match pod.state {
        PodState::Ready => None,
        PodState::Succeeded => Some("PodCompleted"),
        _ => Some("ContainersNotReady"),
    };
    let conditions = json!([
        condition("PodReadyToStartContainers", if started(pod.state) { "True" } else { "False" }, &created, None),
        condition("Initialized", "True", &created, None),
        condition("Ready", ready, &changed, not_ready),
        condition("ContainersReady", ready, &changed, not_ready),
        condition("PodScheduled", "True", &created, None),
    ]);
    let phase = match pod.state {
        PodState::Creating | PodState::ErrImagePull | PodState::ImagePullBackOff => "Pending",
        PodState::Succeeded => "Succeeded",
        _ => "Running",
    };
    let statuses: Vec<Value> = pod
        .containers
        .iter()
        .enumerate()
        .map(|(index, container)| container_status(pod, container, index == 0, &changed))
        .collect();
    let node = &nodes[pod.node];
    let mut status = json!({
        "phase": phase, "conditions": conditions, "hostIP": node.ip, "hostIPs": [{"ip": node.ip}],
        "startTime": created, "containerStatuses": statuses, "qosClass": "Burstable",
    });
    if started(pod.state) {
        status["podIP"] = pod.ip.as_str().into();
        status["podIPs"] = json!([{"ip": pod.ip}]);
    }
    status
}

fn started(state: PodState) -> bool {
    !matches!(state, PodState::Pending | PodState::Creating)
}

fn condition(kind: &str, status: &str, since: &str, reason: Option<&str>) -> Value {
    let mut condition = json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since});
    if let Some(reason) = reason {
        condition["reason"] = reason.into();
    }
    condition
}

/// Only the first container shows the problem of a state; the others are running.
fn container_status(pod: &Pod, container: &Container, first: bool, changed: &str) -> Value {
    let exited = |code: u32, reason: &str| {
        json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": timestamp(pod.created + 2),
            "finishedAt": changed, "containerID": container_id(pod, container)}})
    };
    let waiting = |reason: &str, message: String| {
        if message.is_empty() {
            json!({"waiting": {"reason": reason}})
        } else {
            json!({"waiting": {"reason": reason, "message": message}})
        }
    };
    let running = json!({"running": {"startedAt": changed}});
    let pull = |what: &str| format!("{what} image \"{}\"", container.image);
    let state = match pod.state {
        PodState::Pending | PodState::Creating => waiting("ContainerCreating", String::new()),
        PodState::Succeeded => exited(0, "Completed"),
        PodState::Failed if first => exited(1, "Error"),
        PodState::BackOff if first => {
            let delay = (10_u32 << pod.restarts.min(5)).min(300);
            let name = &container.name;
            waiting(
                "CrashLoopBackOff",
                format!("back-off {delay}s restarting failed container={name} pod={}", pod.name),
            )
        }
        PodState::ErrImagePull if first => waiting("ErrImagePull", pull("failed to pull")),
        PodState::ImagePullBackOff if first => waiting("ImagePullBackOff", pull("Back-off pulling")),
        _ => running,
    };
    let runs = state.get("running").is_some();
    let ready = runs && !(first && pod.state == PodState::Unready);
    let restarts = if first { pod.restarts } else { 0 };
    let last_state = if restarts > 0 { exited(1, "Error") } else { json!({}) };
    let mut status = json!({
        "name": container.name, "state": state, "lastState": last_state, "ready": ready, "restartCount": restarts,
        "image": container.image, "imageID": "", "started": runs,
    });
    if runs || matches!(pod.state, PodState::Failed | PodState::BackOff | PodState::Succeeded) {
        status["containerID"] = container_id(pod, container).into();
    }
    status
}

fn container_id(pod: &Pod, container: &Container) -> String {
    let number = crate::random::uid(u64::from(pod.restarts), &format!("{}{}", pod.uid, container.name), 0);
    format!("containerd://{}", number.replace('-', ""))
}

/// The field managers, as voluminous as in real Pods: they make up a third of a Pod.
fn managed_fields(template: &Template, created: &str) -> Value {
    let owner = template.owner["uid"].as_str().unwrap_or_default();
    let containers: Map<String, Value> = template
        .containers
        .iter()
        .map(|container| {
            let fields = json!({".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {},
                "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}});
            (format!("k:{{\"name\":\"{}\"}}", container.name), fields)
        })
        .collect();
    let mut labels = Map::from_iter([(".".to_owned(), json!({}))]);
    labels.extend(template.labels.as_object().into_iter().flatten().map(|(name, _)| (format!("f:{name}"), json!({}))));
    let mut owners = Map::from_iter([(".".to_owned(), json!({}))]);
    owners.insert(format!("k:{{\"uid\":\"{owner}\"}}"), json!({}));
    let condition = json!({".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {}});
    json!([
        {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": created,
            "fieldsType": "FieldsV1", "fieldsV1": {
            "f:metadata": {"f:generateName": {}, "f:labels": labels, "f:ownerReferences": owners},
            "f:spec": {"f:containers": containers, "f:dnsPolicy": {}, "f:enableServiceLinks": {},
                "f:restartPolicy": {}, "f:schedulerName": {}, "f:securityContext": {},
                "f:terminationGracePeriodSeconds": {}}}},
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": created,
            "fieldsType": "FieldsV1", "subresource": "status", "fieldsV1": {"f:status": {
            "f:conditions": {"k:{\"type\":\"ContainersReady\"}": condition, "k:{\"type\":\"Initialized\"}": condition,
                "k:{\"type\":\"Ready\"}": condition},
            "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}, "f:startTime": {}}}},
    ])
}
