//! The EndpointSlice controller: writes the addresses of the Pods of each Service that has a selector
//! (`pkg/controller/endpointslice`, `k8s.io/endpointslice`).
//!
//! Services without a selector are left alone, and slices have no hints for traffic.

pub mod endpoint_pod;
pub mod members;
pub mod reconcile;
mod tracker;
pub mod trigger_time;

use std::rc::Rc;
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
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
use crate::client::resources::{ENDPOINT_SLICES, NODES};
use crate::client::rest::{Client, DeleteOptions};
use endpoint_pod::EndpointPod;
use members::Members;
use reconcile::{Group, MANAGED_BY, MANAGER, MAX_ENDPOINTS_PER_SLICE, Plan, SERVICE_NAME, Shape};
use tracker::{Observation, TIMEOUT, Tracker};
use trigger_time::TriggerTimes;

/// The index of EndpointSlices by their Service, as `namespace/name`.
const SERVICE: &str = "service";
/// The label with the zone of a node.
const ZONE: &str = "topology.kubernetes.io/zone";

/// The controller.
#[derive(Debug)]
pub struct EndpointSlices {
    client: Client,
    members: Members,
    slices: Lister,
    nodes: Lister,
    recorder: Recorder,
    state: Rc<State>,
    queue: Queue<ObjectKey>,
}

/// What the controller remembers of Services.
#[derive(Debug, Default)]
struct State {
    tracker: Tracker,
    trigger_times: TriggerTimes,
}

impl State {
    fn forget(&self, service: &ObjectKey) {
        self.tracker.forget(service);
        self.trigger_times.forget(service);
    }
}

impl Controller for EndpointSlices {
    type Key = ObjectKey;
    const NAME: &'static str = "endpointslice-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let state = Rc::new(State::default());
        let members = Members::listen(context, queue.clone(), Rc::clone(&state), State::forget);
        let (slices, nodes) = (context.lister(ENDPOINT_SLICES), context.lister(NODES));
        slices.add_index(
            SERVICE,
            Arc::new(|slice, file| {
                if let Some(service) = service_of(slice) {
                    file(&format!("{}/{}", service.namespace, service.name));
                }
            }),
        );
        let (waiting, known) = (queue.clone(), Rc::clone(&state));
        slices.on_change(move |change| {
            if let Change::Updated { old, new, .. } = change
                && let Some(before) = service_of(old)
                && service_of(new).as_ref() != Some(&before)
            {
                waiting.add(before);
            }
            if let Some(service) = service_of(change.object())
                && known.tracker.observe(&service, change) != Observation::Own
            {
                waiting.add(service);
            }
        });
        let recorder = context.recorder("endpoint-slice-controller");
        Self { client: context.client.clone(), members, slices, nodes, recorder, state, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(service) = self.members.services.value(key).filter(members::is_selecting) else {
            self.state.forget(key);
            return Ok(());
        };
        let get = |name: &str| self.slices.get(&ObjectKey::new(&key.namespace, name));
        if self.state.tracker.is_behind(key, get) {
            self.queue.add_after(key.clone(), TIMEOUT + Duration::from_secs(1));
            return Ok(());
        }
        let pods = self.members.pods(key);
        let trigger_time = self.state.trigger_times.since(key, &service, &pods);
        let mut by_type: Vec<(String, Vec<Value>)> =
            families(&service).into_iter().map(|family| (family, Vec::new())).collect();
        let mut plan = Plan::default();
        let mut slices = self.slices.by_index(SERVICE, &format!("{}/{}", key.namespace, key.name));
        slices.sort_by(|one, other| one.key.name.cmp(&other.key.name));
        for slice in slices.iter().filter_map(|slice| self.slices.parse(slice)) {
            match by_type.iter_mut().find(|(family, _)| slice["addressType"] == **family) {
                Some((_, known)) => known.push(slice),
                None => plan.delete.push(slice),
            }
        }
        let mut without_node = None;
        for (family, existing) in by_type {
            let groups = self.groups(&service, &pods, &family, &mut without_node);
            let shape = Shape {
                service: &service,
                address_type: &family,
                trigger_time: trigger_time.clone(),
                most: MAX_ENDPOINTS_PER_SLICE,
            };
            let Plan { create, update, delete } = shape.plan(existing, groups);
            plan.create.extend(create);
            plan.update.extend(update);
            plan.delete.extend(delete);
        }
        if object::is_being_deleted(&service) {
            // The garbage collector may already have deleted the known slices.
            plan.create.clear();
        }
        match self.carry_out(key, plan).await {
            Ok(()) => {}
            Err(error) if error.is_namespace_terminating() => return Ok(()),
            Err(error) => {
                if !error.is_conflict() && !error.is_not_found() {
                    let message = format!("Error updating Endpoint Slices for Service {key}: {error}");
                    self.recorder.warning(&service, "FailedToUpdateEndpointSlices", &message);
                }
                return Err(error.into());
            }
        }
        match without_node {
            Some(message) => Err(SyncError::Other(message)),
            None => Ok(()),
        }
    }
}

