//! Reads a rollout, a share at a time: the workload's versions, then its revisions, then its Pods one by one.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::json;

use crate::history::{Entry, History};
use crate::life::event::{Said, events, in_order as in_time, read_event};
use crate::life::pod::{Life, Trouble, life};
use crate::life::seen::{Known, Seen};
use crate::rollout::bar::{Reached, Step, in_order};
use crate::rollout::fields::{Compared, compare};
use crate::rollout::own::{Begun, Own, counts, template};
use crate::rollout::pods::{Made, made, pods, revisions};
use crate::rollout::waits::{Wait, waits};

/// The most versions of a workload that are read: the newest.
const MOST: usize = 1_500;

/// A rollout, with what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rollout {
    /// How it began.
    pub begun: Begun,
    /// What its template became.
    pub made: Option<Made>,
    /// The steps that were reached, in order.
    pub steps: Vec<Reached>,
    /// Its Pods, each with its name; and how many more there are.
    pub lives: Vec<(String, Life)>,
    pub more: usize,
    /// What is wrong with its Pods: of how many, and with which first.
    pub trouble: Option<(usize, String, Trouble)>,
    /// What it waits for.
    pub waits: Vec<Wait>,
}

/// The last rollout that went well, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Good {
    /// It is in what was received.
    Received(Box<Rollout>),
    /// It was there before what is kept, and is known from a version of the workload: its fields, and no steps.
    Before {
        /// The version that says that it was complete.
        seq: u64,
        /// Its revision.
        revision: String,
    },
    /// It is known from what an older revision asks for, and how many of that one's Pods are ready: none of its steps.
    Revision {
        /// The kind and name of the revision, and its number.
        name: String,
        number: u64,
        /// How many of its Pods are ready; `None` where it does not say it.
        ready: Option<i64>,
    },
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The rollout.
    pub rollout: Rollout,
    /// The last one that went well.
    pub good: Option<Good>,
    /// Which fields differ from that one.
    pub compared: Option<Compared>,
    /// The two versions of the workload that are compared, where both are kept.
    pub pair: Option<(u64, u64)>,
    /// Whether Events were received, which say when images are pulled.
    pub has_events: bool,
}

#[derive(Debug)]
enum Stage {
    /// Reads the workload's versions, from this place on.
    Own(usize),
    /// Reads the Events.
    Events,
    /// Reads the Pods of the rollout, and those of the good one.
    Pods,
    Done,
}

/// A search that goes on.
#[derive(Debug)]
pub struct Search {
    resource: ApiResource,
    key: ObjectKey,
    /// How many versions count, and the time that is shown.
    received: u64,
    at: f64,
    /// The time at which the rollout is looked at, in milliseconds.
    when: f64,
    to_page: f64,
    entries: Vec<Entry>,
    own: Own,
    stage: Stage,
    /// The rollout, and the good one.
    two: Vec<Rollout>,
    good: Option<Good>,
    pod: Option<ApiResource>,
    left: Vec<(usize, ObjectKey, Uid)>,
    events: Vec<(ApiResource, ObjectKey)>,
    said: Vec<Said>,
    found: Option<Found>,
}

impl Search {
    /// Begins to read the rollout of a workload that went on at a time, in milliseconds, as far as it was known then.
    pub fn begin(resource: ApiResource, key: &ObjectKey, when: f64, known: &Known<'_>) -> Search {
        let mut entries = known.history.of(&resource, key);
        entries.retain(|entry| entry.sequence < known.received && entry.has_text);
        entries.drain(..entries.len().saturating_sub(MOST));
        Search {
            resource,
            key: key.clone(),
            received: known.received,
            at: known.at,
            when,
            to_page: known.to_page,
            entries,
            own: Own::default(),
            stage: Stage::Own(0),
            two: Vec::new(),
            good: None,
            pod: None,
            left: Vec::new(),
            events: Vec::new(),
            said: Vec::new(),
            found: None,
        }
    }

    /// What is read.
    pub fn of(&self) -> (ApiResource, &ObjectKey) {
        (self.resource, &self.key)
    }

