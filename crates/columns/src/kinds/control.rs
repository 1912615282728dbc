//! Parts of the cluster itself: the columns of `printLease`, `printFlowSchema`, `printPriorityLevelConfiguration`,
//! `printResourceClaim` and `printResourceSlice` (kubernetes `pkg/printers/internalversion/printers.go`), of APIServices
//! (kube-aggregator `pkg/registry/apiservice/etcd`) and of CustomResourceDefinitions since 1.37 (apiextensions-apiserver
//! `pkg/registry/customresourcedefinition/tableconvertor`).

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort;
use kubechurn_client::json::Text;

use super::Kind;
use super::conditions::{Condition, conditions};
use super::parts::{Count, NONE, text};
use super::printed::{AGE, CREATED_AT, Printed, columns, figures, number, read, words};
use crate::state;

/// Leases, in the sidebar under Cluster.
pub const LEASES: Kind = Kind {
    resource: ApiResource {
        group: "coordination.k8s.io",
        version: "v1",
        plural: "leases",
        kind: "Lease",
        namespaced: true,
        cluster: "",
    },
    name: "leases",
    short_names: &[],
    heading: "Cluster",
    title: "Leases",
    columns: &columns(&LEASE),
    decode: Decode(&|text| read(text, &LEASE)),
};

const LEASE: [Printed; 2] = [words("HOLDER", &["spec holderIdentity"], |fields| fields.text("")), AGE];

/// CustomResourceDefinitions, in the sidebar under Cluster.
pub const DEFINITIONS: Kind = Kind {
    resource: ApiResource {
        group: "apiextensions.k8s.io",
        version: "v1",
        plural: "customresourcedefinitions",
        kind: "CustomResourceDefinition",
        namespaced: false,
        cluster: "",
    },
    name: "customresourcedefinitions",
    short_names: &["crd", "crds"],
    heading: "Cluster",
    title: "CustomResourceDefinitions",
    columns: &columns(&DEFINITION),
    decode: Decode(&|text| read(text, &DEFINITION)),
};

/// CustomResourceDefinitions, as servers printed them before 1.37.
pub const DEFINITIONS_BEFORE_1_37: Kind =
    Kind { columns: &columns(&[CREATED_AT]), decode: Decode(&|text| read(text, &[CREATED_AT])), ..DEFINITIONS };

const DEFINITION: [Printed; 4] = [
    words("GROUP", &["spec group"], |fields| fields.text("")),
    words("SCOPE", &["spec scope"], |fields| fields.text("")),
    words("VERSIONS", &["spec versions"], |fields| {
        let mut served: Vec<Text<'_>> = Vec::new();
        fields.each(0, &["name", "served"], &mut |version| {
            if version.value(1)? {
                served.push(version.words(0)?);
            }
            Ok(())
        })?;
        let mut names: Vec<&str> = served.iter().map(|name| &**name).collect();
        sort(&mut names);
        Ok(text(&names.join(",")))
    }),
    CREATED_AT,
];

/// APIServices, in the sidebar under Cluster.
pub const API_SERVICES: Kind = Kind {
    resource: ApiResource {
        group: "apiregistration.k8s.io",
        version: "v1",
        plural: "apiservices",
        kind: "APIService",
        namespaced: false,
        cluster: "",
    },
    name: "apiservices",
    short_names: &[],
    heading: "Cluster",
    title: "APIServices",
    columns: &columns(&API_SERVICE),
    decode: Decode(&|text| read(text, &API_SERVICE)),
};

