//! The lines of a log, made up: a pure function of what a container does. The same run has the same lines, whenever it is read.

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::record::time::Time;
use serde_json::Value;

use crate::random::Random;

/// Nanoseconds in a second.
pub const SECOND: i64 = 1_000_000_000;
const MILLISECOND: i64 = 1_000_000;
/// How many lines the first container of a Pod writes in a second.
pub const RATE: &str = "demo.kubechurn.dev/log-rate";
/// The variable that must be a number, of a Pod that fails without.
const WANTS_NUMBER: &str = "demo.kubechurn.dev/wants-number";
/// How far apart the lines of other containers are.
const USUAL: i64 = 700 * MILLISECOND;
/// When a container that has started writes its first line about a request.
const LISTENS: i64 = 200 * MILLISECOND;

/// One run of a container.
#[derive(Debug, Clone)]
pub struct Run {
    /// What no other run has.
    pub id: String,
    name: String,
    image: String,
    /// When it began, in nanoseconds.
    start: i64,
    /// When it was asked to stop.
    pub stop: Option<i64>,
    /// When it ended.
    pub end: Option<i64>,
    code: i64,
    is_oom: bool,
    /// How far its lines are apart.
    period: i64,
    wants: Option<String>,
}

impl Run {
    /// The run that a state of a container's status names.
    pub fn of(pod: &Value, name: &str, (status, state): (&Value, &Value), is_running: bool) -> Self {
        let text = |value: &Value, pointer: &str| {
            value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let time = |text: &str| Timestamp::parse_set(text).map(|Timestamp(second)| second.saturating_mul(SECOND));
        let annotation = |name: &str| pod["metadata"]["annotations"].get(name).and_then(Value::as_str);
        let is_first = pod["spec"]["containers"][0]["name"] == name;
        let rate = annotation(RATE).filter(|_| is_first).and_then(|rate| rate.parse::<f64>().ok());
        let rate = rate.filter(|rate| (0.001..=1e6).contains(rate));
        let start = time(&text(state, "/startedAt")).unwrap_or_default();
        let grace = pod.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
        let asked =
            time(&text(pod, "/metadata/deletionTimestamp")).map(|at| at.saturating_sub(grace.saturating_mul(SECOND)));
        let end = if is_running { None } else { Some(time(&text(state, "/finishedAt")).unwrap_or(start)) };
        Self {
            id: format!("{} {name} {start}", text(pod, "/metadata/uid")),
            name: name.to_owned(),
            image: text(status, "/image"),
            start,
            stop: asked.filter(|asked| *asked >= start && end.is_none_or(|end| end >= *asked)),
            end,
            code: state["exitCode"].as_i64().unwrap_or_default(),
            is_oom: state["reason"] == "OOMKilled",
            period: rate.map_or(USUAL, |rate| (SECOND as f64 / rate) as i64).max(1),
            wants: annotation(WANTS_NUMBER).filter(|_| is_first).map(str::to_owned),
        }
    }
}

/// The lines of a run: some at its start, those about requests, and some at its end.
#[derive(Debug)]
pub struct Made {
    run: Run,
    seed: u64,
    before: Vec<(i64, String)>,
    /// How many lines are about requests, if that is known.
    requests: Option<u64>,
    after: Vec<(i64, String)>,
}

impl Made {
    /// The lines of a run.
    pub fn of(run: Run) -> Self {
        let seed = run
            .id
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let mut before = vec![(run.start, format!("{} starts, image {}", run.name, run.image))];
        let mut after = Vec::new();
        let at = |after: i64| run.start + after * MILLISECOND;
        match &run.wants {
            Some(variable) if run.end.is_some() && run.code == 1 => {
                before.push((at(40), format!("reading the settings: {variable}")));
                after.push(format!("panic: strconv.Atoi: parsing {variable}: invalid syntax"));
                after.push(String::from("goroutine 1 [running]: main.main() /src/main.go:27 +0x1d4"));
            }
            _ => {
                before.push((at(40), String::from("settings read, 12 keys")));
                before.push((at(120), String::from("listening on :8080")));
            }
        }
        if run.stop.is_some() {
            after.push(String::from("SIGTERM: no new connections"));
            after.push(String::from("12 connections open, waiting"));
        }
        let stopped = after.len();
        match (run.end, run.code) {
            (None, _) => {}
            (Some(_), _) if run.is_oom => after.push(String::from("heap 251 MiB of 256 MiB, allocating 16 MiB")),
            (Some(_), 0) => after.push(String::from("drained, exit 0")),
            (Some(_), code) => after.push(format!("fatal: cannot go on, exit {code}")),
        }
        let ends = run.stop.or(run.end);
        let begin = run.start + LISTENS;
        let requests = ends.map(|end| Self::requests_until(&run, seed, begin, end));
        // A container that ended within the second in which it began has its first lines all the same.
        let last = before.last().map_or(run.start, |(time, _)| *time);
        let mut time = ends.unwrap_or(last).max(last);
        if let Some(count) = requests.filter(|count| *count > 0) {
            time = time.max(Self::request_at(&run, seed, count - 1));
        }
        let end = run.end.unwrap_or(time).max(time);
        let after = after.into_iter().enumerate().map(|(at, text)| {
            let from = if at < stopped { time } else { end };
            (from + (at as i64 + 1) * 3 * MILLISECOND / 10, text)
        });
        let after = after.collect();
        Self { run, seed, before, requests, after }
    }

