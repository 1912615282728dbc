//! Which changes are shown together, and which entry is indented under which.
//!
//! Entries stand in blocks. A block begins with a change that has no known cause, and holds what that change caused: a
//! change of an object that asks for something is caused by its owner if the owner's entry asked for something, and
//! the block has not been quiet for long; so is what an owner hands on of its metadata; what befalls the Pods on a Node is
//! caused by the Node that is lost or drained; and an Event belongs to the object that it is about. The block that began last stands
//! first, and keeps its place whatever happens in it, so that an entry stands where its first change was received.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use smol_str::SmolStr;

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
/// How long an object that fails may be quiet and still go on failing, in milliseconds. The kubelet waits for five minutes
/// at most, and the next try takes its time.
const FAILING: f64 = 600_000.0;
/// How long an entry that begins a block takes what repeats itself, in milliseconds. Then the next repetition begins anew,
/// so that it stands among what is new.
const LONGEST: f64 = 600_000.0;
/// How often in a row the same change of what is asked for begins a block, where the last one has caused something, was
/// another's or is long ago. Then it repeats itself.
const MOST_ANEW: u8 = 3;
/// Within which time the same thing must happen to objects of one owner that have no cause in the feed, in milliseconds.
const TOGETHER: f64 = 5_000.0;
/// How long one line counts noise, in milliseconds.
const NOISE: f64 = 60_000.0;
/// How long before its cause a consequence may be received, in milliseconds.
const EARLY: f64 = 1_000.0;
/// For how long the owners of Pods that a Node takes away follow them, in milliseconds.
const FOLLOWS: f64 = 5_000.0;
/// The most blocks whose cause is waited for, and the most owners that follow.
const MOST_EARLY: usize = 128;
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
    last_at: f64,
}

/// A block whose cause may yet be received.
#[derive(Clone, Debug)]
struct Early {
    at: f64,
    /// The object whose change would be the cause.
    cause: Uid,
    block: u64,
    is_event: bool,
    /// The field that the owner may have handed on; `None` where the change asks for something.
    handed_on: Option<SmolStr>,
}

/// The entries, in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Folding {
    entries: FxHashMap<EntryId, Entry>,
    /// The blocks by the entries with which they begin, so that the newest one is the last.
    blocks: BTreeMap<u64, Block>,
    /// The newest entry of each object, and the object's place among its members.
    of_object: FxHashMap<Uid, (EntryId, usize)>,
    groups: FxHashMap<GroupKey, EntryId>,
    noise: Option<EntryId>,
    early: VecDeque<Early>,
    /// The owners of Pods that a Node took away: when, and the Node's entry.
    followers: FxHashMap<Uid, (f64, EntryId)>,
    /// Whether older changes are folded again, so that the Pods are not known as they were.
    is_again: bool,
    /// Whether what is owned stands under its owner whatever changed in either.
    is_by_owner: bool,
    next: u64,
}

/// Where a change goes.
enum Goes {
    /// Into this entry, as one more change of an object that is in it, or of a new member.
    Into(EntryId),
    /// Under this entry.
    Under(EntryId),
    /// Under this entry, in one with all others of its kind to which this happened, whoever owns them.
    Among(EntryId),
    /// Into a block of its own.
    Alone,
}

/// What caused a change.
struct Cause<'a> {
    entry: &'a Entry,
    /// Whether the change follows from a Node that is lost or drained.
    is_node: bool,
}

impl Folding {
    /// For changes in which what is owned stands under its owner, whatever changed in either.
    pub(super) fn by_owner() -> Folding {
        Folding { is_by_owner: true, ..Folding::default() }
    }

    /// For changes that were folded before.
    pub(super) fn made_anew(&self) -> Folding {
        Folding { is_again: true, is_by_owner: self.is_by_owner, ..Folding::default() }
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
        let blocks = self.blocks.values().rev();
        blocks.flat_map(|block| block.entries.iter()).filter_map(|id| self.entries.get(id))
    }

