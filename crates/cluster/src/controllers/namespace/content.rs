//! Deletes the objects of one resource in one namespace, and reports what is left of them
//! (`deleteAllContentForGroupVersionResource`).

use std::collections::BTreeMap;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use serde_json::Value;

use super::super::controller::SyncError;
use super::super::object;
use crate::client::api_error::ignore_not_found;
use crate::client::discovery::Discovered;
use crate::client::resources::PODS;
use crate::client::rest::{Client, DeleteOptions};

/// The estimated time, in seconds, until finalizers are removed (`finalizerEstimateSeconds`).
const FINALIZER_ESTIMATE_SECONDS: u64 = 15;

/// What is left of one resource.
#[derive(Debug, Default, PartialEq)]
pub struct Left {
    /// The number of objects.
    pub count: usize,
    /// How many of these objects have each finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// The estimated number of seconds until they are deleted.
    pub seconds: u64,
}

/// What is left in a namespace.
#[derive(Debug, Default)]
pub struct Remaining {
    /// The number of resources that have objects left.
    pub resources: usize,
    /// The number of objects of each resource, by its name and group.
    pub counts: BTreeMap<String, usize>,
    /// The number of objects with each finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// The estimated number of seconds for the slowest resource.
    pub seconds: u64,
}

impl Remaining {
    /// Adds what is left of a resource.
    pub fn add(&mut self, resource: &ApiResource, left: Left) {
        if left.count == 0 {
            return;
        }
        self.resources += 1;
        self.counts.insert(format!("{}.{}", resource.plural, resource.group), left.count);
        for (finalizer, count) in left.finalizers {
            *self.finalizers.entry(finalizer).or_default() += count;
        }
        self.seconds = self.seconds.max(left.seconds);
    }
}

/// Deletes the objects of a resource. `age` is the time in seconds since the deletion of the namespace began: Pods may
/// take no longer than their own grace period.
///
/// # Errors
/// As [`Client::request`]; also when objects are left that have no finalizer.
pub async fn delete_all(client: &Client, one: &Discovered, namespace: &str, age: u64) -> Result<Left, SyncError> {
    let resource = &one.resource;
    let scope = Scope { namespace: namespace.to_owned(), ..Scope::default() };
    let pods_take = if *resource == PODS { grace(&client.list(resource, &scope).await?) } else { 0 };
    if one.supports(&["deletecollection"]) {
        ignore_not_found(client.delete_collection(resource, namespace).await)?;
    } else {
        let list = client.list(resource, &scope).await?;
        for item in items(&list) {
            let options = DeleteOptions { propagation_policy: Some("Background"), ..DeleteOptions::default() };
            ignore_not_found(client.delete(resource, namespace, object::name(item), options).await)?;
        }
    }
    let list = match client.metadata().list(resource, &scope).await {
        // The definition of the resource is deleted, and with it the objects.
        Err(error) if error.is_not_found() => return Ok(Left::default()),
        list => list?,
    };
    let mut left = Left { count: items(&list).len(), ..Left::default() };
    for finalizer in
        items(&list).iter().flat_map(|item| item["metadata"]["finalizers"].as_array().into_iter().flatten())
    {
        *left.finalizers.entry(finalizer.as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    left.seconds = match (left.count, pods_take) {
        (0, _) => 0,
        (_, seconds) if seconds > age => seconds,
        _ if !left.finalizers.is_empty() => FINALIZER_ESTIMATE_SECONDS,
        _ => {
            let message =
                format!("unexpected items still remain in namespace: {namespace} for gvr: {}", resource.plural);
            return Err(SyncError::Other(message));
        }
    };
    Ok(left)
}

/// The longest grace period of the Pods that are running, in seconds (`estimateGracefulTerminationForPods`).
fn grace(pods: &Value) -> u64 {
    let runs = |pod: &&Value| !["Succeeded", "Failed"].contains(&object::text(pod, "/status/phase"));
    let seconds = |pod: &Value| pod["spec"]["terminationGracePeriodSeconds"].as_u64();
    items(pods).iter().filter(runs).filter_map(seconds).max().unwrap_or_default()
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_slowest_pod_that_runs_counts() {
        let pod = |phase: &str, seconds: u64| json!({"spec": {"terminationGracePeriodSeconds": seconds}, "status": {"phase": phase}});
        let pods = json!({"items": [pod("Running", 5), pod("Pending", 9), pod("Failed", 600)]});
        assert_eq!((grace(&pods), grace(&json!({}))), (9, 0));
    }
}
