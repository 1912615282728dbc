//! Which objects a list or watch is about: a namespace, and selectors on labels and fields.

use kubechurn::api::selector::{FieldSelector, LabelSelector};

use super::object::Object;

/// Which objects of a resource a request is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Requirements on labels, all of which must hold.
    pub labels: LabelSelector,
    /// Requirements on fields that [`parse_fields`] let pass, all of which must hold.
    pub fields: FieldSelector,
}

impl Filter {
    /// Whether it selects by anything but the namespace; such lists do not say how many items remain.
    pub fn selects(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Whether the object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        let label = |key: &str| {
            let found = object.labels.binary_search_by(|(label, _)| (**label).cmp(key));
            found.ok().map(|index| &*object.labels[index].1)
        };
        let field = |path: &str| match path {
            "metadata.name" => &*object.name,
            "metadata.namespace" => &*object.namespace,
            _ => "",
        };
        self.namespace.as_deref().is_none_or(|namespace| *namespace == *object.namespace)
            && self.fields.matches(field)
            && self.labels.matches(label)
    }
}

/// Parses a label selector; the error is the message of the 400.
pub fn parse_labels(text: &str) -> Result<LabelSelector, String> {
    LabelSelector::parse(text).map_err(|error| error.words)
}

/// Parses a selector of the fields that every resource has; the error is the message of the 400.
pub fn parse_fields(text: &str) -> Result<FieldSelector, String> {
    let selector = FieldSelector::parse(text).map_err(|error| error.words)?;
    let unknown = |field: &str| !matches!(field, "metadata.name" | "metadata.namespace");
    match selector.requirements().iter().find(|requirement| unknown(requirement.field())) {
        Some(requirement) => Err(format!("field label not supported: {}", requirement.field())),
        None => Ok(selector),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::object::Draft;
    use super::super::resource::PODS;
    use super::*;

    /// Whether selectors on labels and fields select an object, or the message of the 400.
    fn check(labels: &str, fields: &str, expected: Result<bool, &str>) {
        let metadata = json!({"name": "web", "namespace": "shop", "labels": {"app": "web", "empty": ""}});
        let object = Draft::from_value(json!({"metadata": metadata, "spec": {}})).unwrap().into_object(PODS, 1);
        let filter =
            || Ok(Filter { labels: parse_labels(labels)?, fields: parse_fields(fields)?, ..Filter::default() });
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
        check("a in b", "", Err("unable to parse requirement: found 'b' expected: '('"));
        check("", "spec.nosuch=x", Err("field label not supported: spec.nosuch"));
        check("", "web", Err("invalid selector: 'web'; can't understand 'web'"));
    }
}
