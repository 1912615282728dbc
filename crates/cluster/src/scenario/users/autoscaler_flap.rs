//! An autoscaler whose load depends on its own decisions: more Pods, less load, fewer Pods, more load.

use super::Stage;

/// Scales up and down until it is dropped.
pub async fn play(mut stage: Stage) {
    stage.client = stage.client.with_user_agent("horizontal-pod-autoscaler");
    stage.rest(6000, 9000).await;
    loop {
        let Some(taken) = stage.take_deployment().await else {
            stage.rest(5000, 10_000).await;
            continue;
        };
        let usual = taken.replicas().max(2);
        for _ in 0..stage.random.between(4, 8) {
            let more = usual + stage.random.between(2, 4) as u64;
            // A Deployment that was deleted cannot be scaled.
            if taken.scale(&stage.client, more).await.is_err() {
                break;
            }
            stage.rest(8000, 15_000).await;
            let _ = taken.scale(&stage.client, usual).await;
            stage.rest(8000, 15_000).await;
        }
    }
}
