//! One watch: turns initial state, news, bookmarks and faults into frames. It knows no HTTP and no socket.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::faults::Faults;
use super::form::Form;
use super::object::Object;
use super::resource::Resource;
use super::selector::Filter;
use super::status::Status;
use super::storage::Storage;
use super::watch_cache::{Event, EventType};

/// So many events or objects are looked at before the receiver gets to see them.
const BLOCK: usize = 100;
/// A bookmark comes this long before the deadline.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// What a watch was asked for.
#[derive(Debug)]
pub struct WatchRequest {
    /// The resource.
    pub resource: Arc<Resource>,
    /// In which form its objects are sent.
    pub form: Form,
    /// Which of its objects.
    pub filter: Filter,
    /// Where to start.
    pub start: Start,
    /// Whether bookmarks are wanted.
    pub bookmarks: bool,
    /// How long the watch lasts.
    pub timeout: Duration,
    /// Time between two bookmarks.
    pub bookmark_every: Duration,
}

/// Where a watch starts.
#[derive(Debug)]
pub enum Start {
    /// With the state, as ADDED events, and an end bookmark if it is asked for and bookmarks are wanted.
    State {
        /// Whether the bookmark that ends the initial events is sent.
        end_bookmark: bool,
    },
    /// With what happens from now on.
    Now,
    /// After a revision.
    After(u64),
    /// It fails: with this error, as an event.
    Failed(Status),
}

/// A running watch.
#[derive(Debug)]
pub struct Watcher {
    storage: Arc<Storage>,
    faults: Arc<Faults>,
    request: WatchRequest,
    /// The newest revision that the receiver knows about, or was spared by the filter.
    cursor: u64,
    initial: std::vec::IntoIter<Arc<Object>>,
    /// Owed once the initial state is sent.
    end_bookmark: bool,
    error: Option<Status>,
    /// Whether it has been level with the storage; only then can it fall behind.
    caught_up: bool,
    /// Whether a Table's columns have been named.
    columns_told: bool,
    ended: bool,
    next_bookmark: Instant,
    last_bookmark: Option<Instant>,
    deadline: Instant,
    /// Below this, a bookmark would say less than the client knows.
    started_at: u64,
    written: watch::Receiver<u64>,
    cuts: watch::Receiver<u64>,
    stalled: watch::Receiver<bool>,
}

/// What happens next.
#[derive(Debug)]
pub enum Step {
    /// These are sent, each a message of its own.
    Frames(Vec<String>),
    /// The watch is over: an ordinary close.
    End,
    /// The connection is dropped without a word.
    Cut,
}

impl Watcher {
    /// Starts a watch now.
    pub fn new(storage: Arc<Storage>, faults: Arc<Faults>, request: WatchRequest) -> Self {
        let now = Instant::now();
        let written = storage.written(&request.resource);
        let (mut initial, mut end_bookmark, mut error, mut cursor) = (Vec::new(), false, None, 0);
        match &request.start {
            Start::State { end_bookmark: wanted } => {
                let (revision, objects) = storage.snapshot(&request.resource, &request.filter);
                (initial, cursor, end_bookmark) = (objects, revision, *wanted && request.bookmarks);
            }
            Start::Now => cursor = storage.revision(),
            Start::After(revision) => {
                let oldest = storage.oldest(&request.resource);
                cursor = *revision;
                error = (*revision < oldest).then(|| Status::too_old(*revision, oldest));
            }
            Start::Failed(status) => error = Some(status.clone()),
        }
        let deadline = now + request.timeout;
        Self {
            cursor,
            initial: initial.into_iter(),
            end_bookmark,
            error,
            caught_up: false,
            columns_told: false,
            ended: false,
            next_bookmark: now + request.bookmark_every,
            last_bookmark: deadline.checked_sub(LAST_BOOKMARK).filter(|at| *at > now),
            deadline,
            started_at: cursor,
            written,
            cuts: faults.cuts(&request.resource),
            stalled: faults.stalled(),
            storage,
            faults,
            request,
        }
    }

