//! The object that the inspector shows, as the lists and watches know it.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};

use crate::history::coverage::Moment;
use crate::inspector::relatives;
use crate::page::context::Context;
use crate::rewind::{Present, Stores, Then, object_then};
use kubechurn_columns::kinds::Kind;

/// The object that the inspector shows.
#[derive(Debug)]
pub struct InspectedObject {
    pub kind: &'static Kind,
    pub key: ObjectKey,
    /// The newest row of the object.
    pub row: Option<Arc<Object>>,
    pub state: ObjectState,
    /// The moment of which row and state are; `None` for now.
    moment: Option<Moment>,
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
        InspectedObject { kind, key, row: None, state: ObjectState::Waiting, moment: None }
    }

    /// Whether it is this object.
    pub fn is(&self, kind: &Kind, key: &ObjectKey) -> bool {
        self.kind == kind && self.key == *key
    }

    /// Whether row and state are of another moment than now.
    pub fn is_of_moment(&self) -> bool {
        self.moment.is_some()
    }

    /// An object that is related to this one, as it was at the same time, or else as it is now; and whether it is of that time.
    pub fn relative(&self, kind: &'static Kind, key: &ObjectKey, cx: &Context<'_>) -> (Option<Arc<Object>>, bool) {
        let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
        let stores = Stores { watches, informers };
        let then = self.moment.map(|moment| object_then(kind, key, moment, (&cx.watching.history, &stores), None));
        match then {
            Some(Then::Object(then)) => (Some(then), true),
            then => (relatives::find(watches, informers, kind, key).cloned(), then.is_none()),
        }
    }

    /// Reads the present row. `is_missing` is whether the server says that the object does not exist.
    pub fn look(&mut self, is_missing: bool, cx: &Context<'_>) -> Difference {
        if let Some(moment) = cx.watching.moment {
            return self.look_back(moment, cx);
        }
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
        // A row of another moment says nothing of now.
        let was_rewound = self.moment.take().is_some();
        let changed = state != self.state || !is_same || was_rewound;
        let is_other = row.as_ref().zip(self.row.as_ref()).is_some_and(|(new, old)| new.uid != old.uid);
        if row.is_some() {
            self.row = row;
        }
        self.state = state;
        Difference { changed, is_other }
    }

    /// The same at a moment.
    fn look_back(&mut self, moment: Moment, cx: &Context<'_>) -> Difference {
        let stores = Stores { watches: &cx.watching.watches, informers: &cx.watching.informers };
        let stores = (&cx.watching.history, &stores as &dyn Present);
        let (row, state) = match object_then(self.kind, &self.key, moment, stores, self.row.as_ref()) {
            Then::Object(row) => (Some(row), ObjectState::Live),
            Then::NotRecorded => (None, ObjectState::Waiting),
            Then::Absent if cx.versions_of(self.kind, &self.key).is_empty() => (None, ObjectState::Unknown),
            Then::Absent => (None, ObjectState::Deleted),
        };
        let is_other = row.as_ref().zip(self.row.as_ref()).is_some_and(|(new, old)| new.uid != old.uid);
        let changed = self.moment.replace(moment) != Some(moment) || state != self.state;
        (self.row, self.state) = (row, state);
        Difference { changed, is_other }
    }
}
