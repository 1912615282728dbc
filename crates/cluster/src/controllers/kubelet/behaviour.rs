//! What a fake container does: a pure function of its image's tag, its command and its Pod's annotations.
//!
//! - A tag that contains `typo`, `nosuch` or `missing` cannot be pulled.
//! - The commands `sleep`, `true`, `false`, `echo` and `exit` are understood, alone or in a shell script such as
//!   `sh -c 'sleep 5; exit 3'`. Any other command runs forever, except that Pods of Jobs and init containers
//!   succeed after some seconds.
//! - A readiness probe whose path has such a word in it always fails.
//! - The annotations below apply to the first container of a Pod.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::super::duration;
use super::super::object;
use super::super::pace::Pace;
use crate::random::Random;

/// The container ends after this time, such as `30s`.
pub const RUN_FOR: &str = "demo.kubechurn.dev/run-for";
/// The exit code of a container that ends; 0 if absent.
pub const EXIT_CODE: &str = "demo.kubechurn.dev/exit-code";
/// The container exceeds its memory after this time, and is killed with 137, `OOMKilled`.
pub const OOM_AFTER: &str = "demo.kubechurn.dev/oom-after";
/// The readiness probe fails: always, or in alternation with succeeding, each for this time.
pub const FAIL_READY: &str = "demo.kubechurn.dev/fail-ready";
/// The liveness probe fails after this time, so that the container is restarted.
pub const FAIL_LIVE: &str = "demo.kubechurn.dev/fail-live";
/// The container fails at its start, with 1, unless this variable, which its Pod takes from a ConfigMap, is a number.
pub const WANTS_NUMBER: &str = "demo.kubechurn.dev/wants-number";
/// The common prefix of these annotations.
pub const PREFIX: &str = "demo.kubechurn.dev/";

/// Words in the tags of images that no registry has.
const MISTAKES: [&str; 3] = ["typo", "nosuch", "missing"];

/// What a container does.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// How the container ends by itself; `None` if it runs until it is stopped.
    pub end: Option<End>,
    /// The result of its readiness probe.
    pub readiness: Readiness,
    /// After what time its liveness probe fails.
    pub fail_live: Option<Duration>,
    /// Whether its image can be pulled.
    pub has_image: bool,
    /// Its exit code when it is asked to stop.
    pub stop_code: i64,
}

/// How soon a container fails at its start, in seconds.
const AT_ITS_START: f64 = 0.3;

/// How a container of this role ends that cannot start with these settings of its Pod, which are given by name; `None` if it can.
pub fn refuses(pod: &Value, role: Role, settings: &BTreeMap<String, String>, pace: f64) -> Option<End> {
    let wanted = object::annotation(pod, WANTS_NUMBER).filter(|_| role == Role::First)?;
    let is_number = settings.get(wanted).is_some_and(|value| value.parse::<f64>().is_ok());
    (!is_number).then(|| End { after: Pace::seconds(pace, AT_ITS_START), code: 1, is_oom: false })
}

/// How a container ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// The time from its start to its end.
    pub after: Duration,
    /// Its exit code.
    pub code: i64,
    /// Whether the kernel killed it for exceeding its memory.
    pub is_oom: bool,
}

/// The result of a readiness probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Readiness {
    /// The probe always succeeds.
    Fine,
    /// The probe always fails.
    Never,
    /// The probe alternates between failing and succeeding, each for this time.
    Flaps(Duration),
}

/// The role of a container in its Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An init container, which ends before the next container starts.
    Init,
    /// A sidecar, which starts before the next container and runs as long as the main containers.
    Sidecar,
    /// The first main container.
    First,
    /// Another main container.
    Other,
}

