//! A table and a timeline of the same objects: what one kind has, and what several have together.

use std::sync::Arc;

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::handler::{Handled, ResourceEventHandler};
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::page::audit::AuditLog;
use crate::page::notices::{News, Said};
use crate::table::view::TableView;
use crate::timeline::Timeline;

/// Rows and marks.
#[derive(Debug, Default)]
pub struct Sheet {
    /// The rows.
    pub view: TableView,
    /// The marks.
    pub timeline: Timeline,
    /// Where it is written down what the rows come to be.
    pub audit: AuditLog,
}

/// Shows what changed in objects of one kind, by its number, as rows.
pub(super) struct TableHandler<'a> {
    pub(super) kind: KindId,
    pub(super) of: (&'a ApiResource, &'a Scope),
    pub(super) sheet: &'a mut Sheet,
}

impl ResourceEventHandler for TableHandler<'_> {
    fn changed(&mut self, now: f64, change: &Change) -> Handled {
        self.sheet.view.apply_of(self.kind, change, now);
        self.sheet.audit.shown(self.of, (&self.sheet.view, self.kind), change, now);
        Ok(())
    }
}

impl Sheet {
    /// An object that has a row, and no lane.
    fn laneless(&self, kind: KindId, key: &ObjectKey) -> Option<Arc<Object>> {
        if self.timeline.has_lane(kind, key) {
            return None;
        }
        self.view.find(kind, key).and_then(|id| self.view.row(id)).map(|row| row.object.clone())
    }

    /// Gives an object that has a row a lane on the timeline, if it has none. The row tells in which state it was whose
    /// last mark is long gone.
    pub(super) fn recall(&mut self, kind: KindId, key: &ObjectKey) {
        if let Some(object) = self.laneless(kind, key) {
            self.timeline.recall((kind, key), &object.uid, tone(&object));
        }
    }

    /// The same for an object that is looked at.
    pub fn attend(&mut self, kind: KindId, key: &ObjectKey) {
        if let Some(object) = self.laneless(kind, key) {
            self.timeline.attend((kind, key), &object.uid, tone(&object));
        }
    }

    /// Marks what was said of all, or of an informer that `prefix` knows, with which its words begin.
    pub(super) fn hear(&mut self, said: Vec<Said>, prefix: impl Fn(InformerId) -> Option<String>) {
        for Said { news, .. } in said {
            match news {
                News::Memory { .. } | News::Unbalanced { .. } => {}
                News::Overload { from, to, .. } => self.timeline.gap(from, to, "overload: the table was behind"),
                // The list that heals it is drawn.
                News::Difference { .. } => {}
                News::Watch(id, notice) => match (prefix(id), notice) {
                    (Some(of), Notice::Relisted { at, reason, .. }) => {
                        self.timeline.relist(at, &format!("{of}relist: {reason}"));
                    }
                    (Some(of), Notice::Gap { from, to, reason }) => {
                        self.timeline.gap(from, to, &format!("{of}{reason}"));
                    }
                    // A stale or refused watch is drawn as a gap while it lasts.
                    _ => {}
                },
            }
        }
    }
}

/// The most alarming thing that an object says of itself.
pub(super) fn tone(object: &Object) -> Tone {
    object.cells.iter().find(|cell| matches!(cell, CellRef::Status(..))).map_or(Tone::Plain, CellRef::tone)
}
