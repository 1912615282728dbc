//! Which resources a server has: aggregated discovery (KEP-3352), as `/api` and `/apis` answer it.

use std::borrow::Cow;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;

use crate::api::object::{DecodeError, map};
use crate::api::resource::{ApiResource, intern};

/// The paths of discovery, without a leading slash: the core group, and all others.
pub const PATHS: [&str; 2] = ["api", "apis"];
/// The media type that asks for everything at once; servers before 1.26 answer something else to it.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// One resource in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// Path, names and scope.
    pub resource: ApiResource,
    /// `pod`; where the server names none, the kind in lower case.
    pub singular: &'static str,
    /// kubectl's short names: `po`.
    pub short_names: Vec<&'static str>,
    /// Whether it is in the version that the server prefers, of those that have the resource.
    pub preferred: bool,
    /// What can be done with it: `list`, `watch`.
    verbs: Vec<Box<str>>,
}

impl Discovered {
    /// Whether all these verbs are known.
    pub fn supports(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|known| **known == **verb))
    }
}

#[derive(Deserialize)]
struct Groups<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    items: Vec<Group<'a>>,
}

#[derive(Deserialize)]
struct Group<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    versions: Vec<Version<'a>>,
}

#[derive(Default, Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Version<'a> {
    #[serde(borrow)]
    version: Cow<'a, str>,
    #[serde(borrow, default)]
    resources: Vec<Resource<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    #[serde(borrow)]
    resource: Cow<'a, str>,
    #[serde(borrow, default)]
    response_kind: Option<ResponseKind<'a>>,
    #[serde(borrow, default)]
    scope: Cow<'a, str>,
    #[serde(borrow, default)]
    singular_resource: Cow<'a, str>,
    #[serde(borrow, default)]
    short_names: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    verbs: Vec<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct ResponseKind<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
}

/// Every resource in every version of an `APIGroupDiscoveryList`, subresources left out, in the server's order, which
/// is the order in which kubectl looks for a name.
///
/// # Errors
///
/// When the text is no such list: a server that does not aggregate answers an `APIGroupList`.
pub fn read(text: &str) -> Result<Vec<Discovered>, DecodeError> {
    let groups: Groups<'_> = serde_json::from_str(map(text)?)?;
    if groups.kind != "APIGroupDiscoveryList" {
        let words = format!("an APIGroupDiscoveryList was expected, and not {:?}", groups.kind);
        return Err(DecodeError::Json(serde::de::Error::custom(words)));
    }
    let mut all = Vec::new();
    for group in groups.items {
        // The preferred version comes first; a later one may have more resources.
        let mut seen: HashSet<&str, FxBuildHasher> = HashSet::default();
        for version in group.versions {
            for resource in version.resources {
                let kind = resource.response_kind.unwrap_or_default().kind;
                let singular = match &*resource.singular_resource {
                    "" => kind.to_lowercase(),
                    singular => singular.to_owned(),
                };
                all.push(Discovered {
                    preferred: seen.insert(intern(&resource.resource)),
                    resource: ApiResource {
                        group: intern(&group.metadata.name),
                        version: intern(&version.version),
                        plural: intern(&resource.resource),
                        kind: intern(&kind),
                        namespaced: resource.scope == "Namespaced",
                    },
                    singular: intern(&singular),
                    short_names: resource.short_names.iter().map(|name| intern(name)).collect(),
                    verbs: resource.verbs.iter().map(|verb| (**verb).into()).collect(),
                });
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(text: &str) -> Vec<Discovered> {
        read(text).unwrap()
    }

    #[test]
    fn what_a_real_server_has_is_read() {
        let core = recorded(include_str!("../../tests/fixtures/discovery/discovery-api.json"));
        let pods = core.iter().find(|one| one.resource.plural == "pods").unwrap();
        assert_eq!((pods.resource.kind, pods.resource.group, pods.singular), ("Pod", "", "pod"));
        assert!(pods.resource.namespaced && pods.preferred && pods.supports(&["list", "watch"]));
        assert_eq!((&*pods.short_names, pods.resource.api_version().as_str()), (&["po"][..], "v1"));
        let groups = recorded(include_str!("../../tests/fixtures/discovery/discovery-apis.json"));
        let preferred: Vec<(&str, bool)> = groups
            .iter()
            .filter(|one| one.resource.plural == "horizontalpodautoscalers")
            .map(|one| (one.resource.version, one.preferred))
            .collect();
        assert_eq!(preferred, [("v2", true), ("v1", false)]);
        assert!(groups.iter().all(|one| one.resource.plural != "deployments/status"));
    }

    #[test]
    fn a_server_that_does_not_aggregate_is_told_apart() {
        assert!(read(include_str!("../../tests/fixtures/discovery/legacy-apis.json")).is_err());
        for text in ["", "[]", "{}", r#"{"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]}"#] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read(r#"{"kind":"APIGroupDiscoveryList"}"#).unwrap(), []);
    }

    #[test]
    fn the_first_version_that_has_a_resource_is_preferred() {
        let text = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.org"},"versions":[
            {"version":"v2","resources":[{"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Cluster",
                "verbs":["get","list"]}]},
            {"version":"v1","resources":[{"resource":"widgets"},{"resource":"gadgets"}]}]}]}"#;
        let all = recorded(text);
        let told: Vec<String> = all
            .iter()
            .map(|one| format!("{} {} {}", one.resource.api_version(), one.resource.plural, one.preferred))
            .collect();
        assert_eq!(
            told,
            ["example.org/v2 widgets true", "example.org/v1 widgets false", "example.org/v1 gadgets true"]
        );
        assert!(all[0].supports(&["list", "get"]) && !all[0].supports(&["list", "watch"]));
        assert!(!all[0].resource.namespaced && all[0].singular == "widget");
    }
}
