//! Incidents: opens the one that the address names, searches what changed before it, and shows that.

mod holds;
pub mod life;
pub mod rollout;
mod watched;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;

use crate::feed::wrong::{Fault, Subject};
use crate::history::who::joining;
use crate::navigation::catalog::at;
use crate::navigation::route::{Route, WhyPlace};
use crate::page::context::Context;
use crate::page::effect::{Effect, Request};
use crate::page::feed::Feed;
use crate::page::links::{kind_of, of_change, of_object, place_of};
use crate::page::requests::Purpose;
use crate::page::table::Table;
use crate::page::why::holds::Holding;
use crate::page::why::life::Lives;
use crate::page::why::rollout::Rollouts;
use crate::page::why::watched::watched;
use crate::page::wrong::{resource_of, uid_of};
use crate::timeline::mark::grouped;
use crate::view::ago;
use crate::view::why::{CauseRow, StepRow, UnknownRow, WhyModel, WriterRow};
use crate::why::WhyCommand;
use crate::why::cause::{Cause, Proof};
use crate::why::incident::Incident;
use crate::why::search::{BEFORE, Found, Search};
use crate::why::unchanged::{Watched, sentence, unchanged};

/// How long a frame may search, in milliseconds.
const SHARE: f64 = 6.0;
/// How soon it is searched again while an incident goes on, in milliseconds: the cluster says more of it in time.
const AGAIN: f64 = 2_000.0;
/// How many incidents are remembered after they have ended.
const REMEMBERED: usize = 100;
/// How many changes are shown that may be the cause.
const MOST: usize = 8;
/// By how much the time of an incident in an address may differ from that of one that is known, in milliseconds: what a list
/// brought is since another time than what was seen.
const SAME: f64 = 120_000.0;

/// The incident that is looked at, and those that are over.
#[derive(Debug, Default)]
pub(super) struct Why {
    /// Where it is, as the address names it.
    place: Option<WhyPlace>,
    search: Option<Search>,
    /// The last search that came to its end.
    done: Option<Search>,
    /// When the search began, in milliseconds, and how many versions had been received then.
    began: (f64, u64),
    over: Vec<Incident>,
    /// Where the user came from.
    from: Option<Route>,
    rollout: Rollouts,
    life: Lives,
    holding: Holding,
}

impl Why {
    /// Carries out a command. `pointed` is the time that is pointed at on the timeline or looked at in the inspector.
    pub(super) fn handle(
        &mut self,
        command: WhyCommand,
        pointed: Option<f64>,
        (feed, table): (&Feed, &Table),
        cx: &mut Context<'_>,
    ) {
        match command {
            WhyCommand::Copy => self.copy(cx),
            WhyCommand::Leave => self.leave(cx),
            WhyCommand::Ask => {
                let selected = cx.navigation.selected.clone().map(|(kind, key)| (kind, key, pointed));
                ask(selected.or_else(|| in_hand(feed, table, cx)), feed, cx);
            }
        }
    }

    /// The Pods of the incident that is shown, and their kind.
    pub(super) fn pods(&self, cx: &Context<'_>) -> (Option<&'static Kind>, Vec<ObjectKey>) {
        let Some(incident) = self.done.as_ref().or(self.search.as_ref()).map(Search::incident) else {
            return (None, Vec::new());
        };
        let objects = incident.objects.iter().chain([&incident.subject]).filter(|object| object.kind == "Pod");
        let cluster = incident.subject.resource.map_or("", |resource| resource.cluster);
        let pods = cx.navigation.catalog.kinds().find(|kind| kind.name == "pods").map(|pods| at(pods, cluster));
        (pods, objects.map(|object| object.key.clone()).collect())
    }

    /// Where the user goes from an incident.
    pub(super) fn leave(&mut self, cx: &mut Context<'_>) {
        let route = self.from.take().unwrap_or_else(|| cx.navigation.route.what_changed());
        cx.push(&Route { at: cx.navigation.route.at, ..route });
    }