    /// Resolves once the connection shall be dropped, even while it is busy sending.
    pub fn cut(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut cuts = self.cuts.clone();
        async move {
            if cuts.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits for what happens next. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Step {
        loop {
            if self.cuts.has_changed().unwrap_or(true) {
                return Step::Cut;
            }
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
                _ = self.written.changed() => {}
                _ = self.cuts.changed() => return Step::Cut,
                _ = self.stalled.changed() => {}
                () = sleep_until(bookmark.min(self.deadline)) => {}
            }
        }
    }

    fn bookmark_due(&self) -> Instant {
        self.last_bookmark.map_or(self.next_bookmark, |last| last.min(self.next_bookmark))
    }

    /// What can be said without waiting.
    fn step(&mut self) -> Option<Step> {
        if self.ended || Instant::now() >= self.deadline {
            return Some(Step::End);
        }
        if let Some(error) = self.error.take() {
            self.ended = true;
            return Some(Step::Frames(vec![format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", error.to_json())]));
        }
        if self.initial.len() > 0 {
            let objects: Vec<_> = self.initial.by_ref().take(BLOCK).collect();
            return Some(Step::Frames(objects.iter().map(|object| self.frame("ADDED", object)).collect()));
        }
        if std::mem::take(&mut self.end_bookmark) {
            return Some(Step::Frames(vec![self.bookmark(r#","annotations":{"k8s.io/initial-events-end":"true"}"#)]));
        }
        // Marked as seen before the look, so a write after it wakes the wait.
        self.written.mark_unchanged();
        loop {
            let Ok(news) = self.storage.news(&self.request.resource, self.cursor, BLOCK) else {
                return Some(Step::End);
            };
            if self.caught_up && news.waiting > self.faults.backlog() {
                return Some(Step::End);
            }
            let Some(last) = news.events.last() else {
                self.caught_up = true;
                self.cursor = self.cursor.max(news.revision);
                return self.bookmark_step();
            };
            self.cursor = last.object.revision;
            let frames: Vec<String> = news.events.iter().filter_map(|event| self.frame_of(event)).collect();
            if !frames.is_empty() {
                return Some(Step::Frames(frames));
            }
        }
    }

    fn bookmark_step(&mut self) -> Option<Step> {
        let now = Instant::now();
        if !self.request.bookmarks || self.bookmark_due() > now {
            return None;
        }
        self.next_bookmark = now + self.request.bookmark_every;
        self.last_bookmark = self.last_bookmark.filter(|last| *last > now);
        // A watch from a revision that is still to come gets no bookmark that would lead it back.
        let advanced = self.storage.revision() >= self.started_at;
        advanced.then(|| Step::Frames(vec![self.bookmark("")]))
    }

    fn bookmark(&self, annotations: &str) -> String {
        let metadata = format!("\"resourceVersion\":\"{}\"{annotations}", self.cursor);
        frame("BOOKMARK", &self.request.form.bookmark(&self.request.resource, &metadata))
    }

    /// The first event of a Table's watch names the columns.
    fn frame(&mut self, event_type: &str, object: &Object) -> String {
        let with_columns = !std::mem::replace(&mut self.columns_told, true);
        frame(event_type, &self.request.form.object(&self.request.resource, object, with_columns))
    }

    /// An event as this watch's filter sees it: entering its selection is ADDED, leaving it is DELETED.
    fn frame_of(&mut self, event: &Event) -> Option<String> {
        let filter = &self.request.filter;
        let before = event.previous.as_deref().filter(|object| filter.matches(object));
        let after = filter.matches(&event.object);
        match (event.event_type, before) {
            (EventType::Deleted, Some(_)) => Some(self.frame("DELETED", &event.object)),
            (EventType::Deleted, None) => None,
            (_, None) => after.then(|| self.frame("ADDED", &event.object)),
            (_, Some(_)) if after => Some(self.frame("MODIFIED", &event.object)),
            (_, Some(before)) => Some(self.frame("DELETED", &before.at_revision(event.object.revision))),
        }
    }
}

fn frame(event_type: &str, object: &str) -> String {
    ["{\"type\":\"", event_type, "\",\"object\":", object, "}\n"].concat()
}
