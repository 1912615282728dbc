//! Which resources a server has: aggregated discovery (KEP-3352), as `/api` and `/apis` answer it, and the documents
//! of servers that do not aggregate.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use serde::de::Error as _;

use crate::api::object::DecodeError;
use crate::api::resource::{ApiResource, intern};
use crate::json::{self, Text};

/// The paths of discovery, without a leading slash: that of the core group, and that of all other groups.
pub const PATHS: [&str; 2] = ["api", "apis"];
/// The `Accept` header: all resources at once, in either version of that answer. Servers before 1.26 have neither version, and
/// answer with the names of groups alone.
pub const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// What `/api` or `/apis` answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// All resources.
    Aggregated {
        /// Every resource in every version, in the server's order, which is that in which kubectl looks for a name.
        resources: Vec<Discovered>,
        /// The versions of groups whose own server does not answer (`freshness: Stale`): `metrics.k8s.io/v1beta1`.
        stale: Vec<&'static str>,
    },
    /// The versions of each group, the preferred one first: each has a document of its own.
    Versions(Vec<GroupVersion>),
}

/// A version of a group, which a server that does not aggregate describes in a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupVersion {
    /// Empty for the core group.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
}

impl GroupVersion {
    /// The path of its document, without a leading slash.
    pub fn path(self) -> String {
        match self.group {
            "" => format!("api/{}", self.version),
            group => format!("apis/{group}/{}", self.version),
        }
    }
}

/// One resource in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// Path, names and scope.
    pub resource: ApiResource,
    /// `pod`; where the server names none, the kind in lower case.
    pub singular: &'static str,
    /// kubectl's short names: `po`.
    pub short_names: Vec<&'static str>,
    /// Whether this is the version that the server prefers, of those that have the resource.
    pub preferred: bool,
    /// What can be done with it: `list`, `watch`.
    verbs: Vec<Box<str>>,
}

impl Discovered {
    /// A resource of which only this is known, and that it was listed and watched.
    pub fn watched(resource: ApiResource) -> Discovered {
        let verbs = ["list", "watch"].map(Box::from).to_vec();
        let singular = intern(&resource.kind.to_lowercase());
        Discovered { resource, singular, short_names: Vec::new(), preferred: true, verbs }
    }

    /// Whether the resource has all these verbs.
    pub fn supports(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|known| **known == **verb))
    }
}

/// Reads what `/api` or `/apis` answers. Subresources are left out.
///
/// Here and below, `null` stands for an empty text or list: Go writes both, and the `verbs` of a resource that only lends its
/// name to subresources are `null`.
///
/// # Errors
///
/// When the text is no document of discovery.
pub fn read(text: &str) -> Result<Answer, DecodeError> {
    let [kind, items, groups, versions, ..] = json::pick(text, &["kind", "items", "groups", "versions"])?;
    let mut found = Vec::new();
    match &*Text::required(kind, "kind")? {
        "APIGroupDiscoveryList" => return aggregated(items),
        "APIGroupList" => json::each_item(groups, &mut |group| read_versions(group, &mut found))?,
        "APIVersions" => json::each_item(versions, &mut |version| {
            found.push(GroupVersion { group: "", version: intern(&Text::read(version)?) });
            Ok(())
        })?,
        other => return Err(unexpected("an APIGroupDiscoveryList", other)),
    }
    Ok(Answer::Versions(found))
}

