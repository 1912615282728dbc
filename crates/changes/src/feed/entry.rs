//! A row of the feed: one or more changes shown together.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::{sort, sort_by_key};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::state;

use crate::feed::outcome::Outcome;
use crate::feed::progress::Progress;
use crate::field::Field;
use crate::line::{Line, Owner, Unknown};
use crate::noise::Noise;
use crate::part::{self, Part, PartKind};
use crate::paths;
use crate::value::Value;
use crate::writer::{InferredWriter, Writers};

/// What is said of an entry of which it is not known who deleted.
pub const DELETER_UNKNOWN: &str = "who deleted is not known";
/// What is said of an entry of which some changes have no writer.
pub const OTHERS_UNKNOWN: &str = "others not known";
/// The most fields of an entry whose values are followed.
const MOST_PATHS: usize = 6;
/// How many fields of an entry are shown.
const SHOWN: usize = 2;
/// The most writers of an entry that are kept.
const MOST_WRITERS: usize = 4;
/// The most sequence numbers of an entry that are kept: the newest.
pub const MOST_SEQS: usize = 64;

/// Names an entry. A later entry has a greater number.
pub type EntryId = u64;

/// What an entry is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One object.
    Object(ObjectKey),
    /// Several objects of one kind and one owner, to which the same happened.
    Group {
        /// How many objects.
        objects: usize,
        /// Their owner, if they name one.
        owner: Option<Owner>,
    },
    /// Kubernetes Events about objects of the same block.
    Events,
    /// Changes that say nothing: how many for each reason, in the order of [`Noise::ALL`].
    Noise([u64; Noise::ALL.len()]),
    /// Something that happened to a watch, in words.
    Notice(String),
    /// What somebody noted.
    Note(Arc<str>),
}

/// A row of the feed.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The entry's number.
    pub id: EntryId,
    /// The entry under which this one is indented: that of the owner, whose change caused it.
    pub parent: Option<EntryId>,
    /// How far it is indented.
    pub depth: u8,
    /// The kind's name; empty for noise and notices.
    pub kind: Arc<str>,
    /// The cluster of its objects, as their lines have it.
    pub cluster: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// What happened last.
    pub delta_type: DeltaType,
    /// How many changes it stands for.
    pub count: u64,
    /// When the first of them was received, in milliseconds. This is the time of the row: its block stands where the first
    /// change of its first entry was received.
    pub first_at: f64,
    /// When the last of them was received, in milliseconds.
    pub last_at: f64,
    /// The fields that changed, the most telling first.
    pub progress: Vec<Progress>,
    /// Who seems to have written them.
    pub writers: Writers,
    /// How many changes nobody is known to have written.
    pub unnamed: usize,
    /// Whether one of those changes is a deletion, or a mark for deletion.
    pub is_deleter_unknown: bool,
    /// The sequence numbers of the newest changes, in order.
    pub seqs: SmallVec<[u64; 2]>,
    /// Whether the objects were new.
    pub has_added: bool,
    /// How many objects are gone.
    pub deleted: usize,
    /// Why nothing is known of what changed in one of them, if that is so.
    pub unknown: Option<Unknown>,
    /// Whether these are Warnings.
    pub is_warning: bool,
    /// The newest message of these Events that says why, as far as it is kept: see [`newer`].
    pub message: Option<Value>,
    /// Whether something failed in one of the changes.
    pub fails: bool,
    /// How many fields changed at once whose values are not followed.
    pub(super) unlisted: usize,
    /// Whether its objects have several owners, or it stands for Events about several objects.
    pub(super) is_mixed: bool,
    /// What the first Event is about.
    pub(super) about: Option<Uid>,
    /// Whether each change was of the kind that ordinary life consists of.
    pub(super) is_usual: bool,
    /// Whether one of the changes asked for something.
    pub(super) asks: bool,
    /// How many Pods this ReplicaSet, or another controller of Pods, made and ended since.
    pub(super) made: u64,
    pub(super) ended: u64,
    /// What came of it until the next entry of this object began.
    pub(super) came_of_it: Vec<Outcome>,
    /// How many entries of this object in a row began with the same fields before this one.
    pub(super) anew: u8,
    pub(super) members: SmallVec<[Uid; 1]>,
    pub(super) block: u64,
    pub(super) signatures: SmallVec<[u64; 2]>,
    pub(super) group: Option<super::folding::GroupKey>,
}

/// The message to show after a newer one. Beside the Event that says why, kubelet writes one that names the state alone
/// (`Error: ErrImagePull`, `Error: ImagePullBackOff`; pkg/kubelet/kuberuntime), a moment later and anew with each retry: it takes the
/// place of no other message.
fn newer(old: Option<Value>, new: Option<&Value>) -> Option<Value> {
    let is_state = |message: &Value| {
        let word = message.kept().trim_matches('"').strip_prefix("Error: ");
        word.is_some_and(|word| !word.contains(' '))
    };
    match new {
        Some(new) if old.is_none() || !is_state(new) => Some(new.clone()),
        _ => old,
    }
}

