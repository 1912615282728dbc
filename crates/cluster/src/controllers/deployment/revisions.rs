//! Which ReplicaSet is that of the newest template, and which revision it is (`getNewReplicaSet` in
//! `pkg/controller/deployment/sync.go`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::object;
use super::{Rollout, Sets, annotations, progress, replicas};
use crate::client::api_error::ApiError;
use crate::client::resources::{DEPLOYMENTS, REPLICA_SETS};
use crate::client::rest::Patch;
use crate::clock;
use crate::random::NAME_ALPHABET;

/// The label that tells the Pods of one template from those of another.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Tells the ReplicaSet of a Deployment's template from the others: the oldest with that template, so that several
/// managers would agree (`FindNewReplicaSet`).
pub(super) fn divide(deployment: &Value, mut sets: Vec<Value>) -> Sets {
    sets.sort_by_cached_key(|set| {
        let created = object::time(set, "/metadata/creationTimestamp").map(|time| time.0);
        (created, object::name(set).to_owned())
    });
    let template = normal(&deployment["spec"]["template"]);
    let new = sets.iter().position(|set| normal(&set["spec"]["template"]) == template);
    let new = new.map(|at| sets.remove(at));
    Sets { new, old: sets }
}

impl Rollout<'_> {
    /// Gives the ReplicaSet of the newest template the newest revision. If there is none, it is created if that is
    /// wanted.
    pub(super) async fn find_new(&mut self, sets: &mut Sets, create: bool) -> Result<(), ApiError> {
        let newest = sets.old.iter().map(annotations::revision).max().unwrap_or_default().saturating_add(1);
        let Some(known) = sets.new.take() else {
            if create {
                sets.new = Some(self.create_new(sets, newest).await?);
            }
            return Ok(());
        };
        let mut set = known.clone();
        annotations::set_new(&self.deployment, &mut set, newest, true);
        object::set(&mut set, &["spec", "minReadySeconds"], self.deployment["spec"]["minReadySeconds"].clone());
        if set["spec"]["minReadySeconds"].is_null()
            && let Some(spec) = set.get_mut("spec").and_then(Value::as_object_mut)
        {
            spec.remove("minReadySeconds");
        }
        if set != known {
            set = self.controller.client.update(&REPLICA_SETS, &set).await?;
            self.controller.written_sets.note(&set);
        }
        self.write_revision(annotations::revision(&set)).await?;
        if progress::deadline(&self.deployment).is_some() && progress::reason(&self.deployment["status"]).is_empty() {
            let message = format!("Found new replica set {:?}", object::name(&set));
            self.set_progressing("True", "FoundNewReplicaSet", &message).await?;
        }
        sets.new = Some(set);
        Ok(())
    }

    async fn create_new(&mut self, sets: &Sets, revision: u64) -> Result<Value, ApiError> {
        let mut new = self.new_set();
        let replicas = replicas::new_replicas(&self.deployment, &new, replicas::total(sets.all()));
        object::set(&mut new, &["spec", "replicas"], replicas.into());
        annotations::set_new(&self.deployment, &mut new, revision, false);
        let name = object::name(&new).to_owned();
        let has_deadline = progress::deadline(&self.deployment).is_some();
        let client = self.controller.client.clone();
        let (created, is_ours_already) = match client.create(&REPLICA_SETS, self.namespace(), &new).await {
            Ok(created) => (created, false),
            Err(error) if error.is_already_exists() => {
                let found = client.get(&REPLICA_SETS, self.namespace(), &name).await?;
                let is_same = normal(&found["spec"]["template"]) == normal(&new["spec"]["template"]);
                if !object::is_controlled_by(&found, object::uid(&self.deployment)) || !is_same {
                    // Another template has the same hash, or a stranger the name: the next one is tried.
                    let count = object::count(&self.deployment, "/status/collisionCount") + 1;
                    self.change_status(|status| object::set(status, &["collisionCount"], count.into())).await?;
                    return Err(error);
                }
                (found, true)
            }
            Err(error) if error.is_namespace_terminating() => return Err(error),
            Err(error) => {
                let message = format!("Failed to create new replica set {name:?}: {error}");
                if has_deadline {
                    self.set_progressing("False", "ReplicaSetCreateError", &message).await?;
                }
                self.controller.recorder.warning(&self.deployment, "ReplicaSetCreateError", &message);
                return Err(error);
            }
        };
        if !is_ours_already && replicas > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {replicas}");
            self.controller.recorder.normal(&self.deployment, "ScalingReplicaSet", &message);
        }
        self.write_revision(annotations::revision(&created)).await?;
        if !is_ours_already && has_deadline {
            let message = format!("Created new replica set {name:?}");
            self.set_progressing("True", "NewReplicaSetCreated", &message).await?;
        }
        Ok(created)
    }

    /// A ReplicaSet of the template, named after its hash.
    fn new_set(&self) -> Value {
        let deployment = &self.deployment;
        let collisions = object::count(deployment, "/status/collisionCount");
        let hash = hash(&deployment["spec"]["template"], collisions);
        let mut template = deployment["spec"]["template"].clone();
        object::set(&mut template, &["metadata", "labels", POD_TEMPLATE_HASH], hash.as_str().into());
        let mut selector = deployment["spec"]["selector"].clone();
        object::set(&mut selector, &["matchLabels", POD_TEMPLATE_HASH], hash.as_str().into());
        let mut set = json!({
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": format!("{}-{hash}", object::name(deployment)),
                "namespace": object::namespace(deployment),
                "labels": template["metadata"]["labels"],
                "ownerReferences": [object::controller_reference(deployment)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        });
        if let Some(seconds) = object::number(deployment, "/spec/minReadySeconds") {
            object::set(&mut set, &["spec", "minReadySeconds"], seconds.into());
        }
        set
    }

    /// Writes on the Deployment which revision it is at.
    async fn write_revision(&mut self, revision: u64) -> Result<(), ApiError> {
        if revision == annotations::revision(&self.deployment) {
            return Ok(());
        }
        // The uid, so that another life of the name is not taken for this one.
        let patch = json!({"metadata": {"uid": object::uid(&self.deployment),
            "resourceVersion": self.deployment["metadata"]["resourceVersion"],
            "annotations": {annotations::REVISION: revision.to_string()}}});
        let (namespace, name) = (self.namespace().to_owned(), self.name().to_owned());
        let client = &self.controller.client;
        self.deployment = client.patch(&DEPLOYMENTS, &namespace, &name, "", Patch::Merge(&patch)).await?;
        self.controller.written.note(&self.deployment);
        Ok(())
    }

    async fn set_progressing(&mut self, status: &str, reason: &str, message: &str) -> Result<(), ApiError> {
        let condition = progress::condition(progress::PROGRESSING, status, reason, message, clock::now());
        self.change_status(|status| progress::set(status, condition)).await
    }
}

