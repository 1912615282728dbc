//! What is different between two moments: each object's version at the one against its version at the other.
//!
//! Where the watches were the same at both moments, only objects are looked at of which something was received in between;
//! otherwise all that were known at one of them. Their versions are read and compared a share of each frame's time. What was
//! changed and changed back is no difference, and is counted; of an object that differs its fields that were changed and changed
//! back are looked for when all rows are there. The rows are those of a [`Feed`] in which all differences have
//! one time, owners before what they own: so what is folded, grouped and filtered in the feed is so here, too.

pub mod back;
pub mod export;

use std::sync::Arc;

use kubechurn_changes::feed::{Feed, Limits};
use kubechurn_changes::field::Field;
use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::{Line, ReceivedChange, Unknown};
use kubechurn_changes::noise::{Marks, Noise};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::{sort_by, sort_by_key};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::Kind;
use kubechurn_recorder::Record;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::feed::net::back::Course;
use crate::feed::span::tally::Tally;
use crate::feed::span::{SpanModel, SpanSection};
use crate::history::coverage::{Known, Moment};
use crate::history::who::joining::name_writers;
use crate::history::{AtMoment, History, Was};
use crate::kind_id::listed;
use crate::rewind::is_chosen;
use crate::timeline::mark::{MarkType, grouped};
use crate::timeline::scene::duration;

/// How much of the differences is kept.
const LIMITS: Limits = Limits { rows: 5_000, lines: 20_000, bytes: 16 << 20 };
/// How often what was received meanwhile is compared where the end moves on, in milliseconds.
pub const PACE: f64 = 1_000.0;

/// Of how many objects it is kept which fields were changed and changed back.
const MOST_BACK: usize = 5_000;

/// How many owners above each other are followed. Whoever writes objects may have them own each other in a circle.
const DEEPEST: usize = 6;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The two times, in milliseconds; the second is infinity where it moves on.
    pub ends: [f64; 2],
    /// The kinds, each with the name of its cluster on a page that knows several.
    pub kinds: Vec<(&'static Kind, &'static str)>,
    /// The namespaces; empty for all.
    pub namespaces: Vec<String>,
}

/// Where the two versions of a difference are, and when the last change between them came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// The number of the version at the first moment, if there is one.
    pub old: Option<u64>,
    /// The number of the version at the second moment, or of the deletion.
    pub new: Option<u64>,
    /// When the last change came, in milliseconds.
    pub at: f64,
}

/// What was known of a kind at both moments.
#[derive(Debug)]
struct Side {
    kind: &'static Kind,
    cluster: &'static str,
    name: Arc<str>,
    known: [Known; 2],
    /// Whether it may be that names were forgotten.
    has_forgotten: bool,
    /// Whether one of its objects was not watched at one of the moments.
    is_partial: bool,
    /// Whether its watches selected other objects at the one moment than at the other.
    selects_others: bool,
}

/// What became of an object between the two moments.
#[derive(Debug)]
enum Found {
    /// It is as it was before it was changed: what it went through.
    TakenBack(String),
    /// It came and went: who controlled it.
    CameAndWent(String),
    /// It differs.
    Differs(Box<Line>, Pair),
}

/// The place of an object's kind, and its name.
type Of = (usize, ObjectKey);

/// How many objects differ, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// There was none of this name at the first moment.
    pub added: u64,
    /// There was the same object at both, with other fields.
    pub changed: u64,
    /// There is none of this name at the second moment.
    pub gone: u64,
    /// Another object has the name.
    pub replaced: u64,
    /// One of the two versions is not kept.
    pub unknown: u64,
    /// They differ in what says nothing alone.
    pub noise: u64,
    /// They were changed, and are as they were.
    pub taken_back: u64,
    /// They came and went.
    pub passed: u64,
}

