//! Paints the marks of a timeline's scene: pills, single marks and Events.

use std::f64::consts::TAU;

use web_sys::CanvasRenderingContext2d;

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::scene::fold::PILL_PAD;
use kubechurn_model::timeline::scene::{Band, Pill, Scene};

use crate::ui::timeline::canvas::Canvas;

/// How opaque the ground of a pill is: its number is readable on a band.
const OPAQUE: f64 = 0.85;

/// How high and how wide a line of a hatched stretch is.
const HATCH: f64 = 9.0;

/// Paints pills: their grounds, their shapes, and then their numbers, which may be wider than the pills. All that has one colour
/// is one path, which takes half of the time of one path for each.
pub(super) fn paint_pills(canvas: &Canvas, scene: &Scene) {
    let context = &canvas.context;
    let of = |tone| scene.pills.iter().filter(move |pill| pill.tone == tone).map(|pill| (pill, canvas.corner(pill)));
    context.set_global_alpha(OPAQUE);
    for (tone, _) in Band::TONES {
        context.begin_path();
        for (pill, (left, top)) in of(tone) {
            let width = f64::from(pill.width.max(1.0) as u32);
            if context.round_rect_with_f64(left, top, width, Pill::HEIGHT, Pill::HEIGHT / 2.0).is_err() {
                context.rect(left, top, width, Pill::HEIGHT);
            }
        }
        canvas.fill(canvas.ground(tone));
        context.fill();
    }
    context.set_global_alpha(1.0);
    let shapes = scene.pills.iter().map(|pill| {
        let (left, top) = canvas.corner(pill);
        (pill.mark_type, pill.tone, left + PILL_PAD, top + Pill::HEIGHT / 2.0)
    });
    paint_shapes(canvas, &shapes.collect::<Vec<_>>());
    for (tone, _) in Band::TONES {
        canvas.fill(canvas.tone(tone));
        for (pill, (left, top)) in of(tone) {
            canvas.text(&pill.text(), left + Pill::NUMBER, top + Pill::HEIGHT / 2.0 + 0.5);
        }
    }
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
    let shapes = scene.glyphs.iter().map(|glyph| (glyph.mark_type, glyph.tone, glyph.x, glyph.y));
    paint_shapes(canvas, &shapes.collect::<Vec<_>>());
    paint_events(canvas, scene);
}

/// Paints the shapes of these marks at their places, those of one type and one meaning together.
fn paint_shapes(canvas: &Canvas, shapes: &[(MarkType, Tone, f64, f64)]) {
    let context = &canvas.context;
    // Deletes come last in `OBJECT`, and so are on top.
    for mark_type in MarkType::OBJECT {
        context.set_line_width(if mark_type == MarkType::Deleted { 2.0 } else { 1.2 });
        for (tone, _) in Band::TONES {
            context.begin_path();
            for (.., x, y) in shapes.iter().filter(|shape| (shape.0, shape.1) == (mark_type, tone)) {
                shape(context, mark_type, *x, *y);
            }
            // A delete has no state, and is seen all the same.
            let colour = if mark_type == MarkType::Deleted { &canvas.colours.text } else { canvas.tone(tone) };
            match mark_type {
                MarkType::Sync | MarkType::Deleted => {
                    context.set_stroke_style_str(colour);
                    context.stroke();
                }
                _ => {
                    canvas.fill(colour);
                    context.fill();
                }
            }
        }
    }
    context.set_line_width(1.0);
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
