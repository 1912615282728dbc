//! What a CustomResourceDefinition says of its objects' columns: `additionalPrinterColumns`.

use serde::de::Error as _;

use crate::api::object::DecodeError;
use crate::api::resource::ApiResource;
use crate::json::{self, Text};

/// A column as a definition has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrinterColumn {
    /// The title, in upper and lower case as the definition has it.
    pub name: String,
    /// `integer`, `number`, `string`, `boolean` or `date`. A column of another type stays empty.
    pub value_type: String,
    /// The format of the type: `int32`, `password`. kubectl does not use it.
    pub format: String,
    /// 0 for a column that is always shown; other columns are shown on demand.
    pub priority: i64,
    /// The JSONPath of the value, without braces: `.spec.size`.
    pub json_path: String,
}

/// The type of a column that no definition has: the state that an object's status says.
pub const STATE: &str = "state";

/// The groups that API servers serve themselves. Other groups that end in `.k8s.io` may be defined by other projects of
/// Kubernetes (kubernetes `pkg/controlplane/instance.go`, and its aggregated and extension servers').
const BUILT_IN: [&str; 18] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether resources of a group may have definitions: the name of such a group is a domain, with at least one dot.
pub fn may_define(group: &str) -> bool {
    group.contains('.') && !BUILT_IN.contains(&group)
}

/// The path of a resource's definition, without a leading slash.
pub fn path(resource: &ApiResource) -> String {
    format!("apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}.{}", resource.plural, resource.group)
}

/// The columns of one version; none where the definition has none for that version. Schemas are skipped. Where the version has a
/// status subresource, the last column is one of the type [`STATE`], which is shown on demand and which no definition has. It
/// is meant for a kind none of whose own columns says in which state an object is.
///
/// # Errors
///
/// When the text is no definition.
pub fn read(text: &str, version: &str) -> Result<Vec<PrinterColumn>, DecodeError> {
    let [kind, versions, ..] = json::pick(text, &["kind", "spec versions"])?;
    let kind = Text::read(kind)?;
    if &*kind != "CustomResourceDefinition" {
        let words = format!("a CustomResourceDefinition was expected, and not {:?}", &*kind);
        return Err(DecodeError::Json(serde_json::Error::custom(words)));
    }
    let mut found = None;
    json::each_item(versions, &mut |text| {
        let paths = ["name", "additionalPrinterColumns", "subresources status"];
        let [name, columns, status, ..] = json::pick(text, &paths)?;
        if found.is_none() && &*Text::required(name, "name")? == version {
            found = Some((columns, status));
        }
        Ok(())
    })?;
    let (own, status) = found.unwrap_or_default();
    let mut columns = Vec::new();
    json::each_item(own, &mut |column| {
        let paths = ["name", "type", "format", "jsonPath", "priority"];
        let [name, value_type, format, json_path, priority, ..] = json::pick(column, &paths)?;
        let owned = |value| Text::read(value).map(|text| text.0.into_owned());
        columns.push(PrinterColumn {
            name: owned(name)?,
            value_type: owned(value_type)?,
            format: owned(format)?,
            priority: json::integer(priority).unwrap_or(0),
            json_path: owned(json_path)?,
        });
        Ok(())
    })?;
    if status.starts_with('{') {
        columns.push(PrinterColumn {
            name: String::from("State"),
            value_type: STATE.to_owned(),
            priority: 1,
            json_path: String::from(".status"),
            ..PrinterColumn::default()
        });
    }
    Ok(columns)
}

