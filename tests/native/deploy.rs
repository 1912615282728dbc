//! The manifests that record a cluster from within.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kubechurn_model::navigation::catalog::MATTERS;
use serde_json::Value;

fn manifests() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/recorder.yaml");
    let text = fs::read_to_string(path).expect("the manifests are there");
    text.split("\n---\n").map(|one| serde_saphyr::from_str(one).expect("it is YAML")).collect()
}

fn only(kind: &str) -> Value {
    let mut of: Vec<Value> = manifests().into_iter().filter(|one| one["kind"] == kind).collect();
    assert_eq!(of.len(), 1, "{kind}");
    of.remove(0)
}

fn words(value: &Value) -> Vec<&str> {
    let words = value.as_array().expect("a list");
    words.iter().map(|word| word.as_str().expect("a word")).collect()
}

#[test]
fn the_recorder_may_list_and_watch_what_it_records_and_nothing_else() {
    let kinds: Vec<Value> = manifests().into_iter().map(|one| one["kind"].clone()).collect();
    let expected =
        ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "PersistentVolumeClaim", "Deployment"];
    assert_eq!(kinds, expected);
    let role = only("ClusterRole");
    let mut resources = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        assert!(words(&rule["verbs"]).iter().all(|verb| ["get", "list", "watch"].contains(verb)), "{rule}");
        assert!(rule["nonResourceURLs"].is_null() && !words(&rule["apiGroups"]).contains(&"*"), "{rule}");
        resources.extend(words(&rule["resources"]).into_iter().map(str::to_owned));
    }
    let expected: BTreeSet<String> = MATTERS.split(',').map(str::to_owned).collect();
    assert_eq!(resources, expected);
    let binding = only("ClusterRoleBinding");
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
    let (account, deployment) = (only("ServiceAccount"), only("Deployment"));
    assert_eq!(binding["subjects"][0]["name"], account["metadata"]["name"]);
    assert_eq!(binding["subjects"][0]["namespace"], account["metadata"]["namespace"]);
    assert_eq!(deployment["spec"]["template"]["spec"]["serviceAccountName"], account["metadata"]["name"]);
}

#[test]
fn the_recorder_runs_with_as_little_as_it_needs() {
    let deployment = only("Deployment");
    let template = &deployment["spec"]["template"];
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], template["metadata"]["labels"]);
    assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    let (pod, container) = (&template["spec"], &template["spec"]["containers"][0]);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let security = &container["securityContext"];
    assert_eq!(security["readOnlyRootFilesystem"], true);
    assert_eq!(security["allowPrivilegeEscalation"], false);
    assert_eq!(words(&security["capabilities"]["drop"]), ["ALL"]);
    assert!(container["resources"]["limits"]["memory"].is_string());
    let claim = only("PersistentVolumeClaim");
    assert_eq!(pod["volumes"][0]["persistentVolumeClaim"]["claimName"], claim["metadata"]["name"]);
    let command = words(&container["command"]).join(" ");
    let folder = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    assert!(command.starts_with(&format!("/kubechurn record -A -o {folder}/ ")), "{command}");
    // The image is the one that is made beside the archives of the program.
    let image = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/Containerfile")).unwrap();
    let user = pod["securityContext"]["runAsUser"].as_u64().unwrap();
    assert!(image.contains(&format!("\nUSER {user}:")) && image.contains("\"/kubechurn\""), "{image}");
}