    /// How many versions had been received when it began.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Goes on while `goes_on` says so. Returns whether something is left.
    pub fn work(&mut self, history: &History, mut goes_on: impl FnMut() -> bool) -> bool {
        let known = Known { history, received: self.received, at: self.at, to_page: self.to_page };
        loop {
            match self.stage {
                Stage::Own(place) => match self.entries.get(place) {
                    Some(entry) => {
                        if let Some(object) = history.text(entry.sequence) {
                            self.own.take(self.resource.kind, entry, &object, &known);
                        }
                        self.stage = Stage::Own(place + 1);
                    }
                    None => {
                        self.gather(&known);
                        self.stage = Stage::Events;
                    }
                },
                Stage::Events => match self.events.pop() {
                    Some((resource, key)) => self.said.extend(read_event(&known, resource, &key)),
                    None => {
                        in_time(&mut self.said);
                        self.stage = Stage::Pods;
                    }
                },
                Stage::Pods => match (self.left.pop(), self.pod) {
                    (Some((of, key, uid)), Some(resource)) => {
                        let life = life(&known, resource, &key, Some(&uid), &self.said);
                        self.two[of].lives.extend(life.map(|life| (key.name.to_string(), life)));
                    }
                    _ => {
                        self.finish(&known);
                        self.stage = Stage::Done;
                    }
                },
                Stage::Done => return false,
            }
            if !goes_on() {
                return !matches!(self.stage, Stage::Done);
            }
        }
    }

    /// What was found; `None` while the search goes on, and where there is no rollout.
    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// Chooses the rollout and the good one, and looks for what they made.
    fn gather(&mut self, known: &Known<'_>) {
        let at = |begun: &Begun| begun.asked.map_or(f64::NEG_INFINITY, |asked| asked.at);
        let all = &self.own.begun;
        let Some(place) = all.iter().rposition(|begun| at(begun) <= self.when).or(all.len().checked_sub(1)) else {
            return;
        };
        let begun = all[place].clone();
        let uid = self.own.uid.clone();
        let revisions = revisions(known, self.resource, &self.key, &uid);
        let before = all[..place].iter().rev().find(|one| one.well.is_some());
        let mut two = vec![begun];
        match before {
            Some(good) if good.asked.is_some_and(|asked| !asked.is_from_object) && good.done.is_some() => {
                two.push(good.clone());
            }
            Some(good) => {
                let revision = good.revision.clone();
                self.good = good.well.map(|seq| Good::Before { seq, revision });
            }
            None => {}
        }
        for (of, begun) in two.into_iter().enumerate() {
            let made = made(known, self.resource, &begun, &revisions);
            let (pod, pods, more) = pods(known, (self.resource, &self.key, &uid), &begun, made.as_ref());
            self.pod = Some(pod);
            self.left.extend(pods.into_iter().map(|(key, uid)| (of, key, uid)));
            self.two.push(Rollout { begun, made, more, ..Rollout::default() });
        }
        if self.good.is_none() && self.two.len() == 1 {
            self.good = self.older(&revisions);
        }
        self.events = events(known, (self.resource.cluster, &self.key.namespace), &self.key.name);
    }

    /// The newest revision before that of the rollout.
    fn older(&self, all: &[(u64, ObjectKey, String)]) -> Option<Good> {
        let own = self.two.first()?.made.as_ref()?;
        let number = own.revision.parse::<u64>().ok()?;
        let older = all.iter().filter(|(of, key, _)| *of < number && *key != own.key);
        let (number, key, object) = older.max_by_key(|(of, ..)| *of)?;
        let is_set = own.kind == "ReplicaSet";
        let ready = is_set.then(|| counts("ReplicaSet", object).ready);
        Some(Good::Revision { name: format!("{} {}", own.kind, key.name), number: *number, ready })
    }

