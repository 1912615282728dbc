//! Objects go in, differences come out.

use serde_json::json;

use kubechurn_changes::diff::MOST;

use super::*;

/// Compares, and writes each difference as `path: old → new`.
fn check(old: Value, new: Value, expected: &[&str]) {
    let found = diff("Pod", &old.to_string(), &new.to_string()).unwrap();
    let lines: Vec<String> = (found.changes.iter().chain(&found.noise))
        .map(|FieldChange { path, change }| match change {
            Change::Added(new) => format!("{path}: + {new}"),
            Change::Removed(old) => format!("{path}: - {old}"),
            Change::Changed(words) => format!("{path}: {} → {}", words.whole_old(), words.whole_new()),
            Change::Reordered => format!("{path}: reordered"),
            Change::Secret(words) => format!("{path}: {words}"),
        })
        .collect();
    assert_eq!(lines, expected);
    assert_eq!(found.more, 0);
}

#[test]
fn fields_are_named_by_path() {
    check(json!({"a": 1}), json!({"a": 1}), &[]);
    check(
        json!({"status": {"phase": "Pending"}, "gone": true}),
        json!({"status": {"phase": "Running", "podIP": "10.1.0.34"}}),
        &["status.phase: Pending → Running", "gone: - true", "status.podIP: + 10.1.0.34"],
    );
    check(
        json!({"metadata": {"annotations": {"a.b/c": "1"}}}),
        json!({"metadata": {"annotations": {"a.b/c": "2"}}}),
        &["metadata.annotations[\"a.b/c\"]: \"1\" → \"2\""],
    );
    check(json!({"a": 5}), json!({"a": "5"}), &["a: 5 → \"5\""]);
    // A server leaves out a count that is zero.
    let counts = |count: Value| json!({"status": count});
    check(counts(json!({"readyReplicas": 1})), counts(json!({})), &["status.readyReplicas: 1 → 0"]);
    check(counts(json!({})), counts(json!({"unavailableReplicas": 2})), &["status.unavailableReplicas: 0 → 2"]);
    check(json!({"a": {"b": 1}}), json!({"a": null}), &["a: {b: 1} → null"]);
    check(json!([1]), json!({"0": 1}), &[": [1] → {0: 1}"]);
}

#[test]
fn what_changes_with_every_version_is_left_out() {
    check(
        json!({"metadata": {"resourceVersion": "1", "managedFields": [], "generation": 1}}),
        json!({"metadata": {"resourceVersion": "2", "managedFields": [{}], "generation": 2}}),
        &["metadata.generation: 1 → 2"],
    );
    check(
        json!({"spec": {"resourceVersion": "1"}}),
        json!({"spec": {"resourceVersion": "2"}}),
        &["spec.resourceVersion: \"1\" → \"2\""],
    );
}

#[test]
fn what_says_most_comes_first_and_what_says_little_apart() {
    let pod = |second: u32, ready: &str, image: &str| {
        json!({
            "metadata": {"generation": second, "labels": {"a": image}},
            "spec": {"containers": [{"name": "web", "image": image}]},
            "status": {
                "conditions": [{"lastProbeTime": null, "lastTransitionTime": second, "status": ready, "type": "Ready"}],
                "phase": if ready == "True" { "Running" } else { "Failed" },
                "observedGeneration": second,
            },
        })
    };
    let (old, new) = (pod(1, "True", "web:1").to_string(), pod(2, "False", "web:2").to_string());
    let found = diff("Pod", &old, &new).unwrap();
    let paths = |fields: &[FieldChange]| fields.iter().map(|field| field.path.clone()).collect::<Vec<_>>();
    let expected =
        ["status.phase", "spec.containers[web].image", "status.conditions[Ready].status", "metadata.labels.a"];
    assert_eq!(paths(&found.changes), expected);
    let noise = ["metadata.generation", "status.observedGeneration", "status.conditions[Ready].lastTransitionTime"];
    let mut folded = paths(&found.noise);
    folded.sort();
    let mut expected = noise;
    expected.sort();
    assert_eq!(folded, expected);
    let Change::Changed(image) = &found.changes[1].change else { panic!("{found:?}") };
    assert_eq!((&*image.before, &*image.old, &*image.new), ("web:", "1", "2"));
}

#[test]
fn what_a_list_leaves_out_is_no_difference() {
    let listed = json!({"metadata": {"name": "a"}, "spec": {"v": 1}});
    let watched = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"v": 2}});
    check(listed.clone(), watched.clone(), &["spec.v: 1 → 2"]);
    check(watched, listed, &["spec.v: 2 → 1"]);
    check(json!({"apiVersion": "a/v1"}), json!({"apiVersion": "a/v2"}), &["apiVersion: a/v1 → a/v2"]);
    check(json!({"spec": {"a": 1}}), json!({"spec": {"a": 1, "kind": "x"}}), &["spec.kind: + x"]);
}

