//! The demo cluster against what a real API server said, `tests/fixtures`: a kube-apiserver 1.35. What differs stands in
//! `docs/differences.md`, each with its reason; a difference that does not stand there fails, and so does a listed
//! one that is gone.

mod discovery;
mod lists;
mod order;
mod ordered;
mod tables;
mod watches;

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Args, Server, quiet, serve, socket, within};

const LISTED: &str = include_str!("../../../../../docs/differences.md");

/// A recorded document: `discovery/version.json`.
macro_rules! fixture {
    ($path:expr) => {
        include_str!(concat!("../../../../../tests/fixtures/", $path))
    };
}
use fixture;

/// Name of each resource that was recorded, and one recorded document about it.
macro_rules! of_each_resource {
    ($folder:literal) => {
        of_each_resource!(
            $folder:
            "apiservices.apiregistration.k8s.io",
            "clusterrolebindings.rbac.authorization.k8s.io",
            "clusterroles.rbac.authorization.k8s.io",
            "componentstatuses",
            "configmaps",
            "controllerrevisions.apps",
            "cronjobs.batch",
            "customresourcedefinitions.apiextensions.k8s.io",
            "daemonsets.apps",
            "deployments.apps",
            "endpoints",
            "endpointslices.discovery.k8s.io",
            "events",
            "events.events.k8s.io",
            "flowschemas.flowcontrol.apiserver.k8s.io",
            "horizontalpodautoscalers.autoscaling",
            "ingresses.networking.k8s.io",
            "ipaddresses.networking.k8s.io",
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
            "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
            "replicasets.apps",
            "resourcequotas",
            "rolebindings.rbac.authorization.k8s.io",
            "roles.rbac.authorization.k8s.io",
            "secrets",
            "serviceaccounts",
            "servicecidrs.networking.k8s.io",
            "services",
            "statefulsets.apps",
            "storageclasses.storage.k8s.io",
            "widgets.example.org",
        )
    };
    ($folder:literal: $($name:literal,)*) => {
        [$(($name, fixture!(concat!($folder, "/", $name, ".json")))),*]
    };
}
use of_each_resource;

/// What is listed under a heading: patterns, in which `*` stands for any text, each with its reason.
fn listed(section: &str) -> Vec<(&'static str, &'static str)> {
    let (_, after) = LISTED.split_once(&format!("## {section}\n")).unwrap_or_else(|| panic!("no heading {section}"));
    let lines = after.split("\n## ").next().unwrap_or_default().lines();
    let rows = lines.filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    rows.collect()
}

/// Compares what differs with what is listed.
fn check(section: &str, found: &BTreeSet<String>) {
    let listed = listed(section);
    let unlisted: Vec<_> =
        found.iter().filter(|one| !listed.iter().any(|(pattern, _)| matches(pattern, one))).collect();
    let gone: Vec<_> = listed.iter().filter(|(pattern, _)| !found.iter().any(|one| matches(pattern, one))).collect();
    assert!(unlisted.is_empty(), "{section}: these differences are not listed: {unlisted:#?}");
    assert!(gone.is_empty(), "{section}: these are listed and gone: {gone:#?}");
    assert!(listed.iter().all(|(_, reason)| reason.len() > 10), "{section}: every difference has its reason");
}

/// Whether a text is what a pattern describes.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

/// Writes a recorded object, whatever the rules for writing are.
async fn put(server: &Server, object: &Value) {
    let (status, answer) = server.post("/_control/put", object).await;
    assert_eq!(status, 200, "{object}: {answer}");
}

/// A cluster with nothing in it but what every cluster has.
fn bare() -> Args {
    Args { pods: 0, ..quiet() }
}

#[test]
fn a_pattern_describes_what_it_says_and_no_more() {
    let check = |pattern: &str, text: &str, expected| assert_eq!(matches(pattern, text), expected, "{pattern}: {text}");
    check("a.b: c", "a.b: c", true);
    check("a.b: c", "a.b: cd", false);
    check("a.*: c", "a.b.b: c", true);
    check("*: c*", "a: cd", true);
    check("*x", "xy", false);
    check("*", "", true);
}
