//! Which objects the Events of a kind are about, so that the marks of an Event are drawn on the lane of its object.
//!
//! An Event names its object by kind, namespace and name, and so does a lane, which stands for every object of the name of
//! which it has marks. Where the Event has the object's uid, the lane must know an object with that uid: what was said of an
//! earlier object says nothing about a later one that got its name.

use std::mem::size_of;

use kubechurn_client::api::object::KeyRef;
use kubechurn_client::api::uid::{UNKNOWN, Uid};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::kind_id::KindId;
use crate::timeline::lanes::Lane;
use crate::timeline::mark::{LaneId, LaneOf};
use crate::timeline::marks::Marks;
use crate::timeline::words::heap_bytes;

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
struct About {
    /// Its kind and name.
    name: SmolStr,
    /// Its uid; not known where the Event has none that an API server gave.
    uid: Uid,
}

impl About {
    /// Whether the object is one of those of a lane that has its name.
    fn is_of(&self, lane: &Lane) -> bool {
        self.uid.is_empty() || lane.uid.is_empty() || lane.has_life(&self.uid)
    }
}

/// The objects of the Events of one kind. It is empty for a kind that is not that of Events.
#[derive(Debug, Default)]
pub struct Regarding {
    /// The object of each lane, as an Event's column OBJECT has it: `pod/web-1`.
    objects: FxHashMap<u32, About>,
    /// The lanes of each object, in the order in which their first marks came.
    lanes: FxHashMap<SmolStr, Vec<u32>>,
    /// The bytes of the lists and names outside the tables.
    heap: usize,
}

impl Regarding {
    /// Notes which object the Event of a lane is about; nothing for an empty name.
    pub(super) fn note(&mut self, lane: LaneId, object: &str, uid: Option<&Uid>) {
        let is_same = |known: &About| known.name == object && *uid.unwrap_or(&UNKNOWN) == known.uid;
        if object.is_empty() || object.len() > LONGEST || self.objects.get(&lane.0).is_some_and(is_same) {
            return;
        }
        self.forget(lane);
        let name = SmolStr::new(object);
        self.heap += heap_bytes(&name);
        self.objects.insert(lane.0, About { name: name.clone(), uid: uid.unwrap_or(&UNKNOWN).clone() });
        let lanes = self.lanes.entry(name).or_default();
        let before = lanes.capacity();
        lanes.push(lane.0);
        self.heap += (lanes.capacity() - before) * size_of::<u32>();
    }

    /// Forgets a lane, which is freed.
    pub(super) fn forget(&mut self, lane: LaneId) {
        let Some(About { name, .. }) = self.objects.remove(&lane.0) else { return };
        self.heap -= heap_bytes(&name);
        if let Some(lanes) = self.lanes.get_mut(&name) {
            lanes.retain(|other| *other != lane.0);
            if lanes.is_empty() {
                self.heap -= lanes.capacity() * size_of::<u32>();
                self.lanes.remove(&name);
            }
        }
    }

    /// Whether no Event is known.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.objects.capacity() * size_of::<(u32, About)>()
            + self.lanes.capacity() * size_of::<(SmolStr, Vec<u32>)>()
            + self.heap
    }
}

impl Marks {
    /// The lanes of the Events about an object of a kind, the latest ones first, if these are the marks of Events.
    pub(super) fn events_about<'a>(&'a self, kind: &str, object: &'a Lane) -> impl Iterator<Item = &'a Lane> {
        let found = if self.regarding.is_empty() {
            None
        } else {
            let name = [&*kind.to_lowercase(), "/", &object.key.name].concat();
            self.regarding.lanes.get(&*name)
        };
        let lanes = found.map_or(&[][..], Vec::as_slice).iter().rev().take(LOOKED_AT);
        let is_about = |lane: &&u32| self.regarding.objects.get(*lane).is_some_and(|about| about.is_of(object));
        let lanes = lanes.filter(is_about).filter_map(|lane| self.lanes.get(LaneId(*lane)));
        // Events about objects without a namespace lie in any namespace.
        let namespace = &object.key.namespace;
        lanes.filter(move |lane| namespace.is_empty() || lane.key.namespace == *namespace).take(MOST)
    }
}

/// The lane on which an Event's marks are drawn: that of its object, if the object has one among these marks. Any other
/// lane stands for itself.
pub(super) fn drawn_on(marks: &[&Marks], lane: LaneOf) -> LaneOf {
    object_of(marks, lane).unwrap_or(lane)
}

fn object_of(marks: &[&Marks], LaneOf { kind, lane }: LaneOf) -> Option<LaneOf> {
    let own = marks.get(kind.index())?;
    let about = own.regarding.objects.get(&lane.0)?;
    let (object_kind, name) = about.name.split_once('/')?;
    let namespace = &*own.lanes.get(lane)?.key.namespace;
    (0..).map(KindId).zip(marks).filter(|(_, other)| other.kind.eq_ignore_ascii_case(object_kind)).find_map(
        |(kind, other)| {
            let find = |namespace: &str| other.lanes.find(&KeyRef { namespace, name });
            let lane = find(namespace).or_else(|| find(""))?;
            other.lanes.get(lane).is_some_and(|lane| about.is_of(lane)).then_some(LaneOf { kind, lane })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_and_forgotten_leaves_nothing_behind() {
        let mut regarding = Regarding::default();
        let long = format!("pod/{}", "x".repeat(60));
        for lane in 0..50 {
            regarding.note(LaneId(lane), if lane % 2 == 0 { "pod/web-1" } else { &long }, None);
        }
        // An Event that comes to be about another object is drawn there.
        regarding.note(LaneId(3), "node/a", None);
        regarding.note(LaneId(4), "", None);
        regarding.note(LaneId(5), &"x".repeat(10_000), None);
        // And so is one that comes to be about another object of the same name.
        let uid = Uid::new("0b1f6f7e-7c3a-4d7e-9a3e-2f1d5c6b7a89");
        regarding.note(LaneId(6), "pod/web-1", Some(&uid));
        assert_eq!(regarding.objects[&6].uid, uid);
        assert_eq!((regarding.lanes["pod/web-1"].len(), regarding.lanes["node/a"].len()), (25, 1));
        assert_eq!((regarding.lanes[&*long].len(), regarding.objects.len()), (24, 50));
        (0..60).for_each(|lane| regarding.forget(LaneId(lane)));
        assert!(regarding.is_empty() && regarding.lanes.is_empty() && regarding.heap == 0);
    }
}
