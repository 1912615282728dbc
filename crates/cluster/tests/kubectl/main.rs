//! The real kubectl against the demo cluster: the exit codes of its commands, and their output.
//!
//! `KUBECTL` is the path of kubectl; without it, kubectl is searched for in `PATH`. If there is none, every test says
//! how to get it.

/// The cluster, and kubectl with a home folder of its own.
mod session;

/// A CustomResourceDefinition and its objects.
mod custom;
/// `kubectl logs`.
mod logs;
/// `kubectl proxy` in front of the cluster.
mod proxy;
/// `get` in its forms, and discovery.
mod reading;
/// Workloads that controllers and kubelets run.
mod running;
/// StatefulSets, DaemonSets and CronJobs.
mod workloads;
/// Commands that create, change and delete objects.
mod writing;
