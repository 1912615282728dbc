//! Rollouts of new images; sometimes of one that does not exist, which is rolled back.

use std::time::Duration;

use serde_json::json;

use super::{Environment, is_rolled_out, next_image};
use crate::client::resources::DEPLOYMENTS;

/// How long to wait for a rollout.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Rolls out until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.client = environment.client.person("alice", "kubectl-set");
    // The first rollout begins soon, so that a user who has just opened the page sees it.
    environment.rest(500, 1500).await;
    loop {
        if let Some(deployment) = environment.reserve_deployment().await {
            let (old, new) = (deployment.image().to_owned(), next_image(deployment.image()));
            let is_bad = environment.random.chance(20);
            let image = if is_bad { format!("{new}-typo") } else { new };
            let cause = format!("image {image}");
            if deployment.change_container(&environment.client, &cause, json!({"image": image})).await.is_ok() {
                if is_bad {
                    environment.rest(20_000, 35_000).await;
                    let cause = format!("rolled back to image {old}");
                    // Whatever the outcome, the next rollout is of another Deployment.
                    let _ = deployment.change_container(&environment.client, &cause, json!({"image": old})).await;
                }
                environment
                    .until((&DEPLOYMENTS, deployment.namespace(), deployment.name()), TIMEOUT, is_rolled_out)
                    .await;
            }
        }
        environment.rest(3000, 9000).await;
    }
}
