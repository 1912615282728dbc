//! The scenario's model of its workloads, so that no step has to search the storage.

use std::sync::Arc;

use serde_json::{Value, json};

/// A container of a Pod.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
}

/// The state of a Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodState {
    /// Not scheduled yet.
    Pending,
    /// Scheduled, and its containers are being created.
    Creating,
    /// Running and ready.
    Ready,
    /// Running, not ready.
    Unready,
    /// Its first container has just failed.
    Failed,
    /// Its first container waits to be restarted.
    BackOff,
    /// Its image cannot be pulled.
    ErrImagePull,
    /// Its image could not be pulled, and the next pull is delayed.
    ImagePullBackOff,
    /// Its containers have ended successfully.
    Succeeded,
}

/// A Pod.
#[derive(Debug, Clone)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The hash of its template.
    pub hash: String,
    /// The index of its node.
    pub node: usize,
    /// Its address, once it is running.
    pub ip: String,
    /// Its containers.
    pub containers: Arc<[Container]>,
    /// Its state.
    pub state: PodState,
    /// Restarts of its first container.
    pub restarts: u32,
    /// When it was created.
    pub created: i64,
    /// When its state last changed.
    pub changed: i64,
    /// When its deletion was requested.
    pub deleting: Option<i64>,
}

/// A ReplicaSet.
#[derive(Debug, Clone)]
pub struct ReplicaSet {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The hash of its template.
    pub hash: String,
    /// The desired number of Pods.
    pub replicas: usize,
    /// The revision of the rollout that created it.
    pub revision: u32,
    /// The containers of its Pods.
    pub containers: Arc<[Container]>,
}

/// A Deployment with its ReplicaSets and Pods.
#[derive(Debug)]
pub struct Workload {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The desired number of Pods.
    pub replicas: usize,
    /// The initial number of Pods, near which the autoscaler keeps it.
    pub usual_replicas: usize,
    /// The minor version of its image.
    pub version: u32,
    /// Its ReplicaSets, from the oldest to that of the newest template.
    pub replica_sets: Vec<ReplicaSet>,
    /// Its Pods.
    pub pods: Vec<Pod>,
    /// Whether an activity is working on it.
    pub busy: bool,
    /// When it was created.
    pub created: i64,
}

/// A Job with its Pods.
#[derive(Debug)]
pub struct Job {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// When it was created.
    pub created: i64,
    /// When it completed.
    pub completed: Option<i64>,
    /// The number of Pods that must succeed.
    pub completions: usize,
    /// Its Pods.
    pub pods: Vec<Pod>,
    /// The containers of its Pods.
    pub containers: Arc<[Container]>,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its address.
    pub ip: String,
    /// Whether it is cordoned.
    pub cordoned: bool,
    /// When it was created.
    pub created: i64,
}

/// What is needed to create a Pod of an owner.
#[derive(Debug)]
pub struct Template {
    pub namespace: String,
    /// The prefix of generated names, with its dash.
    pub prefix: String,
    pub labels: Value,
    /// The only owner reference.
    pub owner: Value,
    /// The hash of the template, or another text that distinguishes the Pods of this owner.
    pub hash: String,
    pub containers: Arc<[Container]>,
    /// `Always`, or `Never` for Jobs.
    pub restart_policy: &'static str,
}

impl Workload {
    /// The ReplicaSet of the newest template.
    pub fn current(&self) -> &ReplicaSet {
        self.replica_sets.last().expect("a workload is made with one ReplicaSet, and the newest is never removed")
    }

    /// The template of a new Pod.
    pub fn template(&self) -> Template {
        let current = self.current();
        Template {
            namespace: self.namespace.clone(),
            prefix: format!("{}-", current.name),
            labels: json!({"app": self.name, "app.kubernetes.io/name": self.name,
                "app.kubernetes.io/part-of": self.namespace, "pod-template-hash": current.hash}),
            owner: owner_reference("apps/v1", "ReplicaSet", &current.name, &current.uid),
            hash: current.hash.clone(),
            containers: Arc::clone(&current.containers),
            restart_policy: "Always",
        }
    }

    /// The number of Pods of a template, and how many of them are ready.
    pub fn counts(&self, hash: &str) -> (usize, usize) {
        let of_hash = || self.pods.iter().filter(|pod| pod.hash == hash && pod.deleting.is_none());
        (of_hash().count(), of_hash().filter(|pod| pod.state == PodState::Ready).count())
    }
}

impl Job {
    /// The template of a new Pod.
    pub fn template(&self) -> Template {
        Template {
            namespace: self.namespace.clone(),
            prefix: format!("{}-", self.name),
            labels: json!({"batch.kubernetes.io/controller-uid": self.uid, "batch.kubernetes.io/job-name": self.name,
                "controller-uid": self.uid, "job-name": self.name}),
            owner: owner_reference("batch/v1", "Job", &self.name, &self.uid),
            hash: self.uid.clone(),
            containers: Arc::clone(&self.containers),
            restart_policy: "Never",
        }
    }
}

/// An owner reference to the controller of an object.
pub fn owner_reference(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true,
        "blockOwnerDeletion": true})
}
