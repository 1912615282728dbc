//! Reads from the metadata of an object what the graph needs, and keeps nothing else: a list of 150,000 Pods is in
//! memory only briefly.

use kubechurn_client::api::cell::{Cell, CellRef};
use kubechurn_client::api::object::{DecodeError, Meta, Object, map};
use kubechurn_client::json::Text;
use serde::Deserialize;
use smol_str::SmolStr;

use super::graph::{Graph, Observed, Owner};
use crate::resources::object::{DELETE_DEPENDENTS, ORPHAN_DEPENDENTS};

const LEAVING: i64 = 1;
const HELD_FOREGROUND: i64 = 2;
const HELD_ORPHAN: i64 = 4;

/// The number of cells that one owner takes.
const OWNER_CELLS: usize = 5;

/// The decoder of the monitors' reflectors. The cells are flags, followed for each owner by its apiVersion, kind, name,
/// uid and whether it blocks.
///
/// # Errors
/// When the metadata cannot be read, or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        metadata: &'a serde_json::value::RawValue,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Held<'a> {
        #[serde(borrow)]
        finalizers: Option<Vec<Text<'a>>>,
    }
    let whole: Whole<'_> = serde_json::from_str(map(text)?)?;
    let mut metadata: Meta<'_> = serde_json::from_str(map(whole.metadata.get())?)?;
    let held: Held<'_> = serde_json::from_str(whole.metadata.get())?;
    let has = |finalizer: &str| held.finalizers.iter().flatten().any(|one| **one == *finalizer);
    let flags = [
        (!metadata.deletion_timestamp.is_empty(), LEAVING),
        (has(DELETE_DEPENDENTS), HELD_FOREGROUND),
        (has(ORPHAN_DEPENDENTS), HELD_ORPHAN),
    ];
    let mut cells = vec![Cell::Number(flags.iter().filter(|(is_so, _)| *is_so).map(|(_, flag)| flag).sum())];
    for owner in metadata.owner_references.0.take().unwrap_or_default() {
        cells.extend(
            [owner.api_version, owner.kind, owner.name, owner.uid].map(|text| Cell::Text(SmolStr::new(&*text))),
        );
        cells.push(Cell::Number(i64::from(owner.block_owner_deletion == Some(true))));
    }
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}

/// Turns an object that [`decode`] has read into the input of the graph. `api_version` and `kind` are those of its
/// resource.
pub fn observed(graph: &mut Graph, object: &Object, api_version: &str, kind: &str) -> Observed {
    let cells: Vec<CellRef<'_>> = object.cells.iter().collect();
    let (flags, owners) = match &*cells {
        [CellRef::Number(flags), owners @ ..] => (*flags, owners),
        _ => (0, &[][..]),
    };
    let owners = owners.as_chunks::<OWNER_CELLS>().0.iter().filter_map(|cells| match cells {
        [
            CellRef::Text(api_version),
            CellRef::Text(kind),
            CellRef::Text(name),
            CellRef::Text(uid),
            CellRef::Number(blocks),
        ] => {
            let (kind, name) = (graph.kind(api_version, kind), graph.text(name));
            Some(Owner { uid: graph.uid(uid), kind, name, blocks: *blocks != 0 })
        }
        _ => None,
    });
    let owners: Vec<Owner> = owners.collect();
    Observed {
        uid: graph.uid(&object.uid.text()),
        kind: graph.kind(api_version, kind),
        namespace: graph.text(&object.key.namespace),
        name: (&*object.key.name).into(),
        owners,
        being_deleted: flags & LEAVING != 0,
        foreground: flags & HELD_FOREGROUND != 0,
        orphan: flags & HELD_ORPHAN != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_finalizers_survive_and_nothing_else() {
        let text = r#"{"kind":"PartialObjectMetadata","metadata":{"name":"web","namespace":"shop","uid":"u",
            "deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan"],"labels":{"a":"b"},"ownerReferences":[
            {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"o","blockOwnerDeletion":true},
            {"apiVersion":"v1","kind":"Node","name":"n","uid":"p"}]}}"#;
        let mut graph = Graph::default();
        let seen = observed(&mut graph, &decode(text).unwrap(), "v1", "Pod");
        assert_eq!((&*seen.uid, &*seen.kind.kind, &*seen.namespace, &*seen.name), ("u", "Pod", "shop", "web"));
        assert_eq!((seen.being_deleted, seen.foreground, seen.orphan), (true, false, true));
        let words = |owner: &Owner| format!("{} {} {} {}", owner.kind.api_version, owner.name, owner.uid, owner.blocks);
        assert_eq!(seen.owners.iter().map(words).collect::<Vec<_>>(), ["apps/v1 rs o true", "v1 n p false"]);
        let plain =
            observed(&mut graph, &decode(r#"{"metadata":{"name":"x","finalizers":null}}"#).unwrap(), "v1", "Pod");
        assert!(plain.owners.is_empty() && !plain.being_deleted && decode(r#"{"metadata":{}}"#).is_err());
    }
}