    /// The time of a line about a request. Two lines have the same time.
    fn request_at(run: &Run, seed: u64, number: u64) -> i64 {
        let pair = number & !1;
        let jitter = Random::new(seed ^ pair).below(usize::try_from(run.period).unwrap_or(1)) as i64;
        let since = i64::try_from(pair).unwrap_or(i64::MAX).saturating_mul(run.period);
        (run.start + LISTENS).saturating_add(since).saturating_add(jitter)
    }

    /// How many lines about requests were written before this time.
    fn requests_until(run: &Run, seed: u64, begin: i64, until: i64) -> u64 {
        if until <= begin {
            return 0;
        }
        // No line is later than two periods after its place.
        let mut count = u64::try_from((until - begin) / run.period).unwrap_or(0) + 2;
        while count > 0 && Self::request_at(run, seed, count - 1) >= until {
            count -= 1;
        }
        count
    }

    /// How many lines were written up to now.
    pub fn count(&self, now: i64) -> u64 {
        let written = |lines: &[(i64, String)]| {
            lines.iter().filter(|(time, _)| *time <= now || self.run.end.is_some()).count() as u64
        };
        let before = written(&self.before);
        let begin = self.run.start + LISTENS;
        let requests = self.requests.unwrap_or_else(|| Self::requests_until(&self.run, self.seed, begin, now));
        before + requests + written(&self.after)
    }

    /// The number of the first line that is not older than this time.
    pub fn since(&self, time: i64) -> u64 {
        let older = |lines: &[(i64, String)]| lines.iter().take_while(|(at, _)| *at < time).count() as u64;
        let begin = self.run.start + LISTENS;
        let requests = Self::requests_until(&self.run, self.seed, begin, time);
        let requests = self.requests.map_or(requests, |all| requests.min(all));
        older(&self.before) + requests + older(&self.after)
    }