/// A definition without what is not needed to read it again: it names its resource, and the columns and subresources of each
/// version. Schemas, which may be long, and metadata are not in it. `None` for what is no definition.
pub fn in_brief(text: &str) -> Option<String> {
    let paths = ["kind", "spec group", "spec names", "spec scope", "spec versions"];
    let [kind, group, names, scope, versions, ..] = json::pick(text, &paths).ok()?;
    (&*Text::read(kind).ok()? == "CustomResourceDefinition").then_some(())?;
    // A member that is not there is an empty slice.
    let object = |members: &[(&str, &str)]| {
        let there = members.iter().filter(|(_, value)| !value.is_empty());
        let all: Vec<String> = there.map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", all.join(","))
    };
    let mut all = Vec::new();
    json::each_item(versions, &mut |version| {
        let paths = ["name", "served", "additionalPrinterColumns", "subresources"];
        let [name, served, columns, subresources, ..] = json::pick(version, &paths)?;
        let members = [("name", name), ("served", served), ("additionalPrinterColumns", columns)];
        all.push(object(&[&members[..], &[("subresources", subresources)]].concat()));
        Ok(())
    })
    .ok()?;
    let versions = format!("[{}]", all.join(","));
    let spec = object(&[("group", group), ("names", names), ("scope", scope), ("versions", &versions)]);
    Some(object(&[("kind", kind), ("spec", &spec)]))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn the_columns_of_a_recorded_definition_are_read() {
        #[derive(Deserialize)]
        struct List {
            items: Vec<Box<RawValue>>,
        }
        let list = include_str!("../../../../tests/fixtures/lists/customresourcedefinitions.apiextensions.k8s.io.json");
        let list: List = serde_json::from_str(list).unwrap();
        let text = list.items[0].get().replacen('{', r#"{"kind":"CustomResourceDefinition","#, 1);
        let columns: Vec<String> = read(&text, "v1")
            .unwrap()
            .iter()
            .map(|one| format!("{} {} {} {}", one.name, one.value_type, one.priority, one.json_path))
            .collect();
        assert_eq!(
            columns,
            [
                "Size integer 0 .spec.size",
                "Phase string 0 .status.phase",
                "Ready string 0 .status.conditions[?(@.type==\"Ready\")].status",
                "Hosts string 1 .spec.hosts[*]",
                "Since date 0 .metadata.creationTimestamp",
                "State state 1 .status",
            ]
        );
        assert_eq!(read(&text, "v2").unwrap(), []);
        let brief = in_brief(&text).unwrap();
        assert_eq!(read(&brief, "v1").unwrap(), read(&text, "v1").unwrap());
        assert!(brief.len() < text.len() && !brief.contains("openAPIV3Schema"), "{brief}");
        let value: serde_json::Value = serde_json::from_str(&brief).unwrap();
        assert!(value["spec"]["names"]["plural"].is_string() && value["spec"]["group"].is_string(), "{brief}");
    }

    #[test]
    fn what_is_no_definition_is_refused_and_what_lacks_columns_has_none() {
        for text in ["", "[]", "{}", r#"{"kind":"Status"}"#, r#"{"kind":"Status","spec":{}}"#] {
            assert!(read(text, "v1").is_err() && in_brief(text).is_none(), "{text}");
        }
        for versions in ["", r#"{"name":"v1"}"#, r#"{"name":"v1","additionalPrinterColumns":null}"#] {
            let text = format!(r#"{{"kind":"CustomResourceDefinition","spec":{{"versions":[{versions}]}}}}"#);
            assert_eq!(read(&text, "v1").unwrap(), [], "{text}");
        }
    }

    #[test]
    fn only_domains_that_are_not_the_servers_own_have_definitions() {
        for group in ["example.org", "gateway.networking.k8s.io", "metrics.k8s.io"] {
            assert!(may_define(group), "{group}");
        }
        for group in ["", "apps", "batch", "storage.k8s.io", "apiextensions.k8s.io"] {
            assert!(!may_define(group), "{group}");
        }
    }

    #[test]
    fn the_path_names_plural_and_group() {
        let resource = ApiResource {
            group: "example.org",
            version: "v1",
            plural: "widgets",
            kind: "Widget",
            namespaced: true,
            cluster: "",
        };
        assert_eq!(path(&resource), "apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org");
    }
}
