//! Controllers against a running server: what they do with the objects that a user writes. The test plays the kubelet.

mod cron_jobs;
mod daemon_sets;
mod deployments;
mod garbage_collector;
mod hostile;
mod jobs;
mod kubelet;
mod kubelets;
mod namespaces;
mod nodes;
mod replica_sets;
mod restarts;
mod service_accounts;
mod stateful_sets;

use std::time::Duration;

use serde_json::{Value, json};

use super::failed_nodes::FailedNodes;
use super::manager::{self, Controllers, Manager};
use super::options::Options;
use crate::server;
use crate::tests::{DEADLINE, Server, quiet, serve};

/// The path of ReplicaSets.
pub const REPLICA_SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
/// The path of DaemonSets.
pub const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
/// The path of StatefulSets.
pub const STATEFUL_SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
/// The path of Pods.
pub const PODS: &str = "/api/v1/namespaces/default/pods";

/// A cluster in which only the chosen controllers run.
pub struct Cluster {
    pub server: Server,
    /// The nodes that are made to fail.
    pub failed_nodes: FailedNodes,
    controllers: Controllers,
}

impl Cluster {
    /// Starts a cluster and the controllers that `add` adds.
    pub async fn start(add: impl FnOnce(&mut Manager) + Send + 'static) -> Cluster {
        Self::start_with(Options { seed: 1, ..Options::default() }, add).await
    }

    /// The same as [`Cluster::start`] with other options.
    pub async fn start_with(options: Options, add: impl FnOnce(&mut Manager) + Send + 'static) -> Cluster {
        Self::start_on(serve(quiet()).await, options, add)
    }

    /// Starts controllers on a server.
    pub fn start_on(server: Server, options: Options, add: impl FnOnce(&mut Manager) + Send + 'static) -> Cluster {
        let failed_nodes = options.failed_nodes.clone();
        let controllers = manager::start(server::router(server.app.clone()), options, add).unwrap();
        Cluster { server, failed_nodes, controllers }
    }

    /// Stops the controllers; fails if they do not stop in time.
    pub async fn stop(self) -> Server {
        tokio::time::timeout(DEADLINE, self.controllers.stop()).await.expect("controllers end before the deadline");
        self.server
    }

    /// Waits until an object or list satisfies `is_so`, and returns it.
    pub async fn eventually(&self, path: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually(&self.server, path, what, is_so).await
    }

    /// Creates an object in a collection.
    pub async fn create(&self, path: &str, object: &Value) -> Value {
        let (status, created) = self.server.post(path, object).await;
        assert_eq!(status, 201, "{created}");
        created
    }

    /// Applies a merge patch.
    pub async fn patch(&self, path: &str, patch: &Value) -> Value {
        let (status, patched) = self.server.patch(path, patch).await;
        assert_eq!(status, 200, "{patched}");
        patched
    }

    /// Sets the status of a Pod to running, and ready since some seconds ago, as a kubelet would.
    pub async fn make_ready(&self, pod: &Value) {
        let name = pod["metadata"]["name"].as_str().unwrap();
        let since = crate::clock::timestamp(crate::clock::now());
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": since});
        let status = json!({"status": {"phase": "Running", "conditions": [ready]}});
        // The Pod may already be deleted.
        let (code, answer) = self.server.patch(&format!("{PODS}/{name}/status"), &status).await;
        assert!([200, 404].contains(&code), "{answer}");
    }
}

/// The messages of the Events about an object with a reason, in the order of their recording.
pub async fn events(server: &Server, reason: &str, about: &str) -> Vec<String> {
    let (_, list) = server.get("/api/v1/namespaces/default/events").await;
    let mut events: Vec<&Value> = items(&list)
        .iter()
        .filter(|event| event["reason"] == reason && event["involvedObject"]["name"] == about)
        .collect();
    // The name of an Event ends in its time.
    events.sort_by_key(|event| event["metadata"]["name"].as_str().unwrap().to_owned());
    events.iter().map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

/// Starts the controllers that `add` adds on a server. They end when the returned value is dropped.
pub fn run(server: &Server, add: impl FnOnce(&mut Manager) + Send + 'static) -> Controllers {
    let options = Options { seed: 1, ..Options::default() };
    manager::start(server::router(server.app.clone()), options, add).unwrap()
}

/// Waits until an object or list of a server satisfies `is_so`, and returns it.
pub async fn eventually(server: &Server, path: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = tokio::time::Instant::now() + DEADLINE;
    loop {
        let (_, value) = server.get(path).await;
        if is_so(&value) {
            return value;
        }
        assert!(tokio::time::Instant::now() < deadline, "{path} never: {what}; it is {value:#}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The items of a list.
pub fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The names of a list's items, in order.
pub fn names(list: &Value) -> Vec<&str> {
    items(list).iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default()).collect()
}

/// Whether the items of a list have these names.
pub fn are<'a>(expected: &'a [&str]) -> impl Fn(&Value) -> bool + 'a {
    move |list| names(list) == expected
}

/// The spec of a workload: `replicas` Pods with the label `app`.
pub fn spec(app: &str, replicas: usize) -> Value {
    let labels = json!({"app": app});
    let container = json!({"name": "main", "image": "registry.example/app:1"});
    json!({"replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}})
}
