//! A Pod from its creation to its end.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use kubechurn_columns::state;

use crate::history::Entry;
use crate::life::container::{Followed, Line};
use crate::life::event::Said;
use crate::life::seen::{Known, Seen};
use crate::why::references::text;

/// The most versions of one Pod that are read: the first ones and the newest ones.
const FIRST: usize = 20;
const NEWEST: usize = 280;

/// What is wrong with a Pod, since when, and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The word for it, as a table has it.
    pub word: String,
    /// Since when.
    pub since: Option<Seen>,
    /// What the cluster says of it.
    pub message: String,
    /// When it is tried again, where that is written, in milliseconds.
    pub again: Option<f64>,
}

/// Why a Pod ended, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// When its deletion was asked for.
    pub asked: Option<Seen>,
    /// When it was gone.
    pub gone: Option<Seen>,
    /// What says why: each in words.
    pub reasons: Vec<String>,
}

/// The life of a Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Life {
    /// Its uid.
    pub uid: Uid,
    /// Since when versions of it are known, in milliseconds; what was before is from the object.
    pub known_from: f64,
    /// Whether it was there before the first of them.
    pub began_before: bool,
    /// How many of its versions were not read, or are not kept.
    pub unread: u64,
    /// When it was created, got a node, had its images, had all of its containers started, and was ready first.
    pub created: Option<Seen>,
    pub scheduled: Option<Seen>,
    pub pulled: Option<Seen>,
    pub started: Option<Seen>,
    pub ready: Option<Seen>,
    /// Whether it is ready now.
    pub is_ready: bool,
    /// Its node.
    pub node: String,
    /// What is wrong with it now.
    pub trouble: Option<Trouble>,
    /// Its end.
    pub end: End,
    /// The Pod's own line, and one for each container.
    pub lines: Vec<Line>,
}

/// A condition of a Pod, in a version.
fn condition<'a>(pod: &'a str, name: &str) -> Option<&'a str> {
    let all = json::value_at(pod, &["status", "conditions"]).and_then(json::items)?;
    all.into_iter().find(|one| text(one, &["type"]).is_some_and(|of| of == name))
}

fn is_true(condition: Option<&str>) -> bool {
    condition.and_then(|one| json::member(one, "status")) == Some("\"True\"")
}

/// The life of a Pod of this name; of the one with this uid, or else of the last. `said` are Events, also about others.
pub fn life(
    known: &Known<'_>,
    resource: ApiResource,
    key: &ObjectKey,
    uid: Option<&Uid>,
    said: &[Said],
) -> Option<Life> {
    let mut entries = known.history.of(&resource, key);
    entries.retain(|entry| entry.sequence < known.received);
    let uid = uid.cloned().or_else(|| entries.last().map(|last| last.uid.clone()))?;
    entries.retain(|entry| entry.uid == uid);
    let said: Vec<Said> = said
        .iter()
        .filter(|said| *said.about.1 == *uid.to_string() || (said.about.1.is_empty() && said.about.0 == *key.name))
        .cloned()
        .collect();
    let (dropped, _) = known.history.let_go(&uid, &resource, key);
    let left_out = entries.len().saturating_sub(FIRST + NEWEST);
    let is_read = |place: &usize| *place < FIRST || *place >= FIRST + left_out;
    let mut reader = Reader::new(known);
    (reader.life.uid, reader.life.unread) = (uid, dropped + left_out as u64);
    let first = entries.first()?;
    reader.life.known_from = first.at;
    reader.life.began_before = first.delta_type != DeltaType::Added;
    for (place, entry) in entries.iter().enumerate().filter(|(place, _)| is_read(place)) {
        if let Some(pod) = known.history.text(entry.sequence).filter(|_| entry.has_text) {
            reader.take(&pod, entry, place == 0);
        }
        if entry.delta_type == DeltaType::Deleted {
            // What a list no longer had went at a time that nobody saw.
            let seen = Seen { at: entry.at, seq: Some(entry.sequence), is_from_object: false };
            reader.life.end.gone = Some(seen);
        }
    }
    Some(reader.finish(&said))
}

/// Reads versions one after the other.
struct Reader<'a> {
    known: &'a Known<'a>,
    life: Life,
    own: Line,
    /// The Pod's own state, by which a change of it is recognized.
    state: &'static str,
    containers: Vec<Followed>,
    disruption: String,
    evicted: String,
}

