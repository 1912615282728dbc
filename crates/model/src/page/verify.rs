//! The page checks itself: it asks the server who exists, at exactly the version that a watch has come to, and compares
//! the answer with the store, and the store with the rows.
//!
//! A machine without IO: [`Verifier::look`] is called after each drain and says what to do next, and
//! [`Verifier::answered`] takes what came of it. One informer is compared at a time. A difference is counted, kept for
//! inspection, told, and healed by a new list; then it is compared once more.

mod heal;
mod rows;
mod told;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::request::ExactListRequest;
use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::consistency::{CannotCompare, Compared, Comparison, Differences, Next, NotYet};
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Health;

use crate::page::notices::Said;
use crate::page::verify::rows::RowRun;
use crate::page::watches::Watches;

pub use crate::page::verify::told::{Item, Summary, Told};

/// How often a watch in view is compared without being asked for, in milliseconds; the API server's own checker of its
/// cache has the same pace.
pub const EVERY: f64 = 300_000.0;
/// How long after it went live it is compared for the first time, in milliseconds.
pub const FIRST: f64 = 30_000.0;
/// How long after an outage that ended without a new list, in milliseconds: the server may be another one.
pub const AFTER_OUTAGE: f64 = 5_000.0;
/// Of more objects than this nothing is asked for without the user's wish: ten pages of metadata, some megabytes.
pub const BY_ITSELF: usize = 5_000;
/// How often a comparison that the server cannot answer is tried again, at a newer version.
const RETRIES: u32 = 2;
/// How long a server that is behind has to catch up before each, in milliseconds. It waits for 3 s by itself.
const CATCH_UP: f64 = 3_000.0;
/// How long a newer version is waited for, in milliseconds: servers send a bookmark about every minute.
const NEWER: f64 = 75_000.0;
/// A version that was told within this many milliseconds is no old one: servers keep five minutes of history.
const RECENT: f64 = 60_000.0;
/// How long a queue may stay full before that is the answer, in milliseconds.
const DRAINED: f64 = 10_000.0;
/// How long a page of the answer may take, in milliseconds.
const ANSWER: f64 = 30_000.0;

/// What is to be done now.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Ask the server for a page of metadata, and hand it over with this number.
    Ask(InformerId, u64, ExactListRequest),
    /// What was asked for is not wanted any longer.
    GiveUp,
    /// Compare what is drawn of this informer with the rows, and tell [`Verifier::drawn`] of it at once.
    Draw(InformerId),
    /// Have this informer list again, for this reason.
    Relist(InformerId, String),
    /// Make the tables anew, from what the stores hold.
    Rebuild,
    /// Tell everyone.
    Say(Said),
}

/// How the page is at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Milliseconds.
    pub at: f64,
    /// Whether no one sees it.
    pub hidden: bool,
    /// Whether what is received is not applied.
    pub paused: bool,
    /// Whether every table has heard of all that its stores hold.
    pub whole: bool,
}

/// A comparison that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// When.
    pub at: f64,
    /// The store with the server.
    pub store: Compared,
    /// How many rows are the same as the store has them.
    pub rows: u64,
    /// The rows that are not, or are not there; what the store has is theirs.
    pub row_differences: Differences,
    /// How many rows of those that are drawn are drawn as they are.
    pub drawn: u64,
    /// The rows that are not; what is drawn is ours.
    pub drawn_differences: Differences,
}

impl Verified {
    fn differences(&self) -> u64 {
        self.store.differences.total + self.row_differences.total + self.drawn_differences.total
    }
}

/// What is known of one informer.
#[derive(Debug, Default)]
struct Record {
    last: Option<Verified>,
    /// The newest one that found a difference.
    found: Option<Verified>,
    /// When and why the newest one came to nothing, if it did.
    trouble: Option<(f64, String)>,
    checks: u64,
    differed: u64,
    /// When it is compared next without being asked for; `None` before it was live.
    due: Option<f64>,
    live: bool,
    /// Lists so far, as of the last look.
    lists: u64,
    version: ResourceVersion,
    /// When that version was new.
    moved: f64,
    /// A new list, after so many, was asked for. It is compared again once that has come.
    awaits: Option<u64>,
    /// The same, until a comparison finds that all is well.
    relisted: Option<u64>,
    /// The rows were made anew, and no comparison has found since that all is well.
    rebuilt: bool,
}

