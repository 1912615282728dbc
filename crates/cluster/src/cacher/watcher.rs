//! One watch: turns initial state, replayed and dispatched events, bookmarks and faults into frames. Nothing here
//! depends on HTTP or sockets.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::cache_watcher::{CacheWatcher, Taken};
use super::event::{Delivery, Event, EventType};
use super::frame::{self, Frame};
use super::ring::Interval;
use super::switches::Switches;
use super::trigger::Trigger;
use super::{Cacher, Registered, Since};
use crate::printers::form::Form;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;

/// How many events or objects are processed before the receiver gets the resulting frames (`bufferSize` in
/// `watch_cache_interval.go`).
const BUFFER_SIZE: usize = 100;
/// How long before the deadline a bookmark is sent, so that the client can resume from where the watch ends.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// What a client asks of a watch.
#[derive(Debug)]
pub struct WatchRequest {
    pub resource: Arc<Resource>,
    /// The form in which objects are sent.
    pub form: Form,
    /// The filter that selects the objects.
    pub filter: Filter,
    /// Where the watch starts.
    pub start: Start,
    /// Whether bookmarks are wanted.
    pub bookmarks: bool,
    /// How long the watch lasts.
    pub timeout: Duration,
    /// The time between two bookmarks.
    pub bookmark_every: Duration,
}

/// Where a watch starts.
#[derive(Debug)]
pub enum Start {
    /// With the current objects as ADDED events. An end bookmark follows, if one is asked for and bookmarks are wanted.
    State {
        /// Whether the bookmark that ends the initial events is sent.
        end_bookmark: bool,
    },
    /// With the next event.
    Now,
    /// With the events after a revision.
    After(u64),
    /// The watch fails and sends this error as its only event.
    Failed(Status),
}

/// A running watch. A watch that is read too slowly is ended: see [`CacheWatcher`].
#[derive(Debug)]
pub struct Watcher {
    cacher: Arc<Cacher>,
    request: WatchRequest,
    /// The value of the trigger that the filter asks for: replayed events with another value are skipped.
    value: Option<Box<str>>,
    input: Arc<CacheWatcher>,
    /// The initial objects that are still to be sent.
    initial: std::vec::IntoIter<Arc<Object>>,
    /// Whether an end bookmark is to be sent after the initial objects.
    end_bookmark: bool,
    replay: Interval,
    error: Option<Status>,
    /// The newest revision that the receiver has seen, or that the filter has withheld. No event at or below this
    /// revision is sent.
    seen: u64,
    /// The revision at the start. A bookmark is sent only for a newer one.
    started_at: u64,
    /// Whether the column definitions of a Table have been sent.
    columns_sent: bool,
    ended: bool,
    next_bookmark: Instant,
    last_bookmark: Option<Instant>,
    deadline: Instant,
    /// A client that is exempt from faults has switches of its own, which live as long as its watch.
    _switches: Arc<Switches>,
    cuts: watch::Receiver<u64>,
    stalled: watch::Receiver<bool>,
}

/// The outcome of one step of a watch.
#[derive(Debug)]
pub enum Step {
    /// Frames to send, each as a message of its own.
    Frames(Vec<Frame>),
    /// The watch is over: an ordinary close.
    End,
    /// The connection is to be dropped without a close.
    Cut,
}

impl Watcher {
    /// Starts a watch now.
    pub fn new(cacher: Arc<Cacher>, switches: Arc<Switches>, request: WatchRequest) -> Self {
        let now = Instant::now();
        let mut end_bookmark = false;
        let since = match &request.start {
            Start::State { end_bookmark: wanted } => {
                end_bookmark = *wanted && request.bookmarks;
                Ok(Since::State)
            }
            Start::Now => Ok(Since::Now),
            Start::After(revision) => Ok(Since::Revision(*revision)),
            Start::Failed(status) => Err(status.clone()),
        };
        let registered = since.and_then(|since| {
            let too_old = |(asked, oldest)| Status::too_old(asked, oldest);
            cacher.register(since, &request.filter, end_bookmark).map_err(too_old)
        });
        let (registered, error) = match registered {
            Ok(registered) => (registered, None),
            Err(status) => (Registered::nothing(), Some(status)),
        };
        let Registered { input, revision: seen, state: mut initial, replay } = registered;
        initial.retain(|object| request.filter.matches(object));
        let deadline = now + request.timeout;
        let value = Trigger::of(&request.resource).and_then(|trigger| trigger.asked(&request.filter)).map(Into::into);
        Self {
            value,
            input,
            initial: initial.into_iter(),
            end_bookmark,
            replay,
            error,
            seen,
            started_at: seen,
            columns_sent: false,
            ended: false,
            next_bookmark: now + request.bookmark_every,
            last_bookmark: deadline.checked_sub(LAST_BOOKMARK).filter(|at| *at > now),
            deadline,
            cuts: switches.cuts(&request.resource),
            stalled: switches.stalled(),
            _switches: switches,
            cacher,
            request,
        }
    }

