//! Paints a timeline's scene on a canvas. It decides nothing: the scene contains the position of everything.
//!
//! Painting is fast because whatever has one colour is painted together.

use kubechurn_model::timeline::mark::{MarkType, grouped};
use kubechurn_model::timeline::scene::labels::MARGIN;
use kubechurn_model::timeline::scene::{
    Kept, Layout, MomentFlag, NoteMark, REACH, ROW_TINTS, RowGap, SPAN_TINTS, Scene, fit,
};

use crate::ui::timeline::bands::{paint_bands, paint_words};
use crate::ui::timeline::canvas::Canvas;
use crate::ui::timeline::labels::paint_labels;
use crate::ui::timeline::marks::{paint_marks, paint_past, paint_pills, shape};

/// How far from each other the lines are by which a gap is hatched.
const HATCH: f64 = 4.0;

/// How opaque the overview's columns are, by [`MarkType::OBJECT`].
const STRIP: [f64; 5] = [0.25, 0.4, 0.6, 0.8, 1.0];

/// Paints everything anew.
pub fn paint(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let layout = &scene.layout;
    // Resizing a canvas resets its context, so the context is set up each time. Setting the font is slow, and done
    // once.
    canvas.begin_at(0.0, 0.0);
    context.set_text_baseline("middle");
    context.set_text_align("left");
    context.set_line_width(1.0);
    context.clear_rect(0.0, 0.0, layout.width, layout.height);
    canvas.fill(&canvas.colours.panel);
    context.fill_rect(0.0, 0.0, layout.width, layout.height);
    paint_strip(canvas, scene);
    paint_rows(canvas, scene);
    paint_labels(canvas, scene);
    context.save();
    context.begin_path();
    context.rect(layout.left - REACH, 0.0, layout.right - layout.left + 2.0 * REACH, layout.height);
    context.clip();
    paint_bands(canvas, scene);
    paint_past(canvas, scene);
    paint_words(canvas, scene);
    if let Some(span) = scene.span {
        tint(canvas, span, layout.top, layout.height);
    }
    paint_pills(canvas, scene);
    paint_marks(canvas, scene);
    paint_stream(canvas, scene);
    paint_notes(canvas, scene);
    context.restore();
    paint_axis(canvas, scene);
    for (x, word) in scene.compared.into_iter().zip(["A", "B"]) {
        if let Some(x) = x {
            paint_flag(canvas, x, (word, 16.0), layout);
        }
    }
    if let Some(flag) = &scene.moment {
        paint_moment(canvas, flag, layout);
    }
}

/// Paints a line over the lanes, with a flag of this width on the axis.
fn paint_flag(canvas: &Canvas, x: f64, (words, width): (&str, f64), layout: &Layout) {
    let context = &canvas.context;
    canvas.fill(&canvas.colours.text);
    context.fill_rect(x.round() - 1.0, layout.top, 2.0, layout.bottom - layout.top);
    let left = (x - width / 2.0).min(layout.width - width).round();
    context.fill_rect(left, layout.bottom + 1.0, width, 16.0);
    canvas.fill(&canvas.colours.panel);
    context.set_text_align("center");
    canvas.text(words, left + width / 2.0, layout.bottom + 10.0);
    context.set_text_align("left");
}

/// Paints the moment that is shown: what came later stands back, and the line has a flag with its time.
fn paint_moment(canvas: &Canvas, flag: &MomentFlag, layout: &Layout) {
    let context = &canvas.context;
    canvas.fill(&canvas.colours.panel);
    context.set_global_alpha(0.6);
    for (x, top, bottom) in
        [(flag.later, layout.top - 20.0, layout.bottom), (flag.strip_x, layout.strip_top, layout.strip_bottom)]
    {
        if let Some(x) = x {
            context.fill_rect(x, top, layout.right + REACH - x, bottom - top);
        }
    }
    context.set_global_alpha(1.0);
    canvas.fill(&canvas.colours.text);
    if let Some(x) = flag.strip_x {
        context.fill_rect(x.round() - 1.0, layout.strip_top - 3.0, 2.0, layout.strip_bottom - layout.strip_top + 6.0);
        context.fill_rect(x.round() - 4.0, layout.strip_top - 5.0, 8.0, 5.0);
    }
    if let Some(x) = flag.x {
        paint_flag(canvas, x, (&flag.words, MomentFlag::WIDTH), layout);
    }
}

