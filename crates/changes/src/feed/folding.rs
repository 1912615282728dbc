//! Which changes are told together, and which entry is indented under which.
//!
//! Entries stand in blocks. A block begins with a change that has no known cause, and holds what that change caused: a
//! change of an object that asks for something is caused by its owner if the owner's entry asked for something, and
//! nothing in the block has been quiet for long. Blocks are placed newest first.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::feed::entry::{Entry, EntryId, Subject};
use crate::feed::outcome::Outcome;
use crate::feed::pods::Pods;
use crate::line::Line;
use crate::noise::Noise;
use crate::writer::Writers;

/// How long a block may be quiet and still take what it caused, in milliseconds. A Pod is given 30 s to end.
const CHAIN: f64 = 30_000.0;
/// How long an object may be quiet and still repeat itself, in milliseconds.
const REPEAT: f64 = 120_000.0;
/// Within which time the same thing must happen to objects of one owner that have no cause in the feed, in milliseconds.
const TOGETHER: f64 = 5_000.0;
/// How long one line counts noise, in milliseconds.
const NOISE: f64 = 60_000.0;
/// How long a block keeps its place while more happens in it, in milliseconds. Then it is placed first again.
const STAYS: f64 = 10_000.0;
/// How long before its cause a consequence may be received, in milliseconds.
const EARLY: f64 = 1_000.0;
/// The most blocks whose cause is waited for.
const MOST_EARLY: usize = 64;
/// The most entries of one block.
const MOST_IN_BLOCK: usize = 200;
/// The most objects of one entry.
const MOST_MEMBERS: usize = 500;
/// The deepest indentation.
const DEEPEST: u8 = 6;
/// The most sets of paths by which an entry recognises a repetition.
const MOST_SIGNATURES: usize = 8;

/// By what objects to which the same happened are recognised: the block (0 for what begins one), the owner, and a hash of
/// kind and change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct GroupKey {
    block: u64,
    owner: Uid,
    change: u64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    entries: Vec<EntryId>,
    place: u64,
    placed_at: f64,
    last_at: f64,
}

/// The entries, in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Folding {
    entries: FxHashMap<EntryId, Entry>,
    blocks: FxHashMap<u64, Block>,
    /// The blocks by their places; the greatest place is that of the first block.
    places: BTreeMap<u64, u64>,
    /// The newest entry of each object, and the object's place among its members.
    of_object: FxHashMap<Uid, (EntryId, usize)>,
    groups: FxHashMap<GroupKey, EntryId>,
    noise: Option<EntryId>,
    /// Blocks that began with an object whose owner may yet be heard of: when, the owner, the block.
    early: VecDeque<(f64, Uid, u64)>,
    /// Whether older changes are folded again, so that the Pods are not known as they were.
    is_again: bool,
    next: u64,
}

/// Where a change goes.
enum Goes {
    /// Into this entry, as one more change of an object that is in it, or of a new member.
    Into(EntryId),
    /// Under this entry.
    Under(EntryId),
    /// Into a block of its own.
    Alone,
}

impl Folding {
    /// For changes that were folded before.
    pub(super) fn made_anew() -> Folding {
        Folding { is_again: true, ..Folding::default() }
    }

    /// Changes that come from now on are new.
    pub(super) fn now(&mut self) {
        self.is_again = false;
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// The entries, those of the first block first.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Entry> {
        let blocks = self.places.values().rev().filter_map(|block| self.blocks.get(block));
        blocks.flat_map(|block| block.entries.iter()).filter_map(|id| self.entries.get(id))
    }