    /// Resolves once the connection is to be dropped, even while it is busy sending.
    pub fn cut(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut cuts = self.cuts.clone();
        async move {
            if cuts.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits for the next step. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Step {
        loop {
            if self.cuts.has_changed().unwrap_or(true) {
                return Step::Cut;
            }
            // A stalled watch reads nothing, like a client that has stopped reading. It is ended for slowness like any
            // other, and that is reported to the client when the stall is over.
            if *self.stalled.borrow_and_update() {
                tokio::select! {
                    _ = self.stalled.changed() => {}
                    _ = self.cuts.changed() => return Step::Cut,
                }
                continue;
            }
            if let Some(step) = self.step() {
                return step;
            }
            let bookmark = if self.request.bookmarks { self.bookmark_due() } else { self.deadline };
            tokio::select! {
                () = self.input.ready() => {}
                _ = self.cuts.changed() => return Step::Cut,
                _ = self.stalled.changed() => {}
                () = sleep_until(bookmark.min(self.deadline)) => {}
            }
        }
    }

    fn step(&mut self) -> Option<Step> {
        if self.ended || Instant::now() >= self.deadline {
            return Some(Step::End);
        }
        if let Some(error) = self.error.take() {
            self.ended = true;
            return Some(Step::Frames(vec![Frame::error(&error)]));
        }
        if self.input.is_stopped() {
            return Some(Step::End);
        }
        if self.initial.len() > 0 {
            let objects: Vec<_> = self.initial.by_ref().take(BUFFER_SIZE).collect();
            return Some(Step::Frames(objects.iter().map(|object| self.frame("ADDED", object)).collect()));
        }
        if std::mem::take(&mut self.end_bookmark) {
            self.input.end_bookmark_sent();
            return Some(Step::Frames(vec![self.bookmark(true)]));
        }
        while !self.replay.is_empty() {
            let Ok(events) = self.cacher.read(&mut self.replay, BUFFER_SIZE) else { return Some(Step::End) };
            let frames: Vec<Frame> = events.iter().filter_map(|event| self.frame_of(event, None)).collect();
            if !frames.is_empty() {
                return Some(Step::Frames(frames));
            }
        }
        self.dispatched()
    }

    /// The frames for the dispatched events, and a bookmark when one is due.
    fn dispatched(&mut self) -> Option<Step> {
        let is_due = self.request.bookmarks && self.bookmark_due() <= Instant::now();
        // The revision is read before the buffer: if the buffer is then empty, all events up to that revision have been
        // sent.
        let revision = if is_due { self.cacher.revision() } else { 0 };
        loop {
            let mut frames: Vec<Frame> = match self.input.take(BUFFER_SIZE) {
                Taken::Events(events) => events.iter().filter_map(|one| self.frame_of(&one.event, Some(one))).collect(),
                Taken::End => return Some(Step::End),
                Taken::Nothing => {
                    self.seen = self.seen.max(revision);
                    return is_due.then(|| self.regular_bookmark()).flatten().map(|frame| Step::Frames(vec![frame]));
                }
            };
            // Where events never cease, the bookmark is sent between two of them.
            if is_due {
                frames.extend(self.regular_bookmark());
            }
            if !frames.is_empty() {
                return Some(Step::Frames(frames));
            }
        }
    }

    fn bookmark_due(&self) -> Instant {
        self.last_bookmark.map_or(self.next_bookmark, |last| last.min(self.next_bookmark))
    }

    /// A bookmark, if the revision has advanced; in either case the next one is due after the usual period.
    fn regular_bookmark(&mut self) -> Option<Frame> {
        let now = Instant::now();
        self.next_bookmark = now + self.request.bookmark_every;
        self.last_bookmark = self.last_bookmark.filter(|last| *last > now);
        (self.seen > self.started_at).then(|| self.bookmark(false))
    }

    fn bookmark(&self, ends_initial_events: bool) -> Frame {
        let end = if ends_initial_events { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
        let metadata = format!("\"resourceVersion\":\"{}\"{end}", self.seen);
        let json = self.request.form.bookmark(&self.request.resource, &metadata);
        Frame::bookmark(self.seen, ends_initial_events, &json)
    }

    /// The frame for an object. The first event of a watch that asks for Tables also defines the columns.
    fn frame(&mut self, event_type: &'static str, object: &Object) -> Frame {
        let with_columns = !std::mem::replace(&mut self.columns_sent, true);
        Frame::event(event_type, object, &self.request.form.object(&self.request.resource, object, with_columns))
    }

    /// An event as the filter of this watch sees it: entering the selection is ADDED; leaving it is DELETED, with the
    /// object as it was and the revision of the event. An event that the receiver has seen gives no frame.
    fn frame_of(&mut self, event: &Event, delivery: Option<&Delivery>) -> Option<Frame> {
        if event.revision() <= self.seen {
            return None;
        }
        self.seen = event.revision();
        if self.value.as_deref().is_some_and(|value| !event.concerns(value)) {
            return None;
        }
        let filter = &self.request.filter;
        let before = event.previous.as_deref().filter(|object| filter.matches(object));
        let is_selected = filter.matches(&event.object);
        let event_type = match (event.event_type, before) {
            (EventType::Deleted, None) => return None,
            (EventType::Deleted, Some(_)) => "DELETED",
            (_, None) if is_selected => "ADDED",
            (_, None) => return None,
            (_, Some(_)) if is_selected => "MODIFIED",
            (_, Some(before)) => return Some(self.frame("DELETED", &before.at_revision(event.revision()))),
        };
        match delivery {
            // Most watches send the same text, so it is made once.
            Some(delivery) if event_type == event.event_type.word() && self.is_plain() => {
                let write = || frame::text(event_type, &event.object.text());
                Some(Frame::shared(event_type, &event.object, delivery.text.get_or_init(write).clone()))
            }
            _ => Some(self.frame(event_type, &event.object)),
        }
    }

    /// Whether objects are sent as they are stored. Custom resources are not: they are sent in the version that the
    /// client asked for.
    fn is_plain(&self) -> bool {
        self.request.form == Form::Whole && !self.request.resource.is_custom()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.cacher.forget(&self.input);
    }
}
