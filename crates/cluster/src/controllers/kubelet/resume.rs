//! How a newly started kubelet takes over a Pod that another one ran: it continues from the Pod's status.

use kubechurn_client::record::time::Time;
use serde_json::Value;

use super::super::object;
use super::super::pace::Pace;
use super::behaviour::{Behaviour, Readiness, Role};
use super::container::{Container, Ended, State, after};
use super::images;
use super::restart::{back_off, is_restarted};

/// A container that has not started; `pace` scales the times of its behaviour.
pub fn container(pod: &Value, spec: &Value, role: Role, pace: f64) -> Container {
    let name = object::text(spec, "/name").to_owned();
    let seed = images::hash(&[object::uid(pod), &name]);
    Container {
        image: object::text(spec, "/image").to_owned(),
        role,
        behaviour: Behaviour::of(pod, spec, role, pace, seed),
        name,
        state: State::Waiting,
        last: None,
        restarts: 0,
        crashes: 0,
        failed_pulls: 0,
        is_ready: false,
        has_started: false,
    }
}

/// A time in a status.
pub fn time(value: Option<&Value>) -> Option<Time> {
    kubechurn_client::api::time::Timestamp::parse_set(value?.as_str()?).map(|time| Time::from_seconds(time.0))
}

/// How the containers of a Pod are taken over.
#[derive(Debug, Clone, Copy)]
pub struct Resume<'a> {
    /// The `restartPolicy` of the Pod.
    pub restart_policy: &'a str,
    /// The current time.
    pub now: Time,
    /// The factors that scale times.
    pub pace: Pace,
}

impl Resume<'_> {
    /// Sets the state of a container from its status. `spec` is the container in the Pod's spec.
    pub fn resume(&self, container: &mut Container, spec: &Value, status: &Value) {
        let Self { restart_policy, now, pace } = *self;
        let ended = |state: &Value| {
            let terminated = state.get("terminated")?;
            let text = |field: &str| object::text(terminated, &format!("/{field}")).to_owned();
            Some(Ended {
                code: terminated["exitCode"].as_i64().unwrap_or_default(),
                reason: text("reason"),
                started: time(terminated.get("startedAt")).unwrap_or(now),
                finished: time(terminated.get("finishedAt")).unwrap_or(now),
                id: text("containerID"),
            })
        };
        container.restarts =
            status["restartCount"].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or_default();
        container.crashes = container.restarts;
        container.last = ended(&status["lastState"]);
        let state = &status["state"];
        if let Some(running) = state.get("running") {
            let since = time(running.get("startedAt")).unwrap_or(now);
            container.run(spec, since, pace.containers);
            container.has_started = status["started"] == true;
            container.is_ready = status["ready"] == true;
            if let State::Running(run) = &mut container.state {
                run.started = run.started.filter(|_| !container.has_started);
                let is_settled = container.is_ready && container.behaviour.readiness == Readiness::Fine;
                run.turn = run.turn.filter(|_| !is_settled);
            }
        } else if let Some(ended) = ended(state) {
            let turn = is_restarted(container.role, restart_policy, ended.code).then_some(now);
            container.state = State::Exited { ended, turn };
        } else if state["waiting"]["reason"] == "CrashLoopBackOff"
            && let Some(ended) = container.last.clone()
        {
            let delay = back_off(container.crashes.saturating_sub(1), pace.back_off);
            container.state = State::BackOff { until: after(ended.finished, delay).max(now), ended, delay };
        }
    }
}
