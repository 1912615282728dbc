//! READY, STATUS and RESTARTS of a Pod, computed from the states of its containers.
//!
//! The rules are those of `printPod` (kubernetes `pkg/printers/internalversion/printers.go`).

use std::borrow::Cow;

use kubechurn_client::api::time::Timestamp;

use super::pod::{ContainerStatus, Spec, Status};

/// What three columns show of a Pod.
pub struct Summary<'p> {
    /// The number of ready containers, sidecars included.
    pub ready: i64,
    /// The number of containers, sidecars included.
    pub total: i64,
    /// The text of STATUS.
    pub word: Cow<'p, str>,
    /// The number of RESTARTS.
    pub restarts: i64,
    /// When the container that was restarted last had ended.
    pub last_restart: Option<Timestamp>,
}

/// The restarts of some of the containers.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, container: &ContainerStatus<'_>) {
        self.count = self.count.saturating_add(container.restart_count);
        if let Some(ended) = &container.last_state.terminated {
            self.last = self.last.max(Timestamp::parse_set(&ended.finished_at));
        }
    }
}

/// Computes the summary of a Pod from its containers. `is_deleting` says whether it has a `deletionTimestamp`.
pub(super) fn summarise<'p>(is_deleting: bool, spec: &Spec<'_>, status: &'p Status<'_>) -> Summary<'p> {
    let mut word = Cow::Borrowed(if status.reason.is_empty() { &*status.phase } else { &*status.reason });
    let gated = |kind: &str, reason: &str| kind == "PodScheduled" && reason == "SchedulingGated";
    if status.conditions.iter().any(|condition| gated(&condition.kind, &condition.reason)) {
        word = Cow::Borrowed("SchedulingGated");
    }

    let sidecars = spec.init_containers.iter().filter(|container| container.is_sidecar());
    let total = spec.containers.0.saturating_add(sidecars.count() as i64);
    let mut ready = 0;
    let (mut restarts, mut sidecar_restarts) = (Restarts::default(), Restarts::default());
    let mut initializing = false;
    for (index, container) in status.init_container_statuses.iter().enumerate() {
        let is_sidecar = spec.init_containers.iter().any(|init| init.name == container.name && init.is_sidecar());
        restarts.add(container);
        if is_sidecar {
            sidecar_restarts.add(container);
        }
        let state = &container.state;
        if state.terminated.as_ref().is_some_and(|ended| ended.exit_code == 0) {
            continue;
        }
        if is_sidecar && container.started {
            ready += i64::from(container.ready);
            continue;
        }
        // This is the init container that the Pod waits for. Those after it have not begun.
        word = Cow::Owned(match (&state.terminated, state.waiting_reason()) {
            (Some(ended), _) => format!("Init:{}", ended.word()),
            (None, Some(reason)) if reason != "PodInitializing" => format!("Init:{reason}"),
            _ => format!("Init:{index}/{}", spec.init_containers.len()),
        });
        initializing = true;
        break;
    }

    if !initializing || status.condition("Initialized") {
        restarts = sidecar_restarts;
        let mut running = false;
        // Backwards, so that the first container with a reason decides the word.
        for container in status.container_statuses.iter().rev() {
            restarts.add(container);
            if let Some(reason) = container.state.waiting_reason() {
                word = Cow::Borrowed(reason);
            } else if let Some(ended) = &container.state.terminated {
                word = ended.word();
            } else if container.ready && container.state.running.is_some() {
                running = true;
                ready += 1;
            }
        }
        // One container has completed while another is running.
        if word == "Completed" && running {
            word = Cow::Borrowed(if status.is_ready() { "Running" } else { "NotReady" });
        }
    }

    if is_deleting {
        if &*status.reason == "NodeLost" {
            word = Cow::Borrowed("Unknown");
        } else if !matches!(&*status.phase, "Failed" | "Succeeded") {
            word = Cow::Borrowed("Terminating");
        }
    }
    Summary { ready, total, word, restarts: restarts.count, last_restart: restarts.last }
}

#[cfg(test)]
mod tests {
    use crate::kinds::pods;
    use kubechurn_client::api::time::Timestamp;

