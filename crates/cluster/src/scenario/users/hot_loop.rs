//! Two controllers that each set one annotation to a value of their own, as soon as the other has changed it.

use serde_json::{Value, json};

use super::Environment;
use crate::client::resources::DEPLOYMENTS;
use crate::client::rest::Patch;

/// The annotation that both set.
const FIELD: &str = "mesh.example/tier";

/// Runs until it is dropped.
pub async fn play(mut environment: Environment) {
    let sides = [("mesh-operator", "gold"), ("policy-operator", "silver")];
    let clients = sides.map(|(agent, _)| {
        environment.client.with_user(&format!("system:serviceaccount:mesh:{agent}")).with_user_agent(agent)
    });
    loop {
        let Some(deployment) = environment.reserve_deployment().await else {
            environment.rest(1000, 2000).await;
            continue;
        };
        for _ in 0..600 {
            for (client, (_, value)) in clients.iter().zip(sides) {
                let seen =
                    client.get(&DEPLOYMENTS, deployment.namespace(), deployment.name()).await.unwrap_or_default();
                if seen["metadata"]["annotations"].get(FIELD).and_then(Value::as_str) != Some(value) {
                    let patch = json!({"metadata": {"annotations": {FIELD: value}}});
                    let _ = client
                        .patch(&DEPLOYMENTS, deployment.namespace(), deployment.name(), Patch::Merge(&patch))
                        .await;
                }
                environment.rest(50, 250).await;
            }
        }
    }
}
