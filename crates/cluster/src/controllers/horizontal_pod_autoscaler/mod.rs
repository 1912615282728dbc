//! The HorizontalPodAutoscaler controller (`pkg/controller/podautoscaler/horizontal.go`), with a simulated load:
//! nothing is measured here.
//!
//! The annotation [`wave::LOAD`] on the autoscaler or on its target says how much load there is at which time; the Pods
//! share it. Without the annotation, the autoscaler behaves as on a cluster without a metrics server. Only
//! `autoscaling/v2` with one metric, the utilization of a resource, is supported; of `behavior` only the stabilization
//! windows have an effect.

mod replicas;
mod wave;

use std::cell::RefCell;
use std::collections::HashMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::object;
use super::queue::Queue;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS};
use crate::client::rest::{Client, Patch};
use crate::clock::{self, timestamp};
use replicas::{Bounds, Recommendation, Recommendations};
use wave::Wave;

/// HorizontalPodAutoscalers.
const AUTOSCALERS: ApiResource = ApiResource {
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    kind: "HorizontalPodAutoscaler",
    namespaced: true,
    cluster: "",
};

/// The period of the syncs (`--horizontal-pod-autoscaler-sync-period`), in seconds.
const SYNC_PERIOD: i64 = 15;

/// The controller.
#[derive(Debug)]
pub struct HorizontalPodAutoscalers {
    client: Client,
    autoscalers: Lister,
    recorder: Recorder,
    /// The recent recommendations, for the stabilization windows.
    recommended: RefCell<HashMap<ObjectKey, Recommendations>>,
    queue: Queue<ObjectKey>,
}

/// The outcome of a sync: the conditions and numbers of the status.
struct Outcome {
    desired: i64,
    /// The utilization in percent, if there is one.
    utilization: Option<i64>,
    /// The reason for the scaling; empty if nothing is scaled.
    reason: &'static str,
    conditions: Vec<(&'static str, bool, &'static str, String)>,
}

impl Controller for HorizontalPodAutoscalers {
    type Key = ObjectKey;
    const NAME: &'static str = "horizontal-pod-autoscaler-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let autoscalers = context.lister(AUTOSCALERS);
        let (waiting, known) = (queue.clone(), autoscalers.clone());
        autoscalers.on_change(move |change| {
            // A change of the status alone needs no sync: the next one is scheduled anyway.
            if let Change::Updated { old, new, .. } = change
                && let (Some(old), Some(new)) = (known.parse(old), known.parse(new))
                && old["spec"] == new["spec"]
                && old["metadata"]["annotations"] == new["metadata"]["annotations"]
            {
                return;
            }
            waiting.add(change.object().key.clone());
        });
        let recorder = context.recorder("horizontal-pod-autoscaler");
        Self { client: context.client.clone(), autoscalers, recorder, recommended: RefCell::default(), queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(autoscaler) = self.autoscalers.value(key) else {
            self.recommended.borrow_mut().remove(key);
            return Ok(());
        };
        let now = clock::now();
        let mut period = SYNC_PERIOD;
        let mut status = object::part(&autoscaler, "status");
        match self.target(&autoscaler).await {
            Err(message) => {
                self.recorder.warning(&autoscaler, "FailedGetScale", &message);
                let message = format!("the HPA controller was unable to get the target's current scale: {message}");
                set_conditions(&mut status, &[("AbleToScale", false, "FailedGetScale", message)], now);
            }
            Ok((resource, target)) => {
                let wave = [&autoscaler, &target].into_iter().find_map(|one| object::annotation(one, wave::LOAD));
                let wave = wave.and_then(Wave::parse);
                // A shorter wave would pass between two syncs.
                period = wave.as_ref().map_or(SYNC_PERIOD, |wave| (wave.period / 8).clamp(1, SYNC_PERIOD));
                let outcome = self.outcome(&autoscaler, &target, wave.as_ref(), now);
                let current = object::number(&target, "/spec/replicas").unwrap_or(1);
                if outcome.desired != current {
                    let scaled = self.rescale(&autoscaler, &resource, &target, &outcome).await;
                    if let Err(error) = scaled {
                        self.queue.add_after(key.clone(), Duration::from_secs(1));
                        return Err(error.into());
                    }
                    status["lastScaleTime"] = timestamp(now).into();
                }
                status["currentReplicas"] = current.into();
                status["desiredReplicas"] = outcome.desired.into();
                status["currentMetrics"] = match outcome.utilization {
                    Some(percent) => json!([metric(&autoscaler, percent)]),
                    None => Value::Null,
                };
                set_conditions(&mut status, &outcome.conditions, now);
            }
        }
        self.queue.add_after(key.clone(), Duration::from_secs(period.unsigned_abs()));
        if status != autoscaler["status"] {
            let mut updated = autoscaler;
            updated["status"] = status;
            self.client.update_status(&AUTOSCALERS, &updated).await?;
        }
        Ok(())
    }
}

