//! What this session received: every version of every object of the watched kinds, as the recorder keeps it.
//!
//! A version costs the bytes in which it differs from another one. Its text is made again, and parsed, only when the user
//! looks at it. Versions that are dropped are counted. A Secret's values never reach the recorder.

mod change;
pub mod coverage;
pub mod notes;
pub mod secret;
pub mod who;

use std::borrow::Cow;

use kubechurn_changes::{noise, writer};
use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_recorder::{Interest, Life, NewVersion, Past, Pushed, Record, Recorder, Stored, Then, Totals};
use rustc_hash::FxHashMap;
use serde::Serialize;

pub use crate::history::change::RecordedChange;
use crate::history::coverage::{Coverage, Known, Moment, Part};
use crate::history::notes::Notes;
use crate::history::who::Who;
use crate::timeline::mark::MarkType;
use crate::timeline::marks::MarkInfo;

/// How far apart two watches may bring what was written at one time, in milliseconds.
pub const APART: f64 = 2_000.0;

/// How much memory the recorder may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Budget {
    /// None: nothing is recorded, and no change is shown.
    Off,
    /// 16 MB.
    Small,
    /// 64 MB.
    #[default]
    Usual,
    /// 256 MB.
    Large,
    /// 512 MB.
    Largest,
}

impl Budget {
    /// Every choice, in the order in which they are shown.
    pub const ALL: [Budget; 5] = [Budget::Off, Budget::Small, Budget::Usual, Budget::Large, Budget::Largest];

    /// In bytes.
    pub fn bytes(self) -> usize {
        match self {
            Budget::Off => 0,
            Budget::Small => 16_000_000,
            Budget::Usual => 64_000_000,
            Budget::Large => 256_000_000,
            Budget::Largest => 512_000_000,
        }
    }

    /// The name under which the choice is stored, and by which tests find it: the number of megabytes.
    pub fn name(self) -> &'static str {
        match self {
            Budget::Off => "0",
            Budget::Small => "16",
            Budget::Usual => "64",
            Budget::Large => "256",
            Budget::Largest => "512",
        }
    }

    /// The choice as it is shown.
    pub fn label(self) -> String {
        if self == Budget::Off { String::from("off") } else { format!("{} MB", self.name()) }
    }

    /// The choice with this name.
    pub fn named(name: &str) -> Option<Budget> {
        Budget::ALL.into_iter().find(|budget| budget.name() == name)
    }
}

/// A version that is kept, without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The sequence number, counting everything that was received from 0.
    pub sequence: u64,
    /// When the version was received, in milliseconds.
    pub at: f64,
    /// What happened to the object. A version that a list brought has [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// The uid, which distinguishes objects that had the name one after the other.
    pub uid: Uid,
    /// The version that the server gave it.
    pub resource_version: ResourceVersion,
    /// Whether there is a text. There is none for a deletion that no frame reported, and for a Secret that is no JSON
    /// object.
    pub has_text: bool,
}

/// One version of one object, as it was received.
#[derive(Clone, Debug)]
pub struct Version {
    /// What is known of it beside its text.
    pub entry: Entry,
    /// The object's JSON, for a Secret with masked values.
    pub text: Option<String>,
}

/// An object as it was at a moment.
#[derive(Clone, Copy, Debug)]
pub struct AtMoment<'a> {
    /// Its key.
    pub key: &'a ObjectKey,
    /// Its uid.
    pub uid: &'a Uid,
    /// What is known of its version.
    pub was: Was<'a>,
    /// What had happened to it last, and when, in milliseconds; negative infinity where that is not kept.
    pub last: (DeltaType, f64),
}

/// What is known of an object's version at a moment.
#[derive(Clone, Copy, Debug)]
pub enum Was<'a> {
    /// It is still the object's newest, and perhaps kept.
    Newest(Option<&'a Record>),
    /// There was another one since, and this one is kept.
    Version(&'a Record),
    /// There was another one since, and it is not kept.
    Evicted,
}

/// The object of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Of {
    /// Its resource.
    pub resource: ApiResource,
    /// Its key.
    pub key: ObjectKey,
}

