//! CustomResourceDefinitions: the resources that one defines, one for each served version.

use serde_json::{Value, json};

use crate::resources::builtin;
use crate::resources::columns::Columns;
use crate::resources::printer_column::PrinterColumn;
use crate::resources::resource::{Resource, ScalePaths};

/// The finalizer that keeps a definition until its objects are deleted.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Why a definition is refused: the field, and the message.
pub type Refusal = (&'static str, String);

/// The resources of a definition. The storage keeps their objects under `id`.
pub fn resources(definition: &Value, id: usize) -> Result<Vec<Resource>, Refusal> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let required = |field: &'static str, pointer: &str| match text(pointer) {
        found if found.is_empty() => Err((field, "Required value".to_owned())),
        found => Ok(found),
    };
    let name = text("/metadata/name");
    let group = required("spec.group", "/spec/group")?;
    let plural = required("spec.names.plural", "/spec/names/plural")?;
    let kind = required("spec.names.kind", "/spec/names/kind")?;
    let invalid = |field, found: &str, why: &str| Err((field, format!("Invalid value: {found:?}: {why}")));
    if !is_label(&plural) {
        return invalid("spec.names.plural", &plural, "must be a lowercase RFC 1035 label");
    }
    if !group.contains('.') || !group.split('.').all(is_label) {
        return invalid("spec.group", &group, "should be a domain with at least one dot");
    }
    if builtin::RESOURCES.iter().any(|one| one.group() == group) {
        return invalid("spec.group", &group, "is served by this server itself");
    }
    if !is_label(&kind.to_lowercase()) {
        return invalid("spec.names.kind", &kind, "may have mixed case, but should otherwise match a label");
    }
    if name != format!("{plural}.{group}") {
        return invalid("metadata.name", &name, "must be spec.names.plural+\".\"+spec.group");
    }
    let namespaced = match text("/spec/scope").as_str() {
        "Namespaced" => true,
        "Cluster" => false,
        other => {
            let why = format!("Unsupported value: {other:?}: supported values: \"Cluster\", \"Namespaced\"");
            return Err(("spec.scope", why));
        }
    };
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        return invalid("spec.versions", "", "must have exactly one version marked as storage version");
    }
    let mut resources = Vec::new();
    for version in versions {
        let name_of_version = version["name"].as_str().unwrap_or_default();
        if !is_label(name_of_version) {
            return invalid("spec.versions[0].name", name_of_version, "must be a lowercase RFC 1035 label");
        }
        if version["served"] != true {
            continue;
        }
        let singular = match text("/spec/names/singular") {
            empty if empty.is_empty() => kind.to_lowercase(),
            singular => singular,
        };
        resources.push(Resource {
            id,
            api_version: format!("{group}/{name_of_version}").into(),
            plural: plural.clone().into(),
            singular: singular.into(),
            kind: kind.clone().into(),
            namespaced,
            short_names: words(definition, "/spec/names/shortNames").into(),
            categories: words(definition, "/spec/names/categories").into(),
            read_only: false,
            has_status: version.pointer("/subresources/status").is_some(),
            scale: version.pointer("/subresources/scale").map(scale_paths),
            has_generation: true,
            selectable: &[],
            bookmark_fields: "",
            columns: columns_of(version),
            definition: name.clone().into(),
            definition_uid: text("/metadata/uid").into(),
        });
    }
    Ok(resources)
}

/// Adds to a written definition what the server sets: defaults, accepted names, and conditions.
pub fn complete(definition: &mut Value, now: &str) {
    let Some(kind) = definition.pointer("/spec/names/kind").and_then(Value::as_str).map(str::to_owned) else { return };
    let names = &mut definition["spec"]["names"];
    for (field, default) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
        if names.get(field).is_none() {
            names[field] = default.into();
        }
    }
    let names = names.clone();
    if definition.pointer("/spec/conversion").is_none() {
        definition["spec"]["conversion"] = json!({"strategy": "None"});
    }
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let stored: Vec<Value> = versions.filter(|one| one["storage"] == true).map(|one| one["name"].clone()).collect();
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message});
    if definition.pointer("/status/conditions").is_none() {
        definition["status"] = json!({"conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted")]});
    }
    definition["status"]["acceptedNames"] = names;
    definition["status"]["storedVersions"] = stored.into();
}

