//! Paints what stands beside the lanes of groups: star, triangle, name and kind.

use kubechurn_model::timeline::mark::grouped;
use kubechurn_model::timeline::scene::{LaneRow, fit};

use crate::ui::timeline_canvas::Painter;

/// The most characters of a kind, and of a kind with the number of objects below it.
const KIND: usize = 14;

impl Painter {
    /// Paints the star of a row that is kept on top, or that can be while the pointer is over it.
    pub(super) fn paint_star(&self, row: &LaneRow) {
        let kept = row.group.as_ref().is_some_and(|group| group.kept);
        if kept || row.hovered {
            self.fill(if kept { &self.colours.warn } else { &self.colours.faint });
            self.text(if kept { "★" } else { "☆" }, 3.0, row.y + 0.5);
        }
    }

    /// Paints the label of a row among groups, which ends at `right`.
    pub(super) fn paint_label(&self, row: &LaneRow, right: f64) {
        let Some(group) = row.group.as_deref() else { return };
        let (context, colours, x) = (&self.context, &self.colours, row.name_x());
        if let Some(open) = group.open {
            let (left, y) = (x - 9.0, row.y);
            self.fill(&colours.dim);
            context.begin_path();
            if open {
                context.move_to(left - 3.5, y - 2.0);
                context.line_to(left + 3.5, y - 2.0);
                context.line_to(left, y + 3.5);
            } else {
                context.move_to(left - 2.0, y - 3.5);
                context.line_to(left + 3.5, y);
                context.line_to(left - 2.0, y + 3.5);
            }
            context.close_path();
            context.fill();
        }
        let word = if group.word.is_empty() { row.kind_name } else { &*group.word };
        let count = group.open.map(|_| grouped(u64::from(group.members))).unwrap_or_default();
        let space = if word.is_empty() || count.is_empty() { "" } else { " " };
        let room = |from: f64| ((right - 10.0 - from) / self.char).max(0.0) as usize;
        let kind = fit(&format!("{word}{space}{count}"), KIND.min(room(x) / 2));
        let kind_width = kind.chars().count() as f64 * self.char;
        self.fill(&colours.faint);
        self.text(&kind, right - 10.0 - kind_width, row.y);
        let most = room(x + kind_width + if kind.is_empty() { 0.0 } else { self.char });
        let name = fit(&group.name, most);
        self.fill(match () {
            () if !row.live => &colours.faint,
            () if row.selected || group.open.is_some() => &colours.text,
            () => &colours.dim,
        });
        self.text(&name, x, row.y);
        if !row.live {
            self.strike(x, row.y, name.chars().count());
        }
    }
}
