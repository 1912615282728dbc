//! Paints the labels beside the lanes: star, triangle, kind, namespace and name.

use kubechurn_model::timeline::scene::labels::{Columns, END, MARGIN, kind_room, kind_words};
use kubechurn_model::timeline::scene::{LaneRow, Scene, fit};

use crate::ui::timeline::canvas::Canvas;

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
    let all = ((scene.layout.left - MARGIN - END) / canvas.char).floor().max(1.0) as usize;
    let columns = Columns::of(&scene.lanes, all);
    let Columns { kind, namespace, name } = columns;
    let [namespace_x, name_x] = columns.places(canvas.char);
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
        canvas.context.set_global_alpha(0.8);
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
    let all = ((right - END - x) / canvas.char).max(0.0) as usize;
    let kind = fit(&kind_words(row), kind_room(&group.name, all));
    let length = kind.chars().count();
    canvas.fill(&canvas.colours.faint);
    canvas.text(&kind, right - END - length as f64 * canvas.char, row.y);
    let most = all.saturating_sub(if length == 0 { 0 } else { length + 1 });
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
