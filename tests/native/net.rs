//! What is different between two moments equals what is different between two lists that the cluster gave then.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::feed::span::SpanCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Environment;

use crate::page::{Page, with_page};

const SOON: Duration = Duration::from_secs(30);
/// The kinds, by the page's names for them, and where they are listed.
const KINDS: [(&str, &str, &str); 4] = [
    ("pods", "Pod", "/api/v1/pods"),
    ("nodes", "Node", "/api/v1/nodes"),
    ("deployments", "Deployment", "/apis/apps/v1/deployments"),
    ("replicasets", "ReplicaSet", "/apis/apps/v1/replicasets"),
];

macro_rules! runs {
    ($($name:ident: $scenario:literal, $differing:literal;)*) => {
        $(#[tokio::test]
        async fn $name() {
            is_what_two_lists_say($scenario, $differing).await;
        })*
    };
}

runs! {
    a_rollout: "rollout", 8;
    a_crash_loop: "crashloop", 3;
    a_node_that_fails: "node-failure", 3;
    all_at_once: "mixed", 8;
}

/// An object by kind, namespace and name.
type Key = (String, String, String);

/// The objects of a cluster.
type Objects = BTreeMap<Key, Value>;

fn word(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

async fn listed(cluster: &Cluster) -> Objects {
    let mut objects = Objects::new();
    for (_, kind, path) in KINDS {
        let mut list = cluster.get(path).await;
        for item in list["items"].as_array_mut().into_iter().flatten() {
            let key = (kind.to_owned(), word(item, "/metadata/namespace"), word(item, "/metadata/name"));
            objects.insert(key, item.take());
        }
    }
    objects
}

/// Which version of which object the page holds.
fn held(page: &Page) -> BTreeMap<(String, String), String> {
    let rows = KINDS.iter().flat_map(|(name, kind, _)| page.rows(name).into_iter().map(|row| (*kind, row)));
    rows.map(|(kind, row)| ((kind.to_owned(), row.uid), row.resource_version)).collect()
}

/// A moment at which the page holds what the cluster lists, and the lists.
async fn same(page: &Page, cluster: &Cluster) -> (f64, Objects) {
    // Between two looks everything is still, and the address has whole milliseconds.
    let last = Cell::new(None);
    wait_until("the page holds what the cluster lists", SOON, async || {
        let objects = listed(cluster).await;
        let versions = objects.iter().map(|((kind, ..), object)| {
            ((kind.clone(), word(object, "/metadata/uid")), word(object, "/metadata/resourceVersion"))
        });
        let is_same = held(page) == versions.collect::<BTreeMap<_, _>>();
        let now = page.look(|_, place| place.now());
        let before = last.replace(is_same.then_some((now, objects.clone())));
        let found = before.filter(|(at, before)| is_same && *before == objects && now > at.ceil());
        found.map(|(at, objects)| (at.ceil(), objects)).ok_or_else(|| String::from("it is not, or only for a moment"))
    })
    .await
}

/// Without what changes with every write.
fn plain(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        ["resourceVersion", "managedFields", "generation"].iter().for_each(|name| drop(metadata.remove(*name)));
    }
    object
}