impl Entry {
    /// Takes in one more change, of the member at this place.
    pub(super) fn fold(&mut self, line: &Line, member: usize) {
        if self.is_about_events() && self.parent.is_none() {
            let about = line.controller().map(|about| &about.uid);
            self.is_mixed |= self.about.is_some() && about != self.about.as_ref();
            self.about = self.about.take().or(about.cloned());
        }
        self.count += 1;
        self.last_at = line.at;
        self.delta_type = line.delta_type;
        self.asks |= line.asks;
        self.fails |= line.trouble().is_some() || line.is_warning();
        self.is_usual &= line.is_usual();
        if let Some(reason) = line.reason.as_ref().filter(|reason| reason.message.bytes > 0) {
            self.message = newer(self.message.take(), Some(&reason.message));
        }
        self.unknown = self.unknown.or(line.unknown);
        self.has_added |= line.delta_type == DeltaType::Added;
        self.deleted += usize::from(line.delta_type == DeltaType::Deleted);
        if self.seqs.len() == MOST_SEQS {
            self.seqs.remove(0);
        }
        self.seqs.push(line.seq);
        if line.writers.is_empty() {
            self.unnamed += 1;
            self.is_deleter_unknown |= line.delta_type == DeltaType::Deleted || line.is_marked_for_deletion();
        }
        line.writers.iter().for_each(|writer| self.add_writer(writer));
        if self.members.len() > 1 && self.subject != Subject::Events {
            let owner = line.controller().filter(|_| !self.is_mixed).cloned();
            self.subject = Subject::Group { objects: self.members.len(), owner };
        }
        self.follow(line, member);
    }

    fn add_writer(&mut self, writer: &InferredWriter) {
        if !self.is_writer(writer) && self.writers.len() < MOST_WRITERS {
            self.writers.push(writer.clone());
        }
    }

    /// Takes in another entry of Events, whose objects are not in this one.
    pub(super) fn absorb(&mut self, other: Entry) {
        let offset = self.members.len();
        self.count += other.count;
        self.first_at = self.first_at.min(other.first_at);
        let (mut older, mut newest) = (self.message.take(), other.message);
        if other.last_at > self.last_at {
            (self.last_at, self.delta_type) = (other.last_at, other.delta_type);
        } else {
            std::mem::swap(&mut older, &mut newest);
        }
        self.message = newer(older, newest.as_ref());
        self.seqs.extend(other.seqs);
        sort(&mut self.seqs);
        self.seqs.drain(..self.seqs.len().saturating_sub(MOST_SEQS));
        other.writers.iter().for_each(|writer| self.add_writer(writer));
        self.unnamed += other.unnamed;
        self.is_deleter_unknown |= other.is_deleter_unknown;
        self.has_added |= other.has_added;
        self.deleted += other.deleted;
        self.unknown = self.unknown.or(other.unknown);
        self.asks |= other.asks;
        self.fails |= other.fails;
        self.is_usual &= other.is_usual;
        self.members.extend(other.members);
        for progress in other.progress {
            match self.progress.iter_mut().find(|known| known.path == progress.path) {
                Some(known) => known.absorb(progress, offset),
                None => self.progress.push(progress.after(offset)),
            }
        }
        self.progress.iter_mut().for_each(|progress| progress.set_members(self.members.len()));
        self.unlisted = self.unlisted.max(other.unlisted).max(self.sort_progress());
    }

    /// Puts what says most first, and returns how many fields are not followed any more.
    fn sort_progress(&mut self) -> usize {
        let kind = self.kind.clone();
        sort_by_key(&mut self.progress, |progress| {
            paths::rank(&kind, &progress.path, progress.last().map_or("", Value::kept))
        });
        let before = self.progress.len();
        self.progress.truncate(MOST_PATHS);
        before - self.progress.len()
    }

    /// What happened, without what it happened to, in parts: the two fields that say most, with what differs of their values,
    /// and how many more there are. Of Events the reasons, and the newest message as far as it is kept.
    pub fn parts(&self) -> Vec<Part> {
        self.parts_of(true)
    }

