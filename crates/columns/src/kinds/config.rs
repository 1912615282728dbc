//! Configuration of Pods and of requests: the columns of `printConfigMap`, `printSecret`, `printResourceQuota`,
//! `printPriorityClass`, `printRuntimeClass`, and those of admission webhooks and admission policies (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{Map, Scalar};
use super::printed::{AGE, CREATED_AT, Fields, Printed, columns, count, figures, number, read, words};
use super::selector::{self, LabelSelector};

/// ConfigMaps, in the sidebar under Config.
pub const CONFIG_MAPS: Kind = Kind {
    resource: core("configmaps", "ConfigMap"),
    name: "configmaps",
    short_names: &["cm"],
    heading: "Config",
    title: "ConfigMaps",
    columns: &columns(&CONFIG_MAP),
    decode: Decode(&|text| read(text, &CONFIG_MAP)),
};

const CONFIG_MAP: [Printed; 2] =
    [figures("DATA", &["data", "binaryData"], |fields| Ok(Cell::Number(fields.members(0)? + fields.members(1)?))), AGE];

/// Secrets, in the sidebar under Config. Their values are skipped, never decoded.
pub const SECRETS: Kind = Kind {
    resource: core("secrets", "Secret"),
    name: "secrets",
    short_names: &[],
    heading: "Config",
    title: "Secrets",
    columns: &columns(&SECRET),
    decode: Decode(&|text| read(text, &SECRET)),
};

const SECRET: [Printed; 3] = [
    // Unset means Opaque (`SetDefaults_Secret`, kubernetes `pkg/apis/core/v1/defaults.go`).
    words("TYPE", &["type"], |fields| fields.text("Opaque")),
    figures("DATA", &["data"], |fields| fields.members(0).map(Cell::Number)),
    AGE,
];

/// ResourceQuotas, in the sidebar under Config.
pub const RESOURCE_QUOTAS: Kind = Kind {
    resource: core("resourcequotas", "ResourceQuota"),
    name: "resourcequotas",
    short_names: &["quota"],
    heading: "Config",
    title: "ResourceQuotas",
    columns: &columns(&RESOURCE_QUOTA),
    decode: Decode(&|text| read(text, &RESOURCE_QUOTA)),
};

/// ResourceQuotas before 1.33: AGE came first.
pub const RESOURCE_QUOTAS_BEFORE_1_33: Kind =
    Kind { columns: &columns(&AGED_QUOTA), decode: Decode(&|text| read(text, &AGED_QUOTA)), ..RESOURCE_QUOTAS };

const RESOURCE_QUOTA: [Printed; 3] = [REQUEST, LIMIT, AGE];

const AGED_QUOTA: [Printed; 3] = [AGE, REQUEST, LIMIT];

const REQUEST: Printed = words("REQUEST", QUOTA, |fields| quota(fields, false));

const LIMIT: Printed = words("LIMIT", QUOTA, |fields| quota(fields, true));

const QUOTA: &[&str] = &["status hard", "status used"];

/// For each resource, how much is used and how much is allowed: for limits only, or for all other resources only.
fn quota(fields: &Fields<'_, '_>, limits: bool) -> Result<Cell> {
    let (Map(mut hard), Map(used)) = (fields.value::<Map<'_, Scalar>>(0)?, fields.value::<Map<'_, Scalar>>(1)?);
    sort_by(&mut hard, |(one, _), (two, _)| one.cmp(two));
    let mut printed = String::new();
    for (name, Scalar(hard)) in hard.iter().filter(|(name, _)| name.starts_with("limits.") == limits) {
        let used = used.iter().find(|(other, _)| other == name).map_or("0", |(_, Scalar(used))| used.as_str());
        let separator = if printed.is_empty() { "" } else { ", " };
        [separator, name, ": ", used, "/", hard].iter().for_each(|piece| printed.push_str(piece));
    }
    Ok(Cell::Text(printed.into()))
}

/// LimitRanges, in the sidebar under Config.
pub const LIMIT_RANGES: Kind = Kind {
    resource: core("limitranges", "LimitRange"),
    name: "limitranges",
    short_names: &["limits"],
    heading: "Config",
    title: "LimitRanges",
    columns: &columns(&[CREATED_AT]),
    decode: Decode(&|text| read(text, &[CREATED_AT])),
};

/// PriorityClasses, in the sidebar under Config.
pub const PRIORITY_CLASSES: Kind = Kind {
    resource: ApiResource {
        group: "scheduling.k8s.io",
        version: "v1",
        plural: "priorityclasses",
        kind: "PriorityClass",
        namespaced: false,
        cluster: "",
    },
    name: "priorityclasses",
    short_names: &["pc"],
    heading: "Config",
    title: "PriorityClasses",
    columns: &columns(&PRIORITY_CLASS),
    decode: Decode(&|text| read(text, &PRIORITY_CLASS)),
};

