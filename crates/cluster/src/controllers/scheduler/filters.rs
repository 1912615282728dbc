//! Which nodes a Pod may run on, and the messages about those that it may not run on (the plugins' `Filter`).

use serde_json::Value;

use super::super::object;
use super::node_info::{NodeInfo, Resources, Taint};

/// The taint of a cordoned node.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The requirements of a Pod.
#[derive(Debug, Clone)]
pub struct Demands<'a> {
    /// Its resource requests.
    pub resources: Resources,
    tolerations: Vec<&'a Value>,
    node_selector: Vec<(&'a str, &'a str)>,
    /// The terms of its required node affinity, of which one must match; `None` without such an affinity.
    terms: Option<Vec<&'a Value>>,
}

/// Why a node is not feasible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The message.
    pub words: &'static str,
    /// Whether the node would be feasible if other Pods were deleted.
    pub may_be_resolved: bool,
}

const fn never(words: &'static str) -> Reason {
    Reason { words, may_be_resolved: false }
}

impl<'a> Demands<'a> {
    /// The requirements of a Pod.
    pub fn of(pod: &'a Value, resources: Resources) -> Self {
        let spec = &pod["spec"];
        let list = |value: &'a Value| value.as_array().map(|all| all.iter().collect::<Vec<&Value>>());
        let required = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let labels = spec["nodeSelector"].as_object().into_iter().flatten();
        Self {
            resources,
            tolerations: list(&spec["tolerations"]).unwrap_or_default(),
            node_selector: labels.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default())).collect(),
            terms: list(&required["nodeSelectorTerms"]),
        }
    }

    /// The only nodes that its affinity allows, if the affinity names nodes as that of a DaemonSet's Pod does.
    pub fn only(&self) -> Option<Vec<&'a str>> {
        let mut names = Vec::new();
        for term in self.terms.as_ref()? {
            let fields = term["matchFields"].as_array()?;
            let by_name = |field: &&Value| field["key"] == "metadata.name" && field["operator"] == "In";
            let field = fields.iter().find(by_name)?;
            names.extend(field["values"].as_array().into_iter().flatten().filter_map(Value::as_str));
        }
        Some(names)
    }

    /// Why it cannot run on a node; empty if it can. Only the first plugin that objects gives its reasons.
    pub fn reasons(&self, node: &NodeInfo) -> Vec<Reason> {
        let cordon = Taint { key: UNSCHEDULABLE.to_owned(), value: String::new(), effect: "NoSchedule".to_owned() };
        if node.is_unschedulable && !self.tolerates(&cordon) {
            return vec![never("node(s) were unschedulable")];
        }
        let repels = |taint: &&Taint| taint.effect != "PreferNoSchedule" && !self.tolerates(taint);
        if node.taints.iter().any(|taint| repels(&taint)) {
            return vec![never("node(s) had untolerated taint(s)")];
        }
        if !self.selects(node) {
            return vec![never("node(s) didn't match Pod's node affinity/selector")];
        }
        let mut reasons = Vec::new();
        let (has, used, asked) = (&node.allocatable, &node.requested, &self.resources);
        for (words, has, used, asked) in [
            ("Too many pods", has.pods, used.pods, 1),
            ("Insufficient cpu", has.cpu, used.cpu, asked.cpu),
            ("Insufficient memory", has.memory, used.memory, asked.memory),
        ] {
            if asked > 0 && asked > has - used {
                reasons.push(Reason { words, may_be_resolved: asked <= has });
            }
        }
        reasons
    }

    fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }

    fn selects(&self, node: &NodeInfo) -> bool {
        let labelled = |(name, value): &(&str, &str)| node.labels.get(*name).is_some_and(|label| label == value);
        let holds = |term: &&Value| {
            let all = |list: &str, holds: &dyn Fn(&Value) -> bool| match term[list].as_array() {
                Some(all) => (all.iter().all(holds), !all.is_empty()),
                None => (true, false),
            };
            let labels = all("matchExpressions", &|one| matches(one, node.labels.get(object::text(one, "/key"))));
            let fields = all("matchFields", &|one| matches(one, (one["key"] == "metadata.name").then_some(&node.name)));
            // A term without requirements matches no node.
            labels.0 && fields.0 && (labels.1 || fields.1)
        };
        self.node_selector.iter().all(labelled) && self.terms.as_ref().is_none_or(|terms| terms.iter().any(holds))
    }
}

/// Whether a toleration tolerates a taint (`ToleratesTaint`).
pub fn tolerates(toleration: &Value, taint: &Taint) -> bool {
    let text = |field: &str| toleration[field].as_str().unwrap_or_default();
    if !["", taint.effect.as_str()].contains(&text("effect")) || !["", taint.key.as_str()].contains(&text("key")) {
        return false;
    }
    match text("operator") {
        "" | "Equal" => !text("key").is_empty() && text("value") == taint.value,
        "Exists" => true,
        _ => false,
    }
}