#[derive(Debug)]
enum Stage {
    /// Waits for a moment at which all is applied.
    Begin { since: f64 },
    /// The server is to answer.
    Asked { since: f64 },
    /// Begins anew at that time, or with a newer version than this one where one is waited for.
    Waiting { until: f64, newer_than: Option<ResourceVersion> },
    /// Looks for what the server did not name.
    Work,
    /// Compares the rows.
    Rows(Compared, RowRun),
}

/// One comparison under way.
#[derive(Debug)]
struct Run {
    id: InformerId,
    by_user: bool,
    tries: u32,
    /// So many lists there were when it began.
    lists: u64,
    comparison: Option<Comparison>,
    stage: Stage,
}

/// Compares, one informer after the other.
#[derive(Debug, Default)]
pub struct Verifier {
    records: FxHashMap<InformerId, Record>,
    /// Those that wait for their turn, and whether the user wants it.
    queue: VecDeque<(InformerId, bool)>,
    run: Option<Run>,
    /// Counts what was asked, so that what comes too late is known.
    number: u64,
}

impl Verifier {
    /// The user wants everything that is watched to be compared, now.
    pub fn ask(&mut self, now: f64, watches: &Watches) {
        self.queue.retain(|(_, by_user)| !by_user);
        let all = watches.iter().flat_map(|watched| watched.sources()).map(|(id, _)| (id, true));
        let mut asked: VecDeque<_> = all.collect();
        if let Some(run) = self.run.as_mut() {
            // It has begun already, and now it is the user who waits.
            run.by_user = true;
            asked.retain(|(id, _)| *id != run.id);
            if matches!(run.stage, Stage::Waiting { .. }) {
                run.stage = Stage::Begin { since: now };
            }
        }
        asked.append(&mut self.queue);
        self.queue = asked;
    }

    /// Takes how many rows are drawn as they are, and which are not. With that a comparison is done.
    pub fn drawn(
        &mut self,
        now: f64,
        same: u64,
        differences: Differences,
        informers: &SharedInformerFactory,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.run.as_ref().is_some_and(|run| matches!(run.stage, Stage::Rows(..))) {
            self.finish(now, (same, differences), informers, &mut steps);
        }
        steps
    }

    /// Whether there is something to do at the very next frame.
    pub fn is_busy(&self) -> bool {
        self.run.as_ref().is_some_and(|run| matches!(run.stage, Stage::Begin { .. } | Stage::Work | Stage::Rows(..)))
    }

    /// Goes on, after a drain, with what is applied and shown: to be called a few times a second.
    pub fn look(&mut self, now: Now, watches: &Watches, informers: &mut SharedInformerFactory) -> Vec<Step> {
        let mut steps = Vec::new();
        let is_watched = |id: InformerId| watches.iter().any(|watched| watched.sources().any(|(own, _)| own == id));
        self.records.retain(|id, _| is_watched(*id));
        self.queue.retain(|(id, _)| is_watched(*id));
        if self.run.as_ref().is_some_and(|run| !is_watched(run.id)) {
            self.give_up(informers, &mut steps);
        }
        for (id, _) in watches.iter().flat_map(|watched| watched.sources()) {
            let Some(informer) = informers.get(id) else { continue };
            let record = self.records.entry(id).or_default();
            let seen = (informer.health(now.at), informer.ledger().lists, informer.reflector().resource_version());
            record.observe(now.at, seen);
            if record.awaits.is_some_and(|lists| record.lists > lists) && record.live && informer.queue().is_empty() {
                record.awaits = None;
                self.queue.push_back((id, true));
            }
        }
        if self.run.is_none() {
            let next = self.queue.pop_front().or_else(|| Some((self.due(now, watches, informers)?, false)));
            self.run = next.map(|(id, by_user)| Run {
                id,
                by_user,
                tries: 0,
                lists: 0,
                comparison: None,
                stage: Stage::Begin { since: now.at },
            });
        }
        self.go_on(now, watches, informers, &mut steps);
        steps
    }