    /// READY, STATUS, RESTARTS and READINESS GATES of the Pod with this `spec` and `status`, one minute past
    /// midnight. The Pod is being deleted if the case's `deleting` says so.
    fn printed(deleting: bool, spec: &str, status: &str) -> String {
        let deletion = if deleting { r#","deletionTimestamp":"2026-01-01T00:00:30Z""# } else { "" };
        let text = format!(r#"{{"metadata":{{"name":"p"{deletion}}},"spec":{spec},"status":{status}}}"#);
        let object = pods::decode(&text).unwrap();
        let now = Timestamp::parse("2026-01-01T00:01:00Z").unwrap();
        let mut out = String::new();
        for column in ["READY", "STATUS", "RESTARTS", "READINESS GATES"] {
            let at = pods::KIND.columns.iter().position(|found| found.title == column).unwrap();
            let cell = object.cells.get(at).unwrap();
            cell.write(now, &mut out);
            out.push(' ');
        }
        out.truncate(out.len() - 1);
        out
    }

    fn check(spec: &str, status: &str, expected: &str) {
        assert_eq!(printed(false, spec, status), expected, "{spec} {status}");
    }

    const ONE: &str = r#"{"containers":[{"name":"c"}]}"#;
    const TWO: &str = r#"{"containers":[{"name":"c"},{"name":"d"}]}"#;

    #[test]
    fn without_container_states_the_phase_speaks_or_the_reason_over_it() {
        check(ONE, r#"{"phase":"Pending"}"#, "0/1 Pending 0 <none>");
        check(ONE, r#"{"phase":"Failed","reason":"Evicted"}"#, "0/1 Evicted 0 <none>");
        check(ONE, r#"{"phase":"Failed","reason":"NodeAffinity"}"#, "0/1 NodeAffinity 0 <none>");
        check(ONE, "{}", "0/1  0 <none>");
        check(
            ONE,
            r#"{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}"#,
            "0/1 SchedulingGated 0 <none>",
        );
    }

    #[test]
    fn containers_that_ended_say_why() {
        let ended = |inner: &str| {
            format!(r#"{{"phase":"Running","containerStatuses":[{{"name":"c","state":{{"terminated":{inner}}}}}]}}"#)
        };
        check(ONE, &ended(r#"{"exitCode":137,"reason":"OOMKilled","signal":9}"#), "0/1 OOMKilled 0 <none>");
        check(ONE, &ended(r#"{"exitCode":137,"signal":9}"#), "0/1 Signal:9 0 <none>");
        check(ONE, &ended(r#"{"exitCode":1}"#), "0/1 ExitCode:1 0 <none>");
        check(ONE, &ended("{}"), "0/1 ExitCode:0 0 <none>");
        let completed = ended(r#"{"exitCode":0,"reason":"Completed"}"#).replace("Running", "Succeeded");
        check(ONE, &completed, "0/1 Completed 0 <none>");
        // The reason that the kubelet gives the whole Pod counts less than the reasons of containers.
        let evicted = ended(r#"{"exitCode":137,"reason":"Error"}"#).replacen('{', r#"{"reason":"Evicted","#, 1);
        check(ONE, &evicted, "0/1 Error 0 <none>");
    }

    #[test]
    fn gates_hold_a_pod_until_it_may_be_scheduled() {
        let waits = |kind: &str, reason: &str| {
            format!(r#"{{"phase":"Pending","conditions":[{{"type":"{kind}","status":"False","reason":"{reason}"}}]}}"#)
        };
        check(ONE, &waits("PodScheduled", "Unschedulable"), "0/1 Pending 0 <none>");
        check(ONE, &waits("Initialized", "SchedulingGated"), "0/1 Pending 0 <none>");
        let gated = waits("PodScheduled", "SchedulingGated");
        check(ONE, &gated.replacen('{', r#"{"reason":"Other","#, 1), "0/1 SchedulingGated 0 <none>");
        assert_eq!(printed(true, ONE, &gated), "0/1 Terminating 0 <none>");
    }

    #[test]
    fn the_first_container_with_something_to_say_has_the_last_word() {
        check(
            TWO,
            r#"{"phase":"Running","containerStatuses":[
                {"state":{"waiting":{"reason":"ImagePullBackOff"}}},{"state":{"waiting":{"reason":"ErrImagePull"}}}]}"#,
            "0/2 ImagePullBackOff 0 <none>",
        );
        check(
            TWO,
            r#"{"phase":"Running","containerStatuses":[
                {"ready":true,"state":{"running":{}}},{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}"#,
            "1/2 CrashLoopBackOff 0 <none>",
        );
        check(TWO, r#"{"phase":"Running","containerStatuses":[{"state":{"waiting":{}}}]}"#, "0/2 Running 0 <none>");
        // Ready, but neither running nor in any other state: not counted.
        check(ONE, r#"{"phase":"Running","containerStatuses":[{"ready":true,"state":{}}]}"#, "0/1 Running 0 <none>");
    }

    #[test]
    fn a_completed_container_beside_a_running_one_is_not_the_end() {
        let half = |ready: &str| {
            format!(
                r#"{{"phase":"Running","conditions":[{{"type":"Ready","status":"{ready}"}}],"containerStatuses":[
                {{"state":{{"terminated":{{"exitCode":0,"reason":"Completed"}}}}}},
                {{"ready":true,"state":{{"running":{{}}}}}}]}}"#
            )
        };
        check(TWO, &half("True"), "1/2 Running 0 <none>");
        check(TWO, &half("False"), "1/2 NotReady 0 <none>");
    }

    #[test]
    fn deletion_shows_unless_the_pod_has_ended_or_its_node_is_lost() {
        assert_eq!(printed(true, ONE, r#"{"phase":"Running"}"#), "0/1 Terminating 0 <none>");
        assert_eq!(printed(true, ONE, r#"{"phase":"Pending"}"#), "0/1 Terminating 0 <none>");
        assert_eq!(printed(true, ONE, r#"{"phase":"Running","reason":"NodeLost"}"#), "0/1 Unknown 0 <none>");
        assert_eq!(printed(true, ONE, r#"{"phase":"Failed","reason":"Evicted"}"#), "0/1 Evicted 0 <none>");
        assert_eq!(printed(true, ONE, r#"{"phase":"Succeeded"}"#), "0/1 Succeeded 0 <none>");
        assert_eq!(printed(true, ONE, r#"{"phase":"Failed","reason":"NodeLost"}"#), "0/1 Unknown 0 <none>");
        check(ONE, r#"{"phase":"Running","reason":"NodeLost"}"#, "0/1 NodeLost 0 <none>");
    }

    #[test]
    fn init_containers_hold_the_pod_until_they_are_done() {
        let spec = r#"{"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"c"}]}"#;
        let init = |states: &str| format!(r#"{{"phase":"Pending","initContainerStatuses":[{states}]}}"#);
        let done = r#"{"name":"i","restartCount":1,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}"#;
        check(spec, &init(r#"{"name":"i","state":{"running":{}}}"#), "0/1 Init:0/2 0 <none>");
        check(spec, &init(&format!(r#"{done},{{"name":"j","state":{{}}}}"#)), "0/1 Init:1/2 1 <none>");
        check(spec, &init(&format!("{done},{done}")), "0/1 Pending 0 <none>");
        check(
            spec,
            &init(r#"{"name":"i","state":{"waiting":{"reason":"CrashLoopBackOff"}}}"#),
            "0/1 Init:CrashLoopBackOff 0 <none>",
        );
        check(spec, &init(r#"{"name":"i","state":{"waiting":{"reason":"PodInitializing"}}}"#), "0/1 Init:0/2 0 <none>");
        check(
            spec,
            &init(r#"{"name":"i","state":{"terminated":{"exitCode":9,"signal":9}}}"#),
            "0/1 Init:Signal:9 0 <none>",
        );
        check(spec, &init(r#"{"name":"i","state":{"terminated":{"exitCode":2}}}"#), "0/1 Init:ExitCode:2 0 <none>");
        check(
            spec,
            &init(r#"{"name":"i","state":{"terminated":{"exitCode":2,"reason":"Error"}}}"#),
            "0/1 Init:Error 0 <none>",
        );
        // An init container runs again in a Pod that is initialized: the containers decide the word.
        check(
            spec,
            r#"{"phase":"Running","conditions":[{"type":"Initialized","status":"True"}],
                "initContainerStatuses":[{"name":"i","restartCount":5,"state":{"running":{}}}],
                "containerStatuses":[{"restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}"#,
            "0/1 CrashLoopBackOff 2 <none>",
        );
    }

    #[test]
    fn sidecars_count_as_containers_once_started() {
        let spec = r#"{"initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"}],
            "containers":[{"name":"c"}]}"#;
        let status = |sidecar: &str, rest: &str| {
            format!(r#"{{"phase":"Running","initContainerStatuses":[{{"name":"s",{sidecar}}}]{rest}}}"#)
        };
        let running = r#","containerStatuses":[{"restartCount":1,"ready":true,"state":{"running":{}}}]"#;
        check(spec, &status(r#""started":true,"ready":true,"restartCount":2"#, running), "2/2 Running 3 <none>");
        check(spec, &status(r#""started":true,"ready":false"#, running), "1/2 Running 1 <none>");
        check(spec, &status(r#""started":false,"ready":true"#, ""), "0/2 Init:0/2 0 <none>");
        check(spec, &status(r#""started":null,"ready":true"#, ""), "0/2 Init:0/2 0 <none>");
        let failed = r#""restartCount":2,"state":{"terminated":{"exitCode":3}}"#;
        check(spec, &status(failed, ""), "0/2 Init:ExitCode:3 2 <none>");
        // Started once and failing since: the Pod does not wait for the sidecar, and the sidecar is not ready.
        check(spec, &status(&format!(r#""started":true,{failed}"#), running), "1/2 Running 3 <none>");
        // A sidecar that ended well is skipped, like any init container.
        check(spec, &status(r#""state":{"terminated":{"exitCode":0}}"#, running), "1/2 Running 1 <none>");
    }

    #[test]
    fn restarts_name_the_latest_of_the_ends_that_count() {
        let last =
            |at: &str| format!(r#""lastState":{{"terminated":{{"exitCode":1,"finishedAt":"2026-01-01T{at}Z"}}}}"#);
        let (early, late) = (last("00:00:10"), last("00:00:55"));
        let status = format!(
            r#"{{"phase":"Running","initContainerStatuses":[{{"name":"i","restartCount":4,{late},
                "state":{{"terminated":{{"exitCode":0}}}}}}],
                "containerStatuses":[{{"restartCount":3,{early},"state":{{"running":{{}}}}}}]}}"#
        );
        let plain = r#"{"initContainers":[{"name":"i"}],"containers":[{}]}"#;
        let sidecar = r#"{"initContainers":[{"name":"i","restartPolicy":"Always"}],"containers":[{}]}"#;
        check(plain, &status, "0/1 Running 3 (50s ago) <none>");
        check(sidecar, &status, "0/2 Running 7 (5s ago) <none>");
        let none = format!(r#"{{"phase":"Running","containerStatuses":[{{"restartCount":0,{late}}}]}}"#);
        check(ONE, &none, "0/1 Running 0 <none>");
        let unknown = r#"{"phase":"Running","containerStatuses":[
            {"restartCount":2,"lastState":{"terminated":{"finishedAt":null}}}]}"#;
        check(ONE, unknown, "0/1 Running 2 <none>");
    }

    #[test]
    fn readiness_gates_count_the_conditions_that_are_true() {
        let spec = r#"{"containers":[{}],"readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]}"#;
        check(spec, r#"{"phase":"Pending"}"#, "0/1 Pending 0 0/2");
        check(
            spec,
            r#"{"phase":"Pending","conditions":[{"type":"a","status":"True"},{"type":"b","status":"False"},
                {"type":"b","status":"True"}]}"#,
            "0/1 Pending 0 1/2",
        );
    }
}