/// The comparison, while it is made and afterwards.
#[derive(Debug)]
pub struct Net {
    asked: Asked,
    moments: [Moment; 2],
    sides: Vec<Side>,
    /// The objects that are still to be compared.
    queue: Vec<Of>,
    /// How many there were.
    queued: usize,
    found: FxHashMap<Of, Found>,
    /// The changed objects of which it is still to be seen which fields were changed and changed back.
    unseen: Vec<Of>,
    waits: FxHashSet<Of>,
    /// The fields that were changed and changed back, of objects that differ in others.
    back: FxHashMap<Of, Vec<Course>>,
    /// The differences.
    pub feed: Feed,
    /// The objects of the feed's lines, which are numbered from 1.
    lines: Vec<(Of, Pair)>,
    tally: Tally,
    counts: Differences,
    /// The same for each kind.
    by_kind: FxHashMap<Arc<str>, Differences>,
    /// The second moment as it was when the rows were made last, in milliseconds; `None` until they are made.
    settled: Option<f64>,
    /// Whether the rows are behind what was compared.
    is_behind: bool,
    /// Whether something is to be shown that was not yet.
    is_new: bool,
}

impl Net {
    /// A comparison of which nothing is made yet. Where the second end is infinity it is `now`.
    pub fn new(asked: Asked, now: f64, filter: Filter, history: &History) -> Net {
        let moments = asked.ends.map(|at| history.moment(at.min(now)));
        let mut feed = Feed::by_owner(LIMITS);
        feed.set_filter(filter);
        // Events are what is said of changes, and no state of anything.
        let is_of_events =
            |kind: &Kind| matches!(kind.resource.group, "" | "events.k8s.io") && kind.resource.plural == "events";
        let kinds = asked.kinds.iter().filter(|(kind, _)| !is_of_events(kind));
        let sides = kinds.map(|(kind, cluster)| Side {
            kind,
            cluster,
            name: kind.resource.kind.into(),
            known: Default::default(),
            has_forgotten: false,
            is_partial: false,
            selects_others: false,
        });
        let mut net = Net {
            moments,
            sides: sides.collect(),
            queue: Vec::new(),
            queued: 0,
            found: FxHashMap::default(),
            unseen: Vec::new(),
            waits: FxHashSet::default(),
            back: FxHashMap::default(),
            feed,
            lines: Vec::new(),
            tally: Tally::default(),
            counts: Differences::default(),
            by_kind: FxHashMap::default(),
            settled: None,
            is_behind: true,
            is_new: true,
            asked,
        };
        net.look(None, history);
        net
    }

    /// What is compared.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// Has what was received up to `now` be compared, too, if the second end moves on and all before is compared.
    pub fn go_on(&mut self, now: f64, history: &History) {
        let last = self.moments[1];
        let is_due = now - last.at >= PACE || now < last.at;
        if self.asked.ends[1].is_infinite() && self.is_done() && is_due {
            self.moments[1] = history.moment(now);
            self.look(Some(last), history);
            if self.is_done() {
                self.settled = Some(self.moments[1].at);
            }
        }
    }

    /// Puts all objects into the queue that may have become others: since the second moment as it was `last`, or since the first
    /// one.
    fn look(&mut self, last: Option<Moment>, history: &History) {
        let mut wanted: FxHashSet<Of> = FxHashSet::default();
        let since = last.unwrap_or(self.moments[0]);
        let received = (since.received, self.moments[1].received);
        for (place, side) in self.sides.iter_mut().enumerate() {
            let before = std::mem::take(&mut side.known);
            let known = |moment| history.coverage.known_in(side.kind.resource, &self.asked.namespaces, moment);
            side.known = self.moments.map(known);
            if side.known.iter().any(Known::is_nothing) {
                continue;
            }
            let [first, second] = &side.known;
            let base = if last.is_some() { &before[1] } else { first };
            let is_whole = |known: &Known, moment| known.parts.iter().all(|part| history.is_whole(part, moment));
            side.has_forgotten |= !is_whole(first, self.moments[0]);
            let mut parts = base.parts.iter().zip(&second.parts);
            let is_same = base.parts.len() == second.parts.len() && parts.all(|(one, other)| one.is_same_watch(other));
            // A list that was on its way held back what it brought.
            let is_held = base.parts.iter().any(|part| part.received != since.received);
            let mut want = |key: &ObjectKey| {
                if is_chosen(&self.asked.namespaces, side.kind, key) {
                    wanted.insert((place, key.clone()));
                }
            };
            if !is_same || is_held || !is_whole(base, since) {
                for known in &side.known {
                    history.each_past(side.kind.resource, known, &mut |past| want(past.key));
                }
            }
            history.each_between(side.kind.resource, received, &mut want);
        }
        self.queue = wanted.into_iter().collect();
        self.queued = self.queue.len();
        self.is_behind |= !self.queue.is_empty();
        self.is_new = true;
    }

