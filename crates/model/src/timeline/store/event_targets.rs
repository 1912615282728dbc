//! The objects that the Events of a kind are about, so that the marks of an Event are drawn on the lane of its object.
//!
//! An Event names its object by kind, namespace and name, and so does a lane, which stands for every object of the name
//! of which it has marks. Where the Event has the object's uid, the lane must know an object with that uid: an Event
//! about an earlier object says nothing about a later one that got its name.

use std::mem::size_of;

use kubechurn_client::api::uid::{UNKNOWN, Uid};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::timeline::store::lane::Lane;
use crate::timeline::store::lanes::Lanes;
use crate::timeline::store::mark::LaneId;
use crate::timeline::store::state::heap_bytes;

/// So many Events of one object are drawn, the latest ones. A server that follows kubernetes' own limits has fewer
/// (client-go `tools/record/events_cache.go`: 25 in a burst for each object).
const MOST: usize = 64;

/// So many Events are looked at to find those of one object: objects of several namespaces may have one name.
const LOOKED_AT: usize = 1_024;

/// The longest name of an object that is kept, in bytes: kind, a slash, and 253 bytes (kubernetes
/// `IsDNS1123Subdomain`), with some room.
const LONGEST: usize = 400;

/// The object that an Event is about.
#[derive(Debug, PartialEq)]
pub struct Target {
    /// Its kind and name: `pod/web-1`.
    pub name: SmolStr,
    /// Its uid; not known where the Event has none that an API server gave.
    uid: Uid,
}

impl Target {
    /// Whether the object is one of those of a lane that has its name.
    pub fn is_of(&self, lane: &Lane) -> bool {
        self.uid.is_empty() || lane.uid.is_empty() || lane.has_life(&self.uid)
    }
}

/// The objects of the Events of one kind. It is empty for a kind that is not that of Events.
#[derive(Debug, Default)]
pub struct EventTargets {
    /// The object of each lane, as an Event's column OBJECT has it: `pod/web-1`.
    objects: FxHashMap<u32, Target>,
    /// The lanes of each object, in the order in which their first marks came.
    lanes: FxHashMap<SmolStr, Vec<u32>>,
    /// The bytes of the lists and names outside the tables.
    heap: usize,
}

impl EventTargets {
    /// Notes which object the Event of a lane is about; nothing for an empty name.
    pub(super) fn note(&mut self, lane: LaneId, object: &str, uid: Option<&Uid>) {
        let is_same = |known: &Target| known.name == object && *uid.unwrap_or(&UNKNOWN) == known.uid;
        if object.is_empty() || object.len() > LONGEST || self.objects.get(&lane.0).is_some_and(is_same) {
            return;
        }
        self.forget(lane);
        let name = SmolStr::new(object);
        self.heap += heap_bytes(&name);
        self.objects.insert(lane.0, Target { name: name.clone(), uid: uid.unwrap_or(&UNKNOWN).clone() });
        let lanes = self.lanes.entry(name).or_default();
        let before = lanes.capacity();
        lanes.push(lane.0);
        self.heap += (lanes.capacity() - before) * size_of::<u32>();
    }

    /// Forgets a lane, which is freed.
    pub(super) fn forget(&mut self, lane: LaneId) {
        let Some(Target { name, .. }) = self.objects.remove(&lane.0) else { return };
        self.heap -= heap_bytes(&name);
        if let Some(lanes) = self.lanes.get_mut(&name) {
            lanes.retain(|other| *other != lane.0);
            if lanes.is_empty() {
                self.heap -= lanes.capacity() * size_of::<u32>();
                self.lanes.remove(&name);
            }
        }
    }

    /// The lanes of the Events about an object of a kind, the latest ones first. `lanes` are those of the Events.
    pub(super) fn about<'a>(
        &'a self,
        kind: &str,
        object: &'a Lane,
        lanes: &'a Lanes,
    ) -> impl Iterator<Item = &'a Lane> {
        let found = if self.is_empty() {
            None
        } else {
            let name = [&*kind.to_lowercase(), "/", &object.key.name].concat();
            self.lanes.get(&*name)
        };
        let numbers = found.map_or(&[][..], Vec::as_slice).iter().rev().take(LOOKED_AT);
        let is_about = |lane: &&u32| self.objects.get(*lane).is_some_and(|target| target.is_of(object));
        let about = numbers.filter(is_about).filter_map(|lane| lanes.get(LaneId(*lane)));
        // Events about objects without a namespace lie in any namespace.
        let namespace = &object.key.namespace;
        about.filter(move |lane| namespace.is_empty() || lane.key.namespace == *namespace).take(MOST)
    }

    /// The object that the Event of a lane is about.
    pub fn of(&self, lane: LaneId) -> Option<&Target> {
        self.objects.get(&lane.0)
    }

    /// Whether no Event is known.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.objects.capacity() * size_of::<(u32, Target)>()
            + self.lanes.capacity() * size_of::<(SmolStr, Vec<u32>)>()
            + self.heap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_and_forgotten_leaves_nothing_behind() {
        let mut targets = EventTargets::default();
        let long = format!("pod/{}", "x".repeat(60));
        for lane in 0..50 {
            targets.note(LaneId(lane), if lane % 2 == 0 { "pod/web-1" } else { &long }, None);
        }
        // An Event that comes to be about another object is drawn there.
        targets.note(LaneId(3), "node/a", None);
        targets.note(LaneId(4), "", None);
        targets.note(LaneId(5), &"x".repeat(10_000), None);
        // And so is one that comes to be about another object of the same name.
        let uid = Uid::new("0b1f6f7e-7c3a-4d7e-9a3e-2f1d5c6b7a89");
        targets.note(LaneId(6), "pod/web-1", Some(&uid));
        assert_eq!(targets.objects[&6].uid, uid);
        assert_eq!((targets.lanes["pod/web-1"].len(), targets.lanes["node/a"].len()), (25, 1));
        assert_eq!((targets.lanes[&*long].len(), targets.objects.len()), (24, 50));
        (0..60).for_each(|lane| targets.forget(LaneId(lane)));
        assert!(targets.is_empty() && targets.lanes.is_empty() && targets.heap == 0);
    }
}
