//! The faults that are switched on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;

use crate::faults::rule::{Effect, Rule, Spec};

/// The faults that are switched on, oldest first.
#[derive(Debug)]
pub struct Rules {
    all: RwLock<Arc<[Arc<Rule>]>>,
    /// Changes with each fault that comes or goes.
    changed: watch::Sender<()>,
    last_id: AtomicU64,
    orders: Mutex<BTreeMap<&'static str, u64>>,
}

impl Default for Rules {
    fn default() -> Self {
        let all = RwLock::new(Arc::from([]));
        Self { all, changed: watch::Sender::new(()), last_id: AtomicU64::new(0), orders: Mutex::default() }
    }
}

impl Rules {
    /// All of them.
    pub fn all(&self) -> Arc<[Arc<Rule>]> {
        Arc::clone(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Switches one on.
    pub fn add(&self, spec: Spec) -> Arc<Rule> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let rule = Arc::new(Rule::new(id, spec));
        self.change(|all| all.iter().cloned().chain([Arc::clone(&rule)]).collect());
        rule
    }

    /// Switches the one with a number off, or all; answers how many went.
    pub fn clear(&self, id: Option<u64>) -> usize {
        let mut gone = 0;
        self.change(|all| {
            let kept: Vec<_> = all.iter().filter(|rule| id.is_some_and(|id| rule.id != id)).cloned().collect();
            gone = all.len() - kept.len();
            kept.into()
        });
        gone
    }

    /// Changes with each fault that comes or goes.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits until a fault is taken back.
    pub async fn gone(&self, id: u64) {
        let mut changes = self.changes();
        while self.all().iter().any(|rule| rule.id == id) {
            // The sender lives as long as `self`.
            let _ = changes.changed().await;
        }
    }

    /// By how many seconds the clock is to be wrong.
    pub fn skew(&self) -> i64 {
        let skew = |rule: &Arc<Rule>| if let Effect::Skew(seconds) = rule.spec.effect { seconds } else { 0 };
        self.all().iter().map(skew).fold(0, i64::saturating_add)
    }

    /// Counts a stroke of one of the plain orders.
    pub fn count(&self, order: &'static str) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner).entry(order).or_default() += 1;
    }

    /// How often each of the plain orders has struck: `cut` the connections that it dropped, `forbid` the requests that
    /// it refused, the others how often they were given.
    pub fn orders(&self) -> BTreeMap<&'static str, u64> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&[Arc<Rule>]) -> Arc<[Arc<Rule>]>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        *all = change(&all);
        drop(all);
        self.changed.send_replace(());
    }
}
