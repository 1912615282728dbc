//! Which request wrote which version: the rules by which both fit, and when that is certain.
//!
//! A request fits a version where all that is known of both agrees: the uid, the resourceVersion of the answer, the one that the
//! request was based on, the manager and the subresource, and the time. `managedFields` and `deletionTimestamp` have whole
//! seconds of the clock by which the log has its times, since one server writes both while it handles the request. So the second
//! must be one of those from the request's beginning to its end, and no tolerance is needed. Where a version has no such time
//! (an object that is gone at once, a field that was only removed), it is the time of receipt that counts, give or take
//! [`TOLERANCE`]. In that case, and with a log of level `Metadata`, more than one request may fit. Nothing is chosen among them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use kubechurn_client::api::uid::Uid;

use super::Request;
use super::facts::{Facts, What};
use super::line::Act;

/// How far the time of receipt may be from the request, in milliseconds. The server's clock is known to a second, by the `Date`
/// of its answers, and what it sends comes within another.
const TOLERANCE: f64 = 2_000.0;
/// How long a request may take, in milliseconds, to be looked for by its time. A server ends those of a minute (its
/// `--request-timeout`).
const LONGEST: f64 = 60_000.0;

/// What became of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    None,
    Several,
    Matched,
}

/// A request that wrote, without what says who made it.
#[derive(Debug)]
pub(super) struct Stored {
    pub request: Arc<Request>,
    /// The number of its log.
    pub log: usize,
    pub act: Act,
    pub subresource: SmolStr,
    pub manager: SmolStr,
    pub uid: Option<Uid>,
    pub base: SmolStr,
    pub result: SmolStr,
    pub items: Option<FxHashSet<Uid>>,
    pub selects: bool,
    /// Whether a kubelet made it.
    pub is_node: bool,
    pub began: f64,
    pub ended: f64,
    pub state: State,
}

/// How well a request fits a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    No,
    Yes,
    /// Its answer is this version.
    Exact,
}

impl Stored {
    /// Whether this second is one in which the request was handled.
    fn covers(&self, second: i64) -> bool {
        let floor = |at: f64| (at / 1_000.0).floor() as i64;
        (floor(self.began)..=floor(self.ended)).contains(&second)
    }

    fn is_about(&self, at: f64) -> bool {
        self.began <= at + TOLERANCE && self.ended >= at - TOLERANCE
    }

    fn fits(&self, version: &Facts) -> Fit {
        if self.uid.as_ref().is_some_and(|uid| *uid != version.uid) {
            return Fit::No;
        }
        let is_exact = !self.result.is_empty() && self.result == version.version;
        let is_other = !self.result.is_empty() && !is_exact;
        let is_fit = match (self.act, version.what) {
            (Act::Create, What::Added) => !is_other && self.wrote(version),
            (Act::Change, What::Changed) => {
                let is_based = self.base.is_empty() || version.before.is_empty() || self.base == version.before;
                !is_other && is_based && (is_exact || version.is_compared) && self.wrote(version)
            }
            // The kubelet deletes what was marked before, and never marks.
            (Act::Delete, What::Marked) => !is_other && !self.is_node && self.marked(version),
            (Act::DeleteAll, What::Marked) => self.is_among(&version.uid) && self.marked(version),
            (Act::Delete, What::Deleted) => self.removed(version),
            (Act::DeleteAll, What::Deleted) => self.is_among(&version.uid) && self.removed(version),
            _ => false,
        };
        match (is_fit, is_exact) {
            (false, _) => Fit::No,
            (true, false) => Fit::Yes,
            (true, true) => Fit::Exact,
        }
    }

    /// Whether it can be what the managers of a version show.
    fn wrote(&self, version: &Facts) -> bool {
        if version.wrote.is_empty() {
            return self.is_about(version.at);
        }
        let is_its = |manager: &str, subresource: &str| manager == self.manager && subresource == self.subresource;
        let mut all = version.wrote.iter();
        all.any(|one| {
            let is_then = one.second.map_or_else(|| self.is_about(version.at), |second| self.covers(second));
            is_its(&one.manager, &one.subresource) && is_then
        })
    }

    fn marked(&self, version: &Facts) -> bool {
        version.marked.map_or_else(|| self.is_about(version.at), |second| self.covers(second))
    }

    fn removed(&self, version: &Facts) -> bool {
        let is_later = version.created.is_none_or(|created| self.ended >= created as f64 * 1_000.0);
        is_later && self.is_about(version.at)
    }

    /// Whether an object was among those that it deleted. What a selector has let through is only known from the answer.
    fn is_among(&self, uid: &Uid) -> bool {
        self.items.as_ref().map_or(!self.selects, |items| items.contains(uid))
    }
}

/// What is known of a version in the end.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    None,
    Several,
    One(Arc<Request>),
}

/// What came of the versions and the requests, each in its order.
pub(super) struct Joined {
    pub versions: Vec<Outcome>,
    pub writes: Vec<State>,
    /// Of the requests that deleted many.
    pub all: Vec<State>,
}

/// Sets of what belongs together.
struct Sets(Vec<usize>);

impl Sets {
    fn of(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one] = other;
    }
}