    /// Whether no rows are made yet, because nothing was compared or nothing differed.
    pub fn has_no_rows(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many objects were compared since the rows were made.
    pub fn behind(&self) -> usize {
        if self.is_to_be_settled() { self.queued } else { 0 }
    }

    /// Whether everything is compared, and the rows are to be made of it.
    pub fn is_to_be_settled(&self) -> bool {
        self.is_behind && self.queue.is_empty()
    }

    /// Whether all objects are compared, and have their rows.
    pub fn is_done(&self) -> bool {
        self.queue.is_empty() && !self.is_behind
    }

    /// Whether it is known, too, which of their fields were changed and changed back.
    pub fn is_complete(&self) -> bool {
        self.is_done() && self.unseen.is_empty()
    }

    /// Compares objects until none is left or `more` says no. Returns whether some are left.
    pub fn work(&mut self, history: &History, marks: &Marks, mut more: impl FnMut() -> bool) -> bool {
        while more() {
            let Some(of) = self.queue.pop() else { break };
            self.is_behind = true;
            self.is_new = true;
            let found = self.compare(&of, history, marks);
            let is_changed = matches!(&found, Some(Found::Differs(line, pair)) if is_changed(line, *pair));
            match is_changed {
                true if self.waits.insert(of.clone()) => self.unseen.push(of.clone()),
                true => {}
                false => drop(self.back.remove(&of)),
            }
            match found {
                Some(found) => drop(self.found.insert(of, found)),
                None => drop(self.found.remove(&of)),
            }
        }
        !self.queue.is_empty()
    }

    /// Looks which fields of the objects that differ were changed and changed back, until none is left or `more` says no. Returns
    /// whether some are left.
    pub fn look_back(&mut self, history: &History, marks: &Marks, mut more: impl FnMut() -> bool) -> bool {
        while more() {
            let Some(of) = self.unseen.pop() else { break };
            self.waits.remove(&of);
            let seen = self.seen(&of, history, marks).filter(|_| self.back.len() < MOST_BACK);
            self.is_new |= seen.is_some();
            match seen {
                Some(courses) => drop(self.back.insert(of, courses)),
                None => drop(self.back.remove(&of)),
            }
        }
        !self.unseen.is_empty()
    }

    /// The fields of a changed object that were changed and changed back; `None` for none.
    fn seen(&self, of: &Of, history: &History, marks: &Marks) -> Option<Vec<Course>> {
        let Some(Found::Differs(line, pair)) = self.found.get(of) else { return None };
        let (old, new) = pair.old.zip(pair.new).filter(|_| is_changed(line, *pair))?;
        let resource = self.sides.get(of.0)?.kind.resource;
        let courses = back::within((resource, &of.1), (old, new), line, history, marks);
        (!courses.is_empty()).then_some(courses)
    }

    /// The fields that were changed and changed back in the object of a line, as far as that is known yet.
    pub fn back_of(&self, seq: u64) -> &[Course] {
        let of = seq.checked_sub(1).and_then(|at| self.lines.get(usize::try_from(at).ok()?));
        of.and_then(|(of, _)| self.back.get(of)).map_or(&[], Vec::as_slice)
    }

    /// What became of an object; `None` if it is the same, or if that is not known.
    fn compare(&mut self, (place, key): &Of, history: &History, marks: &Marks) -> Option<Found> {
        let moments = self.moments;
        let side = self.sides.get_mut(*place)?;
        let resource = side.kind.resource;
        let parts = side.known.each_ref().map(|known| history.coverage.part_of(known, key));
        let [Some(first), Some(second)] = parts else {
            side.is_partial = true;
            return None;
        };
        let selectors = [first, second].map(|part| history.coverage.scope(part).selectors());
        if selectors[0] != selectors[1] {
            side.selects_others = true;
            return None;
        }
        let [was, is] = side.known.each_ref().map(|known| history.past_of(resource, key, known));
        let delta_type = match (&was, &is) {
            (None, None) => return Some(Found::CameAndWent(back::controller_of((resource, key), history, marks))),
            (None, Some(_)) => DeltaType::Added,
            (Some(_), None) => DeltaType::Deleted,
            (Some(was), Some(is)) if was.uid != is.uid => DeltaType::Replaced,
            (Some(_), Some(_)) => DeltaType::Updated,
        };
        let [old, new] = [&was, &is].map(|of| of.as_ref().and_then(record_of));
        let mut pair = Pair {
            old: old.map(|record| record.sequence),
            new: new.map(|record| record.sequence),
            at: is.as_ref().map_or(f64::NEG_INFINITY, |is| is.last.1),
        };
        if delta_type == DeltaType::Updated && pair.old.is_some() && pair.old == pair.new {
            return None;
        }
        if is.is_none() {
            let end = history.of(&resource, key).into_iter().rev();
            let end = end.into_iter().find(|entry| entry.sequence < moments[1].received);
            (pair.new, pair.at) = end.map_or((None, moments[1].at), |end| (Some(end.sequence), end.at));
        }
        pair.at = pair.at.clamp(moments[0].at.min(moments[1].at), moments[1].at);
        let went = |pair: Pair| match (pair.old, pair.new) {
            (Some(old), Some(new)) => back::taken_back((resource, key), (old, new), history, marks),
            _ => String::new(),
        };
        let text = |record: Option<&Record>| history.text(record.filter(|record| record.has_text)?.sequence);
        let (old, new) = (text(old), text(new));
        if delta_type == DeltaType::Updated && old.is_some() && old == new {
            return Some(Found::TakenBack(went(pair)));
        }
        let is_compared = matches!(delta_type, DeltaType::Updated | DeltaType::Replaced);
        let is_kept = !is_compared || (old.is_some() && new.is_some());
        let uid = is.as_ref().or(was.as_ref())?.uid.clone();
        let change = ReceivedChange {
            seq: 0,
            at: 0.0,
            kind: side.name.clone(),
            key: key.clone(),
            uid,
            delta_type,
            old: old.as_deref().filter(|_| is_kept),
            new: new.as_deref(),
        };
        let mut line = Line { cluster: side.cluster, ..Line::new(change, marks) };
        line.is_listed = false;
        if !is_kept {
            line.unknown = Some(Unknown::NotKept);
        }
        name_writers(&mut line, (resource, key), between(moments, pair), history);
        // A condition that went and came back has the time at which it came back.
        let is_time = |field: &Field| field.path.ends_with(".lastTransitionTime");
        if line.more == 0 && !line.fields.is_empty() && line.fields.iter().all(is_time) {
            (line.noise, line.fields) = (Some(Noise::TransitionTime), Vec::new());
        }
        let is_same = matches!(line.noise, Some(Noise::Unchanged | Noise::Version | Noise::ManagedFields));
        Some(if is_same { Found::TakenBack(went(pair)) } else { Found::Differs(Box::new(line), pair) })
    }

    /// Has the differences name who made the requests, of which more may be known now.
    pub fn name_writers(&mut self, history: &History) {
        for ((place, key), found) in &mut self.found {
            let (Found::Differs(line, pair), Some(side)) = (found, self.sides.get(*place)) else { continue };
            name_writers(line, (side.kind.resource, key), between(self.moments, *pair), history);
        }
        self.is_behind |= !self.found.is_empty();
    }

    /// Makes the rows of what was compared. Returns how the numbers of the lines changed: for each new one, from 1, the old one.
    pub fn settle(&mut self) -> Option<Vec<u64>> {
        if !self.is_to_be_settled() {
            return None;
        }
        (self.is_behind, self.is_new) = (false, true);
        self.settled = Some(self.moments[1].at);
        let before: FxHashMap<Of, u64> =
            std::mem::take(&mut self.lines).into_iter().zip(1..).map(|((of, _), seq)| (of, seq)).collect();
        let mut feed = self.empty_feed();
        (self.tally, self.counts) = (Tally::default(), Differences::default());
        self.by_kind.clear();
        let mut differing = Vec::new();
        for (of, found) in &self.found {
            match found {
                Found::TakenBack(_) => self.counts.taken_back += 1,
                Found::CameAndWent(_) => self.counts.passed += 1,
                Found::Differs(line, pair) => differing.push((of, &**line, *pair)),
            }
        }
        in_order(&mut differing);
        for ((of, line, pair), seq) in differing.into_iter().zip(1..) {
            self.counts.add(line);
            self.by_kind.entry(line.kind.clone()).or_default().add(line);
            if line.noise.is_none() {
                self.tally.add(line, true);
            }
            self.lines.push((of.clone(), pair));
            feed.push(Line { seq, at: self.moments[1].at, ..line.clone() });
        }
        self.feed = feed;
        Some(self.lines.iter().map(|(of, _)| before.get(of).copied().unwrap_or_default()).collect())
    }

    /// A feed with the same filter, and without rows.
    fn empty_feed(&self) -> Feed {
        let mut feed = Feed::by_owner(LIMITS);
        feed.set_filter(self.feed.filter().clone());
        feed
    }

    /// Where the two versions are that a line compares.
    pub fn pair(&self, seq: u64) -> Option<Pair> {
        let at = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.lines.get(at).map(|(_, pair)| *pair)
    }

    /// Has what is said be shown again, in other words.
    pub fn show_again(&mut self) {
        self.is_new = true;
    }

    /// Whether there is something to be shown since this was last asked.
    pub fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// How many objects differ, in words.
    pub fn words(&self) -> String {
        if self.settled.is_some() { self.counts.words() } else { String::from("Not compared yet") }
    }

    /// The two moments of which the rows are, in milliseconds.
    pub fn times(&self) -> [f64; 2] {
        let [from, to] = self.moments.map(|moment| moment.at);
        [from, self.settled.unwrap_or(to)]
    }

    /// Whether the second moment moves on.
    pub fn moves_on(&self) -> bool {
        self.asked.ends[1].is_infinite()
    }

    /// What is shown of it. `ends` are the two times in words.
    pub fn model(&self, ends: [String; 2]) -> SpanModel {
        let [from, to] = self.times();
        let left = self.queue.len();
        let reading = match left {
            0 => String::new(),
            left => {
                format!("compared {} of {} objects", grouped((self.queued - left) as u64), grouped(self.queued as u64))
            }
        };
        SpanModel {
            is_net: true,
            times: format!("{} – {}", ends[0], ends[1]),
            against: format!("{} apart", duration(((to - from) / 1_000.0).floor().max(0.0) * 1_000.0)),
            ends,
            words: self.words(),
            reading,
            left_out: self.left_out().join("\n"),
            sections: self.sections(),
        }
    }

    /// What is not among the differences, and why, in sentences.
    pub fn left_out(&self) -> Vec<String> {
        let of = |is_it: &dyn Fn(&Side) -> bool| {
            let titles: Vec<&str> = self.sides.iter().filter(|side| is_it(side)).map(|side| side.kind.title).collect();
            (!titles.is_empty()).then(|| listed(&titles))
        };
        let is_nothing = |at: usize| move |side: &Side| side.known[at].is_nothing();
        let at = ["the first moment", "the second moment"];
        let counted = |count: u64, one: &str, more: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            count => Some(format!("{} {more}", grouped(count))),
        };
        let is_known = |side: &Side| !side.known.iter().any(Known::is_nothing);
        let beyond = self.feed.counts();
        let said = [
            counted(
                self.counts.taken_back,
                "1 object was changed and is as it was.",
                "objects were changed and are as they were.",
            ),
            counted(self.counts.passed, "1 object came and went.", "objects came and went."),
            counted(
                self.back.len() as u64,
                "1 object that differs has other fields that were changed and changed back.",
                "objects that differ have other fields that were changed and changed back.",
            ),
            (self.back.len() >= MOST_BACK)
                .then(|| format!("Which fields were changed back is not known of more than {MOST_BACK} objects.")),
            of(&is_nothing(0))
                .map(|kinds| format!("{kinds}: not compared, because not watched or not yet listed at {}.", at[0])),
            of(&|side| !side.known[0].is_nothing() && side.known[1].is_nothing())
                .map(|kinds| format!("{kinds}: not compared, because not watched at {}.", at[1])),
            of(&|side| is_known(side) && side.known.iter().any(|known| known.is_listing)).map(|kinds| {
                format!("{kinds}: in some namespaces the first list was not complete at one of the two moments.")
            }),
            of(&|side| side.is_partial)
                .map(|kinds| format!("{kinds}: in some namespaces not watched at one of the two moments.")),
            of(&|side| side.selects_others).map(|kinds| {
                format!(
                    "{kinds}: not compared, because other labels or fields were selected at one of the two moments."
                )
            }),
            of(&|side| is_known(side) && side.known.iter().any(Known::is_in_gap)).map(|kinds| {
                format!(
                    "{kinds}: the server was not heard at one of the two moments. What was known before is compared."
                )
            }),
            of(&|side| side.has_forgotten)
                .map(|kinds| format!("{kinds}: objects may be missing, because what was known of them is dropped.")),
            counted(beyond.lines_evicted, "1 object more differs than is kept.", "objects more differ than are kept."),
            (self.sides.len() < self.asked.kinds.len())
                .then(|| String::from("Events are no state of anything, and are not compared.")),
        ];
        said.into_iter().flatten().collect()
    }

