//! Which Nodes are eligible for a Pod of a DaemonSet, and what that Pod looks like (`NodeShouldRunDaemonPod` and
//! `predicates` in `pkg/controller/daemon/daemon_controller.go`, `pkg/controller/daemon/util/daemonset_util.go`).

use serde_json::{Value, json};

use super::super::history::REVISION_HASH;
use super::super::scheduler::filters::tolerates;
use super::super::scheduler::node_info::taints;
use super::super::{object, pod};

/// Whether a Node should have a Pod of a DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitness {
    /// The Node should run a Pod.
    Runs,
    /// The Node gets no new Pod, but an existing one may stay: a taint was added after the Pod.
    Stays,
    /// The Node must have no Pod.
    None,
}

/// The taints that the Pods of every DaemonSet tolerate, with their effects; `true` for those that only Pods on the
/// host network tolerate.
const TOLERATED: [(&str, &str, bool); 7] = [
    ("node.kubernetes.io/not-ready", "NoExecute", false),
    ("node.kubernetes.io/unreachable", "NoExecute", false),
    ("node.kubernetes.io/disk-pressure", "NoSchedule", false),
    ("node.kubernetes.io/memory-pressure", "NoSchedule", false),
    ("node.kubernetes.io/pid-pressure", "NoSchedule", false),
    ("node.kubernetes.io/unschedulable", "NoSchedule", false),
    ("node.kubernetes.io/network-unavailable", "NoSchedule", true),
];

/// The fields of a Node that decide whether it is eligible.
pub fn what_matters(node: &Value) -> [&Value; 3] {
    [&node["metadata"]["labels"], &node["spec"]["taints"], &node["spec"]["unschedulable"]]
}

/// Whether a Node should have a Pod of a DaemonSet.
pub fn fitness(set: &Value, node: &Value) -> Fitness {
    let spec = &set["spec"]["template"]["spec"];
    let wanted = object::text(spec, "/nodeName");
    if (!wanted.is_empty() && wanted != object::name(node)) || !is_selected(spec, node) {
        return Fitness::None;
    }
    let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
    tolerations.extend(own_tolerations(spec));
    let mut taints = taints(node);
    taints.retain(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint)));
    let has = |effect: &str| taints.iter().any(|taint| taint.effect == effect);
    match () {
        () if has("NoExecute") => Fitness::None,
        () if has("NoSchedule") => Fitness::Stays,
        () => Fitness::Runs,
    }
}

/// The Node that a Pod runs on, or was made for.
pub fn of(pod: &Value) -> &str {
    let node = object::text(pod, "/spec/nodeName");
    if node.is_empty() { object::text(pod, &format!("{TERMS}/0/matchFields/0/values/0")) } else { node }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const TERMS: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

/// The Pod for a Node. The scheduler binds the Pod: its affinity names the Node.
pub fn new_pod(set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = pod::from_template(&set["spec"]["template"], set, object::name(set));
    object::set(&mut pod, &["metadata", "labels", REVISION_HASH], hash.into());
    if let Some(generation) = object::annotation(set, "deprecated.daemonset.template.generation") {
        object::set(&mut pod, &["metadata", "labels", "pod-template-generation"], generation.into());
    }
    let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]});
    object::set(&mut pod, &["spec", "affinity", "nodeAffinity", REQUIRED], json!({"nodeSelectorTerms": [term]}));
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for own in own_tolerations(&pod["spec"]) {
        if !tolerations.contains(&own) {
            tolerations.push(own);
        }
    }
    object::set(&mut pod, &["spec", "tolerations"], tolerations.into());
    pod
}

/// The tolerations that every DaemonSet's Pod has (`AddOrUpdateDaemonPodTolerations`).
fn own_tolerations(spec: &Value) -> Vec<Value> {
    let is_on_host = spec["hostNetwork"] == true;
    let ours = TOLERATED.iter().filter(|(_, _, on_host)| !on_host || is_on_host);
    ours.map(|(key, effect, _)| json!({"key": key, "operator": "Exists", "effect": effect})).collect()
}

/// Whether `nodeSelector` and the required node affinity select a Node.
fn is_selected(spec: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let mut selected = spec["nodeSelector"].as_object().into_iter().flatten();
    if !selected.all(|(key, value)| labels.get(key) == Some(value)) {
        return false;
    }
    let Some(terms) = spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"].as_array() else { return true };
    let list = |term: &Value, field: &str| term[field].as_array().cloned().unwrap_or_default();
    terms.iter().any(|term| {
        let (expressions, fields) = (list(term, "matchExpressions"), list(term, "matchFields"));
        // A term without requirements selects nothing.
        (!expressions.is_empty() || !fields.is_empty())
            && expressions.iter().all(|one| holds(one, labels.get(object::text(one, "/key")).and_then(Value::as_str)))
            && fields.iter().all(|one| {
                let is_name = object::text(one, "/key") == "metadata.name";
                holds(one, is_name.then_some(object::name(node)))
            })
    })
}

