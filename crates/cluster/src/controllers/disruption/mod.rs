//! The disruption controller: writes into the status of PodDisruptionBudgets how many Pods may be evicted
//! (`pkg/controller/disruption`).

use std::collections::HashMap;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::int_or_percent::scaled;
use super::object;
use super::pod;
use super::queue::Queue;
use crate::client::lister::Lister;
use crate::client::resources::{BUDGETS, DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS};
use crate::client::rest::Client;
use crate::clock::{self, timestamp};
use crate::resources::label_selector::Selector;

/// The type of the condition that says whether a Pod may be evicted.
const ALLOWED: &str = "DisruptionAllowed";

/// The controller.
#[derive(Debug)]
pub struct Disruption {
    client: Client,
    budgets: Lister,
    pods: Lister,
    replica_sets: Lister,
    deployments: Lister,
    stateful_sets: Lister,
    recorder: Recorder,
}

/// The number of Pods that there should be, and how many of them must be healthy.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    pods: i64,
    healthy: i64,
}

impl Controller for Disruption {
    type Key = ObjectKey;
    const NAME: &'static str = "disruption-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (budgets, pods) = (context.lister(BUDGETS), context.lister(PODS));
        let waiting = queue.clone();
        budgets.on_change(move |change| waiting.add(change.object().key.clone()));
        let all = budgets.clone();
        pods.on_change(move |change| {
            let before = if let Change::Updated { old, .. } = change { Some(old) } else { None };
            let pods = before.into_iter().chain([change.object()]);
            pods.for_each(|pod| enqueue_budgets(&all, &queue, pod));
        });
        Self {
            client: context.client.clone(),
            budgets,
            pods,
            replica_sets: context.lister(REPLICA_SETS),
            deployments: context.lister(DEPLOYMENTS),
            stateful_sets: context.lister(STATEFUL_SETS),
            recorder: context.recorder("controllermanager"),
        }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(budget) = self.budgets.value(key) else { return Ok(()) };
        let selector =
            Selector::parse(&budget["spec"]["selector"]).map_err(|error| SyncError::Other(error.to_string()))?;
        let pods = self.pods.in_namespace(&key.namespace);
        let pods = pods.iter().filter(|pod| selector.matches_object(pod)).filter_map(|pod| self.pods.parse(pod));
        let pods: Vec<Value> = pods.collect();
        if pods.is_empty() {
            self.recorder.normal(&budget, "NoPods", "No matching pods found");
        }
        let now = clock::now();
        let status = match self.expected(&budget, &pods) {
            Ok(expected) => status(&budget, &pods, &expected, now),
            Err(message) => {
                let event_message = format!("Failed to calculate the number of expected pods: {message}");
                self.recorder.warning(&budget, "CalculateExpectedPodCountFailed", &event_message);
                let mut status = object::part(&budget, "status");
                status["disruptionsAllowed"] = 0.into();
                set_condition(&mut status, &budget, "SyncFailed", &message, now);
                status
            }
        };
        if status != budget["status"] {
            let mut updated = budget;
            updated["status"] = status;
            self.client.update_status(&BUDGETS, &updated).await?;
        }
        Ok(())
    }
}

/// Queues the budgets that count a Pod.
fn enqueue_budgets(budgets: &Lister, queue: &Queue<ObjectKey>, pod: &Object) {
    for budget in budgets.in_namespace(&pod.key.namespace) {
        let parsed = budgets.parse(&budget);
        let selector = parsed.and_then(|budget| Selector::parse(&budget["spec"]["selector"]).ok());
        if selector.is_some_and(|selector| selector.matches_object(pod)) {
            queue.add(budget.key.clone());
        }
    }
}

impl Disruption {
    /// The number of Pods that a budget is measured against (`getExpectedPodCount`).
    fn expected(&self, budget: &Value, pods: &[Value]) -> Result<Expected, String> {
        let spec = &budget["spec"];
        match (&spec["maxUnavailable"], &spec["minAvailable"]) {
            (Value::Null, Value::Null) => Ok(Expected { pods: 0, healthy: 0 }),
            (Value::Null, Value::Number(least)) => {
                let count = i64::try_from(pods.len()).unwrap_or(i64::MAX);
                Ok(Expected { pods: count, healthy: least.as_i64().unwrap_or_default() })
            }
            (Value::Null, least) => {
                let count = self.scale(pods)?;
                Ok(Expected { pods: count, healthy: scaled(least, count, true).min(count) })
            }
            (most, _) => {
                let count = self.scale(pods)?;
                Ok(Expected { pods: count, healthy: (count - scaled(most, count, true)).max(0) })
            }
        }
    }

    /// The sum of the replicas that the controllers of these Pods ask for (`getExpectedScale`). Pods without a
    /// controller count as 0.
    fn scale(&self, pods: &[Value]) -> Result<i64, String> {
        let mut by_owner: HashMap<String, i64> = HashMap::new();
        for owner in pods.iter().filter_map(object::controller_of) {
            let text = |field: &str| owner[field].as_str().unwrap_or_default();
            let key = |name: &str| ObjectKey::new(object::namespace(&pods[0]), name);
            let lister = match text("kind") {
                "ReplicaSet" => &self.replica_sets,
                "StatefulSet" => &self.stateful_sets,
                kind => {
                    return Err(format!("{} {} does not implement the scale subresource", text("apiVersion"), kind));
                }
            };
            let Some(mut found) = lister.value(&key(text("name"))) else { continue };
            if let Some(above) = object::controller_of(&found).filter(|above| above["kind"] == "Deployment")
                && let Some(deployment) = self.deployments.value(&key(object::text(above, "/name")))
            {
                found = deployment;
            }
            let replicas = object::number(&found, "/spec/replicas").unwrap_or(1);
            by_owner.insert(object::uid(&found).to_owned(), replicas);
        }
        Ok(by_owner.values().sum())
    }
}

/// The new status of a budget (`updatePdbStatus`).
fn status(budget: &Value, pods: &[Value], expected: &Expected, now: i64) -> Value {
    let is_disrupted = |pod: &Value| budget["status"]["disruptedPods"].get(object::name(pod)).is_some();
    let healthy = pods.iter().filter(|pod| pod::is_ready(pod) && !object::is_being_deleted(pod) && !is_disrupted(pod));
    let healthy = i64::try_from(healthy.count()).unwrap_or(i64::MAX);
    let allowed = if expected.pods > 0 { (healthy - expected.healthy).max(0) } else { 0 };
    let mut status = budget["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    for (field, number) in [
        ("currentHealthy", healthy),
        ("desiredHealthy", expected.healthy),
        ("disruptionsAllowed", allowed),
        ("expectedPods", expected.pods),
    ] {
        status[field] = number.into();
    }
    let reason = if allowed > 0 { "SufficientPods" } else { "InsufficientPods" };
    set_condition(&mut status, budget, reason, "", now);
    status
}

fn set_condition(status: &mut Value, budget: &Value, reason: &str, message: &str, now: i64) {
    let generation = budget["metadata"]["generation"].clone();
    let holds = if reason == "SufficientPods" { "True" } else { "False" };
    let known = object::condition(budget, ALLOWED).filter(|known| known["status"] == holds);
    let since = known.map_or_else(|| timestamp(now).into(), |known| known["lastTransitionTime"].clone());
    status["conditions"] = json!([{"type": ALLOWED, "status": holds, "observedGeneration": generation,
        "lastTransitionTime": since, "reason": reason, "message": message}]);
    status["observedGeneration"] = generation;
}
