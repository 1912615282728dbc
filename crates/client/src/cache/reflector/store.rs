//! Where a reflector puts what it learns.

use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::DeltaType;
use crate::cache::ledger::Ledger;
use crate::cache::queue::Queued;
use crate::cache::reflector::notice::Notice;
use crate::cache::reflector::unread::Unread;

/// The store behind a reflector; client-go's `ReflectorStore`.
pub trait ReflectorStore {
    /// Makes an object that was just read one of the store's. A store that knows this very version returns the object
    /// that it holds, and one that knows another version has the new object share its texts.
    fn keep(&mut self, object: Object) -> Arc<Object> {
        Arc::new(object)
    }
    /// An event of a watch (`Added`, `Updated` or `Deleted`), and the text that the object was read from. Returns what
    /// came of the event.
    fn event(&mut self, now: f64, delta_type: DeltaType, object: Arc<Object>, text: &str) -> Queued;
    /// An event of a streaming list, or an item of a page, whose list has not ended: it was seen, and is not yet part
    /// of what is known. Whatever the list says to exist is `Replaced`; a streaming list may also bring `Updated` and
    /// `Deleted`.
    fn streamed(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: &str);
    /// A complete list, sorted by key, without the items that could not be read. Returns whether some known object
    /// stays although it is not in the list, because it may be one of those items.
    fn replace(&mut self, now: f64, list: CompleteList, unread: &Unread) -> bool;
    /// A resync is due: every known object is to be reported to the handlers again.
    fn resync(&mut self, now: f64);
    /// The user should know of something that is no object.
    fn notice(&mut self, notice: Notice);
    /// The counters.
    fn ledger(&mut self) -> &mut Ledger;
}
