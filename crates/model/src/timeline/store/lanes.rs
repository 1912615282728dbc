//! Lanes: one for each name that has marks, with the uids of the objects that had the name one after the other, its
//! lives.
//!
//! A lane is freed, and its number used again, once its last mark is evicted. So the memory follows the number of
//! marks, however many objects there are and however many come and go. When an object changes whose lane was freed, the
//! caller passes the state that it was in ([`Lanes::recall`]).

use std::hash::{BuildHasher, Hash};
use std::mem::size_of;

use hashbrown::{Equivalent, HashTable};
use rustc_hash::FxBuildHasher;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;

use crate::timeline::store::blocks::Blocks;
use crate::timeline::store::lane::{Lane, Life};
use crate::timeline::store::mark::{Evicted, LaneId, MarkType};
use crate::timeline::store::placement::Placement;
use crate::timeline::store::ring::Ring;
use crate::timeline::store::state::State;

/// Ends the list of lanes.
const NONE: u32 = u32::MAX;

/// The bytes that a lane takes in the tables.
const SLOT: usize = size_of::<Slot>() + 2 * size_of::<u32>();

fn hash_of(key: &impl Hash) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// A place for a lane. Places stay when their lanes are freed.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    lane: Option<Lane>,
}

/// What [`Lanes::touch`] found or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The lane of the object.
    pub lane: LaneId,
    /// The number of the life that the mark belongs to.
    pub life: u32,
    /// What [`crate::timeline::store::mark::Mark::before`] is to be.
    pub before: u32,
}

/// A change that is about to be marked.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Namespace and name of the object.
    pub key: &'a ObjectKey,
    /// The uid of the object. An empty uid stands for the latest life of the name.
    pub uid: &'a Uid,
    /// What happened.
    pub mark_type: MarkType,
}

/// All lanes, in the order in which they changed last.
#[derive(Debug)]
pub struct Lanes {
    slots: Vec<Slot>,
    free: Vec<u32>,
    names: HashTable<u32>,
    /// The lane that changed last. Each lane points at the one that changed before it.
    newest: u32,
    oldest: u32,
    len: usize,
    heap: usize,
    /// The lane that was made last for an object that the user looks at, and the generation of its number.
    attended: Option<(LaneId, u32)>,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            slots: Vec::new(),
            free: Vec::new(),
            names: HashTable::new(),
            newest: NONE,
            oldest: NONE,
            len: 0,
            heap: 0,
            attended: None,
        }
    }
}

impl Lanes {
    /// The lane of an object that is about to get the mark `seq` at the time `at`; the lane is made if there is none.
    pub fn touch(&mut self, change: Change<'_>, seq: u64, at: f64) -> Touch {
        let id = self.find(change.key).unwrap_or_else(|| self.insert(change));
        self.unlink(id.0);
        self.link_newest(id.0);
        let Some(lane) = self.slots[id.0 as usize].lane.as_mut() else {
            // `find` and `insert` only give slots that are filled.
            return Touch { lane: id, life: 0, before: 0 };
        };
        let bytes = lane.heap_bytes();
        // 0 also where the previous mark is farther back than any ring can hold.
        let before = if lane.marks == 0 { 0 } else { u32::try_from(seq - lane.last_seq).unwrap_or(0) };
        lane.last_seq = seq;
        lane.last_at = at;
        lane.first_at = lane.first_at.min(at);
        lane.marks += 1;
        lane.pushed += 1;
        let earlier = lane.earlier.iter_mut().find(|life| life.uid == *change.uid);
        let life = match earlier {
            // Marks of an earlier life come late, and say nothing about the latest one.
            Some(earlier) if !change.uid.is_empty() && lane.uid != *change.uid => {
                earlier.marks += 1;
                earlier.number
            }
            _ => {
                if !change.uid.is_empty() && lane.uid != *change.uid {
                    let uid = std::mem::replace(&mut lane.uid, change.uid.clone());
                    if lane.life_marks > 0 {
                        lane.earlier.push(Life { number: lane.life, uid, marks: lane.life_marks });
                    }
                    lane.life = lane.life.wrapping_add(1);
                    lane.life_marks = 0;
                }
                lane.life_marks += 1;
                lane.live = change.mark_type != MarkType::Deleted;
                lane.life
            }
        };
        self.heap = self.heap - bytes + lane.heap_bytes();
        Touch { lane: id, life, before }
    }