/// How much was received, and what is kept of it, as `window.kubechurn.recorder()` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Report {
    received: u64,
    kept: u64,
    again: u64,
    dropped: u64,
    /// The bytes of the texts of all versions that were written.
    text_bytes: u64,
    /// The bytes that the kept versions are written in.
    written_bytes: usize,
    bytes: usize,
    budget: usize,
    whole_since: Option<f64>,
}

/// The versions.
#[derive(Debug)]
pub struct History {
    recorder: Recorder,
    /// The salt that keeps the masks of a Secret's values from showing anything about the values. Random in each
    /// session.
    salt: u64,
    /// The most that the user's choice may give, after memory has become short.
    most: usize,
    /// When what was known of each kind.
    pub coverage: Coverage,
    /// What the user noted.
    pub notes: Notes,
    /// Who wrote, as far as it is certain.
    pub who: Who,
    /// The definitions of custom kinds, in brief.
    pub definitions: FxHashMap<ApiResource, String>,
}

impl History {
    /// An empty history of at most so many bytes. `salt` is a random number.
    pub fn new(budget: usize, salt: u64) -> History {
        let (coverage, notes, who, definitions) = Default::default();
        History { recorder: Recorder::new(budget), salt, most: usize::MAX, coverage, notes, who, definitions }
    }

    /// Keeps what was received. Returns its number, if it is a change that can be shown: what a first list brings is none,
    /// but how far a workload is then is known from it.
    pub fn push(&mut self, resource: ApiResource, received: ReceivedDelta<'_>) -> Option<u64> {
        let ReceivedDelta { now, delta_type, object, text, was_known } = received;
        let was_known = was_known || matches!(delta_type, DeltaType::Updated | DeltaType::Deleted);
        let masked = match text {
            Some(text) if secret::is_secret(&resource) => Some(secret::redact(text, self.salt)),
            _ => None,
        };
        let text = match &masked {
            Some(masked) => masked.as_deref(),
            None => text,
        };
        let interest = match delta_type {
            DeltaType::Replaced => Interest::Listed,
            _ if is_lease(&resource) || self.is_node_heartbeat(&resource, &received, text) => Interest::Dull,
            _ => Interest::Change,
        };
        let is_known_elsewhere = interest == Interest::Change && self.is_known_elsewhere(&resource, &received);
        match self.recorder.push(NewVersion { at: now, delta_type, resource, object, text, interest, was_known }) {
            Pushed::Kept(sequence) => {
                let is_change = interest != Interest::Listed || is_workload(&resource);
                let is_change = is_change || self.recorder.previous(sequence).is_some();
                (is_change && !is_known_elsewhere).then_some(sequence)
            }
            Pushed::Again(known) => {
                if delta_type == DeltaType::Replaced
                    && let Some(stored) = self.recorder.get(known)
                {
                    self.coverage.named(resource, stored.record.life);
                }
                None
            }
            Pushed::Dropped => None,
        }
    }

    /// The moment of a time, in milliseconds.
    pub fn moment(&self, at: f64) -> Moment {
        self.coverage.moment(at, self.recorder.received_by(at))
    }

    /// How many changes came since a moment and are kept, of the objects that are asked for.
    pub fn changes_since(&self, moment: Moment, is_asked: &dyn Fn(&ApiResource, &ObjectKey) -> bool) -> usize {
        let since = self.recorder.all_between(moment.received, u64::MAX);
        since.filter(|record| self.is_change(record, is_asked)).count()
    }

    /// Whether a record is of a change, and of an object that is asked for. What a list brings is no change.
    fn is_change(&self, record: &Record, is_asked: &dyn Fn(&ApiResource, &ObjectKey) -> bool) -> bool {
        let life = self.recorder.life(record.life);
        let of = life.and_then(|life| Some((self.recorder.resource(life)?, &life.key)));
        record.delta_type != DeltaType::Replaced && of.is_some_and(|(resource, key)| is_asked(&resource, key))
    }

    /// The objects of a resource as they were when so much was known of it, in any order.
    pub fn past<'a>(&'a self, resource: ApiResource, known: &'a Known) -> impl Iterator<Item = AtMoment<'a>> {
        let received = move |key: &ObjectKey| self.coverage.part_of(known, key).map(|part| part.received);
        let most = known.parts.iter().map(|part| part.received).max().unwrap_or(0);
        self.recorder.past(resource, most, received).filter_map(move |(life, past)| self.at_moment(known, life, past))
    }

