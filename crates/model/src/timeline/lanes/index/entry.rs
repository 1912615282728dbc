//! The entries of the tree of lanes and groups.

use std::sync::Arc;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;

use crate::kind_id::KindId;
use crate::timeline::store::mark::LaneOf;

/// Ends a list.
pub(crate) const NONE: u32 = u32::MAX;
/// The number of what is around everything.
pub(crate) const ROOT: u32 = 0;
/// How many groups are around a lane at most.
pub(crate) const DEEPEST: u8 = 8;

/// What a group is that is no lane; an owner's uid, because many owners may have had one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Anchor {
    Owner(Uid),
    /// A node of a cluster.
    Node(&'static str, Arc<str>),
    /// A namespace of a cluster.
    Namespace(&'static str, Arc<str>),
    Kind(KindId),
    /// A manager, by its number.
    Manager(u8),
    /// What a manager wrote beyond the most objects that have an entry.
    Rest(u8),
    /// The Events that are drawn on the lanes of their objects. This group has no row.
    Drawn,
    /// Everything that is on no node.
    NoNode,
}

/// The name of a group that is no lane.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// `ReplicaSet`, `node`, `namespace`; empty where the name says it.
    pub(crate) word: Box<str>,
    pub(crate) key: ObjectKey,
    pub(crate) anchor: Anchor,
}

/// A lane, a group, or both.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) generation: u32,
    /// The lane, and the generation of its number.
    pub(crate) lane: Option<(LaneOf, u32)>,
    pub(crate) label: Option<Box<Label>>,
    pub(crate) parent: u32,
    pub(crate) first_child: u32,
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// How many levels were ever below it, at most.
    pub(crate) height: u8,
    pub(crate) open: bool,
    /// What the present state of its object means; nothing for an Event, which is no state.
    pub(crate) tone: Tone,
    /// How many lanes are below it.
    pub(crate) members: u32,
    /// When the first and the last mark of it, or of anything below it, was stamped.
    pub(crate) first_at: f64,
    pub(crate) last_at: f64,
    /// How often lanes with marks of an earlier time came or went below it.
    pub(crate) revision: u32,
}

impl Entry {
    /// An entry that stands alone.
    pub(crate) fn alone(generation: u32, open: bool) -> Entry {
        Entry {
            generation,
            lane: None,
            label: None,
            parent: NONE,
            first_child: NONE,
            next: NONE,
            previous: NONE,
            height: 0,
            open,
            tone: Tone::Plain,
            members: 0,
            first_at: f64::INFINITY,
            last_at: f64::NEG_INFINITY,
            revision: 0,
        }
    }
}