impl HorizontalPodAutoscalers {
    /// The current state of the object that is scaled.
    async fn target(&self, autoscaler: &Value) -> Result<(ApiResource, Value), String> {
        let reference = &autoscaler["spec"]["scaleTargetRef"];
        let (kind, name) = (object::text(reference, "/kind"), object::text(reference, "/name"));
        let known = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS];
        let resource = known.into_iter().find(|resource| resource.kind == kind);
        let resource = resource.ok_or_else(|| format!("no matches for kind {kind:?}"))?;
        let target = self.client.get(&resource, object::namespace(autoscaler), name).await;
        target.map(|target| (resource, target)).map_err(|error| error.to_string())
    }

    /// Computes the desired number of replicas (`reconcileAutoscaler`).
    fn outcome(&self, autoscaler: &Value, target: &Value, wave: Option<&Wave>, now: i64) -> Outcome {
        let current = object::number(target, "/spec/replicas").unwrap_or(1);
        let bounds = Bounds {
            min: object::number(autoscaler, "/spec/minReplicas").unwrap_or(1),
            max: object::number(autoscaler, "/spec/maxReplicas").unwrap_or(1),
        };
        let able = |reason: &'static str, message: &str| ("AbleToScale", true, reason, message.to_owned());
        let mut outcome = Outcome {
            desired: current,
            utilization: None,
            reason: "",
            conditions: vec![able(
                "SucceededGetScale",
                "the HPA controller was able to get the target's current scale",
            )],
        };
        if current == 0 && bounds.min != 0 {
            let message = "scaling is disabled since the replica count of the target is zero".to_owned();
            outcome.conditions.push(("ScalingActive", false, "ScalingDisabled", message));
            return outcome;
        }
        if current > bounds.max || current < bounds.min {
            outcome.desired = current.clamp(bounds.min, bounds.max.max(bounds.min));
            outcome.reason = if current > bounds.max {
                "Current number of Replicas above Spec.MaxReplicas"
            } else {
                "Current number of Replicas below Spec.MinReplicas"
            };
            return outcome;
        }
        let Some(wave) = wave else {
            let message = "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get \
                           metrics for resource cpu: no metrics returned from resource metrics API";
            self.recorder.warning(autoscaler, "FailedGetResourceMetric", message);
            outcome.conditions.push(("ScalingActive", false, "FailedGetResourceMetric", message.to_owned()));
            return outcome;
        };
        let utilization = wave.at(now) / current.max(1);
        outcome.utilization = Some(utilization);
        let wanted = replicas::wanted(current, utilization, wanted_utilization(autoscaler));
        let window = |pointer: &str, otherwise: i64| object::number(autoscaler, pointer).unwrap_or(otherwise);
        let mut recommended = self.recommended.borrow_mut();
        let recommendations = recommended.entry(object::key(autoscaler)).or_default();
        let stabilized = recommendations.stabilize(
            Recommendation { at: now, replicas: wanted },
            current,
            window("/spec/behavior/scaleUp/stabilizationWindowSeconds", 0),
            window("/spec/behavior/scaleDown/stabilizationWindowSeconds", 300),
        );
        let (desired, limited) = replicas::limit(current, stabilized, bounds);
        outcome.desired = desired;
        outcome.reason = match () {
            () if desired > current => "cpu resource utilization (percentage of request) above target",
            () => "All metrics below target",
        };
        outcome.conditions = vec![
            match () {
                () if desired != current => (
                    "AbleToScale",
                    true,
                    "SucceededRescale",
                    format!("the HPA controller was able to update the target scale to {desired}"),
                ),
                () if stabilized > wanted => able(
                    "ScaleDownStabilized",
                    "recent recommendations were higher than current one, applying the highest recent recommendation",
                ),
                () if stabilized < wanted => able(
                    "ScaleUpStabilized",
                    "recent recommendations were lower than current one, applying the lowest recent recommendation",
                ),
                () => able("ReadyForNewScale", "recommended size matches current size"),
            },
            (
                "ScalingActive",
                true,
                "ValidMetricFound",
                "the HPA was able to successfully calculate a replica count from \
                cpu resource utilization (percentage of request)"
                    .to_owned(),
            ),
            match limited {
                Some((reason, message)) => ("ScalingLimited", true, reason, message.to_owned()),
                None => (
                    "ScalingLimited",
                    false,
                    "DesiredWithinRange",
                    "the desired count is within the acceptable range".to_owned(),
                ),
            },
        ];
        outcome
    }

    async fn rescale(
        &self,
        autoscaler: &Value,
        resource: &ApiResource,
        target: &Value,
        outcome: &Outcome,
    ) -> Result<(), ApiError> {
        let patch = json!({"spec": {"replicas": outcome.desired}});
        let message = format!("New size: {}; reason: {}", outcome.desired, outcome.reason);
        let (namespace, name) = (object::namespace(target), object::name(target));
        match self.client.patch_scale(resource, namespace, name, Patch::Merge(&patch)).await {
            Ok(_) => self.recorder.normal(autoscaler, "SuccessfulRescale", &message),
            Err(error) => {
                self.recorder.warning(autoscaler, "FailedRescale", &format!("{message}; error: {error}"));
                return Err(error);
            }
        }
        Ok(())
    }
}