    /// Calls `each` with each of these.
    #[inline(never)]
    pub fn each_past(&self, resource: ApiResource, known: &Known, each: &mut dyn FnMut(&AtMoment<'_>)) {
        self.past(resource, known).for_each(|past| each(&past));
    }

    /// The object that had a name when so much was known of its resource.
    pub fn past_of<'a>(&'a self, resource: ApiResource, key: &ObjectKey, known: &Known) -> Option<AtMoment<'a>> {
        let received = self.coverage.part_of(known, key)?.received;
        let (life, past) = self.recorder.past_of(resource, key, received)?;
        self.at_moment(known, life, past)
    }

    fn at_moment<'a>(&'a self, known: &Known, life: &'a Life, past: Past) -> Option<AtMoment<'a>> {
        let part = self.coverage.part_of(known, &life.key)?;
        self.coverage.has(part, life.number, past.sequence).then_some(())?;
        let record = match past.then {
            Then::Version(sequence) => Some(self.recorder.get(sequence)?.record),
            Then::Absent | Then::Evicted => None,
        };
        let was = match record {
            record if past.is_newest => Was::Newest(record),
            Some(record) => Was::Version(record),
            None => Was::Evicted,
        };
        let last = record.map_or((DeltaType::Replaced, f64::NEG_INFINITY), |record| (record.delta_type, record.at));
        Some(AtMoment { key: &life.key, uid: &life.uid, was, last })
    }

    /// What happened next to what has a name, after so much was known of it: what it was, and when, in milliseconds.
    pub fn next_of(&self, resource: ApiResource, key: &ObjectKey, known: &Known) -> Option<(DeltaType, f64)> {
        let received = self.coverage.part_of(known, key)?.received;
        self.recorder.first_from(resource, key, received).map(|record| (record.delta_type, record.at))
    }

    /// When the last change came before a moment, and the first one after it, of the objects that are asked for: in whole
    /// milliseconds, up to which all of it had come. What a list brings is no change.
    pub fn changes_around(
        &self,
        moment: Moment,
        is_asked: &dyn Fn(&ApiResource, &ObjectKey) -> bool,
    ) -> (Option<f64>, Option<f64>) {
        let mut before = self.recorder.between(0, moment.received).rev();
        let before = before.find(|record| record.at.ceil() < moment.at && self.is_change(record, is_asked));
        let after = self.recorder.between(moment.received, u64::MAX).find(|record| self.is_change(record, is_asked));
        (before.map(|record| record.at.ceil()), after.map(|record| record.at.ceil()))
    }

    /// Calls `each` with the key of the object of each version that was received between two numbers, in any order of the two.
    pub fn each_between(&self, resource: ApiResource, (from, to): (u64, u64), each: &mut dyn FnMut(&ObjectKey)) {
        for record in self.recorder.all_between(from.min(to), from.max(to)) {
            let life = self.recorder.life(record.life);
            if let Some(life) = life.filter(|life| self.recorder.resource(life) == Some(resource)) {
                each(&life.key);
            }
        }
    }

    /// Whether it is known of each object whether a part had it then: no change is dropped that came since the moment, and each
    /// name is remembered, or is that of a present object.
    pub fn is_whole(&self, part: &Part, moment: Moment) -> bool {
        let (from, has_lost) = self.recorder.whole_from();
        let is_kept = self.whole_since().is_none_or(|since| since <= moment.at);
        is_kept && from <= part.received && (part.is_current || !has_lost)
    }

    /// Whether there may be present objects of which nothing is remembered.
    pub fn has_forgotten(&self) -> bool {
        self.recorder.whole_from().1
    }

    /// The resources of which something was received.
    pub fn resources(&self) -> impl Iterator<Item = ApiResource> {
        self.recorder.resources()
    }

    /// The names of all objects of a resource that are remembered.
    pub fn names(&self, resource: ApiResource) -> impl Iterator<Item = &ObjectKey> {
        self.recorder.names(resource)
    }

    /// Calls `each` with the number of each version that is kept of what had a name until a moment, the oldest first; and with
    /// whether it is the first one of its object that is kept, and others were dropped.
    pub fn each_version(
        &self,
        resource: ApiResource,
        key: &ObjectKey,
        moment: Moment,
        each: &mut dyn FnMut(u64, bool),
    ) {
        let mut last = None;
        for Stored { record, life } in self.recorder.versions(resource, key) {
            if record.sequence < moment.received {
                each(record.sequence, last.replace(record.life) != Some(record.life) && life.dropped > 0);
            }
        }
    }

    /// The number of the version of the same object that was received before a kept one, if it is kept, too.
    pub fn previous(&self, sequence: u64) -> Option<u64> {
        self.recorder.previous(sequence)
    }

    /// Whether a version shows what changed: what a list brings does so only where a version before it is kept.
    pub fn is_compared(&self, record: &Record) -> bool {
        record.delta_type != DeltaType::Replaced || self.recorder.previous(record.sequence).is_some()
    }

    /// When a version was received, in milliseconds, if it is kept.
    pub fn at(&self, sequence: u64) -> Option<f64> {
        self.recorder.get(sequence).map(|stored| stored.record.at)
    }

    /// Whether something is remembered of an object.
    pub fn remembers(&self, resource: ApiResource, object: &Object) -> bool {
        self.recorder.remembers(resource, &object.key, &object.uid)
    }

    /// Calls `each` with at most so many of the versions that were received from a number on, in the order in which they came.
    /// Returns the number after the last one; `None` where there is no more.
    pub fn each_received(
        &self,
        from: u64,
        most: usize,
        each: &mut dyn FnMut(&Record, &Life, ApiResource),
    ) -> Option<u64> {
        let mut last = None;
        for record in self.recorder.between(from, u64::MAX).take(most) {
            let life = self.recorder.life(record.life);
            if let Some((life, resource)) = life.and_then(|life| Some((life, self.recorder.resource(life)?))) {
                each(record, life, resource);
            }
            last = Some(record.sequence + 1);
        }
        last
    }

    /// The versions of a resource that were received from one number on up to before another one and are kept, the newest first.
    pub fn received_of(&self, resource: ApiResource, (from, to): (u64, u64)) -> impl Iterator<Item = (&Record, &Life)> {
        let of = move |life: &Life| self.recorder.resource(life) == Some(resource);
        let records = self.recorder.between(from, to).rev().filter(|record| record.is_kept());
        records.filter_map(move |record| Some((record, self.recorder.life(record.life).filter(|life| of(life))?)))
    }

    /// The text of the newest version of an object, if it is kept.
    pub fn newest_text(&self, resource: ApiResource, object: &Object) -> Option<Cow<'_, str>> {
        self.recorder.read(self.recorder.newest(resource, &object.key, &object.uid)?)
    }

    /// What is known of a version beside its text, if it is kept.
    pub fn record(&self, sequence: u64) -> Option<&Record> {
        Some(self.recorder.get(sequence)?.record)
    }

    /// Whether a version is the newest one of its object.
    pub fn is_newest(&self, record: &Record, life: &Life) -> bool {
        self.recorder.newest_of(life) == Some(record.sequence)
    }

    /// An object, by the number of its life.
    pub fn life(&self, number: u32) -> Option<&Life> {
        self.recorder.life(number)
    }

    /// The resource of an object.
    pub fn resource_of(&self, life: &Life) -> Option<ApiResource> {
        self.recorder.resource(life)
    }

    /// How many versions are kept.
    pub fn kept(&self) -> u64 {
        self.recorder.totals().kept
    }

    /// The objects of a resource after so many versions were received: of each what is known of its version.
    pub fn lives_at(&self, resource: ApiResource, received: u64) -> impl Iterator<Item = (&Life, Past)> {
        self.recorder.past(resource, received, move |_| Some(received))
    }

    /// The text of a version, if it is kept.
    pub fn text(&self, sequence: u64) -> Option<Cow<'_, str>> {
        self.recorder.read(sequence)
    }

    /// Whether another watch has brought the same version of the same object. Some kinds are served in two groups or versions: an
    /// Event of `events.k8s.io` is one of the core. That is one write, and not two.
    fn is_known_elsewhere(&self, resource: &ApiResource, received: &ReceivedDelta<'_>) -> bool {
        let Object { key, uid, resource_version, .. } = &**received.object;
        let is_gone = received.delta_type == DeltaType::Deleted;
        let is_it = |stored: &Stored<'_>| {
            let number = stored.record.number().map(|number| number.to_string());
            stored.life.uid == *uid
                && number.as_deref() == Some(resource_version.as_str())
                && (stored.record.delta_type == DeltaType::Deleted) == is_gone
        };
        self.recorder.twins(resource).any(|twin| self.recorder.versions(twin, key).iter().any(is_it))
    }

    /// Whether a Node's status says no more than that its kubelet is still there. Only Nodes are compared, and only with a
    /// text that is at hand: of the many writes of all other objects nothing more is asked.
    fn is_node_heartbeat(&self, resource: &ApiResource, received: &ReceivedDelta<'_>, text: Option<&str>) -> bool {
        let is_node = resource.group.is_empty() && resource.plural == "nodes";
        let text = text.filter(|_| is_node && received.delta_type == DeltaType::Updated);
        text.is_some_and(|new| {
            let Object { key, uid, .. } = &**received.object;
            let old = self.recorder.newest_text(*resource, key, uid);
            old.is_some_and(|old| noise::is_heartbeat(resource.kind, old, new))
        })
    }

    /// A change with its text and the one before it; `None` if it is not kept any more.
    pub fn change(&self, sequence: u64) -> Option<RecordedChange<'_>> {
        let stored = self.recorder.get(sequence)?;
        let (delta_type, new) = (stored.record.delta_type, self.recorder.read(sequence));
        // Nothing is compared when an object comes or goes. An older text is made of several differences, which takes time.
        let is_enough = new.is_some() && matches!(delta_type, DeltaType::Added | DeltaType::Deleted);
        let previous = if is_enough { None } else { self.recorder.previous(sequence) };
        let was_gone = previous.and_then(|previous| self.recorder.get(previous)).map(|stored| stored.record.delta_type);
        Some(RecordedChange {
            at: stored.record.at,
            delta_type,
            resource: self.recorder.resource(stored.life)?,
            key: stored.life.key.clone(),
            uid: stored.life.uid.clone(),
            old: previous.filter(|_| was_gone != Some(DeltaType::Deleted)).and_then(|one| self.recorder.read(one)),
            new,
        })
    }

    /// The manager that seems to have written the version that a mark is about, as the feed infers it; the first one, if it
    /// seems to have been several. `None` if the version is not kept, if the one before it is not, or if nobody wrote it as
    /// far as is known: who deletes an object leaves no trace in it, and what a first list brings was written before.
    pub fn writer(&self, resource: ApiResource, mark: &MarkInfo<'_>) -> Option<String> {
        let delta_type = match mark.mark_type {
            MarkType::Added => DeltaType::Added,
            MarkType::Updated => DeltaType::Updated,
            MarkType::Replaced => DeltaType::Replaced,
            MarkType::Deleted | MarkType::Sync | MarkType::Relist | MarkType::Gap => return None,
        };
        self.writer_of(self.version_of_mark(resource, mark)?, delta_type)
    }

    /// The number of the version that a mark is about.
    pub fn version_of_mark(&self, resource: ApiResource, mark: &MarkInfo<'_>) -> Option<u64> {
        self.recorder.find(resource, (mark.key?, mark.uid), (&mark.resource_version, mark.at))
    }

    /// The manager that seems to have written a version of this number.
    pub fn writer_of(&self, sequence: u64, delta_type: DeltaType) -> Option<String> {
        let previous = self.recorder.previous(sequence).filter(|_| delta_type != DeltaType::Added);
        let old = previous.and_then(|previous| self.recorder.read(previous));
        let new = self.recorder.read(sequence)?;
        let writers = writer::of_change(delta_type, old.as_deref(), Some(&new));
        writers.first().map(|writer| writer.manager.to_string())
    }

    /// Whether a version is kept that has a text.
    pub fn has_text(&self, sequence: u64) -> bool {
        self.recorder.get(sequence).is_some_and(|stored| stored.record.has_text)
    }

    /// The object of a version that is kept.
    pub fn of_number(&self, sequence: u64) -> Option<Of> {
        let stored = self.recorder.get(sequence)?;
        Some(Of { resource: self.recorder.resource(stored.life)?, key: stored.life.key.clone() })
    }

    /// The resourceVersion of the version of this number.
    pub fn version_of_number(&self, sequence: u64) -> Option<ResourceVersion> {
        Some(self.version_of(self.recorder.get(sequence)?.record))
    }

    /// Limits the memory to so many bytes from now on, whatever is chosen. What is oldest is dropped, and counted.
    pub fn limit(&mut self, most: usize) {
        self.most = self.most.min(most);
        self.choose(self.recorder.bytes().1);
    }

    /// Changes the memory to so many bytes, unless less is allowed.
    pub fn choose(&mut self, budget: usize) {
        self.recorder.limit(budget.min(self.most));
    }

    /// The versions of an object that are kept, the oldest first.
    pub fn of(&self, resource: &ApiResource, key: &ObjectKey) -> Vec<Entry> {
        let entry = |record: &Record, uid: &Uid| Entry {
            sequence: record.sequence,
            at: record.at,
            delta_type: record.delta_type,
            uid: uid.clone(),
            resource_version: self.version_of(record),
            has_text: record.has_text,
        };
        let kept = self.recorder.versions(*resource, key);
        kept.into_iter().map(|stored| entry(stored.record, &stored.life.uid)).collect()
    }

    /// The version that the server gave it: a number, or else what its text says.
    fn version_of(&self, record: &Record) -> ResourceVersion {
        match record.number() {
            Some(number) => ResourceVersion::new(&number.to_string()),
            None => {
                let text = self.recorder.read(record.sequence).unwrap_or_default();
                decode_metadata(&text).map(|object| object.resource_version).unwrap_or_default()
            }
        }
    }

    /// The text of the version in which a first list brought an object.
    pub fn listed_text(&self, resource: &ApiResource, key: &ObjectKey, uid: &Uid) -> Option<Cow<'_, str>> {
        let kept = self.recorder.versions(*resource, key);
        let first = kept.into_iter().find(|stored| stored.life.uid == *uid)?.record;
        (first.delta_type == DeltaType::Replaced).then(|| self.recorder.read(first.sequence)).flatten()
    }

    /// A version with its text.
    pub fn version(&self, entry: &Entry) -> Version {
        Version { entry: entry.clone(), text: self.recorder.read(entry.sequence).map(Cow::into_owned) }
    }

    /// How many versions of an object were dropped, and whether there may have been more.
    pub fn let_go(&self, uid: &Uid, resource: &ApiResource, key: &ObjectKey) -> (u64, bool) {
        self.recorder.dropped(uid, *resource, key)
    }

    /// How many versions were received so far.
    pub fn received(&self) -> u64 {
        self.recorder.totals().received
    }

    /// Whether nothing is recorded, because the user chose so. Everything that is received is then counted as dropped.
    pub fn is_off(&self) -> bool {
        self.bytes().1 == 0
    }

    /// How many bytes are kept, and how many may be kept.
    pub fn bytes(&self) -> (usize, usize) {
        self.recorder.bytes()
    }

    /// Since when every change is kept; `None` as long as nothing was dropped.
    pub fn whole_since(&self) -> Option<f64> {
        self.recorder.whole_since()
    }

    /// Whether everything that was received is accounted for.
    pub fn is_balanced(&self) -> bool {
        let Totals { received, kept, again, dropped, .. } = self.recorder.totals();
        received == kept + again + dropped
    }

    /// How much was received, and what is kept of it.
    pub fn report(&self) -> Report {
        let Totals { received, kept, again, dropped, text_bytes } = self.recorder.totals();
        let (bytes, budget) = self.recorder.bytes();
        let (written_bytes, whole_since) = (self.recorder.written_bytes(), self.recorder.whole_since());
        Report { received, kept, again, dropped, text_bytes, written_bytes, bytes, budget, whole_since }
    }

    /// The session's salt for the masks of Secrets.
    pub fn salt(&self) -> u64 {
        self.salt
    }
}

