//! Defaults, compared with a real API server: the applied objects, completed here, must equal the recorded results.

use serde_json::{Value, json};

use crate::resources::registry::Registry;
use crate::write::defaults;

const LAST_APPLIED: &str = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";
/// The fields that may differ: addresses, and with them allocated ports, are each server's own.
const OWN: [&str; 2] = ["clusterIP", "clusterIPs"];

#[test]
fn specs_are_filled_in_as_by_the_real_server() {
    let registry = Registry::default();
    let (mut compared, mut differences) = (std::collections::BTreeMap::new(), Vec::new());
    for table in [
        include_str!("../../../../tests/fixtures/tables/cronjobs.batch.json"),
        include_str!("../../../../tests/fixtures/tables/daemonsets.apps.json"),
        include_str!("../../../../tests/fixtures/tables/deployments.apps.json"),
        include_str!("../../../../tests/fixtures/tables/jobs.batch.json"),
        include_str!("../../../../tests/fixtures/tables/services.json"),
        include_str!("../../../../tests/fixtures/tables/statefulsets.apps.json"),
    ] {
        let table: Value = serde_json::from_str(table).unwrap();
        for row in table["rows"].as_array().unwrap() {
            let theirs = &row["object"];
            let Some(applied) = theirs.pointer(LAST_APPLIED).and_then(Value::as_str) else { continue };
            let mut ours: Value = serde_json::from_str(applied).unwrap();
            let text = |field: &str| ours[field].as_str().unwrap().to_owned();
            let (kind, resource) = (text("kind"), registry.by_kind(&text("apiVersion"), &text("kind")).unwrap());
            ours["metadata"]["uid"] = theirs["metadata"]["uid"].clone();
            defaults::complete(&resource, &mut ours, 1);
            let spec = |object: &Value| {
                let mut spec = object["spec"].as_object().unwrap().clone();
                spec.retain(|field, _| !OWN.contains(&field.as_str()));
                for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                    if let Some(port) = port.get_mut("nodePort") {
                        *port = true.into();
                    }
                }
                Value::from(spec)
            };
            if spec(&ours) != spec(theirs) {
                differences.push(format!("{kind}:\n  ours   {}\n  theirs {}", spec(&ours), spec(theirs)));
            }
            *compared.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(compared.len(), 6, "{compared:?}");
}

#[test]
fn the_account_has_two_names() {
    let registry = Registry::default();
    let check = |(api_version, kind, pointer): (&str, &str, &str), given: Value, expected: [Value; 2]| {
        let mut object = json!({"metadata": {"name": "one"}});
        let mut place = &mut object;
        for field in pointer.split('/').skip(1) {
            place = &mut place[field];
        }
        *place = given.clone();
        defaults::complete(&registry.by_kind(api_version, kind).unwrap(), &mut object, 1);
        let found =
            ["serviceAccountName", "serviceAccount"].map(|field| object.pointer(pointer).unwrap()[field].clone());
        assert_eq!(found, expected, "{kind} {given}");
    };
    let both = |name: &str| [json!(name), json!(name)];
    let pod = ("v1", "Pod", "/spec");
    check(pod, json!({}), both("default"));
    check(pod, json!({"serviceAccountName": ""}), both("default"));
    check(pod, json!({"serviceAccountName": "bot"}), both("bot"));
    check(pod, json!({"serviceAccount": "bot"}), both("bot"));
    check(pod, json!({"serviceAccountName": "bot", "serviceAccount": "other"}), both("bot"));
    // A Pod template may lack this field, which is then set when a Pod is created.
    let template = ("apps/v1", "Deployment", "/spec/template/spec");
    check(template, json!({}), [Value::Null, Value::Null]);
    check(template, json!({"serviceAccount": "bot"}), both("bot"));
}
