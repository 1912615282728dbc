//! An autoscaler whose load depends on its own decisions: more Pods, less load, fewer Pods, more load.

use super::Environment;

/// Scales up and down until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.client = environment.client.with_user_agent("horizontal-pod-autoscaler");
    environment.rest(6000, 9000).await;
    loop {
        let Some(deployment) = environment.reserve_deployment().await else {
            environment.rest(5000, 10_000).await;
            continue;
        };
        let usual = deployment.replicas().max(2);
        for _ in 0..environment.random.between(4, 8) {
            let more = usual + environment.random.between(2, 4) as u64;
            // A Deployment that was deleted cannot be scaled.
            if deployment.scale(&environment.client, more).await.is_err() {
                break;
            }
            environment.rest(8000, 15_000).await;
            let _ = deployment.scale(&environment.client, usual).await;
            environment.rest(8000, 15_000).await;
        }
    }
}
