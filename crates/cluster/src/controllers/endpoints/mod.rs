//! The Endpoints controller: one Endpoints object for each Service with a selector, the older form of EndpointSlices
//! (`pkg/controller/endpoint`).

mod subsets;

use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::endpoint_slice::members::{self, Members};
use super::endpoint_slice::reconcile::HEADLESS;
use super::endpoint_slice::trigger_time::{LAST_CHANGE, TriggerTimes};
use super::events::Recorder;
use super::object;
use super::queue::Queue;
use super::written::Written;
use crate::client::lister::Lister;
use crate::client::resources::ENDPOINTS;
use crate::client::rest::{Client, DeleteOptions};

/// The label that names the controller of an Endpoints object.
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
/// The value of the label [`MANAGED_BY`].
const MANAGER: &str = "endpoint-controller";

/// The controller.
#[derive(Debug)]
pub struct EndpointsController {
    client: Client,
    members: Members,
    endpoints: Lister,
    recorder: Recorder,
    state: Rc<State>,
}

/// What the controller remembers of Services.
#[derive(Debug, Default)]
struct State {
    trigger_times: TriggerTimes,
    written: Written,
}

impl State {
    fn forget(&self, service: &ObjectKey) {
        self.trigger_times.forget(service);
        self.written.forget(service);
    }
}

impl Controller for EndpointsController {
    type Key = ObjectKey;
    const NAME: &'static str = "endpoints-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let state = Rc::new(State::default());
        let members = Members::listen(context, queue.clone(), Rc::clone(&state), State::forget);
        let endpoints = context.lister(ENDPOINTS);
        // A new object may be in the way, and a deleted one is missing, so both lead to a sync. An object that another
        // client changes stays as it is until the next change of its Service.
        let known = Rc::clone(&state);
        endpoints.on_change(move |change| match change {
            Change::Added { new, .. } => queue.add(new.key.clone()),
            Change::Deleted { .. } => {
                known.written.forget(&change.object().key);
                queue.add(change.object().key.clone());
            }
            _ => {}
        });
        let recorder = context.recorder("endpoint-controller");
        Self { client: context.client.clone(), members, endpoints, recorder, state }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let known = self.endpoints.value(key);
        let Some(service) = self.members.services.value(key) else {
            self.state.forget(key);
            return match known.filter(|known| object::label(known, MANAGED_BY) == Some(MANAGER)) {
                Some(left) => self.delete(key, &left).await,
                None => Ok(()),
            };
        };
        if !members::is_selecting(&service) || known.as_ref().is_some_and(|known| self.state.written.is_ahead_of(known))
        {
            return Ok(());
        }
        let pods = self.members.pods(key);
        let trigger_time = self.state.trigger_times.since(key, &service, &pods);
        let mut wanted = known.clone().unwrap_or_else(|| {
            json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": &*key.name, "namespace": &*key.namespace}})
        });
        object::set(&mut wanted, &["metadata", "labels"], labels(&service));
        let subsets = subsets::of(&service, &pods);
        if let Some(fields) = wanted.as_object_mut() {
            // Without subsets, the field is left out.
            fields.remove("subsets");
            if subsets.as_array().is_some_and(|all| !all.is_empty()) {
                fields.insert("subsets".to_owned(), subsets);
            }
        }
        if known.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let mut annotations = wanted["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        match trigger_time {
            Some(time) => annotations.insert(LAST_CHANGE.to_owned(), time.into()),
            None => annotations.remove(LAST_CHANGE),
        };
        object::set(&mut wanted, &["metadata", "annotations"], annotations.into());
        let (answer, reason, doing) = match known {
            Some(_) => (self.client.update(&ENDPOINTS, &wanted).await, "FailedToUpdateEndpoint", "update"),
            None => {
                let answer = self.client.create(&ENDPOINTS, &key.namespace, &wanted).await;
                (answer, "FailedToCreateEndpoint", "create")
            }
        };
        match answer {
            Ok(written) => self.state.written.note(&written),
            // The informer will show the object soon, and then the Service is synced again.
            Err(error) if error.is_already_exists() || error.is_namespace_terminating() => {}
            Err(error) => {
                if !error.is_conflict() && !error.is_not_found() {
                    let message = format!("Failed to {doing} endpoint {key}: {error}");
                    self.recorder.warning(&wanted, reason, &message);
                }
                return Err(error.into());
            }
        }
        Ok(())
    }
}

impl EndpointsController {
    async fn delete(&self, key: &ObjectKey, left: &Value) -> Result<(), SyncError> {
        let this_life = DeleteOptions { uid: Some(object::uid(left)), ..DeleteOptions::default() };
        match self.client.delete(&ENDPOINTS, &key.namespace, &key.name, this_life).await {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The labels of the Service, and the one that names this controller.
fn labels(service: &Value) -> Value {
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.remove(HEADLESS);
    if members::is_headless(service) {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
    labels.into()
}
