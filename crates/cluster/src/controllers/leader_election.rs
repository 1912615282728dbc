//! One manager at a time, agreed upon through a Lease: client-go's `tools/leaderelection`.
//!
//! Whoever writes its name into the Lease leads, and renews it. The others take it over when it has not changed for its
//! duration, by their own clocks: what clocks say is compared with nothing but itself.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::events::Recorder;
use super::object;
use crate::client::api_error::ApiError;
use crate::client::resources::LEASES;
use crate::client::rest::Client;
use crate::clock;
use crate::random::Random;

/// Where the Lease is.
pub const NAMESPACE: &str = "kube-system";
/// A candidate waits up to so many times the retry period more (`JitterFactor`).
const JITTER: f64 = 1.2;

/// How long a Lease lasts. The defaults are kube-controller-manager's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// A Lease that has not changed for so long can be taken over (`--leader-elect-lease-duration`).
    pub lease: Duration,
    /// A leader that could not renew for so long leads no longer (`--leader-elect-renew-deadline`); less than the lease.
    pub renew: Duration,
    /// Between two attempts (`--leader-elect-retry-period`).
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
    /// Name of the Lease.
    name: &'static str,
    identity: String,
    timing: Timing,
    random: Random,
    /// The Lease as it was last seen to change, and when that was.
    observed: Option<(Value, Instant)>,
}

impl LeaderElector {
    /// A candidate called `identity`, which no other is, for the Lease of this name.
    pub fn new(client: Client, recorder: Recorder, name: &'static str, identity: String, timing: Timing) -> Self {
        let random = Random::new(identity.bytes().fold(0, |sum, byte| sum << 5 ^ sum >> 3 ^ u64::from(byte)));
        Self { client, recorder, name, identity, timing, random, observed: None }
    }

    /// Waits until it leads.
    pub async fn acquire(&mut self) {
        while !self.try_acquire_or_renew().await {
            let share = self.random.below(1 << 20) as f64 / f64::from(1 << 20);
            sleep(self.timing.retry.mul_f64(1.0 + JITTER * share)).await;
        }
        self.record("became leader");
    }

    /// Renews until that has not succeeded for too long: then it leads no longer, and must do nothing more in that name.
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

    /// Gives the Lease back, so that nobody needs to wait for its end (`ReleaseOnCancel`).
    pub async fn release(mut self) {
        // A renewal that was given up may still be carried out, before the Lease is read here or after it: then the
        // write is a conflict, and the Lease is this one's as before.
        loop {
            let Ok(lease) = self.client.get(&LEASES, NAMESPACE, self.name).await else { return };
            if *holder(&lease) != *self.identity {
                return;
            }
            match self.write(&released(lease)).await {
                Ok(()) => return self.record("stopped leading"),
                Err(error) if error.is_conflict() => {}
                // It comes to its end by itself.
                Err(_) => return,
            }
        }
    }

    /// Whether it was the leader when the Lease was last seen.
    fn leads(&self) -> bool {
        self.observed.as_ref().is_some_and(|(lease, _)| *holder(lease) == *self.identity)
    }

    /// Takes the Lease or renews it, if it may. Whether it leads now.
    async fn try_acquire_or_renew(&mut self) -> bool {
        // A leader need not look: only it writes, or else the write is a conflict.
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

    /// The Lease with this candidate as its holder as of now.
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

/// The Lease without a holder, for anybody to take at once.
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
