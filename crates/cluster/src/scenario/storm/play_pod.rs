//! The steps of activities that concern Pods: they are created, changed and deleted.

use std::sync::Arc;

use super::Storm;
use super::activity::{Change, Choice, Home};
use super::recorder::{About, What};
use crate::clock;
use crate::resources::builtin::PODS;
use crate::resources::fields::set;
use crate::scenario::population::model::{Container, Pod, PodState};
use crate::scenario::population::{self, pod};

impl Storm {
    /// Creates a Pod; returns its name.
    pub(super) fn create_pod(&mut self, home: Home) -> Option<String> {
        let template = self.template(home)?;
        let (nodes, now) = (&self.population.nodes, clock::now());
        let mut one = population::new_pod(&mut self.random, self.seed, &template, nodes, now);
        (one.hash, one.containers) = (template.hash.clone(), Arc::clone(&template.containers));
        self.storage.create(&PODS, pod::draft(&template, &one, nodes))?;
        self.pods += 1;
        let name = one.name.clone();
        let message = format!("Created pod: {name}");
        self.pods_of(home)?.push(one);
        self.record_owner(home, "SuccessfulCreate", &message);
        Some(name)
    }

    /// Chooses a Pod; returns its name.
    pub(super) fn choose(&mut self, home: Home, choice: Choice) -> Option<String> {
        let newest = self.template(home)?.hash;
        let pods = match home {
            Home::Workload(index) => &self.population.workloads.get(index)?.pods,
            Home::Job(number) => &self.population.jobs.get(&number)?.pods,
            Home::Node(_) => return None,
        };
        let pods: Vec<&Pod> = pods.iter().filter(|pod| pod.deleting.is_none()).collect();
        let wanted = |pod: &&&Pod| match choice {
            Choice::Ready => pod.state == PodState::Ready,
            Choice::Old => pod.hash != newest,
            Choice::Crashing => pod.state == PodState::BackOff,
            Choice::Surplus => pod.state != PodState::Ready,
        };
        let mut candidates: Vec<&Pod> = pods.iter().filter(wanted).copied().collect();
        if candidates.is_empty() {
            candidates = match choice {
                Choice::Ready | Choice::Old => Vec::new(),
                Choice::Crashing => pods.into_iter().filter(|pod| pod.state == PodState::Ready).collect(),
                Choice::Surplus => pods,
            };
        }
        let names: Vec<String> = candidates.into_iter().map(|pod| pod.name.clone()).collect();
        (!names.is_empty()).then(|| self.random.pick(&names).clone())
    }

    /// Changes a Pod in the model and the storage; returns false if it no longer exists.
    pub(super) fn change_pod(&mut self, home: Home, name: &str, change: Change) -> bool {
        let now = clock::now();
        let node = self.open_node();
        let Some(namespace) = self.namespace(home) else { return false };
        let Some(pods) = self.pods_of(home) else { return false };
        let Some(index) = pods.iter().position(|pod| pod.name == name) else { return false };
        let key = PODS.key(&namespace, name);
        if change == Change::Remove {
            pods.swap_remove(index);
            self.pods = self.pods.saturating_sub(1);
            self.storage.delete(&PODS, &key);
            return false;
        }
        let one = &mut pods[index];
        match change {
            Change::Place => (one.state, one.node) = (PodState::Creating, node),
            Change::Run => one.state = PodState::Ready,
            Change::Become(state) => one.state = state,
            Change::Restart => (one.state, one.restarts) = (PodState::Ready, one.restarts + 1),
            Change::Terminate => one.deleting = Some(now),
            Change::Remove => {}
        }
        if change != Change::Terminate {
            one.changed = now;
        }
        let one = one.clone();
        let status = pod::status(&one, &self.population.nodes);
        let node_name = self.population.nodes[one.node].name.clone();
        let updated = self.storage.update(&PODS, &key, |current, value| {
            if *current.uid != *one.uid {
                return Err(());
            }
            match change {
                Change::Terminate => {
                    set(value, &["metadata", "deletionTimestamp"], clock::timestamp(now + 30).into());
                    set(value, &["metadata", "deletionGracePeriodSeconds"], 30.into());
                }
                Change::Place => {
                    set(value, &["spec", "nodeName"], node_name.as_str().into());
                    set(value, &["status"], status);
                }
                _ => set(value, &["status"], status),
            }
            Ok(())
        });
        if updated.is_none() {
            if let Some(pods) = self.pods_of(home) {
                pods.retain(|pod| pod.name != name);
            }
            self.pods = self.pods.saturating_sub(1);
            return false;
        }
        self.record_pod(&namespace, &one, change, &node_name);
        true
    }

    fn record_pod(&mut self, namespace: &str, one: &Pod, change: Change, node: &str) {
        let Some(first) = one.containers.first() else { return };
        let Container { name, image } = first;
        let (reason, message, warning) = match change {
            Change::Place => ("Scheduled", format!("Successfully assigned {namespace}/{} to {node}", one.name), false),
            Change::Run | Change::Restart => ("Started", format!("Started container {name}"), false),
            Change::Terminate => ("Killing", format!("Stopping container {name}"), false),
            Change::Become(PodState::Unready) => {
                ("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned(), true)
            }
            Change::Become(PodState::BackOff) => {
                let message = format!("Back-off restarting failed container {name} in pod {}_{namespace}", one.name);
                ("BackOff", message, true)
            }
            Change::Become(PodState::ErrImagePull) => {
                ("Failed", format!("Failed to pull image \"{image}\": not found"), true)
            }
            Change::Become(PodState::ImagePullBackOff) => {
                ("BackOff", format!("Back-off pulling image \"{image}\""), false)
            }
            _ => return,
        };
        let scheduling = change == Change::Place;
        let container = (!scheduling).then_some(name.as_str());
        let about = About { resource: &PODS, namespace, name: &one.name, uid: &one.uid, container };
        let component = if scheduling { "default-scheduler" } else { "kubelet" };
        let host = if scheduling { "" } else { node };
        let what = What { reason, message: &message, component, host, warning };
        self.recorder.record(&self.storage, about, what, clock::time());
    }
}
