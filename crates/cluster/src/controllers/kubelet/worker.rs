//! One Pod on its node: what its containers do, in which order, and which Events report it
//! (`pkg/kubelet/pod_workers.go`, `kuberuntime_manager.go`). It has no clock of its own: it is given the time, and
//! returns when it needs the time again.

use std::collections::BTreeMap;
use std::time::Duration;

use kubechurn_client::record::event::EventType;
use kubechurn_client::record::time::Time;
use serde_json::Value;

use super::super::duration;
use super::super::object;
use super::super::pace::Pace;
use super::behaviour::{self, Readiness, Role};
use super::conditions::Conditions;
use super::container::{Container, Ended, Probe, State, after, not_found};
use super::images::{self, Images};
use super::restart::{back_off, is_restarted};
use super::resume::{Resume, container, time};
use crate::random::Random;

/// A container that ran for this long, in seconds, no longer counts as crashing.
const RECOVERED: f64 = 600.0;
/// The delay, in seconds, after which the kubelet handles a failure.
const FAILURE_DELAY: f64 = 1.0;

/// What a kubelet knows about a Pod that is not settled.
#[derive(Debug)]
pub struct PodWorker {
    /// The uid of the Pod.
    pub uid: String,
    /// Since when the kubelet has known the Pod.
    pub started: Time,
    /// When the Pod's sandbox is ready, so that containers can start.
    pub sandbox: Time,
    /// The Pod's address, once it has one.
    pub address: Option<String>,
    /// The containers in the Pod's order, init containers first.
    pub containers: Vec<Container>,
    /// The transition times of the Pod's conditions.
    pub conditions: Conditions,
    /// Whether the containers have been asked to stop because the Pod is being deleted.
    pub is_killed: bool,
    /// The factors that scale times.
    pub pace: Pace,
    restart_policy: String,
    random: Random,
}

/// One sync of a Pod: what a worker reads and changes beside its own state.
#[derive(Debug)]
pub struct PodSync<'a> {
    /// The Pod, as an informer has it.
    pub pod: &'a Value,
    /// The name of the node that it runs on.
    pub node: &'a str,
    /// The images on the nodes.
    pub images: &'a mut Images,
    /// What the first container's environment has from ConfigMaps, by name.
    pub settings: BTreeMap<String, String>,
    /// The current time.
    pub now: Time,
    /// The Events to record, to which the worker adds.
    pub events: Vec<PodEvent>,
}

/// An Event about a container.
#[derive(Debug, Clone, PartialEq)]
pub struct PodEvent {
    /// The field of the Pod with the container, such as `spec.containers{web}`.
    pub field_path: String,
    /// Whether it is a warning.
    pub event_type: EventType,
    /// The reason, in one word.
    pub reason: &'static str,
    /// The message, in a sentence.
    pub message: String,
}

impl PodWorker {
    /// A worker for a Pod of an informer. A Pod that already ran when this program started continues from its status.
    pub fn new(pod: &Value, now: Time, pace: Pace) -> Self {
        let uid = object::uid(pod).to_owned();
        let seed = images::hash(&[&uid]);
        let mut random = Random::new(seed);
        let started = time(pod.pointer("/status/startTime"));
        let sandbox = match started {
            Some(started) => started,
            None => after(now, Pace::seconds(pace.containers, random.between(200, 900) as f64 / 1000.0)),
        };
        let address = Some(object::text(pod, "/status/podIP").to_owned()).filter(|address| !address.is_empty());
        let restart_policy = object::text(pod, "/spec/restartPolicy").to_owned();
        let resume = Resume { restart_policy: &restart_policy, now, pace };
        let mut containers = Vec::new();
        for (list, statuses) in [("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")] {
            for (at, spec) in pod["spec"][list].as_array().into_iter().flatten().enumerate() {
                let role = match (list, at) {
                    ("initContainers", _) if spec["restartPolicy"] == "Always" => Role::Sidecar,
                    ("initContainers", _) => Role::Init,
                    (_, 0) => Role::First,
                    _ => Role::Other,
                };
                let mut container = container(pod, spec, role, pace.containers);
                let known = pod["status"][statuses].as_array().into_iter().flatten();
                if let Some(known) = known.into_iter().find(|known| known["name"] == container.name.as_str()) {
                    resume.resume(&mut container, spec, known);
                }
                containers.push(container);
            }
        }
        Self {
            uid,
            started: started.unwrap_or(now),
            sandbox,
            address,
            containers,
            conditions: Conditions::of(pod),
            is_killed: false,
            pace,
            restart_policy,
            random,
        }
    }