/// Reads the `APIResourceList` of one version of a group. [`prefer`] marks the preferred versions afterwards.
///
/// # Errors
///
/// When the text is no such list.
pub fn read_version(text: &str, of: GroupVersion) -> Result<Vec<Discovered>, DecodeError> {
    let [kind, resources, ..] = json::pick(text, &["kind", "resources"])?;
    let kind = Text::required(kind, "kind")?;
    if &*kind != "APIResourceList" {
        return Err(unexpected("an APIResourceList", &kind));
    }
    let mut found = Vec::new();
    json::each_item(resources, &mut |resource| {
        let paths = ["name", "kind", "singularName", "namespaced", "shortNames", "verbs"];
        let [name, kind, singular, namespaced, short_names, verbs, ..] = json::pick(resource, &paths)?;
        let name = Text::required(name, "name")?;
        if !name.contains('/') {
            found.push(discovered(of, name, [kind, singular, short_names, verbs], namespaced == "true")?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Marks the first version of each resource as the preferred one. The versions must be in the order of preference.
pub fn prefer(resources: &mut [Discovered]) {
    let mut seen: HashSet<(&str, &str), FxBuildHasher> = HashSet::default();
    for one in resources {
        one.preferred = seen.insert((one.resource.group, one.resource.plural));
    }
}

fn unexpected(expected: &str, kind: &str) -> DecodeError {
    let kind: String = kind.chars().take(60).collect();
    DecodeError::Json(serde_json::Error::custom(format!("{expected} was expected, and not {kind:?}")))
}

/// A resource whose names are the values of these members. [`prefer`] marks the preferred versions afterwards.
fn discovered(
    of: GroupVersion,
    plural: Text<'_>,
    [kind, singular, short_names, verbs]: [&str; 4],
    namespaced: bool,
) -> serde_json::Result<Discovered> {
    let GroupVersion { group, version } = of;
    let (kind, singular) = (Text::read(kind)?, Text::read(singular)?);
    let (mut known_short_names, mut known_verbs) = (Vec::new(), Vec::new());
    json::each_item(short_names, &mut |name| Text::read(name).map(|name| known_short_names.push(intern(&name))))?;
    json::each_item(verbs, &mut |verb| Text::read(verb).map(|verb| known_verbs.push((*verb).into())))?;
    Ok(Discovered {
        resource: ApiResource { group, version, plural: intern(&plural), kind: intern(&kind), namespaced, cluster: "" },
        singular: if singular.is_empty() { intern(&kind.to_lowercase()) } else { intern(&singular) },
        short_names: known_short_names,
        preferred: true,
        verbs: known_verbs,
    })
}

/// Adds a group's versions, the preferred one first.
fn read_versions(group: &str, found: &mut Vec<GroupVersion>) -> serde_json::Result<()> {
    let [name, versions, preferred, ..] = json::pick(group, &["name", "versions", "preferredVersion version"])?;
    let group = intern(&Text::required(name, "name")?);
    let mut add = |version: &str| {
        let version = GroupVersion { group, version: intern(&Text::required(version, "version")?) };
        if !found.contains(&version) {
            found.push(version);
        }
        Ok(())
    };
    if !preferred.is_empty() {
        add(preferred)?;
    }
    json::each_item(versions, &mut |version| add(json::pick(version, &["version"])?[0]))
}

fn aggregated(groups: &str) -> Result<Answer, DecodeError> {
    let (mut resources, mut stale) = (Vec::new(), Vec::new());
    json::each_item(groups, &mut |group| {
        let [name, versions, ..] = json::pick(group, &["metadata name", "versions"])?;
        let group = intern(&Text::read(name)?);
        json::each_item(versions, &mut |version| {
            let [version, freshness, items, ..] = json::pick(version, &["version", "freshness", "resources"])?;
            let of = GroupVersion { group, version: intern(&Text::required(version, "version")?) };
            if &*Text::read(freshness)? == "Stale" {
                stale.push(intern(&format!("{}/{}", of.group, of.version)));
            }
            json::each_item(items, &mut |resource| {
                let paths = ["resource", "responseKind kind", "singularResource", "scope", "shortNames", "verbs"];
                let [plural, kind, singular, scope, short_names, verbs, ..] = json::pick(resource, &paths)?;
                let (plural, scope) = (Text::required(plural, "resource")?, Text::read(scope)?);
                let names = [kind, singular, short_names, verbs];
                resources.push(discovered(of, plural, names, &*scope == "Namespaced")?);
                Ok(())
            })
        })
    })?;
    // The preferred version comes first; a later one may have more resources.
    prefer(&mut resources);
    Ok(Answer::Aggregated { resources, stale })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(text: &str) -> Vec<Discovered> {
        match read(text).unwrap() {
            Answer::Aggregated { resources, .. } => resources,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_real_server_has_is_read() {
        let core = recorded(include_str!("../../../../tests/fixtures/discovery/discovery-api.json"));
        let pods = core.iter().find(|one| one.resource.plural == "pods").unwrap();
        assert_eq!((pods.resource.kind, pods.resource.group, pods.singular), ("Pod", "", "pod"));
        assert!(pods.resource.namespaced && pods.preferred && pods.supports(&["list", "watch"]));
        assert_eq!((&*pods.short_names, pods.resource.api_version().as_str()), (&["po"][..], "v1"));
        let groups = recorded(include_str!("../../../../tests/fixtures/discovery/discovery-apis.json"));
        let preferred: Vec<(&str, bool)> = groups
            .iter()
            .filter(|one| one.resource.plural == "horizontalpodautoscalers")
            .map(|one| (one.resource.version, one.preferred))
            .collect();
        assert_eq!(preferred, [("v2", true), ("v1", false)]);
        assert!(groups.iter().all(|one| one.resource.plural != "deployments/status"));
    }

    #[test]
    fn a_server_that_does_not_aggregate_names_its_groups() {
        let versions = |text: &str| match read(text).unwrap() {
            Answer::Versions(versions) => versions.into_iter().map(GroupVersion::path).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(versions(include_str!("../../../../tests/fixtures/discovery/legacy-api.json")), ["api/v1"]);
        let groups = versions(include_str!("../../../../tests/fixtures/discovery/legacy-apis.json"));
        assert!(groups.starts_with(&["apis/apiregistration.k8s.io/v1".into(), "apis/apps/v1".into()]), "{groups:?}");
        let scaling: Vec<&String> = groups.iter().filter(|path| path.contains("/autoscaling/")).collect();
        assert_eq!(scaling, ["apis/autoscaling/v2", "apis/autoscaling/v1"]);
        let text = r#"{"kind":"APIGroupList","groups":[{"name":"a.b","versions":[{"version":"v2"},{"version":"v1"}],
            "preferredVersion":{"groupVersion":"a.b/v1","version":"v1"}}]}"#;
        assert_eq!(versions(text), ["apis/a.b/v1", "apis/a.b/v2"]);
    }

    #[test]
    fn null_stands_for_nothing_and_costs_nothing_else() {
        let text = r#"{"kind":"APIGroupDiscoveryList","items":[
            {"metadata":{"name":"custom.metrics.k8s.io"},"versions":[{"version":"v1beta1","resources":[
                {"resource":"pods","responseKind":{"group":"","version":"","kind":""},"scope":"Namespaced","verbs":null}]}]},
            {"metadata":{"name":"a.b"},"versions":[{"version":"v1","resources":[
                {"resource":"cs","responseKind":null,"scope":null,"shortNames":null,"verbs":["list"]}]}]},
            {"metadata":{"name":"c.d"},"versions":null}]}"#;
        let all = recorded(text);
        let found: Vec<(&str, bool)> = all.iter().map(|one| (one.resource.plural, one.supports(&["list"]))).collect();
        assert_eq!(found, [("pods", false), ("cs", true)]);
        assert_eq!(read(r#"{"kind":"APIGroupList","groups":null}"#).unwrap(), Answer::Versions(Vec::new()));
        let of = GroupVersion { group: "a.b", version: "v1" };
        let list =
            r#"{"kind":"APIResourceList","resources":[{"name":"cs","kind":"C","namespaced":true,"verbs":null}]}"#;
        assert_eq!(read_version(list, of).unwrap().len(), 1);
        assert_eq!(read_version(r#"{"kind":"APIResourceList","resources":null}"#, of).unwrap(), []);
    }

    #[test]
    fn what_is_no_document_of_discovery_is_refused() {
        for text in
            ["", "[]", "{}", r#"{"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]}"#, r#"{"kind":"Status"}"#]
        {
            assert!(read(text).is_err(), "{text}");
        }
        let of = GroupVersion { group: "", version: "v1" };
        for text in ["", "{}", r#"{"kind":"APIGroupList"}"#, r#"{"kind":"APIResourceList","resources":[{}]}"#] {
            assert!(read_version(text, of).is_err(), "{text}");
        }
        assert_eq!(recorded(r#"{"kind":"APIGroupDiscoveryList"}"#), []);
    }

    #[test]
    fn a_group_whose_server_is_down_is_named() {
        let text = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[
            {"version":"v1beta1","freshness":"Stale"}]},{"metadata":{"name":"a.b"},"versions":[
            {"version":"v1","freshness":"Current","resources":[{"resource":"cs"}]}]}]}"#;
        let Answer::Aggregated { resources, stale } = read(text).unwrap() else { panic!("{text}") };
        assert_eq!((resources.len(), stale), (1, vec!["metrics.k8s.io/v1beta1"]));
    }

    #[test]
    fn the_documents_of_versions_say_the_same_as_the_one_of_all() {
        let text = r#"{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
            {"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment",
                "verbs":["get","list","watch"],"shortNames":["deploy"],"categories":["all"],"storageVersionHash":"x"},
            {"name":"deployments/status","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"]}]}"#;
        let all = read_version(text, GroupVersion { group: "apps", version: "v1" }).unwrap();
        let [one] = &all[..] else { panic!("{all:?}") };
        let groups = recorded(include_str!("../../../../tests/fixtures/discovery/discovery-apis.json"));
        let same = groups.iter().find(|other| other.resource.plural == "deployments").unwrap();
        assert_eq!((one.resource, one.singular, &one.short_names), (same.resource, same.singular, &same.short_names));
        assert!(one.supports(&["list", "watch"]) && !one.supports(&["create"]));
        let old = Discovered { resource: ApiResource { version: "v1beta1", ..one.resource }, ..one.clone() };
        let mut both = [one.clone(), old];
        prefer(&mut both);
        assert_eq!(both.map(|one| one.preferred), [true, false]);
    }

    #[test]
    fn the_first_version_that_has_a_resource_is_preferred() {
        let text = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.org"},"versions":[
            {"version":"v2","resources":[{"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Cluster",
                "verbs":["get","list"]}]},
            {"version":"v1","resources":[{"resource":"widgets"},{"resource":"gadgets"}]}]}]}"#;
        let all = recorded(text);
        let found: Vec<String> = all
            .iter()
            .map(|one| format!("{} {} {}", one.resource.api_version(), one.resource.plural, one.preferred))
            .collect();
        assert_eq!(
            found,
            ["example.org/v2 widgets true", "example.org/v1 widgets false", "example.org/v1 gadgets true"]
        );
        assert!(all[0].supports(&["list", "get"]) && !all[0].supports(&["list", "watch"]));
        assert!(!all[0].resource.namespaced && all[0].singular == "widget");
    }
}