    fn finish(&mut self, known: &Known<'_>) {
        let two = std::mem::take(&mut self.two);
        let mut two = two.into_iter();
        let Some(mut rollout) = two.next() else { return };
        let kind = self.resource.kind;
        steps(&mut rollout, kind);
        let object = |seq: u64| known.history.text(seq).map(std::borrow::Cow::into_owned);
        let newest = object(rollout.begun.last).unwrap_or_default();
        let is_open = rollout.begun.done.is_none() && rollout.begun.well.is_none() && rollout.begun.replaced.is_none();
        if is_open {
            rollout.trouble = trouble(&rollout.lives);
            rollout.waits = waits(kind, &newest, rollout.begun.counts, &rollout.lives, known);
        }
        if let Some(mut good) = two.next() {
            steps(&mut good, kind);
            self.good = Some(Good::Received(Box::new(good)));
        }
        let old = match &self.good {
            Some(Good::Received(good)) => good.begun.well,
            Some(Good::Before { seq, .. }) => Some(*seq),
            _ => None,
        };
        let pair = old.map(|old| (old, rollout.begun.seq));
        let spec = |seq: u64| object(seq).and_then(|text| json::member(&text, "spec").map(str::to_owned));
        let compared = match (&self.good, pair) {
            (_, Some((old, new))) => {
                spec(old).zip(spec(new)).and_then(|(old, new)| compare(("spec.", &old, &new), &self.key.name))
            }
            (Some(Good::Revision { name, .. }), None) => {
                let all = revisions(known, self.resource, &self.key, &self.own.uid);
                let older = all.iter().find(|(_, key, _)| name.ends_with(&format!(" {}", key.name)));
                let revision = rollout.made.as_ref().map_or("", |made| made.kind);
                older.and_then(|(_, _, object)| {
                    compare(("spec.template.", template(revision, object)?, &rollout.begun.template), &self.key.name)
                })
            }
            _ => None,
        };
        let has_events = !self.said.is_empty();
        self.found = Some(Found { rollout, good: self.good.take(), compared, pair, has_events });
    }
}

/// The steps that a rollout has reached.
fn steps(rollout: &mut Rollout, kind: &str) {
    let begun = &rollout.begun;
    let lives = &rollout.lives;
    let first = |of: &dyn Fn(&Life) -> Option<Seen>| {
        let all = lives.iter().filter_map(|(name, life)| Some((of(life)?, name.clone())));
        all.reduce(|one, other| if other.0.at < one.0.at { other } else { one })
    };
    let mut all: Vec<Reached> = Vec::new();
    let mut add = |step: Step, seen: Option<Seen>, more: String| {
        all.extend(seen.map(|seen| Reached { step, seen, more }));
    };
    add(Step::Seen, begun.seen, String::new());
    if let Some(made) = &rollout.made {
        let again = if made.is_again { " again" } else { "" };
        add(Step::Made, made.seen, format!("{} {}{again}", made.kind, made.key.name));
    }
    let pull = |name: &str| {
        let life = lives.iter().find(|(of, _)| of == name).map(|(_, life)| life)?;
        let mut words = life.lines.iter().flat_map(|line| &line.stretches).filter(|one| one.what == "pulls");
        words.next_back().and_then(|one| one.words.strip_prefix("pulled in ").map(str::to_owned))
    };
    for (step, of) in [
        (Step::Created, &(|life: &Life| life.created) as &dyn Fn(&Life) -> Option<Seen>),
        (Step::Scheduled, &|life: &Life| life.scheduled),
        (Step::Pulled, &|life: &Life| life.pulled),
        (Step::Started, &|life: &Life| life.started),
        (Step::Ready, &|life: &Life| life.ready),
    ] {
        // The Pods of a Job end, and nothing waits for them to be ready.
        if step == Step::Ready && kind == "Job" {
            continue;
        }
        let found = first(of);
        let more = match (step, &found) {
            (Step::Created, Some((_, name))) => name.clone(),
            (Step::Pulled, Some((_, name))) => pull(name).unwrap_or_default(),
            _ => String::new(),
        };
        add(step, found.map(|(seen, _)| seen), more);
    }
    let desired = begun.wanted;
    let ready: Vec<Seen> = lives.iter().filter_map(|(_, life)| life.ready).collect();
    if kind != "Job" && rollout.more == 0 && desired > 0 && ready.len() as i64 >= desired {
        let mut ready = ready;
        kubechurn_client::api::sort::sort_by(&mut ready, |one, other| one.at.total_cmp(&other.at));
        add(Step::All, ready.get(desired as usize - 1).copied(), String::new());
    }
    add(Step::Done, begun.done, String::new());
    rollout.steps = in_order(all);
}

