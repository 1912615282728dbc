//! The real kubectl against the demo cluster: which command ends how, and what it prints.
//!
//! `KUBECTL` names kubectl, else it is the one on the path; where there is none, every test says how to get it.
#![cfg(not(target_arch = "wasm32"))]

// A process that cannot outlive its test, the programs that a test needs, and waiting: the browser tests' own.
#[allow(dead_code, reason = "the browser tests use the same, and each uses another part")]
#[path = "../browser/harness"]
mod harness {
    pub mod process;
    pub mod tools;
    pub mod wait;
}

/// The cluster, and kubectl with a home of its own.
mod session;

/// A CustomResourceDefinition and its objects.
mod custom;
/// `kubectl proxy` before the cluster.
mod proxy;
/// `get` in its forms, and what there is to get.
mod reading;
/// Workloads that controllers and kubelets run.
mod running;
/// StatefulSets, DaemonSets and CronJobs.
mod workloads;
/// What creates, changes and deletes objects.
mod writing;
