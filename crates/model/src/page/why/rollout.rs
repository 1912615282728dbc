//! The rollout of a workload: reads it while it is looked at, and shows it.

use kubechurn_changes::feed::{Entry, Progress, Subject};
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_changes::part::sentence;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::feed::FeedRow;
use crate::feed::net::Pair;
use crate::history::APART;
use crate::history::who::joining;
use crate::life::seen::{Known, Seen};
use crate::page::context::Context;
use crate::page::links::{kind_of, of_change, of_pair, place_of};
use crate::page::why::watched::watched;
use crate::rollout::bar::{Step, Stretch, place, stretches, ticks};
use crate::rollout::search::{Found, Good, Rollout, Search};
use crate::view::rollout::{BarRow, FactRow, RolloutModel, StretchRow};
use crate::why::unchanged::Watched;

/// How long a frame may read, in milliseconds.
const SHARE: f64 = 4.0;
/// How soon it is read again while something changes, in milliseconds.
const AGAIN: f64 = 2_000.0;

/// The rollout that is looked at.
#[derive(Debug, Default)]
pub(super) struct Rollouts {
    of: Option<(ApiResource, ObjectKey, f64, Option<u64>)>,
    search: Option<Search>,
    done: Option<Search>,
    began: f64,
}

/// What is to be added to a time of the server for one of the page, in milliseconds.
pub(super) fn to_page(cluster: &'static str, cx: &Context<'_>) -> f64 {
    cx.env.now() - cx.env.wall() - cx.env.server_clock(cluster).ahead()
}

/// What was known at the time that is shown.
pub(super) fn known<'a>(cluster: &'static str, cx: &'a Context<'_>) -> Known<'a> {
    let history = &cx.watching.history;
    let received = cx.watching.moment.map_or(history.received(), |moment| moment.received);
    Known { history, received, at: cx.shown_at(), to_page: to_page(cluster, cx) }
}

/// Whether objects of a kind make Pods anew when another template is asked for, as far as it is known.
fn rolls(resource: &ApiResource) -> bool {
    match resource.group {
        "apps" => matches!(resource.kind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"),
        "batch" => resource.kind == "Job",
        // A custom kind may own Pods.
        group => group.contains('.') && !group.ends_with(".k8s.io"),
    }
}

/// Adds to a row of the feed that began a rollout where that is looked at.
pub fn of_row(mut row: FeedRow, entry: &Entry, cx: &Context<'_>) -> FeedRow {
    let asks = |progress: &Progress| progress.path.starts_with("spec.template.") || progress.path == "spec.template";
    let is_new = entry.has_added && entry.deleted == 0;
    let (Subject::Object(key), Some(seq)) = (&entry.subject, entry.seqs.last()) else { return row };
    if !(is_new || entry.progress.iter().any(asks)) {
        return row;
    }
    let of = cx.watching.history.of_number(*seq).filter(|of| rolls(&of.resource));
    let Some(kind) = of.and_then(|of| kind_of(of.resource, cx)) else { return row };
    row.rollout = place_of(kind, key, entry.first_at, cx).fragment();
    row
}

impl Rollouts {
    /// Reads within a share of this frame's time. Returns whether something is left.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let place = cx.navigation.route.why.clone();
        let object = place.as_ref().and_then(|place| place.object(&cx.navigation.catalog));
        let moment = cx.watching.moment.map(|moment| moment.received);
        let of = object.zip(place).filter(|((kind, _), _)| rolls(&kind.resource));
        let of = of.map(|((kind, key), place)| (kind.resource, key, place.since + APART, moment));
        if of != self.of {
            (self.search, self.done, self.began) = (None, None, f64::NEG_INFINITY);
            self.of = of;
        }
        let Some((resource, key, when, _)) = &self.of else { return false };
        let is_new = {
            let known = known(resource.cluster, cx);
            let last = self.search.as_ref().or(self.done.as_ref()).map(Search::received);
            last.is_none() || (self.search.is_none() && last != Some(known.received) && cx.now - self.began >= AGAIN)
        };
        if is_new {
            self.search = Some(Search::begin(*resource, key, *when, &known(resource.cluster, cx)));
            self.began = cx.now;
        }
        let Some(search) = &mut self.search else { return false };
        let (env, end) = (cx.env, cx.env.work_clock() + SHARE);
        let is_left = search.work(&cx.watching.history, || env.work_clock() < end);
        if !is_left {
            self.done = self.search.take();
        }
        is_left
    }

    /// The rollout, as it is shown; `None` where there is none, or while nothing is known of it.
    pub(super) fn model(&self, cx: &Context<'_>) -> Option<RolloutModel> {
        let search = self.done.as_ref()?;
        let (resource, key) = search.of();
        let found = search.found()?;
        let is_known = !found.rollout.lives.is_empty() || matches!(resource.group, "apps" | "batch");
        is_known.then(|| model(found, resource, &key.name, cx))
    }
}