    /// Does everything that is due.
    pub fn step(&mut self, sync: &mut PodSync<'_>) {
        if object::is_being_deleted(sync.pod) && !self.is_killed {
            self.kill(sync);
        }
        // Each turn takes a container one state further, and there are few states between two waits. The bound is for
        // behaviours that take no time at all.
        for _ in 0..64 {
            let mut is_changed = false;
            for at in 0..self.containers.len() {
                is_changed |= self.advance(at, sync);
            }
            if !is_changed {
                return;
            }
        }
    }

    /// When there is more to do; `None` if nothing happens by itself.
    pub fn deadline(&self, now: Time) -> Option<Time> {
        let mut deadline = self.containers.iter().filter_map(Container::deadline).min();
        if now < self.sandbox && !self.is_killed {
            deadline = Some(deadline.map_or(self.sandbox, |deadline| deadline.min(self.sandbox)));
        }
        deadline
    }

    /// Whether every init container has succeeded and every sidecar has started.
    pub fn is_initialized(&self) -> bool {
        let has_begun = self
            .containers
            .iter()
            .any(|one| !matches!(one.role, Role::Init | Role::Sidecar) && !matches!(one.state, State::Waiting));
        // Once the Pod is initialized, a restart of a sidecar does not change that.
        has_begun || self.containers.iter().all(Container::lets_pass)
    }

    /// Whether no container runs or will run again, so that the phase is final.
    pub fn is_over(&self) -> bool {
        if self.is_killed {
            return !self.containers.iter().any(Container::is_running);
        }
        let failed_early =
            |one: &Container| one.role == Role::Init && one.result().is_some_and(|ended| ended.code != 0);
        let mut main = self.containers.iter().filter(|one| matches!(one.role, Role::First | Role::Other)).peekable();
        self.containers.iter().any(failed_early) || (main.peek().is_some() && main.all(Container::is_over))
    }