fn holds(requirement: &Value, found: Option<&str>) -> bool {
    let values = requirement["values"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_in = || found.is_some_and(|found| values.iter().any(|value| value == found));
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let numbers = || Some((number(found)?, number(values.first().and_then(Value::as_str))?));
    match object::text(requirement, "/operator") {
        "In" => is_in(),
        "NotIn" => !is_in(),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        "Gt" => numbers().is_some_and(|(found, bound)| found > bound),
        "Lt" => numbers().is_some_and(|(found, bound)| found < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a Node against a DaemonSet; `pod` and `node` are merged into the specs.
    fn check(pod: Value, node: Value, expected: Fitness) {
        let set = json!({"metadata": {"name": "log"}, "spec": {"template": {"spec": pod}}});
        let labels = json!({"zone": "a", "cores": "8"});
        let node = json!({"metadata": {"name": "node-1", "labels": labels}, "spec": node});
        assert_eq!(fitness(&set, &node), expected, "{pod} {node}", pod = set["spec"]["template"]["spec"]);
    }

    fn affinity(term: Value) -> Value {
        json!({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}})
    }

    #[test]
    fn selectors_affinity_and_taints_choose_nodes() {
        let none = || json!({});
        check(none(), none(), Fitness::Runs);
        check(json!({"nodeName": "node-2"}), none(), Fitness::None);
        check(json!({"nodeSelector": {"zone": "a"}}), none(), Fitness::Runs);
        check(json!({"nodeSelector": {"zone": "b"}}), none(), Fitness::None);
        for (key, operator, values, expected) in [
            ("zone", "In", &["a", "b"][..], Fitness::Runs),
            ("zone", "NotIn", &["a"], Fitness::None),
            ("disk", "NotIn", &["a"], Fitness::Runs),
            ("disk", "Exists", &[], Fitness::None),
            ("disk", "DoesNotExist", &[], Fitness::Runs),
            ("cores", "Gt", &["7"], Fitness::Runs),
            ("cores", "Lt", &["8"], Fitness::None),
        ] {
            let expression = json!({"key": key, "operator": operator, "values": values});
            check(affinity(json!({"matchExpressions": [expression]})), none(), expected);
        }
        let named = |name: &str| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
        check(affinity(named("node-1")), none(), Fitness::Runs);
        check(affinity(named("node-2")), none(), Fitness::None);
        check(affinity(none()), none(), Fitness::None);

        let taint = |key: &str, effect: &str| json!({"taints": [{"key": key, "value": "x", "effect": effect}]});
        check(none(), taint("own", "NoSchedule"), Fitness::Stays);
        check(none(), taint("own", "NoExecute"), Fitness::None);
        check(none(), taint("own", "PreferNoSchedule"), Fitness::Runs);
        check(none(), taint("node.kubernetes.io/unreachable", "NoExecute"), Fitness::Runs);
        check(none(), taint("node.kubernetes.io/network-unavailable", "NoSchedule"), Fitness::Stays);
        check(
            json!({"hostNetwork": true}),
            taint("node.kubernetes.io/network-unavailable", "NoSchedule"),
            Fitness::Runs,
        );
        for (toleration, expected) in [
            (json!({"operator": "Exists"}), Fitness::Runs),
            (json!({"key": "own", "operator": "Exists"}), Fitness::Runs),
            (json!({"key": "own", "value": "x", "effect": "NoSchedule"}), Fitness::Runs),
            (json!({"key": "own", "value": "y"}), Fitness::Stays),
            (json!({"key": "own", "value": "x", "effect": "NoExecute"}), Fitness::Stays),
        ] {
            check(json!({"tolerations": [toleration]}), taint("own", "NoSchedule"), expected);
        }
    }

    #[test]
    fn a_pod_knows_its_node_before_it_is_bound() {
        let set = json!({"kind": "DaemonSet", "metadata": {"name": "log"}, "spec": {"template": {"spec": {}}}});
        let mut pod = new_pod(&set, "node-7", "abc");
        assert_eq!(of(&pod), "node-7");
        pod["spec"]["nodeName"] = "node-8".into();
        assert_eq!(of(&pod), "node-8");
        assert_eq!(pod["spec"]["tolerations"].as_array().map(Vec::len), Some(6));
    }
}
