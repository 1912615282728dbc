//! The page checks itself: it asks the server which objects exist at exactly the version that a watch has reached,
//! compares the answer with the store, and then the store with the rows.
//!
//! A machine without IO: [`Verifier::look`] is called after each drain and says what to do next, and
//! [`Verifier::answered`] takes the answers. One informer is compared at a time. A difference is counted, kept to be
//! inspected, announced, and healed by a new list. Then the informer is compared once more.

pub mod found;
mod rows;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::request::ExactListRequest;
use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::consistency::{
    CannotCompare, Compared, Comparison, Difference, Differences, Next, NotYet,
};
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::Health;

use crate::timeline::mark::grouped;
use crate::verification::rows::RowRun;
use crate::watches::Watches;
use crate::watches::notices::{NoticeKind, PageNotice, subject};

/// How many keys a sentence names.
const NAMED: usize = 3;
/// How often a watch in view is compared by itself, in milliseconds. The API server's own consistency checker of its
/// cache has the same period.
pub const EVERY: f64 = 300_000.0;
/// How long after a watch went live it is compared for the first time, in milliseconds.
pub const FIRST: f64 = 30_000.0;
/// How long after an outage without a new list a watch is compared, in milliseconds: another server may answer.
pub const AFTER_OUTAGE: f64 = 5_000.0;
/// If there are more objects than this, only the user begins a comparison: it is ten pages of metadata, some megabytes.
pub const BY_ITSELF: usize = 5_000;
/// How often a comparison that the server cannot answer is tried again, each time at a newer version.
const RETRIES: u32 = 2;
/// How long a server that lags behind is given before each new attempt, in milliseconds. The server itself waits for
/// three seconds.
const CATCH_UP: f64 = 3_000.0;
/// How long a newer version is waited for, in milliseconds: servers send a bookmark about every minute.
const NEWER: f64 = 75_000.0;
/// The server must still know a version that it sent less than so many milliseconds ago: servers keep five minutes of
/// history.
const RECENT: f64 = 60_000.0;
/// If a queue stays full for so many milliseconds, the comparison comes to nothing.
const DRAINED: f64 = 10_000.0;
/// How long a page of the answer may take, in milliseconds.
const ANSWER: f64 = 30_000.0;

/// What the caller is to do now.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Ask the server for a page of metadata, and hand over the answer with this number.
    Ask(InformerId, u64, ExactListRequest),
    /// Drop the question that was asked: its answer is not wanted any longer.
    GiveUp,
    /// Compare what is drawn of this informer with the rows, and call [`Verifier::drawn`] at once.
    Draw(InformerId),
    /// Have this informer list again, for this reason.
    Relist(InformerId, String),
    /// Make the tables anew, from what the stores hold.
    Rebuild,
    /// Announce this.
    Publish(PageNotice),
}

/// The state of the page at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The time in milliseconds.
    pub at: f64,
    /// Whether the page is hidden.
    pub hidden: bool,
    /// Whether the page is paused: what is received is not applied.
    pub paused: bool,
    /// Whether every table has heard of everything that its stores hold.
    pub whole: bool,
}

/// A comparison that was finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// When it was finished, in milliseconds.
    pub at: f64,
    /// The comparison of the store with the server.
    pub store: Compared,
    /// How many rows are the same as in the store.
    pub rows: u64,
    /// Rows that differ from the store, or are missing; the store's side is `theirs`.
    pub row_differences: Differences,
    /// How many of the rows on the screen are drawn as the table has them.
    pub drawn: u64,
    /// Rows that are drawn differently; what is drawn is `ours`.
    pub drawn_differences: Differences,
}

impl Verified {
    fn differences(&self) -> u64 {
        self.store.differences.total + self.row_differences.total + self.drawn_differences.total
    }

    /// What differs, in words: `2 of 1,337 objects are not as the server has them (shop/a, shop/b)`.
    pub(super) fn words(&self) -> String {
        let sentence = |differences: &Differences, of: u64, what: &str| {
            let named = differences.kept.iter().take(NAMED).map(|one| one.key.to_string()).collect::<Vec<_>>();
            let more = if differences.total as usize > NAMED { ", …" } else { "" };
            let (total, is) = (grouped(differences.total), if differences.total == 1 { "is" } else { "are" });
            format!("{total} of {} {what} ({}{more})", grouped(of), named.join(", ")).replacen("{is}", is, 1)
        };
        let mut parts = Vec::new();
        if self.store.differences.total > 0 {
            let what = format!("objects {{is}} not as the server has them at version {}", self.store.version);
            parts.push(sentence(&self.store.differences, self.store.of(), &what));
        }
        if self.row_differences.total > 0 {
            let of = self.rows + self.row_differences.total;
            parts.push(sentence(&self.row_differences, of, "rows {is} not as the store has them"));
        }
        if self.drawn_differences.total > 0 {
            let of = self.drawn + self.drawn_differences.total;
            parts.push(sentence(&self.drawn_differences, of, "rows in sight {is} drawn otherwise"));
        }
        parts.join("; ")
    }

