//! The rows by their numbers, and by the kind and key of their objects.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::table::order::{RowId, RowKey};
use crate::table::schema::TableSchema;
use crate::table::view::row::Row;

/// The rows of a table, in no order.
#[derive(Debug, Default)]
pub struct Rows {
    /// The kinds and their columns.
    pub(super) schema: Arc<TableSchema>,
    /// The rows by their numbers; `None` where a number is free.
    pub(super) slots: Vec<Option<Row>>,
    free: Vec<RowId>,
    /// Rows of live objects, and provisional rows, by the hash of kind and key.
    live: HashTable<RowId>,
    version: u32,
}

impl Rows {
    /// No rows, of these kinds.
    pub(super) fn of(schema: Arc<TableSchema>) -> Rows {
        Rows { schema, ..Rows::default() }
    }

    /// The kinds and their columns.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The row with this number; `None` if there is none.
    pub fn get(&self, id: RowId) -> Option<&Row> {
        self.slots.get(id.0 as usize).and_then(Option::as_ref)
    }

    /// A row; `None` once it is gone, also where another row has its number.
    pub fn of_key(&self, key: RowKey) -> Option<&Row> {
        self.get(key.id).filter(|row| row.born == key.born)
    }

    /// The key of the row that has this number now.
    pub fn key_of(&self, id: RowId) -> Option<RowKey> {
        Some(RowKey { id, born: self.get(id)?.born })
    }

    /// The row of a live object, or the provisional row, by its kind and key.
    pub fn find(&self, kind: KindId, key: &ObjectKey) -> Option<RowId> {
        self.live.find(hash(kind, key), |&id| self.get(id).is_some_and(|row| row.is_of(kind, key))).copied()
    }

    /// One more than the largest number that a row may have.
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// The rows of live objects among `count` numbers from `first` on.
    pub fn live_among(&self, first: usize, count: usize) -> impl Iterator<Item = &Row> {
        let slots = self.slots.iter().skip(first).take(count).flatten();
        slots.filter(|row| row.lives())
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many of them are rows of live objects, or provisional.
    pub(super) fn live(&self) -> usize {
        self.live.len()
    }

    /// The next version of a row.
    pub(super) fn next_version(&mut self) -> u32 {
        self.version = self.version.wrapping_add(1);
        self.version
    }

    /// Takes in a row, and gives it its number and its version.
    pub(super) fn insert(&mut self, mut row: Row) -> RowId {
        row.version = self.next_version();
        row.born = row.version;
        let hash = row_hash(&row);
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id.0 as usize] = Some(row);
                id
            }
            None => {
                // The capacity grows by quarters: doubling would keep up to half of a large table empty.
                if self.slots.len() == self.slots.capacity() {
                    self.slots.reserve_exact(self.slots.len() / 4 + 64);
                }
                self.slots.push(Some(row));
                RowId((self.slots.len() - 1) as u32)
            }
        };
        let slots = &self.slots;
        self.live.insert_unique(hash, id, |id| slots[id.0 as usize].as_ref().map_or(0, row_hash));
        id
    }

    /// Takes the row of a known object out of those that are found by their keys, because the object was deleted.
    pub(super) fn unlink(&mut self, kind: KindId, key: &ObjectKey) -> Option<RowId> {
        let slots = &self.slots;
        let is_row = |row: &Row| row.is_of(kind, key) && !row.provisional;
        let is_it = |id: &RowId| slots[id.0 as usize].as_ref().is_some_and(is_row);
        Some(self.live.find_entry(hash(kind, key), is_it).ok()?.remove().0)
    }

    /// Takes a row out.
    pub(super) fn remove(&mut self, id: RowId) {
        let Some(row) = self.slots[id.0 as usize].take() else { return };
        // The row of a deleted object is unlinked already.
        if row.provisional
            && let Ok(entry) = self.live.find_entry(row_hash(&row), |other| *other == id)
        {
            entry.remove();
        }
        self.free.push(id);
    }
}

fn hash(kind: KindId, key: &ObjectKey) -> u64 {
    FxBuildHasher.hash_one((key, kind))
}

fn row_hash(row: &Row) -> u64 {
    hash(row.kind, &row.object.key)
}