impl<'a> Reader<'a> {
    fn new(known: &'a Known<'a>) -> Reader<'a> {
        let own = Line { kind: "pod", ..Line::default() };
        let (life, containers, disruption, evicted) = Default::default();
        Reader { known, life, own, state: "", containers, disruption, evicted }
    }

    fn take(&mut self, pod: &str, entry: &Entry, is_first: bool) {
        let known = self.known;
        let since = |name: &str| condition(pod, name).and_then(|one| known.time(one, &["lastTransitionTime"]));
        let of = |name: &str| is_true(condition(pod, name));
        let when = |name: &str| known.seen(entry, is_first, since(name));
        if is_first {
            self.life.created = known.seen(entry, true, known.time(pod, &["metadata", "creationTimestamp"]));
            self.own.go_on(self.life.created, "waits", String::from("waits for a node"));
            self.state = "new";
        }
        let (is_scheduled, is_ready) = (of("PodScheduled") || !node(pod).is_empty(), of("Ready"));
        if is_scheduled && self.life.scheduled.is_none() && self.life.node.is_empty() {
            self.life.node = node(pod);
            self.life.scheduled = when("PodScheduled");
            self.turn("prepared", self.life.scheduled, "waits", "volumes and network");
        }
        if of("PodReadyToStartContainers") && self.state == "prepared" {
            self.turn("begun", when("PodReadyToStartContainers"), "waits", "its containers start");
        }
        let phase = text(pod, &["status", "phase"]).unwrap_or_default();
        match (&*phase, is_ready, self.state) {
            ("Succeeded" | "Failed", ..) if self.state != "over" && self.state != "ending" => {
                let is_well = phase == "Succeeded";
                let what = if is_well { "ended" } else { "failed" };
                let seen = known.seen(entry, is_first, since("Ready"));
                self.turn("over", seen, what, if is_well { "all containers ended well" } else { "failed" });
            }
            (_, true, "new" | "prepared" | "begun" | "unready") => {
                let seen = when("Ready");
                self.life.ready = self.life.ready.or(seen);
                self.turn("ready", seen, "ready", "ready");
            }
            (_, false, "ready") => self.turn("unready", when("Ready"), "runs", "not ready"),
            _ => {}
        }
        self.life.is_ready = is_ready;
        self.take_containers(pod, entry, is_first);
        if let Some(disruption) = condition(pod, "DisruptionTarget").filter(|one| is_true(Some(one))) {
            let word = |name: &str| text(disruption, &[name]).unwrap_or_default().into_owned();
            self.disruption = [word("reason"), word("message")].join(": ").trim_end_matches(": ").to_owned();
        }
        if text(pod, &["status", "reason"]).is_some_and(|reason| !reason.is_empty()) {
            let word = |name: &str| text(pod, &["status", name]).unwrap_or_default().into_owned();
            self.evicted = [word("reason"), word("message")].join(": ").trim_end_matches(": ").to_owned();
        }
        if self.life.end.asked.is_none()
            && let Some(at) = known.time(pod, &["metadata", "deletionTimestamp"])
        {
            let grace = json::value_at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(json::integer);
            let own = at - grace.unwrap_or(0) as f64 * 1_000.0;
            self.life.end.asked = known.seen(entry, is_first, Some(own));
            self.turn("ending", self.life.end.asked, "ending", "is to end, as asked");
        }
        self.life.trouble = self.trouble(pod, entry, is_first);
    }

    fn turn(&mut self, state: &'static str, seen: Option<Seen>, what: &'static str, words: &str) {
        self.state = state;
        self.own.go_on(seen, what, words.to_owned());
    }

    fn take_containers(&mut self, pod: &str, entry: &Entry, is_first: bool) {
        let list =
            |part: &str, name: &str| json::value_at(pod, &[part, name]).and_then(json::items).unwrap_or_default();
        let lists = [
            ("init", "initContainers", "initContainerStatuses"),
            ("app", "containers", "containerStatuses"),
            ("ephemeral", "ephemeralContainers", "ephemeralContainerStatuses"),
        ];
        for (kind, specs, statuses) in lists {
            let specs = list("spec", specs);
            for status in list("status", statuses) {
                let name = text(status, &["name"]).unwrap_or_default();
                let spec = specs.iter().find(|spec| text(spec, &["name"]).is_some_and(|of| of == name));
                let is_sidecar =
                    kind == "init" && spec.and_then(|spec| json::member(spec, "restartPolicy")) == Some("\"Always\"");
                let kind = if is_sidecar { "sidecar" } else { kind };
                let is_it = |one: &Followed| one.line.name == name && one.line.kind == kind;
                let place = self.containers.iter().position(is_it).unwrap_or_else(|| {
                    self.containers.push(Followed::new(&name, kind));
                    self.containers.len() - 1
                });
                self.containers[place].take(status, entry, is_first, self.known);
            }
        }
    }

    /// What is wrong in a version.
    fn trouble(&self, pod: &str, entry: &Entry, is_first: bool) -> Option<Trouble> {
        let known = self.known;
        let keep = |word: String, message: String, seen: Option<Seen>, again: Option<f64>| {
            // What goes on, also as another word for it, goes on since it began.
            let before = self.life.trouble.as_ref().filter(|before| cause_of(&before.word) == cause_of(&word));
            let since = before.map_or(seen, |before| before.since);
            let message = match before {
                Some(before) if message.is_empty() || word.ends_with("BackOff") => before.message.clone(),
                _ => message,
            };
            Some(Trouble { word, since, message, again })
        };
        let statuses = ["initContainerStatuses", "containerStatuses"].into_iter();
        let statuses =
            statuses.flat_map(|name| json::value_at(pod, &["status", name]).and_then(json::items).unwrap_or_default());
        for status in statuses {
            let Some(waiting) = json::value_at(status, &["state", "waiting"]) else { continue };
            let word = text(waiting, &["reason"]).unwrap_or_default().into_owned();
            if state::pod(&word) != Tone::Bad {
                continue;
            }
            let message = text(waiting, &["message"]).unwrap_or_default().into_owned();
            let finished = known.time(status, &["lastState", "terminated", "finishedAt"]);
            let again = finished.zip(back_off(&message)).map(|(finished, pause)| finished + pause);
            return keep(word, message, known.seen(entry, is_first, None), again);
        }
        let unscheduled = condition(pod, "PodScheduled").filter(|one| json::member(one, "status") == Some("\"False\""));
        if let Some(unscheduled) = unscheduled {
            let word = text(unscheduled, &["reason"]).unwrap_or("Unschedulable".into()).into_owned();
            let message = text(unscheduled, &["message"]).unwrap_or_default().into_owned();
            let since = known.time(unscheduled, &["lastTransitionTime"]);
            return keep(word, message, known.seen(entry, is_first, since), None);
        }
        if text(pod, &["status", "phase"]).is_some_and(|phase| phase == "Failed") {
            return keep(String::from("Failed"), self.evicted.clone(), known.seen(entry, is_first, None), None);
        }
        None
    }

    fn finish(mut self, said: &[Said]) -> Life {
        let life = &mut self.life;
        let gone = life.end.gone;
        self.own.stop(gone);
        for one in said.iter().filter(|one| one.container.is_empty()) {
            let times = if one.times > 1 { format!(", {} times", one.times) } else { String::new() };
            let words = format!("{}: {}{times}", one.reason, one.message);
            match &*one.reason {
                "Scheduled" if life.scheduled.is_none() => life.scheduled = one.first,
                "TaintManagerEviction" | "Preempted" | "Evicted" | "NodeNotReady" | "Killing" => {
                    if one.reason != "Killing" {
                        life.end.reasons.push(format!("{words} (an Event of {})", one.source));
                    }
                    self.own.point(one.last, words, Tone::Wait);
                }
                _ if one.is_warning => self.own.point(one.last, words, Tone::Wait),
                _ => {}
            }
        }
        let pulled = said.iter().filter(|one| one.reason == "Pulled").filter_map(|one| one.first);
        life.pulled = pulled.reduce(|one, other| if other.at > one.at { other } else { one });
        let apps = || self.containers.iter().filter(|one| one.line.kind == "app");
        let all = apps().map(|one| one.started).collect::<Option<Vec<Seen>>>().unwrap_or_default();
        life.started = all.into_iter().reduce(|one, other| if other.at > one.at { other } else { one });
        if life.end.asked.is_some() || gone.is_some() {
            let more = [(&self.disruption, "its condition DisruptionTarget"), (&self.evicted, "its status")];
            let said = more.into_iter().filter(|(words, _)| !words.is_empty());
            life.end.reasons.extend(said.map(|(words, of)| format!("{words} ({of})")));
        }
        let mut lines = vec![self.own];
        for mut container in self.containers {
            container.finish(said, gone);
            lines.push(container.line);
        }
        life.lines = lines;
        self.life
    }
}