impl Behaviour {
    /// What a container of a Pod does. Times are scaled by `pace`; random choices follow from `seed`.
    pub fn of(pod: &Value, container: &Value, role: Role, pace: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let by_chance = |random: &mut Random, low: usize, high: usize| random.between(low, high) as f64 / 1000.0;
        let end = |seconds: f64, code: i64| End { after: Pace::seconds(pace, seconds), code, is_oom: false };
        let image = object::text(container, "/image");
        let words = |field: &str| container[field].as_array().into_iter().flatten().filter_map(Value::as_str);
        let argv: Vec<&str> = words("command").chain(words("args")).collect();
        let asked = command(&argv);
        let is_job = object::controller_of(pod).is_some_and(|owner| owner["kind"] == "Job");
        let by_itself = match asked {
            Some(Command::Ends(seconds, code)) => Some(end(seconds, code)),
            Some(Command::Runs) => None,
            None if role == Role::Init => Some(end(by_chance(&mut random, 500, 3000), 0)),
            None if is_job && role != Role::Sidecar => Some(end(by_chance(&mut random, 3000, 12_000), 0)),
            None => None,
        };
        let is_asleep = matches!(asked, Some(Command::Runs | Command::Ends(..)));
        let mut behaviour = Self {
            end: by_itself,
            readiness: match has_mistake(object::text(container, "/readinessProbe/httpGet/path")) {
                true => Readiness::Never,
                false => Readiness::Fine,
            },
            fail_live: None,
            has_image: has_image(image),
            // A shell that is sleeping does not handle SIGTERM.
            stop_code: if is_asleep { 143 } else { 0 },
        };
        if role != Role::First {
            return behaviour;
        }
        let annotation = |name: &str| object::annotation(pod, name);
        let time = |name: &str| annotation(name).and_then(seconds);
        let code = annotation(EXIT_CODE).and_then(|code| code.parse().ok());
        if let Some(seconds) = time(RUN_FOR) {
            behaviour.end = Some(end(seconds, 0));
        }
        if let (Some(code), Some(end)) = (code, &mut behaviour.end) {
            end.code = code;
        }
        if let Some(seconds) = time(OOM_AFTER) {
            behaviour.end = Some(End { code: 137, is_oom: true, ..end(seconds, 0) });
        }
        behaviour.readiness = match (annotation(FAIL_READY), time(FAIL_READY)) {
            (None | Some("false"), _) => behaviour.readiness,
            (_, Some(seconds)) if seconds > 0.0 => Readiness::Flaps(Pace::seconds(pace, seconds)),
            _ => Readiness::Never,
        };
        behaviour.fail_live = time(FAIL_LIVE).map(|seconds| Pace::seconds(pace, seconds));
        behaviour
    }
}

/// Whether an image can be pulled.
fn has_image(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.split_once(':').map(|(_, tag)| tag).unwrap_or_default();
    !has_mistake(tag)
}

fn has_mistake(text: &str) -> bool {
    MISTAKES.iter().any(|mistake| text.contains(mistake))
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Command {
    /// The command ends after this many seconds, with this exit code.
    Ends(f64, i64),
    /// The command runs forever.
    Runs,
}

/// What a command does, if it is understood.
fn command(argv: &[&str]) -> Option<Command> {
    let program = argv.first()?.rsplit('/').next().unwrap_or_default();
    let script = argv.iter().position(|word| *word == "-c" || *word == "-ec").and_then(|at| argv.get(at + 1));
    match (program, script) {
        ("sh" | "bash" | "ash" | "dash", Some(script)) => Some(shell(script)),
        ("sh" | "bash" | "ash" | "dash", None) => Some(Command::Ends(0.0, 0)),
        _ => statement(argv),
    }
}

/// What a script does, statement by statement.
fn shell(script: &str) -> Command {
    let (mut took, mut code) = (0.0, 0);
    for one in script.replace("&&", ";").split([';', '\n']) {
        let words: Vec<&str> = one.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["exit", rest @ ..] => {
                return Command::Ends(took, rest.first().and_then(|code| code.parse().ok()).unwrap_or(code));
            }
            words => match statement(words) {
                Some(Command::Ends(seconds, result)) => (took, code) = (took + seconds, result),
                _ => return Command::Runs,
            },
        }
    }
    Command::Ends(took, code)
}

fn statement(words: &[&str]) -> Option<Command> {
    match words.first()?.rsplit('/').next().unwrap_or_default() {
        "sleep" => {
            let all: Option<Vec<f64>> = words[1..].iter().map(|word| seconds(word)).collect();
            // `infinity`, and anything that is not a time, runs forever.
            Some(all.map_or(Command::Runs, |all| Command::Ends(all.iter().sum(), 0)))
        }
        "true" | "echo" | "date" | "ls" | "printf" | "env" | "set" | "hostname" | ":" => Some(Command::Ends(0.0, 0)),
        "false" => Some(Command::Ends(0.0, 1)),
        _ => None,
    }
}