    /// The differences that are kept, each with the place where it was found.
    fn placed(&self) -> impl Iterator<Item = (&'static str, &Difference)> {
        let store = self.store.differences.kept.iter().map(|one| ("store", one));
        let rows = self.row_differences.kept.iter().map(|one| ("row", one));
        store.chain(rows).chain(self.drawn_differences.kept.iter().map(|one| ("screen", one)))
    }
}

/// What is known of one informer.
#[derive(Debug, Default)]
struct Record {
    last: Option<Verified>,
    /// The newest comparison that found a difference.
    found: Option<Verified>,
    /// When and why the newest comparison came to nothing; `None` if it did not.
    trouble: Option<(f64, String)>,
    checks: u64,
    differed: u64,
    /// When the informer is compared next by itself, in milliseconds; `None` before it was live.
    due: Option<f64>,
    live: bool,
    /// How many lists there had been at the last look.
    lists: u64,
    version: ResourceVersion,
    /// When that version was first seen, in milliseconds.
    moved: f64,
    /// How many lists there had been when a new list was asked for. The informer is compared again once that list has
    /// come.
    awaits: Option<u64>,
    /// The same, kept until a comparison finds no difference.
    relisted: Option<u64>,
    /// Whether the rows were made anew, and no comparison has found since that nothing differs.
    rebuilt: bool,
}

#[derive(Debug)]
enum Stage {
    /// Waits until everything that was received is applied.
    Begin { since: f64 },
    /// Waits for the server's answer.
    Asked { since: f64 },
    /// Begins anew at that time, or as soon as there is a newer version than this one, where one is waited for.
    Waiting { until: f64, newer_than: Option<ResourceVersion> },
    /// Looks for objects that the server did not name.
    Work,
    /// Compares the rows.
    Rows(Compared, RowRun),
}

/// A comparison that is under way.
#[derive(Debug)]
struct Run {
    id: InformerId,
    by_user: bool,
    tries: u32,
    /// How many lists there had been when it began.
    lists: u64,
    comparison: Option<Comparison>,
    stage: Stage,
}

/// Compares informers, one after the other.
#[derive(Debug, Default)]
pub struct Verifier {
    records: FxHashMap<InformerId, Record>,
    /// The informers that wait for their turn, and whether the user asked for it.
    queue: VecDeque<(InformerId, bool)>,
    run: Option<Run>,
    /// How many questions were asked, so that an answer that comes too late is recognised.
    number: u64,
}

/// Something is wrong with what is held of an informer.
struct Finding {
    id: InformerId,
    /// How many lists the informer had had when the comparison began.
    lists: u64,
    /// What is wrong, in words.
    why: String,
    /// Whether the store is wrong, and not only the rows.
    in_store: bool,
}

impl Verifier {
    /// The user asks for a comparison of everything that is watched.
    pub fn ask(&mut self, now: f64, watches: &Watches) {
        self.queue.retain(|(_, by_user)| !by_user);
        let all = watches.iter().flat_map(|watched| watched.sources()).map(|(id, _)| (id, true));
        let mut asked: VecDeque<_> = all.collect();
        if let Some(run) = self.run.as_mut() {
            // The comparison has begun already; from now on the user waits for it.
            run.by_user = true;
            asked.retain(|(id, _)| *id != run.id);
            if matches!(run.stage, Stage::Waiting { .. }) {
                run.stage = Stage::Begin { since: now };
            }
        }
        asked.append(&mut self.queue);
        self.queue = asked;
    }

    /// Takes how many rows are drawn as the table has them, and which are not. This finishes a comparison.
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

    /// Whether a comparison has begun and not ended.
    pub fn is_under_way(&self) -> bool {
        self.run.is_some()
    }

    /// Whether there is something to do at the very next frame.
    pub fn is_busy(&self) -> bool {
        self.run.as_ref().is_some_and(|run| matches!(run.stage, Stage::Begin { .. } | Stage::Work | Stage::Rows(..)))
    }

    /// Goes on after a drain: to be called a few times a second.
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

    /// The informer in view that is to be compared by itself now; of several the one that has waited longest.
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

