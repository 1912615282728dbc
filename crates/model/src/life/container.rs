//! A container of a Pod, followed from version to version: what it waits for, its runs, and how each ended.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::json;
use kubechurn_columns::state;

use crate::history::Entry;
use crate::inspector::containers::{Ended, ended};
use crate::life::event::{Said, pull_time};
use crate::life::seen::{Known, Seen};
use crate::why::references::text;

/// The most stretches of one line: the newest ones are shown.
const MOST: usize = 60;

/// A stretch of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// When it began, if that is known.
    pub from: Option<Seen>,
    /// When it ended; `None` while it goes on, or where that is not known.
    pub to: Option<Seen>,
    /// What it is: `waits`, `pulls`, `runs`, `ready`, `ended`, `failed`, `ending`.
    pub what: &'static str,
    /// The same in words.
    pub words: String,
}

/// Something on a line that takes no time.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// When it was, the last time.
    pub seen: Option<Seen>,
    /// What it was, in words.
    pub words: String,
    /// What it means.
    pub tone: Tone,
}

/// A line of a life: the Pod's own, or one of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The container's name.
    pub name: String,
    /// `pod`, `init`, `sidecar`, `app` or `ephemeral`.
    pub kind: &'static str,
    /// The stretches, one after the other.
    pub stretches: Vec<Stretch>,
    /// What happened besides.
    pub points: Vec<Point>,
    /// How many restarts there were of which nothing more is known.
    pub unseen: i64,
}

impl Line {
    /// Ends what goes on, and begins something else.
    pub fn go_on(&mut self, seen: Option<Seen>, what: &'static str, words: String) {
        self.stop(seen);
        self.stretches.push(Stretch { from: seen, to: None, what, words });
        if self.stretches.len() > MOST {
            self.stretches.remove(0);
        }
    }

    /// Ends what goes on.
    pub fn stop(&mut self, seen: Option<Seen>) {
        let Some(open) = self.stretches.last_mut().filter(|open| open.to.is_none()) else { return };
        // Times of objects are cut to whole seconds, and nothing ends before it begins.
        let from = open.from.map_or(f64::NEG_INFINITY, |from| from.at);
        open.to = seen.map(|seen| Seen { at: seen.at.max(from), ..seen });
    }

    /// Adds something that took no time.
    pub fn point(&mut self, seen: Option<Seen>, words: String, tone: Tone) {
        self.points.push(Point { seen, words, tone });
    }
}

/// A container that is followed.
#[derive(Debug, Default)]
pub struct Followed {
    /// What is known of it.
    pub line: Line,
    /// By what its state is recognized.
    state: String,
    /// The end of the run before that was seen last.
    last_end: String,
    restarts: i64,
    /// When it started first.
    pub started: Option<Seen>,
}

/// How a run ended, in words, and whether that was an ordinary end.
fn end(terminated: &str) -> (String, bool) {
    let value = serde_json::from_str(terminated).unwrap_or_default();
    let Ended { reason, code, .. } = ended(&value);
    let exit = json::value_at(terminated, &["exitCode"]).and_then(json::integer);
    let signal = exit.filter(|exit| (129..=159).contains(exit)).map(|exit| format!(" (128 + signal {})", exit - 128));
    let words: Vec<String> =
        [reason, code + &signal.unwrap_or_default()].into_iter().filter(|word| !word.is_empty()).collect();
    let words = if words.is_empty() { String::from("ended") } else { words.join(", ") };
    (words, exit == Some(0))
}

impl Followed {
    /// Begins to follow a container.
    pub fn new(name: &str, kind: &'static str) -> Followed {
        Followed { line: Line { name: name.to_owned(), kind, ..Line::default() }, ..Followed::default() }
    }

    /// Takes in its status in a version.
    pub fn take(&mut self, status: &str, entry: &Entry, is_first: bool, known: &Known<'_>) {
        let is_new = self.state.is_empty();
        let restarts = json::member(status, "restartCount").and_then(json::integer).unwrap_or(0);
        let last = json::value_at(status, &["lastState", "terminated"]).unwrap_or_default();
        let last_end = text(last, &["finishedAt"]).unwrap_or_default().into_owned();
        if !last_end.is_empty() && last_end != self.last_end {
            self.ended_before(last, entry, is_first, known);
            let before = if is_new && is_first { 0 } else { self.restarts };
            let missed = restarts - before - 1;
            self.line.unseen += missed.max(0);
            self.last_end = last_end;
        }
        self.restarts = restarts;
        let of = |name: &str| json::value_at(status, &["state", name]);
        if let Some(running) = of("running") {
            self.runs(status, running, entry, is_first, known);
        } else if let Some(terminated) = of("terminated") {
            let finished = text(terminated, &["finishedAt"]).unwrap_or_default().into_owned();
            if self.turns(format!("ended {finished}")) {
                if is_first || self.line.stretches.is_empty() {
                    let own = known.time(terminated, &["startedAt"]);
                    let seen = own.map(|at| Seen { at, seq: Some(entry.sequence), is_from_object: true });
                    self.started = self.started.or(seen);
                    self.line.go_on(seen, "runs", String::from("ran"));
                }
                let (words, is_well) = end(terminated);
                let seen = known.seen(entry, is_first, known.time(terminated, &["finishedAt"]));
                self.line.point(seen, words.clone(), if is_well { Tone::Plain } else { Tone::Bad });
                self.line.go_on(seen, if is_well { "ended" } else { "failed" }, words);
                // What ended so is in `lastState` after the next start.
                self.last_end = finished;
            }
        } else if let Some(waiting) = of("waiting") {
            let reason = text(waiting, &["reason"]).unwrap_or("Waiting".into()).into_owned();
            if self.turns(format!("waits {reason}")) {
                let is_bad = state::pod(&reason) == Tone::Bad;
                let seen = known.seen(entry, is_first, None);
                self.line.go_on(seen, if is_bad { "failed" } else { "waits" }, reason);
            }
        }
    }

