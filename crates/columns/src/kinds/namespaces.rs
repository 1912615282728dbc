//! Namespaces: the columns of `printNamespace` (kubernetes `pkg/printers/internalversion/printers.go`).

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;

use super::Kind;
use super::printed::{AGE, Printed, columns, read, words};
use crate::column::StatePart;
use crate::state;

/// Namespaces, in the sidebar under Cluster.
pub const KIND: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "namespaces",
        kind: "Namespace",
        namespaced: false,
        cluster: "",
    },
    name: "namespaces",
    short_names: &["ns"],
    heading: "Cluster",
    title: "Namespaces",
    columns: &columns(&NAMESPACE),
    decode: Decode(&|text| read(text, &NAMESPACE)),
};

const NAMESPACE: [Printed; 2] = [
    words("STATUS", &["status phase"], |fields| {
        let phase = fields.words(0)?;
        Ok(Cell::Status((&*phase).into(), state::status("Namespace", &phase)))
    })
    .of_state(StatePart::Word),
    AGE,
];
