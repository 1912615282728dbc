//! The built-in resources, as data, in the order of discovery.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use kubechurn_client::api::release::Release;

use crate::resources::columns::Columns;
use crate::resources::resource::{Resource, ScalePaths};

/// The release of Kubernetes that the demo cluster claims to be.
pub const RELEASE: Release = Release { major: 1, minor: 35 };

/// The namespaces that every cluster has: pkg/controlplane/controller/systemnamespaces.
pub const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// A built-in resource; a reference to it serves as a `&Resource`.
pub type BuiltIn = LazyLock<Arc<Resource>>;

pub static PODS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[0]));
pub static NODES: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[1]));
/// Events of the core group.
pub static EVENTS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[2]));
pub static NAMESPACES: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[3]));
pub static SERVICES: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[4]));
/// ConfigMaps.
pub static CONFIG_MAPS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[5]));
pub static DEPLOYMENTS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[6]));
/// ReplicaSets.
pub static REPLICA_SETS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[7]));
pub static JOBS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[10]));
/// CustomResourceDefinitions.
pub static DEFINITIONS: BuiltIn = LazyLock::new(|| Arc::clone(&RESOURCES[11]));

/// All built-in resources. The position of each is its id.
pub static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| table().into_iter().map(Arc::new).collect());

fn table() -> [Resource; 43] {
    [
        Resource {
            short_names: "po".into(),
            categories: ALL,
            has_status: true,
            has_generation: true,
            selectable: &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.nominatedNodeName",
            ],
            bookmark_fields: r#","spec":{"containers":null},"status":{}"#,
            ..resource(0, "v1", "pods", "pod", "Pod")
        },
        Resource {
            namespaced: false,
            short_names: "no".into(),
            has_status: true,
            selectable: &["spec.unschedulable"],
            bookmark_fields: r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
            ..resource(1, "v1", "nodes", "node", "Node")
        },
        Resource {
            short_names: "ev".into(),
            selectable: &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
            ],
            bookmark_fields: r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
            ..resource(2, "v1", "events", "event", "Event")
        },
        Resource {
            namespaced: false,
            short_names: "ns".into(),
            has_status: true,
            selectable: &["status.phase"],
            bookmark_fields: r#","spec":{},"status":{}"#,
            ..resource(3, "v1", "namespaces", "namespace", "Namespace")
        },
        Resource {
            short_names: "svc".into(),
            categories: ALL,
            has_status: true,
            selectable: &["spec.clusterIP", "spec.type"],
            bookmark_fields: r#","spec":{},"status":{"loadBalancer":{}}"#,
            ..resource(4, "v1", "services", "service", "Service")
        },
        Resource { short_names: "cm".into(), ..resource(5, "v1", "configmaps", "configmap", "ConfigMap") },
        Resource {
            short_names: "deploy".into(),
            bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#,
            ..scalable(6, "deployments", "deployment", "Deployment")
        },
        Resource {
            short_names: "rs".into(),
            selectable: &["status.replicas"],
            bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#,
            ..scalable(7, "replicasets", "replicaset", "ReplicaSet")
        },
        Resource {
            short_names: "sts".into(),
            bookmark_fields: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#,
            ..scalable(8, "statefulsets", "statefulset", "StatefulSet")
        },
        Resource {
            short_names: "ds".into(),
            scale: None,
            bookmark_fields: r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#,
            ..scalable(9, "daemonsets", "daemonset", "DaemonSet")
        },
        Resource {
            categories: ALL,
            has_status: true,
            has_generation: true,
            selectable: &["status.successful"],
            bookmark_fields: r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#,
            ..resource(10, "batch/v1", "jobs", "job", "Job")
        },
        Resource {
            namespaced: false,
            short_names: "crd crds".into(),
            categories: "api-extensions".into(),
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}"#,
            ..resource(
                11,
                "apiextensions.k8s.io/v1",
                "customresourcedefinitions",
                "customresourcedefinition",
                "CustomResourceDefinition",
            )
        },
        Resource {
            short_names: "cj".into(),
            categories: ALL,
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}"#,
            ..resource(12, "batch/v1", "cronjobs", "cronjob", "CronJob")
        },
        Resource {
            bookmark_fields: r#","revision":0"#,
            ..resource(13, "apps/v1", "controllerrevisions", "controllerrevision", "ControllerRevision")
        },
        Resource { selectable: &["type"], ..resource(14, "v1", "secrets", "secret", "Secret") },
        Resource {
            short_names: "sa".into(),
            ..resource(15, "v1", "serviceaccounts", "serviceaccount", "ServiceAccount")
        },
        Resource { short_names: "ep".into(), ..resource(16, "v1", "endpoints", "endpoints", "Endpoints") },
        Resource {
            short_names: "pvc".into(),
            has_status: true,
            bookmark_fields: r#","spec":{"resources":{}},"status":{}"#,
            ..resource(17, "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim")
        },
        Resource {
            namespaced: false,
            short_names: "pv".into(),
            has_status: true,
            bookmark_fields: r#","spec":{},"status":{}"#,
            ..resource(18, "v1", "persistentvolumes", "persistentvolume", "PersistentVolume")
        },
        Resource {
            short_names: "quota".into(),
            has_status: true,
            bookmark_fields: r#","spec":{},"status":{}"#,
            ..resource(19, "v1", "resourcequotas", "resourcequota", "ResourceQuota")
        },
        Resource {
            short_names: "limits".into(),
            bookmark_fields: r#","spec":{"limits":null}"#,
            ..resource(20, "v1", "limitranges", "limitrange", "LimitRange")
        },
        Resource {
            has_generation: true,
            bookmark_fields: r#","addressType":"","endpoints":null,"ports":null"#,
            ..resource(21, "discovery.k8s.io/v1", "endpointslices", "endpointslice", "EndpointSlice")
        },
        Resource {
            bookmark_fields: r#","spec":{}"#,
            ..resource(22, "coordination.k8s.io/v1", "leases", "lease", "Lease")
        },
        Resource {
            short_names: "ing".into(),
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{},"status":{"loadBalancer":{}}"#,
            ..resource(23, "networking.k8s.io/v1", "ingresses", "ingress", "Ingress")
        },
        Resource {
            short_names: "netpol".into(),
            has_generation: true,
            bookmark_fields: r#","spec":{"podSelector":{}}"#,
            ..resource(24, "networking.k8s.io/v1", "networkpolicies", "networkpolicy", "NetworkPolicy")
        },
        Resource {
            short_names: "pdb".into(),
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{},"status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0}"#,
            ..resource(25, "policy/v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget")
        },
        Resource {
            short_names: "hpa".into(),
            categories: ALL,
            has_status: true,
            bookmark_fields: r#","spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"desiredReplicas":0,"currentMetrics":null}"#,
            ..resource(
                26,
                "autoscaling/v2",
                "horizontalpodautoscalers",
                "horizontalpodautoscaler",
                "HorizontalPodAutoscaler",
            )
        },
        Resource {
            namespaced: false,
            short_names: "sc".into(),
            bookmark_fields: r#","provisioner":"""#,
            ..resource(27, "storage.k8s.io/v1", "storageclasses", "storageclass", "StorageClass")
        },
        Resource {
            namespaced: false,
            short_names: "pc".into(),
            bookmark_fields: r#","value":0"#,
            ..resource(28, "scheduling.k8s.io/v1", "priorityclasses", "priorityclass", "PriorityClass")
        },
        Resource {
            bookmark_fields: r#","rules":null"#,
            ..resource(29, "rbac.authorization.k8s.io/v1", "roles", "role", "Role")
        },
        Resource {
            bookmark_fields: r#","roleRef":{"apiGroup":"","kind":"","name":""}"#,
            ..resource(30, "rbac.authorization.k8s.io/v1", "rolebindings", "rolebinding", "RoleBinding")
        },
        Resource {
            namespaced: false,
            bookmark_fields: r#","rules":null"#,
            ..resource(31, "rbac.authorization.k8s.io/v1", "clusterroles", "clusterrole", "ClusterRole")
        },
        Resource {
            namespaced: false,
            bookmark_fields: r#","roleRef":{"apiGroup":"","kind":"","name":""}"#,
            ..resource(
                32,
                "rbac.authorization.k8s.io/v1",
                "clusterrolebindings",
                "clusterrolebinding",
                "ClusterRoleBinding",
            )
        },
        Resource {
            namespaced: false,
            bookmark_fields: r#","spec":{}"#,
            ..resource(33, "networking.k8s.io/v1", "ingressclasses", "ingressclass", "IngressClass")
        },
        Resource {
            namespaced: false,
            short_names: "cs".into(),
            read_only: true,
            columns: Columns::Component,
            ..resource(34, "v1", "componentstatuses", "componentstatus", "ComponentStatus")
        },
        Resource {
            namespaced: false,
            categories: "api-extensions".into(),
            has_status: true,
            bookmark_fields: r#","spec":{"groupPriorityMinimum":0,"versionPriority":0},"status":{}"#,
            ..resource(35, "apiregistration.k8s.io/v1", "apiservices", "apiservice", "APIService")
        },
        Resource {
            namespaced: false,
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{"priorityLevelConfiguration":{"name":""},"matchingPrecedence":0},"status":{}"#,
            ..resource(36, "flowcontrol.apiserver.k8s.io/v1", "flowschemas", "flowschema", "FlowSchema")
        },
        Resource {
            namespaced: false,
            has_status: true,
            has_generation: true,
            bookmark_fields: r#","spec":{"type":""},"status":{}"#,
            ..resource(
                37,
                "flowcontrol.apiserver.k8s.io/v1",
                "prioritylevelconfigurations",
                "prioritylevelconfiguration",
                "PriorityLevelConfiguration",
            )
        },
        Resource {
            namespaced: false,
            short_names: "ip".into(),
            bookmark_fields: r#","spec":{}"#,
            ..resource(38, "networking.k8s.io/v1", "ipaddresses", "ipaddress", "IPAddress")
        },
        Resource {
            namespaced: false,
            has_status: true,
            bookmark_fields: r#","spec":{},"status":{}"#,
            ..resource(39, "networking.k8s.io/v1", "servicecidrs", "servicecidr", "ServiceCIDR")
        },
        webhooks(40, "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration"),
        webhooks(
            41,
            "validatingwebhookconfigurations",
            "validatingwebhookconfiguration",
            "ValidatingWebhookConfiguration",
        ),
        Resource {
            namespaced: false,
            has_status: true,
            bookmark_fields: r#","spec":{"attacher":"","source":{},"nodeName":""},"status":{"attached":false}"#,
            ..resource(42, "storage.k8s.io/v1", "volumeattachments", "volumeattachment", "VolumeAttachment")
        },
    ]
}

