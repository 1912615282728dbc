//! Access control: the columns of `printServiceAccount`, `printRoleBinding`, `printClusterRoleBinding` and
//! `printCertificateSigningRequest` (kubernetes `pkg/printers/internalversion/printers.go`). The only column of Roles
//! is the time of their creation.

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::Text;

use super::Kind;
use super::conditions::conditions;
use super::parts::{NONE, join};
use super::printed::{AGE, CREATED_AT, Fields, Printed, columns, count, figures, read, words};
use crate::state;

/// ServiceAccounts, in the sidebar under Access.
pub const SERVICE_ACCOUNTS: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "serviceaccounts",
        kind: "ServiceAccount",
        namespaced: true,
        cluster: "",
    },
    name: "serviceaccounts",
    short_names: &["sa"],
    heading: "Access",
    title: "ServiceAccounts",
    columns: &columns(&[AGE]),
    decode: Decode(&|text| read(text, &[AGE])),
};

/// ServiceAccounts before 1.35, with a column for the number of their Secrets.
pub const SERVICE_ACCOUNTS_BEFORE_1_35: Kind = Kind {
    columns: &columns(&COUNTED_ACCOUNT),
    decode: Decode(&|text| read(text, &COUNTED_ACCOUNT)),
    ..SERVICE_ACCOUNTS
};

const COUNTED_ACCOUNT: [Printed; 2] = [figures("SECRETS", &["secrets"], count), AGE];

/// Roles, in the sidebar under Access.
pub const ROLES: Kind = Kind {
    resource: rbac("roles", "Role", true),
    name: "roles",
    short_names: &[],
    heading: "Access",
    title: "Roles",
    columns: &columns(&[CREATED_AT]),
    decode: Decode(&|text| read(text, &[CREATED_AT])),
};

/// ClusterRoles, in the sidebar under Access.
pub const CLUSTER_ROLES: Kind =
    Kind { resource: rbac("clusterroles", "ClusterRole", false), name: "clusterroles", title: "ClusterRoles", ..ROLES };

/// RoleBindings, in the sidebar under Access.
pub const ROLE_BINDINGS: Kind = Kind {
    resource: rbac("rolebindings", "RoleBinding", true),
    name: "rolebindings",
    short_names: &[],
    heading: "Access",
    title: "RoleBindings",
    columns: &columns(&BINDING),
    decode: Decode(&|text| read(text, &BINDING)),
};

/// ClusterRoleBindings, in the sidebar under Access.
pub const CLUSTER_ROLE_BINDINGS: Kind = Kind {
    resource: rbac("clusterrolebindings", "ClusterRoleBinding", false),
    name: "clusterrolebindings",
    title: "ClusterRoleBindings",
    ..ROLE_BINDINGS
};

const BINDING: [Printed; 5] = [
    words("ROLE", &["roleRef kind", "roleRef name"], |fields| {
        let [kind, name]: [Text<'_>; 2] = [fields.value(0)?, fields.value(1)?];
        Ok(Cell::Text([&kind, "/", &name].concat().into()))
    }),
    AGE,
    words("USERS", SUBJECTS, |fields| subjects(fields, "User")).on_demand(),
    words("GROUPS", SUBJECTS, |fields| subjects(fields, "Group")).on_demand(),
    words("SERVICEACCOUNTS", SUBJECTS, |fields| subjects(fields, "ServiceAccount")).on_demand(),
];

const SUBJECTS: &[&str] = &["subjects"];

/// The subjects of one kind (`SubjectsStrings`, kubernetes `pkg/apis/rbac/helpers.go`).
fn subjects(fields: &Fields<'_, '_>, kind: &str) -> Result<Cell> {
    let mut named = Vec::new();
    fields.each(0, &["kind", "namespace", "name"], &mut |subject| {
        let [own, namespace, name] = [subject.words(0)?, subject.words(1)?, subject.words(2)?];
        match kind {
            _ if *own != *kind => {}
            "ServiceAccount" => named.push([&*namespace, "/", &*name].concat()),
            _ => named.push(String::from(&*name)),
        }
        Ok(())
    })?;
    Ok(join(named, ", "))
}

/// CertificateSigningRequests, in the sidebar under Access.
pub const SIGNING_REQUESTS: Kind = Kind {
    resource: ApiResource {
        group: "certificates.k8s.io",
        version: "v1",
        plural: "certificatesigningrequests",
        kind: "CertificateSigningRequest",
        namespaced: false,
        cluster: "",
    },
    name: "certificatesigningrequests",
    short_names: &["csr"],
    heading: "Access",
    title: "CertificateSigningRequests",
    columns: &columns(&SIGNING_REQUEST),
    decode: Decode(&|text| read(text, &SIGNING_REQUEST)),
};

const SIGNING_REQUEST: [Printed; 5] = [
    AGE,
    words("SIGNERNAME", &["spec signerName"], |fields| fields.text("<none>")),
    words("REQUESTOR", &["spec username"], |fields| fields.text("")),
    figures("REQUESTEDDURATION", &["spec expirationSeconds"], |fields| match fields.is_set(0) {
        true => fields.value(0).map(|seconds| Cell::Elapsed(Some(Timestamp(0)), Some(Timestamp(seconds)))),
        false => Ok(NONE),
    }),
    words("CONDITION", &["status conditions", "status certificate"], |fields| {
        let conditions = conditions(fields, 0)?;
        let has = |kind: &str| conditions.iter().any(|condition| &*condition.kind == kind);
        let mut word = String::from(match (has("Denied"), has("Approved")) {
            (true, _) => "Denied",
            (false, true) => "Approved",
            (false, false) => "Pending",
        });
        if has("Failed") {
            word.push_str(",Failed");
        }
        if !fields.value::<Text<'_>>(1)?.is_empty() {
            word.push_str(",Issued");
        }
        let tone = state::status("CertificateSigningRequest", &word);
        Ok(Cell::Status(word.into(), tone))
    }),
];

/// A kind of the group `rbac.authorization.k8s.io`.
const fn rbac(plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group: "rbac.authorization.k8s.io", version: "v1", plural, kind, namespaced, cluster: "" }
}