    /// The differences by what they have in common; beside each kind what became of its objects.
    fn sections(&self) -> Vec<SpanSection> {
        let mut sections = self.tally.sections(1.0, None);
        for row in sections.iter_mut().filter(|section| section.title == "kind").flat_map(|section| &mut section.rows) {
            row.note = self.by_kind.get(&*row.name).map_or_else(String::new, Differences::signs);
        }
        let passed = self.found.iter().filter_map(|((place, key), found)| {
            let kind = &*self.sides.get(*place)?.name;
            let (words, is_gone) = match found {
                Found::TakenBack(words) => (words, false),
                Found::CameAndWent(words) => (words, true),
                Found::Differs(..) => return None,
            };
            Some(back::Passed { kind, key, words, is_gone })
        });
        sections.extend(back::section(passed));
        sections
    }

    /// How many objects of each kind differ in more than what says nothing, in the order of their names.
    pub fn by_kind(&self) -> Vec<(&str, Differences)> {
        let differs = |(_, counts): &(&Arc<str>, &Differences)| !counts.signs().is_empty();
        let mut kinds: Vec<_> = self.by_kind.iter().filter(differs).map(|(kind, counts)| (&**kind, *counts)).collect();
        sort_by_key(&mut kinds, |(kind, _)| kind.to_string());
        kinds
    }
}

