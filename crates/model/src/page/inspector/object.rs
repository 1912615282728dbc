//! The object that the inspector shows, as the lists and watches know it.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};

use crate::inspector::relatives;
use crate::page::context::Context;
use kubechurn_columns::kinds::Kind;

/// The object that the inspector shows.
#[derive(Debug)]
pub struct InspectedObject {
    pub kind: &'static Kind,
    pub key: ObjectKey,
    /// The newest row of the object.
    pub row: Option<Arc<Object>>,
    pub state: ObjectState,
}

/// Whether the object exists, as far as the page knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectState {
    /// It is not among the rows, and may not be known yet.
    Waiting,
    /// A list that is not complete has brought it.
    Provisional,
    Live,
    Deleted,
    /// The server says that there is no such object.
    Unknown,
}

/// How the object differs from the one that was looked at before.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Whether its row or its state changed.
    pub changed: bool,
    /// Whether another object has its name now.
    pub is_other: bool,
}

impl ObjectState {
    /// The name in the document.
    pub fn name(self) -> &'static str {
        match self {
            ObjectState::Waiting => "waiting",
            ObjectState::Provisional => "provisional",
            ObjectState::Live => "live",
            ObjectState::Deleted => "deleted",
            ObjectState::Unknown => "unknown",
        }
    }
}

impl InspectedObject {
    /// Nothing is known of it yet.
    pub fn new(kind: &'static Kind, key: ObjectKey) -> InspectedObject {
        InspectedObject { kind, key, row: None, state: ObjectState::Waiting }
    }

    /// Whether it is this object.
    pub fn is(&self, kind: &Kind, key: &ObjectKey) -> bool {
        self.kind == kind && self.key == *key
    }

    /// Reads the present row. `is_missing` is whether the server says that the object does not exist.
    pub fn look(&mut self, is_missing: bool, cx: &Context<'_>) -> Difference {
        let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
        let row = relatives::find(watches, informers, self.kind, &self.key).cloned();
        let state = match (&row, &self.row) {
            (Some(_), _) => ObjectState::Live,
            (None, _) if watches.is_provisional(self.kind, &self.key) => ObjectState::Provisional,
            (None, Some(_)) if cx.watching.has_listed(self.kind) => ObjectState::Deleted,
            (None, Some(_)) => self.state,
            // A deletion was recorded.
            (None, None) if self.state == ObjectState::Deleted => ObjectState::Deleted,
            (None, None) if is_missing => ObjectState::Unknown,
            (None, None) => ObjectState::Waiting,
        };
        let is_same = match (&row, &self.row) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old),
            (new, _) => new.is_none(),
        };
        let changed = state != self.state || !is_same;
        let is_other = row.as_ref().zip(self.row.as_ref()).is_some_and(|(new, old)| new.uid != old.uid);
        if row.is_some() {
            self.row = row;
        }
        self.state = state;
        Difference { changed, is_other }
    }
}
