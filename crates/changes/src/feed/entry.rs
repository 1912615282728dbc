//! A row of the feed: one or more changes told together.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::feed::outcome::Outcome;
use crate::feed::progress::Progress;
use crate::line::{Line, Owner, Unknown};
use crate::noise::Noise;
use crate::telling;
use crate::value::Value;
use crate::writer::{InferredWriter, Writers};

/// The most fields of an entry whose values are followed.
const MOST_PATHS: usize = 6;
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
    /// How many changes it tells.
    pub count: u64,
    /// When the first of them was received, in milliseconds.
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
    /// Whether one of the changes asked for something.
    pub(super) asks: bool,
    /// How many Pods this ReplicaSet, or another controller of Pods, made and ended since.
    pub(super) made: u64,
    pub(super) ended: u64,
    /// What came of it until the next entry of this object began.
    pub(super) came_of_it: Vec<Outcome>,
    pub(super) members: SmallVec<[Uid; 1]>,
    pub(super) block: u64,
    pub(super) signatures: SmallVec<[u64; 2]>,
    pub(super) group: Option<super::folding::GroupKey>,
}

impl Entry {
    /// Takes in one more change, of the member at this place.
    pub(super) fn fold(&mut self, line: &Line, member: usize) {
        self.count += 1;
        self.last_at = line.at;
        self.delta_type = line.delta_type;
        self.asks |= line.asks;
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
        for writer in &line.writers {
            let is_known = self.is_writer(writer);
            if !is_known && self.writers.len() < MOST_WRITERS {
                self.writers.push(writer.clone());
            }
        }
        if self.members.len() > 1 && self.subject != Subject::Events {
            let owner = line.controller().cloned();
            self.subject = Subject::Group { objects: self.members.len(), owner };
        }
        self.follow(line, member);
    }

    pub(super) fn is_writer(&self, writer: &InferredWriter) -> bool {
        self.writers.iter().any(|known| (&known.manager, &known.subresource) == (&writer.manager, &writer.subresource))
    }

    /// Follows the values of the fields of one more change, of the member at this place.
    fn follow(&mut self, line: &Line, member: usize) {
        let members = self.members.len();
        self.progress.iter_mut().for_each(|progress| progress.set_members(members));
        for field in line.fields.iter().take(MOST_PATHS) {
            let is_new = line.delta_type == DeltaType::Added && field.old.is_none();
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
        sort_by_key(&mut self.progress, |progress| telling::rank(&progress.path));
        self.progress.truncate(MOST_PATHS);
    }

    /// Who seems to have written the changes, in words; nobody is lent the change of another.
    pub fn by(&self) -> String {
        let names: Vec<_> = self.writers.iter().map(InferredWriter::name).collect();
        let named = (!names.is_empty()).then(|| format!("{}, inferred", names.join(", ")));
        let others = match (self.is_deleter_unknown, self.unnamed) {
            (true, _) => Some("who deleted is not known"),
            (false, 1..) if named.is_some() => Some("others not known"),
            _ => None,
        };
        [named.as_deref(), others].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Whether this is a Node that was last heard of as not ready.
    pub(super) fn is_lost(&self) -> bool {
        let ready = self.progress.iter().find(|progress| progress.path == "status.conditions[Ready].status");
        let now = ready.and_then(Progress::last).map(Value::kept);
        &*self.kind == "Node" && now.is_some_and(|now| now != "True")
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
            Subject::Events if self.members.len() == 1 => "1 Event".into(),
            Subject::Events => format!("{} Events", self.members.len()),
            Subject::Noise(_) | Subject::Notice(_) => String::new(),
        }
    }
}

impl fmt::Display for Entry {
    /// What happened, without what it happened to: `added, status Pending → Running`, `spec.replicas 6 ⇄ 4`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Noise(counts) => {
                write!(formatter, "{} folded as noise:", self.count)?;
                let told = Noise::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
                for (at, (noise, count)) in told.enumerate() {
                    write!(formatter, "{} {} {count}", if at > 0 { " ·" } else { "" }, noise.words())?;
                }
                return Ok(());
            }
            Subject::Notice(words) => return formatter.write_str(words),
            _ => {}
        }
        let mut words: Vec<String> = Vec::new();
        if self.has_added {
            words.push("added".into());
        }
        let state = self.progress.iter().find(|progress| progress.path == telling::POD_STATUS);
        let is_said = |path: &str| state.is_some() && (path == "status.phase" || path.starts_with("metadata.deletion"));
        let told = self.progress.iter().filter(|progress| !is_said(&progress.path));
        words.extend(told.take(2).map(Progress::to_string));
        words.extend(self.unknown.map(|unknown| unknown.words().into()));
        match (self.deleted, self.members.len()) {
            (0, _) => {}
            (deleted, members) if deleted < members => words.push(format!("{deleted} deleted")),
            _ => words.push("deleted".into()),
        }
        formatter.write_str(&words.join(", "))
    }
}