    /// Takes in a change, and says into which entry it went.
    pub(super) fn push(&mut self, line: &Line, pods: &Pods) -> EntryId {
        if let Some(noise) = line.noise {
            return self.push_noise(line, noise);
        }
        let signature = signature(line);
        let goes = self.place_of(line, signature);
        let id = match goes {
            Goes::Into(id) => id,
            Goes::Under(parent) => match self.group(line, Some(parent)) {
                Ok(id) => id,
                Err(key) => self.begin(line, Some(parent), key),
            },
            Goes::Alone => match self.group(line, None) {
                Ok(id) => id,
                Err(key) => self.begin(line, None, key),
            },
        };
        let mut member = 0;
        if let Some(entry) = self.entries.get_mut(&id) {
            let known = self.of_object.get(&line.uid).filter(|(known, _)| *known == id).map(|(_, member)| *member);
            member = known.or_else(|| entry.members.iter().position(|uid| *uid == line.uid)).unwrap_or_else(|| {
                entry.members.push(line.uid.clone());
                entry.members.len() - 1
            });
            if entry.signatures.len() < MOST_SIGNATURES && !entry.signatures.contains(&signature) {
                entry.signatures.push(signature);
            }
            entry.fold(line, member);
            let block = entry.block;
            self.touch(block, line.at);
        }
        // Objects without a uid cannot be told apart.
        if !line.uid.is_empty()
            && let Some(before) = self.of_object.insert(line.uid.clone(), (id, member)).filter(|before| before.0 != id)
            && !self.is_again
            && let Some(entry) = self.entries.get_mut(&before.0)
        {
            entry.came_of_it = outcome(entry, pods);
        }
        id
    }

    /// Counts a Pod that is new or gone for the entry of its controller.
    pub(super) fn count_pod(&mut self, line: &Line) {
        let is_new = line.delta_type == DeltaType::Added;
        if &*line.kind != "Pod" || !(is_new || line.delta_type == DeltaType::Deleted) {
            return;
        }
        let Some(owner) = line.controller() else { return };
        let Some(entry) = self.of_object.get(&owner.uid).and_then(|(id, _)| self.entries.get_mut(id)) else { return };
        if line.at - entry.last_at <= CHAIN {
            entry.made += u64::from(is_new);
            entry.ended += u64::from(!is_new);
        }
    }

    /// What came of an entry.
    pub(super) fn outcome(&self, entry: &Entry, pods: &Pods) -> Vec<Outcome> {
        match entry.members.first().and_then(|member| self.of_object.get(member)) {
            Some((newest, _)) if *newest == entry.id => outcome(entry, pods),
            _ => entry.came_of_it.clone(),
        }
    }

    fn is_open(&self, entry: &Entry, at: f64, quiet: f64) -> bool {
        self.blocks.get(&entry.block).is_some_and(|block| at - block.last_at <= quiet)
    }

    fn place_of(&self, line: &Line, signature: u64) -> Goes {
        let of = |uid: &Uid| self.of_object.get(uid).and_then(|(id, _)| self.entries.get(id));
        let own = of(&line.uid);
        let owner = line.controller().and_then(|owner| of(&owner.uid));
        // An Event says which object it is about, whether it asks for something or not.
        let is_event = &*line.kind == "Event";
        let cause = owner.filter(|owner| {
            let is_cause = (line.asks && owner.asks) || is_event;
            is_cause && owner.depth < DEEPEST && self.is_open(owner, line.at, CHAIN) && self.has_room(owner)
        });
        if let Some(own) = own {
            let is_newer = |cause: &Entry| cause.block > own.block;
            let is_caused_anew = line.asks && cause.is_some_and(is_newer) && line.delta_type != DeltaType::Deleted;
            if !is_caused_anew && self.goes_on(own, line, signature) {
                return Goes::Into(own.id);
            }
        }
        match (cause, own) {
            (Some(cause), _) => Goes::Under(cause.id),
            // A member of a group that fares otherwise stands where the group stands.
            (None, Some(own)) if !line.asks && own.members.len() > 1 && self.is_open(own, line.at, CHAIN) => {
                own.parent.map_or(Goes::Alone, Goes::Under)
            }
            _ => Goes::Alone,
        }
    }

