//! One step towards the desired Pods: missing ones are created from the first to the last, and those that are too many
//! are deleted from the last to the first (`updateStatefulSet`, `processReplica` and `processCondemned` in
//! `stateful_set_control.go`).

use std::cmp::Reverse;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::super::object;
use super::identity::{self, ordinal};
use super::{StatefulSetSync, Version};
use crate::client::api_error::ApiError;
use crate::client::resources::{CLAIMS, PODS};
use crate::client::rest::{DeleteOptions, Patch};

/// Whether the sync goes on to the next Pod.
type Step = Result<ControlFlow<()>, ApiError>;

impl StatefulSetSync<'_> {
    /// Takes the next step; adds the Pods that it creates to `pods`.
    pub(super) async fn reconcile(&self, pods: &mut Vec<Value>) -> Result<(), ApiError> {
        if object::is_being_deleted(self.set) {
            return Ok(());
        }
        let range = self.start()..self.start().saturating_add(self.wanted());
        let mut replicas: Vec<Value> = Vec::new();
        for number in range.clone() {
            let known = pods.iter().find(|pod| ordinal(self.set, pod) == Some(number)).cloned();
            let (step, replica) = match known {
                Some(known) => (self.keep(&known, number).await?, known),
                None => {
                    let created = self.create(number).await?;
                    pods.push(created.clone());
                    (self.in_order(), created)
                }
            };
            replicas.push(replica);
            if step.is_break() {
                return Ok(());
            }
        }
        let mut condemned: Vec<&Value> = pods.iter().filter(|pod| !range.contains(&self.number(pod))).collect();
        condemned.sort_by_key(|pod| Reverse(self.number(pod)));
        let is_unhealthy = |pod: &&&Value| !self.is_healthy(pod);
        let first_unhealthy = replicas.iter().find(|pod| !self.is_healthy(pod));
        let first_unhealthy = first_unhealthy.or_else(|| condemned.iter().rev().find(is_unhealthy).copied());
        let first_unhealthy = first_unhealthy.map(|pod| object::uid(pod).to_owned());
        for pod in condemned {
            if self.end(pod, first_unhealthy.as_deref()).await?.is_break() {
                return Ok(());
            }
        }
        if self.is_rolling() {
            return self.rolling_update(&replicas).await;
        }
        Ok(())
    }

    fn number(&self, pod: &Value) -> usize {
        ordinal(self.set, pod).unwrap_or_default()
    }

    /// Ends the step after one action if Pods are handled in order.
    fn in_order(&self) -> ControlFlow<()> {
        if self.is_ordered() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Handles an existing Pod that should exist (`processReplica`).
    async fn keep(&self, pod: &Value, number: usize) -> Step {
        let phase = object::text(pod, "/status/phase");
        if ["Failed", "Succeeded"].contains(&phase) {
            if !object::is_being_deleted(pod) {
                let place = format!("{}/{}", object::namespace(self.set), object::name(self.set));
                let name = object::name(pod);
                let recorder = &self.controller.recorder;
                if phase == "Failed" {
                    let message = format!("StatefulSet {place} is recreating failed Pod {name}");
                    recorder.warning(self.set, "RecreatingFailedPod", &message);
                } else {
                    let message = format!("StatefulSet {place} is recreating terminated Pod {name}");
                    recorder.normal(self.set, "RecreatingTerminatedPod", &message);
                }
                self.delete(pod).await?;
            }
            // The name is free once the Pod is gone.
            return Ok(ControlFlow::Break(()));
        }
        if phase == "Pending" && !object::is_being_deleted(pod) {
            self.create_claims(number).await?;
        }
        if self.is_ordered() && (!self.is_healthy(pod) || !self.is_available(pod)) {
            return Ok(ControlFlow::Break(()));
        }
        if !object::is_being_deleted(pod) {
            let mut identified = pod.clone();
            identity::identify(self.set, &mut identified, object::name(pod), number);
            if identified != *pod {
                self.create_claims(number).await?;
                self.controller.client.update(&PODS, &identified).await?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Deletes a Pod that is too many (`processCondemned`).
    async fn end(&self, pod: &Value, first_unhealthy: Option<&str>) -> Step {
        if object::is_being_deleted(pod) {
            return Ok(self.in_order());
        }
        let is_well = self.is_healthy(pod) && self.is_available(pod);
        // In order, a Pod waits until the others are healthy; the first unhealthy one itself may be deleted.
        if self.is_ordered() && !is_well && first_unhealthy != Some(object::uid(pod)) {
            return Ok(ControlFlow::Break(()));
        }
        if identity::drops_claims(self.set) {
            self.own_claims(pod).await?;
        }
        self.delete(pod).await?;
        Ok(self.in_order())
    }

    /// The version of a Pod with this ordinal (`newVersionedStatefulSetPod`).
    fn version_of(&self, number: usize) -> &Version {
        let below = self.start().saturating_add(self.partition());
        if self.is_rolling() && number < below { &self.current } else { &self.update }
    }

    async fn create(&self, number: usize) -> Result<Value, ApiError> {
        self.create_claims(number).await?;
        let pod = identity::new_pod(self.set, self.version_of(number), number);
        let (set, recorder) = (object::name(self.set), &self.controller.recorder);
        let what = format!("create Pod {} in StatefulSet {set}", object::name(&pod));
        let created = self.controller.client.create(&PODS, object::namespace(self.set), &pod).await;
        match &created {
            Ok(_) => recorder.normal(self.set, "SuccessfulCreate", &format!("{what} successful")),
            Err(error) if error.is_already_exists() || error.is_namespace_terminating() => {}
            Err(error) => recorder.warning(self.set, "FailedCreate", &format!("{what} failed error: {error}")),
        }
        created
    }

    /// Creates the missing claims of a Pod (`createPersistentVolumeClaims`).
    async fn create_claims(&self, number: usize) -> Result<(), ApiError> {
        let controller = self.controller;
        for claim in identity::claims(self.set, number) {
            if controller.claims.get(&object::key(&claim)).is_some() {
                continue;
            }
            let (pod, set) = (identity::pod_name(self.set, number), object::name(self.set));
            let what = format!("create Claim {} Pod {pod} in StatefulSet {set}", object::name(&claim));
            match controller.client.create(&CLAIMS, object::namespace(self.set), &claim).await {
                Ok(_) => controller.recorder.normal(self.set, "SuccessfulCreate", &format!("{what} success")),
                // The informer does not show the claim yet.
                Err(error) if error.is_already_exists() => {}
                Err(error) => {
                    if !error.is_namespace_terminating() {
                        let message = format!("{what} failed error: {error}");
                        controller.recorder.warning(self.set, "FailedCreate", &message);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Makes a Pod the owner of its claims, so that the garbage collector deletes them with it.
    async fn own_claims(&self, pod: &Value) -> Result<(), ApiError> {
        let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": object::name(pod), "uid": object::uid(pod),
            "controller": true});
        let patch = json!({"metadata": {"ownerReferences": [owner]}});
        for claim in identity::claims(self.set, self.number(pod)) {
            let (namespace, name) = (object::namespace(&claim), object::name(&claim));
            match self.controller.client.patch(&CLAIMS, namespace, name, Patch::Merge(&patch)).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Requests the deletion of a Pod.
    pub(super) async fn delete(&self, pod: &Value) -> Result<(), ApiError> {
        let (name, recorder) = (object::name(pod), &self.controller.recorder);
        let what = format!("delete Pod {name} in StatefulSet {}", object::name(self.set));
        let options = DeleteOptions { uid: Some(object::uid(pod)), ..DeleteOptions::default() };
        match self.controller.client.delete(&PODS, object::namespace(pod), name, options).await {
            Ok(_) => recorder.normal(self.set, "SuccessfulDelete", &format!("{what} successful")),
            Err(error) if error.is_not_found() => {}
            Err(error) => {
                recorder.warning(self.set, "FailedDelete", &format!("{what} failed error: {error}"));
                return Err(error);
            }
        }
        Ok(())
    }
}