/// A span of time, so that its last unit counts: `2.3 s`, `58 s`, `9 min 02 s`.
pub(super) fn long(milliseconds: f64) -> String {
    let seconds = (milliseconds.max(0.0) / 1_000.0).round() as u64;
    match seconds {
        _ if milliseconds < 9_950.0 => format!("{:.1} s", milliseconds.max(0.0) / 1_000.0),
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..172_800 => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// When a rollout began: when it was asked for, or else the first that is known of it.
fn begin(rollout: &Rollout) -> Option<f64> {
    let first = rollout.steps.first().map(|one| one.seen.at);
    rollout.begun.asked.map(|asked| asked.at).or(first)
}

/// When it ended, if it has.
fn end(rollout: &Rollout) -> Option<f64> {
    let failed = rollout.begun.failed.as_ref().and_then(|(_, seen)| *seen);
    let seen: [Option<Seen>; 3] = [rollout.begun.done, failed, rollout.begun.replaced];
    seen.into_iter().flatten().map(|seen| seen.at).reduce(f64::min)
}

fn is_complete(rollout: &Rollout) -> bool {
    rollout.begun.well.is_some()
}

/// From what it is known how far a rollout is.
#[derive(Clone, Copy, Debug)]
struct Sees {
    events: bool,
    pods: Watched,
}

impl Sees {
    fn of(found: &Found, cx: &Context<'_>) -> Sees {
        Sees { events: found.has_events, pods: watched("Pod", cx.shown_at(), cx) }
    }

    /// What is waited for, as far as it is known.
    fn waiting(self, rollout: &Rollout) -> &'static str {
        match (next_step(rollout, self.events), self.pods) {
            (step @ (Step::Seen | Step::Done), _) | (step, Watched::Since(_)) => step.waiting(),
            (_, Watched::Forbidden) => "its Pods may not be read",
            (_, Watched::Not) => "its Pods are not known",
        }
    }
}

/// The first step that a rollout has not reached, and that is known where it is.
fn next_step(rollout: &Rollout, has_events: bool) -> Step {
    let last = rollout.steps.iter().map(|one| one.step).max();
    let after = Step::ALL.into_iter().filter(|step| Some(*step) > last);
    // Whether there is a revision is known only where its kind is watched; without one there is no Pod.
    let mut after = after.filter(|step| *step != Step::Made && (has_events || *step != Step::Pulled));
    after.next().unwrap_or(Step::Done)
}

/// What is wrong with its Pods, in words.
fn trouble(rollout: &Rollout) -> Option<String> {
    let (count, _, trouble) = rollout.trouble.as_ref()?;
    let pods = if *count == 1 { "Pod" } else { "Pods" };
    Some(format!("{count} {pods}: {}", trouble.word))
}

/// All stretches of a rollout: those of its steps, what it waits for since, and what is left until it is given up.
fn all_stretches(rollout: &Rollout, begin: f64, sees: Sees, now: f64) -> Vec<Stretch> {
    let mut all = stretches(begin, &rollout.steps);
    if is_complete(rollout) {
        return all;
    }
    let last = all.last().map_or(0.0, |one| one.to);
    let ends = end(rollout).unwrap_or(now) - begin;
    let mut push = |from: f64, to: f64, what: &'static str, words: String, seq: Option<u64>| {
        if to > from {
            all.push(Stretch { from, to, what, words, seq, is_from_object: false });
        }
    };
    let waiting = sees.waiting(rollout);
    let since = rollout.trouble.as_ref().and_then(|(_, _, trouble)| trouble.since);
    match (&rollout.begun.failed, since) {
        (Some((words, _)), _) => push(last, ends, "bad", format!("✕ {words}"), None),
        (None, Some(since)) => {
            let from = (since.at - begin).clamp(last, ends.max(last));
            push(last, from, "waits", waiting.to_owned(), since.seq);
            let words = format!("✕ {}, {} so far", trouble(rollout).unwrap_or_default(), long(ends - from));
            push(from, ends, "bad", words, since.seq);
        }
        (None, None) => {
            let words = match rollout.begun.replaced {
                Some(_) => String::from("replaced by the next one"),
                None => format!("{waiting}, {} so far", long(ends - last)),
            };
            push(last, ends, "waits", words, rollout.begun.replaced.and_then(|seen| seen.seq));
        }
    }
    let given_up = rollout.waits.iter().find(|wait| wait.then == "given up").and_then(|wait| wait.until);
    if let Some(until) = given_up.filter(|until| *until > now) {
        push(ends, until - begin, "left", format!("{} left", long(until - now)), None);
    }
    all
}

