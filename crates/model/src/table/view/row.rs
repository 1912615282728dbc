//! A row of a table, and what rows are sorted by.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;

use crate::kind_id::KindId;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Namespace, then name.
    #[default]
    Key,
    /// Name, then namespace.
    Name,
    /// What stands under KIND.
    Kind,
    /// What stands under CLUSTER.
    Cluster,
    /// One of the table's columns, by its place among them.
    Column(usize),
    /// When the object changed last, the newest first.
    Changed,
}

/// An order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// What rows are sorted by.
    pub key: SortKey,
    /// Whether the order is reversed.
    pub descending: bool,
}

/// A row. There is one for each object, so that its size matters.
#[derive(Clone, Debug)]
pub struct Row {
    /// The newest version of the object; for a deleted row, its last.
    pub object: Arc<Object>,
    /// When the object changed last, in milliseconds; for an object of a first list, when the list came.
    pub changed_at: f64,
    /// Which cells the last update changed: bit `n` for column `n` of the row's kind, for the first 32 columns.
    pub changed: u32,
    /// The version of the row, another one after every change, so that a reader can see whether it has seen the
    /// newest.
    pub version: u32,
    /// The version in which the row came, which differs between rows that had the same number.
    pub born: u32,
    /// The number of the filter that judged the row last.
    pub(super) judged: u32,
    /// What the last change was.
    pub delta: DeltaType,
    /// The object's kind.
    pub kind: KindId,
    /// Whether that filter lets it through.
    pub(super) shown: bool,
    /// Whether the object comes from a first list that is not complete, so that it is not known whether it exists.
    pub provisional: bool,
}

impl Row {
    /// The row of an object that comes into the table. The table gives it its version.
    pub(super) fn new(kind: KindId, object: &Arc<Object>, delta: DeltaType, now: f64) -> Row {
        Row {
            object: object.clone(),
            changed_at: now,
            changed: 0,
            version: 0,
            born: 0,
            judged: 0,
            delta,
            kind,
            shown: false,
            provisional: false,
        }
    }

    /// Whether the object is known to exist.
    pub fn lives(&self) -> bool {
        self.delta != DeltaType::Deleted && !self.provisional
    }

    /// Whether this is the row of the object with this kind and key.
    pub fn is_of(&self, kind: KindId, key: &ObjectKey) -> bool {
        self.kind == kind && self.object.key == *key
    }

    /// When the object was deleted, in milliseconds; `None` while it lives.
    pub fn deleted_at(&self) -> Option<f64> {
        (self.delta == DeltaType::Deleted).then_some(self.changed_at)
    }
}

/// Which of the first 32 cells differ, as bits. Cells that change by themselves are compared by their values, not by
/// what they print.
pub(super) fn changed_cells(old: &Object, new: &Object) -> u32 {
    let pairs = old.cells.iter().zip(&new.cells).take(32).enumerate();
    pairs.filter(|(_, (old, new))| old != new).fold(0, |mask, (at, _)| mask | 1 << at)
}
