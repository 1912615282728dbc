//! Which objects a list or watch selects: by namespace, labels and fields.

use std::collections::HashMap;

use kubechurn_client::api::selector::{FieldSelector, LabelSelector};
use serde_json::Value;

use crate::resources::object::Object;

/// The objects of a resource that a request selects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Requirements on labels, all of which must hold.
    pub labels: LabelSelector,
    /// Requirements on fields that [`parse_fields`] has accepted, all of which must hold.
    pub fields: FieldSelector,
}

impl Filter {
    /// Whether the filter has a selector. Lists with one do not say how many items remain.
    pub fn selects(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Whether the object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        let label = |key: &str| {
            let found = object.labels.binary_search_by(|(label, _)| (**label).cmp(key));
            found.ok().map(|index| &*object.labels[index].1)
        };
        let fields = self.fields_of(object);
        let field = |path: &str| match path {
            "metadata.name" => &*object.name,
            "metadata.namespace" => &*object.namespace,
            other => fields.get(other).map_or("", String::as_str),
        };
        self.namespace.as_deref().is_none_or(|namespace| *namespace == *object.namespace)
            && self.fields.matches(field)
            && self.labels.matches(label)
    }

    /// The fields that the selector uses, apart from those that every object has; few selectors use any.
    fn fields_of(&self, object: &Object) -> HashMap<String, String> {
        let known = |field: &str| matches!(field, "metadata.name" | "metadata.namespace");
        let asked: Vec<&str> =
            self.fields.requirements().iter().map(|one| one.field()).filter(|one| !known(one)).collect();
        if asked.is_empty() {
            return HashMap::new();
        }
        let value = object.to_value();
        asked.into_iter().map(|field| (field.to_owned(), field_of(&value, field))).collect()
    }
}

/// The value of a field, as a selector compares it.
fn field_of(object: &Value, field: &str) -> String {
    // The source of an Event is the component that reported it.
    let field = if field == "source" { "source.component" } else { field };
    match object.pointer(&format!("/{}", field.replace('.', "/"))) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => match field {
            "spec.unschedulable" | "spec.hostNetwork" => "false".to_owned(),
            "status.replicas" | "status.successful" => "0".to_owned(),
            _ => String::new(),
        },
        Some(other) => other.to_string(),
    }
}

/// Parses a label selector; the error is the message of the 400 answer.
pub fn parse_labels(text: &str) -> Result<LabelSelector, String> {
    LabelSelector::parse(text).map_err(|error| error.words)
}

/// Parses a field selector, which may use the fields of every resource and those in `selectable`; the error is the
/// message of the 400 answer.
pub fn parse_fields(text: &str, selectable: &[&str]) -> Result<FieldSelector, String> {
    let selector = FieldSelector::parse(text).map_err(|error| error.words)?;
    let unknown =
        |field: &str| !matches!(field, "metadata.name" | "metadata.namespace") && !selectable.contains(&field);
    match selector.requirements().iter().find(|requirement| unknown(requirement.field())) {
        Some(requirement) => Err(format!("field label not supported: {}", requirement.field())),
        None => Ok(selector),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::builtin::PODS;
    use crate::resources::object::Draft;

    /// Checks whether label and field selectors match an object, or the message of the 400 answer.
    fn check(labels: &str, fields: &str, expected: Result<bool, &str>) {
        let metadata = json!({"name": "web", "namespace": "shop", "labels": {"app": "web", "empty": ""}});
        let object = Draft::from_value(json!({"metadata": metadata, "spec": {"nodeName": "n", "hostNetwork": true}}))
            .unwrap()
            .into_object(&PODS, 1);
        let filter = || {
            Ok(Filter {
                labels: parse_labels(labels)?,
                fields: parse_fields(fields, PODS.selectable)?,
                ..Filter::default()
            })
        };
        let got = filter().map(|filter| filter.matches(&object));
        assert_eq!(got, expected.map_err(str::to_owned), "{labels} {fields}");
    }

    #[test]
    fn labels_and_fields_select_objects() {
        check("", "", Ok(true));
        check("app=web,empty=,!missing", "metadata.name=web", Ok(true));
        check("app in (db)", "", Ok(false));
        check("missing", "", Ok(false));
        check("", "metadata.name==web,metadata.namespace!=shop", Ok(false));
        check("", "spec.nodeName=n,status.phase!=Running,spec.hostNetwork=true", Ok(true));
        check("", "status.phase=Running", Ok(false));
        check("a in b", "", Err("unable to parse requirement: found 'b' expected: '('"));
        check("", "spec.nosuch=x", Err("field label not supported: spec.nosuch"));
        check("", "web", Err("invalid selector: 'web'; can't understand 'web'"));
    }
}