    /// The page goes from one place to another.
    pub(super) fn follow(&mut self, from: &Route, to: &Route) {
        if to.why.is_some() && from.why.is_none() && *from != Route::default() {
            self.from = Some(from.clone());
        }
    }

    /// When there is more to do, in milliseconds.
    pub(super) fn due_at(&self) -> Option<f64> {
        self.place.is_some().then_some(self.began.0 + AGAIN)
    }

    /// Searches within a share of this frame's time. Returns whether something is left.
    pub(super) fn work(&mut self, feed: &Feed, cx: &mut Context<'_>) -> bool {
        self.remember(feed);
        let place = cx.navigation.route.why.clone();
        if place != self.place {
            (self.search, self.done, self.began) = (None, None, (f64::NEG_INFINITY, 0));
            self.place = place;
            // What is new in the page is drawn first, which takes most of a frame.
            if self.place.is_some() {
                return true;
            }
        }
        let incident = self.place.as_ref().and_then(|place| self.incident(place, feed, cx));
        if let Some(incident) = &incident {
            self.go_to_subject(incident, cx);
        }
        let is_more = self.rollout.work(cx);
        let looked_at = self.place.as_ref().and_then(|place| place.object(&cx.navigation.catalog));
        let is_more = self.holding.work(looked_at.or_else(|| cx.navigation.selected.clone()), cx) | is_more;
        let received = cx.watching.moment.map_or(cx.watching.history.received(), |moment| moment.received);
        if let Some(incident) = incident {
            let last = self.search.as_ref().or(self.done.as_ref()).map(Search::incident);
            let waited = cx.now - self.began.0;
            // An incident that goes on changes its words with each container that is started anew.
            let is_due = match last {
                None => true,
                Some(last) if *last != incident => {
                    cx.watching.moment.is_some() || last.fault.is_none() || waited >= AGAIN
                }
                Some(_) => self.search.is_none() && received != self.began.1 && waited >= AGAIN,
            };
            if is_due {
                self.search = Some(Search::begin(incident, received, &cx.watching.history));
                self.began = (cx.now, received);
            }
        }
        let Some(search) = &mut self.search else { return is_more };
        let end = cx.env.work_clock() + SHARE;
        let env = cx.env;
        let is_left = search.work(&cx.watching.history, feed.marks(), || env.work_clock() < end);
        if !is_left {
            self.done = self.search.take();
        }
        is_left | is_more
    }

    /// Has the address name what the incident is about, where it names a part of that: a Pod that fails, or the ReplicaSet of one
    /// whose Deployment was not watched until then.
    fn go_to_subject(&mut self, incident: &Incident, cx: &mut Context<'_>) {
        let Some(kind) = incident.subject.resource.and_then(|resource| kind_of(resource, cx)) else { return };
        let key = &incident.subject.key;
        let named = self.place.as_ref().and_then(|place| place.object(&cx.navigation.catalog));
        if named.is_some_and(|named| (named.0, &named.1) != (kind, key)) {
            self.place = Some(WhyPlace::of(kind, key, incident.since));
            cx.navigation.route.why = self.place.clone();
            cx.effects.push(Effect::Replace(cx.navigation.route.fragment()));
            cx.view.header.route.put(cx.navigation.route.clone());
        }
    }

    /// Keeps what is over.
    fn remember(&mut self, feed: &Feed) {
        for entry in feed.wrong().entries_now().iter().filter(|entry| entry.ended_at.is_some()) {
            let is_same = |one: &Incident| one.subject.uid == entry.subject.uid && one.since == entry.since;
            if !self.over.iter().any(is_same) {
                self.over.push(Incident::of_entry(entry));
            }
        }
        let more = self.over.len().saturating_sub(REMEMBERED);
        self.over.drain(..more);
    }