    fn turns(&mut self, state: String) -> bool {
        let turns = state != self.state;
        self.state = state;
        turns
    }

    fn runs(&mut self, status: &str, running: &str, entry: &Entry, is_first: bool, known: &Known<'_>) {
        let began = text(running, &["startedAt"]).unwrap_or_default().into_owned();
        let is_ready = json::member(status, "ready") == Some("true");
        let own = known.time(running, &["startedAt"]);
        let is_same_run = self.state.starts_with(&format!("runs {began}"));
        if !self.turns(format!("runs {began} {is_ready}")) {
            return;
        }
        // When it became ready the container does not say: the Pod's condition does.
        let seen = known.seen(entry, is_first, if is_same_run { None } else { own });
        self.started = self.started.or(seen);
        let needs_probe = matches!(self.line.kind, "app" | "sidecar");
        let (what, words) = match (is_ready, needs_probe) {
            (true, true) => ("ready", "runs, ready"),
            (false, true) => ("runs", "runs, not ready"),
            _ => ("runs", "runs"),
        };
        self.line.go_on(seen, what, words.to_owned());
    }

    /// The run before ended, which is known from `lastState` alone.
    fn ended_before(&mut self, last: &str, entry: &Entry, is_first: bool, known: &Known<'_>) {
        let own = |name: &str| {
            let at = known.time(last, &[name])?;
            Some(Seen { at, seq: Some(entry.sequence), is_from_object: true })
        };
        let (words, is_well) = end(last);
        let tone = if is_well { Tone::Plain } else { Tone::Bad };
        if is_first {
            self.line.go_on(own("startedAt"), "runs", String::from("ran"));
        }
        let seen =
            if is_first { own("finishedAt") } else { known.seen(entry, false, known.time(last, &["finishedAt"])) };
        self.line.point(seen, words, tone);
        self.line.stop(seen);
    }

    /// Takes in what Events say of it: pulls, probes that failed, what was killed. Ends what goes on, if the Pod is gone.
    pub fn finish(&mut self, said: &[Said], gone: Option<Seen>) {
        if gone.is_some() {
            self.line.stop(gone);
        }
        let name = self.line.name.clone();
        let own = |said: &&Said| said.container == name;
        for said in said.iter().filter(own) {
            let times = if said.times > 1 { format!(", {} times", said.times) } else { String::new() };
            match &*said.reason {
                "Unhealthy" => self.line.point(said.last, format!("{}{times}", said.message), Tone::Wait),
                "Killing" => self.line.point(said.last, said.message.clone(), Tone::Plain),
                _ => {}
            }
        }
        let pulls: Vec<&Said> = said.iter().filter(own).filter(|said| said.reason == "Pulling").collect();
        for pull in pulls {
            let ends = |other: &&Said| {
                own(other)
                    && matches!(&*other.reason, "Pulled" | "Failed")
                    && other.first.zip(pull.first).is_some_and(|(end, begin)| end.at >= begin.at)
            };
            let end = said.iter().find(ends);
            let words = match end {
                Some(end) if end.reason == "Pulled" => {
                    pull_time(&end.message).map_or("pulled".into(), |time| format!("pulled in {time}"))
                }
                Some(_) => String::from("the pull failed"),
                None => String::from("pulls"),
            };
            split(&mut self.line, pull.first, end.and_then(|end| end.first), words);
        }
    }
}

/// Cuts a pull out of the time that a container waits.
fn split(line: &mut Line, from: Option<Seen>, to: Option<Seen>, words: String) {
    let Some(begin) = from else { return };
    let is_it = |one: &Stretch| {
        one.what == "waits"
            && one.from.is_none_or(|from| from.at <= begin.at + 1_000.0)
            && one.to.is_none_or(|to| to.at + 1_000.0 >= begin.at)
    };
    let Some(place) = line.stretches.iter().position(is_it) else { return };
    let waits = line.stretches[place].clone();
    let begin = Seen { at: waits.from.map_or(begin.at, |from| begin.at.max(from.at)), ..begin };
    let end = match (to, waits.to) {
        (Some(to), Some(most)) if to.at > most.at => Some(most),
        (to, most) => to.or(most),
    };
    let end = end.map(|end| Seen { at: end.at.max(begin.at), ..end });
    let mut parts = Vec::new();
    if waits.from.is_none_or(|from| from.at < begin.at) {
        parts.push(Stretch { to: Some(begin), ..waits.clone() });
    }
    parts.push(Stretch { from: Some(begin), to: end, what: "pulls", words });
    if end.is_some() && waits.to.is_none_or(|to| end.is_some_and(|end| end.at < to.at)) {
        parts.push(Stretch { from: end, ..waits });
    }
    line.stretches.splice(place..=place, parts);
}
