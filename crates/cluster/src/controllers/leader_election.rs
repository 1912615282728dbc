//! Ensures that one manager at a time is active, by means of a Lease: client-go's `tools/leaderelection`.
//!
//! The candidate that writes its name into the Lease leads, and renews the Lease. The other candidates may take the
//! Lease over when it has not changed for its duration. Each measures that on its own clock, and never compares its
//! clock with times of another machine.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::events::Recorder;
use super::object;
use crate::client::api_error::ApiError;
use crate::client::resources::LEASES;
use crate::client::rest::Client;
use crate::clock;
use crate::random::Random;

/// The namespace of the Lease.
pub const NAMESPACE: &str = "kube-system";
/// The wait of a candidate is longer than the retry period by a random part, at most this many times the period
/// (`JitterFactor`).
const JITTER: f64 = 1.2;

/// The times of an election. The defaults are kube-controller-manager's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// A Lease that has not changed for this long can be taken over (`--leader-elect-lease-duration`).
    pub lease: Duration,
    /// A leader that could not renew for this long stops leading (`--leader-elect-renew-deadline`); less than the
    /// lease.
    pub renew: Duration,
    /// The time between two attempts (`--leader-elect-retry-period`).
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { lease: Duration::from_secs(15), renew: Duration::from_secs(10), retry: Duration::from_secs(2) }
    }
}

/// A candidate, or the leader.
#[derive(Debug)]
pub struct LeaderElector {
    client: Client,
    recorder: Recorder,
    /// The name of the Lease.
    name: &'static str,
    identity: String,
    timing: Timing,
    random: Random,
    /// The Lease at its last observed change, and the time of that.
    observed: Option<(Value, Instant)>,
}

impl LeaderElector {
    /// A candidate for the Lease of this name. `identity` must be unique among the candidates.
    pub fn new(client: Client, recorder: Recorder, name: &'static str, identity: String, timing: Timing) -> Self {
        let random = Random::new(identity.bytes().fold(0, |sum, byte| sum << 5 ^ sum >> 3 ^ u64::from(byte)));
        Self { client, recorder, name, identity, timing, random, observed: None }
    }

    /// Waits until this candidate leads.
    pub async fn acquire(&mut self) {
        while !self.try_acquire_or_renew().await {
            let share = self.random.below(1 << 20) as f64 / f64::from(1 << 20);
            sleep(self.timing.retry.mul_f64(1.0 + JITTER * share)).await;
        }
        self.record("became leader");
    }

    /// Renews the Lease; returns when that has not succeeded for too long. This candidate then no longer leads and must
    /// not act as the leader.
    pub async fn renew(&mut self) {
        let (retry, deadline) = (self.timing.retry, self.timing.renew);
        loop {
            let renewed = async {
                while !self.try_acquire_or_renew().await {
                    sleep(retry).await;
                }
            };
            if timeout(deadline, renewed).await.is_err() {
                return;
            }
            sleep(retry).await;
        }
    }

    /// Releases the Lease, so that no other candidate has to wait for its expiry (`ReleaseOnCancel`).
    pub async fn release(mut self) {
        // A renewal that was cancelled may still be carried out. If that happens between the read and the write here,
        // the write is a conflict and is tried again.
        loop {
            let Ok(lease) = self.client.get(&LEASES, NAMESPACE, self.name).await else { return };
            if *holder(&lease) != *self.identity {
                return;
            }
            match self.write(&released(lease)).await {
                Ok(()) => return self.record("stopped leading"),
                Err(error) if error.is_conflict() => {}
                // The Lease will expire by itself.
                Err(_) => return,
            }
        }
    }

    /// Whether this candidate was the leader when the Lease was last read.
    fn leads(&self) -> bool {
        self.observed.as_ref().is_some_and(|(lease, _)| *holder(lease) == *self.identity)
    }

    /// Acquires or renews the Lease if possible; returns whether this candidate leads now.
    async fn try_acquire_or_renew(&mut self) -> bool {
        // A leader need not read the Lease first: if another candidate has written it, the write is a conflict.
        if self.leads()
            && let Some((lease, _)) = self.observed.clone()
            && self.write(&self.renewed(&lease)).await.is_ok()
        {
            return true;
        }
        match self.client.get(&LEASES, NAMESPACE, self.name).await {
            Ok(lease) => self.observe(lease),
            Err(error) if error.is_not_found() => return self.create().await.is_ok(),
            Err(_) => return false,
        }
        let Some((lease, since)) = self.observed.clone() else { return false };
        if !holder(&lease).is_empty() && !self.leads() && since.elapsed() < self.timing.lease {
            return false;
        }
        self.write(&self.renewed(&lease)).await.is_ok()
    }

    /// The Lease with this candidate as its holder, renewed now.
    fn renewed(&self, lease: &Value) -> Value {
        let now = clock::micro_time(clock::time());
        let transitions = object::count(lease, "/spec/leaseTransitions");
        let (acquired, transitions) = match self.leads() {
            true => (lease["spec"]["acquireTime"].clone(), transitions),
            false => (now.clone().into(), transitions + 1),
        };
        let mut renewed = lease.clone();
        let spec = json!({"holderIdentity": self.identity, "leaseDurationSeconds": self.seconds(),
            "acquireTime": acquired, "renewTime": now, "leaseTransitions": transitions});
        object::set(&mut renewed, &["spec"], spec);
        renewed
    }

    async fn create(&mut self) -> Result<(), ApiError> {
        let now = clock::micro_time(clock::time());
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": self.name, "namespace": NAMESPACE},
            "spec": {"holderIdentity": self.identity, "leaseDurationSeconds": self.seconds(), "acquireTime": now,
                "renewTime": now, "leaseTransitions": 0}});
        let created = self.client.create(&LEASES, NAMESPACE, &lease).await?;
        self.observe(created);
        Ok(())
    }

    async fn write(&mut self, lease: &Value) -> Result<(), ApiError> {
        let written = self.client.update(&LEASES, lease).await?;
        self.observe(written);
        Ok(())
    }

    fn observe(&mut self, lease: Value) {
        if self.observed.as_ref().is_none_or(|(known, _)| known["spec"] != lease["spec"]) {
            self.observed = Some((lease, Instant::now()));
        } else if let Some((known, _)) = &mut self.observed {
            *known = lease;
        }
    }

    fn seconds(&self) -> u64 {
        self.timing.lease.as_secs().max(1)
    }

    fn record(&self, what: &str) {
        if let Some((lease, _)) = &self.observed {
            self.recorder.normal(lease, "LeaderElection", &format!("{} {what}", self.identity));
        }
    }
}

/// The Lease without a holder, so that any candidate can take it at once.
fn released(mut lease: Value) -> Value {
    let now = clock::micro_time(clock::time());
    let transitions = object::count(&lease, "/spec/leaseTransitions");
    let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now,
        "renewTime": now, "leaseTransitions": transitions});
    object::set(&mut lease, &["spec"], spec);
    lease
}

fn holder(lease: &Value) -> &str {
    object::text(lease, "/spec/holderIdentity")
}