/// A set of versions and of the requests that fit one of them.
#[derive(Default)]
struct Set {
    versions: Vec<usize>,
    writes: Vec<usize>,
}

/// Joins versions of an object with the requests about it, which are in the order of their beginning, and those that deleted many.
///
/// It is certain who wrote where the answer is the version. Otherwise it is where all requests that may have written it, or any
/// version which one of them may have written, have one user, agent and address, and are no fewer than these versions.
pub(super) fn join(versions: &[&Facts], writes: &[&Stored], all: &[&Stored]) -> Joined {
    let mut results: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, write) in writes.iter().enumerate().filter(|(_, write)| !write.result.is_empty()) {
        results.entry(&write.result).or_default().push(at);
    }
    let mut sets = Sets((0..versions.len() + writes.len()).collect());
    let mut fits: Vec<Vec<usize>> = Vec::with_capacity(versions.len());
    for (at, version) in versions.iter().enumerate() {
        let of = |wanted: Fit| move |of: &usize| writes[*of].fits(version) == wanted;
        let exact = results.get(&*version.version).into_iter().flatten().copied().filter(of(Fit::Exact)).collect();
        let found = first(exact, writes).unwrap_or_else(|| near(version, writes).filter(of(Fit::Yes)).collect());
        found.iter().for_each(|of| sets.join(at, versions.len() + of));
        fits.push(found);
    }
    let mut groups: FxHashMap<usize, Set> = FxHashMap::default();
    for (at, found) in fits.iter().enumerate() {
        if !found.is_empty() {
            groups.entry(sets.of(at)).or_default().versions.push(at);
        }
    }
    for at in 0..writes.len() {
        if let Some(set) = groups.get_mut(&sets.of(versions.len() + at)) {
            set.writes.push(at);
        }
    }
    let mut joined = Joined {
        versions: vec![Outcome::None; versions.len()],
        writes: vec![State::None; writes.len()],
        all: vec![State::None; all.len()],
    };
    for set in groups.values() {
        let one = one(set.writes.iter().map(|at| writes[*at]));
        let is_certain = one.is_some() && set.writes.len() >= set.versions.len();
        let state = if is_certain { State::Matched } else { State::Several };
        set.writes.iter().for_each(|at| joined.writes[*at] = state);
        for at in &set.versions {
            joined.versions[*at] = match one.clone().filter(|_| is_certain) {
                // The line itself is only known where there is one.
                Some(_) if fits[*at].len() == 1 => Outcome::One(Arc::clone(&writes[fits[*at][0]].request)),
                Some(request) => Outcome::One(Arc::new(Request { id: SmolStr::default(), ..Request::clone(&request) })),
                None => Outcome::Several,
            };
        }
    }
    for (at, version) in versions.iter().enumerate() {
        let found: Vec<usize> = (0..all.len()).filter(|of| all[*of].fits(version) != Fit::No).collect();
        if found.is_empty() {
            continue;
        }
        let own = match &joined.versions[at] {
            Outcome::Several => continue,
            Outcome::None => None,
            Outcome::One(request) => Some(request),
        };
        let who = one(found.iter().map(|of| all[*of]));
        let is_one = match (own, &who) {
            (None, Some(_)) => true,
            (Some(own), Some(who)) => own.is_of_same(who),
            _ => false,
        };
        let state = if is_one { State::Matched } else { State::Several };
        for of in found {
            joined.all[of] = if joined.all[of] == State::Matched { State::Matched } else { state };
        }
        joined.versions[at] = match (who, is_one) {
            (Some(who), true) => Outcome::One(who),
            _ => Outcome::Several,
        };
    }
    joined
}

/// The request that they all are, as far as it concerns who made them; `None` if they differ.
fn one<'a>(writes: impl Iterator<Item = &'a Stored>) -> Option<Arc<Request>> {
    let mut writes = writes.map(|write| &write.request);
    let first = writes.next()?;
    writes.all(|other| other.is_of_same(first)).then(|| Arc::clone(first))
}

/// Of several requests that were answered with the same version the one that made it: the others came when it was there, and
/// changed nothing. Where they were handled at the same time, that is not known.
fn first(exact: Vec<usize>, writes: &[&Stored]) -> Option<Vec<usize>> {
    let first = *exact.first()?;
    let is_first = exact[1..].iter().all(|other| writes[*other].began >= writes[first].ended);
    Some(if is_first { vec![first] } else { exact })
}

/// The places of the requests that may fit a version by their time.
fn near(version: &Facts, writes: &[&Stored]) -> std::ops::Range<usize> {
    let second = version.wrote.iter().filter_map(|wrote| wrote.second).chain(version.marked);
    let (least, most) = second.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), second| {
        let at = second as f64 * 1_000.0;
        (least.min(at), most.max(at + 1_000.0))
    });
    let is_dated = least.is_finite() && version.wrote.iter().all(|wrote| wrote.second.is_some());
    let (least, most) =
        if is_dated { (least, most) } else { (least.min(version.at - TOLERANCE), most.max(version.at + TOLERANCE)) };
    let from = writes.partition_point(|write| write.began < least - LONGEST);
    let to = writes.partition_point(|write| write.began <= most);
    from..to.max(from)
}