/// Fields of a template whose zero Go does not write, and so tells from nothing no more.
const PLAIN: [&str; 10] = [
    "generation",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "readOnly",
    "setHostnameAsFQDN",
    "stdin",
    "stdinOnce",
    "tty",
];
/// The maps among them; other empty objects, such as `emptyDir`, say something.
const MAPS: [&str; 6] = ["annotations", "labels", "limits", "matchLabels", "nodeSelector", "requests"];

/// A template as it is compared and hashed: in the order of the fields' names, without its hash, and without what a
/// program in Go would leave out when it writes the template again, as `kubectl rollout undo` does.
pub fn normal(template: &Value) -> Value {
    let mut template = without_nothing(template);
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(POD_TEMPLATE_HASH);
    }
    template
}

fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(name, field)| !is_nothing(name, field));
            let said: BTreeMap<&String, Value> = said.map(|(name, field)| (name, without_nothing(field))).collect();
            Value::Object(said.into_iter().map(|(name, field)| (name.clone(), field)).collect())
        }
        Value::Array(list) => list.iter().map(without_nothing).collect(),
        other => other.clone(),
    }
}

/// Whether a field that says this says no more than one that is not there.
fn is_nothing(name: &str, field: &Value) -> bool {
    match field {
        Value::Null => true,
        Value::Bool(flag) => !flag && PLAIN.contains(&name),
        Value::Number(number) => number.as_i64() == Some(0) && PLAIN.contains(&name),
        // The one text that is a pointer: the empty class is no class, and none is the default one.
        Value::String(text) => text.is_empty() && name != "storageClassName",
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty() && MAPS.contains(&name),
    }
}

/// The hash of a template, in letters and digits that make no words. Kubernetes hashes how Go prints the template,
/// which nobody else can; here it is its JSON. Both write FNV-1a's number, digit by digit, with other letters
/// (`ComputeHash`, `SafeEncodeString`).
pub fn hash(template: &Value, collisions: i64) -> String {
    let template = normal(template).to_string();
    let collisions = if collisions > 0 { collisions.to_string() } else { String::new() };
    let bytes = template.bytes().chain(collisions.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(NAME_ALPHABET[usize::from(digit) % NAME_ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_that_mean_the_same_are_the_same() {
        let one = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}});
        let same = json!({"spec": {"containers": [{"name": "a", "env": [], "tty": false, "image": ""}],
            "hostNetwork": false},
            "metadata": {"creationTimestamp": null, "generation": 0, "annotations": {},
            "labels": {"app": "web", POD_TEMPLATE_HASH: "x"}}});
        let other = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "b"}]}});
        let grace = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}],
            "terminationGracePeriodSeconds": 0}});
        assert_eq!((normal(&one), hash(&one, 0)), (normal(&same), hash(&same, 0)));
        assert_ne!(hash(&one, 0), hash(&other, 0));
        assert_ne!(normal(&one), normal(&grace), "a zero that was said");
        assert_ne!(hash(&one, 0), hash(&one, 1));
        assert!(hash(&one, 0).bytes().all(|byte| NAME_ALPHABET.contains(&byte)));
    }
}