    /// The phase of the Pod (`getPhase`).
    pub fn phase(&self) -> &'static str {
        let main = || self.containers.iter().filter(|one| matches!(one.role, Role::First | Role::Other));
        if self.is_over() && self.containers.iter().any(|one| one.result().is_some()) {
            let init = self.containers.iter().filter(|one| one.role == Role::Init);
            let failed = |one: &Container| match &one.state {
                State::Exited { ended, .. } | State::BackOff { ended, .. } => ended.code != 0,
                _ => false,
            };
            return if main().chain(init).any(failed) { "Failed" } else { "Succeeded" };
        }
        let has_never_run = |one: &Container| match one.state {
            State::Waiting | State::Pulling { .. } | State::NoImage { .. } => one.last.is_none(),
            _ => false,
        };
        if !self.is_initialized() || main().any(has_never_run) { "Pending" } else { "Running" }
    }

    /// Asks the containers to stop because their Pod is being deleted.
    fn kill(&mut self, sync: &mut PodSync<'_>) {
        self.is_killed = true;
        let now = sync.now;
        let grace = sync.pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or(30).min(3600);
        for at in 0..self.containers.len() {
            let wait = self.stopping_time().min(Duration::from_secs(grace));
            let container = &mut self.containers[at];
            match &mut container.state {
                State::Running(run) => {
                    run.stop.get_or_insert((after(now, wait), container.behaviour.stop_code));
                    let message = format!("Stopping container {}", container.name);
                    sync.events.push(PodEvent::normal(container, "Killing", message));
                }
                State::Exited { turn, .. } => *turn = None,
                State::BackOff { ended, .. } => {
                    container.state = State::Exited { ended: ended.clone(), turn: None };
                }
                _ => container.state = State::Waiting,
            }
        }
    }

    fn stopping_time(&mut self) -> Duration {
        Pace::seconds(self.pace.containers, self.random.between(300, 2000) as f64 / 1000.0)
    }

    /// Takes one container one state further if that is due; returns whether it was.
    fn advance(&mut self, at: usize, sync: &mut PodSync<'_>) -> bool {
        let Some(spec) = self.spec(at, sync.pod) else { return false };
        if self.containers[at].deadline().is_some_and(|deadline| sync.now < deadline) {
            return false;
        }
        match &self.containers[at].state {
            State::Waiting => self.begin(at, spec, sync),
            State::Pulling { since, .. } => {
                let since = *since;
                self.pulled(at, spec, since, sync);
                true
            }
            State::NoImage { turn: Some(_), again } => {
                let again = *again;
                let container = &mut self.containers[at];
                let message = format!("Back-off pulling image \"{}\"", container.image);
                sync.events.push(PodEvent::normal(container, "BackOff", message));
                sync.events.push(PodEvent::warning(container, "Failed", "Error: ImagePullBackOff".to_owned()));
                container.state = State::NoImage { turn: None, again };
                true
            }
            State::NoImage { turn: None, .. } => {
                self.pull(at, sync);
                true
            }
            State::Running(_) => self.probe(at, spec, sync),
            State::Exited { turn: None, .. } => false,
            State::Exited { ended, turn: Some(_) } => {
                let ended = ended.clone();
                self.restart_later(at, ended, sync);
                true
            }
            State::BackOff { ended, .. } => {
                let ended = ended.clone();
                self.restart(at, ended);
                true
            }
        }
    }

    fn spec<'a>(&self, at: usize, pod: &'a Value) -> Option<&'a Value> {
        let container = self.containers.get(at)?;
        let list = if matches!(container.role, Role::Init | Role::Sidecar) { "initContainers" } else { "containers" };
        pod["spec"][list].as_array()?.iter().find(|spec| spec["name"] == container.name.as_str())
    }

    /// Starts a container or the pull of its image, once the sandbox is ready and the earlier containers allow it.
    fn begin(&mut self, at: usize, spec: &Value, sync: &mut PodSync<'_>) -> bool {
        let is_pulling = |one: &Container| matches!(one.state, State::Pulling { .. });
        let may = self.containers[..at].iter().all(|one| one.lets_pass() && !is_pulling(one));
        if self.is_killed || self.is_over() || sync.now < self.sandbox || !may {
            return false;
        }
        let container = &mut self.containers[at];
        let always = spec["imagePullPolicy"] == "Always";
        if always || !container.behaviour.has_image || !sync.images.is_present(sync.node, &container.image) {
            self.pull(at, sync);
        } else {
            let message = format!(
                "Container image \"{}\" already present on machine and can be accessed by the pod",
                container.image
            );
            sync.events.push(PodEvent::normal(container, "Pulled", message));
            self.start(at, spec, sync);
        }
        true
    }

    fn pull(&mut self, at: usize, sync: &mut PodSync<'_>) {
        let container = &mut self.containers[at];
        let wait = images::pull_time(&container.image, self.pace.containers, &mut self.random);
        sync.events.push(PodEvent::normal(container, "Pulling", format!("Pulling image \"{}\"", container.image)));
        container.state = State::Pulling { since: sync.now, until: after(sync.now, wait) };
    }

    fn pulled(&mut self, at: usize, spec: &Value, since: Time, sync: &mut PodSync<'_>) {
        let now = sync.now;
        let container = &mut self.containers[at];
        let image = container.image.clone();
        if container.behaviour.has_image {
            sync.images.add(sync.node, &image);
            let took = duration::text(Duration::from_millis(((now.0 - since.0) / 1_000_000).unsigned_abs()));
            let message = format!(
                "Successfully pulled image \"{image}\" in {took} ({took} including waiting). Image size: {} bytes.",
                images::size(&image)
            );
            sync.events.push(PodEvent::normal(container, "Pulled", message));
            container.failed_pulls = 0;
            self.start(at, spec, sync);
            return;
        }
        let why = format!("Failed to pull image \"{image}\": {}", not_found(&image));
        sync.events.push(PodEvent::warning(container, "Failed", why));
        sync.events.push(PodEvent::warning(container, "Failed", "Error: ErrImagePull".to_owned()));
        let delay = back_off(container.failed_pulls, self.pace.back_off);
        container.failed_pulls = container.failed_pulls.saturating_add(1);
        let turn = after(now, Pace::seconds(self.pace.back_off, FAILURE_DELAY));
        container.state = State::NoImage { turn: Some(turn), again: after(now, delay) };
    }

    fn start(&mut self, at: usize, spec: &Value, sync: &mut PodSync<'_>) {
        let container = &mut self.containers[at];
        sync.events.push(PodEvent::normal(container, "Created", "Container created".to_owned()));
        sync.events.push(PodEvent::normal(container, "Started", "Container started".to_owned()));
        container.run(spec, sync.now, self.pace.containers);
        if let State::Running(run) = &mut container.state
            && let Some(end) = behaviour::refuses(sync.pod, container.role, &sync.settings, self.pace.containers)
        {
            (run.end, run.turn) = (Some((after(sync.now, end.after), end)), None);
        }
    }

    /// Handles the probes, the end and the stop of a running container.
    fn probe(&mut self, at: usize, spec: &Value, sync: &mut PodSync<'_>) -> bool {
        let (pace, now) = (self.pace, sync.now);
        let stopping = self.stopping_time();
        let container = &mut self.containers[at];
        let readiness = container.behaviour.readiness;
        let State::Running(run) = &mut container.state else { return false };
        let is_due = |time: Option<Time>| time.is_some_and(|time| time <= now);
        if is_due(run.stop.map(|(at, _)| at)) || is_due(run.end.map(|(at, _)| at)) {
            let stopped = run.stop.filter(|(at, _)| *at <= now).map(|(_, code)| (code, false));
            let (code, is_oom) = stopped.or(run.end.map(|(_, end)| (end.code, end.is_oom))).unwrap_or_default();
            self.exit(at, code, is_oom, now);
        } else if is_due(run.started) {
            run.started = None;
            container.has_started = true;
        } else if is_due(run.turn) {
            let usual = Probe { initial: Duration::ZERO, period: Pace::seconds(pace.containers, 10.0), threshold: 3 };
            let period = Probe::of(spec, "readinessProbe", pace.containers).unwrap_or(usual).period;
            let was_ready = container.is_ready;
            (container.is_ready, run.turn) = match readiness {
                Readiness::Fine => (true, None),
                Readiness::Never => (false, Some(after(now, period))),
                Readiness::Flaps(time) => (!was_ready, Some(after(now, time))),
            };
            if !container.is_ready {
                let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
                sync.events.push(PodEvent::warning(container, "Unhealthy", message.to_owned()));
            }
        } else if is_due(run.unhealthy) {
            let usual = Probe { initial: Duration::ZERO, period: Pace::seconds(pace.containers, 10.0), threshold: 3 };
            let probe = Probe::of(spec, "livenessProbe", pace.containers).unwrap_or(usual);
            run.failures += 1;
            let is_too_often = run.failures >= probe.threshold;
            run.unhealthy = (!is_too_often).then(|| after(now, probe.period));
            if is_too_often {
                run.stop = Some((after(now, stopping), 137));
            }
            let message = "Liveness probe failed: HTTP probe failed with statuscode: 500";
            sync.events.push(PodEvent::warning(container, "Unhealthy", message.to_owned()));
            if is_too_often {
                let message = format!("Container {} failed liveness probe, will be restarted", container.name);
                sync.events.push(PodEvent::normal(container, "Killing", message));
            }
        } else {
            return false;
        }
        true
    }

    fn exit(&mut self, at: usize, code: i64, is_oom: bool, now: Time) {
        let id = self.containers[at].id(&self.uid);
        let policy = self.restart_policy.as_str();
        let is_last = self.is_killed || self.is_over();
        let container = &mut self.containers[at];
        let State::Running(run) = &container.state else { return };
        let is_restarted = !is_last && is_restarted(container.role, policy, code);
        let ran = (now.0 - run.since.0) as f64 / 1e9;
        if ran >= RECOVERED * self.pace.back_off {
            container.crashes = 0;
        }
        let reason = match (is_oom, code) {
            (true, _) => "OOMKilled",
            (_, 0) => "Completed",
            _ => "Error",
        };
        let ended = Ended { code, reason: reason.to_owned(), started: run.since, finished: now, id };
        (container.is_ready, container.has_started) = (false, false);
        let turn = is_restarted.then(|| after(now, Pace::seconds(self.pace.back_off, FAILURE_DELAY)));
        container.state = State::Exited { ended, turn };
        self.stop_sidecars(now);
    }

    /// Stops the sidecars once the main containers have ended.
    fn stop_sidecars(&mut self, now: Time) {
        if self.is_killed || !self.is_over() {
            return;
        }
        let wait = self.stopping_time();
        for container in self.containers.iter_mut().filter(|one| one.role == Role::Sidecar) {
            if let State::Running(run) = &mut container.state {
                run.stop.get_or_insert((after(now, wait), 0));
            }
        }
    }

    /// Restarts a container that has ended: at once the first time, with a growing delay after that (`doBackOff`).
    fn restart_later(&mut self, at: usize, ended: Ended, sync: &mut PodSync<'_>) {
        let container = &mut self.containers[at];
        container.crashes = container.crashes.saturating_add(1);
        if container.crashes == 1 {
            self.restart(at, ended);
            return;
        }
        let delay = back_off(container.crashes - 2, self.pace.back_off);
        let until = after(ended.finished, delay).max(sync.now);
        let message = format!("Back-off restarting failed container {} in pod {}", container.name, full_name(sync.pod));
        sync.events.push(PodEvent::warning(container, "BackOff", message));
        container.state = State::BackOff { ended, until, delay };
    }

    fn restart(&mut self, at: usize, ended: Ended) {
        let container = &mut self.containers[at];
        container.last = Some(ended);
        container.restarts = container.restarts.saturating_add(1);
        container.state = State::Waiting;
    }
}

/// The name of a Pod in the messages of kubelets: `web_default(…)`.
pub fn full_name(pod: &Value) -> String {
    format!("{}_{}({})", object::name(pod), object::namespace(pod), object::uid(pod))
}

impl PodEvent {
    fn new(container: &Container, event_type: EventType, reason: &'static str, message: String) -> Self {
        let list = if matches!(container.role, Role::Init | Role::Sidecar) { "initContainers" } else { "containers" };
        Self { field_path: format!("spec.{list}{{{}}}", container.name), event_type, reason, message }
    }

    fn normal(container: &Container, reason: &'static str, message: String) -> Self {
        Self::new(container, EventType::Normal, reason, message)
    }

    fn warning(container: &Container, reason: &'static str, message: String) -> Self {
        Self::new(container, EventType::Warning, reason, message)
    }
}
