//! One fake container: the states that it goes through, and when. It has no clock of its own: it is given the time, and
//! returns when it needs the time again.

use std::time::Duration;

use kubechurn_client::record::time::Time;
use serde_json::{Map, Value, json};

use super::super::duration;
use super::super::pace::Pace;
use super::behaviour::{Behaviour, End, Readiness, Role};
use super::images;

/// The time after a wait.
pub fn after(time: Time, wait: Duration) -> Time {
    Time(time.0.saturating_add(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX)))
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its exit code.
    pub code: i64,
    /// `Completed`, `Error` or `OOMKilled`.
    pub reason: String,
    /// When it was started.
    pub started: Time,
    /// When it ended.
    pub finished: Time,
    /// Its ID in the container runtime.
    pub id: String,
}

/// A running container.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Since when it runs.
    pub since: Time,
    /// When it will end by itself.
    pub end: Option<(Time, End)>,
    /// When its startup probe will succeed.
    pub started: Option<Time>,
    /// When its readiness changes next.
    pub turn: Option<Time>,
    /// When its liveness probe fails next.
    pub unhealthy: Option<Time>,
    /// How often its liveness probe has failed.
    pub failures: u32,
    /// When it will have stopped after it was asked to, and with which exit code.
    pub stop: Option<(Time, i64)>,
}

/// The state of a container.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Not started yet.
    Waiting,
    /// Its image is being pulled.
    Pulling {
        /// When the pull began.
        since: Time,
        /// When the pull ends.
        until: Time,
    },
    /// Its image could not be pulled.
    NoImage {
        /// When the reason becomes `ImagePullBackOff`; `None` once it is.
        turn: Option<Time>,
        /// When the next pull begins.
        again: Time,
    },
    /// It runs.
    Running(Run),
    /// It has ended.
    Exited {
        /// How it ended.
        ended: Ended,
        /// When the kubelet handles the end; `None` if it is not restarted.
        turn: Option<Time>,
    },
    /// It has ended, and waits to be restarted.
    BackOff {
        /// How it ended.
        ended: Ended,
        /// When the wait ends.
        until: Time,
        /// How long the whole wait is.
        delay: Duration,
    },
}

/// The times of a probe, scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// `initialDelaySeconds`.
    pub initial: Duration,
    /// `periodSeconds`.
    pub period: Duration,
    /// `failureThreshold`.
    pub threshold: u32,
}

impl Probe {
    /// The probe in a field of a container, such as `readinessProbe`; `None` if it has none.
    pub fn of(container: &Value, field: &str, pace: f64) -> Option<Self> {
        let probe = container.get(field).filter(|probe| probe.is_object())?;
        let seconds = |name: &str, usual: f64| Pace::seconds(pace, probe[name].as_f64().unwrap_or(usual).max(0.0));
        let threshold = probe["failureThreshold"].as_u64().and_then(|times| u32::try_from(times).ok());
        Some(Self {
            initial: seconds("initialDelaySeconds", 0.0),
            period: seconds("periodSeconds", 10.0).max(Duration::from_millis(1)),
            threshold: threshold.unwrap_or(3).max(1),
        })
    }

    /// The time from the start of the container to its first probe after the initial delay: probes run once per period.
    pub fn first(&self) -> Duration {
        let periods = self.initial.as_secs_f64() / self.period.as_secs_f64();
        self.period.mul_f64(periods.ceil().min(1e6)) + Duration::from_millis(1)
    }
}

/// A container of a Pod.
#[derive(Debug, Clone)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image, as the Pod names it.
    pub image: String,
    /// Its role in the Pod.
    pub role: Role,
    /// What it does.
    pub behaviour: Behaviour,
    /// Its current state.
    pub state: State,
    /// How it ended the last time.
    pub last: Option<Ended>,
    /// How often it was restarted.
    pub restarts: u32,
    /// How often it has ended without running for long in between.
    pub crashes: u32,
    /// How often the pull of its image has failed since the last success.
    pub failed_pulls: u32,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Whether it has started, according to its startup probe.
    pub has_started: bool,
}

