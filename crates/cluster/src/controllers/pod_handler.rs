//! Handles changes of Pods by queueing the workloads that are affected: the controller of a Pod, or for an orphan all
//! workloads that select it (`addPod`, `updatePod` and `deletePod` of each controller of Pods).

use std::rc::Rc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::store::Change;

use super::expectations::Expectations;
use super::object;
use super::queue::Queue;
use crate::client::lister::Lister;
use crate::resources::label_selector::Selector;

/// The parts of a controller that are needed to handle changes of its Pods.
#[derive(Debug)]
pub struct PodHandler {
    /// The workloads, which have a `spec.selector`.
    pub owners: Lister,
    pub pods: Lister,
    /// Notified of observed creations and deletions.
    pub expectations: Rc<Expectations>,
    /// The queue for the keys of the workloads.
    pub queue: Queue<ObjectKey>,
}

impl PodHandler {
    /// Registers the handlers for all workloads and all Pods. The expectations of a workload are removed when it is
    /// deleted.
    pub fn listen(self) {
        let (waiting, expected) = (self.queue.clone(), Rc::clone(&self.expectations));
        self.owners.on_change(move |change| {
            let key = &change.object().key;
            if matches!(change, Change::Deleted { .. }) {
                expected.forget(key);
            }
            waiting.add(key.clone());
        });
        let pods = self.pods.clone();
        pods.on_change(move |change| self.changed(change));
    }

    fn changed(&self, change: &Change) {
        let pod = change.object();
        let key = self.controller_key(pod);
        let is_being_deleted = |pod: &Object| self.pods.parse(pod).is_some_and(|pod| object::is_being_deleted(&pod));
        match change {
            // A manager that starts may find Pods that are already being deleted.
            Change::Added { new, .. } if is_being_deleted(new) => self.gone(key, new),
            Change::Added { .. } => {
                if let Some(key) = &key {
                    self.expectations.creation_observed(key);
                }
                self.enqueue(key, pod);
            }
            Change::Updated { old, new, .. } => {
                // The beginning of a deletion already counts: the Pod itself may remain for a long time.
                if is_being_deleted(new) {
                    self.gone(key.clone(), new);
                    self.gone(self.controller_key(old).filter(|before| Some(before) != key.as_ref()), old);
                    return;
                }
                let before = self.controller_key(old);
                if before != key {
                    before.into_iter().for_each(|before| self.queue.add(before));
                }
                self.enqueue(key, pod);
            }
            Change::Synced { .. } => {}
            Change::Deleted { last, .. } => self.gone(key, last),
        }
    }

    fn gone(&self, key: Option<ObjectKey>, pod: &Object) {
        if let Some(key) = key {
            self.expectations.deletion_observed(&key, &pod.uid.text());
            self.queue.add(key);
        }
    }

    /// Queues the workload of a Pod, or for an orphan every workload that selects it.
    fn enqueue(&self, key: Option<ObjectKey>, pod: &Object) {
        match key {
            Some(key) => self.queue.add(key),
            None if pod.owners().iter().any(|owner| owner.controller) => {}
            None => {
                for owner in self.owners.in_namespace(&pod.key.namespace) {
                    let parsed = self.owners.parse(&owner);
                    let selector = parsed.and_then(|owner| Selector::parse(&owner["spec"]["selector"]).ok());
                    if selector.is_some_and(|selector| selector.matches_object(pod)) {
                        self.queue.add(owner.key.clone());
                    }
                }
            }
        }
    }

    /// The key of the workload that controls a Pod, if the workload exists and has the right uid
    /// (`resolveControllerRef`).
    fn controller_key(&self, pod: &Object) -> Option<ObjectKey> {
        let kind = self.owners.resource().kind;
        let owner = pod.owners().iter().find(|owner| owner.controller && &*owner.kind == kind)?;
        let key = ObjectKey::new(&pod.key.namespace, &owner.name);
        let known = self.owners.get(&key)?;
        (known.uid == owner.uid).then_some(key)
    }
}
