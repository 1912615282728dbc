//! The ledger: what became of every frame, item and delta. Its sums must balance at every moment.

use crate::cache::queue::Queued;

macro_rules! ledger {
    ($($(#[doc = $doc:literal])+ $counter:ident,)+) => {
        /// Counts since the informer was made. Every number is a count of frames, items or deltas, except for `bytes`.
        /// Nothing is estimated, and what is queued is counted in the queue itself.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Ledger {
            $($(#[doc = $doc])+ pub $counter: u64,)+
        }

        impl Ledger {
            /// The sum of two ledgers, which balances if both do.
            pub fn plus(self, other: &Ledger) -> Ledger {
                Ledger { $($counter: self.$counter + other.$counter,)+ }
            }

            /// Each counter with its name.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($counter), self.$counter),)+].into_iter()
            }
        }
    };
}

// Each counter stands here once, with its meaning.
ledger! {
    /// Text frames received.
    frames,
    /// Bytes of those frames and of list pages.
    bytes,
    /// Frames that were bookmarks.
    bookmarks,
    /// Frames that were ERROR events.
    errors,
    /// Frames that could not be read, or whose type is unknown.
    malformed,
    /// Frames that were too long to be read.
    oversized,
    /// Frames that were ADDED, MODIFIED or DELETED.
    events,

    /// Events that went to the queue at once.
    watched,
    /// Events of a streaming list, which wait for its end.
    streamed,
    /// Events older than what is already known of the same uid.
    late,
    /// Events of a former object of a name: of another uid than that of the object that is known to exist, and older
    /// than that object.
    former,
    /// DELETED of something that is neither known nor queued.
    unknown,

    /// Items received in list pages.
    listed,
    /// Items that could not be read.
    malformed_items,
    /// Streamed events and listed items that a newer one of the same list replaced before its end.
    merged,
    /// Streamed events and listed items dropped because their list never ended.
    discarded,
    /// Streamed events and listed items that wait for their list's end.
    pending,
    /// Objects handed over by complete lists.
    replaced,

    /// Known objects that stayed when a complete list came without them, because something of it could not be read.
    kept,
    /// Deletions found by an object's absence from a complete list.
    tombstones,
    /// Deltas made by resyncs.
    resyncs,
    /// Deltas that were applied to the store.
    applied,
    /// Deltas that were folded into a newer one of the same object before they were applied.
    coalesced,

    /// Changes of the store that the applied deltas made.
    changes,
    /// Applied deltas that changed nothing: deletions of what was not there.
    without_effect,
    /// Applied deltas that made two changes: another object had taken over the name, and the deletion of the one before
    /// was never seen.
    twofold,

    /// Objects that complete lists showed to be gone.
    gone,
    /// Events, items and objects found gone that were reported to the handlers when they came.
    received,
    /// Events, items and objects found gone that brought nothing new and were reported to no handler: items of a list
    /// that were known already, or older than what the same list had brought before, and objects found gone whose
    /// deletion had been reported before.
    repeated,

    /// Watches opened.
    watches,
    /// Complete lists, streamed or paged.
    lists,
}

impl Ledger {
    /// The counter in which an event of a watch ends, by what the queue did with it.
    pub fn counter_of(&mut self, queued: Queued) -> &mut u64 {
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

    /// Returns whether every frame, event, item and delta is counted in exactly one place. `queued` is how many deltas
    /// the queue holds.
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
