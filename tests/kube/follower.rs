//! One resource, followed by kube's `watcher` and, from the same stream, its `reflector`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::StreamExt;
use kube_client::api::{ApiResource, DynamicObject};
use kube_client::client::ClientBuilder;
use kube_client::core::GroupVersionKind;
use kube_client::{Api, Resource};
use kube_runtime::reflector::{self, Store};
use kube_runtime::utils::Backoff;
use kube_runtime::watcher::{self, Event};
use kube_runtime::{WatchStreamExt, reflector::store::Writer};
use tokio::task::JoinHandle;
use tower::util::MapRequestLayer;

use crate::cluster::State;

/// Follows a resource until it is dropped.
pub struct Follower {
    /// The path of the collection.
    pub path: String,
    heard: Arc<Mutex<Heard>>,
    watches: Arc<AtomicU64>,
    store: Store<DynamicObject>,
    task: JoinHandle<()>,
}

/// What a follower has shown so far.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// The number of watch requests.
    pub watches: u64,
    /// How often everything was listed, or streamed, to the end.
    pub relists: u64,
    /// The number of changes that watches brought.
    pub changes: u64,
    /// The errors, in kube's words.
    pub errors: Vec<String>,
}

/// The state that the watcher's events add up to.
#[derive(Default)]
struct Heard {
    counts: Counts,
    state: State,
    /// The objects since `Init`. They replace the state at `InitDone`.
    coming: State,
}

impl Follower {
    /// Starts to follow a resource, given as its apiVersion, kind and plural.
    pub fn start(url: &str, (api_version, kind, plural): (&str, &str, &str), config: watcher::Config) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
        let prefix = if group.is_empty() { "/api" } else { "/apis" };
        let watches = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&watches);
        // Only the requests show a cut connection: kube treats a cut watch like one that ended, and sends the next
        // request.
        let count = MapRequestLayer::new(move |request: http::Request<kube_client::client::Body>| {
            let query = request.uri().query().unwrap_or_default();
            counted.fetch_add(u64::from(query.contains("watch=true")), Ordering::Relaxed);
            request
        });
        let address = url.parse().expect("the cluster's address is a URI");
        let client = ClientBuilder::try_from(kube_client::Config::new(address)).expect("a client");
        let api: Api<DynamicObject> = Api::all_with(client.with_layer(&count).build(), &resource);
        let writer = Writer::new(resource);
        let store = writer.as_reader();
        let heard = Arc::<Mutex<Heard>>::default();
        let events = reflector::reflector(writer, watcher::watcher(api, config).backoff(Soon));
        let sink = Arc::clone(&heard);
        let task = tokio::spawn(events.for_each(move |event| {
            lock(&sink).hear(event);
            std::future::ready(())
        }));
        Self { path: format!("{prefix}/{api_version}/{plural}"), heard, watches, store, task }
    }

    /// The state from the watcher's events, and the content of the reflector's store.
    pub fn state(&self) -> (State, State) {
        let store = self.store.state();
        (lock(&self.heard).state.clone(), store.iter().map(|object| entry(object)).collect())
    }

    /// What the follower has shown so far.
    pub fn counts(&self) -> Counts {
        Counts { watches: self.watches.load(Ordering::Relaxed), ..lock(&self.heard).counts.clone() }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Heard {
    fn hear(&mut self, event: watcher::Result<Event<DynamicObject>>) {
        match event {
            Ok(Event::Init) => self.coming.clear(),
            Ok(Event::InitApply(object)) => self.coming.extend([entry(&object)]),
            Ok(Event::InitDone) => {
                self.state = std::mem::take(&mut self.coming);
                self.counts.relists += 1;
            }
            Ok(Event::Apply(object)) => {
                self.state.extend([entry(&object)]);
                self.counts.changes += 1;
            }
            Ok(Event::Delete(object)) => {
                self.state.remove(&entry(&object).0);
                self.counts.changes += 1;
            }
            Err(error) => self.counts.errors.push(error.to_string()),
        }
    }
}

fn entry(object: &DynamicObject) -> ((String, String), (String, String)) {
    let metadata = object.meta();
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    ((text(&metadata.namespace), text(&metadata.name)), (text(&metadata.uid), text(&metadata.resource_version)))
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().expect("no holder panics")
}

/// Retries at once, to keep the test short; kube's own waits grow to 30 s.
struct Soon;

impl Iterator for Soon {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
}

impl Backoff for Soon {
    fn reset(&mut self) {}
}
