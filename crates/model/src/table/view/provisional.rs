//! Rows of objects that a first list has brought while the list is not complete.
//!
//! Such a row is shown in its place, and counts nowhere as an object that is known to exist: the list may break, and the
//! next one may not have the object. When the list is complete and its objects have reached the store, each of them makes
//! its provisional row a row like all others, in place. The provisional rows that are left then go without a trace: that
//! an incomplete list named an object does not show when the object was deleted, or that it was.

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::cache::delta::DeltaType;

use crate::kind_id::KindId;
use crate::table::order::{RowId, RowKey};
use crate::table::view::row::{Row, SortKey};
use crate::table::view::{TableView, hash};

/// How many rows go at a time at the end of a list: some milliseconds of work.
const AT_ONCE: usize = if cfg!(test) { 3 } else { 2048 };

/// The provisional rows of a table, and what became of those that there were.
#[derive(Debug, Default)]
pub(super) struct Provisional {
    /// How many there are of each kind, by the kind's number.
    counts: Vec<usize>,
    made: u64,
    confirmed: u64,
    dropped: u64,
    /// Rows that go as soon as the table is not held.
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
    /// Whether some of them only wait to go, until the table is not held.
    pub leaving: bool,
}

impl ProvisionalSums {
    /// Whether every row is in one place.
    pub fn is_balanced(&self) -> bool {
        self.made == self.confirmed + self.dropped + self.rows as u64
    }
}

impl Provisional {
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
        let Provisional { made, confirmed, dropped, .. } = *self;
        ProvisionalSums { made, confirmed, dropped, rows: self.len(), leaving: !self.leaving.is_empty() }
    }

    fn count(&mut self, kind: KindId) -> &mut usize {
        if self.counts.len() <= kind.index() {
            self.counts.resize(kind.index() + 1, 0);
        }
        &mut self.counts[kind.index()]
    }
}

impl TableView {
    /// How many rows of one kind are provisional, those included that the filter hides.
    pub fn provisional_of(&self, kind: KindId) -> usize {
        self.provisional.counts.get(kind.index()).copied().unwrap_or(0)
    }

    /// Whether rows wait to go until the table is not held, or until their turn comes.
    pub fn has_leaving(&self) -> bool {
        self.held.is_none() && !self.provisional.leaving.is_empty()
    }

    /// Takes in a delta of a first list that is not complete. `now` is the time in milliseconds.
    pub fn apply_listed(&mut self, kind: KindId, delta_type: DeltaType, object: &Arc<Object>, now: f64) {
        self.taken.listed += 1;
        let Some(id) = self.find(kind, &object.key) else {
            if delta_type != DeltaType::Deleted {
                *self.provisional.count(kind) += 1;
                self.provisional.made += 1;
                self.make(Row { provisional: true, ..Row::new(kind, object, DeltaType::Replaced, now) });
            }
            return;
        };
        // What is known of an object does not come from a list that is not complete.
        if !self.is_provisional(id) {
            return;
        }
        if delta_type == DeltaType::Deleted {
            self.provisional.leaving.extend(self.key_of(id));
            return;
        }
        self.provisional.leaving.retain(|leaving| leaving.id != id);
        self.renew(id, object);
    }

    /// The first list of a kind in this namespace, which is empty for all, is complete, and the table has taken in all
    /// of its objects: what is provisional still is not among them. Looks at every row, if there is any such row.
    pub fn end_list(&mut self, kind: KindId, namespace: &str) {
        if self.provisional_of(kind) == 0 {
            return;
        }
        let is_own = |row: &Row| namespace.is_empty() || *row.object.key.namespace == *namespace;
        let ids = (0..).map(RowId).zip(&self.rows);
        let rows = ids.filter_map(|(id, row)| Some((id, row.as_ref()?)));
        let left = rows.filter(|(_, row)| row.provisional && row.kind == kind && is_own(row));
        self.provisional.leaving.extend(left.map(|(id, row)| RowKey { id, born: row.born }));
    }

    /// Lets rows go that the complete list does not have, some thousands at a time.
    pub(super) fn let_unlisted_go(&mut self) {
        for _ in 0..AT_ONCE {
            let Some(key) = self.provisional.leaving.pop() else { return };
            let Some(row) = self.row_of(key).filter(|row| row.provisional) else { continue };
            let (kind, hash) = (row.kind, hash(row.kind, &row.object.key));
            if let Ok(entry) = self.live.find_entry(hash, |id| *id == key.id) {
                entry.remove();
            }
            *self.provisional.count(kind) -= 1;
            self.provisional.dropped += 1;
            self.discard(key.id);
        }
    }

    /// The provisional row of an object, by its number.
    pub(super) fn is_provisional(&self, id: RowId) -> bool {
        self.row(id).is_some_and(|row| row.provisional)
    }

    /// Makes a provisional row the row of an object that is known, in its place.
    pub(super) fn confirm(&mut self, id: RowId, object: &Arc<Object>, delta: DeltaType, now: f64) {
        self.renew(id, object);
        let (judged, shown) = (self.is_judged(id), self.is_shown(id));
        // What the list brought is shown already. An object that was created since is news.
        let is_news = delta == DeltaType::Added;
        let moves = is_news && self.sort.key == SortKey::Changed;
        if moves {
            self.leave(id);
        }
        self.version = self.version.wrapping_add(1);
        if let Some(row) = self.rows[id.0 as usize].as_mut() {
            (row.provisional, row.version) = (false, self.version);
            if is_news {
                (row.delta, row.changed_at) = (delta, now);
            }
            *self.provisional.count(row.kind) -= 1;
            self.provisional.confirmed += 1;
        }
        match (judged, shown) {
            (true, true) => self.live_shown += 1,
            (true, false) => self.live_hidden += 1,
            (false, _) => {}
        }
        if moves {
            self.enter(id);
        }
    }

    /// Puts a newer state of its object into a provisional row. Nothing is marked as a change.
    fn renew(&mut self, id: RowId, new: &Arc<Object>) {
        let Some(row) = self.row(id) else { return };
        if Arc::ptr_eq(&row.object, new) {
            return;
        }
        let (is_same, is_other) = (row.object.cells == new.cells, row.object.uid != new.uid);
        self.version = self.version.wrapping_add(1);
        let version = self.version;
        let put = |row: &mut Row| {
            row.object = new.clone();
            row.version = version;
            // Another object is another row, which only has the same place.
            if is_other {
                row.born = version;
            }
        };
        match self.rows[id.0 as usize].as_mut() {
            // What a row is sorted and filtered by is its key and its cells.
            Some(row) if is_same => put(row),
            _ => self.change(id, self.moves(id, new), put),
        }
    }
}