    /// Takes in a change, and says into which entry it went.
    pub(super) fn push(&mut self, line: &Line, pods: &Pods) -> EntryId {
        if let Some(noise) = line.noise {
            return self.push_noise(line, noise);
        }
        let signature = signature(line);
        let goes = self.place_of(line, signature, pods);
        let (parent, is_among) = match goes {
            Goes::Under(parent) => (Some(parent), false),
            Goes::Among(parent) => (Some(parent), true),
            Goes::Into(_) | Goes::Alone => (None, false),
        };
        let repeats = |own: &&Entry| own.signatures.contains(&signature) && line.at - own.last_at <= REPEAT;
        let anew = self.of(&line.uid).filter(repeats).map_or(0, |own| own.anew.saturating_add(1));
        let id = match goes {
            Goes::Into(id) => id,
            _ => match self.group(line, parent, is_among, pods) {
                Ok(id) => id,
                Err(key) => self.begin(line, parent, key, anew),
            },
        };
        if is_among {
            self.follow(line, parent, pods);
        }
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
            entry.is_mixed |= is_among;
            entry.fold(line, member);
            if let Some(block) = self.blocks.get_mut(&entry.block) {
                block.last_at = line.at;
            }
        }
        if matches!(goes, Goes::Alone) {
            self.wait_for_cause(line, id, pods);
        }
        // Objects without a uid cannot be told apart.
        if !line.uid.is_empty()
            && let Some(before) = self.of_object.insert(line.uid.clone(), (id, member)).filter(|before| before.0 != id)
            && !self.is_again
            && let Some(entry) = self.entries.get_mut(&before.0)
        {
            entry.came_of_it = outcome(entry, pods);
        }
        self.adopt(line, id);
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

    fn of(&self, uid: &Uid) -> Option<&Entry> {
        self.of_object.get(uid).and_then(|(id, _)| self.entries.get(id))
    }

