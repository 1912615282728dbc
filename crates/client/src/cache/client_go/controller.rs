//! What client-go makes of popped deltas: the changes of its store, and the calls of its handlers.

use std::sync::Arc;

use super::{Delta, gone};
use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{DeltaObject, DeltaType};
use crate::cache::store::Store;

/// A call of a handler (`controller.go`, `ResourceEventHandler`).
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// The store did not hold the object.
    OnAdd {
        /// The object.
        new: Arc<Object>,
        /// Whether the queue had not synced before.
        is_in_initial_list: bool,
    },
    /// The store held an object of this name: in another version, in the same one, or another object with another uid.
    OnUpdate {
        /// What the store held.
        old: Arc<Object>,
        /// What it holds now.
        new: Arc<Object>,
    },
    /// The object is gone, whether the store held it or not.
    OnDelete {
        /// Its last state, or a tombstone with the last known one.
        object: DeltaObject,
    },
}

impl Call {
    /// The key of its object.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Call::OnAdd { new, .. } | Call::OnUpdate { new, .. } => &new.key,
            Call::OnDelete { object } => &object.object().key,
        }
    }
}

/// Applies popped deltas to a store, oldest first, and returns the calls of the handler (`controller.go`, `processDeltas`).
/// A batch gives the calls that its deltas give one by one (`processDeltasInBatch`).
pub fn process_deltas(deltas: Vec<Delta>, is_in_initial_list: bool, store: &mut Store) -> Vec<Call> {
    let mut calls = Vec::new();
    let call = |new: Arc<Object>, old: Option<Arc<Object>>| match old {
        Some(old) => Call::OnUpdate { old, new },
        None => Call::OnAdd { new, is_in_initial_list },
    };
    for delta in deltas {
        match delta {
            Delta::One { delta_type: DeltaType::Deleted, object } => {
                store.remove(&object.object().key);
                calls.push(Call::OnDelete { object });
            }
            Delta::One { object, .. } => {
                let new = object.into_object();
                let old = store.insert(new.clone());
                calls.push(call(new, old));
            }
            // The store is replaced as a whole before the first call.
            Delta::ReplacedAll { objects, .. } => {
                let gone: Vec<Arc<Object>> = gone(std::iter::empty(), &objects, store).into_iter().cloned().collect();
                let before: Vec<_> = objects.iter().map(|object| store.get(&object.key).cloned()).collect();
                gone.iter().for_each(|object| drop(store.remove(&object.key)));
                objects.iter().for_each(|object| drop(store.insert(object.clone())));
                let tombstones = gone.into_iter().map(DeltaObject::FinalStateUnknown);
                calls.extend(tombstones.map(|object| Call::OnDelete { object }));
                calls.extend(objects.into_iter().zip(before).map(|(new, old)| call(new, old)));
            }
            Delta::SyncAll => {
                let all = store.list().into_iter();
                calls.extend(all.map(|object| Call::OnUpdate { old: object.clone(), new: object }));
            }
            Delta::Bookmark { .. } => {}
        }
    }
    calls
}
