//! Paints the marks of a timeline's scene: pills, single marks and Events.
//!
//! Where a canvas is painted in software, paths take long: two rounded rectangles and a shape take three times as long as a
//! picture of them. So a pill's picture is made once for its type and its width, and is then painted at whole pixels of
//! the screen. Numbers are text, which is faster than pictures of their digits.

use std::cell::RefCell;
use std::f64::consts::TAU;

use rustc_hash::FxHashMap;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, ImageBitmap, OffscreenCanvas};

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::fold::{PILL_PAD, short};
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::scene::{Pill, Scene};

use crate::ui::timeline_canvas::Painter;

/// How tall a pill is.
const HEIGHT: f64 = 16.0;

/// The most pictures of pills that are kept. Few are needed: of each type some hundred widths.
const MOST: usize = 1_000;

/// The pictures of pills, for the theme and the device pixel ratio that there are now.
#[derive(Debug, Default)]
pub(super) struct PillPictures {
    /// By type and width in whole CSS pixels.
    pictures: RefCell<FxHashMap<(MarkType, u32), ImageBitmap>>,
}

impl PillPictures {
    /// Forgets all: to be called when the theme or the device pixel ratio changed.
    pub(super) fn clear(&self) {
        self.pictures.borrow_mut().drain().for_each(|(_, picture)| picture.close());
    }
}

impl Painter {
    pub(super) fn paint_marks(&self, scene: &Scene) {
        self.paint_pills(scene);
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

    fn paint_pills(&self, scene: &Scene) {
        let (context, ratio) = (&self.context, self.ratio);
        let pixels = || context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        let _ = pixels();
        for pill in &scene.pills {
            let ((left, top), width) = (self.pill_place(pill), pill.width.max(1.0) as u32);
            let is_painted = self.with_picture(pill.mark_type, width, |picture| {
                context.draw_image_with_image_bitmap(picture, left, top).is_ok()
            });
            if is_painted != Some(true) {
                let _ = context.set_transform(ratio, 0.0, 0.0, ratio, left, top);
                self.paint_pill(context, pill.mark_type, f64::from(width));
                let _ = pixels();
            }
        }
        let _ = context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
        for mark_type in MarkType::OBJECT {
            self.fill(self.mark(mark_type));
            for pill in scene.pills.iter().filter(|pill| pill.mark_type == mark_type) {
                let (left, top) = self.pill_place(pill);
                let (x, y) = (left / ratio + PILL_PAD + 6.0, top / ratio + HEIGHT / 2.0 + 0.5);
                self.text(&short(pill.counts.total()), x, y);
            }
        }
    }

    /// Where a pill's upper left corner is, in whole pixels of the screen.
    fn pill_place(&self, pill: &Pill) -> (f64, f64) {
        ((pill.x * self.ratio).round(), ((pill.y - HEIGHT / 2.0) * self.ratio).round())
    }

    /// Hands the picture of a pill to `paint`; `None` where the browser makes none.
    fn with_picture<T>(&self, mark_type: MarkType, width: u32, paint: impl FnOnce(&ImageBitmap) -> T) -> Option<T> {
        let mut pictures = self.pills.pictures.borrow_mut();
        if let Some(picture) = pictures.get(&(mark_type, width)) {
            return Some(paint(picture));
        }
        if pictures.len() >= MOST {
            pictures.drain().for_each(|(_, picture)| picture.close());
        }
        let picture = self.pill_picture(mark_type, f64::from(width))?;
        let painted = paint(&picture);
        pictures.insert((mark_type, width), picture);
        Some(painted)
    }

    fn pill_picture(&self, mark_type: MarkType, width: f64) -> Option<ImageBitmap> {
        let pixels = |length: f64| (length * self.ratio).ceil() as u32;
        let canvas = OffscreenCanvas::new(pixels(width), pixels(HEIGHT)).ok()?;
        // It has the same functions as a context of the page's canvas.
        let context = canvas.get_context("2d").ok()??.unchecked_into::<CanvasRenderingContext2d>();
        let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
        self.paint_pill(&context, mark_type, width);
        canvas.transfer_to_image_bitmap().ok()
    }

    /// Paints a pill without its number, with its upper left corner at (0, 0).
    fn paint_pill(&self, context: &CanvasRenderingContext2d, mark_type: MarkType, width: f64) {
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
