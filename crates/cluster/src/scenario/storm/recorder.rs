//! Records Kubernetes Events as every controller does: they are sent to a broadcaster, combined and counted, and
//! written. Old Events are deleted.

use std::collections::VecDeque;
use std::sync::Arc;

use kubechurn_client::record::broadcaster::{Broadcaster, FullChannelBehavior, Next, WatcherId};
use kubechurn_client::record::correlator::{CorrelatorOptions, EventCorrelator};
use kubechurn_client::record::event::{Event, EventPatch, EventSource, EventType, ObjectReference};
use kubechurn_client::record::recorder::{EventRecorder, Happened, MAX_QUEUED_EVENTS};
use kubechurn_client::record::sink::{Action, Answer, RecordToSink};
use kubechurn_client::record::time::Time;
use serde_json::Value;

use super::direct::Direct;
use crate::random;
use crate::resources::builtin::EVENTS;
use crate::resources::object::Draft;
use crate::resources::resource::Resource;

/// The largest number of Events that are kept.
const MAX_EVENTS: usize = 1000;
/// The seconds after which an Event is deleted.
const LIFETIME: i64 = 300;

/// The object of an Event.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The resource of the object.
    pub resource: &'static Resource,
    /// The namespace; empty at the cluster scope.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// The container, if the Event is about one.
    pub container: Option<&'a str>,
}

/// The contents of an Event.
#[derive(Debug, Clone, Copy)]
pub struct What<'a> {
    /// The reason, in one word.
    pub reason: &'a str,
    /// The message, in a sentence.
    pub message: &'a str,
    /// The component that reports it.
    pub component: &'a str,
    /// The node of the component; empty if it has none.
    pub host: &'a str,
    /// Whether it is a Warning.
    pub warning: bool,
}

/// The recorder. All components of the invented cluster share it, so that one correlator sees all their Events.
#[derive(Debug)]
pub struct Recorder {
    seed: u64,
    broadcaster: Broadcaster<Arc<Event>>,
    /// The watcher whose Events are written.
    watcher: WatcherId,
    to_sink: RecordToSink,
    /// The time and the key of each Event in the storage, oldest first.
    order: VecDeque<(i64, String)>,
    created: u64,
    /// The time of the last recorded Event.
    last: Time,
}

impl Recorder {
    /// A recorder that has recorded nothing. The uids of its Events are made from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut broadcaster = Broadcaster::new(FullChannelBehavior::DropIfChannelFull);
        let watcher = broadcaster.watch(MAX_QUEUED_EVENTS).expect("a new broadcaster is not shut down");
        let to_sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
        Self { seed, broadcaster, watcher, to_sink, order: VecDeque::new(), created: 0, last: Time::default() }
    }

    /// Records an Event, and writes the outcome: a new Event, a new count, or nothing.
    pub fn record(&mut self, storage: &Direct, about: About<'_>, what: What<'_>, time: Time) {
        // No two Events have the same time, because their names are made from it; and the correlator's clock must not
        // run backwards.
        self.last = time.max(Time(self.last.0 + 1));
        let source = EventSource { component: what.component.to_owned(), host: what.host.to_owned() };
        let event_type = if what.warning { EventType::Warning } else { EventType::Normal };
        let happened = Happened { object: reference(about), event_type, reason: what.reason, message: what.message };
        let recorded = EventRecorder { source }.event(&mut self.broadcaster, self.last, happened);
        debug_assert!(recorded.is_ok(), "the broadcaster lives as long as the scenario");
        let now = self.last.0 as f64 / 1e6;
        while let Next::Event(event) = self.broadcaster.next(self.watcher) {
            // The storage answers at once, so that no Event waits for another.
            let Ok(mut action) = self.to_sink.handle_event(event, now) else { return };
            while let Some(one) = action {
                let answer = match one {
                    Action::Create(event) => self.create(storage, &event),
                    Action::Patch(patch) => count(storage, &patch),
                };
                action = self.to_sink.handle_answer(answer, now, 0.0);
            }
        }
    }

    /// Deletes one Event that is too old, or one too many; returns whether there was one.
    pub fn expire(&mut self, storage: &Direct, now: i64) -> bool {
        let overdue = self.order.front().is_some_and(|(at, _)| self.order.len() > MAX_EVENTS || now - at > LIFETIME);
        if !overdue {
            return false;
        }
        let Some((_, key)) = self.order.pop_front() else { return false };
        storage.delete(&EVENTS, &key);
        true
    }

    fn create(&mut self, storage: &Direct, event: &Event) -> Answer {
        let value = serde_json::to_value(event).ok().and_then(Draft::from_value);
        let Some(mut draft) = value else { return Answer::Rejected };
        self.created += 1;
        // The uid comes from the seed, like everything except times; the name contains a time.
        let object = &event.involved_object;
        let identity = [&object.kind, &object.namespace, &object.name, &event.reason, &event.message];
        let uid = random::uid(self.seed, &identity.map(String::as_str).join("\n"), self.created);
        draft.metadata.insert("uid".to_owned(), uid.into());
        let created = event.last_timestamp;
        draft.metadata.insert("creationTimestamp".to_owned(), created.to_string().into());
        if storage.create(&EVENTS, draft).is_none() {
            return Answer::Rejected;
        }
        self.order.push_back((created.seconds(), EVENTS.key(&event.namespace, &event.name)));
        Answer::Ok
    }
}

fn count(storage: &Direct, patch: &EventPatch) -> Answer {
    let Ok(Value::Object(fields)) = serde_json::to_value(patch) else { return Answer::Rejected };
    let key = EVENTS.key(&patch.namespace, &patch.name);
    let patched = storage.update(&EVENTS, &key, |_, event| {
        if let Value::Object(event) = event {
            event.extend(fields);
        }
        Ok::<_, ()>(())
    });
    if patched.is_some() { Answer::Ok } else { Answer::NotFound }
}

fn reference(about: About<'_>) -> ObjectReference {
    ObjectReference {
        kind: about.resource.kind.to_string(),
        namespace: about.namespace.to_owned(),
        name: about.name.to_owned(),
        uid: about.uid.to_owned(),
        api_version: about.resource.api_version.to_string(),
        field_path: about.container.map(|name| format!("spec.containers{{{name}}}")).unwrap_or_default(),
    }
}
