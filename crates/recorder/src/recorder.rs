//! The recorder: three logs of versions within one budget.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHasher;

use crate::lives::{Life, Lives, Number};
use crate::log::{Head, Log, New, Record, Scratch, mark_of};
use crate::past::{self, Past, Steps, Then};
use crate::texts::Texts;

/// How many bytes are kept by default.
pub const BUDGET: usize = 64_000_000;

/// The part of the budget that what is dull may have before it gives way to everything else.
const DULL: usize = 16;
/// The part of the budget for the names of objects that exist, and of which no version is kept any more.
const NAMES: usize = 16;
/// The part of the budget for texts that are held as they are, because another version of the same objects is expected.
const TEXTS: usize = 16;
/// The budget is at least so many segments, so that dropping one drops a small part of all.
const SEGMENTS: usize = 32;
/// The most bytes of a segment.
const SEGMENT: usize = 2 << 20;
/// A kind has few objects where there is one for so many bytes of the budget, or less: a thousand by default.
const FEW: usize = 64_000;
/// How many versions of an object are looked at before all others for one that is searched for.
const NEWEST: usize = 8;

/// How many versions may be looked at once for each object of which the way back is then known.
const WORTH_STEPS: usize = 16;

/// How much a version says to whoever looks back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// A change.
    Change,
    /// A heartbeat or the like: it goes first.
    Dull,
    /// What a list brought: how things were, not what changed. Lists fill at most half of the budget. Those of a kind with many
    /// objects replace nothing; those of a kind with few objects cost little, and whoever opens the kind looks at just these.
    Listed,
}

impl Interest {
    const ALL: [Interest; 3] = [Interest::Change, Interest::Dull, Interest::Listed];
}

/// A version that was received.
#[derive(Clone, Copy, Debug)]
pub struct NewVersion<'a> {
    /// When it was received, in milliseconds.
    pub at: f64,
    /// What happened to the object.
    pub delta_type: DeltaType,
    /// The object's resource.
    pub resource: ApiResource,
    /// The object.
    pub object: &'a Object,
    /// Its text; `None` for a deletion that no frame reported.
    pub text: Option<&'a str>,
    /// How much it says.
    pub interest: Interest,
    /// Whether the object was known before.
    pub was_known: bool,
}

/// What became of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is kept, with this number.
    Kept(u64),
    /// The newest version of the object is the same one, and is kept with this number: a list of another watch repeated it.
    Again(u64),
    /// It is not kept: its text is larger than a quarter of the budget, or lists have filled their part.
    Dropped,
}

/// A version that is kept.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// What is known of it beside its text.
    pub record: &'a Record,
    /// Its object.
    pub life: &'a Life,
}

/// How much was received, and what became of it: `received = kept + again + dropped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many versions were received.
    pub received: u64,
    /// How many are kept.
    pub kept: u64,
    /// How many were received again.
    pub again: u64,
    /// How many were dropped, at once or later.
    pub dropped: u64,
    /// The bytes of all texts that were written, as they were received.
    pub text_bytes: u64,
}

/// Every version that was received, within a budget.
///
/// What does not fit is dropped in this order: what is dull, as long as it takes more than a sixteenth of the budget; then
/// whatever is oldest. Nothing is dropped uncounted. With a budget of 0 nothing is kept, and everything is counted as dropped.
#[derive(Debug)]
pub struct Recorder {
    logs: [Log; 3],
    lives: Lives,
    texts: Texts,
    scratch: Scratch,
    budget: usize,
    totals: Totals,
    /// When the newest change was received that was dropped, in milliseconds.
    dropped_to: Option<f64>,
}

impl Recorder {
    /// A recorder that takes so many bytes at most.
    pub fn new(budget: usize) -> Recorder {
        let mut lives = Lives::default();
        lives.limit(budget / NAMES);
        Recorder {
            logs: [0, 1, 2].map(|_| Log::new(segment(budget))),
            lives,
            texts: Texts::new(budget / TEXTS),
            scratch: Scratch::default(),
            budget,
            totals: Totals::default(),
            dropped_to: None,
        }
    }

