//! An autoscaler whose load depends on its own decisions: more Pods, less load, fewer Pods, more load.
//!
//! It decides every two to three seconds, and always between the same two numbers, so that whoever watches sees within ten
//! seconds that the number comes back. The real HorizontalPodAutoscaler decides every 15 s.

use super::Environment;

/// Scales up and down until it is dropped.
pub async fn play(mut environment: Environment) {
    let name = "horizontal-pod-autoscaler";
    environment.client = environment.client.with_service_account(name, name);
    environment.rest(6000, 9000).await;
    loop {
        let Some(deployment) = environment.reserve_deployment().await else {
            environment.rest(5000, 10_000).await;
            continue;
        };
        let usual = deployment.replicas().max(2);
        let more = usual + environment.random.between(2, 4) as u64;
        for _ in 0..environment.random.between(8, 16) {
            // A Deployment that was deleted cannot be scaled.
            if deployment.scale(&environment.client, more).await.is_err() {
                break;
            }
            environment.rest(2000, 3000).await;
            let _ = deployment.scale(&environment.client, usual).await;
            environment.rest(2000, 3000).await;
        }
    }
}