const PRIORITY_CLASS: [Printed; 4] = [
    figures("VALUE", &["value"], number),
    words("GLOBAL-DEFAULT", &["globalDefault"], |fields| fields.flag(false)),
    AGE,
    words("PREEMPTIONPOLICY", &["preemptionPolicy"], |fields| fields.text("")),
];

/// RuntimeClasses, in the sidebar under Config.
pub const RUNTIME_CLASSES: Kind = Kind {
    resource: ApiResource {
        group: "node.k8s.io",
        version: "v1",
        plural: "runtimeclasses",
        kind: "RuntimeClass",
        namespaced: false,
        cluster: "",
    },
    name: "runtimeclasses",
    short_names: &[],
    heading: "Config",
    title: "RuntimeClasses",
    columns: &columns(&RUNTIME_CLASS),
    decode: Decode(&|text| read(text, &RUNTIME_CLASS)),
};

const RUNTIME_CLASS: [Printed; 2] = [words("HANDLER", &["handler"], |fields| fields.text("")), AGE];

/// MutatingWebhookConfigurations, in the sidebar under Config.
pub const MUTATING_WEBHOOKS: Kind = Kind {
    resource: admission("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    name: "mutatingwebhookconfigurations",
    short_names: &[],
    heading: "Config",
    title: "MutatingWebhookConfigurations",
    columns: &columns(&WEBHOOKS),
    decode: Decode(&|text| read(text, &WEBHOOKS)),
};

/// ValidatingWebhookConfigurations, in the sidebar under Config.
pub const VALIDATING_WEBHOOKS: Kind = Kind {
    resource: admission("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    name: "validatingwebhookconfigurations",
    short_names: &[],
    heading: "Config",
    title: "ValidatingWebhookConfigurations",
    columns: &columns(&WEBHOOKS),
    decode: Decode(&|text| read(text, &WEBHOOKS)),
};

const WEBHOOKS: [Printed; 2] = [figures("WEBHOOKS", &["webhooks"], count), AGE];

/// ValidatingAdmissionPolicies, in the sidebar under Config.
pub const VALIDATING_POLICIES: Kind = Kind {
    resource: admission("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    name: "validatingadmissionpolicies",
    short_names: &[],
    heading: "Config",
    title: "ValidatingAdmissionPolicies",
    columns: &columns(&VALIDATING_POLICY),
    decode: Decode(&|text| read(text, &VALIDATING_POLICY)),
};

const VALIDATING_POLICY: [Printed; 3] = [
    figures("VALIDATIONS", &["spec validations"], count),
    words("PARAMKIND", &["spec paramKind", "spec paramKind apiVersion", "spec paramKind kind"], |fields| {
        if !fields.is_set(0) {
            return Ok(Cell::Static("<unset>"));
        }
        let [version, kind]: [Text<'_>; 2] = [fields.value(1)?, fields.value(2)?];
        Ok(Cell::Text([&version, "/", &kind].concat().into()))
    }),
    AGE,
];

/// ValidatingAdmissionPolicyBindings, in the sidebar under Config.
pub const VALIDATING_POLICY_BINDINGS: Kind = Kind {
    resource: admission("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    name: "validatingadmissionpolicybindings",
    short_names: &[],
    heading: "Config",
    title: "ValidatingAdmissionPolicyBindings",
    columns: &columns(&VALIDATING_POLICY_BINDING),
    decode: Decode(&|text| read(text, &VALIDATING_POLICY_BINDING)),
};

const VALIDATING_POLICY_BINDING: [Printed; 3] = [
    words("POLICYNAME", &["spec policyName"], |fields| fields.text("")),
    words("PARAMREF", PARAMETERS, |fields| {
        let [namespace, name] = [fields.words(0)?, fields.words(1)?];
        Ok(match (&*namespace, &*name, &LabelSelector::read(fields, 2)?) {
            (_, "", None) => Cell::Static("<unset>"),
            (_, "", Some(selector)) => selector::go_cell(selector),
            // The binding does not say whether the parameters' kind has namespaces.
            ("", name, _) => Cell::Text(["*/", name].concat().into()),
            (namespace, name, _) => Cell::Text([namespace, "/", name].concat().into()),
        })
    }),
    AGE,
];

const PARAMETERS: &[&str] = &["spec paramRef namespace", "spec paramRef name", "spec paramRef selector"];

/// A kind of the core group, in namespaces.
const fn core(plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group: "", version: "v1", plural, kind, namespaced: true, cluster: "" }
}

/// A kind of the group `admissionregistration.k8s.io`.
const fn admission(plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group: "admissionregistration.k8s.io", version: "v1", plural, kind, namespaced: false, cluster: "" }
}
