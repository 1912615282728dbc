//! All objects except Pods as JSON: Deployments, ReplicaSets, Jobs, Services, Namespaces, ConfigMaps, nodes.

use serde_json::{Map, Value, json};

use super::model::{Container, Job, Node, Pod, PodState, ReplicaSet, Workload, owner_reference};
use crate::clock::timestamp;
use crate::resources::object::{Draft, Fields};

/// The name of the ConfigMap with the root certificate.
const ROOT_CERTIFICATE_NAME: &str = "kube-root-ca.crt";
/// A root certificate; there is no key behind it.
const ROOT_CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n(made up)\n-----END CERTIFICATE-----\n";

/// The identity of an object: its namespace, which is empty at the cluster scope, its name and its uid.
struct Identity<'a>(&'a str, &'a str, &'a str);

/// An object, made from its identity, further metadata and its other fields.
fn draft(identity: Identity<'_>, created: i64, metadata: Value, fields: Value) -> Draft {
    let Identity(namespace, name, uid) = identity;
    let Value::Object(mut metadata) = metadata else { unreachable!("every caller writes an object") };
    let Value::Object(fields) = fields else { unreachable!("every caller writes an object") };
    metadata.insert("name".to_owned(), name.into());
    if !namespace.is_empty() {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), timestamp(created).into());
    Draft { metadata, fields: Fields::Parsed(fields) }
}

pub fn namespace(name: &str, uid: &str, created: i64) -> Draft {
    let metadata = json!({"labels": {"kubernetes.io/metadata.name": name}});
    let fields = json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    draft(Identity("", name, uid), created, metadata, fields)
}

/// The ConfigMap with the root certificate of the API server.
pub fn root_certificate(namespace: &str, uid: &str, created: i64) -> Draft {
    let fields = json!({"data": {"ca.crt": ROOT_CERTIFICATE}});
    draft(Identity(namespace, ROOT_CERTIFICATE_NAME, uid), created, json!({}), fields)
}

/// The Service of a workload.
pub fn service(workload: &Workload, uid: &str, address: &str) -> Draft {
    let fields = json!({
        "spec": {
            "clusterIP": address, "clusterIPs": [address], "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080}],
            "selector": {"app": workload.name}, "sessionAffinity": "None", "type": "ClusterIP"},
        "status": {"loadBalancer": {}},
    });
    let metadata = json!({"labels": {"app": workload.name}});
    draft(Identity(&workload.namespace, &workload.name, uid), workload.created, metadata, fields)
}

fn pod_spec(containers: &[Container], restart_policy: &str) -> Value {
    let containers: Vec<Value> = containers
        .iter()
        .map(|container| {
            json!({"name": container.name, "image": container.image,
                "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent"})
        })
        .collect();
    json!({"containers": containers, "restartPolicy": restart_policy, "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler"})
}

pub fn deployment(workload: &Workload) -> Draft {
    let current = workload.current();
    let metadata = json!({"generation": 1, "labels": {"app": workload.name},
        "annotations": {"deployment.kubernetes.io/revision": current.revision.to_string()}});
    let fields = json!({"spec": deployment_spec(workload), "status": deployment_status(workload, 1, None)});
    draft(Identity(&workload.namespace, &workload.name, &workload.uid), workload.created, metadata, fields)
}

pub fn deployment_spec(workload: &Workload) -> Value {
    let labels = json!({"app": workload.name, "app.kubernetes.io/name": workload.name,
        "app.kubernetes.io/part-of": workload.namespace});
    json!({
        "replicas": workload.replicas, "selector": {"matchLabels": {"app": workload.name}},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec(&workload.current().containers, "Always")},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 2, "progressDeadlineSeconds": 600,
    })
}

/// The status of a Deployment, computed from its Pods; `now` is the time, in seconds since 1970, where a rollout may go on. Without
/// it the rollout was complete long ago, and does not begin again because a Pod fails.
pub fn deployment_status(workload: &Workload, generation: u64, now: Option<i64>) -> Value {
    let current = workload.current();
    let alive = workload.pods.iter().filter(|pod| pod.deleting.is_none());
    let total = alive.clone().count();
    let ready = alive.filter(|pod| pod.state == PodState::Ready).count();
    let (updated, updated_ready) = workload.counts(&current.hash);
    let available = ready * 4 >= workload.replicas * 3;
    let complete = now.is_none() || (updated == workload.replicas && total == updated && updated_ready == updated);
    let (progress, message) = if complete {
        ("NewReplicaSetAvailable", format!("ReplicaSet \"{}\" has successfully progressed.", current.name))
    } else {
        ("ReplicaSetUpdated", format!("ReplicaSet \"{}\" is progressing.", current.name))
    };
    let (status, reason, words) = if available {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    let since = timestamp(workload.created);
    let mut object = Map::new();
    let counts = [
        ("replicas", total),
        ("updatedReplicas", updated),
        ("readyReplicas", ready),
        ("availableReplicas", ready),
        ("unavailableReplicas", workload.replicas.max(total) - ready),
    ];
    // Go omits zeros.
    object.extend(counts.iter().filter(|(_, n)| *n > 0).map(|(field, n)| ((*field).to_owned(), (*n).into())));
    object.insert("observedGeneration".to_owned(), generation.into());
    object.insert(
        "conditions".to_owned(),
        json!([
            {"type": "Available", "status": status, "lastUpdateTime": since, "lastTransitionTime": since,
                "reason": reason, "message": words},
            {"type": "Progressing", "status": "True", "lastUpdateTime": now.map_or_else(|| since.clone(), timestamp), "lastTransitionTime": since,
                "reason": progress, "message": message}]),
    );
    object.into()
}

/// A ReplicaSet.
pub fn replica_set(workload: &Workload, set: &ReplicaSet, created: i64) -> Draft {
    let labels = json!({"app": workload.name, "app.kubernetes.io/name": workload.name,
        "app.kubernetes.io/part-of": workload.namespace, "pod-template-hash": set.hash});
    let metadata = json!({
        "generation": 1, "labels": labels,
        "annotations": {"deployment.kubernetes.io/desired-replicas": workload.replicas.to_string(),
            "deployment.kubernetes.io/max-replicas": (workload.replicas + workload.replicas.div_ceil(4)).to_string(),
            "deployment.kubernetes.io/revision": set.revision.to_string()},
        "ownerReferences": [owner_reference("apps/v1", "Deployment", &workload.name, &workload.uid)],
    });
    let fields = json!({
        "spec": {"replicas": set.replicas,
            "selector": {"matchLabels": {"app": workload.name, "pod-template-hash": set.hash}},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(&set.containers, "Always")}},
        "status": replica_set_status(workload, set, 1),
    });
    draft(Identity(&workload.namespace, &set.name, &set.uid), created, metadata, fields)
}

