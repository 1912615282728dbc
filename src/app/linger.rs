//! How long deleted rows stay: chosen, kept for the next visit, and told to every table.

use kubechurn_model::page::keys::Act;
use kubechurn_model::table::view::{Retention, TableView};

use kubechurn_model::page::view::RetentionModel;

use crate::app::Page;
use crate::app::travel::{keep, kept};
use crate::ui::screen::put;

/// What the browser keeps it under.
const KEY: &str = "kubechurn.linger";

/// What was chosen last.
pub(super) fn stored() -> Retention {
    kept(KEY).and_then(|name| Retention::named(&name)).unwrap_or_default()
}

impl Page {
    /// Has deleted rows stay so long from now on, those that are deleted already among them.
    pub(super) fn linger(&mut self, linger: Retention, now: f64) {
        self.linger = linger;
        keep(KEY, (linger != Retention::default()).then_some(linger.name()));
        // It was asked for, so that nothing has to be held any longer.
        self.pointer.over_table(false, now);
        if let Some(view) = self.watches.view_mut() {
            view.release();
        }
        self.tell(&format!("{}.", Act::Retention(linger).title()), now);
        self.present_linger();
    }

    /// Lets the deleted rows of the table in view go.
    pub(super) fn clear_deleted(&mut self, now: f64) {
        let Some(view) = self.watches.view_mut() else { return };
        let (count, _) = view.retained();
        view.dismiss();
        self.pointer.over_table(false, now);
        let words = match count {
            0 => String::from("There are no deleted rows."),
            1 => String::from("Cleared 1 deleted row."),
            count => format!("Cleared {count} deleted rows."),
        };
        self.tell(&words, now);
        self.present_linger();
    }

    /// Shows what was chosen, and how many rows stay by it.
    pub(super) fn present_linger(&self) {
        let (count, crowded_out) = self.watches.view().map_or((0, 0), TableView::retained);
        put(self.screen.linger, RetentionModel { chosen: self.linger, count, crowded_out });
    }
}