    /// Which informer in view is compared by itself now. The one that has waited longest comes first.
    fn due(&self, now: Now, watches: &Watches, informers: &SharedInformerFactory) -> Option<InformerId> {
        if now.hidden || now.paused {
            return None;
        }
        let in_view = watches.members().iter().flat_map(|watched| watched.sources());
        let due = in_view.filter_map(|(id, _)| {
            let record = self.records.get(&id).filter(|record| record.live)?;
            let small = informers.get(id)?.store().len() <= BY_ITSELF;
            Some((record.due.filter(|due| small && *due <= now.at)?, id))
        });
        due.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, id)| id)
    }

    fn go_on(&mut self, now: Now, watches: &Watches, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(run) = &mut self.run else { return };
        let Some(informer) = informers.get_mut(run.id) else { return };
        match &mut run.stage {
            Stage::Begin { since } => {
                let since = *since;
                if now.paused {
                    return self.fail(now.at, "paused: what was received is not applied".into(), informers, steps);
                }
                match Comparison::begin(informer, now.at) {
                    Ok(comparison) => {
                        run.lists = informer.ledger().lists;
                        let request = comparison.request();
                        run.comparison = Some(comparison);
                        self.request(now.at, request, steps);
                    }
                    Err(NotYet::Queued) if now.at - since < DRAINED => {}
                    Err(why) => self.fail(now.at, words(why), informers, steps),
                }
            }
            Stage::Asked { since } if now.at - *since >= ANSWER => {
                steps.push(Step::GiveUp);
                self.fail(now.at, format!("no answer within {:.0} s", ANSWER / 1000.0), informers, steps);
            }
            Stage::Asked { .. } => {}
            Stage::Waiting { until, newer_than } => {
                let newest = informer.reflector().resource_version();
                if now.at >= *until || newer_than.as_ref().is_some_and(|old| old != newest) {
                    run.stage = Stage::Begin { since: now.at };
                }
            }
            Stage::Work => {
                if run.comparison.as_mut().is_none_or(Comparison::work)
                    && let Some(comparison) = run.comparison.take()
                {
                    run.stage = Stage::Rows(comparison.end(informer), RowRun::default());
                }
            }
            Stage::Rows(..) if !now.whole => {}
            Stage::Rows(_, rows) => {
                if rows.work(run.id, watches, informers) {
                    steps.push(Step::Draw(run.id));
                }
            }
        }
    }

    fn request(&mut self, now: f64, request: ExactListRequest, steps: &mut Vec<Step>) {
        let Some(run) = &mut self.run else { return };
        self.number += 1;
        run.stage = Stage::Asked { since: now };
        steps.push(Step::Ask(run.id, self.number, request));
    }

    /// Takes what came of a question: a page of the answer, or why there is none.
    pub fn answered(
        &mut self,
        now: f64,
        number: u64,
        answer: Result<&[u8], Failure>,
        informers: &mut SharedInformerFactory,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let Some(run) = self.run.as_mut().filter(|run| matches!(run.stage, Stage::Asked { .. })) else { return steps };
        let (Some(informer), Some(comparison)) = (informers.get_mut(run.id), run.comparison.as_mut()) else {
            return steps;
        };
        if number != self.number {
            return steps;
        }
        match answer.map(|bytes| comparison.page(bytes, informer)) {
            Ok(Ok(Next::Ask(request))) => self.request(now, request, &mut steps),
            Ok(Ok(Next::Work | Next::Done)) => run.stage = Stage::Work,
            Ok(Err(CannotCompare::OtherVersion { asked, answered })) if answered.is_older_than(&asked) => {
                self.behind(now, &format!("it answered as of version {answered}"), informers, &mut steps);
            }
            Ok(Err(why @ CannotCompare::OtherVersion { .. })) => {
                let words = format!("the server does not list as of an exact version: {why}");
                self.fail(now, words, informers, &mut steps);
            }
            Ok(Err(why)) => self.fail(now, why.to_string(), informers, &mut steps),
            Err(failure) => self.refused(now, &failure, informers, &mut steps),
        }
        steps
    }

    fn refused(&mut self, now: f64, failure: &Failure, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(run) = &mut self.run else { return };
        let words = match failure.code {
            0 => failure.words.clone(),
            code => format!("{code}: {}", failure.words),
        };
        match failure.verdict {
            Verdict::TooLarge => self.behind(now, &words, informers, steps),
            Verdict::Expired if run.tries < RETRIES => {
                let version = run.comparison.as_ref().map(Comparison::version).cloned();
                self.wait(now + NEWER, version, informers);
            }
            Verdict::Expired => {
                let record = self.records.get(&run.id);
                let version = run.comparison.as_ref().map(Comparison::version).cloned().unwrap_or_default();
                // What the server told a moment ago it must still know.
                if record.is_some_and(|record| now - record.moved < RECENT) {
                    let reason =
                        format!("the server has forgotten version {version}, which it told just now ({words})");
                    self.wrong(now, reason, informers, steps);
                } else {
                    let why = format!("the server keeps no history back to version {version} ({words})");
                    self.fail(now, why, informers, steps);
                }
            }
            Verdict::TooManyRequests if run.tries < RETRIES => {
                self.wait(now + failure.retry_after.unwrap_or(CATCH_UP), None, informers);
            }
            Verdict::Forbidden => {
                self.fail(now, format!("this may be watched, and not listed ({words})"), informers, steps)
            }
            Verdict::Refused => {
                self.fail(now, format!("the server does not list as of an exact version ({words})"), informers, steps);
            }
            _ => self.fail(now, format!("the server did not answer ({words})"), informers, steps),
        }
    }

    /// The server does not know a version that it told: it lags, or went back, as after a restore from a backup.
    fn behind(&mut self, now: f64, words: &str, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(run) = &self.run else { return };
        if run.tries < RETRIES {
            return self.wait(now + CATCH_UP, None, informers);
        }
        let version = run.comparison.as_ref().map(Comparison::version).cloned().unwrap_or_default();
        let reason = format!(
            "the server does not have version {version}, which was told before: it was restored from a backup, or lags \
             behind ({words})"
        );
        self.wrong(now, reason, informers, steps);
    }

    fn wait(&mut self, until: f64, newer_than: Option<ResourceVersion>, informers: &mut SharedInformerFactory) {
        let Some(run) = &mut self.run else { return };
        run.tries += 1;
        run.comparison = None;
        run.stage = Stage::Waiting { until, newer_than };
        if let Some(informer) = informers.get_mut(run.id) {
            informer.keep_journal(false);
        }
    }

    fn give_up(&mut self, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        if let Some(run) = self.run.take() {
            steps.push(Step::GiveUp);
            if let Some(informer) = informers.get_mut(run.id) {
                informer.keep_journal(false);
            }
        }
    }
}

impl Record {
    fn observe(&mut self, now: f64, (health, lists, version): (Health, u64, &ResourceVersion)) {
        let live = health == Health::Live;
        if live && !self.live {
            let soon = match self.due {
                None => now + FIRST,
                Some(due) if lists == self.lists => due.min(now + AFTER_OUTAGE),
                Some(due) => due,
            };
            self.due = Some(soon);
        }
        if live || self.due.is_none() {
            self.lists = lists;
        }
        self.live = live;
        if self.version != *version {
            self.version = version.clone();
            self.moved = now;
        }
    }
}

/// Why nothing can be compared, in words.
fn words(why: NotYet) -> String {
    match why {
        NotYet::NotLive(health) => format!("{}: what is shown is not known to be true", health.word()),
        NotYet::Queued => String::from("what was received waits to be applied"),
        NotYet::NoVersion => String::from("the server gives no version to compare at"),
    }
}
