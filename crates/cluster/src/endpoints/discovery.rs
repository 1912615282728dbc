//! Discovery: the groups, versions and resources of the server, in the legacy and the aggregated form.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::resources::builtin::{NAMESPACES, PODS, RELEASE};
use crate::resources::resource::Resource;

/// The media type of aggregated discovery.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The built-in groups in the real server's order; those of CustomResourceDefinitions follow.
const GROUPS: &[&str] = &[
    "apiregistration.k8s.io",
    "apps",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

const SUB_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The discovery document at a path, if there is one.
pub fn document(path: &str, aggregated: bool, host: &str, resources: &dyn Fn() -> Vec<Arc<Resource>>) -> Option<Value> {
    match path.trim_end_matches('/') {
        "/version" => Some(json!({
            "major": RELEASE.major.to_string(), "minor": RELEASE.minor.to_string(), "emulationMajor": "1",
            "emulationMinor": RELEASE.minor.to_string(), "minCompatibilityMajor": "1",
            "minCompatibilityMinor": "34", "gitVersion": "v1.35.0", "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "demo/demo",
        })),
        "/api" if aggregated => Some(aggregated_list(&["".to_owned()], &resources())),
        "/apis" if aggregated => Some(aggregated_list(&groups(&resources()), &resources())),
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]})),
        "/apis" => {
            let all = resources();
            let groups: Vec<Value> = groups(&all).iter().map(|name| group(name, &all)).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        "/api/v1" => resource_list("v1", &resources()),
        path => {
            let path = path.strip_prefix("/apis/")?;
            match path.split('/').collect::<Vec<_>>()[..] {
                [name] => {
                    let all = resources();
                    groups(&all).contains(&name.to_owned()).then(|| {
                        let mut document = group(name, &all);
                        document["kind"] = "APIGroup".into();
                        document["apiVersion"] = "v1".into();
                        document
                    })
                }
                [_, _] => resource_list(path, &resources()),
                _ => None,
            }
        }
    }
}

/// The names of the groups, in order.
fn groups(resources: &[Arc<Resource>]) -> Vec<String> {
    let mut groups = in_order(resources.iter().map(|resource| resource.group()).filter(|group| !group.is_empty()));
    groups.sort_by_key(|group| GROUPS.iter().position(|known| known == group).unwrap_or(GROUPS.len()));
    groups
}

/// The resources of one version, by name.
fn of_version<'a>(group_version: &str, all: &'a [Arc<Resource>]) -> Vec<&'a Resource> {
    let mut resources: Vec<&Resource> =
        all.iter().map(|one| &**one).filter(|one| one.api_version == group_version).collect();
    resources.sort_by(|one, other| one.plural.cmp(&other.plural));
    resources
}

fn versions(group: &str, resources: &[Arc<Resource>]) -> Vec<String> {
    in_order(resources.iter().filter(|resource| resource.group() == group).map(|resource| resource.version()))
}

/// The distinct names, in the order of their first occurrence.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.iter().any(|one| one == name) {
            all.push(name.to_owned());
        }
    }
    all
}

fn group(name: &str, resources: &[Arc<Resource>]) -> Value {
    let versions = versions(name, resources);
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
}

fn words(text: &str) -> Option<Vec<&str>> {
    (!text.is_empty()).then(|| text.split(' ').collect())
}

/// A subresource: its name, its verbs, and the group, version and kind of its objects.
struct SubResource<'a> {
    name: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'a str,
    verbs: &'static [&'static str],
}

/// The subresources of a resource.
fn parts(resource: &Resource) -> Vec<SubResource<'_>> {
    let part = |name, group, version, kind| SubResource { name, group, version, kind, verbs: &SUB_VERBS };
    let status = resource.has_status.then(|| part("status", "", "", &*resource.kind));
    let scale = resource.scale.as_ref().map(|_| part("scale", "autoscaling", "v1", "Scale"));
    let mut parts = Vec::new();
    if *resource == **PODS {
        let create: &[&str] = &["create"];
        parts.push(SubResource { verbs: create, ..part("binding", "", "", "Binding") });
        parts.push(SubResource { verbs: create, ..part("eviction", "policy", "v1", "Eviction") });
        parts.push(SubResource { verbs: &["get"], ..part("log", "", "", &*resource.kind) });
    }
    if *resource == **NAMESPACES {
        parts.push(SubResource { verbs: &["update"], ..part("finalize", "", "", &*resource.kind) });
    }
    parts.extend(scale.into_iter().chain(status));
    parts
}

fn resource_list(group_version: &str, all: &[Arc<Resource>]) -> Option<Value> {
    let mut resources = Vec::new();
    for resource in of_version(group_version, all) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs(),
        });
        for (field, text) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
            if let Some(words) = words(text) {
                entry[field] = json!(words);
            }
        }
        resources.push(entry);
        for part in parts(resource) {
            let mut entry = json!({"name": format!("{}/{}", resource.plural, part.name), "singularName": "",
                "namespaced": resource.namespaced, "kind": part.kind, "verbs": part.verbs});
            if !part.group.is_empty() {
                entry["group"] = part.group.into();
                entry["version"] = part.version.into();
            }
            resources.push(entry);
        }
    }
    (!resources.is_empty()).then(|| {
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
    })
}

fn aggregated_list(groups: &[String], resources: &[Arc<Resource>]) -> Value {
    let items: Vec<Value> = groups.iter().map(|group| aggregated_group(group, resources)).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_group(name: &str, all: &[Arc<Resource>]) -> Value {
    let describe = |version: &String| {
        let group_version = if name.is_empty() { version.clone() } else { format!("{name}/{version}") };
        let resources: Vec<Value> = of_version(&group_version, all).into_iter().map(aggregated_resource).collect();
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    let versions: Vec<Value> = versions(name, all).iter().map(describe).collect();
    let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(resource: &Resource) -> Value {
    // The real server gives group and version only for custom resources.
    let own = if resource.is_custom() { (resource.group(), resource.version()) } else { ("", "") };
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": resource.plural, "responseKind": kind(own.0, own.1, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" }, "singularResource": resource.singular,
        "verbs": resource.verbs(),
    });
    for (field, text) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if let Some(words) = words(text) {
            entry[field] = json!(words);
        }
    }
    let parts: Vec<Value> = parts(resource)
        .into_iter()
        .map(|part| {
            let (group, version) = if part.group.is_empty() { own } else { (part.group, part.version) };
            json!({"subresource": part.name, "responseKind": kind(group, version, part.kind), "verbs": part.verbs})
        })
        .collect();
    if !parts.is_empty() {
        entry["subresources"] = parts.into();
    }
    entry
}
