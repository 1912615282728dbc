//! The lane of one name: the objects that had the name one after the other, its lives, and their marks.

use std::mem::size_of;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;

use crate::timeline::store::blocks::Blocks;
use crate::timeline::store::mark::{Mark, MarkType, Resync};
use crate::timeline::store::placement::Placement;
use crate::timeline::store::state::State;

/// An earlier life of a name, kept while there are marks of it.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) number: u32,
    pub(super) uid: Uid,
    pub(super) marks: u32,
}

/// The lane of one name.
#[derive(Debug)]
pub struct Lane {
    /// Namespace and name of the object.
    pub key: ObjectKey,
    /// The uid of the latest life.
    pub uid: Uid,
    /// Whether the latest life goes on: its newest mark is no delete.
    pub live: bool,
    /// Whether the filter of the page takes the lane away.
    pub hidden: bool,
    /// To whom the object belongs, and on which node it is: what was last heard, also of an object that is deleted.
    pub placement: Placement,
    /// When the first mark of the lane was stamped, which may be evicted; infinity before it.
    pub first_at: f64,
    /// When the newest mark of the lane was stamped.
    pub last_at: f64,
    /// The sequence number of the newest mark of the lane.
    pub last_seq: u64,
    /// How many marks of the lane are held.
    pub marks: u32,
    /// How many marks the lane has had.
    pub pushed: u64,
    /// What the marks come to.
    pub blocks: Blocks,
    /// The state that the newest evicted mark left; `None` if none was evicted, or if that mark was a delete.
    pub worn: Option<State>,
    /// The number of the latest life, and how many marks it has.
    pub(super) life: u32,
    pub(super) life_marks: u32,
    pub(super) earlier: Vec<Life>,
    pub(super) newer: u32,
    pub(super) older: u32,
}

impl Lane {
    /// The uid of a life, by the number of [`Touch::life`].
    pub fn uid_of(&self, life: u32) -> &Uid {
        if life == self.life {
            return &self.uid;
        }
        self.earlier.iter().find(|earlier| earlier.number == life).map_or(&self.uid, |earlier| &earlier.uid)
    }

    /// The uids of all objects that are known to have had the name.
    pub fn uids(&self) -> impl Iterator<Item = &Uid> {
        std::iter::once(&self.uid).chain(self.earlier.iter().map(|life| &life.uid))
    }

    /// Whether an object with this uid is known to have had the name.
    pub fn has_life(&self, uid: &Uid) -> bool {
        self.uid == *uid || self.earlier.iter().any(|earlier| earlier.uid == *uid)
    }

    /// The bytes that the lane takes beside its slot. While the object lives, it shares the texts with the lane.
    pub(super) fn heap_bytes(&self) -> usize {
        // Two counters stand before each shared text.
        let texts = self.key.namespace.len() + self.key.name.len() + 2 * 2 * size_of::<usize>() + self.uid.heap_bytes();
        let texts = if self.live { 0 } else { texts };
        texts + self.earlier.capacity() * size_of::<Life>() + self.blocks.bytes()
    }

    /// Whether a resync replayed the object of the lane. `before` is the lane's newest mark before the resync; `None`
    /// if there is none, or if it is evicted.
    pub fn is_in_resync(&self, resync: &Resync, before: Option<Mark<'_>>) -> bool {
        let is_there = resync.namespace.is_empty() || *resync.namespace == *self.key.namespace;
        is_there
            && match before {
                // A change after the time at which the queue was empty last may still have been queued.
                Some(mark) => {
                    mark.mark_type != MarkType::Deleted && resync.since <= mark.at && mark.at <= resync.settled
                }
                // Its marks are evicted. A state is left of them, unless the object ended.
                None => self.worn.is_some(),
            }
    }
}