    /// The entry that caused a change.
    fn cause(&self, line: &Line, pods: &Pods) -> Option<Cause<'_>> {
        let owner = line.controller();
        let can_cause = |entry: &&Entry, quiet: f64| {
            entry.depth < DEEPEST && self.is_open(entry, line.at, quiet) && self.has_room(entry)
        };
        if line.is_event() {
            // An Event says which object it is about, whether it asks for something or not.
            let own = self.of(&pods.uid_of(line.cluster, owner?)).filter(|entry| &*entry.kind != "Event");
            let node = || self.of(blamed(line, pods)?).filter(|node| node.takes_pods());
            let entry = own.or_else(node)?;
            let quiet = if entry.fails { FAILING } else { CHAIN };
            return can_cause(&entry, quiet).then_some(Cause { entry, is_node: false });
        }
        let node = line.taken_from().and_then(|node| pods.node(line.cluster, node)).and_then(|uid| self.of(uid));
        if let Some(entry) = node.filter(|node| node.takes_pods() && can_cause(node, CHAIN)) {
            return Some(Cause { entry, is_node: true });
        }
        let followed = |uid: &Uid| {
            let (_, id) = self.followers.get(uid).filter(|(at, _)| line.at - at <= FOLLOWS)?;
            let entry = self.entries.get(id).filter(|entry| can_cause(entry, CHAIN))?;
            Some(Cause { entry, is_node: true })
        };
        if let Some(cause) = followed(&line.uid).filter(|_| !line.asks) {
            return Some(cause);
        }
        // Events stand last in a block, so that nothing can stand under them.
        let asked = self.of(&owner?.uid).filter(|entry| !entry.is_about_events() && can_cause(entry, CHAIN));
        let is_cause = |entry: &&Entry| {
            let is_asked = line.asks && (entry.asks || &*entry.kind == "CronJob");
            self.is_by_owner || is_asked || is_handed_on(line, entry)
        };
        if let Some(entry) = asked.filter(is_cause) {
            return Some(Cause { entry, is_node: false });
        }
        // A Pod that is made in place of one that a Node took away.
        followed(&owner?.uid).filter(|_| is_new_pod(line))
    }

    fn place_of(&self, line: &Line, signature: u64, pods: &Pods) -> Goes {
        let own = self.of(&line.uid);
        let cause = self.cause(line, pods);
        if let Some(own) = own {
            let is_newer = |cause: &Cause<'_>| {
                cause.entry.block > own.block && (line.asks || cause.is_node || is_handed_on(line, cause.entry))
            };
            let is_caused_anew = cause.as_ref().is_some_and(is_newer) && line.delta_type != DeltaType::Deleted;
            if !is_caused_anew && self.goes_on(own, line, signature) {
                return Goes::Into(own.id);
            }
        }
        match (cause, own) {
            (Some(Cause { entry, is_node: true }), _) => Goes::Among(entry.id),
            (Some(cause), _) => Goes::Under(cause.entry.id),
            // A member of a group that fares otherwise stands where the group stands.
            (None, Some(own)) if !line.asks && own.members.len() > 1 && self.is_open(own, line.at, CHAIN) => {
                own.parent.map_or(Goes::Alone, Goes::Under)
            }
            _ => Goes::Alone,
        }
    }

    /// Whether a change is shown by the entry that showed the object's last one.
    fn goes_on(&self, own: &Entry, line: &Line, signature: u64) -> bool {
        let fails = line.trouble().is_some();
        let quiet = line.at - own.last_at;
        // Who fails in the same way as before goes on failing, however long the kubelet waits between two tries.
        let is_failure = own.fails && (fails || !line.asks);
        if (is_failure || (line.is_event() && own.is_about_events())) && quiet <= FAILING {
            return true;
        }
        if own.members.len() > 1 && !line.is_event() && fails {
            return false;
        }
        let is_long = own.depth == 0 && line.at - own.first_at > LONGEST;
        // Each time that a CronJob makes a Job is news.
        let is_news = line.schedules() && line.at - own.first_at > CHAIN;
        let is_open = self.is_open(own, line.at, CHAIN);
        let is_gone = line.delta_type == DeltaType::Deleted;
        let has_controller = line.controller().is_some_and(|owner| owner.is_controller);
        let is_others = !line.writers.iter().all(|writer| own.is_writer(writer));
        // The taints of a Node that is lost or drained follow from that.
        let follows = own.takes_pods() && line.fields.iter().all(|field| field.path.starts_with("spec.taints"));
        // What a Node's loss did to a workload has nothing to do with what is asked of it afterwards.
        let is_below = own.depth > 0 && (has_controller || !own.is_mixed);
        let is_same = !line.asks || is_below || follows || (has_controller && !is_others);
        let has_caused = self.blocks.get(&own.block).is_some_and(|block| block.entries.len() > 1);
        // Whoever else asks is heard, though somebody repeats himself.
        let most = if is_others { 2 * MOST_ANEW } else { MOST_ANEW };
        let is_anew = !is_same && own.anew < most && (has_caused || is_others || quiet > CHAIN);
        let repeats = (own.signatures.contains(&signature) && !is_long && !is_news && !is_anew) || is_gone;
        // That somebody deletes what was there before is news.
        if is_gone && !is_below && !has_controller && !own.has_added && !own.is_to_go() {
            return false;
        }
        (repeats && quiet <= REPEAT) || (is_open && is_same && !is_long && !is_news)
    }

    fn has_room(&self, entry: &Entry) -> bool {
        self.blocks.get(&entry.block).is_some_and(|block| block.entries.len() < MOST_IN_BLOCK)
    }

    /// The entry of objects of the same owner to which the same happened; or else the key under which others will find the
    /// entry that is to be made.
    fn group(
        &self,
        line: &Line,
        parent: Option<EntryId>,
        is_among: bool,
        pods: &Pods,
    ) -> Result<EntryId, Option<GroupKey>> {
        let parent = parent.and_then(|parent| self.entries.get(&parent));
        let (block, owner) = match (parent, line.controller()) {
            // All Warnings about a block are one entry, and all other Events.
            (Some(parent), _) if line.is_event() || is_among => (parent.block, Uid::default()),
            (Some(parent), Some(owner)) => (parent.block, owner.uid.clone()),
            // Warnings of one reason about the Pods of one owner, of which nothing else is shown here.
            (None, Some(about)) if line.is_warning() => (0, pods.owner_of(&about.uid).unwrap_or(&about.uid).clone()),
            (None, Some(owner)) => (0, owner.uid.clone()),
            (_, None) => return Err(None),
        };
        let change = match () {
            () if is_among => kind_alone(line),
            () if parent.is_none() && line.is_warning() => warnings(line),
            () => change(line),
        };
        let key = GroupKey { block, owner, change };
        let quiet = match () {
            () if line.trouble().is_some() || (line.is_event() && parent.is_some()) => FAILING,
            () if parent.is_some() || line.is_warning() => CHAIN,
            () => TOGETHER,
        };
        let known = self.groups.get(&key).and_then(|id| self.entries.get(id));
        let fits = |entry: &&Entry| line.at - entry.last_at <= quiet && entry.members.len() < MOST_MEMBERS;
        known.filter(fits).map(|entry| entry.id).ok_or(Some(key))
    }

    fn begin(&mut self, line: &Line, parent: Option<EntryId>, group: Option<GroupKey>, anew: u8) -> EntryId {
        let id = self.next_number();
        let parent = parent.and_then(|parent| self.entries.get(&parent));
        let is_event = line.is_event() && parent.is_some();
        let subject = if is_event { Subject::Events } else { Subject::Object(line.key.clone()) };
        let block = parent.map_or(id, |parent| parent.block);
        let depth = match parent {
            Some(_) if is_event => 1,
            Some(parent) => parent.depth + 1,
            None => 0,
        };
        // Events stand last in their block, under the entry with which it begins.
        let parent_id = if is_event { Some(block) } else { parent.map(|parent| parent.id) };
        if let Some(key) = &group {
            self.groups.insert(key.clone(), id);
        }
        let mut entry = blank(id, line.at, subject);
        (entry.kind, entry.cluster, entry.delta_type) = (line.kind.clone(), line.cluster, line.delta_type);
        (entry.parent, entry.depth, entry.block, entry.group) = (parent_id, depth, block, group);
        (entry.is_warning, entry.anew) = (line.is_warning(), anew);
        self.add(entry);
        id
    }

    /// The owners of a Pod that a Node takes away change because of that.
    fn follow(&mut self, line: &Line, node: Option<EntryId>, pods: &Pods) {
        let (Some(node), Some(_), Some(owner)) = (node, line.taken_from(), line.controller()) else { return };
        if self.followers.len() >= MOST_EARLY {
            self.followers.retain(|_, (at, _)| line.at - *at <= FOLLOWS);
        }
        let owners = [Some(&owner.uid), pods.owner_of_set(&owner.uid)];
        if self.followers.len() < MOST_EARLY {
            self.followers.extend(owners.into_iter().flatten().map(|owner| (owner.clone(), (line.at, node))));
        }
    }

    /// Notes that a block began whose cause may be received later: each kind has a watch of its own, and one may be behind
    /// another.
    fn wait_for_cause(&mut self, line: &Line, id: EntryId, pods: &Pods) {
        let is_event = line.is_event();
        let node = line.taken_from().and_then(|node| pods.node(line.cluster, node)).or_else(|| blamed(line, pods));
        let handed_on = metadata(line).filter(|_| !line.asks).cloned();
        let may_follow = line.asks || handed_on.is_some();
        let owner = line.controller().filter(|owner| is_event || (owner.is_controller && may_follow));
        let Some(cause) = node.cloned().or(owner.map(|owner| pods.uid_of(line.cluster, owner))) else { return };
        if self.early.len() == MOST_EARLY {
            self.early.pop_front();
        }
        self.early.push_back(Early { at: line.at, cause, block: id, is_event, handed_on });
    }

    /// Puts under the entry of a change what it caused and was received before it.
    fn adopt(&mut self, line: &Line, id: EntryId) {
        while self.early.front().is_some_and(|early| line.at - early.at > CHAIN) {
            self.early.pop_front();
        }
        while let Some(early) = self.caused_by(line, id).and_then(|at| self.early.remove(at)) {
            self.put_under(early.block, id);
        }
    }

    /// The place of a block that a change caused, whose entry this is.
    fn caused_by(&self, line: &Line, id: EntryId) -> Option<usize> {
        let entry = self.entries.get(&id).filter(|entry| !line.is_event() && entry.depth < DEEPEST)?;
        let is_cause = || line.asks || line.schedules() || entry.takes_pods();
        // Of most changes nothing came before them, which the first question says.
        self.early.iter().position(|early| {
            let follows = || early.handed_on.as_ref().map_or_else(is_cause, |path| has(entry, path));
            let is_in_time = || early.is_event || (line.at - early.at <= EARLY && follows());
            early.cause == line.uid && early.block != entry.block && is_in_time()
        })
    }

    /// Puts a block under an entry of another one.
    fn put_under(&mut self, child: u64, id: EntryId) {
        let Some((block_id, depth)) = self.entries.get(&id).map(|entry| (entry.block, entry.depth + 1)) else { return };
        let Some(block) = self.blocks.remove(&child) else { return };
        for entry_id in block.entries {
            let Some(mut entry) = self.entries.remove(&entry_id) else { continue };
            entry.block = block_id;
            let group = entry.group.take();
            let is_known = group.as_ref().is_some_and(|key| self.groups.get(key) == Some(&entry_id));
            if let Some(key) = group.as_ref().filter(|_| is_known) {
                self.groups.remove(key);
            }
            if entry.is_about_events() {
                (entry.parent, entry.depth, entry.subject) = (Some(block_id), 1, Subject::Events);
                let key = GroupKey { block: block_id, owner: Uid::default(), change: events(entry.is_warning) };
                if let Some(known) = self.groups.get(&key).copied() {
                    self.unite(known, entry);
                    continue;
                }
                entry.group = Some(key);
            } else {
                entry.parent = entry.parent.or(Some(id));
                entry.depth = (entry.depth + depth).min(DEEPEST);
                entry.group = group.map(|key| GroupKey { block: block_id, ..key });
            }
            if let Some(key) = &entry.group {
                self.groups.insert(key.clone(), entry_id);
            }
            self.add(entry);
        }
    }

    /// Makes one entry of two.
    fn unite(&mut self, id: EntryId, other: Entry) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        for (at, member) in other.members.iter().enumerate() {
            if let Some(known) = self.of_object.get_mut(member).filter(|known| known.0 == other.id) {
                *known = (id, entry.members.len() + at);
            }
        }
        entry.absorb(other);
    }

    fn add(&mut self, entry: Entry) {
        let (id, parent, is_event) = (entry.id, entry.parent, entry.subject == Subject::Events);
        let block =
            self.blocks.entry(entry.block).or_insert_with(|| Block { entries: Vec::new(), last_at: entry.last_at });
        let is_events = |id: &EntryId| self.entries.get(id).is_some_and(|entry| entry.subject == Subject::Events);
        let place = if is_event {
            // Warnings stand above other Events.
            let is_normal = |id: &EntryId| is_events(id) && self.entries.get(id).is_some_and(|entry| !entry.is_warning);
            block.entries.iter().position(is_normal).filter(|_| entry.is_warning)
        } else {
            block.entries.iter().position(|other| Some(*other) == parent).map(|at| {
                let depth = |id: &EntryId| self.entries.get(id).map_or(0, |entry| entry.depth);
                let above = depth(&block.entries[at]);
                let is_below = |id: &&EntryId| depth(id) > above && !is_events(id);
                at + 1 + block.entries[at + 1..].iter().take_while(is_below).count()
            })
        };
        block.entries.insert(place.unwrap_or(block.entries.len()), id);
        self.entries.insert(id, entry);
    }

    fn push_noise(&mut self, line: &Line, noise: Noise) -> EntryId {
        let known = self.noise.filter(|id| self.entries.get(id).is_some_and(|entry| line.at - entry.first_at <= NOISE));
        let id = known.unwrap_or_else(|| {
            let id = self.next_number();
            self.add(blank(id, line.at, Subject::Noise([0; Noise::ALL.len()])));
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
        self.add(blank(id, at, Subject::Notice(words.into())));
        id
    }

    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Forgets the last block, and returns how many changes it had.
    pub(super) fn evict(&mut self) -> u64 {
        let entries = self.blocks.pop_first().map(|(_, block)| block.entries).unwrap_or_default();
        let mut changes = 0;
        for entry in entries.iter().filter_map(|id| self.entries.remove(id)) {
            changes += entry.count;
            for member in &entry.members {
                if self.of_object.get(member).is_some_and(|(id, _)| *id == entry.id) {
                    self.of_object.remove(member);
                }
            }
            if let Some(key) = entry.group.filter(|key| self.groups.get(key) == Some(&entry.id)) {
                self.groups.remove(&key);
            }
        }
        changes
    }
}

/// An entry that stands for no change yet.
pub(super) fn blank(id: EntryId, at: f64, subject: Subject) -> Entry {
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
        anew: 0,
        unlisted: 0,
        fails: false,
        is_warning: false,
        is_mixed: false,
        about: None,
        is_usual: true,
        message: None,
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

/// The Node that took away the Pod that an Event is about, if that is what the Event reports.
fn blamed<'a>(line: &Line, pods: &'a Pods) -> Option<&'a Uid> {
    let reports =
        line.reason.as_ref().is_some_and(|reason| matches!(&*reason.word, "NodeNotReady" | "TaintManagerEviction"));
    let about = line.controller().filter(|about| reports && about.kind == "Pod")?;
    pods.node_of(&about.uid)
}

