//! Faults on demand.
//!
//! ```text
//! request ─► answers ─► endpoints ─► watcher ─► endpoints/wire ─► HTTP or WebSocket
//!              ▲                                       ▲
//!              └── rules (rule, grammar, about) ───────┘ frames
//! ```
//!
//! Two kinds of faults: rules, in the words of [`grammar`], which are listed with how often they have struck and come to
//! an end by themselves; and the plain orders of [`crate::control`]. The cluster's own controllers meet neither.

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
use crate::client::insider::Insider;
use crate::clock;
use crate::faults::about::About;
use crate::faults::answers::Struck;
use crate::faults::rule::{Rule, Spec};
use crate::faults::rules::Rules;
use crate::resources::registry::Registry;
use crate::resources::resource::Resource;
use crate::storage::swap::Swap;

/// The switches; the control endpoints turn them.
#[derive(Debug, Default)]
pub struct Faults {
    forbidden: Mutex<HashSet<(String, usize)>>,
    switches: Arc<Switches>,
    without_watch_list: AtomicBool,
    rules: Arc<Rules>,
    /// The storage, if it can begin anew.
    restartable: OnceLock<Arc<Swap>>,
}

impl Faults {
    /// No faults, before a storage that can begin anew.
    pub fn before(storage: Arc<Swap>) -> Self {
        Self { restartable: storage.into(), ..Self::default() }
    }

    /// Those that a request with these extensions meets: all that are switched on, or none for an insider. Faults are
    /// made for whoever watches the cluster; a cluster whose own controllers were cut off would stand still.
    pub fn met_by(self: &Arc<Self>, extensions: &Extensions) -> Arc<Self> {
        if extensions.get::<Insider>().is_some() { Arc::default() } else { Arc::clone(self) }
    }

    /// The switches of running watches.
    pub fn switches(&self) -> &Arc<Switches> {
        &self.switches
    }

    /// The storage, if it can begin anew.
    pub fn restartable(&self) -> Option<&Arc<Swap>> {
        self.restartable.get()
    }

    /// The faults in the words of [`grammar`].
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Switches a fault on.
    pub fn add(&self, spec: Spec) -> Arc<Rule> {
        let rule = self.rules.add(spec);
        clock::set_skew(self.rules.skew());
        rule
    }

    /// Switches the fault with a number off, or all; answers how many went.
    pub fn clear(&self, id: Option<u64>) -> usize {
        let gone = self.rules.clear(id);
        clock::set_skew(self.rules.skew());
        gone
    }

    /// Lets the faults strike a request. It takes as long as they hold it back.
    pub async fn strike(&self, registry: &Registry, parts: &Parts) -> Struck {
        if self.rules.all().is_empty() {
            return Struck::Passed(None);
        }
        answers::strike(&self.rules, &About::of(registry, parts)).await
    }

    /// Refuses a verb on a resource, and cuts its watches: whoever watches comes back and is refused.
    pub fn forbid(&self, verb: &str, resource: &Resource) {
        self.lock().insert((verb.to_owned(), resource.id));
        self.switches.cut(resource);
    }

    /// Takes a refusal back.
    pub fn allow(&self, verb: &str, resource: &Resource) {
        self.lock().remove(&(verb.to_owned(), resource.id));
    }

    /// Whether a verb on a resource is refused.
    pub fn is_forbidden(&self, verb: &str, resource: &Resource) -> bool {
        // The key is a pair of owned values; the set is almost always empty.
        let is_forbidden = self.lock().iter().any(|(refused, id)| refused == verb && *id == resource.id);
        if is_forbidden {
            self.rules.count("forbid");
        }
        is_forbidden
    }

    /// Turns the feature gate WatchList on, as it is at first, or off.
    pub fn set_watch_list(&self, on: bool) {
        self.without_watch_list.store(!on, Ordering::Relaxed);
    }

    /// Whether a watch may ask for initial events with `sendInitialEvents`. `matters` tells whether it would get some:
    /// a fault strikes no other.
    pub fn has_watch_list(&self, about: &About, matters: bool) -> bool {
        let struck = matters && answers::lacks_watch_list(&self.rules, about);
        !struck && !self.without_watch_list.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(String, usize)>> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
