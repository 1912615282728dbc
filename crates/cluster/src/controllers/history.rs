//! The history of a workload's template: ControllerRevisions, as `pkg/controller/history` keeps them for StatefulSets
//! and DaemonSets, and as `kubectl rollout history` and `undo` read them.

use serde_json::{Map, Value, json};

use super::object;
use super::pod_template::{hash, normal};
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::CONTROLLER_REVISIONS;
use crate::client::rest::{Client, DeleteOptions};

/// The label with the revision of a Pod; its value is the revision's name, or for DaemonSets the hash.
pub const REVISION_HASH: &str = "controller-revision-hash";

/// The label with the hash of a StatefulSet's revision (`ControllerRevisionHashLabel`).
const HASH: &str = "controller.kubernetes.io/hash";

/// A workload whose templates are kept.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// Writes revisions.
    pub client: &'a Client,
    /// Reads revisions.
    pub revisions: &'a Lister,
    /// The workload; its `kind` must be set.
    pub owner: &'a Value,
}

/// The revisions of a workload.
#[derive(Debug)]
pub struct Revisions {
    /// The revision of the current template.
    pub update: Value,
    /// All revisions, `update` included, oldest first.
    pub all: Vec<Value>,
    /// How often another template had the same hash.
    pub collision_count: i64,
}

/// The hash of a revision, which the Pods of DaemonSets carry as a label.
pub fn hash_of(revision: &Value) -> &str {
    object::label(revision, REVISION_HASH).or_else(|| object::label(revision, HASH)).unwrap_or_default()
}

/// The template that a revision keeps; `Null` if the revision has another format.
pub fn template_of(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

fn number(revision: &Value) -> i64 {
    object::number(revision, "/revision").unwrap_or_default()
}

impl History<'_> {
    /// Finds the revision of the current template and makes it the newest; creates it if there is none
    /// (`getStatefulSetRevisions`, `constructHistory`).
    ///
    /// # Errors
    /// When a write is refused. A hash that another template already has is not an error: the next hash is tried.
    pub async fn update(&self) -> Result<Revisions, ApiError> {
        let mut all = self.list();
        let template = normal(&self.owner["spec"]["template"]);
        let mut collision_count = object::number(self.owner, "/status/collisionCount").unwrap_or_default();
        let newest = all.last().map_or(0, number);
        let equal = all.iter().rposition(|revision| normal(&template_of(revision)) == template);
        let update = match equal {
            Some(at) if number(&all[at]) == newest => all[at].clone(),
            // After a rollback, an old revision becomes the newest again.
            Some(at) => {
                let mut revision = all.remove(at);
                revision["revision"] = (newest + 1).into();
                let revision = self.client.update(&CONTROLLER_REVISIONS, &revision).await?;
                all.push(revision.clone());
                revision
            }
            None => {
                let revision = self.create(newest + 1, &mut collision_count).await?;
                // The informer may already show the revision, which must not be listed twice.
                all.retain(|known| object::name(known) != object::name(&revision));
                all.push(revision.clone());
                revision
            }
        };
        Ok(Revisions { update, all, collision_count })
    }

    /// Deletes the oldest revisions for which `is_live` is false, down to the workload's `revisionHistoryLimit`
    /// (`truncateHistory`).
    ///
    /// # Errors
    /// When a deletion is refused for another reason than that the revision is already deleted.
    pub async fn truncate(&self, all: &[Value], is_live: impl Fn(&Value) -> bool) -> Result<(), ApiError> {
        let limit = object::number(self.owner, "/spec/revisionHistoryLimit").unwrap_or(10);
        let old: Vec<&Value> = all.iter().filter(|revision| !is_live(revision)).collect();
        let excess = old.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
        for revision in &old[..excess] {
            let options = DeleteOptions { uid: Some(object::uid(revision)), ..DeleteOptions::default() };
            let namespace = object::namespace(self.owner);
            match self.client.delete(&CONTROLLER_REVISIONS, namespace, object::name(revision), options).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The known revisions, oldest first.
    fn list(&self) -> Vec<Value> {
        let uid = object::uid(self.owner);
        let known = self.revisions.owned_by(uid);
        let known = known.iter().filter_map(|revision| self.revisions.parse(revision));
        let mut all: Vec<Value> = known.filter(|revision| object::is_controlled_by(revision, uid)).collect();
        all.sort_by_cached_key(|revision| (number(revision), object::name(revision).to_owned()));
        all
    }

    async fn create(&self, number: i64, collision_count: &mut i64) -> Result<Value, ApiError> {
        loop {
            let new = self.new_revision(number, *collision_count);
            let namespace = object::namespace(self.owner);
            match self.client.create(&CONTROLLER_REVISIONS, namespace, &new).await {
                Err(error) if error.is_already_exists() => {
                    let found = self.client.get(&CONTROLLER_REVISIONS, namespace, object::name(&new)).await?;
                    let is_ours = object::is_controlled_by(&found, object::uid(self.owner));
                    if is_ours && normal(&template_of(&found)) == normal(&template_of(&new)) {
                        return Ok(found);
                    }
                    *collision_count += 1;
                }
                answer => return answer,
            }
        }
    }

    fn new_revision(&self, number: i64, collision_count: i64) -> Value {
        let mut template = self.owner["spec"]["template"].clone();
        let hash = hash(&template, collision_count);
        let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let label = if self.owner["kind"] == "DaemonSet" { REVISION_HASH } else { HASH };
        labels.insert(label.to_owned(), hash.as_str().into());
        // The data is a strategic merge patch, which replaces the template as a whole.
        object::set(&mut template, &["$patch"], "replace".into());
        // A name has at most 253 characters, of which the hash takes ten.
        let prefix: String = object::name(self.owner).chars().take(223).collect();
        let mut metadata = Map::new();
        metadata.insert("name".to_owned(), format!("{prefix}-{hash}").into());
        metadata.insert("namespace".to_owned(), object::namespace(self.owner).into());
        metadata.insert("labels".to_owned(), labels.into());
        metadata.insert("ownerReferences".to_owned(), json!([object::controller_reference(self.owner)]));
        if let Some(annotations) = self.owner["metadata"].get("annotations") {
            metadata.insert("annotations".to_owned(), annotations.clone());
        }
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata,
            "data": {"spec": {"template": template}}, "revision": number})
    }
}
