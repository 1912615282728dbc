//! Who wrote for certain: the lines of a kube-apiserver's audit log, joined to the versions that were received.
//!
//! The caller hands in what it has, in any order: [lines](Requests::line) and [versions](Requests::version). [`Requests::settle`]
//! joins them, and [`Requests::of`] knows then who made the request that wrote a version. Of an object that is gone it is
//! who asked for that: whoever marked it for deletion, and not the kubelet that removed it in the end.
//!
//! An answer is certain or there is none. What fits several lines is counted, and so is what fits none. Where a log names an
//! object by another uid than it had at that time, the log is of another cluster, and its lines without a uid fit nothing.

mod facts;
mod join;
mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::api::uid::Uid;

pub use self::facts::Version;
use self::facts::{Facts, What};
use self::join::{Outcome, State, Stored, join};
use self::line::{Act, Read};

/// How many requests are kept. More are counted.
const MOST: usize = 300_000;
/// Of how many users conflicts are counted.
const MOST_USERS: usize = 1_000;
/// How many resources are named whose writes fit nothing.
const NAMED: usize = 3;
/// How far a time of receipt may be off, in milliseconds, where it bounds when an object was there.
const SLACK: f64 = 5_000.0;

/// A request that wrote: who made it, how and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who has shown who they are.
    pub user: Arc<str>,
    /// As whom the request was made; empty for nobody else.
    pub impersonated: Arc<str>,
    /// The `User-Agent`.
    pub agent: Arc<str>,
    /// The address that it came from.
    pub address: Arc<str>,
    /// The verb, such as `patch`.
    pub verb: SmolStr,
    /// When it was received by the server, in milliseconds since 1970 by its clock.
    pub at: f64,
    /// The line's `auditID`; empty where several lines of the same user, agent and address fit.
    pub id: SmolStr,
}

impl Request {
    /// Who made it: `alice`, or `alice as bob`.
    pub fn who(&self) -> String {
        line::who(&self.user, &self.impersonated)
    }

    /// With which program, and from where.
    pub fn how(&self) -> String {
        let agent = if self.agent.is_empty() { "no agent" } else { &*self.agent };
        let address = if self.address.is_empty() { "nowhere" } else { &*self.address };
        format!("{agent}, from {address}")
    }

    /// Whether another one was made by the same user, as the same, with the same program and from the same place.
    pub fn is_of_same(&self, other: &Request) -> bool {
        let who = |request: &Request| {
            let Request { user, impersonated, agent, address, .. } = request;
            [user, impersonated, agent, address].map(Arc::clone)
        };
        who(self) == who(other)
    }
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines in all.
    pub lines: u64,
    /// Lines of requests that wrote, each once.
    pub writes: u64,
    /// Of these, those of which it is certain what they wrote.
    pub matched: u64,
    /// Those that may have written what others may have written too.
    pub several: u64,
    /// Those that fit nothing that was received.
    pub none: u64,
    /// These by the resource, the most frequent first.
    pub none_of: Vec<(SmolStr, u64)>,
    /// Lines that are none of an audit log.
    pub unreadable: u64,
    /// Requests that were too many to be kept.
    pub too_many: u64,
    /// Logs that name objects by uids that they did not have.
    pub foreign: u64,
}

impl std::fmt::Display for Counts {
    /// In a sentence: `of 20 writes in the audit log 12 match a change, 3 fit several, 5 none (4 leases, 1 pods)`.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { writes, matched, several, none, none_of, unreadable, too_many, foreign, .. } = self;
        write!(
            formatter,
            "of {writes} writes in the audit log {matched} match a change, {several} fit several, {none} none"
        )?;
        let first = none_of.iter().take(NAMED).map(|(plural, count)| format!("{count} {plural}"));
        let others: u64 = none_of.iter().skip(NAMED).map(|(_, count)| count).sum();
        let kinds: Vec<String> = first.chain((others > 0).then(|| format!("{others} others"))).collect();
        if !kinds.is_empty() {
            write!(formatter, " ({})", kinds.join(", "))?;
        }
        if *too_many > 0 {
            write!(formatter, "; {too_many} were too many to be kept")?;
        }
        if *unreadable > 0 {
            write!(formatter, "; not readable: {unreadable} of its lines")?;
        }
        if *foreign > 0 {
            write!(formatter, "; the log has lines of another cluster, so that those without a uid fit nothing")?;
        }
        Ok(())
    }
}

/// Names what requests and versions are about: group, plural, namespace and name. The name is empty for the objects of a namespace
/// whose names the server made, and for all of them.
type Of = (SmolStr, SmolStr, SmolStr, SmolStr);