/// Adds to a definition what the server sets when its deletion begins: the finalizer that keeps the definition until
/// its objects are deleted, and the condition Terminating (`customresourcedefinition/etcd.go`, `Delete`).
pub fn begin_deletion(definition: &mut Value, now: &str) {
    let finalizers = &mut definition["metadata"]["finalizers"];
    if !finalizers.as_array().is_some_and(|all| all.iter().any(|one| one == CLEANUP)) {
        let mut all = finalizers.as_array().cloned().unwrap_or_default();
        all.push(CLEANUP.into());
        *finalizers = all.into();
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    let terminating = json!({"type": "Terminating", "status": "True", "lastTransitionTime": now,
        "reason": "InstanceDeletionPending", "message": message});
    match definition.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        Some(conditions) => conditions.push(terminating),
        None => definition["status"]["conditions"] = json!([terminating]),
    }
}

/// Whether a text is a label of RFC 1123, which may begin with a digit. Both versions such as `v1` and groups are
/// checked so.
fn is_label(text: &str) -> bool {
    let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.chars().all(|letter| good(letter) || letter == '-')
        && text.starts_with(good)
        && text.ends_with(good)
}

fn words(definition: &Value, pointer: &str) -> String {
    let all = definition.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).filter(|word| is_label(word)).collect::<Vec<_>>().join(" ")
}

fn scale_paths(scale: &Value) -> ScalePaths {
    let pointer = |field: &str| scale[field].as_str().unwrap_or_default().replace('.', "/");
    ScalePaths {
        wanted: pointer("specReplicasPath").into(),
        current: pointer("statusReplicasPath").into(),
        selector: pointer("labelSelectorPath").into(),
    }
}

fn columns_of(version: &Value) -> Columns {
    let all = version["additionalPrinterColumns"].as_array().into_iter().flatten();
    // The server drops all columns from the first invalid path on.
    let columns: Vec<PrinterColumn> = all.map_while(PrinterColumn::of).collect();
    // Without columns, the page's default applies: name and age.
    if columns.is_empty() { Columns::Page } else { Columns::Custom(columns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::fields;

    fn widgets() -> Value {
        json!({"metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org",
            "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd", "x y"]},
            "versions": [{"name": "v1", "served": true, "storage": true}, {"name": "v2", "served": false}]}})
    }

    #[test]
    fn each_served_version_is_a_resource() {
        let all = resources(&widgets(), 99).unwrap();
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!(
            (&*one.api_version, &*one.singular, &*one.short_names, one.id),
            ("example.org/v1", "widget", "wd", 99)
        );
        assert!(one.namespaced && !one.has_status && one.scale.is_none());
    }

    #[test]
    fn a_definition_that_does_not_fit_is_refused() {
        for (path, value, field) in [
            (&["metadata", "name"][..], json!("other.example.org"), "metadata.name"),
            (&["spec", "group"], Value::Null, "spec.group"),
            (&["spec", "group"], json!("apps"), "spec.group"),
            (&["spec", "names", "plural"], json!("Wid gets"), "spec.names.plural"),
            (&["spec", "names", "kind"], json!("<b>"), "spec.names.kind"),
            (&["spec", "scope"], json!("Galaxy"), "spec.scope"),
            (&["spec", "versions"], json!([]), "spec.versions"),
            (
                &["spec", "versions"],
                json!([{"name": "../v1", "served": true, "storage": true}]),
                "spec.versions[0].name",
            ),
        ] {
            let mut definition = widgets();
            fields::set(&mut definition, path, value);
            assert_eq!(resources(&definition, 99).err().map(|(field, _)| field), Some(field));
        }
    }
}
