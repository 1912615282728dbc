//! The life of a Pod: read while the Pod is looked at, and shown beside its containers and on its incident.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::history::who::joining;
use crate::life::container::{Line, Point, Stretch};
use crate::life::event::said;
use crate::life::pod::{Life, life};
use crate::life::seen::Seen;
use crate::page::context::Context;
use crate::page::links::of_change;
use crate::page::why::rollout::{known, long};
use crate::view::life::{LifeLine, LifeModel, LifePoint, LifeStretch};

/// How soon the same Pod is read again, in milliseconds.
const AGAIN: f64 = 1_000.0;

/// The life that was read last.
#[derive(Debug, Default)]
pub struct Lives {
    of: Option<(ApiResource, ObjectKey, u64)>,
    at: f64,
    model: Option<LifeModel>,
}

impl Lives {
    /// The life of a Pod, as far as it was known at the time that is shown; `None` for other kinds, and for a Pod of which no
    /// version is kept.
    pub fn of(&mut self, resource: ApiResource, key: &ObjectKey, cx: &Context<'_>) -> Option<LifeModel> {
        if resource.kind != "Pod" || !resource.group.is_empty() {
            self.of = None;
            return None;
        }
        let known = known(resource.cluster, cx);
        let is_same = self.of.as_ref().is_some_and(|(of, name, _)| *of == resource && name == key);
        let is_read = self.of.as_ref().is_some_and(|(.., received)| *received == known.received);
        let rests = (cx.now - self.at).abs() < AGAIN && cx.watching.moment.is_none();
        if !is_same || (!is_read && !rests) {
            let said = said(&known, (resource.cluster, &key.namespace), &key.name);
            let found = life(&known, resource, key, None, &said);
            self.model = found.map(|life| model(&life, !said.is_empty(), cx));
            (self.of, self.at) = (Some((resource, key.clone(), known.received)), cx.now);
        }
        self.model.clone()
    }
}

/// A time in words, with how exact it is.
fn time(seen: Option<Seen>, cx: &Context<'_>) -> String {
    match seen {
        Some(seen) if seen.is_from_object => cx.words().date_and_second(seen.at),
        Some(seen) => cx.words().date_and_time(seen.at),
        None => String::from("at a time that is not known"),
    }
}

fn model(life: &Life, has_events: bool, cx: &Context<'_>) -> LifeModel {
    let end = life.end.gone.map_or(cx.shown_at(), |gone| gone.at);
    let times = life.lines.iter().flat_map(|line| &line.stretches).filter_map(|one| one.from);
    let begin = times.chain(life.created).map(|seen| seen.at).fold(life.known_from, f64::min);
    let span = (end - begin).max(1.0);
    let place = |at: f64| ((at - begin) / span * 100.0).clamp(0.0, 100.0);
    let stretch = |place_of: &dyn Fn(f64) -> f64, one: &Stretch, before: f64| {
        let from = one.from.map_or(before, |from| from.at);
        let left = place_of(from);
        let to = one.to.map_or(end, |to| to.at);
        let words = match (one.from, one.to) {
            (Some(from), Some(to)) => format!("{}, {}", one.words, long(to.at - from.at)),
            (Some(from), None) if life.end.gone.is_none() => format!("{}, {} so far", one.words, long(end - from.at)),
            _ => one.words.clone(),
        };
        LifeStretch {
            left,
            width: (place_of(to) - left).max(0.0),
            what: one.what,
            words,
            time: time(one.from, cx),
            at: one.from.map(|seen| seen.at),
            href: of_change(one.from.and_then(|seen| seen.seq), cx),
            // Without a time of its own it begins where the one before it ended.
            is_from_object: one.from.is_none_or(|seen| seen.is_from_object),
        }
    };
    let point = |one: &Point| LifePoint {
        left: one.seen.map(|seen| place(seen.at)),
        words: one.words.clone(),
        time: time(one.seen, cx),
        at: one.seen.map(|seen| seen.at),
        tone: match one.tone {
            Tone::Bad => "bad",
            Tone::Wait => "wait",
            Tone::Good | Tone::Plain => "",
        },
        href: of_change(one.seen.and_then(|seen| seen.seq), cx),
        is_from_object: one.seen.is_some_and(|seen| seen.is_from_object),
    };
    let line = |line: &Line| {
        let mut before = begin;
        let mut stretches = Vec::new();
        for one in &line.stretches {
            stretches.push(stretch(&place, one, before));
            before = one.to.or(one.from).map_or(before, |seen| seen.at);
        }
        let starts = line.stretches.iter().filter(|one| matches!(one.what, "runs" | "ready")).count();
        let words = match (line.unseen, starts) {
            (0, _) => String::new(),
            (1, _) => String::from("1 restart of which nothing more is known"),
            (count, _) => format!("{count} restarts of which nothing more is known"),
        };
        let name = if line.kind == "pod" { String::from("Pod") } else { line.name.clone() };
        let kind = if line.kind == "pod" { "" } else { line.kind };
        LifeLine { name, kind, stretches, points: line.points.iter().map(point).collect(), words }
    };
    let mut unknown = Vec::new();
    if life.began_before {
        let from = cx.words().date_and_second(life.known_from);
        unknown.push(format!(
            "What is hatched was before {from}, when this page saw it first: it is from the object's own words."
        ));
    }
    if life.unread > 0 {
        unknown.push(format!("{} of its versions are not kept or not read.", life.unread));
    }
    if !has_events {
        let words = "No Event about it was received: pulls and probes that failed are not known, and why it was taken away may not be.";
        unknown.push(String::from(words));
    }
    LifeModel {
        from: life.created.map_or(String::from("before what is known"), |seen| time(Some(seen), cx)),
        to: life.end.gone.map_or(String::from("now"), |seen| time(Some(seen), cx)),
        lines: life.lines.iter().map(line).collect(),
        end: ends(life, cx),
        unknown,
    }
}

/// How it ended, and who asked for it.
fn ends(life: &Life, cx: &Context<'_>) -> Vec<String> {
    let end = &life.end;
    let mut all = Vec::new();
    let history = &cx.watching.history;
    // The audit line of a deletion may be joined to the version that is marked, or to the one that is gone.
    let by = [end.asked, end.gone].into_iter().flatten().filter_map(|seen| joining::by(history, seen.seq?)).next();
    if let Some(asked) = end.asked {
        let who = match &by {
            Some(by) => format!("{} (audit line: {})", by.words(), by.how),
            None => String::from("by whom is not known: a deletion leaves no name in the object"),
        };
        all.push(format!("Its deletion was asked for at {}, {who}.", time(Some(asked), cx)));
    } else if end.gone.is_some() {
        let who =
            by.map_or(String::from("by whom is not known"), |by| format!("{} (audit line: {})", by.words(), by.how));
        all.push(format!("It was deleted, {who}."));
    }
    all.extend(end.reasons.iter().map(|reason| format!("Why: {reason}.")));
    if let Some(gone) = end.gone {
        all.push(format!("Gone at {}.", time(Some(gone), cx)));
    }
    all
}
