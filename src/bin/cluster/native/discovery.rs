//! Discovery: which groups, versions and resources there are, in the legacy and the aggregated form.

use serde_json::{Value, json};

use super::resource::{RESOURCES, Resource, VERBS};

/// The media type of aggregated discovery.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const GROUPS: [&str; 2] = ["apps", "batch"];

/// The document at a path, if it is one of discovery's.
pub fn document(path: &str, aggregated: bool, host: &str) -> Option<Value> {
    match path.trim_end_matches('/') {
        "/version" => Some(json!({
            "major": "1", "minor": "35", "gitVersion": "v1.35.0", "gitCommit": "", "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "demo/demo",
        })),
        "/api" if aggregated => Some(aggregated_list(&[""])),
        "/apis" if aggregated => Some(aggregated_list(&GROUPS)),
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]})),
        "/apis" => {
            let groups: Vec<Value> = GROUPS.iter().map(|name| group(name)).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        "/api/v1" => Some(resource_list("", "v1")),
        path => {
            let path = path.strip_prefix("/apis/")?;
            if let Some(name) = GROUPS.iter().find(|name| **name == path) {
                let mut document = group(name);
                document["kind"] = "APIGroup".into();
                document["apiVersion"] = "v1".into();
                return Some(document);
            }
            let name = GROUPS.iter().find(|name| path.strip_prefix(**name) == Some("/v1"))?;
            Some(resource_list(name, path))
        }
    }
}

fn group(name: &str) -> Value {
    let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
    json!({"name": name, "versions": [version], "preferredVersion": version})
}

fn of_group(group: &str) -> impl Iterator<Item = &'static Resource> {
    RESOURCES.iter().filter(move |resource| resource.group == group)
}

fn resource_list(group: &str, group_version: &str) -> Value {
    let mut resources = Vec::new();
    for resource in of_group(group) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": VERBS,
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if resource.in_all {
            entry["categories"] = json!(["all"]);
        }
        resources.push(entry);
        if resource.has_status {
            resources.push(json!({
                "name": format!("{}/status", resource.plural), "singularName": "",
                "namespaced": resource.namespaced, "kind": resource.kind, "verbs": ["get", "patch", "update"],
            }));
        }
    }
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}

fn aggregated_list(groups: &[&str]) -> Value {
    let items: Vec<Value> = groups.iter().map(|group| aggregated_group(group)).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_group(name: &str) -> Value {
    let resources: Vec<Value> = of_group(name)
        .map(|resource| {
            let kind = json!({"group": "", "version": "", "kind": resource.kind});
            let mut entry = json!({
                "resource": resource.plural, "responseKind": kind, "singularResource": resource.singular,
                "scope": if resource.namespaced { "Namespaced" } else { "Cluster" }, "verbs": VERBS,
            });
            if !resource.short_names.is_empty() {
                entry["shortNames"] = json!(resource.short_names);
            }
            if resource.in_all {
                entry["categories"] = json!(["all"]);
            }
            if resource.has_status {
                entry["subresources"] =
                    json!([{"subresource": "status", "responseKind": kind, "verbs": ["get", "patch", "update"]}]);
            }
            entry
        })
        .collect();
    let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
    json!({"metadata": metadata, "versions": [{"version": "v1", "resources": resources, "freshness": "Current"}]})
}