const ALL: Cow<'static, str> = Cow::Borrowed("all");

fn resource(
    id: usize,
    api_version: &'static str,
    plural: &'static str,
    singular: &'static str,
    kind: &'static str,
) -> Resource {
    Resource {
        id,
        api_version: Cow::Borrowed(api_version),
        plural: Cow::Borrowed(plural),
        singular: Cow::Borrowed(singular),
        kind: Cow::Borrowed(kind),
        namespaced: true,
        short_names: "".into(),
        categories: "".into(),
        has_status: false,
        read_only: false,
        scale: None,
        has_generation: false,
        selectable: &[],
        bookmark_fields: "",
        columns: Columns::Page,
        definition: Cow::Borrowed(""),
        definition_uid: Cow::Borrowed(""),
    }
}

/// A configuration of admission webhooks.
fn webhooks(id: usize, plural: &'static str, singular: &'static str, kind: &'static str) -> Resource {
    Resource {
        namespaced: false,
        categories: "api-extensions".into(),
        has_generation: true,
        ..resource(id, "admissionregistration.k8s.io/v1", plural, singular, kind)
    }
}

/// A workload of the `apps` group.
fn scalable(id: usize, plural: &'static str, singular: &'static str, kind: &'static str) -> Resource {
    Resource {
        categories: ALL,
        has_status: true,
        has_generation: true,
        scale: Some(ScalePaths {
            wanted: Cow::Borrowed("/spec/replicas"),
            current: Cow::Borrowed("/status/replicas"),
            selector: Cow::Borrowed("/spec/selector"),
        }),
        ..resource(id, "apps/v1", plural, singular, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        for (id, resource) in RESOURCES.iter().enumerate() {
            assert_eq!(resource.id, id, "{}", resource.plural);
            let bookmark = format!("{{\"kind\":\"x\"{}}}", resource.bookmark_fields);
            assert!(serde_json::from_str::<serde_json::Value>(&bookmark).is_ok(), "{bookmark}");
        }
        assert_eq!([&*PODS.kind, &JOBS.kind, &REPLICA_SETS.kind], ["Pod", "Job", "ReplicaSet"]);
        assert_eq!((DEPLOYMENTS.qualified().as_str(), DEPLOYMENTS.version()), ("deployments.apps", "v1"));
        assert_eq!((DEFINITIONS.group(), PODS.group(), PODS.version()), ("apiextensions.k8s.io", "", "v1"));
    }
}