impl Differences {
    fn add(&mut self, line: &Line) {
        let count = match line.delta_type {
            _ if line.noise.is_some() => &mut self.noise,
            _ if line.unknown.is_some() => &mut self.unknown,
            DeltaType::Added => &mut self.added,
            DeltaType::Deleted => &mut self.gone,
            DeltaType::Replaced => &mut self.replaced,
            DeltaType::Updated | DeltaType::Sync => &mut self.changed,
        };
        *count += 1;
    }

    /// What became of objects, in signs: `▲8 ●1 ✕5`.
    fn signs(&self) -> String {
        let sign = |delta_type| MarkType::from(delta_type).glyph();
        let counts = [
            (self.added, sign(DeltaType::Added)),
            (self.changed, sign(DeltaType::Updated)),
            (self.gone, sign(DeltaType::Deleted)),
            (self.replaced, sign(DeltaType::Replaced)),
            (self.unknown, "?"),
        ];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, sign)| format!("{sign}{}", grouped(*count))).collect::<Vec<_>>().join(" ")
    }

    /// How many objects differ, in words.
    pub fn words(&self) -> String {
        let counts = [
            (self.added, "added"),
            (self.changed, "changed"),
            (self.gone, "gone"),
            (self.replaced, "replaced"),
            (self.unknown, "not kept at one of the two moments"),
        ];
        let all: u64 = counts.iter().map(|(count, _)| count).sum();
        let parts = counts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, words)| format!("{} {words}", grouped(*count))).collect();
        let noise = match self.noise {
            0 => String::new(),
            noise => format!("; {} in noise alone", grouped(noise)),
        };
        match all {
            0 => format!("No object differs{noise}"),
            1 => format!("1 object differs: {}{noise}", parts.join(", ")),
            all => format!("{} objects differ: {}{noise}", grouped(all), parts.join(", ")),
        }
    }
}