    /// Takes the answer to a question: a page of metadata, or why there is none.
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
                // The server must still know the version that it sent a moment ago.
                if record.is_some_and(|record| now - record.moved < RECENT) {
                    let reason =
                        format!("the server has forgotten version {version}, which it gave just now ({words})");
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

    /// The server does not know a version that it sent: it lags behind, or went back, as after a restore from a backup.
    fn behind(&mut self, now: f64, words: &str, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(run) = &self.run else { return };
        if run.tries < RETRIES {
            return self.wait(now + CATCH_UP, None, informers);
        }
        let version = run.comparison.as_ref().map(Comparison::version).cloned().unwrap_or_default();
        let reason = format!(
            "the server does not have version {version}, which it named before: it was restored from a backup, or lags \
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

    /// Ends a comparison that came to nothing.
    fn fail(&mut self, now: f64, why: String, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(id) = self.run.as_ref().map(|run| run.id) else { return };
        self.give_up(informers, steps);
        if let Some(record) = self.records.get_mut(&id) {
            record.trouble = Some((now, why));
            record.due = Some(now + EVERY);
        }
    }

    /// Ends a comparison in which the server contradicted what it had sent. Only a new list can show what is true.
    fn wrong(&mut self, now: f64, why: String, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some((id, lists)) = self.run.as_ref().map(|run| (run.id, run.lists)) else { return };
        self.fail(now, why.clone(), informers, steps);
        self.heal(now, Finding { id, lists, why, in_store: true }, informers, steps);
    }

    fn finish(
        &mut self,
        now: f64,
        (drawn, drawn_differences): (u64, Differences),
        informers: &SharedInformerFactory,
        steps: &mut Vec<Step>,
    ) {
        let Some(Run { id, lists, stage: Stage::Rows(store, rows), .. }) = self.run.take() else { return };
        let Some(record) = self.records.get_mut(&id) else { return };
        let verified =
            Verified { at: now, store, rows: rows.same, row_differences: rows.differences, drawn, drawn_differences };
        record.checks += 1;
        record.trouble = None;
        record.due = Some(now + EVERY);
        record.last = Some(verified.clone());
        if verified.differences() == 0 {
            (record.relisted, record.rebuilt) = (None, false);
            return;
        }
        record.differed += 1;
        let in_store = verified.store.differences.total > 0;
        let why = verified.words();
        record.found = Some(verified);
        self.heal(now, Finding { id, lists, why, in_store }, informers, steps);
    }

    /// Announces what is wrong, and has it healed: by a new list, or, where only rows differ, by making the rows anew.
    /// Nothing more is done where the last attempt did not help, or where a list has come since.
    fn heal(&mut self, now: f64, finding: Finding, informers: &SharedInformerFactory, steps: &mut Vec<Step>) {
        let Finding { id, lists, why, in_store: by_list } = finding;
        let (Some(record), Some(informer)) = (self.records.get_mut(&id), informers.get(id)) else { return };
        let Some((resource, scope)) = informers.of(id) else { return };
        let listed = informer.ledger().lists > lists;
        let helped_not = if by_list { record.relisted.is_some_and(|asked| lists > asked) } else { record.rebuilt };
        let next = match (helped_not, listed, by_list) {
            (true, ..) => "that has not changed by having it anew, and is looked at again later",
            (_, true, _) => "a new list has come meanwhile",
            (_, _, true) => "everything is listed again",
            (_, _, false) => "the rows are made anew",
        };
        let kind = NoticeKind::Difference { at: now, words: format!("The page checked itself: {why}; {next}.") };
        steps.push(Step::Publish(PageNotice {
            resource: subject(&resource),
            namespace: scope.namespace.clone(),
            kind,
        }));
        match (helped_not, listed, by_list) {
            (true, ..) => {}
            (_, true, _) => self.queue.push_back((id, true)),
            (_, _, true) => {
                let lists = informer.ledger().lists;
                (record.awaits, record.relisted) = (Some(lists), Some(lists));
                steps.push(Step::Relist(id, format!("the page checked itself: {why}")));
            }
            (_, _, false) => {
                record.rebuilt = true;
                self.queue.push_back((id, true));
                steps.push(Step::Rebuild);
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

/// Why a watch cannot be compared, in words.
fn words(why: NotYet) -> String {
    match why {
        NotYet::NotLive(health) => format!("{}: what is shown is not known to be true", health.word()),
        NotYet::Queued => String::from("what was received waits to be applied"),
        NotYet::NoVersion => String::from("the server gives no version to compare at"),
    }
}
