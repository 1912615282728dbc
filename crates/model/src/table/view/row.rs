//! A row of a table, and how rows compare.

use std::cmp::Ordering;
use std::sync::Arc;

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::weight::{is_exact, turned};
use kubechurn_client::cache::delta::DeltaType;

use crate::kind_id::KindId;
use crate::table::order::RowId;
use crate::table::schema::TableSchema;
use crate::table::view::rows::Rows;

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
    /// The version of the row, another one after every change, so that a reader can tell whether it has seen the
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

/// A strict order of rows: by what the user asked for, then by namespace and name, then by kind, then by the row's
/// number, because the row of a deleted object may stay beside its successor's. A row without the cell, because its
/// kind does not have the column or its object could not be read, comes last whether or not the order is reversed.
pub(super) fn comparison(rows: &Rows, sort: Sort) -> impl Fn(RowId, RowId) -> Ordering + Copy + '_ {
    let (schema, slots) = (&*rows.schema, &*rows.slots);
    let among_equals = among_equals(slots);
    move |a, b| {
        let (Some(one), Some(two)) = (&slots[a.0 as usize], &slots[b.0 as usize]) else { return a.cmp(&b) };
        let (one_key, two_key) = (&one.object.key, &two.object.key);
        let mut missing = Ordering::Equal;
        let by = match sort.key {
            SortKey::Key => one_key.cmp(two_key),
            SortKey::Name => one_key.name.cmp(&two_key.name),
            SortKey::Kind => schema.rank(one.kind).cmp(&schema.rank(two.kind)),
            SortKey::Cluster => schema.cluster_rank(one.kind).cmp(&schema.cluster_rank(two.kind)),
            SortKey::Column(column) => match (cell(schema, one, column), cell(schema, two, column)) {
                (Some(one), Some(two)) => one.compare(two),
                (one, two) => {
                    missing = one.is_none().cmp(&two.is_none());
                    Ordering::Equal
                }
            },
            SortKey::Changed => two.changed_at.total_cmp(&one.changed_at),
        };
        let by = if sort.descending { by.reverse() } else { by };
        missing.then(by).then_with(|| among_equals(a, b))
    }
}

/// The same order, which looks first at the weights of the rows, by their numbers. Most rows have different weights.
pub(super) fn weighed<'a>(
    rows: &'a Rows,
    sort: Sort,
    weights: &'a [u64],
) -> impl Fn(RowId, RowId) -> Ordering + Copy + 'a {
    let (whole, among_equals) = (comparison(rows, sort), among_equals(&rows.slots));
    let is_cell = matches!(sort.key, SortKey::Column(_));
    move |a, b| {
        let (one, two) = (weights[a.0 as usize], weights[b.0 as usize]);
        match one.cmp(&two) {
            Ordering::Equal if is_cell && is_exact(one, sort.descending) => among_equals(a, b),
            Ordering::Equal => whole(a, b),
            by => by,
        }
    }
}

/// The weight of a row in an order. Rows of different weights stand in the order that [`comparison`] gives them.
pub(super) fn weigh(schema: &TableSchema, row: &Row, sort: Sort) -> u64 {
    let weight = match sort.key {
        SortKey::Key => CellRef::Text(&row.object.key.namespace).weight(),
        SortKey::Name => CellRef::Text(&row.object.key.name).weight(),
        SortKey::Kind => CellRef::Number(schema.rank(row.kind) as i64).weight(),
        SortKey::Cluster => CellRef::Number(schema.cluster_rank(row.kind) as i64).weight(),
        SortKey::Column(column) => match cell(schema, row, column) {
            Some(cell) => cell.weight(),
            // Such a row comes last, whether or not the order is reversed.
            None => return u64::MAX,
        },
        // The newest first.
        SortKey::Changed => CellRef::Float(-row.changed_at).weight(),
    };
    if sort.descending { turned(weight) } else { weight }
}

/// Reads a little of what each of these rows is weighed by. The memory of a large table is in no cache, and weighing
/// one row waits for its object and then for the object's cells. When many rows are read without a pause, the processor
/// waits for several at a time.
pub(super) fn touch(slots: &[Option<Row>], sort: Sort) {
    let first = |row: &Row| match sort.key {
        SortKey::Column(_) => row.object.cells.first_byte(),
        _ => row.object.key.name.as_bytes().first().copied(),
    };
    std::hint::black_box(slots.iter().flatten().filter_map(first).fold(0, u8::wrapping_add));
}

fn cell<'a>(schema: &TableSchema, row: &'a Row, column: usize) -> Option<CellRef<'a>> {
    row.object.cells.get(schema.cell(row.kind, column)?)
}

fn among_equals(slots: &[Option<Row>]) -> impl Fn(RowId, RowId) -> Ordering + Copy {
    move |a, b| {
        let (Some(one), Some(two)) = (&slots[a.0 as usize], &slots[b.0 as usize]) else { return a.cmp(&b) };
        let by = one.object.key.cmp(&two.object.key);
        by.then_with(|| one.kind.cmp(&two.kind)).then_with(|| a.cmp(&b))
    }
}

/// Which of the first 32 cells differ, as bits. Cells that change by themselves are compared by their values, not by
/// what they print.
pub(super) fn changed_cells(old: &Object, new: &Object) -> u32 {
    let pairs = old.cells.iter().zip(&new.cells).take(32).enumerate();
    pairs.filter(|(_, (old, new))| old != new).fold(0, |mask, (at, _)| mask | 1 << at)
}
