//! The containers of a Pod, each with its state: init containers, sidecars, the Pod's own ones, and ephemeral ones.

use serde_json::Value;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::time::Timestamp;

use crate::inspector::diff::cut;
use kubechurn_columns::state;

/// The most containers that are shown.
pub const MOST: usize = 100;
/// The length limit of a text, in bytes.
const LONGEST: usize = 2_000;

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// Why, such as `OOMKilled`; empty where nothing says it.
    pub reason: String,
    /// `exit code 137`, or `signal 9` where the runtime names a signal.
    pub code: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// One container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// `init`, `sidecar`, `app` or `ephemeral`.
    pub kind: &'static str,
    /// Its state in a word, such as `Running` or `CrashLoopBackOff`, and how alarming that is.
    pub state: (String, Tone),
    /// How it ended, if it has.
    pub code: String,
    /// When the state began, where the Pod says so.
    pub since: Option<Timestamp>,
    /// How often it was restarted.
    pub restarts: i64,
    /// Its image, as it was asked for.
    pub image: String,
    /// How it ended before its last restart.
    pub last: Option<Ended>,
    /// The message of its state, or else of its last end.
    pub message: String,
}

/// The containers in the order in which they start, and how many more there are. What cannot be read of one is left out of it.
pub fn containers(pod: &Value) -> (Vec<Container>, usize) {
    let list = |part: &str, name: &str| {
        pod.get(part).and_then(|part| part.get(name)).and_then(Value::as_array).map_or(&[][..], |list| list)
    };
    let lists = [
        ("init", list("spec", "initContainers"), list("status", "initContainerStatuses")),
        ("app", list("spec", "containers"), list("status", "containerStatuses")),
        ("ephemeral", list("spec", "ephemeralContainers"), list("status", "ephemeralContainerStatuses")),
    ];
    let mut all = Vec::new();
    for (kind, specs, statuses) in lists {
        let name = |one: &Value| text(one, "name");
        let of = |spec: &Value| statuses.iter().find(|status| !name(spec).is_empty() && name(status) == name(spec));
        all.extend(specs.iter().filter(|spec| spec.is_object()).map(|spec| container(kind, spec, of(spec))));
        // A status without its container is shown too.
        let is_alone = |status: &&Value| status.is_object() && !specs.iter().any(|spec| name(spec) == name(status));
        all.extend(statuses.iter().filter(is_alone).map(|status| container(kind, &Value::Null, Some(status))));
    }
    let more = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    (all, more)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).map(|text| cut(text, LONGEST)).unwrap_or_default()
}

fn container(kind: &'static str, spec: &Value, status: Option<&Value>) -> Container {
    let is_sidecar = kind == "init" && text(spec, "restartPolicy") == "Always";
    let kind = if is_sidecar { "sidecar" } else { kind };
    let status = status.unwrap_or(&Value::Null);
    let either =
        |name: &str| Some(text(spec, name)).filter(|text| !text.is_empty()).unwrap_or_else(|| text(status, name));
    let state =
        |state: &str, name: &str| status.get(state).and_then(|state| state.get(name)).filter(|state| state.is_object());
    let last = state("lastState", "terminated").map(ended);
    let mut shown = Container {
        name: either("name"),
        kind,
        state: (String::from("no state yet"), Tone::Plain),
        restarts: status.get("restartCount").and_then(Value::as_i64).unwrap_or(0),
        image: either("image"),
        last,
        ..Container::default()
    };
    let mut message = String::new();
    if let Some(waiting) = state("state", "waiting") {
        let word = Some(text(waiting, "reason")).filter(|word| !word.is_empty());
        let tone = word.as_deref().map_or(Tone::Wait, state::pod);
        shown.state = (word.unwrap_or_else(|| String::from("Waiting")), tone);
        message = text(waiting, "message");
    } else if let Some(terminated) = state("state", "terminated") {
        let Ended { reason, code, at } = ended(terminated);
        let is_well = terminated.get("exitCode").and_then(Value::as_i64) == Some(0);
        let word = if reason.is_empty() { String::from("Terminated") } else { reason };
        let tone = if is_well { Tone::Plain } else { Tone::Bad };
        (shown.state, shown.code, shown.since) = ((word, tone), code, at);
        message = text(terminated, "message");
    } else if let Some(running) = state("state", "running") {
        let is_ready = status.get("ready").and_then(Value::as_bool) == Some(true);
        // Nothing waits for an init container or an ephemeral one to be ready.
        let is_well = is_ready || !matches!(kind, "app" | "sidecar");
        shown.state = match is_well {
            true => (String::from("Running"), Tone::Good),
            false => (String::from("Running, not ready"), Tone::Wait),
        };
        shown.since = Timestamp::parse_set(&text(running, "startedAt"));
    }
    if message.is_empty() {
        message = state("lastState", "terminated").map(|last| text(last, "message")).unwrap_or_default();
    }
    Container { message, ..shown }
}