/// A time such as `90`, `1.5s`, `2m`, `1h30m`, `500ms` or `1d`, in seconds: what Go or `sleep` understands.
pub fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = text.strip_suffix('d').map_or((text, 1.0), |days| (days, 86_400.0));
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return number.parse::<f64>().ok().map(|number| number * unit).filter(|seconds| *seconds <= 1e9);
    }
    duration::parse(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_end(argv: Value, expected: Option<(f64, i64)>) {
        let container = json!({"image": "busybox", "command": argv});
        let end = Behaviour::of(&json!({}), &container, Role::First, 1.0, 1).end;
        assert_eq!(end.map(|end| (end.after.as_secs_f64(), end.code)), expected, "{container}");
    }

    #[test]
    fn commands() {
        check_end(json!([]), None);
        check_end(json!(["nginx", "-g", "daemon off;"]), None);
        check_end(json!(["sleep", "30"]), Some((30.0, 0)));
        check_end(json!(["/bin/sleep", "1m", "30s"]), Some((90.0, 0)));
        check_end(json!(["sleep", "infinity"]), None);
        check_end(json!(["/bin/false"]), Some((0.0, 1)));
        check_end(json!(["/bin/sh", "-c", "echo hello world; sleep 5 && exit 3"]), Some((5.0, 3)));
        check_end(json!(["sh", "-c", "sleep 1\nfalse"]), Some((1.0, 1)));
        check_end(json!(["sh", "-c", "while true; do date; done"]), None);
        check_end(json!(["sh", "-c", "exit 1"]), Some((0.0, 1)));
    }

    fn check(annotations: Value, role: Role) -> Behaviour {
        let pod = json!({"metadata": {"annotations": annotations}});
        Behaviour::of(&pod, &json!({"image": "nginx:1"}), role, 0.5, 1)
    }

    #[test]
    fn annotations_are_about_the_first_container() {
        let run = check(json!({RUN_FOR: "1m", EXIT_CODE: "3"}), Role::First);
        assert_eq!(run.end, Some(End { after: Duration::from_secs(30), code: 3, is_oom: false }));
        assert_eq!(check(json!({RUN_FOR: "1m"}), Role::Other).end, None);
        let oom = check(json!({OOM_AFTER: "20"}), Role::First).end;
        assert_eq!(oom, Some(End { after: Duration::from_secs(10), code: 137, is_oom: true }));
        let readiness = |words: &str| check(json!({FAIL_READY: words}), Role::First).readiness;
        assert_eq!(readiness("always"), Readiness::Never);
        assert_eq!(readiness("10s"), Readiness::Flaps(Duration::from_secs(5)));
        assert_eq!(readiness("false"), Readiness::Fine);
        assert_eq!(check(json!({FAIL_LIVE: "10s"}), Role::First).fail_live, Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_setting_that_is_no_number_is_refused_where_one_is_wanted() {
        let pod = |name: &str| json!({"metadata": {"annotations": {name: "SIZE"}}});
        let code = |pod: &Value, role: Role, value: &str| {
            let settings = BTreeMap::from([("SIZE".to_owned(), value.to_owned())]);
            refuses(pod, role, &settings, 1.0).map(|end| end.code)
        };
        let wants = pod(WANTS_NUMBER);
        assert_eq!(code(&wants, Role::First, "256"), None);
        assert_eq!(code(&wants, Role::First, "256MB"), Some(1));
        assert_eq!(refuses(&wants, Role::First, &BTreeMap::new(), 1.0).map(|end| end.code), Some(1));
        assert_eq!(code(&wants, Role::Other, "256MB"), None);
        assert_eq!(code(&pod("other"), Role::First, "256MB"), None);
    }

    #[test]
    fn images_jobs_and_times() {
        for (image, expected) in [
            ("nginx", true),
            ("nginx:1.27", true),
            ("nginx:typo", false),
            ("registry.example:5000/a/b:1-nosuch", false),
            ("registry.missing:5000/a/b", true),
        ] {
            assert_eq!(has_image(image), expected, "{image}");
        }
        let pod = json!({"metadata": {"ownerReferences": [{"kind": "Job", "controller": true}]}});
        let end = Behaviour::of(&pod, &json!({"image": "perl", "command": ["perl"]}), Role::First, 1.0, 7).end;
        assert!(end.is_some_and(|end| end.code == 0 && (3..=12).contains(&end.after.as_secs())), "{end:?}");
        for (text, expected) in [
            ("90", Some(90.0)),
            (".5", Some(0.5)),
            ("2d", Some(172_800.0)),
            ("1h30m", Some(5400.0)),
            ("500ms", Some(0.5)),
            ("soon", None),
            ("infinity", None),
            ("1e9", None),
            (".", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(seconds(""), None);
    }
}