/// The target utilization in percent.
fn wanted_utilization(autoscaler: &Value) -> i64 {
    object::number(autoscaler, "/spec/metrics/0/resource/target/averageUtilization").unwrap_or(80).max(1)
}

/// A measured metric. The request of a Pod is assumed to be a tenth of a core.
fn metric(autoscaler: &Value, utilization: i64) -> Value {
    let name = object::text(autoscaler, "/spec/metrics/0/resource/name");
    let current = json!({"averageUtilization": utilization, "averageValue": format!("{utilization}m")});
    json!({"type": "Resource", "resource": {"name": if name.is_empty() { "cpu" } else { name }, "current": current}})
}

fn set_conditions(status: &mut Value, new: &[(&'static str, bool, &'static str, String)], now: i64) {
    let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    for (kind, holds, reason, message) in new {
        let holds = if *holds { "True" } else { "False" };
        let known = conditions.iter().position(|one| one["type"] == *kind);
        let known = known.map(|at| conditions.remove(at)).filter(|known| known["status"] == holds);
        let since = known.map_or_else(|| timestamp(now).into(), |known| known["lastTransitionTime"].clone());
        conditions.push(json!({"type": kind, "status": holds, "lastTransitionTime": since, "reason": reason,
            "message": message}));
    }
    conditions.sort_by_cached_key(|one| object::text(one, "/type").to_owned());
    status["conditions"] = conditions.into();
}
