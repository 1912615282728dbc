//! Watch frames of Pods as an API server prints them: compact JSON and a line break, with the managed fields,
//! volumes, probes, conditions and statuses that make up most of a real Pod. The shapes are those of recorded Pods
//! of Kubernetes 1.35; names, identifiers, versions, addresses and times differ from Pod to Pod.

use std::fmt::Write;

/// The size of a Pod.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Whether the Pod has the fields that a kubelet writes; the recorded Pods of 3 KB have none.
    pub kubelet: bool,
    /// The number of containers, each with probes, resources, mounts and a status.
    pub containers: usize,
    /// The number of init containers, which have ended.
    pub init_containers: usize,
    /// The number of environment variables of each container.
    pub variables: usize,
    /// The number of volumes besides the service account's.
    pub volumes: usize,
    /// The number of annotations besides the network's, long and escaped like those of sidecar injectors.
    pub annotations: usize,
}

/// Pods of about 3, 14 and 50 KB: of a plain Deployment, one with a sidecar, and one in a cluster of many services.
pub const SHAPES: [(&str, Shape); 3] = [
    ("3 KB", Shape { kubelet: false, containers: 1, init_containers: 0, variables: 0, volumes: 0, annotations: 0 }),
    ("14 KB", Shape { kubelet: true, containers: 2, init_containers: 1, variables: 9, volumes: 4, annotations: 1 }),
    ("50 KB", Shape { kubelet: true, containers: 6, init_containers: 2, variables: 27, volumes: 12, annotations: 2 }),
];

/// A stream of pseudo-random numbers: Marsaglia's xorshift.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let (a, b, c, d) = (high >> 32, high >> 16 & 0xffff, high & 0xfff, low >> 48 & 0x3fff | 0x8000);
        format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{:012x}", low & 0xffff_ffff_ffff)
    }

    fn digest(&mut self) -> String {
        (0..4).fold(String::new(), |digest, _| format!("{digest}{:016x}", self.next()))
    }
}

/// The parts of a Pod that never change.
struct Pod {
    kubelet: bool,
    name: String,
    namespace: String,
    app: String,
    hash: String,
    uid: String,
    owner: String,
    address: String,
    node: u64,
    created: String,
    containers: Vec<Container>,
    init_containers: Vec<Container>,
    volumes: Vec<String>,
    annotations: Vec<(String, String)>,
}

struct Container {
    name: String,
    image: String,
    port: u64,
    id: String,
    digest: String,
    variables: Vec<(String, String)>,
}

const WORDS: [&str; 16] = [
    "cart", "search", "ledger", "gateway", "billing", "catalog", "session", "metrics", "orders", "stock", "mailer",
    "worker", "profile", "pricing", "events", "review",
];

const SUFFIXES: [&str; 8] = ["HOST", "PORT", "TIMEOUT_SECONDS", "URL", "TOKEN_PATH", "LOG_LEVEL", "REGION", "REPLICAS"];

