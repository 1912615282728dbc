//! The initial cluster: the same names and uids for the same seed and number of Pods.

pub mod model;
pub mod names;
pub mod objects;
pub mod pod;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::clock;
use crate::random::{self, Random};
use crate::resources::builtin::{CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, NODES, PODS, REPLICA_SETS, SERVICES};
use crate::storage::StorageError;
use crate::store::Store;
use model::{Container, Job, Node, Pod, PodState, ReplicaSet, Template, Workload};

/// The contents of a cluster.
#[derive(Debug)]
pub struct Population {
    pub nodes: Vec<Node>,
    /// Workloads with their Pods.
    pub workloads: Vec<Workload>,
    /// Jobs by number, because they are created and deleted.
    pub jobs: BTreeMap<usize, Job>,
}

/// About this many of 100 Pods have a problem at the start.
const TROUBLED_PERCENT: usize = 2;

/// Invents a cluster of about `pods` Pods.
pub fn make(random: &mut Random, seed: u64, pods: usize) -> Population {
    let now = clock::now();
    let nodes = make_nodes(random, seed, pods, now);
    let workloads = make_workloads(random, seed, pods, &nodes, now);
    Population { nodes, workloads, jobs: BTreeMap::new() }
}

/// Writes an invented cluster as if it had existed for days. Objects that exist already stay as they are.
///
/// The Namespaces are written last: as long as there are none, the cluster counts as incomplete, and the next start
/// writes the rest.
///
/// # Errors
/// When the storage fails.
pub async fn write(store: &Store, population: &Population, seed: u64) -> Result<(), StorageError> {
    let now = clock::now();
    for node in &population.nodes {
        store.create(&NODES, objects::node(node, now)).await?;
    }
    let created = now - 90 * 86_400;
    let all_namespaces = names::NAMESPACES.iter().map(|(name, ..)| *name).chain(names::EMPTY_NAMESPACES);
    for name in all_namespaces.clone() {
        let uid = random::uid(seed, &format!("configmaps/{name}"), 0);
        store.create(&CONFIG_MAPS, objects::root_certificate(name, &uid, created)).await?;
    }
    for (index, workload) in population.workloads.iter().enumerate() {
        store.create(&DEPLOYMENTS, objects::deployment(workload)).await?;
        for set in &workload.replica_sets {
            store.create(&REPLICA_SETS, objects::replica_set(workload, set, workload.created)).await?;
        }
        let uid = random::uid(seed, &format!("services/{}/{}", workload.namespace, workload.name), 0);
        let address = format!("10.96.{}.{}", index / 250 % 250, index % 250 + 1);
        store.create(&SERVICES, objects::service(workload, &uid, &address)).await?;
        let template = workload.template();
        for one in &workload.pods {
            store.create(&PODS, pod::draft(&template, one, &population.nodes)).await?;
        }
    }
    for name in all_namespaces {
        store.create(&NAMESPACES, objects::namespace(name, &random::uid(seed, name, 0), created)).await?;
    }
    Ok(())
}

fn make_nodes(random: &mut Random, seed: u64, pods: usize, now: i64) -> Vec<Node> {
    // A small cluster has few Pods per node; a node takes at most 110.
    let most = if pods > 3000 { 100 } else { 30 };
    (0..pods.div_ceil(most).max(3))
        .map(|index| {
            let name = format!("node-{}-{}", index + 1, random.suffix(4));
            Node {
                uid: random::uid(seed, &format!("nodes/{name}"), 0),
                name,
                ip: format!("172.{}.{}.{}", 16 + index / 62_500 % 16, index / 250 % 250, index % 250 + 1),
                cordoned: false,
                created: now - 86_400 * random.between(3, 60) as i64,
            }
        })
        .collect()
}

fn make_workloads(random: &mut Random, seed: u64, pods: usize, nodes: &[Node], now: i64) -> Vec<Workload> {
    let mut workloads = Vec::new();
    let mut made = 0;
    for (place, (namespace, percent, apps)) in names::NAMESPACES.iter().enumerate() {
        // The last namespace gets the rest of the rounding.
        let last = place + 1 == names::NAMESPACES.len();
        let share = if last { pods - made } else { (pods * percent / 100).min(pods - made) };
        made += share;
        // A workload has about five Pods, or more when the names run out.
        let count = (share / 5).clamp(1, apps.len() * (names::VARIANTS.len() + 1)).min(share);
        for index in 0..count {
            let replicas = share / count + usize::from(index < share % count);
            let app = apps[index % apps.len()];
            let name = match index / apps.len() {
                0 => app.to_owned(),
                variant => format!("{app}-{}", names::VARIANTS[variant - 1]),
            };
            workloads.push(make_workload(random, seed, (namespace, name, replicas), nodes, now));
        }
    }
    workloads
}

