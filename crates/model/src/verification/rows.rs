//! Compares the rows of a table with the store that they come from, in slices. Each row is looked up in the store.

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::cache::consistency::{Difference, Differences};
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::journal::Identity;

use crate::watches::Watches;

/// How many rows are looked at in one slice: a few milliseconds of work.
const SLICE: usize = 4096;

/// A comparison of rows under way.
#[derive(Debug, Default)]
pub(super) struct RowRun {
    /// The row number that comes next.
    next: usize,
    /// How many rows are the same as in the store.
    pub(super) same: u64,
    /// Rows that differ or are missing: `ours` is the row, `theirs` is in the store.
    pub(super) differences: Differences,
    /// The objects of the store, each of which is looked for among the rows, if there are fewer rows than objects.
    sought: Option<std::vec::IntoIter<Arc<Object>>>,
}

impl RowRun {
    /// Compares a slice of the rows of one informer. The table must have heard of everything that the store holds.
    /// Returns whether the comparison is done.
    pub(super) fn work(&mut self, id: InformerId, watches: &Watches, informers: &SharedInformerFactory) -> bool {
        let (Some(table), Some(informer)) = (watches.table_of(id), informers.get(id)) else { return true };
        let (view, kind, store) = (table.view, table.kind, informer.store());
        if let Some(mut sought) = self.sought.take() {
            for object in sought.by_ref().take(SLICE) {
                let is_there = store.get(&object.key).is_some();
                let row = view.find(kind, &object.key).and_then(|id| view.row(id));
                if is_there && row.is_none_or(|row| !row.lives()) {
                    let theirs = Some(Identity::from(&*object));
                    self.differences.push(Difference { key: object.key.clone(), ours: None, theirs });
                }
            }
            let done = sought.len() == 0;
            if !done {
                self.sought = Some(sought);
            }
            return done;
        }
        let is_own = |object: &Object| table.namespace.is_empty() || *object.key.namespace == *table.namespace;
        for row in view.rows().live_among(self.next, SLICE).filter(|row| row.kind == kind && is_own(&row.object)) {
            let held = store.get(&row.object.key);
            let is_same = held.is_some_and(|held| {
                Arc::ptr_eq(held, &row.object)
                    || (held.uid == row.object.uid && held.resource_version == row.object.resource_version)
            });
            if is_same {
                self.same += 1;
            } else {
                let (ours, theirs) = (Identity::from(&*row.object), held.map(|held| Identity::from(&**held)));
                self.differences.push(Difference { key: row.object.key.clone(), ours: Some(ours), theirs });
            }
        }
        self.next += SLICE;
        if self.next < view.rows().places() {
            return false;
        }
        // Each row is of another object that exists. If there are as many rows as objects, none is missing.
        let held: usize = table.informers.iter().filter_map(|id| informers.get(*id)).map(|one| one.store().len()).sum();
        if view.counts().1 == held {
            return true;
        }
        self.sought = Some(store.iter().cloned().collect::<Vec<_>>().into_iter());
        false
    }
}