/// Whether the objects of the resource make others.
fn is_workload(resource: &ApiResource) -> bool {
    matches!(resource.group, "apps" | "batch")
}

/// Whether changes of the resource mostly say that somebody is still there. Every kubelet renews its Lease each ten seconds.
pub fn is_lease(resource: &ApiResource) -> bool {
    resource.group == "coordination.k8s.io" && resource.plural == "leases"
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kubechurn_columns::kinds::pods;

    const SECRETS: ApiResource =
        ApiResource { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true, cluster: "" };
    const LEASES: ApiResource = ApiResource {
        group: "coordination.k8s.io",
        version: "v1",
        plural: "leases",
        kind: "Lease",
        namespaced: true,
        cluster: "",
    };

    fn text(name: &str, version: &str, padding: usize) -> String {
        let padding: String =
            (0..padding).map(|at| char::from(b'a' + ((at * at + version.len() * at * 7) % 23) as u8)).collect();
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}},"spec":"{padding}"}}"#
        )
    }

    fn push(history: &mut History, resource: ApiResource, delta_type: DeltaType, text: &str) {
        let object = Arc::new(decode_metadata(text).unwrap());
        history.push(
            resource,
            ReceivedDelta { now: 0.0, delta_type, object: &object, text: Some(text), was_known: false },
        );
    }

    fn versions(history: &History, resource: &ApiResource, name: &str) -> Vec<String> {
        let kept = history.of(resource, &ObjectKey::new("", name));
        kept.iter().map(|version| version.resource_version.to_string()).collect()
    }

    #[test]
    fn a_version_comes_back_with_its_text_and_its_version() {
        let mut history = History::new(1 << 20, 0);
        let texts = ["7", "8", "007", "not a number", "18446744073709551615"].map(|version| text("a", version, 300));
        texts.iter().for_each(|text| push(&mut history, pods::KIND.resource, DeltaType::Updated, text));
        let kept = history.of(&pods::KIND.resource, &ObjectKey::new("", "a"));
        let back: Vec<String> = kept.iter().filter_map(|entry| history.version(entry).text).collect();
        assert_eq!(back, texts);
        let versions = versions(&history, &pods::KIND.resource, "a");
        assert_eq!(versions, ["7", "8", "007", "not a number", "18446744073709551615"]);
        assert_eq!(history.received(), 5);
    }

    #[test]
    fn less_memory_is_kept_to_at_once_and_what_goes_is_counted() {
        let mut history = History::new(1 << 20, 0);
        for at in 1..=400 {
            let text = text(&format!("p{}", at / 10), &at.to_string(), 500 + at * 31 % 1_000);
            push(&mut history, pods::KIND.resource, DeltaType::Updated, &text);
        }
        history.limit(50_000);
        history.choose(Budget::Large.bytes());
        assert_eq!(history.bytes().1, 50_000, "more is not allowed again");
        assert!(history.bytes().0 <= 50_000 && history.is_balanced());
        let report = history.report();
        assert!(report.kept > 0 && report.dropped > 0 && report.kept + report.dropped == 400, "{report:?}");
        let (first, last) = (ObjectKey::new("", "p1"), ObjectKey::new("", "p40"));
        assert_eq!(history.let_go(&"u-p1".into(), &pods::KIND.resource, &first).0, 10);
        assert_eq!(history.of(&pods::KIND.resource, &last).len(), 1);
    }

    #[test]
    fn one_write_that_two_kinds_of_watches_bring_is_shown_once() {
        use kubechurn_columns::kinds::events;
        let (core, other) = (events::KIND.resource, events::EVENTS_K8S_IO.resource);
        let mut history = History::new(1 << 20, 0);
        let mut is_new = |resource, delta_type, text: &str| {
            let object = Arc::new(decode_metadata(text).unwrap());
            history
                .push(
                    resource,
                    ReceivedDelta { now: 1.0, delta_type, object: &object, text: Some(text), was_known: false },
                )
                .is_some()
        };
        let (first, second) = (text("a", "7", 0), text("a", "8", 0));
        assert!(is_new(core, DeltaType::Added, &first) && !is_new(other, DeltaType::Added, &first));
        assert!(is_new(other, DeltaType::Updated, &second) && !is_new(core, DeltaType::Updated, &second));
        assert!(is_new(core, DeltaType::Deleted, &second) && !is_new(other, DeltaType::Deleted, &second));
        // Of the same name and number in another kind is another object.
        assert!(is_new(pods::KIND.resource, DeltaType::Added, &first));
        assert!(history.is_balanced());
    }

    #[test]
    fn what_two_watches_bring_is_one_version() {
        let mut history = History::new(1 << 20, 0);
        for delta_type in [DeltaType::Replaced, DeltaType::Updated, DeltaType::Deleted] {
            push(&mut history, pods::KIND.resource, delta_type, &text("a", "1", 0));
        }
        assert_eq!(versions(&history, &pods::KIND.resource, "a"), ["1", "1"], "the list's, and the deletion");
        assert!(versions(&history, &pods::KIND.resource, "b").is_empty());
    }

    #[test]
    fn heartbeats_go_before_changes() {
        let mut history = History::new(100_000, 0);
        push(&mut history, pods::KIND.resource, DeltaType::Added, &text("a", "1", 100));
        for version in 0..2_000 {
            push(&mut history, LEASES, DeltaType::Updated, &text("node", &version.to_string(), 1_000 + version % 7));
        }
        assert_eq!(versions(&history, &pods::KIND.resource, "a"), ["1"]);
        let leases = versions(&history, &LEASES, "node");
        assert!(leases.len() < 1_999 && leases.last().is_some_and(|last| last == "1999"), "{}", leases.len());
    }

    #[test]
    fn heartbeats_of_nodes_go_before_changes_and_what_else_nodes_say_does_not() {
        const NODES: ApiResource =
            ApiResource { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false, cluster: "" };
        let node = |version: u32, beat: u32, status: &str| {
            let images: Vec<String> = (0..20).map(|at| format!(r#"{{"names":["registry/image-{at}"]}}"#)).collect();
            format!(
                r#"{{"metadata":{{"name":"n","uid":"u","resourceVersion":"{version}","managedFields":[{{"time":"{beat}"}}]}},"status":{{"conditions":[{{"type":"Ready","status":"{status}","lastHeartbeatTime":"2026-11-21T08:{:02}:{:02}Z"}}],"images":[{}]}}}}"#,
                beat / 60 % 60,
                beat % 60,
                images.join(",")
            )
        };
        let mut history = History::new(200_000, 0);
        push(&mut history, NODES, DeltaType::Replaced, &node(1, 0, "True"));
        push(&mut history, NODES, DeltaType::Updated, &node(2, 1, "False"));
        for beat in 3..6_000 {
            push(&mut history, NODES, DeltaType::Updated, &node(beat, beat, "False"));
        }
        push(&mut history, NODES, DeltaType::Updated, &node(6_000, 6_000, "True"));
        for version in 1..400 {
            push(&mut history, pods::KIND.resource, DeltaType::Updated, &text("a", &version.to_string(), 300));
        }
        let kept = versions(&history, &NODES, "n");
        assert!(history.report().dropped > 1_000 && kept.len() < 5_000, "{} of {:?}", kept.len(), history.report());
        assert!(kept.contains(&"2".into()) && kept.contains(&"6000".into()), "{kept:?}");
        assert_eq!(versions(&history, &pods::KIND.resource, "a").len(), 399);
        let texts = history.of(&NODES, &ObjectKey::new("", "n")).into_iter().map(|entry| history.version(&entry).text);
        assert!(texts.flatten().any(|text| text == node(2, 1, "False")));
    }

    #[test]
    fn a_secret_s_values_are_never_kept() {
        let mut history = History::new(1 << 20, 7);
        let text = r#"{"metadata":{"name":"s","uid":"u","resourceVersion":"1"},"data":{"password":"aHVudGVyMg=="}}"#;
        push(&mut history, SECRETS, DeltaType::Added, text);
        push(
            &mut history,
            SECRETS,
            DeltaType::Updated,
            r#"{"metadata":{"name":"s","uid":"u","resourceVersion":"2"},"data":["aHVudGVyMg=="]}"#,
        );
        // The bytes as they lie in memory are written as numbers.
        let kept = format!("{history:?}");
        let in_memory = |text: &str| kept.contains(format!("{:?}", text.as_bytes()).trim_matches(['[', ']']));
        assert!(!in_memory("aHVudGVyMg") && !in_memory("hunter2") && in_memory("password"));
    }
}
