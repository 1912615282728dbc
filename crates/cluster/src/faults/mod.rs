//! Injected faults.
//!
//! ```text
//! request ─► answers ─► endpoints ─► watcher ─► endpoints/connection ─► HTTP or WebSocket
//!              ▲                                       ▲
//!              └── rules (rule, grammar, about) ───────┘ frames
//! ```
//!
//! There are two kinds of faults: rules in the syntax of [`grammar`], which are listed with the number of their strikes
//! and can be limited in number; and the plain switches of [`crate::control`]. Neither kind affects the cluster's own
//! controllers.

pub mod about;
pub mod answers;
pub mod frames;
pub mod grammar;
pub mod rule;
pub mod rules;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::Extensions;
use axum::http::request::Parts;

use crate::cacher::switches::Switches;
use crate::client::internal::Internal;
use crate::clock;
use crate::faults::about::About;
use crate::faults::answers::RequestOutcome;
use crate::faults::rule::{Rule, Spec};
use crate::faults::rules::Rules;
use crate::resources::registry::Registry;
use crate::resources::resource::Resource;
use crate::storage::restartable::RestartableMemory;

/// The faults that are on. The control endpoints change them.
#[derive(Debug, Default)]
pub struct Faults {
    forbidden: Mutex<HashSet<(String, usize)>>,
    switches: Arc<Switches>,
    without_watch_list: AtomicBool,
    without_logs: AtomicBool,
    rules: Arc<Rules>,
    /// The storage, if it can be restarted.
    restartable: OnceLock<Arc<RestartableMemory>>,
}

impl Faults {
    /// No faults yet, for a storage that can be restarted.
    pub fn before(storage: Arc<RestartableMemory>) -> Self {
        Self { restartable: storage.into(), ..Self::default() }
    }

    /// The faults that apply to a request with these extensions: all that are on, or none for a request from inside.
    /// Faults are meant for clients that watch the cluster; if they cut off the cluster's own controllers, nothing
    /// would change any more.
    pub fn met_by(self: &Arc<Self>, extensions: &Extensions) -> Arc<Self> {
        if extensions.get::<Internal>().is_some() { Arc::default() } else { Arc::clone(self) }
    }

    /// The switches of running watches.
    pub fn switches(&self) -> &Arc<Switches> {
        &self.switches
    }

    /// The storage, if it can be restarted.
    pub fn restartable(&self) -> Option<&Arc<RestartableMemory>> {
        self.restartable.get()
    }

    /// The rules in the syntax of [`grammar`].
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Adds a rule.
    pub fn add(&self, spec: Spec) -> Arc<Rule> {
        let rule = self.rules.add(spec);
        clock::set_skew(self.rules.skew());
        rule
    }

    /// Removes the rule with a number, or all; returns how many were removed.
    pub fn clear(&self, id: Option<u64>) -> usize {
        let gone = self.rules.clear(id);
        clock::set_skew(self.rules.skew());
        gone
    }

    /// Applies the faults to a request. Returns after the delay that they cause.
    pub async fn strike(&self, registry: &Registry, parts: &Parts) -> RequestOutcome {
        if self.rules.all().is_empty() {
            return RequestOutcome::Passed(None);
        }
        answers::strike(&self.rules, &About::of(registry, parts)).await
    }

    /// Refuses a verb on a resource, and cuts its watches so that clients watch again and are refused.
    pub fn forbid(&self, verb: &str, resource: &Resource) {
        self.lock().insert((verb.to_owned(), resource.id));
        self.switches.cut(resource);
    }

    /// Ends a refusal.
    pub fn allow(&self, verb: &str, resource: &Resource) {
        self.lock().remove(&(verb.to_owned(), resource.id));
    }

    /// Whether a verb on a resource is refused.
    pub fn is_forbidden(&self, verb: &str, resource: &Resource) -> bool {
        // The key is a pair of owned values, so the set is searched; it is almost always empty.
        let is_forbidden = self.lock().iter().any(|(refused, id)| refused == verb && *id == resource.id);
        if is_forbidden {
            self.rules.count("forbid");
        }
        is_forbidden
    }

    /// Refuses logs, or ends that.
    pub fn forbid_logs(&self, on: bool) {
        self.without_logs.store(on, Ordering::Relaxed);
    }

    /// Whether logs are refused.
    pub fn refuses_logs(&self) -> bool {
        self.without_logs.load(Ordering::Relaxed)
    }

    /// Turns the feature gate WatchList off or on; it is on by default.
    pub fn set_watch_list(&self, on: bool) {
        self.without_watch_list.store(!on, Ordering::Relaxed);
    }

    /// Whether a watch may ask for initial events with `sendInitialEvents`. `matters` says whether the watch would get
    /// any: otherwise no fault is counted.
    pub fn has_watch_list(&self, about: &About, matters: bool) -> bool {
        let struck = matters && answers::lacks_watch_list(&self.rules, about);
        !struck && !self.without_watch_list.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(String, usize)>> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
