//! Records Kubernetes Events as every controller does: told to a broadcaster, combined and counted, written. Old ones
//! expire.

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

/// More are not kept.
const MOST: usize = 1000;
/// Seconds after which an Event goes.
const LIFETIME: i64 = 300;

/// What an Event is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Resource of the object.
    pub resource: &'static Resource,
    /// Its namespace; empty at the cluster scope.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// The container, if it is about one.
    pub container: Option<&'a str>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub struct What<'a> {
    /// In one word.
    pub reason: &'a str,
    /// In a sentence.
    pub message: &'a str,
    /// Who saw it.
    pub component: &'a str,
    /// On which node; empty if on none.
    pub host: &'a str,
    /// Whether it is a Warning.
    pub warning: bool,
}

/// The recorder. All components of the made-up cluster share it: one correlator sees what each of them records.
#[derive(Debug)]
pub struct Recorder {
    broadcaster: Broadcaster<Arc<Event>>,
    /// The watcher whose Events are written.
    watcher: WatcherId,
    to_sink: RecordToSink,
    /// What is in the storage, oldest first: when created, and its key.
    order: VecDeque<(i64, String)>,
    created: u64,
    /// When the last Event was recorded.
    last: Time,
}

impl Default for Recorder {
    fn default() -> Self {
        let mut broadcaster = Broadcaster::new(FullChannelBehavior::DropIfChannelFull);
        let watcher = broadcaster.watch(MAX_QUEUED_EVENTS).expect("a new broadcaster is not shut down");
        let to_sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
        Self { broadcaster, watcher, to_sink, order: VecDeque::new(), created: 0, last: Time::default() }
    }
}

impl Recorder {
    /// Records an Event, and writes what becomes of it: a new Event, a count, or nothing.
    pub fn record(&mut self, storage: &Direct, seed: u64, about: About<'_>, what: What<'_>, time: Time) {
        // No two have the same time, and so the same name; and the correlator's clock never runs backwards.
        self.last = time.max(Time(self.last.0 + 1));
        let source = EventSource { component: what.component.to_owned(), host: what.host.to_owned() };
        let event_type = if what.warning { EventType::Warning } else { EventType::Normal };
        let happened = Happened { object: reference(about), event_type, reason: what.reason, message: what.message };
        let told = EventRecorder { source }.event(&mut self.broadcaster, self.last, happened);
        debug_assert!(told.is_ok(), "the broadcaster lives as long as the scenario");
        let now = self.last.0 as f64 / 1e6;
        while let Next::Event(event) = self.broadcaster.next(self.watcher) {
            // The storage answers at once, so that no Event ever waits for one before it.
            let Ok(mut action) = self.to_sink.handle_event(event, now) else { return };
            while let Some(one) = action {
                let answer = match one {
                    Action::Create(event) => self.create(storage, seed, &event),
                    Action::Patch(patch) => count(storage, &patch),
                };
                action = self.to_sink.handle_answer(answer, now, 0.0);
            }
        }
    }

    /// Deletes one Event that is too old, or one too many; tells whether there was one.
    pub fn expire(&mut self, storage: &Direct, now: i64) -> bool {
        let overdue = self.order.front().is_some_and(|(at, _)| self.order.len() > MOST || now - at > LIFETIME);
        if !overdue {
            return false;
        }
        let Some((_, key)) = self.order.pop_front() else { return false };
        storage.delete(&EVENTS, &key);
        true
    }

    fn create(&mut self, storage: &Direct, seed: u64, event: &Event) -> Answer {
        let value = serde_json::to_value(event).ok().and_then(Draft::from_value);
        let Some(mut draft) = value else { return Answer::Rejected };
        self.created += 1;
        // The uid comes from the seed, as everything does that is no time; the name is one.
        let object = &event.involved_object;
        let identity = [&object.kind, &object.namespace, &object.name, &event.reason, &event.message];
        let uid = random::uid(seed, &identity.map(String::as_str).join("\n"), self.created);
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
