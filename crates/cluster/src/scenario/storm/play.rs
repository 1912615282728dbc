//! Executes the steps of activities: changes the model, and writes the resulting objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Storm;
use super::activity::{Activity, Home, Step};
use super::recorder::{About, What};
use crate::clock;
use crate::random;
use crate::resources::builtin::{DEPLOYMENTS, JOBS, NODES, PODS, REPLICA_SETS};
use crate::resources::fields::set;
use crate::resources::resource::Resource;
use crate::scenario::population::model::{Container, Job, Pod, PodState, Template};
use crate::scenario::population::{self, names, objects};

/// How many old templates a Deployment keeps.
const HISTORY: usize = 2;

impl Storm {
    /// Executes one step.
    pub(super) fn play(&mut self, activity: &mut Activity, step: Step) {
        if let Home::Workload(index) = activity.home
            && !self.is_there(index)
        {
            activity.steps.clear();
            return;
        }
        match (activity.home, step) {
            (_, Step::Pod(change)) => {
                let Some(name) = activity.target.clone() else { return };
                if !self.change_pod(activity.home, &name, change) {
                    activity.target = None;
                }
            }
            (home, Step::CreatePod) => activity.target = self.create_pod(home),
            (home, Step::Choose(choice)) => activity.target = self.choose(home, choice),
            (Home::Workload(index), Step::NewTemplate { good }) => self.new_template(index, good),
            (Home::Workload(index), Step::Undo) => self.undo_template(index),
            (Home::Workload(index), Step::Resize(replicas)) => self.resize(index, replicas),
            (Home::Workload(index), Step::Status) => self.workload_status(index),
            (Home::Workload(index), Step::Prune) => self.prune(index),
            (Home::Job(number), Step::CreateJob) => {
                let Some(job) = self.population.jobs.get(&number) else { return };
                self.storage.create(&JOBS, objects::job(job));
            }
            (Home::Job(number), Step::Status) => self.job_status(number),
            (Home::Job(number), Step::RemoveJob) => self.remove_job(number),
            (Home::Node(index), Step::Heartbeat) => self.heartbeat(index),
            (Home::Node(index), Step::Cordon(on)) => self.cordon(index, on),
            _ => {}
        }
    }

    /// Records an Event about the ReplicaSet or Job that owns the Pods.
    pub(super) fn record_owner(&mut self, home: Home, reason: &str, message: &str) {
        let (resource, namespace, name, uid, component) = match home {
            Home::Workload(index) => {
                let workload = &self.population.workloads[index];
                let set = workload.current();
                (&REPLICA_SETS, &workload.namespace, &set.name, &set.uid, "replicaset-controller")
            }
            Home::Job(number) => match self.population.jobs.get(&number) {
                Some(job) => (&JOBS, &job.namespace, &job.name, &job.uid, "job-controller"),
                None => return,
            },
            Home::Node(_) => return,
        };
        let about = About { resource, namespace, name, uid, container: None };
        let what = What { reason, message, component, host: "", warning: false };
        self.recorder.record(&self.storage, about, what, clock::time());
    }

    fn new_template(&mut self, index: usize, good: bool) {
        let workload = &mut self.population.workloads[index];
        let mut containers = workload.current().containers.to_vec();
        workload.version += 1;
        if let Some(first) = containers.first_mut() {
            let tag = if good { "" } else { "-typo" };
            first.image = population::image(&workload.namespace, &workload.name, workload.version) + tag;
        }
        let mut set = population::new_replica_set(&mut self.random, self.seed, workload, containers.into());
        set.replicas = 0;
        workload.replica_sets.push(set);
        self.write_deployment(index);
        let workload = &self.population.workloads[index];
        let draft = objects::replica_set(workload, workload.current(), clock::now());
        self.storage.create(&REPLICA_SETS, draft);
        let message = format!("Scaled up replica set {} from 0 to 1", workload.current().name);
        self.record_deployment(index, "ScalingReplicaSet", &message, "deployment-controller");
    }