#[test]
fn elements_are_matched_as_kubernetes_merges_them() {
    check(
        json!({"c": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}),
        json!({"c": [{"name": "b", "image": "z"}, {"name": "new"}, {"name": "a", "image": "x"}]}),
        &["c[b].image: y → z", "c[new]: + {name: new}"],
    );
    check(
        json!({"conditions": [{"type": "Ready", "status": "False"}]}),
        json!({"conditions": [{"type": "Ready", "status": "True"}]}),
        &["conditions[Ready].status: False → True"],
    );
    check(
        json!({"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}]}),
        json!({"ports": [{"containerPort": 80, "protocol": "TCP"}]}),
        &["ports[80/UDP]: - {containerPort: 80, protocol: UDP}"],
    );
    check(
        json!({"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]}),
        json!({"volumeMounts": [{"name": "v", "mountPath": "/b", "readOnly": true}, {"name": "v", "mountPath": "/a"}]}),
        &["volumeMounts[/b].readOnly: + true"],
    );
    check(json!([{"name": "a"}, {"name": "b"}]), json!([{"name": "b"}, {"name": "a"}]), &[": reordered"]);
    // Elements with equal names are matched by their order, and their paths say which one is meant.
    check(
        json!([{"name": "a", "n": 1}, {"name": "a", "n": 2}]),
        json!([{"name": "a", "n": 4}, {"name": "a", "n": 3}]),
        &["[a#1].n: 1 → 4", "[a#2].n: 2 → 3"],
    );
}

#[test]
fn plain_lists_are_compared_between_what_stayed() {
    check(json!(["a", "b", "c"]), json!(["b", "c"]), &["[0]: - a"]);
    check(json!(["a", "c"]), json!(["a", "b", "c"]), &["[1]: + b"]);
    check(json!(["a", "b", "c"]), json!(["a", "x", "c"]), &["[1]: b → x"]);
    check(json!([]), json!([1, 2]), &["[0]: + 1", "[1]: + 2"]);
    check(json!([{"name": "a"}]), json!([]), &["[a]: - {name: a}"]);
}

#[test]
fn a_secret_s_value_changes_without_being_shown() {
    let secret = |values: Value| {
        let text = secret::redact(&json!({ "data": values }).to_string(), 3).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    check(
        secret(json!({"p": "YQ==", "q": "YQ==", "r": "YQ=="})),
        secret(json!({"p": "Yg==", "q": "YQ==", "s": "YQ=="})),
        &["data.r: value removed", "data.p: value changed", "data.s: value added"],
    );
}

#[test]
fn whatever_comes_the_diff_is_bounded() {
    let diff = |old: Value, new: Value| diff("Pod", &old.to_string(), &new.to_string()).unwrap();
    let many = |value: u32| Value::Object((0..10_000).map(|at| (format!("f{at:05}"), json!(value))).collect());
    let found = diff(many(1), many(2));
    assert_eq!((found.changes.len(), found.more), (MOST, 10_000 - MOST));

    let long = "ä".repeat(1_000_000);
    let found = diff(json!({ &*long: 1, "v": long.clone(), "l": vec![long.clone(); 9] }), json!({}));
    assert!(found.changes.iter().all(|one| one.path.len() < 2 * LONGEST));
    assert!(found.changes.iter().all(|one| matches!(&one.change, Change::Removed(old) if old.len() < 2 * LONGEST)));

    // As deep as a text may be nested to be read at all.
    let deep = |leaf: &str| -> Value {
        serde_json::from_str(&format!("{}{leaf}{}", "{\"a\":[".repeat(60), "]}".repeat(60))).unwrap()
    };
    let found = diff(deep("1"), deep("2"));
    assert_eq!(found.changes.len(), 1);
    assert!(found.changes[0].path.starts_with("a[0].a[0]") && found.changes[0].path.len() < 2 * LONGEST);
    assert!(serde_json::from_str::<Value>(&"[".repeat(100_000)).is_err());
}

#[test]
fn values_stand_in_one_line() {
    for (value, expected) in [
        (json!("a\nb"), "\"a\\nb\""),
        (json!(""), "\"\""),
        (json!("true"), "\"true\""),
        (json!({"reason": "ContainerCreating"}), "{reason: ContainerCreating}"),
        (json!({"a": "x, y", "b": [1, null]}), "{a: \"x, y\", b: [1, null]}"),
        (json!(1.5), "1.5"),
    ] {
        assert_eq!(brief(&value), expected);
    }
}

#[test]
fn a_field_is_compared_by_the_keys_of_its_list() {
    let ports = |names: [&str; 2]| {
        json!([{"containerPort": 80, "name": names[0]}, {"containerPort": 81, "name": names[1]}]).to_string()
    };
    let found = diff_field("/spec/containers/0/ports", &ports(["a", "b"]), &ports(["b", "a"])).unwrap().unwrap();
    let paths: Vec<&str> = found.changes.iter().map(|change| &*change.path).collect();
    assert_eq!(paths, ["[80].name", "[81].name"]);
    let metadata = |version: &str| json!({"resourceVersion": version, "managedFields": [version]}).to_string();
    assert_eq!(diff_field("/metadata", &metadata("1"), &metadata("2")), Ok(None));
    assert_eq!(diff_field("", &metadata("1"), "{"), Err(NotReadable));
}

#[test]
fn the_fields_of_two_objects_stand_in_kubectl_s_order() {
    let pod = |value: u32| {
        json!({
            "status": {"phase": value},
            "metadata": {"name": value, "labels": {"b": value, "a.b/c": value, "a-b": value, "a": {"z": value}}},
            "spec": {"containers": [
                {"name": "web", "image": value, "args": [value]}, {"name": "agent", "tty": value, "image": value}],
                "affinity": value},
        })
        .to_string()
    };
    let found = diff_field("", &pod(1), &pod(2)).unwrap().unwrap();
    let paths: Vec<&str> = found.changes.iter().map(|change| &*change.path).collect();
    let expected = [
        "metadata.labels.a.z",
        "metadata.labels.a-b",
        "metadata.labels[\"a.b/c\"]",
        "metadata.labels.b",
        "metadata.name",
        "spec.affinity",
        "spec.containers[web].args[0]",
        "spec.containers[web].image",
        "spec.containers[agent].image",
        "spec.containers[agent].tty",
        "status.phase",
    ];
    assert_eq!(paths, expected);
}
