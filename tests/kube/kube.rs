//! kube-rs, a client that this project did not write, against the demo cluster: whatever happens to its connections,
//! its `watcher` and its `reflector` end in the state that an independent list shows.
//!
//! `KUBECHURN_CLUSTER` names the cluster's program. Without it, the project's debug build is used.

/// The cluster: its orders, and its lists as plain JSON.
mod cluster;
/// One resource followed by kube.
mod follower;

use kube_runtime::watcher::{Config, InitialListStrategy};

use kubechurn_harness::wait::{holds, wait_until};

use crate::cluster::Cluster;
use crate::follower::Follower;

/// Longer than anything here takes on the slowest machine.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// The followed resources: one that changes most, one that is listed in pages, and one of an API group.
const RESOURCES: &[(&str, &str, &str)] =
    &[("v1", "Pod", "pods"), ("v1", "Event", "events"), ("apps/v1", "ReplicaSet", "replicasets")];

/// A fault that the followers of Pods meet while everything changes.
struct Fault {
    name: &'static str,
    /// The orders that begin the fault.
    begin: &'static [&'static str],
    /// The sign that a follower has noticed the fault.
    noticed: Notice,
    /// The orders that end the fault.
    end: &'static [&'static str],
    /// The sign that a follower has noticed the end.
    recovered: Notice,
}

