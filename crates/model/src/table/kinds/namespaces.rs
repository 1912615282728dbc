//! Namespaces: the columns of `printNamespace` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::text::Text;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{parse, structure};
use crate::table::column::Column;

/// Namespaces, in the sidebar under Cluster.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
    name: "namespaces",
    short_names: &["ns"],
    heading: "Cluster",
    title: "Namespaces",
    columns: &[Column::words("STATUS"), Column::figures("AGE")],
    decode: Decode(&decode),
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Namespace<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    status: Status<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
}

/// How alarming a Namespace's STATUS is.
pub fn tone(status: &str) -> Tone {
    match status {
        "Active" => Tone::Good,
        "Terminating" => Tone::Wait,
        _ => Tone::Plain,
    }
}

/// Reads a Namespace.
///
/// # Errors
///
/// When the text is not a Namespace's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    let Namespace { metadata, status } = parse(text)?;
    let cells = [
        Cell::Status((&*status.phase).into(), tone(&status.phase)),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
    ];
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}
