//! A release that changes a ConfigMap, so that its Pods crash as soon as they start, and the rollback.
//!
//! It is made as helm makes it: the Pods read the ConfigMap when they start, and their template has a hash of it, so that a change
//! of it rolls out.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Environment, ReservedDeployment, is_rolled_out};
use crate::client::api_error::ApiError;
use crate::client::resources::{CONFIG_MAPS, DEPLOYMENTS};
use crate::client::rest::{Client, Patch};
use crate::controllers::kubelet::behaviour::WANTS_NUMBER;
use crate::random;

/// The setting that must be a number.
const SETTING: &str = "CACHE_MEGABYTES";
/// How long to wait for a release to roll out.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Releases and rolls back until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.client = environment.client.with_user_agent("helm");
    environment.rest(500, 1500).await;
    loop {
        if let Some(deployment) = environment.reserve_deployment().await {
            let place = (&DEPLOYMENTS, deployment.namespace(), deployment.name());
            if release(&environment.client, &deployment, "256").await.is_ok() {
                environment.until(place, TIMEOUT, is_rolled_out).await;
                environment.rest(8000, 12_000).await;
                if release(&environment.client, &deployment, "512MB").await.is_ok() {
                    environment.rest(40_000, 50_000).await;
                    // Whatever the outcome, the next release is of another Deployment.
                    let _ = release(&environment.client, &deployment, "256").await;
                    environment.until(place, TIMEOUT, is_rolled_out).await;
                }
            }
        }
        environment.rest(15_000, 30_000).await;
    }
}

/// Releases a Deployment with this value of the setting.
async fn release(client: &Client, deployment: &ReservedDeployment, value: &str) -> Result<Value, ApiError> {
    let (namespace, name) = (deployment.namespace(), format!("{}-config", deployment.name()));
    let data = json!({SETTING: value, "LOG_LEVEL": "info", "REGION": "demo-1"});
    let changed = client.patch(&CONFIG_MAPS, namespace, &name, Patch::Merge(&json!({"data": data}))).await;
    if changed.is_err_and(|error| error.is_not_found()) {
        let labels = json!({"app.kubernetes.io/managed-by": "Helm"});
        let map = json!({"metadata": {"name": name, "namespace": namespace, "labels": labels}, "data": data});
        client.create(&CONFIG_MAPS, namespace, &map).await?;
    }
    let hash = random::uid(0, &data.to_string(), 0).replace('-', "");
    let annotations = json!({"checksum/config": hash, WANTS_NUMBER: SETTING});
    let containers = json!([{"name": deployment.container(), "envFrom": [{"configMapRef": {"name": name}}]}]);
    let template = json!({"metadata": {"annotations": annotations}, "spec": {"containers": containers}});
    let patch = json!({"spec": {"template": template}});
    client.patch(&DEPLOYMENTS, namespace, deployment.name(), Patch::Strategic(&patch)).await
}
