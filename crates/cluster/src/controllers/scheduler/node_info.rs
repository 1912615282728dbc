//! What the scheduler knows about one node: its properties, and the resources in use.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::pod_view::{Container, PodView};
use super::super::{object, quantity};

/// The cpu that a container without a request counts for when nodes are scored, in thousandths
/// (`DefaultMilliCPURequest`).
const DEFAULT_MILLI_CPU_REQUEST: i64 = 100;
/// The memory that a container without a request counts for, in bytes (`DefaultMemoryRequest`).
const DEFAULT_MEMORY_REQUEST: i64 = 200 << 20;
/// The number of Pods that a node allows if it does not say.
const DEFAULT_MAX_PODS: i64 = 110;

/// Resources of one Pod, or of all Pods on a node.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Resources {
    /// In thousandths of a core.
    pub cpu: i64,
    /// In bytes.
    pub memory: i64,
    /// The number of Pods.
    pub pods: i64,
    /// As `cpu`, plus a default for each container without a request; used to score nodes.
    pub weighed_cpu: i64,
    /// As `memory`, plus a default for each container without a request; used to score nodes.
    pub weighed_memory: i64,
}

impl Resources {
    /// The requests of a Pod: the sum of its containers, or those of its largest init container if they are higher
    /// (`PodRequests`).
    pub fn of(pod: &PodView<'_>) -> Self {
        let mut sum = Self { pods: 1, ..Self::default() };
        for container in &pod.spec.containers {
            sum.add(&Self::of_container(container));
        }
        for container in &pod.spec.init_containers {
            let one = Self::of_container(container);
            sum.cpu = sum.cpu.max(one.cpu);
            sum.memory = sum.memory.max(one.memory);
            sum.weighed_cpu = sum.weighed_cpu.max(one.weighed_cpu);
            sum.weighed_memory = sum.weighed_memory.max(one.weighed_memory);
        }
        sum
    }

    fn of_container(container: &Container) -> Self {
        let requests = container.resources.requests.as_ref();
        let cpu = requests.map_or(0, |requests| quantity::milli(&requests.cpu)).clamp(0, i64::MAX >> 16);
        let memory = requests.map_or(0, |requests| quantity::whole(&requests.memory)).clamp(0, i64::MAX >> 16);
        let or = |amount: i64, unsaid: i64| if amount == 0 { unsaid } else { amount };
        let (weighed_cpu, weighed_memory) = (or(cpu, DEFAULT_MILLI_CPU_REQUEST), or(memory, DEFAULT_MEMORY_REQUEST));
        Self { cpu, memory, pods: 0, weighed_cpu, weighed_memory }
    }

    fn each(&mut self, other: &Self, change: impl Fn(i64, i64) -> i64) {
        self.cpu = change(self.cpu, other.cpu);
        self.memory = change(self.memory, other.memory);
        self.pods = change(self.pods, other.pods);
        self.weighed_cpu = change(self.weighed_cpu, other.weighed_cpu);
        self.weighed_memory = change(self.weighed_memory, other.weighed_memory);
    }

    /// Adds the requests of a Pod.
    pub fn add(&mut self, other: &Self) {
        self.each(other, i64::saturating_add);
    }

    /// Subtracts the requests of a Pod.
    pub fn sub(&mut self, other: &Self) {
        self.each(other, i64::saturating_sub);
    }
}

/// A taint.
#[derive(Debug, Clone, PartialEq)]
pub struct Taint {
    pub key: String,
    /// The value; may be empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// Whether the node exists; Pods may be bound to a node that does not.
    pub exists: bool,
    /// Whether it is cordoned.
    pub is_unschedulable: bool,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The resources available to Pods.
    pub allocatable: Resources,
    /// The requests of its Pods.
    pub requested: Resources,
}

impl NodeInfo {
    /// Updates the node; returns whether that may help a Pod that is waiting.
    pub fn set(&mut self, node: &Value) -> bool {
        let allocatable = |name: &str| &node["status"]["allocatable"][name];
        let pods = match allocatable("pods") {
            Value::Null => DEFAULT_MAX_PODS,
            pods => quantity::whole(pods),
        };
        let new = Self {
            name: object::name(node).to_owned(),
            exists: true,
            is_unschedulable: node["spec"]["unschedulable"] == true,
            taints: taints(node),
            labels: labels(node),
            allocatable: Resources {
                cpu: quantity::milli(allocatable("cpu")),
                memory: quantity::whole(allocatable("memory")),
                pods,
                ..Resources::default()
            },
            requested: self.requested,
        };
        let changed = *self != new;
        *self = new;
        changed
    }

    /// The score of a node for a Pod, from 0 to 100: the more cpu and memory remain, the higher (the plugin
    /// NodeResourcesFit with the strategy LeastAllocated).
    pub fn score(&self, pod: &Resources) -> i64 {
        let left = |has: i64, asked: i64| if has <= 0 || asked > has { 0 } else { (has - asked) * 100 / has };
        let cpu = left(self.allocatable.cpu, self.requested.weighed_cpu + pod.weighed_cpu);
        // In KiB, because a hundred times the bytes might overflow.
        let memory = left(self.allocatable.memory >> 10, (self.requested.weighed_memory + pod.weighed_memory) >> 10);
        (cpu + memory) / 2
    }
}

/// The taints of a node.
pub fn taints(node: &Value) -> Vec<Taint> {
    let text = |taint: &Value, field: &str| taint[field].as_str().unwrap_or_default().to_owned();
    let all = node["spec"]["taints"].as_array().into_iter().flatten();
    all.map(|one| Taint { key: text(one, "key"), value: text(one, "value"), effect: text(one, "effect") }).collect()
}

fn labels(node: &Value) -> BTreeMap<String, String> {
    let all = node["metadata"]["labels"].as_object().into_iter().flatten();
    all.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}