    /// The incident at a place: one that is open, one that is over, a fight, or the object alone.
    fn incident(&self, place: &WhyPlace, feed: &Feed, cx: &Context<'_>) -> Option<Incident> {
        let (kind, key) = place.object(&cx.navigation.catalog)?;
        let word = kind.resource.kind;
        let distance = |since: f64| (since - place.since).abs();
        let entry = feed.wrong().entry_of(kind, &key, place.since, cx);
        let of_entry = |entry| {
            let mut incident = Incident::of_entry(entry);
            incident.subject.resource = resource_of(entry, cx);
            incident
        };
        if let Some(entry) = entry.filter(|entry| distance(entry.since) < 1.0) {
            return Some(of_entry(entry));
        }
        let is_it = |one: &&Incident| one.concerns(&kind.resource, &key) && distance(one.since) < SAME;
        let over = self.over.iter().rev().find(is_it).filter(|_| cx.watching.moment.is_none());
        let (group, uid) = (kind.resource.group.into(), uid_of(kind, &key, cx));
        let subject = Subject { resource: Some(kind.resource), group, kind: word.to_owned(), key, uid };
        let cards = feed.cards(cx.shown_at());
        let card = cards.iter().find(|(card, _)| *card.kind == *word && card.key == subject.key);
        let card = card.filter(|(card, _)| distance(card.since) < SAME);
        // An object may have been in other trouble shortly before.
        let all = [entry.map(of_entry), over.cloned(), card.map(|(card, _)| Incident::of_card(card, subject.clone()))];
        let nearest = |one: &Incident, other: &Incident| distance(one.since).total_cmp(&distance(other.since));
        if let Some(incident) = all.into_iter().flatten().min_by(nearest) {
            return Some(incident);
        }
        // The same object was asked for before its trouble ended, which may be shown no more.
        let known = self.done.as_ref().map(Search::incident).filter(|one| one.subject == subject);
        known.filter(|one| one.fault.is_some()).cloned().or_else(|| Some(Incident::at(subject, place.since)))
    }

    /// The incident, as it is shown.
    fn model(&mut self, cx: &Context<'_>) -> Option<WhyModel> {
        let place = self.place.as_ref()?;
        let search = self.done.as_ref().or(self.search.as_ref());
        let Some(search) = search else {
            let kind = place.object(&cx.navigation.catalog).map(|(kind, _)| kind.resource.kind);
            let model = WhyModel { is_searching: true, name: place.name().to_owned(), ..WhyModel::default() };
            return Some(WhyModel { kind: kind.unwrap_or_default().to_owned(), ..model });
        };
        let incident = search.incident();
        let found = search.found();
        let resource = incident.subject.resource;
        let causes = found.map(|found| &found.causes[..]).unwrap_or_default();
        let mut model = WhyModel {
            tone: match (&incident.fault, incident.ended_at) {
                (_, Some(_)) => "over",
                (None, _) if incident.words.is_empty() => "",
                (Some(fault), _) if fault.tone() == Tone::Bad => "bad",
                _ => "wait",
            },
            kind: incident.subject.kind.clone(),
            name: incident.subject.key.to_string(),
            href: resource.map(|resource| of_object(resource, &incident.subject.key, cx)).unwrap_or_default(),
            words: incident.words.clone(),
            time: cx.words().date_and_time(incident.since),
            at: incident.since,
            facts: facts(incident, cx),
            is_searching: found.is_none(),
            causes: causes.iter().take(MOST).map(|cause| cause_row(cause, incident, cx)).collect(),
            writers: writers(causes, cx),
            has_pods: !self.pods(cx).1.is_empty(),
            ..WhyModel::default()
        };
        if let Some(found) = found {
            self.add_found(&mut model, search, found, cx);
        }
        model.rollout = self.rollout.model(cx);
        model.holds = resource.and_then(|resource| self.holding.model(resource, &incident.subject.key));
        model.life = resource.and_then(|resource| self.life.of(resource, &incident.subject.key, cx));
        Some(model)
    }