fn make_workload(
    random: &mut Random,
    seed: u64,
    (namespace, name, replicas): (&str, String, usize),
    nodes: &[Node],
    now: i64,
) -> Workload {
    let version = random.between(1, 40) as u32;
    let mut containers = vec![Container { name: name.clone(), image: image(namespace, &name, version) }];
    if random.chance(20) {
        let sidecar = *random.pick(&names::SIDECARS);
        containers.push(Container { name: sidecar.to_owned(), image: format!("registry.example/{sidecar}:2") });
    }
    let mut workload = Workload {
        uid: random::uid(seed, &format!("deployments/{namespace}/{name}"), 0),
        namespace: namespace.to_owned(),
        name,
        replicas,
        usual_replicas: replicas,
        version,
        replica_sets: Vec::new(),
        pods: Vec::new(),
        busy: false,
        created: now - random.between(3600, 30 * 86_400) as i64,
    };
    let set = new_replica_set(random, seed, &workload, containers.into());
    workload.replica_sets.push(set);
    let template = workload.template();
    for _ in 0..replicas {
        let since = (now - workload.created) as usize;
        let created = now - random.between(60, since) as i64;
        let mut pod = new_pod(random, seed, &template, nodes, created);
        (pod.hash, pod.containers) = (template.hash.clone(), Arc::clone(&template.containers));
        pod.state = PodState::Ready;
        pod.changed = created + 3;
        if random.chance(TROUBLED_PERCENT) {
            pod.state =
                *random.pick(&[PodState::BackOff, PodState::BackOff, PodState::Unready, PodState::ImagePullBackOff]);
            pod.restarts = if pod.state == PodState::BackOff { random.between(3, 40) as u32 } else { 0 };
        } else if random.chance(6) {
            pod.restarts = random.between(1, 4) as u32;
        }
        workload.pods.push(pod);
    }
    workload
}

/// The image of a workload's version.
pub fn image(namespace: &str, name: &str, version: u32) -> String {
    format!("registry.example/{namespace}/{name}:1.{version}")
}

/// A ReplicaSet for the next template of a workload.
pub fn new_replica_set(
    random: &mut Random,
    seed: u64,
    workload: &Workload,
    containers: Arc<[Container]>,
) -> ReplicaSet {
    let hash = random.suffix(9);
    let name = format!("{}-{hash}", workload.name);
    ReplicaSet {
        uid: random::uid(seed, &format!("replicasets/{}/{name}", workload.namespace), 0),
        name,
        hash,
        replicas: workload.replicas,
        revision: workload.replica_sets.last().map_or(1, |set| set.revision + 1),
        containers,
    }
}

/// A Pod of a template that has not been scheduled.
pub fn new_pod(random: &mut Random, seed: u64, template: &Template, nodes: &[Node], created: i64) -> Pod {
    let Template { prefix, namespace, .. } = template;
    let name = format!("{prefix}{}", random.suffix(5));
    let node = random.below(nodes.len());
    Pod {
        uid: random::uid(seed, &format!("pods/{namespace}/{name}"), 0),
        name,
        hash: String::new(),
        node,
        ip: format!("10.{}.{}.{}", node % 200 + 1, random.below(250), random.between(2, 250)),
        containers: Arc::new([]),
        state: PodState::Pending,
        restarts: 0,
        created,
        changed: created,
        deleting: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::object::Fields;

    #[test]
    fn no_rollout_goes_on_where_a_pod_of_long_ago_fails() {
        let mut failing = 0;
        for seed in 0..10 {
            for workload in make(&mut Random::new(seed), seed, 300).workloads {
                failing += usize::from(workload.pods.iter().any(|pod| pod.state != PodState::Ready));
                let Fields::Parsed(fields) = objects::deployment(&workload).fields else { panic!("it is not parsed") };
                let reasons: Vec<&str> = fields["status"]["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|condition| condition["type"] == "Progressing")
                    .filter_map(|condition| condition["reason"].as_str())
                    .collect();
                assert_eq!(reasons, ["NewReplicaSetAvailable"], "{}", workload.name);
            }
        }
        assert!(failing > 10, "{failing} Deployments with a Pod that fails");
    }
}