/// Whether a line is of one object whose two versions are compared.
fn is_changed(line: &Line, pair: Pair) -> bool {
    line.delta_type == DeltaType::Updated && line.unknown.is_none() && line.noise.is_none() && pair.old != pair.new
}

/// The numbers of the versions that came after the first one of a pair, up to the second one.
fn between(moments: [Moment; 2], pair: Pair) -> (u64, u64) {
    let [first, end] = moments.map(|moment| moment.received);
    (pair.old.map_or(first, |old| old + 1), pair.new.map_or(end, |new| new + 1))
}

/// The record of a version that is kept.
fn record_of<'a>(past: &AtMoment<'a>) -> Option<&'a Record> {
    match past.was {
        Was::Newest(record) => record,
        Was::Version(record) => Some(record),
        Was::Evicted => None,
    }
}

/// Puts differences in order: what says nothing first, because the last row stands on top; then owners before what they own;
/// among those what was asked for behind the rest, and what was changed last behind the others.
fn in_order(differing: &mut Vec<(&Of, &Line, Pair)>) {
    let owners: FxHashMap<&Uid, &Uid> =
        differing.iter().filter_map(|(_, line, _)| Some((&line.uid, &line.controller()?.uid))).collect();
    let named: FxHashMap<&Uid, ()> = differing.iter().map(|(_, line, _)| (&line.uid, ())).collect();
    let depth = |line: &Line| {
        let above = std::iter::successors(owners.get(&line.uid), |owner| owners.get(*owner));
        above.take(DEEPEST).take_while(|owner| named.contains_key(**owner)).count()
    };
    let keys: Vec<(bool, usize, bool)> =
        differing.iter().map(|(_, line, _)| (line.noise.is_none(), depth(line), line.asks)).collect();
    let mut keyed: Vec<_> = keys.into_iter().zip(std::mem::take(differing)).collect();
    sort_by(&mut keyed, |(one, (of, _, pair)), (other, (other_of, _, other_pair))| {
        one.cmp(other)
            .then(pair.at.total_cmp(&other_pair.at))
            .then_with(|| of.0.cmp(&other_of.0))
            .then_with(|| of.1.cmp(&other_of.1))
    });
    *differing = keyed.into_iter().map(|(_, one)| one).collect();
}