/// What is wrong with the most Pods: of how many, the name of one, and since when the first of them is so.
fn trouble(lives: &[(String, Life)]) -> Option<(usize, String, Trouble)> {
    let of = |life: &Life| life.trouble.clone().filter(|_| life.end.asked.is_none());
    let mut all: Vec<(usize, String, Trouble)> = Vec::new();
    for (name, trouble) in lives.iter().filter_map(|(name, life)| Some((name, of(life)?))) {
        // Between two tries the word changes, and the trouble is the same.
        let image = |word: &str| word.contains("Image");
        let is_it = |known: &&mut (usize, String, Trouble)| {
            known.2.word == trouble.word || (image(&known.2.word) && image(&trouble.word))
        };
        match all.iter_mut().find(is_it) {
            Some(known) => {
                known.0 += 1;
                let at = |one: &Trouble| one.since.map_or(f64::INFINITY, |seen| seen.at);
                if at(&trouble) < at(&known.2) {
                    (known.1, known.2) = (name.clone(), trouble);
                }
            }
            None => all.push((1, name.clone(), trouble)),
        }
    }
    all.into_iter().reduce(|one, other| if other.0 > one.0 { other } else { one })
}

/// A Pod that took, or takes, longest.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowest {
    /// Its name.
    pub name: String,
    /// How long it took to be ready, or has taken so far, in milliseconds.
    pub took: f64,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Where the most of that time went, in words, and how long that was.
    pub most: (&'static str, f64),
    /// Its last version that counts here.
    pub seq: Option<u64>,
}

impl Rollout {
    /// The Pod that took longest. `now` is the time that is shown, in milliseconds.
    pub fn slowest(&self, now: f64) -> Option<Slowest> {
        let of = |(name, life): &(String, Life)| {
            let created = life.created?;
            let end = life.ready.map_or(life.end.asked.map_or(now, |asked| asked.at), |ready| ready.at);
            let parts = [
                (life.scheduled, "waited for a node"),
                (life.pulled, "had its images pulled"),
                (life.started, "started"),
                (life.ready, "became ready"),
            ];
            let (mut at, mut most) = (created.at, ("", 0.0));
            for (seen, words) in parts {
                let Some(seen) = seen else { continue };
                // An Event may come later than what it led to, by another watch.
                let reached = seen.at.min(end);
                if reached - at > most.1 {
                    most = (words, reached - at);
                }
                at = at.max(reached);
            }
            if life.ready.is_none() && end - at > most.1 {
                let words = match (life.scheduled, life.started) {
                    _ if life.trouble.is_some() => "fails",
                    (None, _) if life.node.is_empty() => "waits for a node",
                    (_, None) => "waits for its containers to start",
                    _ => "waits to be ready",
                };
                most = (words, end - at);
            }
            let seq = life.ready.or(life.trouble.as_ref().and_then(|one| one.since)).or(Some(created));
            let seq = seq.and_then(|seen| seen.seq);
            Some(Slowest { name: name.clone(), took: end - created.at, is_ready: life.ready.is_some(), most, seq })
        };
        self.lives.iter().filter_map(of).reduce(|one, other| {
            let is_slower = (!other.is_ready, other.took) > (!one.is_ready, one.took);
            if is_slower { other } else { one }
        })
    }

