//! OpenAPI v3, reduced to what kubectl looks for: that a PATCH takes `fieldValidation` and `dryRun`. From that kubectl
//! concludes that the server validates, and asks for no schema. There are no schemas here.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::resources::resource::Resource;

/// The OpenAPI document at a path, if there is one.
pub fn document(path: &str, resources: &dyn Fn() -> Vec<Arc<Resource>>) -> Option<Value> {
    match path.strip_prefix("/openapi/v3")?.trim_matches('/') {
        "" => {
            let all = resources();
            let paths: Map<String, Value> = all
                .iter()
                .map(|resource| {
                    let path = path_of(&resource.api_version);
                    let url = format!("/openapi/v3/{path}");
                    (path, json!({"serverRelativeURL": url}))
                })
                .collect();
            Some(json!({"paths": paths}))
        }
        path => {
            let all = resources();
            let paths: Map<String, Value> = all
                .iter()
                .filter(|resource| path_of(&resource.api_version) == path)
                .map(|one| operation(one))
                .collect();
            let info = json!({"title": "demo cluster", "version": "v1.35.0"});
            (!paths.is_empty()).then(|| {
                json!({"openapi": "3.0.0", "info": info, "paths": paths,
                "components": {"schemas": {}}})
            })
        }
    }
}

fn path_of(api_version: &str) -> String {
    if api_version.contains('/') { format!("apis/{api_version}") } else { format!("api/{api_version}") }
}

fn operation(resource: &Resource) -> (String, Value) {
    let namespace = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
    let path = format!("/{}/{namespace}{}/{{name}}", path_of(&resource.api_version), resource.plural);
    let parameter = |name: &str, description: &str| json!({"name": name, "in": "query", "description": description, "schema": {"type": "string", "uniqueItems": true}});
    let patch = json!({
        "description": format!("partially update the specified {}", resource.kind),
        "parameters": [
            parameter("dryRun", "All: nothing is written"),
            parameter("fieldManager", "who writes"),
            parameter("fieldValidation", "accepted, and ignored: this server has no schemas")],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind":
            {"group": resource.group(), "version": resource.version(), "kind": resource.kind},
    });
    (path, json!({"patch": patch}))
}