    /// Whether a change is told by the entry that told the object's last one.
    fn goes_on(&self, own: &Entry, line: &Line, signature: u64) -> bool {
        if own.members.len() > 1 && own.subject != Subject::Events && line.trouble().is_some() {
            return false;
        }
        let quiet = line.at - own.last_at;
        let is_open = self.is_open(own, line.at, CHAIN);
        let repeats = own.signatures.contains(&signature) || line.delta_type == DeltaType::Deleted;
        let is_controlled = line.controller().is_some_and(|owner| owner.is_controller)
            && line.writers.iter().all(|writer| own.is_writer(writer));
        (repeats && quiet <= REPEAT) || (is_open && (!line.asks || own.depth > 0 || is_controlled))
    }

    fn has_room(&self, entry: &Entry) -> bool {
        self.blocks.get(&entry.block).is_some_and(|block| block.entries.len() < MOST_IN_BLOCK)
    }

    /// The entry of objects of the same owner to which the same happened; or else the key under which others will find the
    /// entry that is to be made.
    fn group(&self, line: &Line, parent: Option<EntryId>) -> Result<EntryId, Option<GroupKey>> {
        let parent = parent.and_then(|parent| self.entries.get(&parent));
        let is_event = &*line.kind == "Event";
        let (block, owner) = match (parent, line.controller()) {
            // All Events about a block are one entry.
            (Some(parent), _) if is_event => (parent.block, Uid::default()),
            (Some(parent), Some(owner)) => (parent.block, owner.uid.clone()),
            (None, Some(owner)) => (0, owner.uid.clone()),
            (_, None) => return Err(None),
        };
        let key = GroupKey { block, owner, change: change(line) };
        let quiet = if parent.is_some() { CHAIN } else { TOGETHER };
        let known = self.groups.get(&key).and_then(|id| self.entries.get(id));
        let fits = |entry: &&Entry| line.at - entry.last_at <= quiet && entry.members.len() < MOST_MEMBERS;
        known.filter(fits).map(|entry| entry.id).ok_or(Some(key))
    }

    fn begin(&mut self, line: &Line, parent: Option<EntryId>, group: Option<GroupKey>) -> EntryId {
        let id = self.next_number();
        let is_event = &*line.kind == "Event";
        let parent = parent.and_then(|parent| self.entries.get(&parent));
        let subject = match parent {
            Some(_) if is_event => Subject::Events,
            _ => Subject::Object(line.key.clone()),
        };
        // Events stand last in their block, under the entry with which it begins.
        let root = parent.and_then(|parent| self.blocks.get(&parent.block)).and_then(|block| block.entries.first());
        let parent_id = if is_event { root.copied() } else { parent.map(|parent| parent.id) };
        let depth = match parent {
            Some(_) if is_event => 1,
            Some(parent) => parent.depth + 1,
            None => 0,
        };
        let block = parent.map_or(id, |parent| parent.block);
        if let Some(key) = &group {
            self.groups.insert(key.clone(), id);
        }
        let is_root = parent.is_none();
        let mut entry = blank(id, line.at, subject);
        (entry.kind, entry.cluster, entry.delta_type) = (line.kind.clone(), line.cluster, line.delta_type);
        (entry.parent, entry.depth, entry.block, entry.group) = (parent_id, depth, block, group);
        self.add(entry, line.at);
        if is_root && line.asks {
            self.adopt(line, id);
            if let Some(owner) = line.controller().filter(|owner| owner.is_controller) {
                if self.early.len() == MOST_EARLY {
                    self.early.pop_front();
                }
                self.early.push_back((line.at, owner.uid.clone(), id));
            }
        }
        id
    }

    /// Puts under a new entry what it caused and was received before it: each kind has a watch of its own, and one may be
    /// behind another.
    fn adopt(&mut self, line: &Line, id: EntryId) {
        while self.early.front().is_some_and(|(at, ..)| line.at - at > EARLY) {
            self.early.pop_front();
        }
        let is_own = |(_, owner, _): &(f64, Uid, u64)| *owner == line.uid;
        while let Some(at) = self.early.iter().position(is_own) {
            let Some((_, _, child)) = self.early.remove(at) else { return };
            let Some(block) = self.blocks.remove(&child) else { continue };
            self.places.remove(&block.place);
            for entry_id in block.entries {
                let Some(mut entry) = self.entries.remove(&entry_id) else { continue };
                entry.parent = entry.parent.or(Some(id));
                entry.depth = (entry.depth + u8::from(entry.subject != Subject::Events)).min(DEEPEST);
                entry.block = id;
                if let Some(key) = entry.group.take() {
                    if self.groups.get(&key) == Some(&entry_id) {
                        self.groups.remove(&key);
                    }
                    let key = GroupKey { block: id, ..key };
                    self.groups.insert(key.clone(), entry_id);
                    entry.group = Some(key);
                }
                let at = entry.last_at;
                self.add(entry, at);
            }
        }
    }

