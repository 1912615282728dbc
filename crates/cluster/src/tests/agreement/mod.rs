//! Compares the demo cluster with recordings of a real API server, a kube-apiserver 1.35, in `tests/fixtures`. Every
//! difference is listed in `docs/differences.md` with its reason; a difference that is not listed fails, and so does a
//! listed one that no longer exists.

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

/// The name of each recorded resource, and one recorded document about it.
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

/// The entries under a heading: each has a pattern, in which `*` stands for any text, and a reason.
fn listed(section: &str) -> Vec<(&'static str, &'static str)> {
    let (_, after) = LISTED.split_once(&format!("## {section}\n")).unwrap_or_else(|| panic!("no heading {section}"));
    let lines = after.split("\n## ").next().unwrap_or_default().lines();
    let rows = lines.filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    rows.collect()
}

/// Compares the differences that were found with those that are listed.
fn check(section: &str, found: &BTreeSet<String>) {
    let listed = listed(section);
    let unlisted: Vec<_> =
        found.iter().filter(|one| !listed.iter().any(|(pattern, _)| matches(pattern, one))).collect();
    let gone: Vec<_> = listed.iter().filter(|(pattern, _)| !found.iter().any(|one| matches(pattern, one))).collect();
    assert!(unlisted.is_empty(), "{section}: these differences are not listed: {unlisted:#?}");
    assert!(gone.is_empty(), "{section}: these are listed and gone: {gone:#?}");
    assert!(listed.iter().all(|(_, reason)| reason.len() > 10), "{section}: every difference has its reason");
}

/// Whether a text matches a pattern.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

/// Writes a recorded object without the rules that apply to clients.
async fn put(server: &Server, object: &Value) {
    let (status, answer) = server.post("/_control/put", object).await;
    assert_eq!(status, 200, "{object}: {answer}");
}

/// A cluster with nothing but the objects that every cluster has.
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
