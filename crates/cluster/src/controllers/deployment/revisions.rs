//! Finds the ReplicaSet of the newest template, and the revision of that template (`getNewReplicaSet` in
//! `pkg/controller/deployment/sync.go`).

use serde_json::{Value, json};

use super::super::object;
use super::super::pod_template::{POD_TEMPLATE_HASH, hash, normal};
use super::{Rollout, Sets, annotations, progress, replicas};
use crate::client::api_error::ApiError;
use crate::client::resources::{DEPLOYMENTS, REPLICA_SETS};
use crate::client::rest::Patch;
use crate::clock;

/// Divides the ReplicaSets into the new one and the old ones. The new one is the oldest that has the Deployment's
/// template, so that several managers would choose the same one (`FindNewReplicaSet`).
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
    /// Gives the ReplicaSet of the newest template the newest revision. With `create`, a missing one is created.
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
                    // Another template has the same hash, or an unrelated object has the name: the next hash is tried.
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

    /// A ReplicaSet of the template, named after the template's hash.
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

    /// Writes the revision on the Deployment.
    async fn write_revision(&mut self, revision: u64) -> Result<(), ApiError> {
        if revision == annotations::revision(&self.deployment) {
            return Ok(());
        }
        // The uid is included, so that another Deployment of the same name is not changed.
        let patch = json!({"metadata": {"uid": object::uid(&self.deployment),
            "resourceVersion": self.deployment["metadata"]["resourceVersion"],
            "annotations": {annotations::REVISION: revision.to_string()}}});
        let (namespace, name) = (self.namespace().to_owned(), self.name().to_owned());
        let client = &self.controller.client;
        self.deployment = client.patch(&DEPLOYMENTS, &namespace, &name, Patch::Merge(&patch)).await?;
        self.controller.written.note(&self.deployment);
        Ok(())
    }

    async fn set_progressing(&mut self, status: &str, reason: &str, message: &str) -> Result<(), ApiError> {
        let condition = progress::condition(progress::PROGRESSING, status, reason, message, clock::now());
        self.change_status(|status| progress::set(status, condition)).await
    }
}