    fn add(&mut self, entry: Entry, at: f64) {
        let (id, parent, is_event) = (entry.id, entry.parent, entry.subject == Subject::Events);
        let block_id = entry.block;
        let block = self.blocks.entry(block_id).or_default();
        let place = block.entries.iter().position(|other| Some(*other) == parent).map(|at| {
            let depth = |id: &EntryId| self.entries.get(id).map_or(0, |entry| entry.depth);
            let above = depth(&block.entries[at]);
            let is_below = |id: &&EntryId| {
                depth(id) > above && self.entries.get(id).is_none_or(|entry| entry.subject != Subject::Events)
            };
            at + 1 + block.entries[at + 1..].iter().take_while(is_below).count()
        });
        let place = place.filter(|_| !is_event).unwrap_or(block.entries.len());
        block.entries.insert(place, id);
        if block.entries.len() == 1 {
            (block.place, block.placed_at, block.last_at) = (id, at, at);
            self.places.insert(id, block_id);
        }
        self.entries.insert(id, entry);
    }

    /// Something happened in a block.
    fn touch(&mut self, id: u64, at: f64) {
        let number = self.next + 1;
        let Some(block) = self.blocks.get_mut(&id) else { return };
        block.last_at = at;
        if at - block.placed_at > STAYS && self.places.last_key_value().is_some_and(|(last, _)| *last != block.place) {
            self.places.remove(&block.place);
            (block.place, block.placed_at) = (number, at);
            self.places.insert(number, id);
            self.next = number;
        }
    }

    fn push_noise(&mut self, line: &Line, noise: Noise) -> EntryId {
        let known = self.noise.filter(|id| self.entries.get(id).is_some_and(|entry| line.at - entry.first_at <= NOISE));
        let id = known.unwrap_or_else(|| {
            let id = self.next_number();
            self.add(blank(id, line.at, Subject::Noise([0; Noise::ALL.len()])), line.at);
            self.noise = Some(id);
            id
        });
        if let Some(entry) = self.entries.get_mut(&id) {
            if let Subject::Noise(counts) = &mut entry.subject {
                counts[noise as usize] += 1;
            }
            entry.count += 1;
            entry.last_at = line.at;
        }
        id
    }

    /// Adds a row about a watch.
    pub(super) fn notice(&mut self, at: f64, words: &str) -> EntryId {
        let id = self.next_number();
        self.add(blank(id, at, Subject::Notice(words.into())), at);
        id
    }

    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Forgets the last block, and says how many changes it told.
    pub(super) fn evict(&mut self) -> u64 {
        let Some((_, block)) = self.places.pop_first() else { return 0 };
        let entries = self.blocks.remove(&block).map(|block| block.entries).unwrap_or_default();
        let mut told = 0;
        for entry in entries.iter().filter_map(|id| self.entries.remove(id)) {
            told += entry.count;
            for member in &entry.members {
                if self.of_object.get(member).is_some_and(|(id, _)| *id == entry.id) {
                    self.of_object.remove(member);
                }
            }
            if let Some(key) = entry.group.filter(|key| self.groups.get(key) == Some(&entry.id)) {
                self.groups.remove(&key);
            }
        }
        told
    }
}