/// Whether a requirement matches the value of a label, or its absence.
fn matches(requirement: &Value, found: Option<&String>) -> bool {
    let mut values = requirement["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let number = |text: &str| text.parse::<i64>().ok();
    match object::text(requirement, "/operator") {
        "In" => found.is_some_and(|found| values.any(|value| value == found)),
        "NotIn" => found.is_none_or(|found| values.all(|value| value != found)),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        operator @ ("Gt" | "Lt") => {
            let (found, value) = (found.and_then(|found| number(found)), values.next().and_then(number));
            let (Some(found), Some(value)) = (found, value) else { return false };
            if operator == "Gt" { found > value } else { found < value }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A node with 2 cores and 1 GiB, of which half a core is in use.
    fn node(spec: Value) -> NodeInfo {
        let mut node = NodeInfo::default();
        node.set(&json!({"metadata": {"name": "n1", "labels": {"zone": "a", "slots": "5"}}, "spec": spec,
            "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3"}}}));
        node.requested = Resources { cpu: 500, pods: 2, ..Resources::default() };
        node
    }

    fn check(node_spec: Value, pod_spec: Value, expected: &[&str]) {
        let pod = json!({"spec": pod_spec});
        let resources = Resources {
            cpu: pod["spec"]["cpu"].as_i64().unwrap_or_default(),
            memory: pod["spec"]["memory"].as_i64().unwrap_or_default(),
            ..Resources::default()
        };
        let reasons = Demands::of(&pod, resources).reasons(&node(node_spec.clone()));
        let words: Vec<&str> = reasons.iter().map(|reason| reason.words).collect();
        assert_eq!(words, expected, "{node_spec} {pod}");
    }

    #[test]
    fn cordons_and_taints() {
        let cordoned = json!({"unschedulable": true});
        check(cordoned.clone(), json!({}), &["node(s) were unschedulable"]);
        check(cordoned, json!({"tolerations": [{"key": UNSCHEDULABLE, "operator": "Exists"}]}), &[]);
        let tainted = |effect: &str| json!({"taints": [{"key": "team", "value": "db", "effect": effect}]});
        let repelled = ["node(s) had untolerated taint(s)"];
        check(tainted("NoSchedule"), json!({}), &repelled);
        check(tainted("NoExecute"), json!({}), &repelled);
        check(tainted("PreferNoSchedule"), json!({}), &[]);
        let tolerating = |toleration: Value| json!({"tolerations": [toleration]});
        check(tainted("NoSchedule"), tolerating(json!({"operator": "Exists"})), &[]);
        check(tainted("NoSchedule"), tolerating(json!({"key": "team", "value": "db"})), &[]);
        check(tainted("NoSchedule"), tolerating(json!({"key": "team", "value": "web"})), &repelled);
        check(
            tainted("NoSchedule"),
            tolerating(json!({"key": "team", "value": "db", "effect": "NoExecute"})),
            &repelled,
        );
    }

    #[test]
    fn selectors_and_affinity() {
        let other = ["node(s) didn't match Pod's node affinity/selector"];
        check(json!({}), json!({"nodeSelector": {"zone": "a"}}), &[]);
        check(json!({}), json!({"nodeSelector": {"zone": "b"}}), &other);
        let affinity = |terms: Value| {
            json!({"affinity": {"nodeAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
        };
        let term = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        check(json!({}), affinity(json!([term("zone", "In", &["b"]), term("zone", "In", &["a"])])), &[]);
        check(json!({}), affinity(json!([term("zone", "NotIn", &["a"])])), &other);
        check(json!({}), affinity(json!([term("disk", "DoesNotExist", &[])])), &[]);
        check(json!({}), affinity(json!([term("slots", "Gt", &["4"])])), &[]);
        check(json!({}), affinity(json!([term("slots", "Lt", &["4"])])), &other);
        check(json!({}), affinity(json!([{}])), &other);
        let named =
            |name: &str| json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]);
        check(json!({}), affinity(named("n1")), &[]);
        check(json!({}), affinity(named("n2")), &other);
        let pod = json!({"spec": affinity(named("n2"))});
        assert_eq!(Demands::of(&pod, Resources::default()).only(), Some(vec!["n2"]));
    }

    #[test]
    fn resources() {
        check(json!({}), json!({"cpu": 1500, "memory": 1_073_741_824}), &[]);
        check(json!({}), json!({"cpu": 1501}), &["Insufficient cpu"]);
        check(json!({}), json!({"cpu": 1501, "memory": 1_073_741_825}), &["Insufficient cpu", "Insufficient memory"]);
        let mut full = node(json!({}));
        full.requested.pods = 3;
        let pod = json!({});
        let demands = |cpu: i64| Demands::of(&pod, Resources { cpu, ..Resources::default() });
        assert_eq!(demands(0).reasons(&full), [Reason { words: "Too many pods", may_be_resolved: true }]);
        // If a node never had enough, deleting other Pods does not help.
        assert!(!demands(2001).reasons(&full)[1].may_be_resolved);
    }
}
