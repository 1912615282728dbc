//! A version that crashes as soon as it starts, until it is repaired.

use std::time::Duration;

use serde_json::json;

use super::{Stage, is_rolled_out};
use crate::client::resources::DEPLOYMENTS;

/// How long to wait for a repair to roll out.
const PATIENCE: Duration = Duration::from_secs(120);

/// Breaks and repairs until it is dropped.
pub async fn play(mut stage: Stage) {
    stage.client = stage.client.with_user_agent("helm");
    stage.rest(4000, 6000).await;
    loop {
        if let Some(taken) = stage.take_deployment().await {
            let seconds = stage.random.between(2, 5);
            let command = json!(["sh", "-c", format!("sleep {seconds}; exit 1")]);
            let broken = json!({"command": command});
            if taken.change_container(&stage.client, "a setting that it does not survive", broken).await.is_ok() {
                stage.rest(60_000, 90_000).await;
                let repaired = json!({"command": null});
                let _ = taken.change_container(&stage.client, "the setting is taken back", repaired).await;
                stage.until((&DEPLOYMENTS, taken.namespace(), taken.name()), PATIENCE, is_rolled_out).await;
            }
        }
        stage.rest(15_000, 30_000).await;
    }
}
