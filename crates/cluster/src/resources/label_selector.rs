//! Label selectors as objects carry them (`metav1.LabelSelectorAsSelector`).

use kubechurn_client::api::object::Object;
use kubechurn_client::api::selector::{LabelSelector, SelectorError};
use serde_json::Value;

/// What an object's `spec.selector` selects.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// `None` for a selector that is absent: it selects nothing. The empty one selects everything.
    labels: Option<LabelSelector>,
}

impl Selector {
    /// Reads `{matchLabels, matchExpressions}`.
    ///
    /// # Errors
    /// When an operator is unknown, or a key or value is none that a label may have.
    pub fn parse(selector: &Value) -> Result<Self, SelectorError> {
        let Some(fields) = selector.as_object() else { return Ok(Self { labels: None }) };
        let mut parts = Vec::new();
        for (key, value) in fields.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
            parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
        }
        for expression in fields.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            let key = expression["key"].as_str().unwrap_or_default();
            let values = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let values = values.collect::<Vec<&str>>().join(",");
            parts.push(match expression["operator"].as_str().unwrap_or_default() {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "Exists" => key.to_owned(),
                "DoesNotExist" => format!("!{key}"),
                other => {
                    let words = format!("{other:?} is not a valid label selector operator");
                    return Err(SelectorError { words, at: 0 });
                }
            });
        }
        LabelSelector::parse(&parts.join(",")).map(|labels| Self { labels: Some(labels) })
    }

    /// What a workload selects, if that makes sense: it selects something, not everything, and above all the Pods of its
    /// own template. A real server refuses to store others (`ValidateReplicaSetSpec` and its like in
    /// `pkg/apis/apps/validation`); whoever created Pods for such a one would create them without end.
    pub fn of_workload(workload: &Value) -> Option<Self> {
        let selector = Self::parse(&workload["spec"]["selector"]).ok()?;
        let is_sound = selector.matches_labels(&workload["spec"]["template"]["metadata"]["labels"]);
        (is_sound && !selector.selects_everything()).then_some(selector)
    }

    /// Whether an object's labels, given as JSON, are selected.
    pub fn matches_labels(&self, labels: &Value) -> bool {
        self.labels.as_ref().is_some_and(|selector| selector.matches(|key| labels.get(key)?.as_str()))
    }

    /// Whether an object is selected.
    pub fn matches(&self, object: &Value) -> bool {
        self.matches_labels(&object["metadata"]["labels"])
    }

    /// Whether an object of an informer is selected.
    pub fn matches_object(&self, object: &Object) -> bool {
        self.labels.as_ref().is_some_and(|selector| selector.matches(|key| object.label(key)))
    }

    /// Whether it is there and selects everything, which workloads take for a mistake.
    pub fn selects_everything(&self) -> bool {
        self.labels.as_ref().is_some_and(LabelSelector::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whether a selector selects `{app: web, tier: front}`; `None` for one that cannot be read.
    fn check(selector: Value, expected: Option<bool>) {
        let labels = json!({"app": "web", "tier": "front"});
        let got = Selector::parse(&selector).ok().map(|selector| selector.matches_labels(&labels));
        assert_eq!(got, expected, "{selector}");
    }

    #[test]
    fn a_workload_selects_its_own_pods_and_not_all() {
        for (selector, labels, expected) in [
            (json!({"matchLabels": {"app": "web"}}), json!({"app": "web", "tier": "front"}), true),
            (json!({"matchLabels": {"app": "web"}}), json!({"app": "db"}), false),
            (json!({"matchLabels": {"app": "web"}}), Value::Null, false),
            (json!({"matchLabels": {}}), json!({"app": "web"}), false),
            (Value::Null, json!({"app": "web"}), false),
            (json!(7), json!({"app": "web"}), false),
        ] {
            let workload = json!({"spec": {"selector": selector, "template": {"metadata": {"labels": labels}}}});
            assert_eq!(Selector::of_workload(&workload).is_some(), expected, "{workload}");
        }
    }

    #[test]
    fn selectors_of_objects() {
        check(Value::Null, Some(false));
        check(json!({}), Some(true));
        check(json!({"matchLabels": {"app": "web", "tier": "front"}}), Some(true));
        check(json!({"matchLabels": {"app": "web", "tier": "back"}}), Some(false));
        let expression = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        check(expression("app", "In", &["web", "db"]), Some(true));
        check(expression("app", "NotIn", &["web"]), Some(false));
        check(expression("app", "Exists", &[]), Some(true));
        check(expression("app", "DoesNotExist", &[]), Some(false));
        check(expression("app", "Near", &[]), None);
        check(expression("in valid", "Exists", &[]), None);
    }
}