/// Whether a Pod was made.
fn is_new_pod(line: &Line) -> bool {
    &*line.kind == "Pod" && line.delta_type == DeltaType::Added
}

/// Whether a change that asks for nothing is what its owner's change handed on, as a Deployment hands its annotations on to
/// its ReplicaSets.
fn is_handed_on(line: &Line, owner: &Entry) -> bool {
    metadata(line).is_some_and(|path| has(owner, path))
}

/// The field of its metadata that a change is about.
fn metadata(line: &Line) -> Option<&SmolStr> {
    let field = line.fields.first().filter(|field| !line.is_event() && field.path.starts_with("metadata."));
    field.map(|field| &field.path)
}

/// Whether an entry shows a field.
fn has(entry: &Entry, path: &str) -> bool {
    entry.progress.iter().any(|known| known.path == path)
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
    if line.is_event() {
        return events(line.is_warning());
    }
    let mut hasher = FxHasher::default();
    line.kind.hash(&mut hasher);
    match (line.delta_type, line.trouble()) {
        (DeltaType::Added | DeltaType::Deleted, _) => (line.delta_type, 0).hash(&mut hasher),
        (_, Some(trouble)) => trouble.hash(&mut hasher),
        _ if line.is_marked_for_deletion() => 1.hash(&mut hasher),
        _ => line.fields.hash(&mut hasher),
    }
    hasher.finish()
}

/// The same for Events: Warnings, and all others.
fn events(are_warnings: bool) -> u64 {
    let mut hasher = FxHasher::default();
    ("Event", are_warnings).hash(&mut hasher);
    hasher.finish()
}

/// The same for Warnings of one reason.
fn warnings(line: &Line) -> u64 {
    let mut hasher = FxHasher::default();
    ("Warning", line.reason.as_ref().map(|reason| &reason.word)).hash(&mut hasher);
    hasher.finish()
}

/// The same for what follows from one cause: Pods that are taken away and those that are made in their place apart.
fn kind_alone(line: &Line) -> u64 {
    let mut hasher = FxHasher::default();
    ("among", &line.kind, is_new_pod(line)).hash(&mut hasher);
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
        assert!(folding.blocks.is_empty() && folding.entries.is_empty());
        assert!(folding.of_object.is_empty() && folding.groups.is_empty());
    }
}