/// The first two steps of the paths of all members in which two objects differ.
fn differing(old: &Value, new: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let members = |value: &Value| -> BTreeMap<String, Value> {
        value
            .as_object()
            .map(|map| map.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
            .unwrap_or_default()
    };
    let (old, new) = (members(old), members(new));
    for first in old.keys().chain(new.keys()) {
        let null = Value::Null;
        let (before, after) = (old.get(first).unwrap_or(&null), new.get(first).unwrap_or(&null));
        let (before_of, after_of) = (members(before), members(after));
        for second in before_of.keys().chain(after_of.keys()) {
            if before_of.get(second) != after_of.get(second) {
                paths.insert(format!("{first}.{second}"));
            }
        }
    }
    paths
}

/// The first two steps of a path as the page writes it.
fn two_steps(path: &str) -> String {
    let steps: Vec<&str> = path.split(['.', '[']).take(2).collect();
    steps.join(".")
}

/// What the page leaves out of a difference, because it says nothing by itself.
const SAYS_NOTHING: [&str; 2] = ["status.observedGeneration", "status.conditions"];

async fn is_what_two_lists_say(scenario: &'static str, differing_objects: usize) {
    let cluster = Cluster::start(&Options { scenario, pods: 40, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods,nodes,deployments,replicasets?view=changes", async |page| {
        for (name, ..) in KINDS {
            page.reaches(name, "live", SOON).await;
        }
        let (from, before) = same(page, &cluster).await;
        wait_until("enough has happened", SOON, async || {
            let after = listed(&cluster).await;
            let others = after.iter().filter(|(key, object)| before.get(key).map(plain) != Some(plain(object))).count();
            holds(others >= differing_objects, || format!("{others} objects differ"))
        })
        .await;
        let (to, after) = same(page, &cluster).await;
        page.command(Command::Span(SpanCommand::Compare(from, to)));
        let found: Vec<Value> = wait_until("all is compared", SOON, async || {
            let found = page.look(|page, place| page.reports().differences(place));
            found.map(|text| serde_json::from_str(&text).expect("JSON")).ok_or_else(|| String::from("it is not"))
        })
        .await;
        let key =
            |object: &Value| -> Key { (word(object, "/kind"), word(object, "/namespace"), word(object, "/name")) };
        let mut expected: BTreeMap<Key, &str> = BTreeMap::new();
        for name in before.keys().chain(after.keys()) {
            let what = match (before.get(name), after.get(name)) {
                (None, _) => "added",
                (_, None) => "gone",
                (Some(old), Some(new)) if old["metadata"]["uid"] != new["metadata"]["uid"] => {
                    "replaced by another object of the same name"
                }
                (Some(old), Some(new)) if plain(old) != plain(new) => "changed",
                _ => continue,
            };
            expected.insert(name.clone(), what);
        }
        let named: BTreeMap<Key, &str> =
            found.iter().map(|object| (key(object), object["what"].as_str().unwrap_or_default())).collect();
        assert_eq!((found.len(), &named), (expected.len(), &expected), "{scenario}");
        println!("{scenario}: {} of {} objects differ", expected.len(), after.len());
        for object in found.iter().filter(|object| object["what"] == "changed") {
            let (name, fields) = (key(object), object["fields"].as_array().cloned().unwrap_or_default());
            let (old, new) = (&before[&name], &after[&name]);
            let mut expected = differing(&plain(old), &plain(new));
            let other = object["otherPaths"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let paths = fields.iter().filter_map(|field| field["path"].as_str()).chain(other);
            // A Pod's state is what several fields say together, and the table's word for them.
            let mut changed: BTreeSet<String> = paths.filter(|path| *path != "STATUS").map(two_steps).collect();
            if fields.iter().any(|field| field["path"] == "STATUS") {
                expected.remove("status.phase");
                changed.remove("status.phase");
            }
            let missing: Vec<&String> =
                expected.difference(&changed).filter(|path| !SAYS_NOTHING.contains(&&***path)).collect();
            assert!(changed.is_subset(&expected) && missing.is_empty(), "{name:?}: {changed:?} of {expected:?}");
            for field in &fields {
                let path = field["path"].as_str().unwrap_or_default();
                let is_plain = path.contains('.') && !path.contains(['[', '"']);
                let pointer = format!("/{}", path.replace('.', "/"));
                for (value, object) in [(&field["old"], old), (&field["new"], new)].into_iter().filter(|_| is_plain) {
                    let expected = match object.pointer(&pointer) {
                        Some(Value::String(text)) => Value::from(text.as_str()),
                        Some(Value::Null) | None => Value::Null,
                        Some(other) if other.is_number() || other.is_boolean() => Value::from(other.to_string()),
                        Some(_) => continue,
                    };
                    // A count that is zero is left out by the server.
                    let is_zero = expected.is_null() && *value == "0";
                    assert!(is_zero || *value == expected, "{name:?} {path}: {value} {expected}");
                }
            }
        }
    })
    .await;
}
