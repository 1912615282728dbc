//! The view of the user on a timeline, and the layout of its canvas.

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::local_time::Offsets;
use crate::timeline::scale::Window;

/// What the user sees of a timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineView {
    /// The width of the canvas, in CSS pixels.
    pub width: f64,
    /// The height of the canvas, in CSS pixels.
    pub height: f64,
    /// The time to draw: [`crate::timeline::scale::Viewport::window`].
    pub window: Window,
    /// What must be added to the times of the window to get local ones.
    pub offsets: Offsets,
    /// How many lanes are scrolled past.
    pub scroll: usize,
    /// Whether lanes must keep their rows, as while the pointer is over them.
    pub hold: bool,
    /// The object whose lane comes first, with its kind.
    pub selected: Option<(KindId, ObjectKey)>,
    /// Where the pointer is, in CSS pixels.
    pub hover: Option<(f64, f64)>,
    /// The chosen stretch of time.
    pub span: Option<Window>,
    /// The two moments that are compared; the second may be infinity, which is now.
    pub compared: Option<Window>,
    /// The moment that is shown, and its time of day; `None` for now.
    pub moment: Option<(f64, String)>,
    /// How wide the user wants the column of labels, in CSS pixels; `None` for as wide as the labels are.
    pub labels: Option<f64>,
}

impl TimelineView {
    /// The row under the pointer.
    pub(super) fn hovered_row(&self, layout: &Layout) -> Option<usize> {
        let over_lanes = |(_, y): &(f64, f64)| *y >= layout.top && *y < layout.bottom;
        self.hover.filter(over_lanes).and_then(|(_, y)| layout.row_at(y))
    }
}

/// The least width of the column of labels, unless the user chose another one.
const LEAST: f64 = 148.0;
/// The column takes at most this part of the canvas by itself, and the greater one if the user wants that.
const SHARE: f64 = 0.4;
const MOST: f64 = 0.7;

/// Where the parts of the canvas are, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    /// The width of the canvas.
    pub width: f64,
    /// The height of the canvas.
    pub height: f64,
    /// Where the labels end and the time axis begins.
    pub left: f64,
    /// Where the time axis ends.
    pub right: f64,
    /// The upper edge of the overview.
    pub strip_top: f64,
    /// The lower edge of the overview.
    pub strip_bottom: f64,
    /// The upper edge of the first lane.
    pub top: f64,
    /// The lower edge of the last lane.
    pub bottom: f64,
    /// How tall a lane is.
    pub row_height: f64,
    /// How many lanes fit.
    pub rows: usize,
}

impl Layout {
    /// The layout of a canvas of this size. `labels` is how wide the column of labels needs to be; `chosen`, how wide the
    /// user wants it.
    pub fn new((width, height): (f64, f64), labels: f64, chosen: Option<f64>) -> Layout {
        let automatic = labels.clamp(LEAST, (width * SHARE).max(LEAST));
        let left = chosen.map_or(automatic, |chosen| chosen.min(width * MOST)).round();
        let (top, bottom) = (48.0, (height - 18.0).max(48.0));
        let rows = ((bottom - top) / 19.0).floor().clamp(0.0, 1_000.0);
        Layout {
            width,
            height,
            left,
            right: (width - 12.0).max(left + 1.0),
            strip_top: 6.0,
            strip_bottom: 28.0,
            top,
            bottom,
            row_height: if rows > 0.0 { (bottom - top) / rows } else { 19.0 },
            rows: rows as usize,
        }
    }

    /// The y coordinate of the middle of a row.
    pub fn row_y(&self, row: usize) -> f64 {
        self.top + (row as f64 + 0.5) * self.row_height
    }

    /// The row at `y`; `None` above and below the rows.
    pub fn row_at(&self, y: f64) -> Option<usize> {
        let row = ((y - self.top) / self.row_height).floor();
        (row >= 0.0 && row < self.rows as f64).then_some(row as usize)
    }
}
