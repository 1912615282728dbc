//! A minimal kubelet for tests of workloads: every Pod runs and is ready at once, except Pods with the image
//! [`BROKEN`].

use kubechurn_client::api::object::ObjectKey;
use serde_json::json;

use crate::client::lister::Lister;
use crate::client::resources::PODS;
use crate::client::rest::{Client, Patch};
use crate::clock;
use crate::controllers::context::Context;
use crate::controllers::controller::{Controller, SyncError};
use crate::controllers::queue::Queue;
use crate::controllers::{object, pod};

/// The image of Pods that never become ready.
pub const BROKEN: &str = "registry.example/broken";

/// The kubelet of every node, and of Pods without a node.
pub struct Kubelet {
    client: Client,
    pods: Lister,
}

impl Controller for Kubelet {
    type Key = ObjectKey;
    const NAME: &'static str = "test-kubelet";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let pods = context.lister(PODS);
        pods.on_change(move |change| {
            if &*change.object().key.namespace == "default" {
                queue.add(change.object().key.clone());
            }
        });
        Self { client: context.client.with_user_agent("kubelet"), pods }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(pod) = self.pods.value(key) else { return Ok(()) };
        if !pod::is_active(&pod) || pod::is_ready(&pod) || object::text(&pod, "/spec/containers/0/image") == BROKEN {
            return Ok(());
        }
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": clock::timestamp(clock::now())});
        let status = json!({"status": {"phase": "Running", "conditions": [ready]}});
        match self.client.patch_status(&PODS, &key.namespace, &key.name, Patch::Merge(&status)).await {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }
}
