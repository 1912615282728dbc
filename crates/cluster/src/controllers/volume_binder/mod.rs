//! Gives every claim a volume at once: the part of `pkg/controller/volume/persistentvolume` and of a provisioner that
//! is visible through the API. There is no storage behind it, and of a storage class only counts whether there is one.

use kubechurn_client::api::object::ObjectKey;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::object;
use super::queue::Queue;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{CLAIMS, STORAGE_CLASSES, VOLUMES};
use crate::client::rest::{Client, DeleteOptions, Patch};

/// The name of the provisioner in the volumes.
const PROVISIONER: &str = "kubechurn.dev/provisioner";

/// The controller.
#[derive(Debug)]
pub struct VolumeBinder {
    client: Client,
    claims: Lister,
    volumes: Lister,
    recorder: Recorder,
}

impl Controller for VolumeBinder {
    type Key = ObjectKey;
    const NAME: &'static str = "persistentvolume-binder-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let claims = context.lister(CLAIMS);
        claims.on_change(move |change| queue.add(change.object().key.clone()));
        let recorder = context.recorder(Self::NAME);
        Self { client: context.client.clone(), claims, volumes: context.lister(VOLUMES), recorder }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let claim = self.claims.value(key);
        self.reclaim(key, claim.as_ref().map_or("", object::uid)).await?;
        let Some(claim) = claim else { return Ok(()) };
        if object::text(&claim, "/status/phase") == "Bound" || object::is_being_deleted(&claim) {
            return Ok(());
        }
        let class = object::text(&claim, "/spec/storageClassName");
        if !class.is_empty()
            && let Err(error) = self.client.get(&STORAGE_CLASSES, "", class).await
        {
            if error.is_not_found() {
                let message = format!("storageclass.storage.k8s.io \"{class}\" not found");
                self.recorder.warning(&claim, "ProvisioningFailed", &message);
            }
            // The queue tries again after a pause that grows.
            return Err(error.into());
        }
        Ok(self.bind(&claim).await?)
    }
}

impl VolumeBinder {
    /// Deletes the volumes that were made for an earlier claim of the same name, or for a claim that is deleted.
    async fn reclaim(&self, key: &ObjectKey, uid: &str) -> Result<(), ApiError> {
        for volume in self.volumes.list().iter().filter_map(|volume| self.volumes.parse(volume)) {
            let claim = &volume["spec"]["claimRef"];
            let is_of = claim["namespace"] == *key.namespace && claim["name"] == *key.name && claim["uid"] != uid;
            let goes = object::text(&volume, "/spec/persistentVolumeReclaimPolicy") == "Delete";
            let is_ours = object::annotation(&volume, "pv.kubernetes.io/provisioned-by") == Some(PROVISIONER);
            if is_of && goes && is_ours && !object::is_being_deleted(&volume) {
                match self.client.delete(&VOLUMES, "", object::name(&volume), DeleteOptions::default()).await {
                    Err(error) if !error.is_not_found() => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    async fn bind(&self, claim: &Value) -> Result<(), ApiError> {
        let (namespace, name) = (object::namespace(claim), object::name(claim));
        let mut volume = object::text(claim, "/spec/volumeName").to_owned();
        if volume.is_empty() {
            volume = format!("pvc-{}", object::uid(claim));
            let new = new_volume(claim, &volume);
            match self.client.create(&VOLUMES, "", &new).await {
                Ok(_) => {
                    let message = format!("Successfully provisioned volume {volume}");
                    self.recorder.normal(claim, "ProvisioningSucceeded", &message);
                }
                Err(error) if error.is_already_exists() => {}
                Err(error) => return Err(error),
            }
            let bound = json!({"status": {"phase": "Bound"}});
            self.client.patch_status(&VOLUMES, "", &volume, Patch::Merge(&bound)).await?;
            let done = json!({"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"});
            let patch = json!({"metadata": {"annotations": done}, "spec": {"volumeName": volume}});
            self.client.patch(&CLAIMS, namespace, name, Patch::Merge(&patch)).await?;
        }
        let status = json!({"status": {"phase": "Bound", "accessModes": claim["spec"]["accessModes"],
            "capacity": {"storage": capacity(claim)}}});
        self.client.patch_status(&CLAIMS, namespace, name, Patch::Merge(&status)).await.map(drop)
    }
}

/// The requested capacity.
fn capacity(claim: &Value) -> Value {
    claim.pointer("/spec/resources/requests/storage").cloned().unwrap_or_else(|| json!("1Gi"))
}

fn new_volume(claim: &Value, name: &str) -> Value {
    let reference = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": object::namespace(claim),
        "name": object::name(claim), "uid": object::uid(claim),
        "resourceVersion": claim["metadata"]["resourceVersion"]});
    let mut spec = json!({"accessModes": claim["spec"]["accessModes"], "capacity": {"storage": capacity(claim)},
        "claimRef": reference, "persistentVolumeReclaimPolicy": "Delete", "volumeMode": "Filesystem",
        "csi": {"driver": PROVISIONER, "volumeHandle": name}});
    for field in ["storageClassName", "volumeMode"] {
        if let Some(value) = claim["spec"].get(field).filter(|value| !value.is_null()) {
            spec[field] = value.clone();
        }
    }
    let metadata = json!({"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}});
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec})
}
