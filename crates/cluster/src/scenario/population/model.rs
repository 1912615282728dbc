//! What the scenario remembers of its workloads, so that no step has to look through the storage.

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

/// How a Pod is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodState {
    /// Not scheduled yet.
    Pending,
    /// On a node, its containers are being created.
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
    /// Its image could not be pulled for a while.
    ImagePullBackOff,
    /// It has run to its end.
    Succeeded,
}

/// A Pod.
#[derive(Debug, Clone)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Hash of the template it is made from.
    pub hash: String,
    /// Index of its node.
    pub node: usize,
    /// Its address, once it runs.
    pub ip: String,
    /// What it runs.
    pub containers: Arc<[Container]>,
    /// How it is doing.
    pub state: PodState,
    /// Restarts of its first container.
    pub restarts: u32,
    /// When it was created.
    pub created: i64,
    /// When its state last changed.
    pub changed: i64,
    /// When its deletion was asked for.
    pub deleting: Option<i64>,
}

/// A ReplicaSet.
#[derive(Debug, Clone)]
pub struct ReplicaSet {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Hash of its template.
    pub hash: String,
    /// How many Pods it shall have.
    pub replicas: usize,
    /// The rollout that made it.
    pub revision: u32,
    /// What its Pods run.
    pub containers: Arc<[Container]>,
}

/// A Deployment with all that belongs to it.
#[derive(Debug)]
pub struct Workload {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// How many Pods it shall have.
    pub replicas: usize,
    /// How many it had at the start, around which the autoscaler keeps it.
    pub usual_replicas: usize,
    /// The minor version of its image.
    pub version: u32,
    /// The ReplicaSet of the newest template, last, after older ones.
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
    /// How many Pods it runs.
    pub completions: usize,
    /// Its Pods.
    pub pods: Vec<Pod>,
    /// What they run.
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
    /// Whether it takes no new Pods.
    pub cordoned: bool,
    /// When it was created.
    pub created: i64,
}

/// What a Pod of some owner is made from.
#[derive(Debug)]
pub struct Template {
    /// Namespace.
    pub namespace: String,
    /// What generated names start with, its dash included.
    pub prefix: String,
    /// Labels.
    pub labels: Value,
    /// The one owner reference.
    pub owner: Value,
    /// Hash of the template, or what tells this owner's Pods from others.
    pub hash: String,
    /// What it runs.
    pub containers: Arc<[Container]>,
    /// Always, or Never for Jobs.
    pub restart_policy: &'static str,
}

impl Workload {
    /// The ReplicaSet of the newest template.
    pub fn current(&self) -> &ReplicaSet {
        self.replica_sets.last().expect("a workload is made with one ReplicaSet, and the newest is never removed")
    }

    /// What a new Pod is made from.
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

    /// How many Pods of a template there are, and how many of them are ready.
    pub fn counts(&self, hash: &str) -> (usize, usize) {
        let of_hash = || self.pods.iter().filter(|pod| pod.hash == hash && pod.deleting.is_none());
        (of_hash().count(), of_hash().filter(|pod| pod.state == PodState::Ready).count())
    }
}

impl Job {
    /// What a new Pod is made from.
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

/// A reference to the controller of an object.
pub fn owner_reference(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true,
        "blockOwnerDeletion": true})
}
