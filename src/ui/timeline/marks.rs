//! Paints the marks of a timeline's scene: pills, single marks and Events.

use std::f64::consts::TAU;

use web_sys::CanvasRenderingContext2d;

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::scene::fold::PILL_PAD;
use kubechurn_model::timeline::scene::{Band, Pill, Scene};

use crate::ui::timeline::canvas::Canvas;

/// How high and how wide a line of a hatched stretch is.
const HATCH: f64 = 9.0;

/// Paints pills, and then their numbers, which may be wider than the pills.
pub(super) fn paint_pills(canvas: &Canvas, scene: &Scene) {
    for pill in &scene.pills {
        let (left, top) = pill.corner(canvas.ratio);
        canvas.begin_at(left, top);
        paint_pill(canvas, pill, f64::from(pill.width.max(1.0) as u32));
    }
    for (tone, _) in Band::TONES {
        canvas.fill(canvas.tone(tone));
        for pill in scene.pills.iter().filter(|pill| pill.tone == tone) {
            let (left, top) = pill.corner(canvas.ratio);
            canvas.begin_at(left, top);
            canvas.text(&pill.text(), Pill::NUMBER, Pill::HEIGHT / 2.0 + 0.5);
        }
    }
    canvas.begin_at(0.0, 0.0);
}

/// Paints a pill without its number, with its upper left corner at (0, 0).
fn paint_pill(canvas: &Canvas, pill: &Pill, width: f64) {
    let context = &canvas.context;
    context.begin_path();
    if context.round_rect_with_f64(0.0, 0.0, width, Pill::HEIGHT, Pill::HEIGHT / 2.0).is_err() {
        context.rect(0.0, 0.0, width, Pill::HEIGHT);
    }
    // The panel under the tint keeps the number readable on a band.
    for (colour, alpha) in [(&*canvas.colours.panel, 0.8), (canvas.tone(pill.tone), 0.22)] {
        context.set_global_alpha(alpha);
        canvas.fill(colour);
        context.fill();
    }
    context.set_global_alpha(1.0);
    begin_shapes(canvas, pill.mark_type, pill.tone);
    paint_shape(context, pill.mark_type, PILL_PAD, Pill::HEIGHT / 2.0);
}

/// Paints what objects say of their past: hatched, with hollow marks.
pub(super) fn paint_past(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    context.set_stroke_style_str(&canvas.colours.faint);
    context.set_global_alpha(0.3);
    context.begin_path();
    for area in &scene.past_areas {
        let mut x = area.x;
        while x + HATCH <= area.x + area.width {
            context.move_to(x, area.y + HATCH / 2.0);
            context.line_to(x + HATCH, area.y - HATCH / 2.0);
            x += HATCH;
        }
    }
    context.stroke();
    context.set_global_alpha(1.0);
    canvas.fill(&canvas.colours.panel);
    for glyph in &scene.past {
        context.begin_path();
        let _ = context.arc(glyph.x, glyph.y, 3.0, 0.0, TAU);
        context.fill();
        context.set_stroke_style_str(canvas.tone(glyph.moment.tone));
        context.stroke();
    }
}

/// Paints single marks and Events.
pub(super) fn paint_marks(canvas: &Canvas, scene: &Scene) {
    // Deletes come last in `OBJECT`, and so are on top.
    for mark_type in MarkType::OBJECT {
        for (tone, _) in Band::TONES {
            begin_shapes(canvas, mark_type, tone);
            for glyph in scene.glyphs.iter().filter(|glyph| (glyph.mark_type, glyph.tone) == (mark_type, tone)) {
                paint_shape(&canvas.context, mark_type, glyph.x, glyph.y);
            }
        }
    }
    canvas.context.set_line_width(1.0);
    paint_events(canvas, scene);
}

/// Sets the colour and the line for shapes of a type and a meaning.
fn begin_shapes(canvas: &Canvas, mark_type: MarkType, tone: Tone) {
    canvas.context.set_line_width(if mark_type == MarkType::Deleted { 2.0 } else { 1.2 });
    // A delete has no state, and is seen all the same.
    let colour = if mark_type == MarkType::Deleted { &canvas.colours.text } else { canvas.tone(tone) };
    canvas.context.set_stroke_style_str(colour);
    canvas.fill(colour);
}

/// Paints Events about an object: a Warning is a triangle with an edge, anything else a small dim square.
fn paint_events(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    context.begin_path();
    for event in scene.events.iter().filter(|event| event.tone != Tone::Bad) {
        context.rect(event.x - 2.0, event.y + 4.0, 4.0, 4.0);
    }
    canvas.fill(&canvas.colours.dim);
    context.fill();
    context.begin_path();
    for event in scene.events.iter().filter(|event| event.tone == Tone::Bad) {
        context.move_to(event.x, event.y - 3.5);
        context.line_to(event.x + 6.0, event.y + 7.0);
        context.line_to(event.x - 6.0, event.y + 7.0);
        context.close_path();
    }
    canvas.fill(&canvas.colours.warn);
    context.fill();
    // An edge in the panel's colour keeps the triangle apart from a band of nearly the same colour.
    context.set_stroke_style_str(&canvas.colours.panel);
    context.stroke();
}

/// Paints the shape of a mark, after [`begin_shapes`].
fn paint_shape(context: &CanvasRenderingContext2d, mark_type: MarkType, x: f64, y: f64) {
    context.begin_path();
    shape(context, mark_type, x, y);
    match mark_type {
        MarkType::Sync | MarkType::Deleted => context.stroke(),
        _ => context.fill(),
    }
}

/// Adds a mark's shape to the path.
pub(super) fn shape(context: &CanvasRenderingContext2d, mark_type: MarkType, x: f64, y: f64) {
    match mark_type {
        MarkType::Added => {
            context.move_to(x, y - 4.5);
            context.line_to(x + 4.5, y + 3.5);
            context.line_to(x - 4.5, y + 3.5);
            context.close_path();
        }
        MarkType::Updated => {
            context.move_to(x + 3.5, y);
            let _ = context.arc(x, y, 3.5, 0.0, TAU);
        }
        MarkType::Deleted => {
            context.move_to(x - 3.5, y - 3.5);
            context.line_to(x + 3.5, y + 3.5);
            context.move_to(x + 3.5, y - 3.5);
            context.line_to(x - 3.5, y + 3.5);
        }
        MarkType::Replaced | MarkType::Sync | MarkType::Relist | MarkType::Gap => {
            context.move_to(x, y - 4.5);
            context.line_to(x + 4.5, y);
            context.line_to(x, y + 4.5);
            context.line_to(x - 4.5, y);
            context.close_path();
        }
    }
}
