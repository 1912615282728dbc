//! Makes Events of what a program sees, and hands them to a broadcaster. The recorder never waits.

use std::sync::Arc;

use crate::record::broadcaster::{Broadcaster, NotTaken};
use crate::record::event::{Event, EventSource, EventType, ObjectReference, event_name};
use crate::record::time::Time;

/// How many Events a watcher of the broadcaster should have room for (client-go `event.go`, `maxQueuedEvents`).
pub const MAX_QUEUED_EVENTS: usize = 1000;

/// Where Events of objects at the cluster scope are kept.
const NAMESPACE_DEFAULT: &str = "default";

/// What happened to an object: the arguments of client-go's `Event`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happened<'a> {
    /// To which object.
    pub object: ObjectReference,
    /// Whether it is as it should be.
    pub event_type: EventType,
    /// Why, in one UpperCamelCase word.
    pub reason: &'a str,
    /// What happened, in a sentence.
    pub message: &'a str,
}

/// A recorder of one source (client-go `event.go`, `recorderImpl`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecorder {
    /// Which program records, and where it runs.
    pub source: EventSource,
}

impl EventRecorder {
    /// Records what happened at `time`. The Event is not written here but handed to the broadcaster.
    ///
    /// # Errors
    ///
    /// When a watcher of the broadcaster is full, and the broadcaster is not one that drops what a full watcher cannot take
    /// and counts it; or when the broadcaster has shut down. The Event is given back.
    pub fn event(
        &self,
        broadcaster: &mut Broadcaster<Arc<Event>>,
        time: Time,
        happened: Happened<'_>,
    ) -> Result<(), NotTaken<Arc<Event>>> {
        broadcaster.action(Arc::new(self.make_event(time, happened)))
    }

    fn make_event(&self, time: Time, happened: Happened<'_>) -> Event {
        let Happened { object, event_type, reason, message } = happened;
        let namespace = if object.namespace.is_empty() { NAMESPACE_DEFAULT } else { &object.namespace };
        Event {
            namespace: namespace.to_owned(),
            name: event_name(&object.name, time),
            involved_object: object,
            reason: reason.to_owned(),
            message: message.to_owned(),
            first_timestamp: time,
            last_timestamp: time,
            count: 1,
            event_type,
            reporting_controller: self.source.component.clone(),
            reporting_instance: self.source.host.clone(),
            source: self.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::broadcaster::{FullChannelBehavior, Next};

    fn node() -> ObjectReference {
        ObjectReference { kind: String::from("Node"), name: String::from("node-1"), ..ObjectReference::default() }
    }

    fn recorder() -> EventRecorder {
        EventRecorder { source: EventSource { component: String::from("kubelet"), host: String::from("node-1") } }
    }

    #[test]
    fn events_of_cluster_objects_land_in_default() {
        for (namespace, expected) in [("", "default"), ("shop", "shop")] {
            let mut broadcaster = Broadcaster::new(FullChannelBehavior::DropIfChannelFull);
            let id = broadcaster.watch(MAX_QUEUED_EVENTS).unwrap();
            let object = ObjectReference { namespace: namespace.to_owned(), ..node() };
            let happened = Happened {
                object: object.clone(),
                event_type: EventType::Warning,
                reason: "Rebooted",
                message: "Node node-1 has been rebooted",
            };
            let recorded = recorder().event(&mut broadcaster, Time(255), happened);
            assert_eq!(recorded, Ok(()));
            let Next::Event(event) = broadcaster.next(id) else { unreachable!("it was taken") };
            assert_eq!((event.namespace.as_str(), event.name.as_str()), (expected, "node-1.ff"));
            assert_eq!((&event.involved_object, event.count, event.event_type), (&object, 1, EventType::Warning));
            assert_eq!((event.first_timestamp, event.last_timestamp), (Time(255), Time(255)));
            assert_eq!((event.reporting_controller.as_str(), event.reporting_instance.as_str()), ("kubelet", "node-1"));
        }
    }

    #[test]
    fn what_a_watcher_has_no_room_for_is_dropped_and_counted() {
        let mut broadcaster = Broadcaster::new(FullChannelBehavior::DropIfChannelFull);
        let id = broadcaster.watch(MAX_QUEUED_EVENTS).unwrap();
        let ready = || Happened { object: node(), event_type: EventType::Normal, reason: "Ready", message: "" };
        for at in 0..1003 {
            recorder().event(&mut broadcaster, Time(at), ready()).unwrap();
        }
        assert_eq!((broadcaster.queued(id), broadcaster.dropped(id)), (1000, 3));
        broadcaster.shutdown();
        let late = recorder().event(&mut broadcaster, Time(0), ready());
        assert!(matches!(late, Err(NotTaken::Stopped(_))));
    }
}
