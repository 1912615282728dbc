//! The resources that the controllers use.

use kubechurn_client::api::resource::ApiResource;

const fn resource(group: &'static str, plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group, version: "v1", plural, kind, namespaced, cluster: "" }
}

pub const PODS: ApiResource = resource("", "pods", "Pod", true);
pub const NODES: ApiResource = resource("", "nodes", "Node", false);
/// Events of the core group.
pub const EVENTS: ApiResource = resource("", "events", "Event", true);
pub const NAMESPACES: ApiResource = resource("", "namespaces", "Namespace", false);
/// ServiceAccounts.
pub const SERVICE_ACCOUNTS: ApiResource = resource("", "serviceaccounts", "ServiceAccount", true);
/// ConfigMaps.
pub const CONFIG_MAPS: ApiResource = resource("", "configmaps", "ConfigMap", true);
/// PersistentVolumeClaims.
pub const CLAIMS: ApiResource = resource("", "persistentvolumeclaims", "PersistentVolumeClaim", true);
/// PersistentVolumes.
pub const VOLUMES: ApiResource = resource("", "persistentvolumes", "PersistentVolume", false);
/// StorageClasses.
pub const STORAGE_CLASSES: ApiResource = resource("storage.k8s.io", "storageclasses", "StorageClass", false);
pub const DEPLOYMENTS: ApiResource = resource("apps", "deployments", "Deployment", true);
/// ReplicaSets.
pub const REPLICA_SETS: ApiResource = resource("apps", "replicasets", "ReplicaSet", true);
/// StatefulSets.
pub const STATEFUL_SETS: ApiResource = resource("apps", "statefulsets", "StatefulSet", true);
/// DaemonSets.
pub const DAEMON_SETS: ApiResource = resource("apps", "daemonsets", "DaemonSet", true);
/// ControllerRevisions.
pub const CONTROLLER_REVISIONS: ApiResource = resource("apps", "controllerrevisions", "ControllerRevision", true);
pub const JOBS: ApiResource = resource("batch", "jobs", "Job", true);
/// CronJobs.
pub const CRON_JOBS: ApiResource = resource("batch", "cronjobs", "CronJob", true);
pub const LEASES: ApiResource = resource("coordination.k8s.io", "leases", "Lease", true);
/// CustomResourceDefinitions.
pub const DEFINITIONS: ApiResource =
    resource("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false);

/// The group and version as they stand in objects, such as `v1` or `apps/v1`.
pub fn api_version(resource: &ApiResource) -> String {
    match resource.group {
        "" => resource.version.to_owned(),
        group => format!("{group}/{}", resource.version),
    }
}