    /// Keeps a version.
    // Inlined into a caller that is built for size, it would be built for size, too.
    #[inline(never)]
    pub fn push(&mut self, new: NewVersion<'_>) -> Pushed {
        let NewVersion { at, delta_type, resource, object, text, interest, was_known } = new;
        let sequence = self.totals.received;
        self.totals.received += 1;
        if self.budget == 0 {
            self.totals.dropped += 1;
            self.lives.remember_dropped(object.uid.clone(), 1);
            self.lives.lose(sequence, delta_type == DeltaType::Deleted);
            self.note_dropped(at, interest);
            return Pushed::Dropped;
        }
        let number = self.lives.number((resource, &object.key, &object.uid), sequence, was_known);
        let version = mark_of(&object.resource_version);
        let Some(life) = self.lives.get_mut(number) else { return Pushed::Dropped };
        let is_gone = delta_type == DeltaType::Deleted;
        // Nearly always: a version that is greater than all before it.
        if version <= life.greatest && is_gone == life.is_gone {
            let (last, newest) = (life.last, life.newest().into_iter().flatten().max());
            let known = newest.filter(|newest| *newest == last).and_then(|newest| self.record(newest));
            if let Some(known) = known.filter(|one| one.version == version && !one.is_missing).map(|one| one.sequence) {
                self.totals.again += 1;
                return Pushed::Again(known);
            }
        }
        let length = text.map_or(0, str::len);
        let is_missing = (interest == Interest::Listed && self.is_full_of_lists(resource)) || length > self.budget / 4;
        let Some(life) = self.lives.get_mut(number) else { return Pushed::Dropped };
        (life.last, life.is_gone) = (sequence, is_gone);
        life.dropped += u64::from(is_missing);
        // That a version is missing is only said where the one before it would be taken for it.
        if is_missing && life.kept == 0 {
            self.lives.forget_if_empty(number);
        } else {
            let previous =
                std::mem::replace(&mut life.newest[interest as usize], Number::of(sequence)).map(Number::get);
            let before = previous.and_then(|previous| u32::try_from(sequence - previous).ok()).unwrap_or(0);
            let head = Head { sequence, at, version, life: number, before, delta_type, is_missing };
            life.greatest = life.greatest.max(version);
            let (families, text) = (families(resource, object), text.filter(|_| !is_missing));
            let log = &mut self.logs[interest as usize];
            log.push(New { head, families, previous, text }, &mut self.texts, &mut self.scratch);
        }
        if is_missing {
            self.totals.dropped += 1;
            self.note_dropped(at, interest);
        } else {
            self.lives.kept_one(number);
            self.totals.kept += 1;
            self.totals.text_bytes += length as u64;
        }
        self.drop_beyond();
        if is_missing { Pushed::Dropped } else { Pushed::Kept(sequence) }
    }

    /// Whether a list of a kind has no room.
    fn is_full_of_lists(&self, resource: ApiResource) -> bool {
        let half = self.budget / 2;
        let are_many = || self.lives.count(resource) > self.budget / FEW;
        self.memory() > half && (self.logs[Interest::Listed as usize].memory() > half || are_many())
    }

    /// Remembers until when changes were dropped. How things were when they were listed is no change, and what is dull is not
    /// missed.
    fn note_dropped(&mut self, at: f64, interest: Interest) {
        if interest == Interest::Change {
            self.dropped_to = Some(self.dropped_to.map_or(at, |before| before.max(at)));
        }
    }

    /// The versions of a life that are kept, the newest first: those of the three logs, merged.
    fn versions_of(&self, life: &Life) -> impl Iterator<Item = &Record> {
        self.versions_down_from(life.newest())
    }