/// Paints the overview above the lanes.
fn paint_strip(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let layout = &scene.layout;
    let height = layout.strip_bottom - layout.strip_top;
    canvas.fill(&canvas.colours.dim);
    for (index, alpha) in STRIP.into_iter().enumerate() {
        context.begin_path();
        for column in scene.columns.iter().filter(|column| column.heights[index] > 0.0) {
            let below = f64::from(column.heights[..index].iter().sum::<f32>()) * height;
            let own = f64::from(column.heights[index]) * height;
            context.rect(column.x, layout.strip_bottom - below - own, column.width, own);
        }
        context.set_global_alpha(alpha);
        context.fill();
    }
    context.set_global_alpha(1.0);
    // The counts of a time of which less is kept stand back.
    canvas.fill(&canvas.colours.panel);
    context.set_global_alpha(0.55);
    scene.lost.iter().for_each(|area| context.fill_rect(area.x, layout.strip_top, area.width, height));
    context.set_global_alpha(1.0);
    scene.lost.iter().for_each(|area| paint_lost(canvas, area.kept, [area.x, area.width], [layout.strip_top, height]));
    let [from, to] = scene.framed;
    canvas.fill(&canvas.colours.focus);
    context.set_global_alpha(0.08);
    context.fill_rect(from, layout.strip_top, to - from, height);
    context.set_global_alpha(1.0);
    if let Some(span) = scene.strip_span {
        tint(canvas, span, layout.strip_top, layout.strip_bottom);
    }
    context.set_stroke_style_str(&canvas.colours.focus);
    context.stroke_rect(from + 0.5, layout.strip_top + 0.5, (to - from - 1.0).max(1.0), height);
}

/// Tints the chosen stretch of time, and draws its edges.
fn tint(canvas: &Canvas, [from, to]: [f64; 2], top: f64, bottom: f64) {
    let context = &canvas.context;
    let [inside, edge] = SPAN_TINTS;
    canvas.fill(&canvas.colours.focus);
    context.set_global_alpha(inside);
    context.fill_rect(from, top, (to - from).max(1.0), bottom - top);
    context.set_global_alpha(edge);
    context.fill_rect(from.round(), top, 1.0, bottom - top);
    context.fill_rect(to.round() - 1.0, top, 1.0, bottom - top);
    context.set_global_alpha(1.0);
}

/// Paints the lines between rows, and tints the selected row and the row under the pointer.
fn paint_rows(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let layout = &scene.layout;
    let half = layout.row_height / 2.0;
    canvas.fill(&canvas.colours.line);
    for row in 0..=layout.rows {
        context.fill_rect(0.0, (layout.top + row as f64 * layout.row_height).round(), layout.width, 1.0);
    }
    canvas.fill(&canvas.colours.focus);
    for row in scene.lanes.iter().flatten().filter(|row| row.selected || row.hovered) {
        context.set_global_alpha(ROW_TINTS[usize::from(!row.selected)]);
        context.fill_rect(0.0, row.y - half, layout.width, layout.row_height);
        context.set_global_alpha(1.0);
        if row.selected {
            context.fill_rect(0.0, row.y - half, 2.0, layout.row_height);
        }
    }
}

/// Paints gaps, relists and their words.
fn paint_stream(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let layout = &scene.layout;
    canvas.fill(&canvas.colours.warn);
    for gap in scene.gaps.iter().filter(|gap| gap.kept == Kept::All) {
        context.fill_rect(gap.x, layout.top - 2.0, gap.width, 2.0);
    }
    for gap in &scene.row_gaps {
        paint_row_gap(canvas, gap, layout.row_height);
    }
    let words_y = layout.top - 10.0;
    canvas.fill(&canvas.colours.dim);
    context.begin_path();
    for line in &scene.lines {
        context.rect(line.x.round(), words_y, 1.0, layout.bottom - words_y);
        if line.headed {
            shape(context, MarkType::Relist, line.x, words_y);
        }
    }
    context.fill();
    let most = ((layout.right - layout.left) / canvas.char).max(0.0) as usize;
    for note in &scene.notes {
        canvas.text(&fit(&note.text, most), note.x + 8.0, words_y);
    }
}