    fn undo_template(&mut self, index: usize) {
        let workload = &mut self.population.workloads[index];
        let count = workload.replica_sets.len();
        if count < 2 {
            return;
        }
        let revision = workload.current().revision + 1;
        workload.replica_sets.swap(count - 1, count - 2);
        if let Some(current) = workload.replica_sets.last_mut() {
            current.revision = revision;
        }
        self.write_deployment(index);
        self.record_deployment(
            index,
            "DeploymentRollback",
            "Rolled back to the previous template",
            "deployment-controller",
        );
    }

    fn resize(&mut self, index: usize, replicas: usize) {
        let workload = &mut self.population.workloads[index];
        let before = std::mem::replace(&mut workload.replicas, replicas);
        self.write_deployment(index);
        let trend = if replicas > before { "above" } else { "below" };
        let message =
            format!("New size: {replicas}; reason: cpu resource utilization (percentage of request) {trend} target");
        self.record_deployment(index, "SuccessfulRescale", &message, "horizontal-pod-autoscaler");
    }

    fn record_deployment(&mut self, index: usize, reason: &str, message: &str, component: &str) {
        let workload = &self.population.workloads[index];
        let (namespace, name, uid) = (&workload.namespace, &workload.name, &workload.uid);
        let about = About { resource: &DEPLOYMENTS, namespace, name, uid, container: None };
        let what = What { reason, message, component, host: "", warning: false };
        self.recorder.record(&self.storage, about, what, clock::time());
    }

    /// Writes the spec of a Deployment, and its status with it.
    fn write_deployment(&mut self, index: usize) {
        let workload = &self.population.workloads[index];
        let key = DEPLOYMENTS.key(&workload.namespace, &workload.name);
        self.change(&DEPLOYMENTS, &key, &workload.uid, |value| {
            let generation = generation(value) + 1;
            set(value, &["metadata", "generation"], generation.into());
            let revision = workload.current().revision.to_string();
            set(value, &["metadata", "annotations", "deployment.kubernetes.io/revision"], revision.into());
            set(value, &["spec"], objects::deployment_spec(workload));
            set(value, &["status"], objects::deployment_status(workload, generation, Some(clock::now())));
        });
    }

    fn workload_status(&mut self, index: usize) {
        let workload = &self.population.workloads[index];
        for set_of_pods in workload.replica_sets.iter().rev().take(2) {
            let key = REPLICA_SETS.key(&workload.namespace, &set_of_pods.name);
            let (replicas, _) = workload.counts(&set_of_pods.hash);
            self.change(&REPLICA_SETS, &key, &set_of_pods.uid, |value| {
                let mut generation = generation(value);
                if value.pointer("/spec/replicas").and_then(Value::as_u64) != Some(replicas as u64) {
                    generation += 1;
                    set(value, &["metadata", "generation"], generation.into());
                    set(value, &["spec", "replicas"], replicas.into());
                }
                set(value, &["status"], objects::replica_set_status(workload, set_of_pods, generation));
            });
        }
        let key = DEPLOYMENTS.key(&workload.namespace, &workload.name);
        self.change(&DEPLOYMENTS, &key, &workload.uid, |value| {
            let generation = generation(value);
            set(value, &["status"], objects::deployment_status(workload, generation, Some(clock::now())));
        });
    }

    fn prune(&mut self, index: usize) {
        let workload = &mut self.population.workloads[index];
        while workload.replica_sets.len() > HISTORY + 1 {
            let old = workload.replica_sets.remove(0);
            self.storage.delete(&REPLICA_SETS, &REPLICA_SETS.key(&workload.namespace, &old.name));
        }
    }

    /// Invents a Job; its first step writes it.
    pub(super) fn new_job(&mut self) -> usize {
        let (namespace, base) = *self.random.pick(&names::JOBS);
        let number = self.population.jobs.last_key_value().map_or(0, |(last, _)| last + 1);
        let name = format!("{base}-{}", self.random.suffix(5));
        let container = Container { name: base.to_owned(), image: population::image(namespace, base, 1) };
        let job = Job {
            uid: random::uid(self.seed, &format!("jobs/{namespace}/{name}"), 0),
            namespace: namespace.to_owned(),
            name,
            created: clock::now(),
            completed: None,
            completions: self.random.between(1, 3),
            pods: Vec::new(),
            containers: Arc::new([container]),
        };
        self.population.jobs.insert(number, job);
        number
    }

