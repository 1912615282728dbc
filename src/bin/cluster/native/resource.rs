//! The resources this server knows, as data: paths, kinds, and what a bookmark of each looks like.

/// One resource of the API.
#[derive(Debug)]
pub struct Resource {
    /// Its place in [`RESOURCES`], and so in the storage.
    pub index: usize,
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Name in paths, such as `pods`.
    pub plural: &'static str,
    /// Name of one, such as `pod`.
    pub singular: &'static str,
    /// Kind of its objects, such as `Pod`.
    pub kind: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What kubectl also takes for it.
    pub short_names: &'static [&'static str],
    /// Whether `kubectl get all` shows it.
    pub in_all: bool,
    /// Whether it has a `status` subresource.
    pub has_status: bool,
    /// The fields beside `metadata` in a bookmark: Go's zero values, as the real server sends them.
    pub bookmark_fields: &'static str,
}

/// The verbs of every resource here.
pub const VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];

/// Pods.
pub static PODS: &Resource = &RESOURCES[0];
/// Nodes.
pub static NODES: &Resource = &RESOURCES[1];
/// Events of the core group.
pub static EVENTS: &Resource = &RESOURCES[2];
/// Namespaces.
pub static NAMESPACES: &Resource = &RESOURCES[3];
/// Services.
pub static SERVICES: &Resource = &RESOURCES[4];
/// ConfigMaps.
pub static CONFIG_MAPS: &Resource = &RESOURCES[5];
/// Deployments.
pub static DEPLOYMENTS: &Resource = &RESOURCES[6];
/// ReplicaSets.
pub static REPLICA_SETS: &Resource = &RESOURCES[7];
/// Jobs.
pub static JOBS: &Resource = &RESOURCES[10];

/// All of them.
pub static RESOURCES: [Resource; 11] = [
    Resource {
        short_names: &["po"],
        in_all: true,
        bookmark_fields: r#","spec":{"containers":null},"status":{}"#,
        ..resource(0, "", "pods", "pod", "Pod")
    },
    Resource {
        namespaced: false,
        short_names: &["no"],
        bookmark_fields: r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
        ..resource(1, "", "nodes", "node", "Node")
    },
    Resource {
        short_names: &["ev"],
        has_status: false,
        bookmark_fields: r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
        ..resource(2, "", "events", "event", "Event")
    },
    Resource {
        namespaced: false,
        short_names: &["ns"],
        bookmark_fields: r#","spec":{},"status":{}"#,
        ..resource(3, "", "namespaces", "namespace", "Namespace")
    },
    Resource {
        short_names: &["svc"],
        in_all: true,
        bookmark_fields: r#","spec":{},"status":{"loadBalancer":{}}"#,
        ..resource(4, "", "services", "service", "Service")
    },
    Resource { short_names: &["cm"], has_status: false, ..resource(5, "", "configmaps", "configmap", "ConfigMap") },
    Resource {
        short_names: &["deploy"],
        in_all: true,
        bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#,
        ..resource(6, "apps", "deployments", "deployment", "Deployment")
    },
    Resource {
        short_names: &["rs"],
        in_all: true,
        bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#,
        ..resource(7, "apps", "replicasets", "replicaset", "ReplicaSet")
    },
    Resource {
        short_names: &["sts"],
        in_all: true,
        bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#,
        ..resource(8, "apps", "statefulsets", "statefulset", "StatefulSet")
    },
    Resource {
        short_names: &["ds"],
        in_all: true,
        bookmark_fields: r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#,
        ..resource(9, "apps", "daemonsets", "daemonset", "DaemonSet")
    },
    Resource {
        in_all: true,
        bookmark_fields: r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#,
        ..resource(10, "batch", "jobs", "job", "Job")
    },
];

const fn resource(
    index: usize,
    group: &'static str,
    plural: &'static str,
    singular: &'static str,
    kind: &'static str,
) -> Resource {
    Resource {
        index,
        group,
        plural,
        singular,
        kind,
        namespaced: true,
        short_names: &[],
        in_all: false,
        has_status: true,
        bookmark_fields: "",
    }
}

impl Resource {
    /// Group and version as objects carry them: `v1`, `apps/v1`.
    pub fn api_version(&self) -> &'static str {
        match self.group {
            "" => "v1",
            "apps" => "apps/v1",
            _ => "batch/v1",
        }
    }

    /// The name in error messages: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The storage key of an object. One string, because etcd sorts on `namespace/name` as a whole: the
    /// namespace `a-b` comes before `a`, which a pair would turn round.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }
}

/// The resource of a group and a plural name.
pub fn by_plural(group: &str, plural: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|resource| resource.group == group && resource.plural == plural)
}

/// The resource of an object's apiVersion and kind.
pub fn by_kind(api_version: &str, kind: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|resource| resource.api_version() == api_version && resource.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        for (index, resource) in RESOURCES.iter().enumerate() {
            assert_eq!(resource.index, index, "{}", resource.plural);
            let bookmark = format!("{{\"kind\":\"x\"{}}}", resource.bookmark_fields);
            assert!(serde_json::from_str::<serde_json::Value>(&bookmark).is_ok(), "{bookmark}");
        }
        assert_eq!([PODS.kind, JOBS.kind, REPLICA_SETS.kind], ["Pod", "Job", "ReplicaSet"]);
        assert_eq!(by_kind("apps/v1", "Deployment").map(Resource::qualified), Some("deployments.apps".to_owned()));
    }
}
