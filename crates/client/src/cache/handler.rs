//! Handlers, which are notified of what an informer learns.

use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::delta::DeltaType;
use crate::cache::store::Change;

/// The reason why a handler could not use a notification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HandlerError(pub String);

/// What a handler answers. After an error this one notification is lost to the handler, and counted; the next one
/// comes.
pub type Handled = Result<(), HandlerError>;

/// Is notified of what an informer learns: client-go's `ResourceEventHandler`.
///
/// `OnAdd`, `OnUpdate` and `OnDelete` are the variants of [`Change`]; client-go's flag `isInInitialList` is
/// [`Change::Added`]'s `listed`, and its tombstone is [`Change::Deleted`]'s `final_state_unknown`. Where an object was
/// deleted unseen and another one took over its name, client-go reports an update between two uids; here that is a
/// deletion and an addition.
pub trait ResourceEventHandler {
    /// The store has changed.
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn changed(&mut self, now: f64, change: &Change) -> Handled;

    /// A delta arrived, and was queued. A later notification has what it does to the store, perhaps together with other
    /// deltas. Every ADDED, MODIFIED and DELETED frame and every listed item comes here once, in the order of arrival,
    /// except for those of a relist that bring nothing new, and those that come too late. Only handlers that asked for
    /// this are notified ([`HandlerOptions::received`]). Handlers that asked for [`HandlerOptions::listing`] get those
    /// of the first list.
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn received(&mut self, _now: f64, _delta_type: DeltaType, _object: &Arc<Object>) -> Handled {
        Ok(())
    }

    /// A resync of this handler began: each known object that has nothing queued was queued again. Only handlers that
    /// asked for what is received are notified of this. Handlers that asked for changes get each object when its turn
    /// comes, as
    /// [`Change::Synced`].
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn resynced(&mut self, _now: f64, _resync: Resynced) -> Handled {
        Ok(())
    }
}

/// The objects that a resync reports again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resynced {
    /// How many objects. Those that had something queued are not counted.
    pub count: u64,
    /// When the queue was last empty, in milliseconds. Every known object to which nothing has happened since then is
    /// reported again.
    pub settled: f64,
}

/// The notifications that a handler wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandlerOptions {
    /// The changes of the store, and first of all what the store holds already.
    pub changes: bool,
    /// The deltas as they arrive.
    pub received: bool,
    /// Of the deltas as they arrive those of the first list alone, and first of all what that list has brought already.
    /// None of it is known before the list is complete: the list may break, and another one take its place. From then
    /// on the handler gets changes only, which begin with every object of the complete list as an addition. Deltas that
    /// the handler has not taken by then are passed over. client-go has nothing like it.
    pub listing: bool,
    /// How often to get everything again, in milliseconds; at least [`MINIMUM_RESYNC`].
    pub resync: Option<f64>,
}

/// The shortest resync period of a handler, in milliseconds (client-go, `minimumResyncPeriod`).
pub const MINIMUM_RESYNC: f64 = 1000.0;

impl Default for HandlerOptions {
    fn default() -> HandlerOptions {
        HandlerOptions { changes: true, received: false, listing: false, resync: None }
    }
}