fn bar(rollout: &Rollout, name: &str, (axis, sees): (f64, Sees), cx: &Context<'_>) -> BarRow {
    let now = cx.shown_at();
    let begun = &rollout.begun;
    let revision = match &*begun.revision {
        "" => rollout.made.as_ref().map(|made| made.revision.clone()).unwrap_or_default(),
        revision => revision.to_owned(),
    };
    let at = begin(rollout);
    let time = match (begun.asked, at) {
        (Some(asked), _) if asked.is_from_object => {
            format!("{}, from the object", cx.words().date_and_second(asked.at))
        }
        (Some(asked), _) => cx.words().date_and_time(asked.at),
        (None, Some(at)) => format!("before {}", cx.words().date_and_second(at)),
        (None, None) => String::from("when it began is not known"),
    };
    let row = |one: &Stretch| {
        let (left, right) = (place(one.from, axis) * 100.0, place(one.to, axis) * 100.0);
        let after = match one.what {
            "left" => at.map_or(String::new(), |at| format!("given up {}", cx.words().to_second(at + one.to))),
            _ => format!("+{}", long(one.to)),
        };
        StretchRow {
            left,
            width: (right - left).max(0.0),
            what: one.what,
            words: one.words.clone(),
            after,
            at: at.map(|at| at + one.to),
            href: of_change(one.seq, cx),
            is_from_object: one.is_from_object,
        }
    };
    let all = at.map(|at| all_stretches(rollout, at, sees, now)).unwrap_or_default();
    let took = at.zip(end(rollout)).map(|(at, end)| long(end - at));
    let outcome = match (is_complete(rollout), took) {
        (true, Some(took)) => format!("✓ done, {took}"),
        (true, None) => String::from("✓ done before this page saw it"),
        (false, _) if begun.failed.is_some() => String::from("✕ failed"),
        (false, Some(took)) => format!("replaced after {took}"),
        (false, None) => String::from("goes on"),
    };
    BarRow {
        name: name.to_owned(),
        when: if revision.is_empty() { time } else { format!("{time}, revision {revision}") },
        at: begun.asked.map(|asked| asked.at).or(at),
        stretches: all.iter().map(row).collect(),
        outcome,
        is_well: is_complete(rollout),
    }
}

