//! Paints the labels beside the lanes: star, triangle, kind, namespace and name.

use kubechurn_model::timeline::mark::{MarkType, grouped};
use kubechurn_model::timeline::scene::{LaneRow, Scene, fit};

use crate::ui::timeline::canvas::Canvas;

/// The left edge of labels where lanes do not stand in groups.
pub(super) const MARGIN: f64 = 14.0;

/// The most characters of a namespace.
const NAMESPACE: usize = 12;
/// Fewer characters than this are too few for a namespace and a name.
const NARROW: usize = 20;
/// The most characters of a kind.
const KIND: usize = 7;
/// The same among groups, where the number of objects below stands behind the kind.
const GROUP_KIND: usize = 14;

/// Paints the labels of all rows.
pub(super) fn paint_labels(canvas: &Canvas, scene: &Scene) {
    scene.lanes.iter().flatten().for_each(|row| paint_star(canvas, row));
    if scene.lanes.iter().flatten().any(|row| row.group.is_some()) {
        scene.lanes.iter().flatten().for_each(|row| paint_group(canvas, row, scene.layout.left));
    } else {
        paint_columns(canvas, scene);
    }
}

/// Paints kinds, namespaces and names in columns.
fn paint_columns(canvas: &Canvas, scene: &Scene) {
    let char = canvas.char;
    // Namespaces stand in a column as wide as the longest of them, so that names begin at one place.
    let all = ((scene.layout.left - MARGIN - 12.0) / char).floor().max(1.0) as usize;
    // Where there are several kinds, they stand before them in a column of their own.
    let longest = |text: fn(&LaneRow) -> &str| scene.lanes.iter().flatten().map(|row| text(row).chars().count()).max();
    let kind = longest(|row| row.kind_name).unwrap_or(0).min(KIND).min(all / 3);
    let room = |length: usize| if length == 0 { 0 } else { length + 1 };
    // Where there is little room, it is the name's.
    let most = if all < room(kind) + NARROW { 0 } else { NAMESPACE.min((all - kind) / 2) };
    let namespace = longest(|row| &row.key.namespace).unwrap_or(0).min(most);
    let namespace_x = MARGIN + room(kind) as f64 * char;
    let name_x = namespace_x + room(namespace) as f64 * char;
    let name = all.saturating_sub(room(kind) + room(namespace));
    canvas.fill(&canvas.colours.faint);
    for row in scene.lanes.iter().flatten() {
        canvas.text(&fit(row.kind_name, kind), MARGIN, row.y);
        canvas.text(&fit(&row.key.namespace, namespace), namespace_x, row.y);
    }
    for row in scene.lanes.iter().flatten() {
        paint_name(canvas, row, &fit(&row.key.name, name), name_x);
    }
}

/// Paints the name of an object or group. The name of a deleted object is struck out.
fn paint_name(canvas: &Canvas, row: &LaneRow, name: &str, x: f64) {
    let is_group = row.group.as_ref().is_some_and(|group| group.open.is_some());
    canvas.fill(match row.live {
        false => &canvas.colours.faint,
        true if row.selected || is_group => &canvas.colours.text,
        true => &canvas.colours.dim,
    });
    canvas.text(name, x, row.y);
    if !row.live {
        canvas.fill(canvas.mark(MarkType::Deleted));
        canvas.context.set_global_alpha(0.6);
        canvas.context.fill_rect(x, row.y.round(), name.chars().count() as f64 * canvas.char, 1.0);
        canvas.context.set_global_alpha(1.0);
    }
}

/// Paints the star of a row that is kept on top, or that can be while the pointer is over it.
fn paint_star(canvas: &Canvas, row: &LaneRow) {
    let kept = row.group.as_ref().is_some_and(|group| group.kept);
    if kept || row.hovered {
        canvas.fill(if kept { &canvas.colours.warn } else { &canvas.colours.faint });
        canvas.text(if kept { "★" } else { "☆" }, 3.0, row.y + 0.5);
    }
}

/// Paints the label of a row among groups, which ends at `right`.
fn paint_group(canvas: &Canvas, row: &LaneRow, right: f64) {
    let Some(group) = row.group.as_deref() else { return };
    let x = row.name_x();
    if let Some(open) = group.open {
        paint_triangle(canvas, open, x - 9.0, row.y);
    }
    let word = if group.word.is_empty() { row.kind_name } else { &*group.word };
    let count = group.open.map(|_| grouped(u64::from(group.members))).unwrap_or_default();
    let space = if word.is_empty() || count.is_empty() { "" } else { " " };
    let room = |from: f64| ((right - 10.0 - from) / canvas.char).max(0.0) as usize;
    let kind = fit(&format!("{word}{space}{count}"), GROUP_KIND.min(room(x) / 2));
    let kind_width = kind.chars().count() as f64 * canvas.char;
    canvas.fill(&canvas.colours.faint);
    canvas.text(&kind, right - 10.0 - kind_width, row.y);
    let most = room(x + kind_width + if kind.is_empty() { 0.0 } else { canvas.char });
    paint_name(canvas, row, &fit(&group.name, most), x);
}

/// Paints the triangle that opens and closes a group. It points down for an open one.
fn paint_triangle(canvas: &Canvas, open: bool, x: f64, y: f64) {
    let context = &canvas.context;
    canvas.fill(&canvas.colours.dim);
    context.begin_path();
    if open {
        context.move_to(x - 3.5, y - 2.0);
        context.line_to(x + 3.5, y - 2.0);
        context.line_to(x, y + 3.5);
    } else {
        context.move_to(x - 2.0, y - 3.5);
        context.line_to(x + 3.5, y);
        context.line_to(x - 2.0, y + 3.5);
    }
    context.close_path();
    context.fill();
}
