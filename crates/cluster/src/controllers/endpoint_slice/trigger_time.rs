//! The time of the change that made new endpoints necessary, for the annotation from which the delay of endpoints is
//! measured (`pkg/controller/util/endpoint/trigger_time_tracker.go`).

use std::cell::RefCell;
use std::collections::HashMap;

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;

use super::super::object;
use super::endpoint_pod::EndpointPod;
use crate::clock::timestamp;

/// The annotation with the time of the last change.
pub const LAST_CHANGE: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The times already seen of each Service and of its Pods, in seconds since 1970.
#[derive(Debug, Default)]
pub struct TriggerTimes {
    by_service: RefCell<HashMap<ObjectKey, Times>>,
}

#[derive(Debug, Default)]
struct Times {
    service: i64,
    pods: HashMap<String, i64>,
}

impl TriggerTimes {
    /// The time of the earliest change that was not seen before: a Pod became ready, or the Service was created. `None`
    /// if there is no such change.
    pub fn since(&self, key: &ObjectKey, service: &Value, pods: &[EndpointPod]) -> Option<String> {
        let created = object::time(service, "/metadata/creationTimestamp").map_or(0, |created| created.0);
        let ready = pods.iter().filter_map(|pod| Some((pod.name(), pod.ready_since()?)));
        self.earliest(key, created, ready).map(timestamp)
    }

    fn earliest<'a>(&self, key: &ObjectKey, created: i64, ready: impl Iterator<Item = (&'a str, i64)>) -> Option<i64> {
        let mut by_service = self.by_service.borrow_mut();
        let known = by_service.entry(key.clone()).or_default();
        let mut earliest = (created > known.service).then_some(created);
        let mut pods = HashMap::new();
        for (name, since) in ready {
            if since > known.pods.get(name).copied().unwrap_or_default() {
                earliest = Some(earliest.map_or(since, |earliest| earliest.min(since)));
            }
            pods.insert(name.to_owned(), since);
        }
        *known = Times { service: created, pods };
        earliest
    }

    /// Removes a Service that was deleted.
    pub fn forget(&self, key: &ObjectKey) {
        self.by_service.borrow_mut().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_change_that_is_new_counts() {
        let times = TriggerTimes::default();
        let check = |created: i64, ready: &[(&str, i64)], expected: Option<i64>| {
            let got = times.earliest(&ObjectKey::new("shop", "web"), created, ready.iter().copied());
            assert_eq!(got, expected, "{created} {ready:?}");
        };
        check(10, &[("a", 12)], Some(10));
        check(10, &[("a", 12)], None);
        check(10, &[("a", 12), ("b", 20), ("c", 18)], Some(18));
        check(10, &[("a", 30), ("b", 20)], Some(30));
        check(10, &[], None);
    }
}