/// How a container ended, from its state `terminated`.
pub fn ended(terminated: &Value) -> Ended {
    let number = |name: &str| terminated.get(name).and_then(Value::as_i64);
    let code = match (number("signal").filter(|signal| *signal != 0), number("exitCode")) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => String::new(),
    };
    Ended { reason: text(terminated, "reason"), code, at: Timestamp::parse_set(&text(terminated, "finishedAt")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: u32) -> Option<Timestamp> {
        Timestamp::parse(&format!("2026-11-25T10:00:{second:02}Z"))
    }

    #[test]
    fn each_container_says_what_it_is_and_how_it_is() {
        let pod = json!({
            "spec": {
                "initContainers": [{"name": "migrate", "image": "db:1"}, {"name": "proxy", "image": "envoy:1", "restartPolicy": "Always"}],
                "containers": [{"name": "web", "image": "web:2"}, {"name": "log", "image": "log:1"}, {"name": "new"}],
                "ephemeralContainers": [{"name": "debug", "image": "busybox"}],
            },
            "status": {
                "initContainerStatuses": [
                    {"name": "proxy", "ready": true, "state": {"running": {"startedAt": "2026-11-25T10:00:02Z"}}},
                    {"name": "migrate", "state": {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": "2026-11-25T10:00:01Z"}}}],
                "containerStatuses": [
                    {"name": "web", "image": "registry/web@sha256:1", "restartCount": 4,
                     "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}},
                     "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-25T10:00:09Z", "message": "m"}}},
                    {"name": "log", "state": {"running": {"startedAt": "2026-11-25T10:00:03Z"}},
                     "lastState": {"terminated": {"signal": 9, "exitCode": 0, "reason": "Error", "message": "killed"}}}],
                "ephemeralContainerStatuses": [{"name": "debug", "state": {"running": {}}}],
            },
        });
        let (shown, more) = containers(&pod);
        let states: Vec<_> = shown.iter().map(|one| (&*one.name, one.kind, &*one.state.0, one.state.1)).collect();
        assert_eq!(
            states,
            [
                ("migrate", "init", "Completed", Tone::Plain),
                ("proxy", "sidecar", "Running", Tone::Good),
                ("web", "app", "CrashLoopBackOff", Tone::Bad),
                ("log", "app", "Running, not ready", Tone::Wait),
                ("new", "app", "no state yet", Tone::Plain),
                ("debug", "ephemeral", "Running", Tone::Good),
            ]
        );
        assert_eq!(more, 0);
        assert_eq!((&*shown[0].code, shown[0].since), ("exit code 0", at(1)));
        let web = &shown[2];
        assert_eq!(
            (&*web.image, web.restarts, &*web.message),
            ("web:2", 4, "back-off 40s restarting failed container")
        );
        assert_eq!(web.last, Some(Ended { reason: "OOMKilled".into(), code: "exit code 137".into(), at: at(9) }));
        let log = &shown[3];
        assert_eq!((log.since, &*log.message), (at(3), "killed"));
        assert_eq!(log.last.as_ref().map(|last| &*last.code), Some("signal 9"));
    }

    #[test]
    fn what_cannot_be_read_costs_nothing_of_the_rest() {
        for odd in [
            json!(null),
            json!([]),
            json!({"spec": 7, "status": {"containerStatuses": "x"}}),
            json!({"spec": {"containers": {}}}),
        ] {
            assert_eq!(containers(&odd), (Vec::new(), 0));
        }
        let pod = json!({
            "spec": {"containers": [7, {"name": "a", "image": 5}, {"name": 3}, {"name": "b", "image": "b:1"}]},
            "status": {"containerStatuses": [null, {"name": "a", "restartCount": "many", "state": {"waiting": [], "running": {"startedAt": 9}}, "lastState": 4},
                {"name": "b", "state": 7, "lastState": {"terminated": {"exitCode": "x"}}}, {"name": "gone", "state": {"terminated": {"exitCode": 2}}}]},
        });
        let (shown, _) = containers(&pod);
        let found: Vec<_> = shown.iter().map(|one| (&*one.name, &*one.image, &*one.state.0, &*one.code)).collect();
        let expected = [
            ("a", "", "Running, not ready", ""),
            ("", "", "no state yet", ""),
            ("b", "b:1", "no state yet", ""),
            ("gone", "", "Terminated", "exit code 2"),
        ];
        assert_eq!(found, expected);
        let many: Vec<Value> =
            (0..1_000).map(|at| json!({"name": format!("c{at}"), "image": "x".repeat(10_000)})).collect();
        let (shown, more) = containers(&json!({"spec": {"containers": many}}));
        assert_eq!((shown.len(), more), (MOST, 1_000 - MOST));
        assert!(shown.iter().all(|one| one.image.len() < 2 * LONGEST));
    }

    #[test]
    fn a_state_is_as_alarming_as_in_the_table() {
        for (state, expected) in [
            (json!({"waiting": {"reason": "ContainerCreating"}}), ("ContainerCreating", Tone::Wait)),
            (json!({"waiting": {}}), ("Waiting", Tone::Wait)),
            (json!({"waiting": {"reason": "ErrImagePull"}}), ("ErrImagePull", Tone::Bad)),
            (json!({"terminated": {"exitCode": 1, "reason": "Error"}}), ("Error", Tone::Bad)),
            (json!({"terminated": {"exitCode": 0}}), ("Terminated", Tone::Plain)),
        ] {
            let pod = json!({"spec": {"containers": [{"name": "a"}]}, "status": {"containerStatuses": [{"name": "a", "state": state}]}});
            let (shown, _) = containers(&pod);
            assert_eq!((&*shown[0].state.0, shown[0].state.1), expected);
        }
    }
}
