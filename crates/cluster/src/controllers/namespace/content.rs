//! Deletes the objects of one resource in one namespace, and tells what is left of them
//! (`deleteAllContentForGroupVersionResource`).

use std::collections::BTreeMap;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use serde_json::Value;

use super::super::controller::SyncError;
use super::super::object;
use crate::client::api_error::ApiError;
use crate::client::discovery::Discovered;
use crate::client::resources::PODS;
use crate::client::rest::{Client, DeleteOptions};

/// What finalizers hold takes about so long, in seconds (`finalizerEstimateSeconds`).
const FINALIZERS_TAKE: u64 = 15;

/// What is left of one resource.
#[derive(Debug, Default, PartialEq)]
pub struct Left {
    /// How many objects.
    pub count: usize,
    /// How many of them each finalizer holds.
    pub finalizers: BTreeMap<String, usize>,
    /// How many seconds it will take.
    pub seconds: u64,
}

/// What is left in a namespace.
#[derive(Debug, Default)]
pub struct Remaining {
    /// How many resources have objects left.
    pub resources: usize,
    /// How many objects each of them has, by its name and group.
    pub counts: BTreeMap<String, usize>,
    /// How many objects each finalizer holds.
    pub finalizers: BTreeMap<String, usize>,
    /// How many seconds the slowest will take.
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

/// Deletes the objects of a resource. `age` is for how many seconds the namespace has been on its way out: Pods may
/// take no longer than their own period.
///
/// # Errors
/// As [`Client::request`]; when something is left that nothing holds.
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
        // Its definition has gone, and it with that.
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
        _ if !left.finalizers.is_empty() => FINALIZERS_TAKE,
        _ => {
            let message =
                format!("unexpected items still remain in namespace: {namespace} for gvr: {}", resource.plural);
            return Err(SyncError::Other(message));
        }
    };
    Ok(left)
}

/// For how many seconds the slowest of the Pods that run may go on (`estimateGracefulTerminationForPods`).
fn grace(pods: &Value) -> u64 {
    let runs = |pod: &&Value| !["Succeeded", "Failed"].contains(&object::text(pod, "/status/phase"));
    let seconds = |pod: &Value| pod["spec"]["terminationGracePeriodSeconds"].as_u64();
    items(pods).iter().filter(runs).filter_map(seconds).max().unwrap_or_default()
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

/// What is gone needs no deletion.
fn ignore_not_found(answer: Result<Value, ApiError>) -> Result<(), SyncError> {
    match answer {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
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