    fn job_status(&mut self, number: usize) {
        let Some(job) = self.population.jobs.get_mut(&number) else { return };
        let succeeded = job.pods.iter().filter(|pod| pod.state == PodState::Succeeded).count();
        let completes = succeeded >= job.completions && job.completed.is_none();
        if completes {
            job.completed = Some(clock::now());
        }
        let (key, uid, status) = (JOBS.key(&job.namespace, &job.name), job.uid.clone(), objects::job_status(job));
        self.change(&JOBS, &key, &uid, |value| set(value, &["status"], status));
        if completes {
            self.record_owner(Home::Job(number), "Completed", "Job completed");
        }
    }

    fn remove_job(&mut self, number: usize) {
        let Some(job) = self.population.jobs.get_mut(&number) else { return };
        if let Some(pod) = job.pods.pop() {
            self.storage.delete(&PODS, &PODS.key(&job.namespace, &pod.name));
            self.pods = self.pods.saturating_sub(1);
        } else {
            self.storage.delete(&JOBS, &JOBS.key(&job.namespace, &job.name));
        }
    }

    fn heartbeat(&mut self, index: usize) {
        let node = &self.population.nodes[index];
        let conditions = objects::node_conditions(node, clock::now());
        self.change(&NODES, &node.name, &node.uid, |value| set(value, &["status", "conditions"], conditions));
    }

    fn cordon(&mut self, index: usize, on: bool) {
        self.population.nodes[index].cordoned = on;
        let node = &self.population.nodes[index];
        self.change(&NODES, &node.name, &node.uid, |value| {
            if on {
                let taint = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
                    "timeAdded": clock::timestamp(clock::now())}]);
                set(value, &["spec", "unschedulable"], true.into());
                set(value, &["spec", "taints"], taint);
            } else if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
                spec.remove("unschedulable");
                spec.remove("taints");
            }
        });
        let reason = if on { "NodeNotSchedulable" } else { "NodeSchedulable" };
        let message = format!("Node {} status is now: {reason}", node.name);
        let about = About { resource: &NODES, namespace: "", name: &node.name, uid: &node.uid, container: None };
        let what = What { reason, message: &message, component: "kubelet", host: &node.name, warning: false };
        self.recorder.record(&self.storage, about, what, clock::time());
    }

    /// The index of a node that accepts Pods.
    pub(super) fn open_node(&mut self) -> usize {
        let nodes = &self.population.nodes;
        let mut tries = (0..4).map(|_| self.random.below(nodes.len()));
        let open = tries.find(|index| !nodes[*index].cordoned);
        open.or_else(|| nodes.iter().position(|node| !node.cordoned)).unwrap_or(0)
    }

    /// Changes an object that the scenario has written. An object that was replaced since is left alone.
    fn change(&self, resource: &'static Resource, key: &str, uid: &str, change: impl FnOnce(&mut Value)) {
        let _ = self.storage.update(resource, key, |current, value| {
            if *current.uid == *uid {
                change(value);
                return Ok(());
            }
            Err(())
        });
    }

    pub(super) fn template(&self, home: Home) -> Option<Template> {
        match home {
            Home::Workload(index) => {
                self.population.workloads.get(index).map(crate::scenario::population::model::Workload::template)
            }
            Home::Job(number) => self.population.jobs.get(&number).map(Job::template),
            Home::Node(_) => None,
        }
    }

    pub(super) fn namespace(&self, home: Home) -> Option<String> {
        match home {
            Home::Workload(index) => self.population.workloads.get(index).map(|workload| workload.namespace.clone()),
            Home::Job(number) => self.population.jobs.get(&number).map(|job| job.namespace.clone()),
            Home::Node(_) => None,
        }
    }

    pub(super) fn pods_of(&mut self, home: Home) -> Option<&mut Vec<Pod>> {
        match home {
            Home::Workload(index) => self.population.workloads.get_mut(index).map(|workload| &mut workload.pods),
            Home::Job(number) => self.population.jobs.get_mut(&number).map(|job| &mut job.pods),
            Home::Node(_) => None,
        }
    }
}

fn generation(value: &Value) -> u64 {
    value.pointer("/metadata/generation").and_then(Value::as_u64).unwrap_or(1)
}
