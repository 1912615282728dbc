//! Which resources the server has, asked of the server itself (client-go's `discovery.ServerPreferredResources` and
//! `restmapper`).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use axum::http::Method;
use kubechurn::api::resource::ApiResource;
use serde_json::Value;

use super::api_error::ApiError;
use super::rest::Client;

/// The form of discovery that answers everything at once.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// One resource in one version.
#[derive(Debug, Clone)]
pub struct Discovered {
    /// What the client calls it.
    pub resource: ApiResource,
    /// Whether it is the version that the server prefers, of those that have the resource.
    pub preferred: bool,
    /// What can be done with it.
    verbs: Vec<String>,
}

impl Discovered {
    /// Whether all these verbs are known.
    pub fn supports(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|known| known == verb))
    }
}

/// Every resource in every version, subresources left out, in the order of discovery.
///
/// # Errors
/// As [`Client::request`].
pub async fn discover(client: &Client) -> Result<Vec<Discovered>, ApiError> {
    let client = client.with_accept(AGGREGATED);
    let mut all = Vec::new();
    for path in ["/api", "/apis"] {
        let document = client.request(Method::GET, path, "", String::new()).await?;
        for group in elements(&document, "items") {
            read_group(group, &mut all);
        }
    }
    Ok(all)
}

fn read_group(group: &Value, all: &mut Vec<Discovered>) {
    let name = text(group, "/metadata/name");
    // The preferred version comes first; a later one may have more resources.
    let mut seen = HashSet::new();
    for version in elements(group, "versions") {
        for resource in elements(version, "resources") {
            let plural = text(resource, "/resource");
            let verbs = elements(resource, "verbs").filter_map(Value::as_str).map(str::to_owned).collect();
            let preferred = seen.insert(plural);
            let resource = ApiResource {
                group: intern(name),
                version: intern(text(version, "/version")),
                plural: intern(plural),
                kind: intern(text(resource, "/responseKind/kind")),
                namespaced: text(resource, "/scope") == "Namespaced",
            };
            all.push(Discovered { resource, preferred, verbs });
        }
    }
}

fn elements<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object[field].as_array().into_iter().flatten()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The one text of these letters that lasts as long as the process. Resources are named by such; the names of custom
/// resources are few, and none is kept twice.
fn intern(text: &str) -> &'static str {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    match known.get(text) {
        Some(known) => known,
        None => {
            let new: &'static str = Box::leak(text.into());
            known.insert(new);
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_version_that_has_a_resource_is_preferred() {
        let resource = |plural: &str| json!({"resource": plural, "responseKind": {"kind": "Kind"}, "scope": "Cluster", "verbs": ["get", "list"]});
        let group = json!({"metadata": {"name": "example.org"}, "versions": [
            {"version": "v2", "resources": [resource("widgets")]},
            {"version": "v1", "resources": [resource("widgets"), resource("gadgets")]}]});
        let mut all = Vec::new();
        read_group(&group, &mut all);
        let told: Vec<String> = all
            .iter()
            .map(|one| format!("{}/{} {}", one.resource.version, one.resource.plural, one.preferred))
            .collect();
        assert_eq!(told, ["v2/widgets true", "v1/widgets false", "v1/gadgets true"]);
        assert!(
            all[0].supports(&["list", "get"]) && !all[0].supports(&["list", "watch"]) && !all[0].resource.namespaced
        );
        assert!(std::ptr::eq(all[0].resource.plural, all[1].resource.plural));
    }
}
