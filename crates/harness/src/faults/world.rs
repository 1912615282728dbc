//! The chain from the page to its cluster: a relay, Trunk in every other world, `kubectl proxy`, another relay, and the demo
//! cluster with its ledger.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::{Cluster, Options};
use crate::judge::ledger::Ledger;
use crate::process::TemporaryFolder;
use crate::proxy::{KubectlProxy, TrunkServe};
use crate::relay::Relay;
use crate::wait::{holds, wait_until};

/// How many writes a second there are at least, over all kinds.
pub const RATE: u32 = 30;

/// By how much the revisions of a cluster are higher than those of the killed one before it.
const EPOCH: u64 = 1_000_000;

/// Everything that can be broken.
#[derive(Debug)]
pub struct World {
    /// The cluster, which a test asks directly.
    pub cluster: Cluster,
    /// The relay between `kubectl proxy` and the cluster.
    pub far: Relay,
    /// `kubectl proxy`.
    pub proxy: KubectlProxy,
    /// The relay between the page and the first proxy.
    pub near: Relay,
    /// Trunk in front of `kubectl proxy`, in every other world.
    pub trunk: Option<TrunkServe>,
    options: Options,
    /// The ledger of each cluster, if ledgers are kept.
    ledgers: Vec<PathBuf>,
    folder: TemporaryFolder,
    audited: bool,
}

impl World {
    /// A world on free ports, with this many Pods at first and this many writes a second. `audited` says whether cluster and
    /// page note what they send and receive, for the judge.
    pub async fn start(seed: u64, (pods, rate): (u32, u32), through_trunk: bool, audited: bool) -> Self {
        let folder = TemporaryFolder::new("ledger");
        let first = audited.then(|| folder.path().join("0.jsonl"));
        let options = Options { pods, rate, seed: seed + 1, ledger: first.clone(), ..Options::default() };
        let cluster = Cluster::start(&options).await;
        let far = Relay::start(cluster.port()).await;
        let (proxy, trunk) = if through_trunk {
            let proxy = KubectlProxy::start_plain(far.port()).await;
            let trunk = TrunkServe::start(proxy.port()).await;
            (proxy, Some(trunk))
        } else {
            (KubectlProxy::start(far.port()).await, None)
        };
        let near = Relay::start(trunk.as_ref().map_or(proxy.port(), TrunkServe::port)).await;
        Self { cluster, far, proxy, near, trunk, options, ledgers: first.into_iter().collect(), folder, audited }
    }

    /// The page's address, through the relay.
    pub fn url(&self) -> String {
        let (url, port) = match &self.trunk {
            Some(trunk) => (trunk.url(), trunk.port()),
            None => (self.proxy.url(), self.proxy.port()),
        };
        let url = url.replacen(&format!(":{port}/"), &format!(":{}/", self.near.port()), 1);
        if self.audited { format!("{url}?audit=1") } else { url }
    }

    /// Kills the cluster when everything that was sent is in its ledger.
    pub async fn kill_cluster(&mut self) {
        self.cluster.rate(0).await;
        if self.audited {
            self.ledger_is_written(self.cluster.revision().await).await;
        }
        self.cluster.kill().await;
    }

    /// Starts another cluster in the place of the one that was killed.
    pub async fn start_cluster(&mut self) {
        self.options.first_revision += EPOCH;
        self.options.seed += 1_000;
        if self.audited {
            let path = self.folder.path().join(format!("{}.jsonl", self.ledgers.len()));
            self.options.ledger = Some(path.clone());
            self.ledgers.push(path);
        }
        self.cluster.start_again(&self.options).await;
    }

    /// Waits until everything up to a revision is in the ledger, which then also has everything that was sent before.
    pub async fn ledger_is_written(&self, revision: u64) {
        wait_until("the ledger is written", Duration::from_secs(20), async || {
            let files = self.files();
            let newest = Ledger::read(&files[files.len() - 1..]).writes.iter().map(|write| write.revision).max();
            holds(newest >= Some(revision), || format!("{newest:?}, not {revision}"))
        })
        .await;
    }

    /// The ledgers' texts, one for each cluster.
    pub fn files(&self) -> Vec<String> {
        self.ledgers.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
    }
}
