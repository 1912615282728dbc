//! A streaming list that is under way: a watch that begins with the objects that exist.

use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::delta::DeltaType;
use crate::cache::queue::late;
use crate::cache::reflector::notice::Notice;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::socket::Socket;
use crate::cache::reflector::store::ReflectorStore;

/// The user is notified of a streaming list that has brought nothing for this long, in milliseconds, and has not ended
/// (client-go, `initialEventsEndBookmarkTicker`).
const LATE: f64 = 10_000.0;

/// A streaming list whose end has not come.
#[derive(Clone, Debug)]
pub(super) struct StreamingList {
    pub(super) socket: Socket,
    /// The objects that the list has brought so far.
    pub(super) items: Objects,
    /// When the last notice said that the end of the list does not come.
    warned: f64,
}

impl StreamingList {
    pub(super) fn new(socket: Socket) -> StreamingList {
        StreamingList { socket, items: Objects::default(), warned: f64::NEG_INFINITY }
    }

    /// Takes an event. Nothing of it is known before the list ends.
    pub(super) fn event(
        &mut self,
        delta_type: DeltaType,
        object: Arc<Object>,
        text: &str,
        store: &mut dyn ReflectorStore,
    ) {
        let now = self.socket.last_frame.unwrap_or_default();
        self.socket.events += 1;
        let late = self.items.get(&object.key).and_then(|newer| late(&object, newer, true));
        if let Some(late) = late {
            *store.ledger().counter_of(late) += 1;
            return;
        }
        // An ADDED of a streaming list says that the object exists, as an item of a page does.
        let listed = if delta_type == DeltaType::Added { DeltaType::Replaced } else { delta_type };
        store.streamed(now, listed, &object, text);
        let ledger = store.ledger();
        ledger.streamed += 1;
        ledger.pending += 1;
        let before = match delta_type {
            DeltaType::Deleted => {
                // The deletion itself is not handed over: the object will be missing in the complete list.
                ledger.pending -= 1;
                ledger.merged += 1;
                self.items.remove(&object.key)
            }
            _ => self.items.insert(object),
        };
        if before.is_some() {
            ledger.pending -= 1;
            ledger.merged += 1;
        }
    }

    /// When a notice of the missing end is due.
    pub(super) fn late_at(&self) -> Option<f64> {
        self.socket.heard().map(|heard| heard.max(self.warned) + LATE)
    }

    /// The notice that the end of the list does not come.
    pub(super) fn warn(&mut self, now: f64) -> Notice {
        self.warned = now;
        Notice::Late { at: now, waited: now - self.socket.heard().unwrap_or(self.socket.requested) }
    }
}