impl Pod {
    fn new(shape: Shape, key: usize) -> Pod {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ (key as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let word = |numbers: &mut Numbers| WORDS[numbers.below(16) as usize];
        let app = format!("{}-{}", word(&mut numbers), word(&mut numbers));
        let hash = format!("{:010x}", numbers.next() & 0xff_ffff_ffff);
        let name = format!("{app}-{hash}-{key:05}");
        let mut container = |role: &str, index: usize, variables: usize| {
            let called = if index == 0 { app.clone() } else { format!("{}-{role}-{index}", word(&mut numbers)) };
            let variables = (0..variables).map(|at| {
                let suffix = SUFFIXES[at % 8];
                let variable = format!("{}_{}_{suffix}", word(&mut numbers).to_uppercase(), at);
                let value = match suffix {
                    "PORT" | "TIMEOUT_SECONDS" | "REPLICAS" => format!("{}", numbers.below(65_536)),
                    "URL" => {
                        format!("https://{}.shop.svc.cluster.local:8443/v1/{:x}", word(&mut numbers), numbers.next())
                    }
                    "LOG_LEVEL" => "info".to_owned(),
                    _ => format!("{}.shop-{}.svc.cluster.local", word(&mut numbers), numbers.below(40)),
                };
                (variable, value)
            });
            let variables = variables.collect();
            Container {
                image: format!("registry.example.com/shop/{called}:v1.{}.{}", numbers.below(40), numbers.below(9)),
                port: 8_000 + numbers.below(999),
                id: numbers.digest(),
                digest: numbers.digest(),
                variables,
                name: called,
            }
        };
        let containers = (0..shape.containers).map(|index| container("side", index, shape.variables)).collect();
        let init_containers =
            (0..shape.init_containers).map(|index| container("init", index + 1, shape.variables / 4)).collect();
        let address = format!("10.{}.{}.{}", numbers.below(250), numbers.below(250), numbers.below(250));
        let volumes = (0..shape.volumes).map(|at| format!("{}-{at}", word(&mut numbers))).collect();
        let annotations = (0..shape.annotations).map(|at| {
            let pairs = (0..8).map(|_| format!("\\\"{}\\\":\\\"{:x}\\\"", word(&mut numbers), numbers.next()));
            let pairs: Vec<String> = pairs.collect();
            (format!("sidecar-{at}.mesh.example.com/status"), format!("{{{}}}", pairs.join(",")))
        });
        let annotations = annotations.collect();
        let created = format!("2026-11-{:02}T{:02}:{:02}:{:02}Z", 1 + numbers.below(20), numbers.below(24), 7, 11);
        Pod {
            kubelet: shape.kubelet,
            namespace: format!("shop-{}", key % 20),
            uid: numbers.uid(),
            owner: numbers.uid(),
            node: numbers.below(40),
            app,
            hash,
            name,
            address,
            created,
            containers,
            init_containers,
            volumes,
            annotations,
        }
    }
}

/// The frames of a cluster of Pods of one shape.
pub struct Cluster {
    pods: Vec<Pod>,
}

impl Cluster {
    /// A cluster of this many distinct Pods.
    pub fn new(shape: Shape, pods: usize) -> Cluster {
        Cluster { pods: (0..pods).map(|key| Pod::new(shape, key)).collect() }
    }

    /// The frame of one Pod at one version; restarts and times differ between versions.
    pub fn frame(&self, event_type: &str, pod: usize, version: u64) -> String {
        let pod = &self.pods[pod];
        let mut out = String::with_capacity(64 * 1024);
        let _ = write!(out, "{{\"type\":\"{event_type}\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
        metadata(&mut out, pod, version);
        out.push(',');
        spec(&mut out, pod);
        out.push(',');
        status(&mut out, pod, version);
        out.push_str("}}\n");
        out
    }
}

/// Writes each element, with commas between them.
fn list<T>(out: &mut String, elements: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, element);
    }
}

