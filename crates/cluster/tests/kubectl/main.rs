//! The real kubectl against the demo cluster: which command ends how, and what it prints.
//!
//! `KUBECTL` names kubectl, else it is the one on the path; where there is none, every test says how to get it.

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
