//! The status of a Pod as its kubelet writes it (`generateAPIPodStatus` in `pkg/kubelet/kubelet_pods.go`), computed
//! without a clock or IO.

use kubechurn_client::record::time::Time;
use serde_json::{Map, Value, json};

use super::super::object;
use super::behaviour::Role;
use super::container::{Container, State};
use super::worker::{PodWorker, full_name};

/// The conditions that a kubelet writes, in its order.
const OWN: [&str; 5] = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// A condition's status, with its reason and message if it has any.
struct Condition {
    is_true: bool,
    reason: &'static str,
    message: String,
}

impl Condition {
    fn yes() -> Self {
        Self { is_true: true, reason: "", message: String::new() }
    }

    fn no(reason: &'static str, message: String) -> Self {
        Self { is_true: false, reason, message }
    }
}

/// The status that follows from the state of a worker. `pod` is the informer's copy of the Pod, whose other conditions
/// stay; `host` is the address of its node. Conditions that change do so at `now`.
pub fn status(worker: &mut PodWorker, pod: &Value, host: &str, now: Time) -> Value {
    let phase = worker.phase();
    let mut status = Map::new();
    let mut set = |field: &str, value: Value| status.insert(field.to_owned(), value);
    let generation = object::number(pod, "/metadata/generation");
    if let Some(generation) = generation {
        set("observedGeneration", generation.into());
    }
    set("phase", phase.into());
    set("startTime", worker.started.to_string().into());
    if !host.is_empty() {
        set("hostIP", host.into());
        set("hostIPs", json!([{"ip": host}]));
    }
    let has_begun = worker.containers.iter().any(has_begun);
    if let Some(address) = worker.address.as_deref().filter(|_| has_begun) {
        set("podIP", address.into());
        set("podIPs", json!([{"ip": address}]));
    }
    let is_initialized = worker.is_initialized();
    let name = full_name(pod);
    for (list, field) in [("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")] {
        let statuses: Vec<Value> = pod["spec"][list]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|spec| {
                let is_init = list == "initContainers";
                let at = worker.containers.iter().position(|one| {
                    one.name == object::text(spec, "/name") && is_init == matches!(one.role, Role::Init | Role::Sidecar)
                })?;
                let before = worker.containers[..at].iter().all(Container::lets_pass);
                let ready_to_start = if is_init { before && has_begun } else { is_initialized };
                Some(worker.containers[at].status(spec, &name, &worker.uid, ready_to_start))
            })
            .collect();
        if !statuses.is_empty() {
            set(field, statuses.into());
        }
    }
    set("conditions", conditions(worker, pod, now).into());
    for field in ["qosClass", "nominatedNodeName"] {
        if let Some(value) = pod["status"].get(field).filter(|value| !value.is_null()) {
            set(field, value.clone());
        }
    }
    status.into()
}

/// Whether the state of a container proves that the sandbox of its Pod is ready.
fn has_begun(container: &Container) -> bool {
    container.last.is_some() || !matches!(container.state, State::Waiting | State::Pulling { .. })
}

fn conditions(worker: &mut PodWorker, pod: &Value, now: Time) -> Vec<Value> {
    let (phase, is_initialized) = (worker.phase(), worker.is_initialized());
    let has_begun = worker.containers.iter().any(has_begun);
    let names = |test: &dyn Fn(&&Container) -> bool| {
        let all: Vec<&str> = worker.containers.iter().filter(test).map(|one| one.name.as_str()).collect();
        all.join(" ")
    };
    let unready = names(&|one| one.role != Role::Init && !(one.is_ready && one.is_running()));
    let incomplete = names(&|one| matches!(one.role, Role::Init | Role::Sidecar) && !one.lets_pass());
    let ready = || match phase {
        "Succeeded" => Condition::no("PodCompleted", String::new()),
        "Failed" => Condition::no("PodFailed", String::new()),
        _ if unready.is_empty() => Condition::yes(),
        _ => Condition::no("ContainersNotReady", format!("containers with unready status: [{unready}]")),
    };
    let gate = pod["spec"]["readinessGates"].as_array().into_iter().flatten().find_map(|gate| {
        let kind = gate["conditionType"].as_str()?;
        (!object::is_true(pod, kind)).then(|| kind.to_owned())
    });
    let own = OWN.map(|kind| {
        let condition = match (kind, &gate) {
            ("PodReadyToStartContainers", _) if has_begun && !worker.is_over() => Condition::yes(),
            ("PodReadyToStartContainers", _) => Condition::no("", String::new()),
            ("Initialized", _) if phase == "Succeeded" => Condition { reason: "PodCompleted", ..Condition::yes() },
            ("Initialized", _) if is_initialized => Condition::yes(),
            ("Initialized", _) => {
                Condition::no("ContainersNotInitialized", format!("containers with incomplete status: [{incomplete}]"))
            }
            ("Ready", Some(gate)) if ready().is_true => Condition::no(
                "ReadinessGatesNotReady",
                format!("the status of pod readiness gate \"{gate}\" is not \"True\", but False"),
            ),
            ("Ready" | "ContainersReady", _) => ready(),
            _ => Condition::yes(),
        };
        (kind, condition)
    });
    let mut all = Vec::new();
    for (kind, condition) in own {
        let status = if condition.is_true { "True" } else { "False" };
        let mut json = json!({"type": kind, "status": status, "lastProbeTime": null,
            "lastTransitionTime": worker.conditions.since(kind, status, now)});
        if let Some(generation) = object::number(pod, "/metadata/generation") {
            json["observedGeneration"] = generation.into();
        }
        for (field, text) in [("reason", condition.reason), ("message", condition.message.as_str())] {
            if !text.is_empty() {
                json[field] = text.into();
            }
        }
        all.push(json);
    }
    let others = pod["status"]["conditions"].as_array().into_iter().flatten();
    all.extend(others.filter(|one| !OWN.iter().any(|own| one["type"] == *own)).cloned());
    all
}
