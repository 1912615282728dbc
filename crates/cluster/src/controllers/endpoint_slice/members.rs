//! Which Pods belong to which Services, and which Services are affected by the change of a Pod.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::store::Change;
use serde_json::Value;

use super::super::context::Context;
use super::super::object;
use super::super::queue::Queue;
use super::endpoint_pod::EndpointPod;
use crate::client::lister::Lister;
use crate::client::resources::{PODS, SERVICES};

/// The Services and their Pods.
#[derive(Debug, Clone)]
pub struct Members {
    /// All Services.
    pub services: Lister,
    pods: Lister,
    selectors: Rc<RefCell<Selectors>>,
}

/// The selector of each Service, by namespace and name (`ServiceSelectorCache`): with it, a change of a Pod need not
/// parse Services.
type Selectors = HashMap<Arc<str>, HashMap<Arc<str>, Vec<(String, String)>>>;

impl Members {
    /// Creates the listers, and adds the key of a Service to the queue when the Service changes, or with a delay when
    /// one of its Pods changes.
    pub fn listen<T: 'static>(
        context: &Context,
        queue: Queue<ObjectKey>,
        forget: Rc<T>,
        gone: fn(&T, &ObjectKey),
    ) -> Self {
        let members = Self { services: context.lister(SERVICES), pods: context.lister(PODS), selectors: Rc::default() };
        let (known, waiting) = (members.clone(), queue.clone());
        members.services.on_change(move |change| {
            let key = &change.object().key;
            match change {
                Change::Deleted { .. } => {
                    known.forget(key);
                    gone(&forget, key);
                }
                _ => known.learn(change.object()),
            }
            waiting.add(key.clone());
        });
        let (known, batch) = (members.clone(), context.options.endpoint_updates_batch_period.0);
        members.pods.on_change(move |change| known.concerned(change, |key| queue.add_after(key, batch)));
        members
    }

    /// The Pods that a Service selects, by name.
    pub fn pods(&self, service: &ObjectKey) -> Vec<EndpointPod> {
        let selectors = self.selectors.borrow();
        let Some(selector) = selectors.get(&service.namespace).and_then(|services| services.get(&service.name)) else {
            return Vec::new();
        };
        let mut pods = self.pods.in_namespace(&service.namespace);
        pods.retain(|pod| selects(selector, pod));
        pods.sort_by(|one, other| one.key.name.cmp(&other.key.name));
        pods.iter().map(|pod| EndpointPod::of(pod)).collect()
    }

    fn learn(&self, service: &Object) {
        let selector = self.services.parse(service).map(|service| selector(&service)).unwrap_or_default();
        if selector.is_empty() {
            return self.forget(&service.key);
        }
        let mut selectors = self.selectors.borrow_mut();
        let services = selectors.entry(Arc::clone(&service.key.namespace)).or_default();
        services.insert(Arc::clone(&service.key.name), selector);
    }

    fn forget(&self, service: &ObjectKey) {
        let mut selectors = self.selectors.borrow_mut();
        if let Some(services) = selectors.get_mut(&service.namespace) {
            services.remove(&service.name);
            if services.is_empty() {
                selectors.remove(&service.namespace);
            }
        }
    }

    /// Calls `tell` with the Services that a Pod belongs to or belonged to (`GetPodServiceMemberships`,
    /// `GetServicesToUpdateOnPodChange`).
    fn concerned(&self, change: &Change, mut tell: impl FnMut(ObjectKey)) {
        let pod = change.object();
        let before = match change {
            Change::Updated { old, .. } => Some(old),
            Change::Synced { .. } => return,
            _ => None,
        };
        let selectors = self.selectors.borrow();
        let Some(services) = selectors.get(&pod.key.namespace) else { return };
        let mut is_like = None;
        for (name, selector) in services {
            let (was, is) = (before.is_some_and(|before| selects(selector, before)), selects(selector, pod));
            // The Pods are read only here, when a Service selects them.
            let is_same = |before: &Arc<Object>| EndpointPod::of(before).is_like(&EndpointPod::of(pod));
            if was != is || (is && !*is_like.get_or_insert_with(|| before.is_some_and(is_same))) {
                tell(ObjectKey { namespace: Arc::clone(&pod.key.namespace), name: Arc::clone(name) });
            }
        }
    }
}

/// The selector of a Service; empty if its endpoints are not written by the controllers.
fn selector(service: &Value) -> Vec<(String, String)> {
    if service["spec"]["type"] == "ExternalName" {
        return Vec::new();
    }
    let labels = service["spec"]["selector"].as_object().into_iter().flatten();
    labels.map(|(label, value)| (label.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// Whether a Service has a selector, so that the controllers write its endpoints.
pub fn is_selecting(service: &Value) -> bool {
    !selector(service).is_empty()
}

/// Whether a Service has no cluster IP.
pub fn is_headless(service: &Value) -> bool {
    object::text(service, "/spec/clusterIP") == "None"
}

fn selects(selector: &[(String, String)], pod: &Object) -> bool {
    selector.iter().all(|(label, value)| pod.label(label) == Some(value))
}