    /// Forgets a mark that the ring evicted. Returns the states that are not kept any more: that which the lane had
    /// from an earlier mark, and that of this mark, unless the lane keeps it.
    pub fn release(&mut self, mark: &Evicted) -> [Option<State>; 2] {
        let Some((id, life)) = mark.owner else {
            return [None; 2];
        };
        let slot = self.slots.get_mut(id.0 as usize);
        let Some(lane) = slot.and_then(|slot| slot.lane.as_mut()) else {
            return [Some(mark.state), None];
        };
        let bytes = lane.heap_bytes();
        lane.marks = lane.marks.saturating_sub(1);
        lane.blocks.evict(lane.pushed, lane.pushed - u64::from(lane.marks));
        let is_kept = mark.mark_type != MarkType::Deleted;
        let before = std::mem::replace(&mut lane.worn, is_kept.then_some(mark.state));
        let own = (!is_kept).then_some(mark.state);
        if life == lane.life {
            lane.life_marks = lane.life_marks.saturating_sub(1);
        } else if let Some(index) = lane.earlier.iter().position(|earlier| earlier.number == life) {
            lane.earlier[index].marks -= 1;
            if lane.earlier[index].marks == 0 {
                lane.earlier.remove(index);
            }
        }
        let is_empty = lane.marks == 0;
        self.heap = self.heap - bytes + lane.heap_bytes();
        let worn = if is_empty { self.remove(id) } else { None };
        [before, own.or(worn)]
    }

    /// Ends a block of a lane with its newest mark, if one ends there. The mark is in the ring.
    pub fn end_block(&mut self, id: LaneId, ring: &Ring) {
        let Some(lane) = self.lane_mut(id.0).filter(|lane| Blocks::ends_at(lane.pushed)) else {
            return;
        };
        let before = lane.blocks.bytes();
        if let Some(mark) = ring.get(lane.last_seq) {
            lane.blocks.end(ring, mark, lane.pushed);
        }
        let after = lane.blocks.bytes();
        self.heap = self.heap - before + after;
    }

    /// The lane of a live object that has none, because the object's marks are evicted. The object is in this state.
    /// The lane has no mark yet, and stays until it has had one.
    pub fn recall(&mut self, key: &ObjectKey, uid: &Uid, state: State) -> LaneId {
        let id = self.insert(Change { key, uid, mark_type: MarkType::Sync });
        if let Some(lane) = self.lane_mut(id.0) {
            lane.worn = Some(state);
        }
        id
    }

    /// The user looks at an object that has a lane. The object that the user looked at before loses its lane, if the
    /// lane has no mark. Returns the state that is not kept any more then.
    pub fn attend(&mut self, key: &ObjectKey) -> Option<State> {
        let id = self.find(key)?;
        let (before, generation) = self.attended.replace((id, self.generation(id)))?;
        let is_free = before != id
            && self.generation(before) == generation
            && self.get(before).is_some_and(|lane| lane.marks == 0);
        if is_free { self.remove(before) } else { None }
    }

    /// The lane with this number, unless it was freed.
    pub fn get(&self, id: LaneId) -> Option<&Lane> {
        self.slots.get(id.0 as usize)?.lane.as_ref()
    }

    /// The lane of a name.
    pub fn find(&self, key: &(impl Hash + Equivalent<ObjectKey>)) -> Option<LaneId> {
        let is_it = |lane: &Lane| key.equivalent(&lane.key);
        let same = |id: &u32| self.slots[*id as usize].lane.as_ref().is_some_and(is_it);
        self.names.find(FxBuildHasher.hash_one(key), same).map(|id| LaneId(*id))
    }

    /// Notes to whom the object of a lane belongs.
    pub fn put(&mut self, id: LaneId, placement: Placement) {
        if let Some(lane) = self.lane_mut(id.0) {
            lane.placement = placement;
        }
    }

    /// How often the lane number was freed. A number stands for the same lane only while its generation stays the same.
    pub fn generation(&self, id: LaneId) -> u32 {
        self.slots.get(id.0 as usize).map_or(0, |slot| slot.generation)
    }

    /// The lanes, most recently changed first.
    pub fn newest_first(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        let mut next = self.newest;
        std::iter::from_fn(move || {
            let id = LaneId(next);
            let lane = self.get(id)?;
            next = lane.older;
            Some((id, lane))
        })
    }

