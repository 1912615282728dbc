//! Paints the marks of a timeline's scene one by one: pills, single marks and Events.

use std::f64::consts::TAU;

use web_sys::CanvasRenderingContext2d;

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::fold::PILL_PAD;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::pills::{HEIGHT, NUMBER, text};
use kubechurn_model::timeline::scene::{Pill, Scene};

use crate::ui::timeline_canvas::Painter;

impl Painter {
    pub(super) fn paint_marks(&self, scene: &Scene) {
        let context = &self.context;
        // Deletes come last in `OBJECT`, and so are on top.
        for mark_type in MarkType::OBJECT {
            self.begin_shapes(context, mark_type);
            for glyph in scene.glyphs.iter().filter(|glyph| glyph.mark_type == mark_type) {
                paint_shape(context, mark_type, glyph.x, glyph.y);
            }
        }
        context.set_line_width(1.0);
        self.paint_events(scene);
    }

    /// Paints pills one by one, and then their numbers, which may be wider than the pills.
    pub(super) fn paint_pills<'a>(&self, pills: impl Iterator<Item = &'a Pill> + Clone) {
        let (context, screen) = (&self.context, self.screen());
        for pill in pills.clone() {
            self.begin_at(context, screen.place(pill));
            self.paint_pill(context, pill.mark_type, f64::from(pill.width.max(1.0) as u32));
        }
        for pill in pills {
            self.begin_at(context, screen.place(pill));
            self.paint_number(context, pill.mark_type, &text(pill));
        }
        self.begin_at(context, (0.0, 0.0));
    }

    /// From here on, what is painted at (0, 0) stands there, in pixels of the screen.
    pub(super) fn begin_at(&self, context: &CanvasRenderingContext2d, (left, top): (f64, f64)) {
        let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, left, top);
    }

    /// Paints the number of a pill with its upper left corner at (0, 0).
    pub(super) fn paint_number(&self, context: &CanvasRenderingContext2d, mark_type: MarkType, text: &str) {
        context.set_fill_style_str(self.mark(mark_type));
        let _ = context.fill_text(text, NUMBER, HEIGHT / 2.0 + 0.5);
    }

    /// Paints a pill without its number, with its upper left corner at (0, 0).
    pub(super) fn paint_pill(&self, context: &CanvasRenderingContext2d, mark_type: MarkType, width: f64) {
        context.begin_path();
        if context.round_rect_with_f64(0.0, 0.0, width, HEIGHT, HEIGHT / 2.0).is_err() {
            context.rect(0.0, 0.0, width, HEIGHT);
        }
        // The panel under the tint keeps the number readable on a band.
        for (colour, alpha) in [(&*self.colours.panel, 0.8), (self.mark(mark_type), 0.22)] {
            context.set_global_alpha(alpha);
            context.set_fill_style_str(colour);
            context.fill();
        }
        context.set_global_alpha(1.0);
        self.begin_shapes(context, mark_type);
        paint_shape(context, mark_type, PILL_PAD, HEIGHT / 2.0);
    }

    /// Sets the colour and the line for shapes of a type.
    fn begin_shapes(&self, context: &CanvasRenderingContext2d, mark_type: MarkType) {
        context.set_line_width(if mark_type == MarkType::Deleted { 2.0 } else { 1.2 });
        context.set_stroke_style_str(self.mark(mark_type));
        context.set_fill_style_str(self.mark(mark_type));
    }

    /// Events about an object: a Warning is a triangle with an edge, anything else a small dim square.
    fn paint_events(&self, scene: &Scene) {
        let context = &self.context;
        let of = |tone: Tone| scene.events.iter().filter(move |event| (event.tone == Tone::Bad) == (tone == Tone::Bad));
        context.begin_path();
        for event in of(Tone::Plain) {
            context.rect(event.x - 2.0, event.y + 4.0, 4.0, 4.0);
        }
        self.fill(&self.colours.dim);
        context.fill();
        context.begin_path();
        for event in of(Tone::Bad) {
            context.move_to(event.x, event.y - 3.5);
            context.line_to(event.x + 6.0, event.y + 7.0);
            context.line_to(event.x - 6.0, event.y + 7.0);
            context.close_path();
        }
        self.fill(&self.colours.warn);
        context.fill();
        // An edge in the panel's colour keeps the triangle apart from a band of nearly the same colour.
        context.set_stroke_style_str(&self.colours.panel);
        context.stroke();
    }
}

/// Paints the shape of a mark, after [`Painter::begin_shapes`].
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