const API_SERVICE: [Printed; 3] = [
    words("SERVICE", &["spec service", "spec service namespace", "spec service name"], |fields| {
        if !fields.is_set(0) {
            return Ok(Cell::Static("Local"));
        }
        let [namespace, name]: [Text<'_>; 2] = [fields.value(1)?, fields.value(2)?];
        Ok(Cell::Text([&namespace, "/", &name].concat().into()))
    }),
    words("AVAILABLE", &["status conditions"], |fields| {
        let conditions = conditions(fields, 0)?;
        Ok(match conditions.iter().find(|condition| &*condition.kind == "Available") {
            None => Cell::Status("Unknown".into(), state::status("APIService", "Unknown")),
            Some(Condition { status, reason, .. }) => {
                let has_reason = &**status != "True" && !reason.is_empty();
                let word = if has_reason { [status, " (", reason, ")"].concat() } else { status.to_string() };
                Cell::Status(word.into(), state::condition("APIService", "Available", status))
            }
        })
    }),
    AGE,
];

/// FlowSchemas, in the sidebar under Cluster.
pub const FLOW_SCHEMAS: Kind = Kind {
    resource: flow_control("flowschemas", "FlowSchema"),
    name: "flowschemas",
    short_names: &[],
    heading: "Cluster",
    title: "FlowSchemas",
    columns: &columns(&FLOW_SCHEMA),
    decode: Decode(&|text| read(text, &FLOW_SCHEMA)),
};

const FLOW_SCHEMA: [Printed; 5] = [
    words("PRIORITYLEVEL", &["spec priorityLevelConfiguration name"], |fields| fields.text("")),
    figures("MATCHINGPRECEDENCE", &["spec matchingPrecedence"], number),
    words("DISTINGUISHERMETHOD", &["spec distinguisherMethod", "spec distinguisherMethod type"], |fields| match fields
        .is_set(0)
    {
        true => fields.value::<Text<'_>>(1).map(|method| text(&method)),
        false => Ok(NONE),
    }),
    AGE,
    words("MISSINGPL", &["status conditions"], |fields| {
        let conditions = conditions(fields, 0)?;
        let dangling = conditions.iter().find(|condition| &*condition.kind == "Dangling");
        let word = dangling.map_or("?", |condition| &condition.status);
        Ok(Cell::Status(word.into(), state::condition("FlowSchema", "Dangling", word)))
    }),
];

/// PriorityLevelConfigurations, in the sidebar under Cluster.
pub const PRIORITY_LEVELS: Kind = Kind {
    resource: flow_control("prioritylevelconfigurations", "PriorityLevelConfiguration"),
    name: "prioritylevelconfigurations",
    short_names: &[],
    heading: "Cluster",
    title: "PriorityLevelConfigurations",
    columns: &columns(&PRIORITY_LEVEL),
    decode: Decode(&|text| read(text, &PRIORITY_LEVEL)),
};

const PRIORITY_LEVEL: [Printed; 6] = [
    words("TYPE", &["spec type"], |fields| fields.text("")),
    figures("NOMINALCONCURRENCYSHARES", &["spec limited nominalConcurrencyShares"], |fields| {
        fields.number_or("<none>")
    }),
    figures("QUEUES", &["spec limited limitResponse queuing queues"], |fields| fields.number_or("<none>")),
    figures("HANDSIZE", &["spec limited limitResponse queuing handSize"], |fields| fields.number_or("<none>")),
    figures("QUEUELENGTHLIMIT", &["spec limited limitResponse queuing queueLengthLimit"], |fields| {
        fields.number_or("<none>")
    }),
    AGE,
];

/// DeviceClasses, in the sidebar under Cluster.
pub const DEVICE_CLASSES: Kind = Kind {
    resource: devices("deviceclasses", "DeviceClass", false),
    name: "deviceclasses",
    short_names: &[],
    heading: "Cluster",
    title: "DeviceClasses",
    columns: &columns(&[AGE]),
    decode: Decode(&|text| read(text, &[AGE])),
};

/// ResourceClaimTemplates, in the sidebar under Cluster.
pub const CLAIM_TEMPLATES: Kind = Kind {
    resource: devices("resourceclaimtemplates", "ResourceClaimTemplate", true),
    name: "resourceclaimtemplates",
    title: "ResourceClaimTemplates",
    ..DEVICE_CLASSES
};

/// ResourceClaims, in the sidebar under Cluster.
pub const RESOURCE_CLAIMS: Kind = Kind {
    resource: devices("resourceclaims", "ResourceClaim", true),
    name: "resourceclaims",
    short_names: &[],
    heading: "Cluster",
    title: "ResourceClaims",
    columns: &columns(&RESOURCE_CLAIM),
    decode: Decode(&|text| read(text, &RESOURCE_CLAIM)),
};

const RESOURCE_CLAIM: [Printed; 2] = [
    words("STATE", &["status allocation", "status reservedFor"], |fields| {
        let Count(holders) = fields.value(1)?;
        let word = match (fields.is_deleting(), fields.is_set(0), holders > 0) {
            (false, false, _) => "pending",
            (false, true, false) => "allocated",
            (false, true, true) => "allocated,reserved",
            (true, false, _) => "deleted",
            (true, true, false) => "deleted,allocated",
            (true, true, true) => "deleted,allocated,reserved",
        };
        Ok(Cell::Status(word.into(), state::status("ResourceClaim", word)))
    }),
    AGE,
];

/// ResourceSlices, in the sidebar under Cluster.
pub const RESOURCE_SLICES: Kind = Kind {
    resource: devices("resourceslices", "ResourceSlice", false),
    name: "resourceslices",
    short_names: &[],
    heading: "Cluster",
    title: "ResourceSlices",
    columns: &columns(&RESOURCE_SLICE),
    decode: Decode(&|text| read(text, &RESOURCE_SLICE)),
};

const RESOURCE_SLICE: [Printed; 4] = [
    words("NODE", &["spec nodeName"], |fields| fields.text("")),
    words("DRIVER", &["spec driver"], |fields| fields.text("")),
    words("POOL", &["spec pool name"], |fields| fields.text("")),
    AGE,
];

/// A kind of the group `flowcontrol.apiserver.k8s.io`.
const fn flow_control(plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group: "flowcontrol.apiserver.k8s.io", version: "v1", plural, kind, namespaced: false, cluster: "" }
}

/// A kind of the group `resource.k8s.io`.
const fn devices(plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group: "resource.k8s.io", version: "v1", plural, kind, namespaced, cluster: "" }
}
