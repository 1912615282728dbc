//! How rows compare.

use std::cmp::Ordering;

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::weight::{is_exact, of_bytes, turned};

use crate::table::order::RowId;
use crate::table::schema::TableSchema;
use crate::table::view::row::{Row, Sort, SortKey};
use crate::table::view::rows::Rows;

/// A strict order of rows: by what the user asked for, then by namespace and name, then by kind, then by the row's
/// number, because the row of a deleted object may stay beside its successor's. A row without the cell, because its
/// kind does not have the column or its object could not be read, comes last whether or not the order is reversed; so
/// does one whose cell stands for no value, such as `<none>`.
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
        SortKey::Key => of_bytes(&row.object.key.namespace),
        SortKey::Name => of_bytes(&row.object.key.name),
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
    row.object.cells.get(schema.cell(row.kind, column)?).filter(|cell| !cell.is_filler())
}

fn among_equals(slots: &[Option<Row>]) -> impl Fn(RowId, RowId) -> Ordering + Copy {
    move |a, b| {
        let (Some(one), Some(two)) = (&slots[a.0 as usize], &slots[b.0 as usize]) else { return a.cmp(&b) };
        let by = one.object.key.cmp(&two.object.key);
        by.then_with(|| one.kind.cmp(&two.kind)).then_with(|| a.cmp(&b))
    }
}