/// An entry that tells nothing yet.
fn blank(id: EntryId, at: f64, subject: Subject) -> Entry {
    Entry {
        id,
        parent: None,
        depth: 0,
        kind: "".into(),
        cluster: "",
        subject,
        delta_type: DeltaType::Sync,
        count: 0,
        first_at: at,
        last_at: at,
        progress: Vec::new(),
        writers: Writers::new(),
        unnamed: 0,
        is_deleter_unknown: false,
        seqs: SmallVec::new(),
        has_added: false,
        deleted: 0,
        unknown: None,
        asks: false,
        made: 0,
        ended: 0,
        came_of_it: Vec::new(),
        members: SmallVec::new(),
        block: id,
        signatures: SmallVec::new(),
        group: None,
    }
}

/// How the Pods of an entry's object are.
fn outcome(entry: &Entry, pods: &Pods) -> Vec<Outcome> {
    let (Subject::Object(key), Some(uid)) = (&entry.subject, entry.members.first()) else { return Vec::new() };
    let is_gone = entry.delta_type == DeltaType::Deleted;
    match &*entry.kind {
        _ if is_gone => Vec::new(),
        "Pod" | "Event" => Vec::new(),
        "Node" => pods.on_node(entry.cluster, &key.name, entry.is_lost()),
        "ReplicaSet" => {
            let made = if entry.has_added { entry.made.max(pods.live(uid)) } else { entry.made };
            pods.of_set(uid, (made, entry.ended))
        }
        _ => pods.of_workload(uid),
    }
}

/// A hash of which fields changed. Items of lists are not told apart.
fn signature(line: &Line) -> u64 {
    let mut hasher = FxHasher::default();
    (line.delta_type == DeltaType::Added, line.delta_type == DeltaType::Deleted).hash(&mut hasher);
    for field in &line.fields {
        for step in field.path.split('[') {
            step.rsplit(']').next().hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A hash of kind and change, equal for objects to which the same happened: that they are new, asked to go, gone, in
/// trouble, or that the same fields have the same values.
fn change(line: &Line) -> u64 {
    let mut hasher = FxHasher::default();
    line.kind.hash(&mut hasher);
    match (line.delta_type, line.trouble()) {
        _ if &*line.kind == "Event" => {}
        (DeltaType::Added | DeltaType::Deleted, _) => (line.delta_type, 0).hash(&mut hasher),
        (_, Some(trouble)) => trouble.hash(&mut hasher),
        _ if line.is_marked_for_deletion() => 1.hash(&mut hasher),
        _ => line.fields.hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::object::ObjectKey;

    use crate::line::ReceivedChange;
    use crate::noise::Marks;

    use super::*;

    #[test]
    fn what_is_forgotten_or_put_under_its_cause_leaves_nothing_behind() {
        let mut folding = Folding::default();
        let add = |folding: &mut Folding, at: f64, uid: u64, owner: u64| {
            let owners = format!(r#"[{{"uid":"{owner}","controller":true}}]"#);
            let new = format!(r#"{{"metadata":{{"ownerReferences":{owners}}}}}"#);
            let key = ObjectKey::new("", "x");
            let (uid, kind, new) = (Uid::new(&uid.to_string()), "X".into(), Some(&*new));
            let received = ReceivedChange { seq: 1, at, kind, key, uid, delta_type: DeltaType::Added, old: None, new };
            folding.push(&Line::new(received, &Marks::default()), &Pods::default());
            assert_eq!(folding.blocks.len(), folding.places.len());
            let in_blocks: usize = folding.blocks.values().map(|block| block.entries.len()).sum();
            assert_eq!(in_blocks, folding.entries.len());
        };
        for number in 0..200 {
            // An object, and then its owner.
            add(&mut folding, number as f64 * 60_000.0, 2 * number, 2 * number + 1);
            add(&mut folding, number as f64 * 60_000.0 + 1.0, 2 * number + 1, 1_000);
        }
        assert_eq!((folding.blocks.len(), folding.len()), (200, 400));
        while folding.len() > 0 {
            folding.evict();
        }
        assert!(folding.blocks.is_empty() && folding.places.is_empty());
        assert!(folding.of_object.is_empty() && folding.groups.is_empty());
    }
}