/// What is known of one of them.
#[derive(Debug, Default)]
struct Known {
    versions: Vec<Facts>,
    /// In the order of their beginning, once they are settled.
    writes: Vec<Stored>,
    /// Those that deleted many.
    all: Vec<Stored>,
    /// Objects of the namespace whose names the server made.
    generated: Vec<SmolStr>,
    /// Who asked for what is to be gone, where the version that shows it is forgotten.
    asked: Vec<(Uid, Option<Arc<Request>>)>,
    /// How many lines are in each state.
    tally: [u64; 3],
}

/// A version of which it is certain who wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The caller's number.
    pub id: u64,
    /// The request.
    pub request: Arc<Request>,
}

/// The lines and the versions.
#[derive(Debug, Default)]
pub struct Requests {
    known: BTreeMap<Of, Known>,
    /// What is to be joined again, first the objects and then what stands for many.
    dirty: BTreeSet<(bool, Of)>,
    found: FxHashMap<u64, Arc<Request>>,
    /// The numbers of the versions that are held.
    held: FxHashSet<u64>,
    /// The ids of the lines that came, by their logs' times.
    ids: FxHashSet<SmolStr>,
    words: FxHashSet<Arc<str>>,
    counts: Counts,
    /// How many requests that are forgotten fitted nothing, by the resource.
    none_of: BTreeMap<SmolStr, u64>,
    /// Whether it was found who made a version, or that this is not known, since that was last asked.
    has_news: bool,
    kept: usize,
    /// When the last request ended, in milliseconds.
    ends: f64,
    /// The number of the log that is read.
    log: usize,
    foreign: FxHashSet<usize>,
    /// How many requests of each user were refused because somebody else had written meanwhile.
    conflicts: BTreeMap<String, u64>,
}

/// A kind may be served in two groups, and is written in one of them.
fn group_of<'a>(group: &'a str, plural: &str) -> &'a str {
    if plural == "events" { "" } else { group }
}

impl Requests {
    /// Another log begins.
    pub fn begin_log(&mut self) {
        self.log += 1;
    }

    /// Whether a text begins as an audit log does.
    pub fn is_log(text: &str) -> bool {
        let first = text.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or_default();
        !matches!(line::read(first), Read::NoLine)
    }

    /// Whether there is any log, or anything that was known from one.
    pub fn is_empty(&self) -> bool {
        self.counts.lines == 0 && self.found.is_empty()
    }

    /// How many requests of a user were refused because somebody else had written meanwhile.
    pub fn conflicts(&self, who: &str) -> u64 {
        self.conflicts.get(who).copied().unwrap_or_default()
    }

    /// When the last request of all logs ended, in milliseconds since 1970 by the server's clock.
    pub fn ends(&self) -> f64 {
        self.ends
    }

    /// Whether lines have come.
    pub fn has_lines(&self) -> bool {
        self.counts.lines > 0
    }

    /// Takes a line of the log.
    pub fn line(&mut self, line: &str) {
        if line.trim_ascii().is_empty() {
            return;
        }
        self.counts.lines += 1;
        let write = match line::read(line) {
            Read::Write(write) => *write,
            Read::Conflict(_, id) if !id.is_empty() && !self.ids.insert(SmolStr::new(&id)) => return,
            Read::Conflict(who, _) => {
                // Whoever may write a log may make up any number of users.
                if self.conflicts.len() < MOST_USERS || self.conflicts.contains_key(&*who) {
                    *self.conflicts.entry(who).or_default() += 1;
                }
                return;
            }
            Read::Nothing | Read::OtherStage => return,
            Read::NoLine => return self.counts.unreadable += 1,
        };
        let id = SmolStr::new(&write.id);
        if !id.is_empty() && !self.ids.insert(id.clone()) {
            return;
        }
        self.counts.writes += 1;
        self.ends = self.ends.max(write.ended);
        if self.kept == MOST {
            self.counts.too_many += 1;
            return;
        }
        self.kept += 1;
        let of = (
            SmolStr::new(group_of(&write.group, &write.plural)),
            SmolStr::new(&write.plural),
            SmolStr::new(&write.namespace),
            SmolStr::new(&write.name),
        );
        let mut word = |text: &str| {
            if !self.words.contains(text) {
                self.words.insert(text.into());
            }
            self.words.get(text).cloned().unwrap_or_default()
        };
        let request = Arc::new(Request {
            user: word(&write.user),
            impersonated: word(&write.impersonated),
            agent: word(&write.agent),
            address: word(&write.address),
            verb: SmolStr::new(&write.verb),
            at: write.began,
            id,
        });
        let stored = Stored {
            log: self.log,
            act: write.act,
            subresource: SmolStr::new(&write.subresource),
            manager: SmolStr::new(&write.manager),
            uid: (!write.uid.is_empty()).then(|| Uid::new(&write.uid)),
            base: SmolStr::new(&write.base),
            result: SmolStr::new(&write.result),
            items: write.items.map(|items| items.iter().map(|uid| Uid::new(uid)).collect()),
            selects: write.selects,
            is_node: write.user.starts_with("system:node:"),
            began: write.began,
            ended: write.ended,
            state: State::None,
            request,
        };
        let known = self.known.entry(of.clone()).or_default();
        known.tally[State::None as usize] += 1;
        if stored.act == Act::DeleteAll {
            known.all.push(stored);
            self.touch_namespace(&of);
        } else {
            known.writes.push(stored);
        }
        self.touch(of);
    }

