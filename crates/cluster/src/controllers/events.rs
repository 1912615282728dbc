//! Records Events as client-go does: a broadcaster receives them, a correlator combines and counts them, and one task
//! writes them through the client.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use kubechurn_client::record::broadcaster::{Broadcaster, FullChannelBehavior, Next, WatcherId};
use kubechurn_client::record::correlator::{CorrelatorOptions, EventCorrelator};
use kubechurn_client::record::event::{Event, EventSource, EventType, ObjectReference};
use kubechurn_client::record::recorder::{EventRecorder, Happened, MAX_QUEUED_EVENTS};
use kubechurn_client::record::sink::{Action, Answer, RecordToSink};
use kubechurn_client::record::time::Time;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

use super::{kubelet, object, scheduler};
use crate::client::api_error::ApiError;
use crate::client::resources::EVENTS;
use crate::client::rest::{Client, Patch};
use crate::clock;

/// The sink of the Events of one program. Clones share the same sink.
#[derive(Clone)]
pub struct EventSink(Rc<Shared>);

struct Shared {
    broadcaster: RefCell<Broadcaster<Arc<Event>>>,
    /// The watcher whose Events are written; `None` if the broadcaster was shut down.
    watcher: Option<WatcherId>,
    /// The time of the last recorded Event.
    last: Cell<Time>,
    recorded: Notify,
}

impl fmt::Debug for EventSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("EventSink").field(&self.0.broadcaster.borrow().tally()).finish()
    }
}

/// Records the Events of one component.
#[derive(Debug, Clone)]
pub struct Recorder {
    sink: EventSink,
    recorder: EventRecorder,
}

impl Default for EventSink {
    fn default() -> Self {
        let mut broadcaster = Broadcaster::new(FullChannelBehavior::DropIfChannelFull);
        let watcher = broadcaster.watch(MAX_QUEUED_EVENTS).ok();
        let (last, recorded) = (Cell::default(), Notify::new());
        Self(Rc::new(Shared { broadcaster: RefCell::new(broadcaster), watcher, last, recorded }))
    }
}

impl EventSink {
    /// A recorder of a component, such as `kubelet`, on a host, which may be empty.
    pub fn recorder(&self, component: &str, host: &str) -> Recorder {
        let source = EventSource { component: component.to_owned(), host: host.to_owned() };
        Recorder { sink: self.clone(), recorder: EventRecorder { source } }
    }

    /// Stops accepting Events; [`Self::write`] ends once the recorded ones are written.
    pub fn shut_down(&self) {
        self.0.broadcaster.borrow_mut().shutdown();
        self.0.recorded.notify_waiters();
    }

    /// Writes Events, one at a time, until [`Self::shut_down`].
    pub async fn write(self, client: Client) {
        let Some(watcher) = self.0.watcher else { return };
        let mut to_sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
        let began = Instant::now();
        let now = || began.elapsed().as_secs_f64() * 1000.0;
        loop {
            let recorded = self.0.recorded.notified();
            let next = self.0.broadcaster.borrow_mut().next(watcher);
            let event = match next {
                Next::Event(event) => event,
                Next::Empty => {
                    recorded.await;
                    continue;
                }
                Next::Ended => return,
            };
            let client = client_of(&client, &event.source);
            // The writer is idle at this point, so the sink accepts the Event.
            let mut action = to_sink.handle_event(event, now()).unwrap_or_default();
            loop {
                action = match (action, to_sink.deadline()) {
                    (Some(one), _) => {
                        let answer = perform(&client, &one).await;
                        // A fixed share of the first wait suffices: there is one writer, not thousands.
                        to_sink.handle_answer(answer, now(), 0.5)
                    }
                    (None, Some(deadline)) => {
                        let wait = Duration::from_secs_f64(((deadline - now()) / 1000.0).clamp(0.0, 60.0));
                        tokio::time::sleep(wait).await;
                        to_sink.handle_time(now())
                    }
                    (None, None) => break,
                };
            }
        }
    }
}

impl Recorder {
    /// Records an Event about an object, given as JSON with its kind: `reason` is one UpperCamelCase word, `message` a
    /// sentence. It never waits; while a thousand Events are waiting to be written, new ones are dropped.
    pub fn event(&self, object: &Value, event_type: EventType, reason: &str, message: &str) {
        self.event_about(object::reference(object), event_type, reason, message);
    }

    /// Records an Event about whatever `reference` refers to, which may be a part of an object.
    pub fn event_about(&self, reference: ObjectReference, event_type: EventType, reason: &str, message: &str) {
        let shared = &self.sink.0;
        // No two Events have the same time, because their names are made from it.
        let time = clock::time().max(Time(shared.last.get().0 + 1));
        shared.last.set(time);
        let happened = Happened { object: reference, event_type, reason, message };
        // A sink that is shut down refuses the Event, which is intended.
        let _ = self.recorder.event(&mut shared.broadcaster.borrow_mut(), time, happened);
        shared.recorded.notify_waiters();
    }

    /// Records a normal Event.
    pub fn normal(&self, object: &Value, reason: &str, message: &str) {
        self.event(object, EventType::Normal, reason, message);
    }

    /// Records a warning.
    pub fn warning(&self, object: &Value, reason: &str, message: &str) {
        self.event(object, EventType::Warning, reason, message);
    }
}

/// A client of the program and of the user as whom a component writes its Events.
fn client_of(client: &Client, source: &EventSource) -> Client {
    match (&*source.component, &*source.host) {
        (_, host) if !host.is_empty() => client.with_user_agent(kubelet::AGENT).with_user(&kubelet::user_of(host)),
        (scheduler::DEFAULT, _) => scheduler::client_of(client),
        (component, _) => client.with_user(&format!("system:serviceaccount:kube-system:{component}")),
    }
}

async fn perform(client: &Client, action: &Action) -> Answer {
    let json = |written: Result<Value, serde_json::Error>| written.unwrap_or_default();
    let answer = match action {
        Action::Create(event) => client.create(&EVENTS, &event.namespace, &json(serde_json::to_value(&**event))).await,
        Action::Patch(patch) => {
            let body = json(serde_json::to_value(patch));
            client.patch(&EVENTS, &patch.namespace, &patch.name, Patch::Strategic(&body)).await
        }
    };
    match answer {
        Ok(_) => Answer::Ok,
        Err(ApiError { code: 0, .. }) => Answer::Failed,
        Err(error) if error.is_not_found() => Answer::NotFound,
        Err(_) => Answer::Rejected,
    }
}