    /// A line, by its number.
    pub fn line(&self, number: u64) -> (i64, String) {
        let before = self.before.len() as u64;
        if let Some(line) = usize::try_from(number).ok().and_then(|at| self.before.get(at)) {
            return line.clone();
        }
        let request = number - before;
        if let Some(rest) = self.requests.and_then(|requests| request.checked_sub(requests)) {
            let after = usize::try_from(rest).ok().and_then(|at| self.after.get(at));
            return after.cloned().unwrap_or_default();
        }
        let mut random = Random::new(self.seed.rotate_left(7) ^ request);
        let path =
            random.pick(&["/", "/cart", "/cart/items", "/checkout", "/healthz", "/products/7", "/search?q=shoes"]);
        let code = if random.chance(3) { 404 } else { 200 };
        let took = random.between(1, 48);
        (Self::request_at(&self.run, self.seed, request), format!("GET {path} {code} {took}ms"))
    }
}

/// A time as a kubelet writes it before a line, with all its digits.
pub fn rfc3339_nano(time: i64) -> String {
    let text = Time(time).to_string();
    format!("{}.{:09}Z", text.trim_end_matches('Z'), time.rem_euclid(SECOND))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(state: &Value, annotations: &Value, is_running: bool) -> Made {
        let pod =
            json!({"metadata": {"uid": "u", "annotations": annotations}, "spec": {"containers": [{"name": "web"}]}});
        Made::of(Run::of(&pod, "web", (&json!({"image": "example/web:1"}), state), is_running))
    }

    #[test]
    fn a_run_has_the_same_lines_whenever_it_is_read_and_their_times_never_run_back() {
        let start = 1_795_248_807 * SECOND;
        let running = json!({"startedAt": "2026-11-21T08:13:27Z"});
        let now = start + 5 * SECOND;
        let early = run(&running, &json!({}), true);
        let ended = json!({"startedAt": "2026-11-21T08:13:27Z", "finishedAt": "2026-11-21T08:13:34Z", "exitCode": 3});
        let late = run(&ended, &json!({}), false);
        let count = early.count(now);
        assert!(count > 5, "{count}");
        for number in 0..count {
            assert_eq!(early.line(number), late.line(number), "{number}");
        }
        let all: Vec<(i64, String)> = (0..late.count(now)).map(|number| late.line(number)).collect();
        assert!(all.is_sorted_by_key(|(time, _)| *time), "{all:?}");
        assert_eq!(all.last().map(|(_, text)| &**text), Some("fatal: cannot go on, exit 3"));
        for (time, _) in &all {
            let since = usize::try_from(late.since(*time)).unwrap();
            assert!(all[since].0 == *time && since.checked_sub(1).is_none_or(|before| all[before].0 < *time));
        }
    }

    #[test]
    fn a_fast_logger_writes_as_many_lines_as_it_is_to() {
        let running = json!({"startedAt": "2026-11-21T08:13:27Z"});
        let made = run(&running, &json!({RATE: "2000"}), true);
        let start = 1_795_248_807 * SECOND;
        let in_a_minute = made.count(start + 61 * SECOND) - made.count(start + SECOND);
        assert!((119_000..=121_000).contains(&in_a_minute), "{in_a_minute}");
    }

    #[test]
    fn a_crash_has_its_last_words_and_a_stopped_container_says_so() {
        let ended = |code: u32, reason: &str| json!({"startedAt": "2026-11-21T08:13:27Z", "finishedAt": "2026-11-21T08:13:27Z", "exitCode": code, "reason": reason});
        let last = |state: Value, annotations: Value| {
            let made = run(&state, &annotations, false);
            (0..made.count(0)).map(|number| made.line(number).1).collect::<Vec<_>>().join("\n")
        };
        assert!(last(ended(137, "OOMKilled"), json!({})).ends_with("allocating 16 MiB"));
        assert!(last(ended(1, "Error"), json!({WANTS_NUMBER: "SIZE"})).contains("panic: strconv.Atoi: parsing SIZE"));
        let pod = json!({"metadata": {"uid": "u", "deletionTimestamp": "2026-11-21T08:14:00Z", "deletionGracePeriodSeconds": 30},
            "spec": {"containers": [{"name": "web"}]}});
        let made = Made::of(Run::of(&pod, "web", (&json!({}), &json!({"startedAt": "2026-11-21T08:13:27Z"})), true));
        let count = made.count(1_795_248_831 * SECOND);
        let lines: Vec<String> = (0..count).map(|number| made.line(number).1).collect();
        assert_eq!(lines.last().map(String::as_str), Some("12 connections open, waiting"), "{lines:?}");
    }
}
