//! The ledger: what became of every frame, item and delta. Its sums must balance at every moment.

use crate::cache::queue::Queued;

/// Counts since the informer was made. Every number is a count of frames, items or deltas, except for `bytes`. Nothing is
/// estimated, and what is queued is counted in the queue itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Text frames received.
    pub frames: u64,
    /// Bytes of those frames and of list pages.
    pub bytes: u64,
    /// Frames that were bookmarks.
    pub bookmarks: u64,
    /// Frames that were ERROR events.
    pub errors: u64,
    /// Frames that could not be read, or whose type is unknown.
    pub malformed: u64,
    /// Frames that were too long to be read.
    pub oversized: u64,
    /// Frames that were ADDED, MODIFIED or DELETED.
    pub events: u64,

    /// Events that went to the queue at once.
    pub watched: u64,
    /// Events of a streaming list, which wait for its end.
    pub streamed: u64,
    /// Events older than what is already known of the same uid.
    pub late: u64,
    /// Events of a former object of a name: of another uid than that of the object that is known to exist, and older than
    /// that object.
    pub former: u64,
    /// DELETED of something that is neither known nor queued.
    pub unknown: u64,

    /// Items received in list pages.
    pub listed: u64,
    /// Items that could not be read.
    pub malformed_items: u64,
    /// Streamed events and listed items that a newer one of the same list replaced before its end.
    pub merged: u64,
    /// Streamed events and listed items dropped because their list never ended.
    pub discarded: u64,
    /// Streamed events and listed items that wait for their list's end.
    pub pending: u64,
    /// Objects handed over by complete lists.
    pub replaced: u64,

    /// Known objects that stayed when a complete list came without them, because something of it could not be read.
    pub kept: u64,
    /// Deletions found by an object's absence from a complete list.
    pub tombstones: u64,
    /// Deltas made by resyncs.
    pub resyncs: u64,
    /// Deltas that were applied to the store.
    pub applied: u64,
    /// Deltas that were folded into a newer one of the same object before they were applied.
    pub coalesced: u64,

    /// Changes of the store that came of the applied deltas.
    pub changes: u64,
    /// Applied deltas that changed nothing: deletions of what was not there.
    pub without_effect: u64,
    /// Applied deltas that made two changes: another object had taken over the name, and the deletion of the one before was
    /// never seen.
    pub twofold: u64,

    /// Objects that complete lists showed to be gone.
    pub gone: u64,
    /// Events, items and objects found gone of which the handlers were told when they came.
    pub received: u64,
    /// Events, items and objects found gone that brought nothing new, so that no handler was told: what a list brought that
    /// was known already, or older than what the same list had brought before; and objects found gone whose deletion had
    /// been told before.
    pub repeated: u64,

    /// Watches opened.
    pub watches: u64,
    /// Complete lists, streamed or paged.
    pub lists: u64,
}

impl Ledger {
    /// The counter of what came of an event of a watch.
    pub fn place_of(&mut self, queued: Queued) -> &mut u64 {
        match queued {
            Queued::Queued => &mut self.watched,
            Queued::Unknown => &mut self.unknown,
            Queued::Late => &mut self.late,
            Queued::Former => &mut self.former,
        }
    }

    /// Every delta that was made.
    pub fn deltas(&self) -> u64 {
        self.watched + self.replaced + self.kept + self.tombstones + self.resyncs
    }

    /// Whether every frame, event, item and delta is counted in exactly one place. `queued` is how many deltas the queue
    /// holds.
    pub fn is_balanced(&self, queued: u64) -> bool {
        self.frames == self.bookmarks + self.errors + self.malformed + self.oversized + self.events
            && self.events == self.watched + self.streamed + self.late + self.former + self.unknown
            && self.streamed + self.listed
                == self.malformed_items + self.merged + self.discarded + self.pending + self.replaced
            && self.deltas() == self.applied + self.coalesced + queued
            && self.applied + self.twofold == self.changes + self.without_effect
            && self.watched + self.unknown + self.streamed + self.listed + self.gone
                == self.received + self.repeated + self.malformed_items
    }
}

impl Ledger {
    /// The sum of two ledgers, which balances if both do.
    pub fn plus(self, other: &Ledger) -> Ledger {
        Ledger {
            frames: self.frames + other.frames,
            bytes: self.bytes + other.bytes,
            bookmarks: self.bookmarks + other.bookmarks,
            errors: self.errors + other.errors,
            malformed: self.malformed + other.malformed,
            oversized: self.oversized + other.oversized,
            events: self.events + other.events,
            watched: self.watched + other.watched,
            streamed: self.streamed + other.streamed,
            late: self.late + other.late,
            former: self.former + other.former,
            unknown: self.unknown + other.unknown,
            listed: self.listed + other.listed,
            malformed_items: self.malformed_items + other.malformed_items,
            merged: self.merged + other.merged,
            discarded: self.discarded + other.discarded,
            pending: self.pending + other.pending,
            replaced: self.replaced + other.replaced,
            kept: self.kept + other.kept,
            tombstones: self.tombstones + other.tombstones,
            resyncs: self.resyncs + other.resyncs,
            applied: self.applied + other.applied,
            coalesced: self.coalesced + other.coalesced,
            changes: self.changes + other.changes,
            without_effect: self.without_effect + other.without_effect,
            twofold: self.twofold + other.twofold,
            gone: self.gone + other.gone,
            received: self.received + other.received,
            repeated: self.repeated + other.repeated,
            watches: self.watches + other.watches,
            lists: self.lists + other.lists,
        }
    }
}
