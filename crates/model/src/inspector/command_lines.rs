//! kubectl command lines about the object that is shown. They are copied, and never run.

use serde_json::Value;

use kubechurn_client::api::object::ObjectKey;

use crate::inspector::containers::containers;
use crate::inspector::summary::owners;
use crate::table::command_line::{about, line, object, quoted};
use kubechurn_columns::kinds::{self, Kind};

/// The most containers whose logs are offered.
const MOST: usize = 12;

/// A command line, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// What it does, in a few words.
    pub title: String,
    /// The line, to be pasted into a POSIX shell.
    pub text: String,
}

/// The command lines about an object, as far as it is known.
pub fn command_lines(kind: &Kind, key: &ObjectKey, full: Option<&Value>) -> Vec<CommandLine> {
    let mut lines = Vec::new();
    let mut add = |title: &str, text: String| lines.push(CommandLine { title: title.to_owned(), text });
    add("describe", about("describe", kind, key, ""));
    add("get, as YAML", object(kind, key));
    match (kind.resource.group, kind.resource.plural) {
        ("", "pods") => {
            let containers = full.map(containers).unwrap_or_default().0;
            for container in containers.iter().filter(|one| !one.name.is_empty()).take(MOST) {
                let option = format!(" -c {}", quoted(&container.name));
                add(&format!("logs of {}", container.name), line("logs", "", (kind, key), &option));
                if container.last.is_some() || container.restarts > 0 {
                    let title = format!("logs of {} before its restart", container.name);
                    add(&title, line("logs", "", (kind, key), &format!(" -p{option}")));
                }
            }
        }
        ("apps", "deployments" | "statefulsets" | "daemonsets") => {
            add("status of the rollout", about("rollout status", kind, key, ""));
            add("revisions", about("rollout history", kind, key, ""));
            add("back to the revision before", about("rollout undo", kind, key, ""));
        }
        ("apps", "replicasets") => {
            let owner = full.map(owners).unwrap_or_default().into_iter().next();
            let owner = owner.filter(|owner| owner.controller && *owner.kind == *"Deployment");
            let deployments = kinds::kind("deployments");
            if let (Some(owner), Some(revision), Some(deployments)) = (owner, full.and_then(revision), deployments) {
                let key = ObjectKey::new(&key.namespace, &owner.name);
                let resource = kubechurn_client::api::resource::ApiResource {
                    cluster: kind.resource.cluster,
                    ..deployments.resource
                };
                let deployments = Kind { resource, ..*deployments };
                let option = format!(" --to-revision={revision}");
                let title = format!("back to this revision, {revision}");
                add(&title, about("rollout undo", &deployments, &key, &option));
            }
        }
        _ => {}
    }
    lines
}

/// The revision of a ReplicaSet, where it names a number.
fn revision(object: &Value) -> Option<u64> {
    let annotations = object.get("metadata")?.get("annotations")?;
    annotations.get("deployment.kubernetes.io/revision")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use kubechurn_columns::kinds::kind;

    fn texts(kind_name: &str, key: &ObjectKey, full: Option<&Value>) -> Vec<String> {
        command_lines(kind(kind_name).unwrap(), key, full).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_pod_has_the_logs_of_its_containers() {
        let pod = json!({
            "spec": {"initContainers": [{"name": "init"}], "containers": [{"name": "web"}, {"name": "$(reboot)"}]},
            "status": {"containerStatuses": [{"name": "web", "restartCount": 2}]},
        });
        let key = ObjectKey::new("shop", "web-1");
        let expected = [
            "kubectl describe pod web-1 -n shop",
            "kubectl get pod web-1 -n shop -o yaml",
            "kubectl logs web-1 -n shop -c init",
            "kubectl logs web-1 -n shop -c web",
            "kubectl logs web-1 -n shop -p -c web",
            "kubectl logs web-1 -n shop -c '$(reboot)'",
        ];
        assert_eq!(texts("pods", &key, Some(&pod)), expected);
        assert_eq!(texts("pods", &key, None), expected[..2]);
    }

    #[test]
    fn a_workload_has_its_rollouts_and_a_revision_only_where_one_is_known() {
        let key = ObjectKey::new("shop", "web");
        let expected = [
            "kubectl describe deployment web -n shop",
            "kubectl get deployment web -n shop -o yaml",
            "kubectl rollout status deployment web -n shop",
            "kubectl rollout history deployment web -n shop",
            "kubectl rollout undo deployment web -n shop",
        ];
        assert_eq!(texts("deployments", &key, None), expected);
        let set = |revision: &str| {
            json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": revision},
                "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u", "controller": true}]}})
        };
        let key = ObjectKey::new("shop", "web-77");
        let known = texts("replicasets", &key, Some(&set("7")));
        assert_eq!(
            known.last().map(String::as_str),
            Some("kubectl rollout undo deployment web -n shop --to-revision=7")
        );
        for odd in ["", "7; reboot", "-1"] {
            assert_eq!(texts("replicasets", &key, Some(&set(odd))).len(), 2, "{odd}");
        }
        assert_eq!(texts("configmaps", &key, None).len(), 2);
    }

    #[test]
    fn a_shell_reads_hostile_names_as_names() {
        for name in ["a b", "'", "$(id)", "`id`", "a;b", "-x", "--all", "é", "\n", "*", "~", "!x", "#a", "a\\"] {
            let key = ObjectKey::new(name, name);
            let pod = json!({"spec": {"containers": [{"name": name}]}});
            for text in texts("pods", &key, Some(&pod)) {
                let script = format!("kubectl() {{ for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }}; {text}");
                let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
                let words = String::from_utf8(output.stdout).unwrap();
                let count = words.split('\0').filter(|word| *word == name).count();
                assert!(output.status.success() && (2..=3).contains(&count), "{name:?}: {text} gives {words:?}");
            }
        }
    }
}