    /// How many of its Pods are ready, and how many there should be.
    pub fn ready(&self) -> (usize, i64) {
        let ready =
            self.lives.iter().filter(|(_, life)| life.is_ready && life.end.asked.is_none() && life.end.gone.is_none());
        (ready.count(), self.begun.counts.desired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_pod_s_start_took_longer_than_all_of_it() {
        let seen = |at: f64| Some(Seen { at, seq: None, is_from_object: false });
        // The Event about the pull comes 100 ms after the Pod is ready.
        let life = Life { created: seen(1_000.0), pulled: seen(2_800.0), ready: seen(2_700.0), ..Life::default() };
        let rollout = Rollout { lives: vec![(String::from("web-a"), life)], ..Rollout::default() };
        let slowest = rollout.slowest(9_000.0).expect("a Pod");
        assert_eq!((slowest.took, slowest.most), (1_700.0, ("had its images pulled", 1_700.0)));
    }

    /// The history of a Deployment whose change a watch brought after a list had brought what it led to.
    fn listed_before(is_again: bool) -> History {
        use kubechurn_client::api::object::decode_metadata;
        use kubechurn_client::cache::delta::DeltaType;
        use kubechurn_client::cache::shared_informer::ReceivedDelta;
        use kubechurn_columns::kinds::{pods, replicas};

        let mut history = History::new(1 << 20, 0);
        let template = |image: &str| format!(r#""template":{{"spec":{{"containers":[{{"image":"{image}"}}]}}}}"#);
        let mut push = |resource, delta_type, now: f64, (name, second): (&str, u32), rest: String| {
            let text = format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"{now}","creationTimestamp":"1970-01-01T00:01:{second:02}Z",{rest}}}"#
            );
            let object = std::sync::Arc::new(decode_metadata(&text).expect("an object"));
            history.push(
                resource,
                ReceivedDelta { now, delta_type, object: &object, text: Some(&text), was_known: false },
            );
        };
        let owner = |uid: &str| format!(r#""ownerReferences":[{{"controller":true,"uid":"{uid}"}}]"#);
        let deployment = |generation: u32, image: &str| {
            format!(r#""generation":{generation}}},"spec":{{"replicas":1,{}}}"#, template(image))
        };
        let revision = r#""annotations":{"deployment.kubernetes.io/revision":"2"}"#;
        let set = format!(r#"{revision},{}}},"spec":{{{}}}"#, owner("web"), template("web:2"));
        let (deployments, sets, pods) =
            (replicas::DEPLOYMENTS.resource, replicas::REPLICA_SETS.resource, pods::KIND.resource);
        push(deployments, DeltaType::Replaced, 80_000.0, ("web", 0), deployment(1, "web:1"));
        push(sets, DeltaType::Replaced, 80_400.0, ("web-b", if is_again { 2 } else { 20 }), set);
        push(pods, DeltaType::Replaced, 80_500.0, ("web-a-old", 1), format!("{}}}", owner("web-a")));
        push(pods, DeltaType::Replaced, 80_500.0, ("web-b-old", 2), format!("{}}}", owner("web-b")));
        push(pods, DeltaType::Replaced, 80_500.0, ("web-b-new", 20), format!("{}}}", owner("web-b")));
        push(deployments, DeltaType::Updated, 80_900.0, ("web", 0), deployment(2, "web:2"));
        history
    }

    #[test]
    fn pods_that_a_list_brought_before_the_change_are_of_the_rollout() {
        for is_again in [false, true] {
            let history = listed_before(is_again);
            let known = Known { history: &history, received: history.received(), at: 90_000.0, to_page: 0.0 };
            let deployments = kubechurn_columns::kinds::replicas::DEPLOYMENTS.resource;
            let mut search = Search::begin(deployments, &ObjectKey::new("shop", "web"), 90_000.0, &known);
            assert!(!search.work(&history, || true));
            let rollout = &search.found().expect("a rollout").rollout;
            let names: Vec<&str> = rollout.lives.iter().map(|(name, _)| &**name).collect();
            assert_eq!(names, ["web-b-new"]);
            assert_eq!(rollout.made.as_ref().map(|made| made.is_again), Some(is_again));
        }
    }
}