    /// Shows the incident.
    pub(super) fn present(&mut self, cx: &mut Context<'_>) {
        let model = self.model(cx);
        cx.view.feed.why.put(model);
        let selected = cx.navigation.selected.clone();
        let holds = selected.and_then(|(kind, key)| self.holding.model(kind.resource, &key));
        cx.view.inspector.holds.put(holds);
    }

    fn add_found(&self, model: &mut WhyModel, search: &Search, found: &Found, cx: &Context<'_>) {
        let more = found.causes.len().saturating_sub(MOST);
        let parts = [
            (more, "less likely"),
            (found.noise, "of these objects that say nothing"),
            (found.others, "that have nothing in common with it"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{} {words}", grouped(*count as u64)))
            .collect();
        if !parts.is_empty() {
            let count = more + found.noise + found.others;
            let changes = if count == 1 { "change" } else { "changes" };
            model.others = format!("{} more {changes}: {}", grouped(count as u64), parts.join(", "));
        }
        let first = found.trail.first().map_or(0.0, |step| step.at);
        model.trail = found
            .trail
            .iter()
            .map(|step| StepRow {
                time: cx.words().time_of_day(step.at),
                at: step.at,
                after: after(step.at - first),
                what: step.what.clone(),
                words: step.words.clone(),
                link: step.link.clone(),
                is_proven: step.is_proven,
                href: of_change(step.seq, cx),
            })
            .collect();
        let since = search.incident().since;
        let all = unchanged(&search.ties, &found.causes, &|kind| watched(kind, since, cx));
        let from = all.iter().fold(found.from, |from, one| match one.watched {
            Watched::Since(at) => from.max(at),
            _ => from,
        });
        let span = match since - from {
            span if span >= BEFORE => String::from("in the 30 minutes before"),
            _ => format!("since {}, from when on all of it is known", cx.words().to_second(from)),
        };
        model.unchanged = sentence(&all, &span);
        model.unknown = all.iter().filter_map(|one| unknown(one.kind, &one.what, one.watched, cx)).collect();
    }

    /// Copies the incident as text.
    fn copy(&mut self, cx: &mut Context<'_>) {
        if let Some(text) = self.model(cx).map(|model| model.text()) {
            cx.request(Purpose::Copy("the incident", text.clone()), Request::Copy(text));
        }
    }
}

fn facts(incident: &Incident, cx: &Context<'_>) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if incident.fault.is_none() && incident.words.is_empty() {
        facts.push((
            String::from("nothing is known to be wrong"),
            String::from("with it at this time: what changed before it"),
        ));
        return facts;
    }
    let until = incident.ended_at.unwrap_or(cx.shown_at());
    let word = if incident.ended_at.is_some() { "long; it is over" } else { "so far" };
    facts.push((ago((until - incident.since).max(0.0)), word.to_owned()));
    if let (count, Some(whole)) = incident.count
        && incident.fault.as_ref().is_some_and(Fault::is_of_pods)
    {
        facts.push(match whole.saturating_sub(count as u64) {
            0 => (String::from("all"), String::from("Pods are concerned")),
            others => (format!("{others} of {whole}"), String::from("Pods are not concerned")),
        });
    }
    if !incident.waits_for().is_empty() {
        facts.push((String::new(), incident.waits_for().to_owned()));
    }
    facts
}

fn cause_row(cause: &Cause, incident: &Incident, cx: &Context<'_>) -> CauseRow {
    let before = incident.since - cause.at;
    CauseRow {
        title: match cause.times {
            ..2 => cause.title.clone(),
            times => format!("{}, {times} times", cause.title),
        },
        proof: match cause.proof {
            Proof::Proven => "proven",
            Proof::Possible => "possible",
            Proof::ByTime => "time",
        },
        proof_words: cause.proof.words(),
        words: cause.words.clone(),
        before: if before > 0.0 { format!("{} before", span_of(before)) } else { String::from("at that time") },
        time: cx.words().time_of_day(cause.at),
        at: cause.at,
        href: of_change(Some(cause.seq), cx),
        checks: cause
            .checks
            .iter()
            .map(|check| {
                let is_other = check.seq.filter(|seq| *seq != cause.seq);
                (check.holds, check.words.clone(), of_change(is_other, cx))
            })
            .collect(),
    }
}

/// A short span of time, with tenths of a second.
fn span_of(milliseconds: f64) -> String {
    match milliseconds {
        short if short < 10_000.0 => format!("{:.1} s", short / 1_000.0),
        long => ago(long),
    }
}

fn after(milliseconds: f64) -> String {
    if milliseconds <= 0.0 { String::new() } else { format!("+{}", span_of(milliseconds)) }
}

/// Who wrote the first causes: by an audit line, or else as it seems.
fn writers(causes: &[Cause], cx: &Context<'_>) -> Vec<WriterRow> {
    let history = &cx.watching.history;
    let row = |cause: &Cause| {
        let by = joining::by(history, cause.seq);
        let (who, how) = match &by {
            Some(by) => (by.words(), format!("audit line: {}", by.how)),
            None if cause.writer.is_empty() => {
                (String::from("not known"), String::from("no manager names itself for it"))
            }
            None => (cause.writer.to_string(), String::from("inferred, from the manager and its time")),
        };
        let time = cx.words().time_of_day(cause.at);
        WriterRow { what: cause.title.clone(), time, at: cause.at, who, how, is_certain: by.is_some() }
    };
    causes.iter().take(4).map(row).collect()
}

/// What is said of objects of a kind that was not watched when the incident began.
fn unknown(kind: &str, what: &str, was: Watched, cx: &Context<'_>) -> Option<UnknownRow> {
    let found = cx.navigation.catalog.kinds().find(|known| known.resource.kind == kind);
    let is_it = |watched: &&crate::watches::watched::Watched| Some(watched.kind()) == found;
    let now = cx.watching.watches.iter().find(is_it);
    let words = match was {
        Watched::Since(_) => return None,
        Watched::Forbidden => "reading is forbidden",
        Watched::Not if now.is_some() => "not watched yet when it began",
        Watched::Not => "not watched",
    };
    let can_watch = was == Watched::Not && now.is_none() && cx.navigation.recorded.is_none();
    let watch = found.filter(|_| can_watch).map(|kind| (kind.name, kind.title));
    Some(UnknownRow { words: format!("{what}: {words}"), watch: watch.unwrap_or_default() })
}

/// The object of a change, its kind, and when it was received.
fn object_of(sequence: u64, cx: &Context<'_>) -> Option<InHand> {
    let of = cx.watching.history.of_number(sequence)?;
    Some((kind_of(of.resource, cx)?, of.key, cx.watching.history.at(sequence)))
}

/// An object that is in hand, and the time that counts.
pub(super) type InHand = (&'static Kind, ObjectKey, Option<f64>);

/// What is in hand: a row of the feed, where that is shown, or of the table.
pub(super) fn in_hand(feed: &Feed, table: &Table, cx: &Context<'_>) -> Option<InHand> {
    if cx.navigation.route.changes {
        return feed.sequence_in_hand().and_then(|sequence| object_of(sequence, cx));
    }
    table.row_under_cursor(cx).map(|(kind, row)| (kind, row.object.key.clone(), None))
}

/// Goes to the incident of what is in hand: of the row of the feed, the row of the table, or the object that is looked at.
fn ask(in_hand: Option<InHand>, feed: &Feed, cx: &mut Context<'_>) {
    let Some((kind, key, at)) = in_hand else {
        return cx.show_message("No row is chosen: j and k, or the arrows, go to one.");
    };
    let at = at.unwrap_or(cx.shown_at());
    let entry = feed.wrong().entry_of(kind, &key, at, cx);
    let since = entry.map_or(at, |entry| entry.since);
    let route = place_of(kind, &key, since, cx);
    cx.push(&route);
}