fn metadata(out: &mut String, pod: &Pod, version: u64) {
    let Pod { name, namespace, app, hash, uid, owner, created, .. } = pod;
    let _ = write!(
        out,
        r#""metadata":{{"name":"{name}","generateName":"{app}-{hash}-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":1,"creationTimestamp":"{created}","labels":{{"app":"{app}","app.kubernetes.io/part-of":"shop","pod-template-hash":"{hash}"}},"#
    );
    if !pod.annotations.is_empty() {
        let address = &pod.address;
        let _ = write!(
            out,
            r#""annotations":{{"k8s.v1.cni.cncf.io/network-status":"[{{\n    \"name\": \"cbr0\",\n    \"interface\": \"eth0\",\n    \"ips\": [\n        \"{address}\"\n    ],\n    \"default\": true,\n    \"dns\": {{}}\n}}]","#
        );
        list(out, &pod.annotations, |out, (key, value)| {
            let _ = write!(out, r#""{key}":"{value}""#);
        });
        out.push_str("},");
    }
    let _ = write!(
        out,
        r#""ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{app}-{hash}","uid":"{owner}","controller":true,"blockOwnerDeletion":true}}],"managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"{created}","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:generateName":{{}},"f:labels":{{".":{{}},"f:app":{{}},"f:app.kubernetes.io/part-of":{{}},"f:pod-template-hash":{{}}}},"f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"{owner}\"}}":{{}}}}}},"f:spec":{{"f:containers":{{"#
    );
    list(out, &pod.containers, managed_container);
    out.push_str(r#"},"f:dnsPolicy":{},"f:enableServiceLinks":{},"#);
    if !pod.init_containers.is_empty() {
        out.push_str(r#""f:initContainers":{".":{},"#);
        list(out, &pod.init_containers, managed_container);
        out.push_str("},");
    }
    out.push_str(
        r#""f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}"#,
    );
    if !pod.volumes.is_empty() {
        out.push_str(r#","f:volumes":{".":{},"#);
        list(out, &pod.volumes, |out, volume| {
            let _ = write!(
                out,
                r#""k:{{\"name\":\"{volume}\"}}":{{".":{{}},"f:configMap":{{".":{{}},"f:defaultMode":{{}},"f:name":{{}}}},"f:name":{{}}}}"#
            );
        });
        out.push('}');
    }
    out.push_str("}}}");
    if pod.kubelet {
        managed_status(out, pod, version);
    }
    out.push_str("]}");
}

fn managed_status(out: &mut String, pod: &Pod, version: u64) {
    let time = time(version);
    let address = &pod.address;
    let _ = write!(
        out,
        r#",{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"{time}","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{"#
    );
    list(out, ["ContainersReady", "Initialized", "PodReadyToStartContainers", "Ready"], |out, condition| {
        let _ = write!(
            out,
            r#""k:{{\"type\":\"{condition}\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}"#
        );
    });
    let _ = write!(
        out,
        r#"}},"f:containerStatuses":{{}},"f:hostIP":{{}},"f:hostIPs":{{}},"f:initContainerStatuses":{{}},"f:phase":{{}},"f:podIP":{{}},"f:podIPs":{{".":{{}},"k:{{\"ip\":\"{address}\"}}":{{".":{{}},"f:ip":{{}}}}}},"f:startTime":{{}}}}}},"subresource":"status"}}"#
    );
}

fn managed_container(out: &mut String, container: &Container) {
    let Container { name, port, variables, .. } = container;
    let _ = write!(out, r#""k:{{\"name\":\"{name}\"}}":{{".":{{}},"#);
    if !variables.is_empty() {
        out.push_str(r#""f:env":{".":{},"#);
        list(out, variables, |out, (variable, _)| {
            let _ = write!(out, r#""k:{{\"name\":\"{variable}\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}}"#);
        });
        let _ = write!(
            out,
            r#"}},"f:livenessProbe":{{".":{{}},"f:failureThreshold":{{}},"f:httpGet":{{".":{{}},"f:path":{{}},"f:port":{{}},"f:scheme":{{}}}},"f:periodSeconds":{{}},"f:successThreshold":{{}},"f:timeoutSeconds":{{}}}},"f:ports":{{".":{{}},"k:{{\"containerPort\":{port},\"protocol\":\"TCP\"}}":{{".":{{}},"f:containerPort":{{}},"f:name":{{}},"f:protocol":{{}}}}}},"#
        );
    }
    out.push_str(
        r#""f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}"#,
    );
}

fn spec(out: &mut String, pod: &Pod) {
    out.push_str(r#""spec":{"volumes":["#);
    for volume in &pod.volumes {
        let _ = write!(out, r#"{{"name":"{volume}","configMap":{{"name":"{volume}","defaultMode":420}}}},"#);
    }
    let account = &pod.hash[..5];
    let _ = write!(
        out,
        r#"{{"name":"kube-api-access-{account}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},{{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],"defaultMode":420}}}}],"#
    );
    if !pod.init_containers.is_empty() {
        out.push_str(r#""initContainers":["#);
        list(out, &pod.init_containers, |out, container| container_spec(out, pod, container));
        out.push_str("],");
    }
    out.push_str(r#""containers":["#);
    list(out, &pod.containers, |out, container| container_spec(out, pod, container));
    let node = pod.node;
    let _ = write!(
        out,
        r#"],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"node-{node}","securityContext":{{}},"schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"}}"#
    );
}

fn container_spec(out: &mut String, pod: &Pod, container: &Container) {
    let Container { name, image, port, variables, .. } = container;
    let _ = write!(out, r#"{{"name":"{name}","image":"{image}","#);
    if !variables.is_empty() {
        let _ = write!(out, r#""ports":[{{"name":"http","containerPort":{port},"protocol":"TCP"}}],"env":["#);
        list(out, variables, |out, (variable, value)| {
            let _ = write!(out, r#"{{"name":"{variable}","value":"{value}"}}"#);
        });
        out.push_str(
            r#"],"resources":{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"50m","memory":"128Mi"}},"#,
        );
    } else {
        out.push_str(r#""resources":{},"#);
    }
    out.push_str(r#""volumeMounts":["#);
    for volume in pod.volumes.iter().take(4) {
        let _ = write!(out, r#"{{"name":"{volume}","readOnly":true,"mountPath":"/etc/{volume}"}},"#);
    }
    let account = &pod.hash[..5];
    let _ = write!(
        out,
        r#"{{"name":"kube-api-access-{account}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"#
    );
    if !variables.is_empty() {
        for probe in ["livenessProbe", "readinessProbe"] {
            let _ = write!(
                out,
                r#""{probe}":{{"httpGet":{{"path":"/healthz","port":{port},"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"#
            );
        }
    }
    out.push_str(
        r#""terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}"#,
    );
}

fn status(out: &mut String, pod: &Pod, version: u64) {
    let time = time(version);
    let created = &pod.created;
    out.push_str(r#""status":{"phase":"Running","conditions":["#);
    let conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    list(out, &conditions[usize::from(!pod.kubelet)..], |out, condition| {
        let generation = if pod.kubelet { r#""observedGeneration":1,"# } else { "" };
        let _ = write!(
            out,
            r#"{{"type":"{condition}",{generation}"status":"True","lastProbeTime":null,"lastTransitionTime":"{time}"}}"#
        );
    });
    let (address, node) = (&pod.address, pod.node);
    let _ = write!(
        out,
        r#"],"hostIP":"192.0.2.{node}","podIP":"{address}","podIPs":[{{"ip":"{address}"}}],"startTime":"{created}","#
    );
    if !pod.init_containers.is_empty() {
        out.push_str(r#""initContainerStatuses":["#);
        list(out, &pod.init_containers, |out, container| {
            let Container { name, image, id, digest, .. } = container;
            let _ = write!(
                out,
                r#"{{"name":"{name}","state":{{"terminated":{{"exitCode":0,"reason":"Completed","startedAt":"{created}","finishedAt":"{created}","containerID":"containerd://{id}"}}}},"lastState":{{}},"ready":true,"restartCount":0,"image":"{image}","imageID":"{image}@sha256:{digest}","containerID":"containerd://{id}","started":false}}"#
            );
        });
        out.push_str("],");
    }
    out.push_str(r#""containerStatuses":["#);
    list(out, pod.containers.iter().enumerate(), |out, (at, container)| {
        let Container { name, image, .. } = container;
        let restarts = if at == 0 { version % 10_000 } else { 0 };
        let _ = write!(out, r#"{{"name":"{name}","state":{{"running":{{"startedAt":"{time}"}}}},"lastState":{{"#);
        if let (true, Container { id, .. }) = (pod.kubelet, container) {
            let _ = write!(
                out,
                r#""terminated":{{"exitCode":137,"reason":"OOMKilled","startedAt":"{created}","finishedAt":"{time}","containerID":"containerd://{id}"}}"#
            );
        }
        let _ = write!(out, r#"}},"ready":true,"restartCount":{restarts},"image":"{image}","imageID":""#);
        if let (true, Container { id, digest, .. }) = (pod.kubelet, container) {
            let _ = write!(out, r#"{image}@sha256:{digest}","containerID":"containerd://{id}"#);
        }
        out.push_str(r#"","started":true"#);
        if pod.containers.len() > 1 {
            out.push_str(r#","resources":{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"50m","memory":"128Mi"}},"volumeMounts":["#);
            list(out, pod.volumes.iter().take(4), |out, volume| {
                let _ = write!(
                    out,
                    r#"{{"name":"{volume}","mountPath":"/etc/{volume}","readOnly":true,"recursiveReadOnly":"Disabled"}}"#
                );
            });
            out.push(']');
        }
        out.push('}');
    });
    out.push_str(r#"],"qosClass":"Burstable"}"#);
}

/// A time that grows with the version.
fn time(version: u64) -> String {
    let seconds = version % 86_400;
    format!("2026-11-21T{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