/// What is the same in both, and where they part: the place of that, in milliseconds after the beginning, if they part.
fn against(found: &Found, now: f64) -> (String, Option<f64>) {
    let rollout = &found.rollout;
    let good = match &found.good {
        None => return (String::from("No rollout before this one is known that went well."), None),
        Some(Good::Before { .. }) => {
            let words = "The last good one was there before this page: its fields are known, and none of its steps.";
            return (words.to_owned(), None);
        }
        Some(Good::Revision { name, number, ready }) => {
            let ready = match ready {
                Some(ready) if *ready > 0 => format!("{ready} of its Pods are ready"),
                Some(_) => String::from("none of its Pods is left, and whether it went well is not known"),
                None => String::from("whether it went well is not known"),
            };
            let words = "Of the one before it only the fields are known, and none of its steps";
            return (format!("{words}: revision {number}, {name}; {ready}."), None);
        }
        Some(Good::Received(good)) => good,
    };
    let took = |of: &Rollout| Some(end(of)? - begin(of)?);
    if is_complete(rollout) {
        let words = match (took(rollout), took(good)) {
            (Some(own), Some(other)) => format!("Done in {}; the last good one took {}.", long(own), long(other)),
            _ => String::from("Done, as the last good one."),
        };
        return (words, None);
    }
    let has = |step: Step| rollout.steps.iter().any(|one| one.step == step);
    let last = good.steps.iter().rfind(|one| has(one.step)).map(|one| one.step);
    let own = rollout.steps.iter().find(|one| Some(one.step) == last);
    let furthest = rollout.steps.iter().map(|one| one.step).max();
    let parted = good.steps.iter().find(|one| Some(one.step) > furthest && one.step != Step::Made);
    let now_at = begin(rollout).map_or(0.0, |at| end(rollout).unwrap_or(now) - at);
    let Some(parted) = parted else { return (String::from("The same steps as the last good one."), None) };
    let at = own.zip(begin(rollout)).map_or(0.0, |(one, at)| (one.seen.at - at).max(0.0));
    let then = begin(good).map_or(0.0, |at| parted.seen.at - at);
    let same = match own {
        Some(own) => format!("The same until +{} ({})", long(at), own.step.words()),
        None => String::from("They part at once"),
    };
    // It parts only when the good one had been further by this time.
    if rollout.trouble.is_none() && rollout.begun.failed.is_none() && then > now_at {
        return (format!("{same}; the last good one was not further by this time."), None);
    }
    let why = rollout.begun.failed.as_ref().map(|(words, _)| words.clone()).or_else(|| trouble(rollout));
    let why = why.unwrap_or_else(|| parted.step.waiting().to_owned());
    let there = format!("there {} at +{}", parted.step.words(), long(then));
    (format!("{same}; then {why}, {there}."), Some(at))
}

fn asked(rollout: &Rollout, cx: &Context<'_>) -> Vec<FactRow> {
    let history = &cx.watching.history;
    let begun = &rollout.begun;
    let mut facts = Vec::new();
    let Some(change) = begun.asked.and_then(|_| history.change(begun.seq)) else {
        let words = "It began before this page, or before what is kept: who asked for it and when is not known.";
        return vec![FactRow { name: "asked for", words: words.to_owned(), href: String::new() }];
    };
    let line = Line::new(change.received(begun.seq, change.resource.kind.into()), &Marks::default());
    let href = of_change(Some(begun.seq), cx);
    let is_asked = |path: &str| path.starts_with("spec");
    let fields = line.fields.iter().filter(|field| is_asked(&field.path) && begun.previous.is_some());
    let fields: Vec<String> =
        fields.take(4).map(|field| sentence(&field.parts(&line.key.name)).trim().to_owned()).collect();
    let words = match (fields.is_empty(), begun.is_new) {
        (true, true) => String::from("the workload was created"),
        (true, false) => String::from("another template"),
        (false, _) => fields.join("; "),
    };
    facts.push(FactRow { name: "asked for", words, href: href.clone() });
    let words = match (joining::by(history, begun.seq), line.writers.first()) {
        (Some(by), _) => format!("{} (audit line: {})", by.words(), by.how),
        (None, Some(writer)) => format!("{writer}"),
        (None, None) => String::from("not known: no manager names itself for it"),
    };
    facts.push(FactRow { name: "by", words, href: String::new() });
    facts
}