impl EndpointSlices {
    /// The desired endpoints, grouped by their ports.
    fn groups(
        &self,
        service: &Value,
        pods: &[EndpointPod],
        family: &str,
        without_node: &mut Option<String>,
    ) -> Vec<Group> {
        let publishes_all = service["spec"]["publishNotReadyAddresses"] == true;
        let mut groups: Vec<Group> = Vec::new();
        for pod in pods {
            let Some(address) = pod.address(family) else { continue };
            let node_name = pod.node_name();
            let node = self.nodes.get(&ObjectKey::new("", node_name));
            if node.is_none() && !node_name.is_empty() && !publishes_all {
                let name = pod.name();
                *without_node = Some(format!("skipping Pod {name}: Node {node_name} not found"));
                continue;
            }
            let (ready, terminating) = (pod.is_ready(), pod.is_being_deleted());
            let mut endpoint = json!({"addresses": [address], "targetRef": pod.target(), "conditions":
                {"ready": publishes_all || (ready && !terminating), "serving": ready, "terminating": terminating}});
            if !node_name.is_empty() {
                endpoint["nodeName"] = node_name.into();
            }
            if let Some(zone) = node.as_ref().and_then(|node| node.label(ZONE)) {
                endpoint["zone"] = zone.into();
            }
            if let Some(hostname) = pod.hostname(service) {
                endpoint["hostname"] = hostname.into();
            }
            let ports = pod.ports(service);
            match groups.iter_mut().find(|group| group.ports == ports) {
                Some(group) => group.endpoints.push(endpoint),
                None => groups.push(Group { ports, endpoints: vec![endpoint] }),
            }
        }
        groups
    }

    async fn carry_out(&self, service: &ObjectKey, plan: Plan) -> Result<(), ApiError> {
        let tracker = &self.state.tracker;
        for slice in &plan.create {
            tracker.wrote(service, &self.client.create(&ENDPOINT_SLICES, &service.namespace, slice).await?);
        }
        for slice in &plan.update {
            tracker.wrote(service, &self.client.update(&ENDPOINT_SLICES, slice).await?);
        }
        for slice in &plan.delete {
            let this_life = DeleteOptions { uid: Some(object::uid(slice)), ..DeleteOptions::default() };
            match self.client.delete(&ENDPOINT_SLICES, &service.namespace, object::name(slice), this_life).await {
                Ok(_) => tracker.deleted(service, slice),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The Service of a slice, if this controller writes the slice.
fn service_of(slice: &Object) -> Option<ObjectKey> {
    let name = slice.label(SERVICE_NAME).filter(|_| slice.label(MANAGED_BY) == Some(MANAGER))?;
    Some(ObjectKey::new(&slice.key.namespace, name))
}

/// The address families of a Service (`getAddressTypesForService`).
fn families(service: &Value) -> Vec<String> {
    let families = service["spec"]["ipFamilies"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let families: Vec<String> = families.map(str::to_owned).collect();
    if families.is_empty() { vec!["IPv4".to_owned()] } else { families }
}
