//! A version that crashes as soon as it starts, until it is repaired.

use std::time::Duration;

use serde_json::json;

use super::{Environment, is_rolled_out};
use crate::client::resources::DEPLOYMENTS;

/// How long to wait for a repair to roll out.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Breaks and repairs until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.client = environment.client.with_user("bob").with_user_agent("helm/3.19.0");
    environment.rest(4000, 6000).await;
    loop {
        if let Some(deployment) = environment.reserve_deployment().await {
            let seconds = environment.random.between(2, 5);
            let command = json!(["sh", "-c", format!("sleep {seconds}; exit 1")]);
            let broken = json!({"command": command});
            if deployment
                .change_container(&environment.client, "a setting that it does not survive", broken)
                .await
                .is_ok()
            {
                environment.rest(60_000, 90_000).await;
                let repaired = json!({"command": null});
                let _ = deployment.change_container(&environment.client, "the setting is taken back", repaired).await;
                environment
                    .until((&DEPLOYMENTS, deployment.namespace(), deployment.name()), TIMEOUT, is_rolled_out)
                    .await;
            }
        }
        environment.rest(15_000, 30_000).await;
    }
}
