//! A node that falls silent: somebody drains it once it is not ready, repairs it, and gives it back.

use std::time::Duration;

use serde_json::Value;

use super::node_failure::{cordon, evict_all, set_down};
use super::{Environment, text};
use crate::client::resources::NODES;

/// How long to wait for a node to be missed, or to be back.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Fails and repairs until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.client = environment.client.with_user_agent("kubectl");
    environment.rest(4000, 6000).await;
    loop {
        if let Some(node) = environment.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await {
            let name = text(&node, "/metadata/name");
            if set_down(&environment, name, true).await {
                environment.until((&NODES, "", name), TIMEOUT, |node| !is_ready(node)).await;
                environment.rest(6000, 10_000).await;
                let is_cordoned = cordon(&environment, name, true).await;
                evict_all(&mut environment, name).await;
                environment.rest(15_000, 20_000).await;
                set_down(&environment, name, false).await;
                environment.until((&NODES, "", name), TIMEOUT, is_ready).await;
                environment.rest(5000, 8000).await;
                if is_cordoned {
                    cordon(&environment, name, false).await;
                }
            }
        }
        environment.rest(30_000, 60_000).await;
    }
}

fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
}
