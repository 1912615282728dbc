//! What a fake container does, which its Pod tells: by its image's tag, its command and annotations. Pure.
//!
//! - A tag with `typo`, `nosuch` or `missing` in it cannot be pulled.
//! - `sleep`, `true`, `false`, `echo` and `exit` are understood, alone or in a shell's script, as in
//!   `sh -c 'sleep 5; exit 3'`. Whatever else a command says runs for ever, but for the Pods of Jobs, which succeed after
//!   some seconds, and for init containers.
//! - The annotations below are about a Pod's first container.

use std::time::Duration;

use serde_json::Value;

use super::super::object;
use super::super::pace::Pace;
use crate::random::Random;

/// The container ends after so long, such as `30s`.
pub const RUN_FOR: &str = "demo.kubechurn.dev/run-for";
/// The code with which it ends; 0 if absent.
pub const EXIT_CODE: &str = "demo.kubechurn.dev/exit-code";
/// The container needs too much memory after so long, and is killed with 137, `OOMKilled`.
pub const OOM_AFTER: &str = "demo.kubechurn.dev/oom-after";
/// The readiness probe fails: always, or for so long, and then succeeds for so long, and again.
pub const FAIL_READY: &str = "demo.kubechurn.dev/fail-ready";
/// The liveness probe fails after so long, so that the container is restarted.
pub const FAIL_LIVE: &str = "demo.kubechurn.dev/fail-live";
/// What all of them begin with.
pub const PREFIX: &str = "demo.kubechurn.dev/";

/// What is in an image's tag that no registry has.
const MISTAKES: [&str; 3] = ["typo", "nosuch", "missing"];

/// What a container does.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// How it ends by itself; `None` if it runs until it is stopped.
    pub end: Option<End>,
    /// How its readiness probe fares.
    pub readiness: Readiness,
    /// After how long its liveness probe fails.
    pub fail_live: Option<Duration>,
    /// Whether there is such an image.
    pub has_image: bool,
    /// The code with which it ends when it is told to stop.
    pub stop_code: i64,
}

/// How a container ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// When, after its start.
    pub after: Duration,
    /// Its exit code.
    pub code: i64,
    /// Whether the kernel killed it for its memory.
    pub is_oom: bool,
}

/// How a readiness probe fares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Readiness {
    /// It succeeds.
    Fine,
    /// It always fails.
    Never,
    /// It fails and succeeds in turns of so long.
    Flaps(Duration),
}

/// Which of a Pod's containers one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It runs to its end before those after it.
    Init,
    /// It starts before those after it, and runs as long as they do.
    Sidecar,
    /// The first of the containers proper.
    First,
    /// Another one of them.
    Other,
}

impl Behaviour {
    /// What a container of a Pod does. Times are scaled; what is left to chance follows from `seed`.
    pub fn of(pod: &Value, container: &Value, role: Role, pace: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let by_chance = |random: &mut Random, low: usize, high: usize| random.between(low, high) as f64 / 1000.0;
        let end = |seconds: f64, code: i64| End { after: Pace::seconds(pace, seconds), code, is_oom: false };
        let image = object::text(container, "/image");
        let words = |field: &str| container[field].as_array().into_iter().flatten().filter_map(Value::as_str);
        let argv: Vec<&str> = words("command").chain(words("args")).collect();
        let told = command(&argv);
        let is_job = object::controller_of(pod).is_some_and(|owner| owner["kind"] == "Job");
        let by_itself = match told {
            Some(Told::Ends(seconds, code)) => Some(end(seconds, code)),
            Some(Told::Runs) => None,
            None if role == Role::Init => Some(end(by_chance(&mut random, 500, 3000), 0)),
            None if is_job && role != Role::Sidecar => Some(end(by_chance(&mut random, 3000, 12_000), 0)),
            None => None,
        };
        let is_asleep = matches!(told, Some(Told::Runs | Told::Ends(..)));
        let mut behaviour = Self {
            end: by_itself,
            readiness: Readiness::Fine,
            fail_live: None,
            has_image: has_image(image),
            // A shell that sleeps does not care to end well.
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
            (None | Some("false"), _) => Readiness::Fine,
            (_, Some(seconds)) if seconds > 0.0 => Readiness::Flaps(Pace::seconds(pace, seconds)),
            _ => Readiness::Never,
        };
        behaviour.fail_live = time(FAIL_LIVE).map(|seconds| Pace::seconds(pace, seconds));
        behaviour
    }
}

/// Whether a registry has an image.
fn has_image(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.split_once(':').map(|(_, tag)| tag).unwrap_or_default();
    !MISTAKES.iter().any(|mistake| tag.contains(mistake))
}

/// What a command tells.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    /// It ends after so many seconds, with this code.
    Ends(f64, i64),
    /// It runs for ever.
    Runs,
}

/// What a command does, if it is one that is understood.
fn command(argv: &[&str]) -> Option<Told> {
    let program = argv.first()?.rsplit('/').next().unwrap_or_default();
    let script = argv.iter().position(|word| *word == "-c" || *word == "-ec").and_then(|at| argv.get(at + 1));
    match (program, script) {
        ("sh" | "bash" | "ash" | "dash", Some(script)) => Some(shell(script)),
        ("sh" | "bash" | "ash" | "dash", None) => Some(Told::Ends(0.0, 0)),
        _ => statement(argv),
    }
}

/// What a script does, statement by statement.
fn shell(script: &str) -> Told {
    let (mut took, mut code) = (0.0, 0);
    for one in script.replace("&&", ";").split([';', '\n']) {
        let words: Vec<&str> = one.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["exit", rest @ ..] => {
                return Told::Ends(took, rest.first().and_then(|code| code.parse().ok()).unwrap_or(code));
            }
            words => match statement(words) {
                Some(Told::Ends(seconds, result)) => (took, code) = (took + seconds, result),
                _ => return Told::Runs,
            },
        }
    }
    Told::Ends(took, code)
}

fn statement(words: &[&str]) -> Option<Told> {
    match words.first()?.rsplit('/').next().unwrap_or_default() {
        "sleep" => {
            let all: Option<Vec<f64>> = words[1..].iter().map(|word| seconds(word)).collect();
            // Of `infinity`, and of what is no time, nobody sees the end.
            Some(all.map_or(Told::Runs, |all| Told::Ends(all.iter().sum(), 0)))
        }
        "true" | "echo" | "date" | "ls" | "printf" | "env" | "set" | "hostname" | ":" => Some(Told::Ends(0.0, 0)),
        "false" => Some(Told::Ends(0.0, 1)),
        _ => None,
    }
}

/// A time such as `90`, `1.5s`, `2m`, `1h30m` or `500ms`, in seconds.
pub fn seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let factor = match unit {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    (!text.is_empty() && total <= 1e9).then_some(total)
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
        let readiness = |told: &str| check(json!({FAIL_READY: told}), Role::First).readiness;
        assert_eq!(readiness("always"), Readiness::Never);
        assert_eq!(readiness("10s"), Readiness::Flaps(Duration::from_secs(5)));
        assert_eq!(readiness("false"), Readiness::Fine);
        assert_eq!(check(json!({FAIL_LIVE: "10s"}), Role::First).fail_live, Some(Duration::from_secs(5)));
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
        for (text, expected) in [("90", Some(90.0)), ("1h30m", Some(5400.0)), ("500ms", Some(0.5)), ("soon", None)] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(seconds(""), None);
    }
}
