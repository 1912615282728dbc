//! Starts, pauses and ends scenarios.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::Scenario;
use super::population::{self, Population};
use super::storm::{Order, Storm};
use super::users::Environment;
use crate::client::rest::Client;
use crate::random::Random;
use crate::resources::builtin::{NAMESPACES, SYSTEM_NAMESPACES};
use crate::storage::StorageError;
use crate::store::{ListQuery, Store};

/// Runs the scenarios.
#[derive(Debug)]
pub struct Runner {
    seed: u64,
    running: Mutex<BTreeMap<Scenario, AbortHandle>>,
    paused: watch::Sender<bool>,
    environment: OnceLock<Environment>,
    storm: OnceLock<mpsc::Sender<Order>>,
}

impl Runner {
    /// A runner that runs no scenario yet.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            running: Mutex::default(),
            paused: watch::Sender::new(false),
            environment: OnceLock::new(),
            storm: OnceLock::new(),
        }
    }

    /// Creates a cluster of about `pods` Pods, unless the storage has one already. With a rate, also starts the storm,
    /// which writes to the storage directly at that many writes per second.
    ///
    /// # Errors
    /// When the storage fails.
    pub async fn populate(&self, store: &Arc<Store>, pods: usize, rate: Option<f64>) -> Result<(), StorageError> {
        let mut random = Random::new(self.seed);
        let population = population::make(&mut random, self.seed, pods);
        if is_empty(store).await {
            population::write(store, &population, self.seed).await?;
        }
        if let Some(rate) = rate {
            self.storm(Arc::clone(store), population, random, rate);
        }
        Ok(())
    }

    fn storm(&self, store: Arc<Store>, population: Population, random: Random, rate: f64) {
        let (orders, inbox) = mpsc::channel(8);
        if self.storm.set(orders).is_ok() {
            tokio::spawn(Storm::new(store, population, random, self.seed).run(inbox, rate));
        }
    }

    /// Gives users this client, and starts the scenarios that they play.
    pub fn begin(&self, client: Client, scenarios: &[Scenario]) {
        let environment = Environment::new(client, self.seed, self.paused.subscribe());
        // A second call has no effect.
        let _ = self.environment.set(environment);
        for scenario in scenarios.iter().filter(|one| !one.is_load()) {
            self.start(*scenario);
        }
    }

    /// Keeps a Deployment, by namespace and name, out of the scenarios that users play.
    #[cfg(test)]
    pub fn reserve(&self, key: &str) {
        if let Some(environment) = self.environment.get() {
            environment.reserve(key);
        }
    }

    /// Starts a scenario that users play; returns false if that is not possible now.
    pub fn start(&self, scenario: Scenario) -> bool {
        let Some(environment) = self.environment.get() else { return false };
        let Some(play) = environment.play(scenario) else { return false };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.entry(scenario).or_insert_with(|| tokio::spawn(play).abort_handle());
        true
    }

    /// Ends a scenario at once; returns false if it was not running.
    pub fn end(&self, scenario: Scenario) -> bool {
        let ended = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&scenario);
        ended.is_some_and(|play| {
            play.abort();
            true
        })
    }

    /// The names of the running scenarios.
    pub fn playing(&self) -> Vec<&'static str> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.keys().map(|scenario| scenario.name()).collect()
    }

    /// Sets the storm's writes per second, and pauses the users at 0. Returns once the storm has made its last write at
    /// the old rate.
    pub async fn rate(&self, rate: f64) {
        self.paused.send_replace(rate == 0.0);
        let Some(storm) = self.storm.get() else { return };
        let (done, answer) = oneshot::channel();
        if storm.send(Order::Rate { rate, done }).await.is_ok() {
            let _ = answer.await;
        }
    }
}

/// Whether the storage has no cluster yet: only the system namespaces exist.
async fn is_empty(store: &Arc<Store>) -> bool {
    let found = store.list(&NAMESPACES, &ListQuery::default()).await;
    found.is_ok_and(|page| page.objects.iter().all(|one| SYSTEM_NAMESPACES.contains(&&*one.name)))
}
