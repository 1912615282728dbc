//! Label selectors in objects (`metav1.LabelSelectorAsSelector`).

use kubechurn_client::api::object::Object;
use kubechurn_client::api::selector::{LabelSelector, SelectorError};
use serde_json::Value;

/// The selector in an object's `spec.selector`.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// `None` if the selector is absent: then it matches nothing. An empty selector matches everything.
    labels: Option<LabelSelector>,
}

impl Selector {
    /// Parses `{matchLabels, matchExpressions}`.
    ///
    /// # Errors
    /// When an operator is unknown, or a key or value is not valid for a label.
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

    /// The selector of a workload, if it is valid: it matches something but not everything, and it matches the
    /// workload's own template. A real server refuses to store any other (`ValidateReplicaSetSpec` and the like in
    /// `pkg/apis/apps/validation`), and a controller would create Pods for it without end.
    pub fn of_workload(workload: &Value) -> Option<Self> {
        let selector = Self::parse(&workload["spec"]["selector"]).ok()?;
        let is_sound = selector.matches_labels(&workload["spec"]["template"]["metadata"]["labels"]);
        (is_sound && !selector.selects_everything()).then_some(selector)
    }

    /// Whether the selector matches labels, given as JSON.
    pub fn matches_labels(&self, labels: &Value) -> bool {
        self.labels.as_ref().is_some_and(|selector| selector.matches(|key| labels.get(key)?.as_str()))
    }

    /// Whether the selector matches an object.
    pub fn matches(&self, object: &Value) -> bool {
        self.matches_labels(&object["metadata"]["labels"])
    }

    /// Whether the selector matches an object of an informer.
    pub fn matches_object(&self, object: &Object) -> bool {
        self.labels.as_ref().is_some_and(|selector| selector.matches(|key| object.label(key)))
    }

    /// Whether the selector exists and matches everything, which is an error for workloads.
    pub fn selects_everything(&self) -> bool {
        self.labels.as_ref().is_some_and(LabelSelector::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks whether a selector matches `{app: web, tier: front}`; `None` if the selector is not valid.
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