/// Paints what was noted: a sheet above the lanes with a line through them, and a triangle below the overview.
fn paint_notes(canvas: &Canvas, scene: &Scene) {
    let (context, layout) = (&canvas.context, &scene.layout);
    let (half, top) = (NoteMark::HALF, layout.top - NoteMark::ABOVE);
    canvas.fill(&canvas.colours.text);
    for mark in &scene.noted {
        if let Some(x) = mark.x {
            let x = x.round();
            context.begin_path();
            context.move_to(x - half, top);
            context.line_to(x + half, top);
            context.line_to(x + half, top + 7.0);
            context.line_to(x, top + 12.0);
            context.line_to(x - half, top + 7.0);
            context.fill();
            context.set_global_alpha(0.4);
            context.fill_rect(x, top + 12.0, 1.0, layout.bottom - top - 12.0);
            context.set_global_alpha(1.0);
        }
        if let Some(x) = mark.strip_x {
            let bottom = layout.strip_bottom + NoteMark::BELOW;
            context.begin_path();
            context.move_to(x, layout.strip_bottom);
            context.line_to(x + half, bottom);
            context.line_to(x - half, bottom);
            context.fill();
        }
    }
}

/// Paints what a gap covers of a row: hatched where nothing was watched.
fn paint_row_gap(canvas: &Canvas, gap: &RowGap, height: f64) {
    let top = gap.y - height / 2.0;
    if gap.kept != Kept::All {
        return paint_lost(canvas, gap.kept, [gap.x, gap.width], [top, height]);
    }
    let context = &canvas.context;
    canvas.fill(&canvas.colours.warn);
    context.set_global_alpha(0.1);
    context.fill_rect(gap.x, top, gap.width, height);
    context.set_global_alpha(0.55);
    let mut x = (gap.x / HATCH).ceil() * HATCH;
    while x < gap.x + gap.width {
        context.fill_rect(x, top, 1.0, height);
        x += HATCH;
    }
    context.set_global_alpha(1.0);
}

/// Paints a time of which less is kept than was received. Where only marks are left, it is dim and ends with a dotted
/// line; where nothing is left, it is dark and ends with a solid one.
fn paint_lost(canvas: &Canvas, kept: Kept, [x, width]: [f64; 2], [top, height]: [f64; 2]) {
    let context = &canvas.context;
    let is_nothing = kept == Kept::Nothing;
    canvas.fill(&canvas.colours.faint);
    context.set_global_alpha(if is_nothing { 0.22 } else { 0.09 });
    context.fill_rect(x, top, width, height);
    context.set_global_alpha(0.7);
    let edge = (x + width).round() - 1.0;
    let step = if is_nothing { height } else { 5.0 };
    let mut y = 0.0;
    while y < height {
        context.fill_rect(edge, top + y, 1.0, step.min(height - y) * if is_nothing { 1.0 } else { 0.5 });
        y += step.max(1.0);
    }
    context.set_global_alpha(1.0);
}

/// Paints the line under the pointer, the ticks, and the number of lanes that are not in sight.
fn paint_axis(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let layout = &scene.layout;
    if let Some(x) = scene.crosshair {
        context.set_global_alpha(0.5);
        canvas.fill(&canvas.colours.faint);
        context.fill_rect(x.round(), layout.top, 1.0, layout.bottom - layout.top);
        context.set_global_alpha(1.0);
    }
    canvas.fill(&canvas.colours.faint);
    let y = layout.bottom + 10.0;
    if scene.active > layout.rows {
        let count = format!("{} of {} lanes", layout.rows, grouped(scene.active as u64));
        let most = ((layout.left - MARGIN - 30.0) / canvas.char).max(0.0) as usize;
        canvas.text(&fit(&count, most), MARGIN, y);
    }
    context.set_text_align("center");
    for tick in &scene.ticks {
        let label = tick.label();
        // The last one stands at the canvas's edge.
        let room = label.len() as f64 * canvas.char / 2.0 + 2.0;
        canvas.text(&label, tick.x.min(layout.width - room), y);
    }
    if scene.lanes.is_empty() {
        let middle = (layout.left + layout.right) / 2.0;
        canvas.text(scene.words_without_lanes(), middle, (layout.top + layout.bottom) / 2.0);
    }
    context.set_text_align("left");
}
