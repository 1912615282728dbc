//! Handlers: who is told what an informer learns.

use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::delta::DeltaType;
use crate::cache::store::Change;

/// Why a handler could not use what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HandlerError(pub String);

/// What a handler answers. After an error this one notification is lost to the handler, and counted; the next one comes.
pub type Handled = Result<(), HandlerError>;

/// Is told what an informer learns: client-go's `ResourceEventHandler`.
///
/// `OnAdd`, `OnUpdate` and `OnDelete` are the variants of [`Change`]; client-go's flag `isInInitialList` is
/// [`Change::Added`]'s `listed`, and its tombstone is [`Change::Deleted`]'s `final_state_unknown`. Where an object was
/// deleted unseen and another one took over its name, client-go tells of an update between two uids; here that is a deletion
/// and an addition.
pub trait ResourceEventHandler {
    /// The store has changed.
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn changed(&mut self, now: f64, change: &Change) -> Handled;

    /// A delta arrived, and was queued. What it does to the store is told later, perhaps together with other deltas. Every
    /// ADDED, MODIFIED and DELETED frame and every listed item comes here once, in the order of arrival, except for those
    /// of a relist that bring nothing new, and those that come too late. Only handlers that asked for this are told
    /// ([`HandlerOptions::received`]). Handlers that asked for [`HandlerOptions::listing`] are told of those of the first
    /// list.
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn received(&mut self, _now: f64, _delta_type: DeltaType, _object: &Arc<Object>) -> Handled {
        Ok(())
    }

    /// A resync of this handler began: each known object that has nothing queued was queued to be told again. Only handlers
    /// that asked for what is received are told of this. Handlers that asked for changes are told of each object when its turn
    /// comes, as [`Change::Synced`].
    ///
    /// # Errors
    ///
    /// What the handler could not do.
    fn resynced(&mut self, _now: f64, _resync: Resynced) -> Handled {
        Ok(())
    }
}

/// What a resync tells again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resynced {
    /// How many objects. Those that had something queued are not counted.
    pub count: u64,
    /// When the queue was last empty, in milliseconds. Every known object to which nothing has happened since then is told
    /// again.
    pub settled: f64,
}

/// What a handler wants to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandlerOptions {
    /// The changes of the store, and first of all what the store holds already.
    pub changes: bool,
    /// The deltas as they arrive.
    pub received: bool,
    /// Of the deltas as they arrive those of the first list alone, and first of all what that list has brought already.
    /// None of it is known before the list is complete: the list may break, and another one take its place. From then on
    /// the handler is told of changes only, which begin with every object of the complete list as an addition. Deltas
    /// that the handler has not taken by then are passed over. client-go has nothing like it.
    pub listing: bool,
    /// How often to be told of everything again, in milliseconds; at least [`MINIMUM_RESYNC`].
    pub resync: Option<f64>,
}

/// The shortest resync period of a handler, in milliseconds (client-go, `minimumResyncPeriod`).
pub const MINIMUM_RESYNC: f64 = 1000.0;

impl Default for HandlerOptions {
    fn default() -> HandlerOptions {
        HandlerOptions { changes: true, received: false, listing: false, resync: None }
    }
}

/// Shows another handler only the objects that pass a filter (client-go's `FilteringResourceEventHandler`). An object that
/// begins to pass is an addition to that handler, and one that no longer passes is a deletion.
///
/// A controller that works on one namespace only, beside others that share its informer:
///
/// ```
/// use kubechurn_client::api::object::{Decode, Object};
/// use kubechurn_client::cache::backoff::Moment;
/// use kubechurn_client::cache::handler::{
///     FilteringResourceEventHandler, Handled, HandlerOptions, ResourceEventHandler,
/// };
/// use kubechurn_client::cache::reflector::Input;
/// use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
/// use kubechurn_client::cache::store::Change;
///
/// #[derive(Default)]
/// struct Names(Vec<String>);
///
/// impl ResourceEventHandler for Names {
///     fn changed(&mut self, _now: f64, change: &Change) -> Handled {
///         self.0.push(change.object().key.name.to_string());
///         Ok(())
///     }
/// }
///
/// let in_shop = |object: &Object| &*object.key.namespace == "shop";
/// let mut handler = FilteringResourceEventHandler { filter: in_shop, handler: Names::default() };
///
/// let mut informer = SharedInformer::new(Decode::METADATA, InformerOptions::default());
/// let id = informer.add_event_handler(HandlerOptions::default(), 0.0);
/// let moment = |now| Moment { now, random: 0.0 };
/// informer.handle(Input::Start, moment(0.0));
/// for (namespace, name) in [("shop", "web"), ("bank", "vault")] {
///     informer.handle(Input::Frame(&format!(
///         r#"{{"type":"ADDED","object":{{"metadata":{{"namespace":"{namespace}","name":"{name}","uid":"{name}","resourceVersion":"7"}}}}}}"#
///     )), moment(1.0));
/// }
/// informer.handle(Input::Frame(r#"{"type":"BOOKMARK","object":{"metadata":
///     {"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#), moment(2.0));
/// informer.drain(usize::MAX, 2.0);
///
/// assert_eq!(informer.deliver(id, &mut handler), 2);
/// assert_eq!(handler.handler.0, ["web"]);
/// // The list has reached this handler, so that it now knows all that there is (client-go's `HasSynced`).
/// assert!(informer.handler_has_synced(id));
/// ```
#[derive(Debug)]
pub struct FilteringResourceEventHandler<F, H> {
    /// Whether an object passes.
    pub filter: F,
    /// Who is told.
    pub handler: H,
}

impl<F: Fn(&Object) -> bool, H: ResourceEventHandler> ResourceEventHandler for FilteringResourceEventHandler<F, H> {
    fn changed(&mut self, now: f64, change: &Change) -> Handled {
        let change = match change {
            Change::Added { new, .. } | Change::Synced { new, .. } => (self.filter)(new).then(|| change.clone()),
            Change::Deleted { last, .. } => (self.filter)(last).then(|| change.clone()),
            Change::Updated { old, new, folded } => match ((self.filter)(old), (self.filter)(new)) {
                (true, true) => Some(change.clone()),
                (false, true) => Some(Change::Added { new: new.clone(), listed: false, folded: *folded }),
                (true, false) => {
                    Some(Change::Deleted { last: old.clone(), folded: *folded, final_state_unknown: false })
                }
                (false, false) => None,
            },
        };
        change.map_or(Ok(()), |change| self.handler.changed(now, &change))
    }

    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        if (self.filter)(object) { self.handler.received(now, delta_type, object) } else { Ok(()) }
    }

    fn resynced(&mut self, now: f64, resync: Resynced) -> Handled {
        self.handler.resynced(now, resync)
    }
}