/// The status of a ReplicaSet, computed from its Pods.
pub fn replica_set_status(workload: &Workload, set: &ReplicaSet, generation: u64) -> Value {
    let (total, ready) = workload.counts(&set.hash);
    let mut status = json!({"replicas": total, "observedGeneration": generation});
    for (field, number) in [("fullyLabeledReplicas", total), ("readyReplicas", ready), ("availableReplicas", ready)] {
        if number > 0 {
            status[field] = number.into();
        }
    }
    status
}

pub fn job(job: &Job) -> Draft {
    let labels = job.template().labels;
    let metadata = json!({"generation": 1, "labels": labels});
    let fields = json!({
        "spec": {"parallelism": job.completions, "completions": job.completions, "backoffLimit": 6,
            "completionMode": "NonIndexed", "suspend": false, "manualSelector": false,
            "podReplacementPolicy": "TerminatingOrFailed", "ttlSecondsAfterFinished": 60,
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": job.uid}},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(&job.containers, "Never")}},
        "status": job_status(job),
    });
    draft(Identity(&job.namespace, &job.name, &job.uid), job.created, metadata, fields)
}

/// The status of a Job, computed from its Pods.
pub fn job_status(job: &Job) -> Value {
    let count = |wanted: fn(&Pod) -> bool| job.pods.iter().filter(|pod| wanted(pod)).count();
    let succeeded = count(|pod| pod.state == PodState::Succeeded);
    let active = count(|pod| pod.state != PodState::Succeeded);
    let mut status = json!({"startTime": timestamp(job.created), "terminating": 0, "uncountedTerminatedPods": {},
        "ready": count(|pod| pod.state == PodState::Ready)});
    for (field, number) in [("active", active), ("succeeded", succeeded)] {
        if number > 0 {
            status[field] = number.into();
        }
    }
    if let Some(completed) = job.completed {
        let at = timestamp(completed);
        let condition = |kind: &str| {
            json!({"type": kind, "status": "True", "lastProbeTime": at, "lastTransitionTime": at,
                "reason": "CompletionsReached", "message": "Reached expected number of succeeded pods"})
        };
        status["completionTime"] = at.as_str().into();
        status["conditions"] = json!([condition("SuccessCriteriaMet"), condition("Complete")]);
    }
    status
}

pub fn node(node: &Node, now: i64) -> Draft {
    let zone = node.uid.as_bytes()[0] % 3;
    let metadata = json!({
        "labels": {"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "",
            "topology.kubernetes.io/region": "demo-1",
            "topology.kubernetes.io/zone": format!("demo-1{}", char::from(b'a' + zone))},
        "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
    });
    let capacity = json!({"cpu": "16", "ephemeral-storage": "102350Mi", "memory": "65536Mi", "pods": "110"});
    let fields = json!({
        "spec": {"podCIDR": "10.0.0.0/8"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": node.ip}, {"type": "Hostname", "address": node.name}],
            "allocatable": capacity, "capacity": capacity, "conditions": node_conditions(node, now),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {"machineID": node.uid.replace('-', ""), "systemUUID": node.uid, "bootID": node.uid,
                "kernelVersion": "6.12.48", "osImage": "Demo Linux 13", "containerRuntimeVersion": "containerd://2.1.4",
                "kubeletVersion": "v1.35.0", "kubeProxyVersion": "", "operatingSystem": "linux",
                "architecture": "amd64", "swap": {"capacity": 0}}},
    });
    draft(Identity("", &node.name, &node.uid), node.created, metadata, fields)
}

/// The conditions of a healthy node that has just reported.
pub fn node_conditions(node: &Node, now: i64) -> Value {
    let conditions = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ];
    let (heard, since) = (timestamp(now), timestamp(node.created));
    conditions
        .map(|(kind, status, reason, message)| {
            json!({"type": kind, "status": status, "lastHeartbeatTime": heard, "lastTransitionTime": since,
                "reason": reason, "message": message})
        })
        .to_vec()
        .into()
}
