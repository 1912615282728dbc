//! The people and programs that use the cluster: clients of its API, which know only what the API shows them.

mod autoscaler_flap;
mod bad_config;
mod calm;
mod crash_loop;
mod hot_loop;
mod node_failure;
mod node_repair;
mod rollout;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::Scenario;
use crate::client::api_error::ApiError;
use crate::client::resources::DEPLOYMENTS;
use crate::client::rest::{Client, Patch};
use crate::random::Random;

/// How often an object is polled.
const POLL_PERIOD: Duration = Duration::from_millis(500);

/// What a scenario needs: a client, random numbers, and the Deployments that no other scenario uses.
#[derive(Debug, Clone)]
pub struct Environment {
    client: Client,
    seed: u64,
    random: Random,
    paused: watch::Receiver<bool>,
    reserved: Arc<Mutex<BTreeSet<String>>>,
}

/// A running scenario, which goes on until it is dropped.
pub type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Environment {
    /// The environment of all scenarios with a seed. Scenarios pause while `paused` is true.
    pub fn new(client: Client, seed: u64, paused: watch::Receiver<bool>) -> Self {
        Self { client, seed, random: Random::new(seed), paused, reserved: Arc::default() }
    }

    /// Keeps a Deployment, by namespace and name, out of all scenarios.
    #[cfg(test)]
    pub fn reserve(&self, key: &str) {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
    }

    /// A run of a scenario, with random numbers of its own; `None` for load, which users do not play.
    pub fn play(&self, scenario: Scenario) -> Option<Run> {
        let random = Random::new(self.seed.wrapping_mul(31).wrapping_add(scenario as u64 + 1));
        let environment = Self { random, ..self.clone() };
        Some(match scenario {
            Scenario::Calm => Box::pin(calm::play(environment)),
            Scenario::Rollout => Box::pin(rollout::play(environment)),
            Scenario::CrashLoop => Box::pin(crash_loop::play(environment)),
            Scenario::NodeFailure => Box::pin(node_failure::play(environment)),
            Scenario::AutoscalerFlap => Box::pin(autoscaler_flap::play(environment)),
            Scenario::HotLoop => Box::pin(hot_loop::play(environment)),
            Scenario::BadConfig => Box::pin(bad_config::play(environment)),
            Scenario::NodeRepair => Box::pin(node_repair::play(environment)),
            Scenario::Storm | Scenario::Scale => return None,
        })
    }

    /// Waits for a random time between `low` and `high` milliseconds, and for the end of a pause.
    async fn rest(&mut self, low: usize, high: usize) {
        sleep(Duration::from_millis(self.random.between(low, high) as u64)).await;
        // The sender may be dropped, and then the server is stopping.
        let _ = self.paused.wait_for(|paused| !paused).await;
    }

    /// Polls an object until it satisfies a condition; returns false if that takes longer than `timeout`.
    async fn until(
        &self,
        (resource, namespace, name): (&ApiResource, &str, &str),
        timeout: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> bool {
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            match self.client.get(resource, namespace, name).await {
                Ok(object) if wanted(&object) => return true,
                Err(error) if error.is_not_found() => return false,
                _ => sleep(POLL_PERIOD).await,
            }
        }
        false
    }

    /// The objects of a resource in all namespaces; empty if they cannot be listed.
    async fn list(&self, resource: &ApiResource) -> Vec<Value> {
        let list = self.client.list(resource, &Scope::default()).await;
        list.ok().and_then(|mut list| list["items"].as_array_mut().map(std::mem::take)).unwrap_or_default()
    }

    /// A random object that satisfies `wanted`.
    async fn one_of(&mut self, resource: &ApiResource, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let mut all = self.list(resource).await;
        all.retain(|object| object["metadata"]["deletionTimestamp"].is_null() && wanted(object));
        if all.is_empty() { None } else { Some(all.swap_remove(self.random.below(all.len()))) }
    }

    /// A Deployment outside kube-system that no other scenario uses, reserved until the returned value is dropped.
    async fn reserve_deployment(&mut self) -> Option<ReservedDeployment> {
        let reserved = Arc::clone(&self.reserved);
        let is_free = |deployment: &Value| {
            let key = key_of(deployment);
            let reserved = reserved.lock().unwrap_or_else(PoisonError::into_inner);
            !key.starts_with("kube-system/") && !reserved.contains(&key)
        };
        let deployment = self.one_of(&DEPLOYMENTS, is_free).await?;
        let key = key_of(&deployment);
        let is_mine = self.reserved.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_mine.then(|| ReservedDeployment { deployment, key, reserved: Arc::clone(&self.reserved) })
    }
}

/// A Deployment that a scenario has reserved.
#[derive(Debug)]
struct ReservedDeployment {
    deployment: Value,
    key: String,
    reserved: Arc<Mutex<BTreeSet<String>>>,
}

impl Drop for ReservedDeployment {
    fn drop(&mut self) {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

impl ReservedDeployment {
    fn namespace(&self) -> &str {
        text(&self.deployment, "/metadata/namespace")
    }

    fn name(&self) -> &str {
        text(&self.deployment, "/metadata/name")
    }

    fn container(&self) -> &str {
        text(&self.deployment, "/spec/template/spec/containers/0/name")
    }

    fn image(&self) -> &str {
        text(&self.deployment, "/spec/template/spec/containers/0/image")
    }

    fn replicas(&self) -> u64 {
        self.deployment.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(1)
    }

    /// Changes the first container, and sets the cause that `kubectl rollout history` shows.
    async fn change_container(&self, client: &Client, cause: &str, change: Value) -> Result<Value, ApiError> {
        let mut container = change;
        container["name"] = self.container().into();
        let patch = json!({"metadata": {"annotations": {"kubernetes.io/change-cause": cause}},
            "spec": {"template": {"spec": {"containers": [container]}}}});
        client.patch(&DEPLOYMENTS, self.namespace(), self.name(), Patch::Strategic(&patch)).await
    }

    /// Sets the number of replicas.
    async fn scale(&self, client: &Client, replicas: u64) -> Result<Value, ApiError> {
        let patch = json!({"spec": {"replicas": replicas}});
        client.patch_scale(&DEPLOYMENTS, self.namespace(), self.name(), Patch::Merge(&patch)).await
    }
}

/// Whether a Deployment has reached its newest spec (`kubectl rollout status`).
fn is_rolled_out(deployment: &Value) -> bool {
    let number = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let wanted = number("/spec/replicas");
    number("/status/observedGeneration") >= number("/metadata/generation")
        && ["updatedReplicas", "replicas", "availableReplicas"]
            .into_iter()
            .all(|field| number(&format!("/status/{field}")) == wanted)
}

/// The image of the next version: `web:1.7` after `web:1.6`.
fn next_image(image: &str) -> String {
    let (name, tag) = image.rsplit_once(':').unwrap_or((image, "1.0"));
    let (major, minor) = tag.split_once('.').unwrap_or((tag, "0"));
    let digits: String = minor.chars().take_while(char::is_ascii_digit).collect();
    format!("{name}:{major}.{}", digits.parse::<u32>().unwrap_or_default().saturating_add(1))
}

fn key_of(object: &Value) -> String {
    format!("{}/{}", text(object, "/metadata/namespace"), text(object, "/metadata/name"))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_of_an_image() {
        for (image, next) in
            [("r/web:1.6", "r/web:1.7"), ("web", "web:1.1"), ("web:2", "web:2.1"), ("w:1.9-typo", "w:1.10")]
        {
            assert_eq!(next_image(image), next);
        }
    }
}
