//! Discovery: which groups, versions and resources there are, in the legacy and the aggregated form.

use std::sync::Arc;

use serde_json::{Value, json};

use super::resource::{Resource, VERBS};

/// The media type of aggregated discovery.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const SUB_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The document at a path, if it is one of discovery's.
pub fn document(path: &str, aggregated: bool, host: &str, resources: &dyn Fn() -> Vec<Arc<Resource>>) -> Option<Value> {
    match path.trim_end_matches('/') {
        "/version" => Some(json!({
            "major": "1", "minor": "35", "gitVersion": "v1.35.0", "gitCommit": "", "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "demo/demo",
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

/// The named groups, in order.
fn groups(resources: &[Arc<Resource>]) -> Vec<String> {
    in_order(resources.iter().map(|resource| resource.group()).filter(|group| !group.is_empty()))
}

fn versions(group: &str, resources: &[Arc<Resource>]) -> Vec<String> {
    in_order(resources.iter().filter(|resource| resource.group() == group).map(|resource| resource.version()))
}

/// Each once, where it is named first.
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

/// The subresources, with the group, version and kind of what they answer.
fn parts(resource: &Resource) -> Vec<(&'static str, &'static str, &'static str, &str)> {
    let status = resource.has_status.then_some(("status", "", "", &*resource.kind));
    let scale = resource.scale.as_ref().map(|_| ("scale", "autoscaling", "v1", "Scale"));
    scale.into_iter().chain(status).collect()
}

fn resource_list(group_version: &str, all: &[Arc<Resource>]) -> Option<Value> {
    let mut resources = Vec::new();
    for resource in all.iter().filter(|resource| resource.api_version == group_version) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": VERBS,
        });
        for (field, text) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
            if let Some(words) = words(text) {
                entry[field] = json!(words);
            }
        }
        resources.push(entry);
        for (part, group, version, kind) in parts(resource) {
            let mut entry = json!({"name": format!("{}/{part}", resource.plural), "singularName": "",
                "namespaced": resource.namespaced, "kind": kind, "verbs": SUB_VERBS});
            if !group.is_empty() {
                entry["group"] = group.into();
                entry["version"] = version.into();
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
    let of_version = |version: &String| {
        let wanted = |resource: &&Arc<Resource>| resource.group() == name && resource.version() == version;
        let resources: Vec<Value> = all.iter().filter(wanted).map(|one| aggregated_resource(one)).collect();
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    let versions: Vec<Value> = versions(name, all).iter().map(of_version).collect();
    let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": resource.plural, "responseKind": kind("", "", &resource.kind),
        "singularResource": resource.singular, "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "verbs": VERBS,
    });
    for (field, text) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if let Some(words) = words(text) {
            entry[field] = json!(words);
        }
    }
    let parts: Vec<Value> = parts(resource)
        .into_iter()
        .map(|(part, group, version, name)| {
            json!({"subresource": part, "responseKind": kind(group, version, name), "verbs": SUB_VERBS})
        })
        .collect();
    if !parts.is_empty() {
        entry["subresources"] = parts.into();
    }
    entry
}
