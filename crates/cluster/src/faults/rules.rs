//! The rules that are on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;

use crate::faults::rule::{Effect, Rule, Spec};

/// The rules that are on, oldest first.
#[derive(Debug)]
pub struct Rules {
    all: RwLock<Arc<[Arc<Rule>]>>,
    /// Changes whenever a rule is added or removed.
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
    /// All rules.
    pub fn all(&self) -> Arc<[Arc<Rule>]> {
        Arc::clone(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a rule.
    pub fn add(&self, spec: Spec) -> Arc<Rule> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let rule = Arc::new(Rule::new(id, spec));
        self.change(|all| all.iter().cloned().chain([Arc::clone(&rule)]).collect());
        rule
    }

    /// Removes the rule with a number, or all; returns how many were removed.
    pub fn clear(&self, id: Option<u64>) -> usize {
        let mut gone = 0;
        self.change(|all| {
            let kept: Vec<_> = all.iter().filter(|rule| id.is_some_and(|id| rule.id != id)).cloned().collect();
            gone = all.len() - kept.len();
            kept.into()
        });
        gone
    }

    /// A receiver that changes whenever a rule is added or removed.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits until a rule is removed.
    pub async fn gone(&self, id: u64) {
        let mut changes = self.changes();
        while self.all().iter().any(|rule| rule.id == id) {
            // The sender lives as long as `self`.
            let _ = changes.changed().await;
        }
    }

    /// The sum of the skews of the clock, in seconds.
    pub fn skew(&self) -> i64 {
        let skew = |rule: &Arc<Rule>| if let Effect::Skew(seconds) = rule.spec.effect { seconds } else { 0 };
        self.all().iter().map(skew).fold(0, i64::saturating_add)
    }

    /// Counts one strike of a plain switch.
    pub fn count(&self, order: &'static str) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner).entry(order).or_default() += 1;
    }

    /// The counts of the plain switches: for `cut` the connections that it dropped, for `forbid` the requests that it
    /// refused, and for the others the number of calls.
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