    /// The lanes that have marks, most recently changed first. A lane that was recalled may have none yet.
    pub fn marked(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        self.newest_first().filter(|(_, lane)| lane.marks > 0)
    }

    /// Hides each lane that `passes` does not let through, and shows the others, as far as they have changed since a time.
    /// Returns whether that is news for one of them.
    pub fn hide(&mut self, since: f64, passes: &mut dyn FnMut(&Lane) -> bool) -> bool {
        let (mut next, mut is_news) = (self.newest, false);
        while let Some(lane) = self.lane_mut(next).filter(|lane| lane.last_at >= since) {
            let hidden = !passes(lane);
            is_news |= std::mem::replace(&mut lane.hidden, hidden) != hidden;
            next = lane.older;
        }
        is_news
    }

    /// How many lanes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One more than the largest lane number in use.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The bytes that are charged to the budget of the marks.
    pub fn charged(&self) -> usize {
        self.len * SLOT + self.heap
    }

    /// The bytes that all lanes take.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.free.capacity() * size_of::<u32>()
            + self.names.allocation_size()
            + self.heap
    }

    fn insert(&mut self, change: Change<'_>) -> LaneId {
        let lane = Lane {
            key: change.key.clone(),
            uid: change.uid.clone(),
            live: true,
            hidden: false,
            placement: Placement::default(),
            first_at: f64::INFINITY,
            last_at: f64::NEG_INFINITY,
            last_seq: 0,
            marks: 0,
            pushed: 0,
            blocks: Blocks::default(),
            worn: None,
            life: 0,
            life_marks: 0,
            earlier: Vec::new(),
            newer: NONE,
            older: NONE,
        };
        self.heap += lane.heap_bytes();
        self.len += 1;
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize].lane = Some(lane);
                number
            }
            None => {
                // The capacity grows by quarters: doubling would keep up to half of many places empty.
                if self.slots.len() == self.slots.capacity() {
                    self.slots.reserve_exact(self.slots.len() / 4 + 64);
                }
                self.slots.push(Slot { generation: 0, lane: Some(lane) });
                (self.slots.len() - 1) as u32
            }
        };
        let slots = &self.slots;
        let hash = |id: &u32| slots[*id as usize].lane.as_ref().map_or(0, |lane| hash_of(&lane.key));
        self.names.insert_unique(hash_of(change.key), number, hash);
        self.link_newest(number);
        LaneId(number)
    }

    /// Frees a lane. Returns the state that it kept.
    fn remove(&mut self, id: LaneId) -> Option<State> {
        self.unlink(id.0);
        let slot = &mut self.slots[id.0 as usize];
        let lane = slot.lane.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.len -= 1;
        self.heap -= lane.heap_bytes();
        self.free.push(id.0);
        if let Ok(entry) = self.names.find_entry(hash_of(&lane.key), |number| *number == id.0) {
            entry.remove();
        }
        lane.worn
    }

    fn lane_mut(&mut self, number: u32) -> Option<&mut Lane> {
        self.slots.get_mut(number as usize)?.lane.as_mut()
    }

    fn unlink(&mut self, number: u32) {
        let Some((newer, older)) = self.get(LaneId(number)).map(|lane| (lane.newer, lane.older)) else {
            return;
        };
        match self.lane_mut(newer) {
            Some(lane) => lane.older = older,
            None => self.newest = older,
        }
        match self.lane_mut(older) {
            Some(lane) => lane.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, number: u32) {
        let older = self.newest;
        if let Some(lane) = self.lane_mut(number) {
            (lane.newer, lane.older) = (NONE, older);
        }
        match self.lane_mut(older) {
            Some(lane) => lane.newer = number,
            None => self.oldest = number,
        }
        self.newest = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_client::api::cell::Tone;

    /// The mark as it is when it is evicted later, and what its `before` is until then.
    fn touch_before(lanes: &mut Lanes, name: &str, uid: &str, mark_type: MarkType, seq: u64) -> (Evicted, u32) {
        let key = ObjectKey::new("shop", name);
        let touch = lanes.touch(Change { key: &key, uid: &uid.into(), mark_type }, seq, seq as f64);
        (Evicted { seq, mark_type, state: State::default(), owner: Some((touch.lane, touch.life)) }, touch.before)
    }

    fn touch(lanes: &mut Lanes, name: &str, uid: &str, mark_type: MarkType, seq: u64) -> Evicted {
        touch_before(lanes, name, uid, mark_type, seq).0
    }

    fn uid<'a>(lanes: &'a Lanes, mark: &Evicted) -> &'a Uid {
        let (lane, life) = mark.owner.expect("an object");
        lanes.get(lane).unwrap().uid_of(life)
    }

    #[test]
    fn a_recreated_name_keeps_both_uids_until_the_marks_are_gone() {
        let mut lanes = Lanes::default();
        let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
        let again = touch(&mut lanes, "a", "two", MarkType::Added, 2);
        let late = touch(&mut lanes, "a", "one", MarkType::Deleted, 3);
        assert_eq!([uid(&lanes, &added), uid(&lanes, &again), uid(&lanes, &late)], ["one", "two", "one"]);
        let (_, lane) = lanes.newest_first().next().unwrap();
        assert!(lane.live, "late news of the first life do not end the second");
        lanes.release(&added);
        lanes.release(&late);
        assert!(lanes.get(LaneId(0)).unwrap().earlier.is_empty());
    }

    #[test]
    fn an_unknown_uid_means_the_latest_life() {
        let mut lanes = Lanes::default();
        touch(&mut lanes, "a", "", MarkType::Updated, 1);
        touch(&mut lanes, "a", "two", MarkType::Added, 2);
        let deleted = touch(&mut lanes, "a", "", MarkType::Deleted, 3);
        assert_eq!(uid(&lanes, &deleted), "two");
        assert!(!lanes.get(LaneId(0)).unwrap().live);
    }

    #[test]
    fn a_lane_is_freed_with_its_last_mark_and_used_again_by_another_name() {
        let mut lanes = Lanes::default();
        let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
        let (deleted, before) = touch_before(&mut lanes, "a", "one", MarkType::Deleted, 2);
        assert_eq!(before, 1);
        let generation = lanes.generation(LaneId(0));
        lanes.release(&added);
        assert_eq!(lanes.len(), 1);
        lanes.release(&deleted);
        assert_eq!((lanes.len(), lanes.charged()), (0, 0));
        assert!(lanes.find(&ObjectKey::new("shop", "a")).is_none());
        touch(&mut lanes, "b", "two", MarkType::Added, 3);
        assert_eq!(lanes.find(&ObjectKey::new("shop", "b")), Some(LaneId(0)));
        assert_ne!(lanes.generation(LaneId(0)), generation);
    }

    #[test]
    fn a_live_object_s_lane_goes_too_and_is_recalled_with_its_state() {
        let mut lanes = Lanes::default();
        let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
        lanes.release(&added);
        assert_eq!((lanes.len(), lanes.charged()), (0, 0));
        let key = ObjectKey::new("shop", "a");
        let id = lanes.recall(&key, &"one".into(), Tone::Bad.into());
        let (_, before) = touch_before(&mut lanes, "a", "one", MarkType::Updated, 9);
        assert_eq!((before, lanes.get(id).unwrap().worn), (0, Some(Tone::Bad.into())));
    }

    /// Looks at an object that has no lane if nothing has happened to it.
    fn attend(lanes: &mut Lanes, name: &str) {
        let key = ObjectKey::new("shop", name);
        if lanes.find(&key).is_none() {
            lanes.recall(&key, &"u".into(), State::default());
        }
        lanes.attend(&key);
    }

    #[test]
    fn whoever_is_looked_at_keeps_a_lane_only_while_that_lasts() {
        let mut lanes = Lanes::default();
        for name in ["a", "b", "c", "c"] {
            attend(&mut lanes, name);
            assert_eq!(lanes.len(), 1, "{name}");
        }
        let marked = touch(&mut lanes, "c", "u", MarkType::Updated, 1);
        attend(&mut lanes, "d");
        assert_eq!(lanes.len(), 2, "what has a mark keeps its lane");
        lanes.release(&marked);
        assert_eq!(lanes.len(), 1);
    }

    #[test]
    fn lanes_stand_in_the_order_of_their_last_change() {
        let mut lanes = Lanes::default();
        for (seq, name) in ["a", "b", "c", "a", "b"].into_iter().enumerate() {
            touch(&mut lanes, name, "u", MarkType::Updated, seq as u64 + 1);
        }
        let names: Vec<&str> = lanes.newest_first().map(|(_, lane)| &*lane.key.name).collect();
        assert_eq!(names, ["b", "a", "c"]);
    }
}
