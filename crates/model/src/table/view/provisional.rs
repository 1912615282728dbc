//! Rows of objects that a first list has brought while the list is not complete.
//!
//! Such a row is shown in its place, and counts nowhere as an object that is known to exist: the list may break, and the
//! next one may not have the object. When the list is complete and its objects have reached the store, each of them makes
//! its provisional row a row like all others, in place. The provisional rows that are left then go without a trace: that
//! an incomplete list named an object does not show when the object was deleted, or that it was.

use crate::kind_id::KindId;
use crate::table::order::{RowId, RowKey};
use crate::table::view::rows::Rows;

/// How many rows go at a time at the end of a list: some milliseconds of work.
pub(super) const AT_ONCE: usize = if cfg!(test) { 3 } else { 2048 };

/// How many provisional rows a table has, and what became of those that there were.
#[derive(Debug, Default)]
pub(super) struct ProvisionalRows {
    /// How many there are of each kind, by the kind's number.
    counts: Vec<usize>,
    made: u64,
    confirmed: u64,
    dropped: u64,
    /// Rows that go as soon as the table is not frozen.
    leaving: Vec<RowKey>,
}

/// Where every provisional row is that a table ever had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProvisionalSums {
    /// How many there were ever.
    pub made: u64,
    /// How many became rows of objects that are known.
    pub confirmed: u64,
    /// How many went, because a complete list did not have their objects or a list took the objects back.
    pub dropped: u64,
    /// How many there are.
    pub rows: usize,
    /// Whether some of them only wait to go, until the table is not frozen.
    pub leaving: bool,
}

impl ProvisionalSums {
    /// Whether every row is in one place.
    pub fn is_balanced(&self) -> bool {
        self.made == self.confirmed + self.dropped + self.rows as u64
    }
}

impl ProvisionalRows {
    /// How many there are of a kind, those included that the filter hides.
    pub(super) fn of(&self, kind: KindId) -> usize {
        self.counts.get(kind.index()).copied().unwrap_or(0)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Whether there are none: then no change has to look for one.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// What became of all of them.
    pub(super) fn sums(&self) -> ProvisionalSums {
        let ProvisionalRows { made, confirmed, dropped, .. } = *self;
        ProvisionalSums { made, confirmed, dropped, rows: self.len(), leaving: self.has_leaving() }
    }

    /// A row came.
    pub(super) fn add(&mut self, kind: KindId) {
        self.made += 1;
        *self.count(kind) += 1;
    }

    /// A row became the row of an object that is known.
    pub(super) fn confirm(&mut self, kind: KindId) {
        self.confirmed += 1;
        *self.count(kind) -= 1;
    }

    /// A row is to go, because a list took its object back.
    pub(super) fn leave(&mut self, row: Option<RowKey>) {
        self.leaving.extend(row);
    }

    /// A row is not to go, because its object has come again.
    pub(super) fn stay(&mut self, id: RowId) {
        self.leaving.retain(|leaving| leaving.id != id);
    }

    /// Whether rows are to go.
    pub(super) fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// The first list of a kind in this namespace, which is empty for all, is complete, and all of its objects have come:
    /// what is provisional still is to go. Looks at every row, if there is any such row.
    pub(super) fn end_list(&mut self, kind: KindId, namespace: &str, rows: &Rows) {
        if self.of(kind) == 0 {
            return;
        }
        let is_own = |name: &str| namespace.is_empty() || name == namespace;
        let ids = (0..).map(RowId).zip(&rows.slots);
        let rows = ids.filter_map(|(id, row)| Some((id, row.as_ref()?)));
        let left = rows.filter(|(_, row)| row.provisional && row.kind == kind && is_own(&row.object.key.namespace));
        self.leaving.extend(left.map(|(id, row)| RowKey { id, born: row.born }));
    }

    /// The next row that is to go, which is counted as dropped.
    pub(super) fn take_leaving(&mut self, rows: &Rows) -> Option<RowId> {
        loop {
            let key = self.leaving.pop()?;
            if let Some(row) = rows.of_key(key).filter(|row| row.provisional) {
                self.dropped += 1;
                *self.count(row.kind) -= 1;
                return Some(key.id);
            }
        }
    }

    fn count(&mut self, kind: KindId) -> &mut usize {
        if self.counts.len() <= kind.index() {
            self.counts.resize(kind.index() + 1, 0);
        }
        &mut self.counts[kind.index()]
    }
}