    /// The versions of an object, the newest first, from these in each of the logs.
    fn versions_down_from(&self, newest: [Option<u64>; 3]) -> impl Iterator<Item = &Record> {
        let logs = [&self.logs[0], &self.logs[1], &self.logs[2]];
        let mut next = newest.map(|_| None);
        for (at, newest) in newest.into_iter().enumerate() {
            next[at] = newest.and_then(|newest| logs[at].record(newest));
        }
        let all = std::iter::from_fn(move || {
            let at = (0..3).max_by_key(|at| next[*at].map(|record| record.sequence + 1))?;
            let record = next[at]?;
            next[at] = record.previous().and_then(|before| logs[at].record(before));
            Some(record)
        });
        all.filter(|record| !record.is_missing)
    }

    fn record(&self, sequence: u64) -> Option<&Record> {
        self.logs.iter().find_map(|log| log.record(sequence))
    }

    /// A version, if it is kept.
    pub fn get(&self, sequence: u64) -> Option<Stored<'_>> {
        let record = self.record(sequence).filter(|record| !record.is_missing)?;
        Some(Stored { record, life: self.lives.get(record.life)? })
    }

    /// The number of a version of an object that was received at a time, in milliseconds, and is no deletion.
    pub fn find(&self, resource: ApiResource, object: (&ObjectKey, &Uid), of: (&ResourceVersion, f64)) -> Option<u64> {
        let ((key, uid), (version, at)) = (object, of);
        let (life, version) = (self.lives.find(resource, key, uid)?, mark_of(version));
        let is_it = |record: &&Record| {
            let is_gone = record.delta_type == DeltaType::Deleted;
            (record.life, record.version, record.at) == (life, version, at) && !is_gone && !record.is_missing
        };
        // What is asked for is mostly among the newest versions. Very many may have been received at one time.
        let newest = self.versions_of(self.lives.get(life)?).take(NEWEST).find(is_it);
        let found = newest.or_else(|| self.logs.iter().find_map(|log| log.received_at(at).find(is_it)));
        found.map(|record| record.sequence)
    }

    /// The number of the version of the same object that was received before a kept one, if it is kept, too.
    pub fn previous(&self, sequence: u64) -> Option<u64> {
        let (log, record) = self.logs.iter().enumerate().find_map(|(at, log)| Some((at, log.record(sequence)?)))?;
        let mut newest = self.lives.get(record.life)?.newest();
        // In its own log, the way to an old version need not lead over all newer ones.
        newest[log] = Some(sequence);
        self.versions_down_from(newest).map(|record| record.sequence).find(|number| *number < sequence)
    }

    /// The text of a version; `None` if it is not kept, or has none.
    pub fn read(&self, sequence: u64) -> Option<Cow<'_, str>> {
        match self.logs.iter().find_map(|log| log.read(sequence, &self.texts))? {
            Cow::Borrowed(text) => simdutf8::basic::from_utf8(text).ok().map(Cow::Borrowed),
            Cow::Owned(text) => String::from_utf8(text).ok().map(Cow::Owned),
        }
    }

    /// The number of the newest version of an object that is kept.
    pub fn newest(&self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> Option<u64> {
        self.newest_of(self.lives.get(self.lives.find(resource, key, uid)?)?)
    }

    /// The number of the newest version of a life that is kept.
    pub fn newest_of(&self, life: &Life) -> Option<u64> {
        Some(self.versions_of(life).next()?.sequence)
    }

    /// The text of the newest version of an object, if it is held as it is: that costs nothing to read.
    pub fn newest_text(&self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> Option<&str> {
        let life = self.lives.named(resource, key).find(|life| life.uid == *uid)?;
        let newest = self.versions_of(life).next()?;
        simdutf8::basic::from_utf8(self.texts.get(newest.sequence)?).ok()
    }

    /// The versions that are kept of all objects that had a name, the oldest first.
    pub fn versions(&self, resource: ApiResource, key: &ObjectKey) -> Vec<Stored<'_>> {
        let mut all = Vec::new();
        for life in self.lives.named(resource, key) {
            all.extend(self.versions_of(life).map(|record| Stored { record, life }));
        }
        sort_by_key(&mut all, |stored| stored.record.sequence);
        all
    }

    /// The first version that is kept of what had a name, of those from a number on.
    pub fn first_from(&self, resource: ApiResource, key: &ObjectKey, from: u64) -> Option<&Record> {
        let lives = self.lives.named(resource, key);
        let first = |life| self.versions_of(life).take_while(|record| record.sequence >= from).last();
        lives.filter_map(first).min_by_key(|record| record.sequence)
    }

    /// The other resources of the same name in the same cluster, of which something was received: a kind may be served in two
    /// groups, or in two versions.
    pub fn twins(&self, resource: &ApiResource) -> impl Iterator<Item = ApiResource> {
        self.lives.resources().filter(move |other| {
            other != resource && other.plural == resource.plural && other.cluster == resource.cluster
        })
    }

    /// The resources of which something was received.
    pub fn resources(&self) -> impl Iterator<Item = ApiResource> {
        self.lives.resources()
    }

    /// The names of all objects of a resource that are remembered.
    pub fn names(&self, resource: ApiResource) -> impl Iterator<Item = &ObjectKey> {
        self.lives.names(resource).map(|(key, _)| key)
    }

    /// How many versions had been received when the clock said this time: at least so many, and at most so many.
    ///
    /// The moment is behind the last one that was received at this time or an earlier one. So it is where the clock was set back,
    /// too: what came before that one, though at a later time, belongs to the moment. Up to the next one that is kept there may
    /// have been others, of which it is not known when they came.
    pub fn received_by(&self, at: f64) -> (u64, u64) {
        let least = self.logs.iter().filter_map(|log| log.last_by(at)).max().map_or(0, |last| last + 1);
        let next = self.logs.iter().filter_map(|log| log.between(least, u64::MAX).next());
        (least, next.map(|next| next.sequence).min().unwrap_or(self.totals.received))
    }

    /// After so many versions had been received, nothing came of an object whose name was forgotten later: of a moment before
    /// that, names may be missing. Whoever has the present objects knows then of those that are missing here that they are as they
    /// were. The second says whether there are any.
    pub fn whole_from(&self) -> (u64, bool) {
        self.lives.whole_from()
    }

    /// The objects of a resource that there were, in any order, each after as many versions were received as `received` says for
    /// its key, which are at most so many.
    pub fn past(
        &self,
        resource: ApiResource,
        most: u64,
        received: impl Fn(&ObjectKey) -> Option<u64>,
    ) -> impl Iterator<Item = (&Life, Past)> {
        let since: usize = self.logs.iter().map(|log| log.between(most, u64::MAX).count()).sum();
        let is_worth = since / WORTH_STEPS < self.lives.count(resource);
        let steps = is_worth.then(|| Steps::since(&self.logs, most));
        self.lives.names(resource).filter_map(move |(key, numbers)| {
            let received = received(key)?;
            self.past_among(numbers, received, steps.as_ref().filter(|_| received == most))
        })
    }

    /// The object that had a name after so many versions were received.
    pub fn past_of(&self, resource: ApiResource, key: &ObjectKey, received: u64) -> Option<(&Life, Past)> {
        self.past_among(self.lives.of_name(resource, key)?, received, None)
    }

    /// Of objects that had a name one after the other the one of which something was received last: it took over the name, also
    /// where the deletion of the one before it was never seen.
    fn past_among(&self, numbers: &[u32], received: u64, steps: Option<&Steps<'_>>) -> Option<(&Life, Past)> {
        let lives = numbers.iter().filter_map(|number| self.lives.get(*number));
        let pasts = lives.filter_map(|life| Some((life, past::of(life, &self.logs, received, steps)?)));
        pasts.max_by_key(|(_, past)| past.sequence).filter(|(_, past)| past.then != Then::Absent)
    }

    /// Whether something is remembered of an object.
    pub fn remembers(&self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> bool {
        self.lives.find(resource, key, uid).is_some()
    }

    /// An object, by its number.
    pub fn life(&self, number: u32) -> Option<&Life> {
        self.lives.get(number)
    }

    /// What was received from one number on, up to before another one, in the order in which it came: of each version that is
    /// kept its record; and where a version is missing behind one that is kept, a record that says only that.
    pub fn between(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = &Record> {
        past::Merged(self.logs.each_ref().map(|log| log.between(from, to)))
    }

    /// The same in any order.
    pub fn all_between(&self, from: u64, to: u64) -> impl Iterator<Item = &Record> {
        self.logs.iter().flat_map(move |log| log.between(from, to))
    }

    /// The resource of a life.
    pub fn resource(&self, life: &Life) -> Option<ApiResource> {
        self.lives.resource(life.resource)
    }

    /// How many versions of an object were dropped, and whether there may have been more.
    pub fn dropped(&self, uid: &Uid, resource: ApiResource, key: &ObjectKey) -> (u64, bool) {
        self.lives.dropped(uid, resource, key)
    }

    /// How much was received, and what became of it.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Since when every change is kept, in milliseconds; `None` as long as nothing was dropped.
    pub fn whole_since(&self) -> Option<f64> {
        if self.totals.dropped == 0 {
            return None;
        }
        let oldest = self.logs[Interest::Change as usize].oldest();
        oldest.into_iter().chain(self.dropped_to).reduce(f64::max)
    }

    /// The memory that is taken, and that may be taken, in bytes.
    pub fn bytes(&self) -> (usize, usize) {
        (self.memory(), self.budget)
    }

    /// How many bytes the versions that are kept are written in, with what is known of each. What is taken is more, because
    /// there is room for the next ones, and the newest texts are held as they are.
    pub fn written_bytes(&self) -> usize {
        self.logs.iter().map(Log::written).sum()
    }

    fn memory(&self) -> usize {
        let logs: usize = self.logs.iter().map(Log::memory).sum();
        logs + self.texts.memory() + self.lives.memory()
    }

    /// Changes the budget, and drops what is beyond it.
    pub fn limit(&mut self, budget: usize) {
        self.budget = budget;
        self.texts.limit(budget / TEXTS);
        self.lives.limit(budget / NAMES);
        self.logs.iter_mut().for_each(|log| log.fill_to(segment(budget)));
        self.drop_beyond();
    }

    fn drop_beyond(&mut self) {
        while self.memory() > self.budget {
            let dull = &self.logs[Interest::Dull as usize];
            let oldest = match dull.memory() > self.budget / DULL {
                true => Some(Interest::Dull),
                false => Interest::ALL
                    .into_iter()
                    .filter_map(|interest| Some((self.logs[interest as usize].oldest()?, interest)))
                    .min_by(|(one, _), (other, _)| one.total_cmp(other))
                    .map(|(_, interest)| interest),
            };
            let Some(interest) = oldest else { return };
            let Some(records) = self.logs[interest as usize].drop_oldest() else { return };
            if let Some(last) = records.last() {
                self.note_dropped(last.at, interest);
            }
            for record in records.iter().filter(|record| !record.is_missing) {
                self.totals.kept -= 1;
                self.totals.dropped += 1;
                self.lives.dropped_one(record);
            }
        }
    }
}

/// How many bytes a segment of a recorder with this budget holds.
fn segment(budget: usize) -> usize {
    (budget / SEGMENTS).clamp(1 << 12, SEGMENT)
}

/// Those that the object resembles: the others of its first owner, and those of its resource.
fn families(resource: ApiResource, object: &Object) -> [u64; 2] {
    let mut hasher = FxHasher::default();
    (resource.group, resource.plural).hash(&mut hasher);
    let of_resource = hasher.finish();
    match object.owners.as_deref().and_then(|owners| owners.first()) {
        Some(owner) => owner.uid.hash(&mut hasher),
        None => object.key.namespace.hash(&mut hasher),
    }
    [hasher.finish(), of_resource]
}
