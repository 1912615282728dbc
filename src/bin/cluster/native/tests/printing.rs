//! Tables against those that a real API server printed, `tests/fixtures/tables`: the same columns, the same cells.

use std::sync::Arc;

use kubechurn::api::time::Timestamp;
use serde_json::Value;

use super::super::object::Draft;
use super::super::registry::Registry;
use super::super::{definition, table};

/// Name of a resource, and what the server said.
macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../tests/fixtures/tables/", $name, ".json")))),*]
    };
}

const TABLES: &[(&str, &str)] = tables![
    "configmaps",
    "controllerrevisions.apps",
    "cronjobs.batch",
    "customresourcedefinitions.apiextensions.k8s.io",
    "daemonsets.apps",
    "deployments.apps",
    "endpointslices.discovery.k8s.io",
    "events",
    "ingresses.networking.k8s.io",
    "jobs.batch",
    "leases.coordination.k8s.io",
    "namespaces",
    "networkpolicies.networking.k8s.io",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "poddisruptionbudgets.policy",
    "pods",
    "priorityclasses.scheduling.k8s.io",
    "replicasets.apps",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "secrets",
    "serviceaccounts",
    "services",
    "statefulsets.apps",
    "storageclasses.storage.k8s.io",
    "widgets.example.org",
];

/// A registry in which Widgets are defined, by the recorded definition.
fn registry() -> Registry {
    let (_, definitions) = TABLES[3];
    let definitions: Value = serde_json::from_str(definitions).unwrap();
    let registry = Registry::default();
    for row in definitions["rows"].as_array().unwrap() {
        let name = row["object"]["metadata"]["name"].as_str().unwrap();
        registry.define(name, definition::resources(&row["object"], registry.id_of("u")).unwrap());
    }
    registry
}

/// The recorded tables, each with the moment of its recording.
fn recorded() -> impl Iterator<Item = (&'static str, Value, Timestamp)> {
    TABLES.iter().map(|(name, text)| {
        let table: Value = serde_json::from_str(text).unwrap();
        let date = table["date"].as_str().unwrap();
        let time = date.strip_prefix("Sat, 21 Nov 2026 ").and_then(|rest| rest.strip_suffix(" GMT"));
        let now = Timestamp::parse(&format!("2026-11-21T{}Z", time.unwrap())).unwrap();
        (*name, table, now)
    })
}

#[test]
fn columns_are_the_real_server_s() {
    let registry = registry();
    for (name, table, _) in recorded() {
        let resource = registry.by_name(name).unwrap();
        let told = |columns: &Value| -> Vec<(String, bool, bool)> {
            let columns = columns.as_array().unwrap().iter();
            columns
                .map(|one| {
                    let name = one["name"].as_str().unwrap().to_lowercase();
                    (name, one["priority"].as_i64().unwrap() > 0, one["format"] == "name")
                })
                .collect()
        };
        assert_eq!(told(&table::definitions(&resource)), told(&table["columns"]), "{name}");
    }
}

#[test]
fn cells_are_the_real_server_s() {
    let registry = registry();
    let mut differences = Vec::new();
    for (name, table, now) in recorded() {
        let resource = registry.by_name(name).unwrap();
        for row in table["rows"].as_array().unwrap() {
            let object = Draft::from_value(row["object"].clone()).unwrap().into_object(&resource, 1);
            let ours = table::cells(&resource, &Arc::new(object), now);
            if ours != row["cells"] {
                differences.push(format!("{name}:\n  ours   {ours}\n  theirs {}", row["cells"]));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