    fn parts_of(&self, is_short: bool) -> Vec<Part> {
        let plain = |text: String| Part::new(text, PartKind::Plain);
        match &self.subject {
            Subject::Noise(counts) => {
                let counted = Noise::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
                let words: Vec<String> = counted.map(|(noise, count)| format!("{} {count}", noise.words())).collect();
                return vec![plain(format!("{} folded as noise: {}", self.count, words.join(" · ")))];
            }
            Subject::Notice(words) => return vec![plain(words.clone())],
            Subject::Note(text) => return vec![plain(text.to_string())],
            _ => {}
        }
        let mut phrases: Vec<Vec<Part>> = Vec::new();
        if self.has_added {
            phrases.push(vec![plain("added".into())]);
        }
        let fields: Vec<&Progress> = self.fields().collect();
        phrases.extend(fields.iter().take(SHOWN).map(|progress| progress.parts_of(is_short)));
        if let Some(message) = &self.message {
            let text = if is_short { message.whole() } else { message.to_string() };
            phrases.push(vec![Part::new("message ", PartKind::Path), Part::new(text, PartKind::New)]);
        }
        phrases.extend(self.unknown.map(|unknown| vec![plain(unknown.words().into())]));
        match (self.deleted, self.members.len()) {
            (0, _) => {}
            (deleted, members) if deleted < members => phrases.push(vec![plain(format!("{deleted} deleted"))]),
            _ => phrases.push(vec![plain("deleted".into())]),
        }
        let mut parts = phrases.join(&plain(", ".into()));
        if is_short && !self.is_about_events() {
            parts.extend(part::more(fields.len().saturating_sub(SHOWN) + self.unlisted));
        }
        parts
    }

    /// The fields that are worth a word. A Pod's state says what its phase and its deletion do, and a Warning is called so.
    pub fn fields(&self) -> impl Iterator<Item = &Progress> {
        let has = |wanted: &str| self.progress.iter().any(|progress| progress.path == wanted);
        let (has_state, has_reason) = (has(paths::POD_STATUS), has("reason"));
        self.progress.iter().filter(move |progress| match &*progress.path {
            "status.phase" => !has_state,
            "message" | "note" | "type" if self.is_about_events() => false,
            path if self.is_about_events() => !has_reason || path == "reason",
            path => !has_state || !path.starts_with("metadata.deletion"),
        })
    }

    /// The newest message of Events, as far as it is kept.
    pub fn message(&self) -> Option<&Value> {
        self.message.as_ref()
    }

    /// How many more fields changed than are followed.
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Whether these are Events.
    pub(super) fn is_about_events(&self) -> bool {
        &*self.kind == "Event"
    }

    /// Whether this is ordinary life, which needs nobody: Pods that come up, that end because they were asked to or are
    /// complete, a probe that settles, Events that are no Warnings. Nothing in it fails, and nothing in it was asked for by
    /// somebody else than a controller, as far as the feed knows.
    pub fn is_ordinary(&self) -> bool {
        match self.subject {
            Subject::Noise(_) => return true,
            Subject::Notice(_) | Subject::Note(_) => return false,
            _ => {}
        }
        let is_usual = self.is_usual && !self.fails && self.unknown.is_none();
        let mut states = self.progress.iter().filter(|known| known.path == paths::POD_STATUS).flat_map(Progress::ends);
        let is_going = self.deleted > 0 || self.progress.iter().any(|known| known.path == paths::DELETION);
        let is_complete =
            |value: Option<&Value>| value.is_some_and(|value| matches!(value.kept(), "Completed" | "Succeeded"));
        let has_ended = states.any(|(first, last)| is_complete(first) || is_complete(last));
        // A root that asks for something was written by somebody. Pods are made by their controllers.
        let is_made = match &*self.kind {
            "Pod" => !is_going || has_ended,
            "Event" | "EndpointSlice" | "Endpoints" => true,
            _ => !self.asks,
        };
        is_usual
            && (self.depth > 0 || is_made)
            && self.progress.iter().all(|known| self.is_settled(known, is_going || has_ended))
    }

    /// Whether a field ended as it should: a condition holds, and no fewer Pods are ready than before.
    fn is_settled(&self, progress: &Progress, is_going: bool) -> bool {
        let text = |value: Option<&Value>| value.map_or(String::new(), |value| value.kept().to_owned());
        progress.ends().all(|(first, last)| match paths::condition(&progress.path) {
            Some((name, ".status")) => {
                let tone = state::condition(&self.kind, name, &text(last));
                is_going || !matches!(tone, Tone::Bad | Tone::Wait)
            }
            Some(_) => true,
            None if paths::is_readiness(&progress.path) && !self.asks => {
                let number = |value| text(value).parse::<u64>().unwrap_or_default();
                number(first) <= number(last)
            }
            None => true,
        })
    }

    pub(super) fn is_writer(&self, writer: &InferredWriter) -> bool {
        self.writers.iter().any(|known| (&known.manager, &known.subresource) == (&writer.manager, &writer.subresource))
    }