fn node(pod: &str) -> String {
    text(pod, &["spec", "nodeName"]).unwrap_or_default().into_owned()
}

/// What a word of the kubelet is about: a pull that failed is `ErrImagePull`, and between two tries `ImagePullBackOff`.
fn cause_of(word: &str) -> &str {
    match word {
        "ErrImagePull" | "ImagePullBackOff" => "image",
        word => word,
    }
}

/// The pause that the kubelet says, in milliseconds: `back-off 1m20s restarting failed container`.
pub fn back_off(message: &str) -> Option<f64> {
    let words = message.strip_prefix("back-off ")?.split(' ').next()?;
    let (mut seconds, mut number) = (0.0, 0.0);
    for letter in words.chars() {
        match (letter, letter.to_digit(10)) {
            (_, Some(digit)) => number = number * 10.0 + f64::from(digit),
            ('h', _) => (seconds, number) = (seconds + number * 3_600.0, 0.0),
            ('m', _) => (seconds, number) = (seconds + number * 60.0, 0.0),
            ('s', _) => (seconds, number) = (seconds + number, 0.0),
            _ => return None,
        }
    }
    Some(seconds * 1_000.0).filter(|pause| *pause > 0.0 && *pause < 86_400_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubelet_says_its_pause() {
        assert_eq!(back_off("back-off 40s restarting failed container=a pod=b"), Some(40_000.0));
        assert_eq!(back_off("back-off 1m20s restarting failed container"), Some(80_000.0));
        for other in ["Back-off pulling image \"a\"", "back-off soon", "", "back-off 99999999999999999999h x"] {
            assert_eq!(back_off(other), None);
        }
    }
}