impl Container {
    /// Whether it has ended and will not be restarted.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Exited { turn: None, .. })
    }

    /// Whether it is running.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running(_))
    }

    /// How it ended, if it will not be restarted.
    pub fn result(&self) -> Option<&Ended> {
        match &self.state {
            State::Exited { ended, turn: None } => Some(ended),
            _ => None,
        }
    }

    /// Whether the next container may start: this one is an init container that has succeeded, or a sidecar that has
    /// started.
    pub fn lets_pass(&self) -> bool {
        match self.role {
            Role::Init => self.result().is_some_and(|ended| ended.code == 0),
            Role::Sidecar => self.has_started && self.is_running(),
            Role::First | Role::Other => true,
        }
    }

    /// When it needs the time next; `None` if nothing will happen by itself.
    pub fn deadline(&self) -> Option<Time> {
        match &self.state {
            State::Waiting => None,
            State::Pulling { until, .. } | State::BackOff { until, .. } => Some(*until),
            State::NoImage { turn, again } => Some(turn.unwrap_or(*again)),
            State::Exited { turn, .. } => *turn,
            State::Running(run) => {
                let stop = run.stop.map(|(at, _)| at);
                let end = run.end.map(|(at, _)| at);
                [stop, end, run.started, run.turn, run.unhealthy].into_iter().flatten().min()
            }
        }
    }

    /// Starts the container. `spec` is the container in the Pod's spec.
    pub fn run(&mut self, spec: &Value, now: Time, pace: f64) {
        let startup = Probe::of(spec, "startupProbe", pace);
        let readiness = Probe::of(spec, "readinessProbe", pace);
        let liveness = Probe::of(spec, "livenessProbe", pace);
        let started = startup.map(|probe| after(now, probe.first()));
        let begun = started.unwrap_or(now);
        let ready = match (self.behaviour.readiness, readiness) {
            (Readiness::Never, probe) => {
                let usual = Pace::seconds(pace, 10.0);
                Some(after(begun, probe.map_or(usual, |probe| probe.first().max(probe.period))))
            }
            (_, Some(probe)) => Some(after(begun, probe.first())),
            (_, None) => Some(begun),
        };
        let period = liveness.map_or(Pace::seconds(pace, 10.0), |probe| probe.period);
        self.has_started = started.is_none();
        self.is_ready = false;
        self.state = State::Running(Run {
            since: now,
            end: self.behaviour.end.map(|end| (after(now, end.after), end)),
            started,
            turn: if self.role == Role::Init { None } else { ready },
            unhealthy: self.behaviour.fail_live.map(|wait| after(begun, wait.max(period))),
            failures: 0,
            stop: None,
        });
    }

    /// The container runtime's ID of the current run, or of the last one.
    pub fn id(&self, uid: &str) -> String {
        format!("containerd://{}", images::digits(&format!("{uid}/{}/{}", self.name, self.restarts)))
    }

    /// Its entry in `containerStatuses`. `spec` is the container in the Pod's spec, `pod` the Pod's name, namespace and
    /// uid as in `web_default(…)`; `is_initialized` says whether the containers before it allow it to start.
    pub fn status(&self, spec: &Value, pod: &str, uid: &str, is_initialized: bool) -> Value {
        let waiting = |reason: &str, message: String| match message.as_str() {
            "" => json!({"waiting": {"reason": reason}}),
            _ => json!({"waiting": {"reason": reason, "message": message}}),
        };
        let state = match &self.state {
            State::Waiting | State::Pulling { .. } => {
                waiting(if is_initialized { "ContainerCreating" } else { "PodInitializing" }, String::new())
            }
            State::NoImage { turn: Some(_), .. } => waiting("ErrImagePull", not_found(&self.image)),
            State::NoImage { turn: None, .. } => {
                let why =
                    format!("Back-off pulling image \"{0}\": ErrImagePull: {1}", self.image, not_found(&self.image));
                waiting("ImagePullBackOff", why)
            }
            State::Running(run) => json!({"running": {"startedAt": run.since}}),
            State::Exited { ended, .. } => json!({"terminated": terminated(ended)}),
            State::BackOff { delay, .. } => {
                let why =
                    format!("back-off {} restarting failed container={} pod={pod}", duration::text(*delay), self.name);
                waiting("CrashLoopBackOff", why)
            }
        };
        let last = match &self.state {
            State::BackOff { ended, .. } => json!({"terminated": terminated(ended)}),
            _ => self.last.as_ref().map_or(json!({}), |ended| json!({"terminated": terminated(ended)})),
        };
        let was_created = self.is_running() || matches!(self.state, State::Exited { .. } | State::BackOff { .. });
        // An init container is ready once it has succeeded.
        let is_ready = match self.role {
            Role::Init => self.result().is_some_and(|ended| ended.code == 0),
            _ => self.is_ready && self.is_running(),
        };
        let mut status = Map::new();
        status.insert("name".to_owned(), self.name.as_str().into());
        status.insert("state".to_owned(), state);
        status.insert("lastState".to_owned(), last);
        status.insert("ready".to_owned(), is_ready.into());
        status.insert("restartCount".to_owned(), self.restarts.into());
        status.insert("started".to_owned(), (self.has_started && self.is_running()).into());
        if was_created {
            status.insert("image".to_owned(), images::full_name(&self.image).into());
            status.insert("imageID".to_owned(), images::id(&self.image).into());
            status.insert("containerID".to_owned(), self.id(uid).into());
        } else {
            status.insert("image".to_owned(), self.image.as_str().into());
            status.insert("imageID".to_owned(), "".into());
        }
        if self.is_running() {
            let resources = spec.get("resources").filter(|resources| resources.is_object()).cloned();
            if let Some(requests) = spec["resources"].get("requests").filter(|requests| requests.is_object()) {
                status.insert("allocatedResources".to_owned(), requests.clone());
            }
            status.insert("resources".to_owned(), resources.unwrap_or(json!({})));
            status.insert("user".to_owned(), json!({"linux": {"gid": 0, "supplementalGroups": [0], "uid": 0}}));
        }
        let mounts = spec["volumeMounts"].as_array().into_iter().flatten().map(mount);
        let mounts: Vec<Value> = mounts.collect();
        if !mounts.is_empty() {
            status.insert("volumeMounts".to_owned(), mounts.into());
        }
        status.into()
    }
}

fn mount(mount: &Value) -> Value {
    let mut status = json!({"name": mount["name"], "mountPath": mount["mountPath"]});
    if mount["readOnly"] == true {
        status["readOnly"] = true.into();
        status["recursiveReadOnly"] = "Disabled".into();
    }
    status
}

fn terminated(ended: &Ended) -> Value {
    json!({"exitCode": ended.code, "reason": ended.reason, "startedAt": ended.started, "finishedAt": ended.finished,
        "containerID": ended.id})
}

/// The message of containerd about an image that no registry has.
pub fn not_found(image: &str) -> String {
    let name = images::full_name(image);
    format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image \"{name}\": failed to resolve reference \
         \"{name}\": {name}: not found"
    )
}