fn facts(found: &Found, cx: &Context<'_>) -> Vec<FactRow> {
    let (rollout, now) = (&found.rollout, cx.shown_at());
    let mut facts = asked(rollout, cx);
    let mut say = |name: &'static str, words: String, href: String| facts.push(FactRow { name, words, href });
    if let Some(slowest) = rollout.slowest(end(rollout).unwrap_or(now)).filter(|_| rollout.begun.wanted > 0) {
        let state = if slowest.is_ready { "to be ready" } else { "so far, and not ready" };
        let most = match slowest.most {
            (_, took) if took <= 0.0 => String::new(),
            (words, took) => format!("; {} of it: {words}", long(took)),
        };
        let words = format!("{}: {} {state}{most}", slowest.name, long(slowest.took));
        say("slowest Pod", words, of_change(slowest.seq, cx));
    }
    if let Some((_, name, trouble)) = &rollout.trouble {
        let since = trouble.since.map(|seen| format!(" since {}", cx.words().to_second(seen.at))).unwrap_or_default();
        let message = if trouble.message.is_empty() { String::new() } else { format!(": {}", trouble.message) };
        let href = of_change(trouble.since.and_then(|seen| seen.seq), cx);
        say("what fails", format!("{name}, {}{since}{message}", trouble.word), href);
    }
    for wait in &rollout.waits {
        let words = match wait.until {
            None => wait.words.clone(),
            Some(until) if until > now => {
                format!("{} in {}, at {} ({})", wait.then, long(until - now), cx.words().to_second(until), wait.words)
            }
            Some(until) => format!("{} was due at {} ({})", wait.then, cx.words().to_second(until), wait.words),
        };
        say("waits for", words, String::new());
    }
    if !found.has_events {
        say("not known", String::from("when images were pulled: no Event about its Pods was received"), String::new());
    }
    if rollout.more > 0 {
        say("not read", format!("{} more of its Pods", rollout.more), String::new());
    }
    facts
}

fn model(found: &Found, resource: ApiResource, name: &str, cx: &Context<'_>) -> RolloutModel {
    let (rollout, now) = (&found.rollout, cx.shown_at());
    let sees = Sees::of(found, cx);
    let last = |of: &Rollout| {
        let all = begin(of).map(|at| all_stretches(of, at, sees, now)).unwrap_or_default();
        all.last().map_or(0.0, |one| one.to)
    };
    let good = match &found.good {
        Some(Good::Received(good)) => Some(&**good),
        _ => None,
    };
    let axis = good.map_or(0.0, last).max(last(rollout)).max(1_000.0);
    let mut bars = vec![bar(rollout, "This one", (axis, sees), cx)];
    bars.extend(good.map(|good| bar(good, "The last good one", (axis, sees), cx)));
    let (against, parted) = against(found, now);
    let pair = found.pair.map(|(old, new)| Pair { old: Some(old), new: Some(new), at: 0.0 });
    RolloutModel {
        summary: summary(rollout, resource.kind, name, now),
        against,
        fields: found.compared.as_ref().map(|compared| compared.sentence()).unwrap_or_default(),
        compare: pair.map(|pair| of_pair(pair, cx)).unwrap_or_default(),
        ticks: ticks(axis).into_iter().map(|(at, words)| (place(at, axis) * 100.0, words)).collect(),
        bars,
        parted: parted.map(|at| place(at, axis) * 100.0),
        facts: facts(found, cx),
    }
}

/// A rollout in one sentence: `revision 8: 3 of 5 ready, 12 s so far, slowest web-abc`.
fn summary(rollout: &Rollout, kind: &str, name: &str, now: f64) -> String {
    let begun = &rollout.begun;
    let number = match (&*begun.revision, &rollout.made) {
        ("", Some(made)) => made.revision.clone(),
        (revision, _) => revision.to_owned(),
    };
    let what = if number.is_empty() { format!("{kind} {name}") } else { format!("revision {number}") };
    let took = begin(rollout).map(|at| long(end(rollout).unwrap_or(now) - at));
    let (ready, desired) = rollout.ready();
    let count = match kind {
        "Job" => format!("{} of {desired} done", begun.counts.ready),
        _ => format!("{ready} of {desired} ready"),
    };
    match (is_complete(rollout), begun.failed.is_some() || end(rollout).is_some(), took) {
        (true, true, Some(took)) => format!("{what}: done in {took}"),
        (true, ..) => format!("{what}: done before this page saw it"),
        (false, true, Some(took)) => format!("{what}: {count}, ended after {took}"),
        (false, _, took) => {
            let so_far = took.map(|took| format!(", {took} so far")).unwrap_or_default();
            let slowest = rollout.slowest(now).filter(|one| !one.is_ready);
            let slowest = slowest.map(|one| format!(", slowest {} {}", one.name, one.most.0)).unwrap_or_default();
            format!("{what}: {count}{so_far}{}", slowest.trim_end())
        }
    }
}
