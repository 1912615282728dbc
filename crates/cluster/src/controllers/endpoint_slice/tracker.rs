//! Tracks the EndpointSlices that the controller has written and its informer does not show yet
//! (`EndpointSliceTracker`): without that, an early sync would create them twice.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::store::Change;
use serde_json::Value;
use tokio::time::{Duration, Instant};

use super::super::object;

/// A write that was not shown for this long is no longer waited for.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The expected slices, by Service.
#[derive(Debug, Default)]
pub struct Tracker {
    by_service: RefCell<HashMap<ObjectKey, HashMap<Arc<str>, Awaited>>>,
    held: RefCell<HashSet<ObjectKey>>,
    /// The uids of slices that another client has deleted since the last sync of their Service: the answer to a write
    /// may arrive after the informer has shown the deletion.
    gone: RefCell<HashMap<ObjectKey, HashSet<Uid>>>,
}

#[derive(Debug)]
struct Awaited {
    uid: String,
    /// The version that was written; `None` if the slice was deleted.
    version: Option<u64>,
    since: Instant,
}

/// The meaning of a change of an EndpointSlice for its Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// The controller itself made the change.
    Own,
    /// The controller itself made the change, and a sync of the Service has waited for it.
    Awaited,
    /// Another client made the change.
    Foreign,
}

impl Tracker {
    /// Records the answer to a write of an EndpointSlice of a Service.
    pub fn wrote(&self, service: &ObjectKey, slice: &Value) {
        if let Ok(version) = object::text(slice, "/metadata/resourceVersion").parse() {
            self.expect(service, slice, Some(version));
        }
    }

    /// Records that an EndpointSlice of a Service was deleted.
    pub fn deleted(&self, service: &ObjectKey, slice: &Value) {
        self.expect(service, slice, None);
    }

    fn expect(&self, service: &ObjectKey, slice: &Value, version: Option<u64>) {
        if self.gone.borrow().get(service).is_some_and(|gone| gone.contains(&Uid::new(object::uid(slice)))) {
            return;
        }
        let awaited = Awaited { uid: object::uid(slice).to_owned(), version, since: Instant::now() };
        let mut by_service = self.by_service.borrow_mut();
        by_service.entry(service.clone()).or_default().insert(object::name(slice).into(), awaited);
    }

    /// Whether a written slice is missing from the informer, which `get` reads by name. The Service must then be synced
    /// again once [`Self::observe`] returns [`Observation::Awaited`].
    pub fn is_behind(&self, service: &ObjectKey, get: impl Fn(&str) -> Option<Arc<Object>>) -> bool {
        self.gone.borrow_mut().remove(service);
        let mut by_service = self.by_service.borrow_mut();
        let Some(awaited) = by_service.get_mut(service) else { return false };
        awaited.retain(|name, awaited| {
            let is_shown = match (get(name), awaited.version) {
                (None, version) => version.is_none(),
                (Some(slice), _) if slice.uid != *awaited.uid => true,
                (Some(slice), Some(written)) => version(&slice).is_none_or(|version| version >= written),
                (Some(_), None) => false,
            };
            !is_shown && awaited.since.elapsed() < TIMEOUT
        });
        if awaited.is_empty() {
            by_service.remove(service);
            return false;
        }
        self.held.borrow_mut().insert(service.clone());
        true
    }

    /// Classifies the change of an EndpointSlice of a Service.
    pub fn observe(&self, service: &ObjectKey, change: &Change) -> Observation {
        let seen = self.seen(service, change);
        if seen == Observation::Foreign && matches!(change, Change::Deleted { .. }) {
            let mut gone = self.gone.borrow_mut();
            gone.entry(service.clone()).or_default().insert(change.object().uid.clone());
        }
        seen
    }

    fn seen(&self, service: &ObjectKey, change: &Change) -> Observation {
        let slice = change.object();
        let is_gone = matches!(change, Change::Deleted { .. });
        let mut by_service = self.by_service.borrow_mut();
        let Some(all) = by_service.get_mut(service) else { return Observation::Foreign };
        let Some(awaited) = all.get(&slice.key.name).filter(|awaited| slice.uid == *awaited.uid) else {
            return Observation::Foreign;
        };
        let is_own = match (awaited.version, version(slice)) {
            (None, _) if !is_gone => return Observation::Own,
            // A version that is older than the write says nothing about the write, which is still to be shown.
            (Some(written), Some(version)) if !is_gone && version < written => return Observation::Own,
            (written, version) => {
                if is_gone {
                    written.is_none()
                } else {
                    written == version
                }
            }
        };
        all.remove(&slice.key.name);
        match is_own {
            false => Observation::Foreign,
            true if all.is_empty() && self.held.borrow_mut().remove(service) => Observation::Awaited,
            true => Observation::Own,
        }
    }

    /// Removes a Service that was deleted.
    pub fn forget(&self, service: &ObjectKey) {
        self.by_service.borrow_mut().remove(service);
        self.held.borrow_mut().remove(service);
        self.gone.borrow_mut().remove(service);
    }
}

fn version(slice: &Object) -> Option<u64> {
    slice.resource_version.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::object::decode_metadata;
    use serde_json::json;

    use super::*;

    fn slice(uid: &str, version: &str) -> Value {
        json!({"metadata": {"namespace": "shop", "name": "web-1", "uid": uid, "resourceVersion": version}})
    }

    fn shown(uid: &str, version: &str) -> Arc<Object> {
        Arc::new(decode_metadata(&slice(uid, version).to_string()).unwrap())
    }

    fn added(uid: &str, version: &str) -> Change {
        Change::Added { new: shown(uid, version), listed: false, folded: 1 }
    }

    #[test]
    fn a_look_waits_until_the_informer_shows_what_was_written() {
        let (tracker, service) = (Tracker::default(), ObjectKey::new("shop", "web"));
        let check = |known: Option<(&str, &str)>, expected: bool| {
            let is_behind = tracker.is_behind(&service, |_| known.map(|(uid, version)| shown(uid, version)));
            assert_eq!(is_behind, expected, "{known:?}");
        };
        check(None, false);
        tracker.wrote(&service, &slice("a", "10"));
        check(None, true);
        check(Some(("a", "9")), true);
        assert_eq!(tracker.observe(&service, &added("a", "9")), Observation::Own);
        assert_eq!(tracker.observe(&service, &added("a", "10")), Observation::Awaited);
        check(Some(("a", "10")), false);
        assert_eq!(tracker.observe(&service, &added("a", "11")), Observation::Foreign);
        tracker.deleted(&service, &slice("a", "11"));
        check(Some(("a", "11")), true);
        check(Some(("b", "12")), false);
    }

    #[test]
    fn a_write_that_is_answered_after_the_deletion_is_not_waited_for() {
        let (tracker, service) = (Tracker::default(), ObjectKey::new("shop", "web"));
        assert_eq!(tracker.observe(&service, &added("a", "10")), Observation::Foreign);
        let gone = Change::Deleted { last: shown("a", "11"), folded: 1, final_state_unknown: false };
        assert_eq!(tracker.observe(&service, &gone), Observation::Foreign);
        tracker.wrote(&service, &slice("a", "10"));
        assert!(!tracker.is_behind(&service, |_| None));
    }
}