    /// Whether its object was marked for deletion.
    pub(super) fn is_to_go(&self) -> bool {
        self.progress.iter().any(|field| field.path == paths::DELETION)
    }

    /// Follows the values of the fields of one more change, of the member at this place.
    fn follow(&mut self, line: &Line, member: usize) {
        let members = self.members.len();
        self.progress.iter_mut().for_each(|progress| progress.set_members(members));
        // An Event that counts on says why all the same, though its reason stays what it was.
        let has_reason = line.fields.iter().any(|field| field.path == "reason");
        let reason = line.reason.as_ref().filter(|_| !has_reason).map(|reason| Field {
            path: "reason".into(),
            old: None,
            new: Some(Value::plain(&reason.word)),
            reordered: false,
        });
        for field in reason.iter().chain(line.fields.iter().take(MOST_PATHS)) {
            let is_new = field.old.is_none() && (line.delta_type == DeltaType::Added || field.path == "reason");
            let name = &*line.key.name;
            match self.progress.iter_mut().find(|progress| progress.path == field.path) {
                Some(known) => known.follow(field, is_new, member),
                None if members > 1 => {
                    let mut progress = Progress::of_member(field, is_new, name, member);
                    progress.set_members(members);
                    self.progress.push(progress);
                }
                None => self.progress.push(Progress::new(field, is_new, name)),
            }
        }
        let followed = self.sort_progress();
        let more = line.fields.len().saturating_sub(MOST_PATHS) + line.more;
        self.unlisted = self.unlisted.max(followed + more);
    }

    /// Who seems to have written the changes, with commas between; nobody is lent the change of another.
    pub fn writer_names(&self) -> String {
        self.writers.iter().map(InferredWriter::name).collect::<Vec<_>>().join(", ")
    }

    /// Of which changes nobody is known to have written them, in words; empty where all have writers, or none has one.
    pub fn unknown_writers(&self) -> &'static str {
        match (self.is_deleter_unknown, self.unnamed) {
            (true, _) => DELETER_UNKNOWN,
            (false, 1..) if !self.writers.is_empty() => OTHERS_UNKNOWN,
            _ => "",
        }
    }

    /// Whether this is a Node that was last heard of as not ready.
    pub(super) fn is_lost(&self) -> bool {
        let ready = self.progress.iter().find(|progress| progress.path == "status.conditions[Ready].status");
        let now = ready.and_then(Progress::last).map(Value::kept);
        &*self.kind == "Node" && now.is_some_and(|now| now != "True")
    }

    /// Whether this is a Node that takes Pods away: one that is not ready, or on which no Pod may be scheduled any more.
    pub(super) fn takes_pods(&self) -> bool {
        let cordon = self.progress.iter().find(|progress| progress.path == "spec.unschedulable");
        let is_cordoned = cordon.and_then(Progress::last).is_some_and(|now| now.kept() == "true");
        self.is_lost() || (&*self.kind == "Node" && is_cordoned)
    }

    /// From the first change to the last, in milliseconds.
    pub fn span(&self) -> f64 {
        self.last_at - self.first_at
    }

    /// How often it happened and in what time, such as `× 41 in 2 min`; empty for a single change.
    pub fn repetition(&self) -> String {
        match (self.count, self.span()) {
            (..=1, _) => String::new(),
            (count, ms) if ms < 1_000.0 => format!("× {count} in {ms:.0} ms"),
            (count, ms) if ms < 120_000.0 => format!("× {count} in {:.0} s", ms / 1_000.0),
            (count, ms) => format!("× {count} in {:.0} min", ms / 60_000.0),
        }
    }

    /// What it is about, in words: `Deployment shop/cart`, `5 Pods of ReplicaSet cart-7c9d5b6f4`.
    pub fn name(&self) -> String {
        match &self.subject {
            Subject::Object(key) => format!("{} {key}", self.kind),
            Subject::Group { objects, owner } => {
                let plural = if self.kind.ends_with('s') { "es" } else { "s" };
                let of = if &*self.kind == "Event" { "about" } else { "of" };
                let owner = owner.as_ref().map(|owner| format!(" {of} {} {}", owner.kind, owner.name));
                format!("{objects} {}{plural}{}", self.kind, owner.unwrap_or_default())
            }
            Subject::Events => {
                let noun = if self.is_warning { "Warning" } else { "Event" };
                let plural = if self.members.len() == 1 { "" } else { "s" };
                format!("{} {noun}{plural}", self.members.len())
            }
            Subject::Noise(_) | Subject::Notice(_) | Subject::Note(_) => String::new(),
        }
    }
}

impl fmt::Display for Entry {
    /// What happened, without what it happened to: `added, status Pending → Running`, `spec.replicas 6 ⇄ 4`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&part::sentence(&self.parts_of(false)))
    }
}