/// The sign to wait for, beyond what the follower had shown before the orders.
enum Notice {
    /// Another watch request.
    Watch,
    /// Another complete list.
    Relist,
    /// An error that contains these words.
    Error(&'static str),
    /// Another change.
    Change,
    /// No sign of the follower, because kube itself retries after some faults: the cluster has counted this many
    /// strikes.
    Struck(u64),
}

const FAULTS: &[Fault] = &[
    Fault { name: "churn alone", begin: &[], noticed: Notice::Change, end: &[], recovered: Notice::Change },
    Fault { name: "cut", begin: &["cut"], noticed: Notice::Watch, end: &[], recovered: Notice::Change },
    Fault {
        name: "watch forbidden, then allowed",
        begin: &["forbid?verb=watch&resource=pods"],
        noticed: Notice::Error("cannot watch resource"),
        end: &["allow?verb=watch&resource=pods"],
        recovered: Notice::Change,
    },
    Fault {
        name: "too many requests",
        begin: &["fault?status=429&verb=watch&resource=pods&times=2", "cut?resource=pods"],
        noticed: Notice::Struck(2),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "internal errors",
        begin: &["fault?status=500&verb=watch&resource=pods&times=2", "cut?resource=pods"],
        noticed: Notice::Struck(2),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "shutting down",
        begin: &["fault?status=503&verb=watch&resource=pods&times=2", "cut?resource=pods"],
        noticed: Notice::Struck(2),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "ended early",
        begin: &["fault?end=close&after=3&times=3&resource=pods"],
        noticed: Notice::Struck(3),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "dropped early",
        begin: &["fault?end=drop&after=3&times=3&resource=pods"],
        noticed: Notice::Struck(3),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "told twice",
        begin: &["fault?frame=duplicate&times=20&resource=pods"],
        noticed: Notice::Struck(20),
        end: &["clear"],
        recovered: Notice::Change,
    },
    Fault {
        name: "away while its revision expires",
        begin: &["forbid?verb=watch&resource=pods"],
        noticed: Notice::Error("cannot watch resource"),
        end: &["compact", "allow?verb=watch&resource=pods"],
        recovered: Notice::Relist,
    },
];

/// Faults that only a follower with a short timeout notices.
const STALLS: &[Fault] = &[Fault {
    name: "stalled beyond its patience",
    begin: &["stall?on=true"],
    noticed: Notice::Watch,
    end: &["stall?on=false"],
    recovered: Notice::Change,
}];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_then_watch_converges_whatever_happens() {
    check(InitialListStrategy::ListWatch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streaming_list_converges_whatever_happens() {
    check(InitialListStrategy::StreamingList).await;
}

async fn check(strategy: InitialListStrategy) {
    // The pages are smaller than the lists.
    let config = Config { initial_list_strategy: strategy, ..Config::default().page_size(17) };
    // A watch with a timeout of 1 s is given up after 6 s of silence. Other watches do not end by themselves during a
    // test.
    tokio::join!(play(config.clone(), FAULTS), play(config.timeout(1), STALLS));
}

/// Takes a cluster through each of the faults, and compares the states when it is quiet again.
async fn play(config: Config, faults: &[Fault]) {
    let cluster = Cluster::start().await;
    let followers = follow(&cluster, &config).await;
    for fault in faults {
        cluster.order("rate?value=200").await;
        let pods = &followers[0];
        carry_out(&cluster, pods, fault.name, fault.begin, &fault.noticed).await;
        if matches!(fault.recovered, Notice::Relist) {
            // Compaction does not concern a client that has missed nothing.
            wait_until(&format!("{}: something is missed", fault.name), DEADLINE, async || {
                holds(cluster.list(&pods.path).await != pods.state().0, || String::from("nothing is"))
            })
            .await;
        }
        carry_out(&cluster, pods, fault.name, fault.end, &fault.recovered).await;
        cluster.order("rate?value=0").await;
        converge(&cluster, &followers, fault.name).await;
    }
}

/// Followers of all resources, after their first lists.
async fn follow(cluster: &Cluster, config: &Config) -> Vec<Follower> {
    let start = |resource: &(_, _, _)| Follower::start(&cluster.url, *resource, config.clone());
    let followers: Vec<Follower> = RESOURCES.iter().map(start).collect();
    for follower in &followers {
        wait_until("the first list", DEADLINE, async || holds(follower.counts().relists > 0, String::new)).await;
    }
    followers
}

/// Waits until all followers have the state that a list shows.
async fn converge(cluster: &Cluster, followers: &[Follower], after: &str) {
    for follower in followers {
        // Controllers may still be working, and so each attempt lists again.
        wait_until(&format!("{after}: {} are as listed", follower.path), DEADLINE, async || {
            let truth = cluster.list(&follower.path).await;
            let may_be_empty = follower.path.ends_with("/events");
            assert!(may_be_empty || !truth.is_empty(), "{}: there is something to agree on", follower.path);
            let (watcher, reflector) = follower.state();
            holds(watcher == truth && reflector == truth, || {
                format!("{} watched, {} in the store, {} in truth", watcher.len(), reflector.len(), truth.len())
            })
        })
        .await;
    }
}

/// Another cluster at the same address: the versions of the first one expire, and nothing of it is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_begins_anew_is_listed_anew() {
    for strategy in [InitialListStrategy::ListWatch, InitialListStrategy::StreamingList] {
        let mut cluster = Cluster::start_replaceable().await;
        let followers = follow(&cluster, &Config { initial_list_strategy: strategy, ..Config::default() }).await;
        converge(&cluster, &followers, "the first cluster").await;
        let before: Vec<_> = followers.iter().map(|follower| follower.state().0).collect();
        cluster.replace(&["--seed", "2", "--first-revision", "1000000"]).await;
        converge(&cluster, &followers, "the second cluster").await;
        for (follower, before) in followers.iter().zip(before) {
            let (now, counts) = (follower.state().0, follower.counts());
            assert!(now.values().all(|entry| before.values().all(|old| old != entry)), "{}: all is new", follower.path);
            assert!(counts.errors.iter().any(|error| error.contains("too old resource version")), "{counts:?}");
        }
    }
}

/// Sends orders, and waits until a follower has noticed them.
async fn carry_out(cluster: &Cluster, follower: &Follower, name: &str, orders: &[&str], notice: &Notice) {
    let before = follower.counts();
    for order in orders {
        cluster.order(order).await;
    }
    wait_until(&format!("{name}: {orders:?} is noticed"), DEADLINE, async || {
        let (now, strikes) = (follower.counts(), cluster.strikes().await);
        let noticed = match notice {
            Notice::Watch => now.watches > before.watches,
            Notice::Relist => now.relists > before.relists,
            Notice::Struck(times) => strikes >= *times,
            Notice::Change => now.changes > before.changes,
            Notice::Error(words) => now.errors[before.errors.len()..].iter().any(|error| error.contains(words)),
        };
        holds(noticed, || format!("{strikes} strikes, {now:?}"))
    })
    .await;
}