    /// Has all objects of a namespace be joined again.
    fn touch_namespace(&mut self, of: &Of) {
        let (group, plural, namespace, _) = of;
        let is_in = |(of, _): &(&Of, &Known)| (&of.0, &of.1, &of.2) == (group, plural, namespace);
        let all: Vec<Of> = self.known.range(of.clone()..).take_while(is_in).map(|(of, _)| of.clone()).collect();
        all.into_iter().for_each(|of| self.touch(of));
    }

    /// Takes a version that was received.
    pub fn version(&mut self, resource: &ApiResource, key: &ObjectKey, version: Version<'_>) {
        let facts = Facts::of(version);
        let of = (
            SmolStr::new(group_of(resource.group, resource.plural)),
            SmolStr::new(resource.plural),
            SmolStr::new(&key.namespace),
            SmolStr::new(&key.name),
        );
        if facts.what == What::Added && facts.is_generated {
            let pool = (of.0.clone(), of.1.clone(), of.2.clone(), SmolStr::default());
            self.known.entry(pool.clone()).or_default().generated.push(of.3.clone());
            self.touch(pool);
        }
        self.held.insert(facts.id);
        self.known.entry(of.clone()).or_default().versions.push(facts);
        self.touch(of);
    }

    /// Joins what has come, at most so many objects of it. Returns whether some are left.
    pub fn settle(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let Some((_, of)) = self.dirty.pop_first() else { return false };
            self.settle_one(&of);
        }
        !self.dirty.is_empty()
    }

    /// Has an object be joined again.
    fn touch(&mut self, of: Of) {
        self.dirty.insert((of.3.is_empty(), of));
    }

    fn settle_one(&mut self, of: &Of) {
        if self.find_foreign(of) {
            let all: Vec<Of> = self.known.keys().cloned().collect();
            all.into_iter().for_each(|of| self.touch(of));
        }
        if of.3.is_empty() {
            return self.settle_generated(of);
        }
        let Some(mut known) = self.known.remove(of) else { return };
        sort::sort_by(&mut known.writes, |one, other| one.began.total_cmp(&other.began));
        let pool = (of.0.clone(), of.1.clone(), of.2.clone(), SmolStr::default());
        let all: Vec<&Stored> = self
            .known
            .get(&pool)
            .map(|pool| pool.all.iter().filter(|all| self.counts_for(all)).collect())
            .unwrap_or_default();
        let (counting, places): (Vec<&Stored>, Vec<usize>) =
            known.writes.iter().zip(0..).filter(|(write, _)| self.counts_for(write)).unzip();
        let versions: Vec<&Facts> = known.versions.iter().collect();
        let joined = join(&versions, &counting, &all);
        let used: Vec<(SmolStr, State)> =
            all.iter().zip(&joined.all).map(|(all, state)| (all.request.id.clone(), *state)).collect();
        // Who asked for what is gone now.
        let mut asked: Vec<(Uid, Option<Arc<Request>>)> = known.asked.clone();
        for (at, (facts, outcome)) in known.versions.iter().zip(&joined.versions).enumerate() {
            let request = match outcome {
                Outcome::One(request) => Some(Arc::clone(request)),
                Outcome::None | Outcome::Several => None,
            };
            let request = match facts.what {
                What::Evicted => evicted(&facts.uid, &known.versions[at..], &joined.versions[at..]),
                What::Marked => {
                    asked.retain(|(uid, _)| *uid != facts.uid);
                    asked.push((facts.uid.clone(), request.clone()));
                    request
                }
                What::Deleted if asked.iter().any(|(uid, _)| *uid == facts.uid) => {
                    asked.iter().find(|(uid, _)| *uid == facts.uid).and_then(|(_, request)| request.clone())
                }
                What::Gone => asked.iter().find(|(uid, _)| *uid == facts.uid).and_then(|(_, request)| request.clone()),
                _ => request,
            };
            if facts.what == What::Added && facts.is_generated {
                self.dirty.insert((true, pool.clone()));
            }
            self.find(facts.id, request);
        }
        known.writes.iter_mut().for_each(|write| write.state = State::None);
        for (place, state) in places.into_iter().zip(joined.writes) {
            known.writes[place].state = state;
        }
        known.count();
        self.known.insert(of.clone(), known);
        if let Some(pool) = self.known.get_mut(&pool) {
            for (id, state) in used.iter().filter(|(_, state)| *state != State::None) {
                let one = pool.all.iter_mut().find(|all| all.request.id == *id && all.state != State::Matched);
                one.into_iter().for_each(|all| all.state = *state);
            }
            pool.count();
        }
    }

    /// Joins the objects of a namespace whose names the server made with the requests that do not name what they created.
    fn settle_generated(&mut self, of: &Of) {
        let Some(mut pool) = self.known.remove(of) else { return };
        sort::sort_by(&mut pool.writes, |one, other| one.began.total_cmp(&other.began));
        let (counting, places): (Vec<&Stored>, Vec<usize>) =
            pool.writes.iter().zip(0..).filter(|(write, _)| self.counts_for(write)).unzip();
        let objects = pool.generated.iter().filter_map(|name| {
            let known = self.known.get(&(of.0.clone(), of.1.clone(), of.2.clone(), name.clone()))?;
            let joined = known.writes.iter().filter(|write| write.state != State::None);
            let acts: Vec<Act> = joined.map(|write| write.act).collect();
            // A log of another cluster names none of these objects, and a line that names one as created has joined that already.
            (!acts.is_empty() && !acts.contains(&Act::Create)).then_some(&known.versions)
        });
        let is_made = |facts: &&Facts| facts.what == What::Added && facts.is_generated;
        let versions: Vec<&Facts> = objects.flatten().filter(is_made).collect();
        let joined = join(&versions, &counting, &[]);
        let mut found = Vec::with_capacity(versions.len());
        for (facts, outcome) in versions.iter().zip(&joined.versions) {
            found.push((
                facts.id,
                match outcome {
                    Outcome::One(request) => Some(Arc::clone(request)),
                    Outcome::None | Outcome::Several => None,
                },
            ));
        }
        found.into_iter().for_each(|(id, request)| self.find(id, request));
        pool.writes.iter_mut().for_each(|write| write.state = State::None);
        for (place, state) in places.into_iter().zip(joined.writes) {
            pool.writes[place].state = state;
        }
        pool.count();
        self.known.insert(of.clone(), pool);
    }

    /// It is known who made a version, or that nobody knows.
    fn find(&mut self, id: u64, request: Option<Arc<Request>>) {
        self.has_news |= self.found.get(&id) != request.as_ref();
        match request {
            Some(request) => drop(self.found.insert(id, request)),
            None => drop(self.found.remove(&id)),
        }
    }

    /// Whether something else is known of who made a version since this was last asked.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Whether a line can be one of this cluster.
    fn counts_for(&self, write: &Stored) -> bool {
        write.uid.is_some() || write.items.is_some() || !self.foreign.contains(&write.log)
    }

    /// Looks for requests that name an object by a uid that it did not have. Returns whether their logs were not known to be of another
    /// cluster.
    fn find_foreign(&mut self, of: &Of) -> bool {
        let Some(known) = self.known.get(of) else { return false };
        if known.versions.is_empty() {
            return false;
        }
        // Each uid that the name had, since when and until when for certain, in milliseconds. Each further version can only make that
        // longer, so that the order in which versions and lines come makes no difference.
        let mut lives: Vec<(&Uid, f64, f64)> = Vec::new();
        for facts in &known.versions {
            let last = facts.at - SLACK;
            match lives.iter_mut().find(|(uid, ..)| **uid == facts.uid) {
                Some((.., to)) => *to = to.max(last),
                None => {
                    let created = facts.created.map_or(facts.at + SLACK, |second| (second as f64 + 1.0) * 1_000.0);
                    lives.push((&facts.uid, created, last));
                }
            }
        }
        let is_other = |write: &Stored| {
            let Some(uid) = &write.uid else { return false };
            lives.iter().any(|(there, from, to)| *there != uid && *from <= write.began && write.ended <= *to)
        };
        let found: Vec<usize> = known.writes.iter().filter(|write| is_other(write)).map(|write| write.log).collect();
        let before = self.foreign.len();
        self.foreign.extend(found);
        self.foreign.len() > before
    }

    /// Who made the request that wrote a version; of one that is gone, who asked for that. `None` where that is not certain.
    pub fn of(&self, id: u64) -> Option<&Arc<Request>> {
        self.found.get(&id)
    }

    /// Whether a version is held, because more may become known of it.
    pub fn holds(&self, id: u64) -> bool {
        self.held.contains(&id)
    }

    /// What became of the lines. All must be settled.
    pub fn counts(&self) -> Counts {
        let sum = |state: State| self.known.values().map(|known| known.tally[state as usize]).sum::<u64>();
        let (matched, several) = (sum(State::Matched), sum(State::Several));
        let mut counts = Counts { foreign: self.foreign.len() as u64, ..self.counts.clone() };
        counts.matched += matched;
        counts.several += several;
        counts.none += sum(State::None);
        let mut none_of = self.none_of.clone();
        for (of, known) in self.known.iter().filter(|(_, known)| known.tally[State::None as usize] > 0) {
            *none_of.entry(of.1.clone()).or_default() += known.tally[State::None as usize];
        }
        counts.none_of = none_of.into_iter().collect();
        sort::sort_by(&mut counts.none_of, |(_, one), (_, other)| other.cmp(one));
        counts
    }

    /// Takes what is known of versions that were received before a time, and forgets them, and the lines of before. All must be
    /// settled.
    pub fn take_before(&mut self, at: f64) -> Vec<Found> {
        let mut taken = Vec::new();
        for (of, known) in &mut self.known {
            let (found, held, asked) = (&mut self.found, &mut self.held, &mut known.asked);
            known.versions.retain(|facts| {
                if facts.at >= at {
                    return true;
                }
                let request = found.remove(&facts.id);
                held.remove(&facts.id);
                match facts.what {
                    What::Marked => {
                        asked.retain(|(uid, _)| *uid != facts.uid);
                        asked.push((facts.uid.clone(), request.clone()));
                    }
                    What::Gone | What::Deleted => asked.retain(|(uid, _)| *uid != facts.uid),
                    _ => {}
                }
                taken.extend(request.map(|request| Found { id: facts.id, request }));
                false
            });
            let (ids, counts, kept) = (&mut self.ids, &mut self.counts, &mut self.kept);
            let none_of = &mut self.none_of;
            let mut stays = |write: &Stored| {
                if write.ended >= at {
                    return true;
                }
                match write.state {
                    State::None => {
                        counts.none += 1;
                        *none_of.entry(of.1.clone()).or_default() += 1;
                    }
                    State::Several => counts.several += 1,
                    State::Matched => counts.matched += 1,
                }
                *kept -= 1;
                ids.remove(&write.request.id);
                false
            };
            known.writes.retain(&mut stays);
            known.all.retain(&mut stays);
            known.count();
        }
        let known = &mut self.known;
        let pools: Vec<Of> = known.keys().filter(|of| of.3.is_empty()).cloned().collect();
        for pool in pools {
            let Some(mut of_pool) = known.remove(&pool) else { continue };
            let mut name = (pool.0.clone(), pool.1.clone(), pool.2.clone(), SmolStr::default());
            of_pool.generated.retain(|generated| {
                name.3 = generated.clone();
                known.get(&name).is_some_and(|known| !known.versions.is_empty())
            });
            known.insert(pool, of_pool);
        }
        known.retain(|_, known| !known.is_empty());
        sort::sort_by_key(&mut taken, |found| found.id);
        taken
    }
}

/// The eviction that has marked a Pod for deletion: it has announced that with the version before.
fn evicted(uid: &Uid, versions: &[Facts], outcomes: &[Outcome]) -> Option<Arc<Request>> {
    let mut later = versions.iter().zip(outcomes);
    match later.find(|(facts, _)| facts.uid == *uid && facts.what == What::Marked)? {
        (_, Outcome::One(request)) if request.verb == "create" => Some(Arc::clone(request)),
        _ => None,
    }
}

impl Known {
    fn count(&mut self) {
        self.tally = [0; 3];
        for write in self.writes.iter().chain(&self.all) {
            self.tally[write.state as usize] += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.versions.is_empty()
            && self.writes.is_empty()
            && self.all.is_empty()
            && self.generated.is_empty()
            && self.asked.is_empty()
    }
}

#[cfg(test)]
mod tests;
