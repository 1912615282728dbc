//! Paints lanes that are full of bands and pills as pixels, which is several times as fast as to paint them one by one where a
//! canvas is painted in software: see [`kubechurn_model::timeline::pixels`].

use std::cell::RefCell;

use js_sys::{Object, Reflect};
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, ImageData, OffscreenCanvas};

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::pills::{HEIGHT, Look, PillPictures, Screen};
use kubechurn_model::timeline::pixels::{LaneRows, Palette, Rgba, TONES, lanes, over_span};
use kubechurn_model::timeline::scene::Scene;

use crate::ui::timeline_canvas::{Colours, Painter};

/// The most pills that are painted beside the canvas at a time, to read their pixels.
const AT_ONCE: usize = 64;

/// What is needed to paint lanes as pixels.
#[derive(Debug, Default)]
pub(super) struct LanePainter {
    /// `None` where the browser does not tell the colours, or the panel is not opaque.
    palette: Option<Palette>,
    tools: RefCell<Tools>,
}

#[derive(Debug, Default)]
struct Tools {
    rows: LaneRows,
    pictures: PillPictures,
    /// Where pills are painted whose pixels are then read.
    sheet: Option<(OffscreenCanvas, CanvasRenderingContext2d)>,
}

impl LanePainter {
    /// Forgets what pills look like: to be called when the theme or the device pixel ratio changed.
    pub(super) fn clear(&mut self) {
        let tools = self.tools.get_mut();
        tools.pictures.clear();
        tools.sheet = None;
    }
}

impl Painter {
    /// Reads the colours of lanes: to be called when the theme changed.
    pub(super) fn read_palette(&mut self) {
        self.lanes.palette = self.palette().filter(|palette| palette.panel[3] == 255);
    }

    fn palette(&self) -> Option<Palette> {
        let (_, context) = canvas(1, 1)?;
        let colour = |name: &str| {
            context.clear_rect(0.0, 0.0, 1.0, 1.0);
            context.set_fill_style_str(name);
            context.fill_rect(0.0, 0.0, 1.0, 1.0);
            <Rgba>::try_from(&**context.get_image_data(0.0, 0.0, 1.0, 1.0).ok()?.data()).ok()
        };
        let mut tones = [Rgba::default(); TONES.len()];
        for (own, (tone, alpha)) in tones.iter_mut().zip(TONES) {
            let [red, green, blue, opaque] = colour(self.tone(tone))?;
            *own = [red, green, blue, (f64::from(opaque) * alpha).round() as u8];
        }
        let Colours { panel, line, focus, .. } = &self.colours;
        Some(Palette { panel: colour(panel)?, line: colour(line)?, focus: colour(focus)?, tones })
    }

    /// Paints bands, their words, and pills, with the tint of a stretch of time between them.
    pub(super) fn paint_lanes(&self, scene: &Scene) {
        if self.paint_as_pixels(scene).is_none() {
            self.paint_bands(scene);
            self.paint_labels(scene);
            self.paint_span(scene);
            self.paint_pills(scene.pills.iter());
        }
    }

    /// `None` where the browser cannot, or where that would take longer: then nothing is painted.
    fn paint_as_pixels(&self, scene: &Scene) -> Option<()> {
        let (context, screen, palette) = (&self.context, self.screen(), self.lanes.palette.as_ref()?);
        let lanes = lanes(scene)?;
        let Tools { rows, pictures, sheet } = &mut *self.lanes.tools.borrow_mut();
        for looks in pictures.prepare(scene, &screen).chunks(AT_ONCE) {
            self.add_pictures(looks, pictures, sheet)?;
        }
        // The pixels of the lanes have the tint, too.
        self.paint_span(scene);
        for lane in &lanes {
            rows.fill(lane, (scene, &screen), palette, pictures);
            let (pixels, width) = (Clamped(rows.bytes()), rows.width as u32);
            let data = ImageData::new_with_u8_clamped_array(pixels, width).ok()?;
            context.put_image_data(&data, rows.left, rows.top).ok()?;
        }
        match scene.span {
            Some(span) => self.paint_labels_tinted(scene, span, |tone: Tone| {
                let [red, green, blue, _] = over_span(palette, tone);
                format!("rgb({red},{green},{blue})")
            }),
            None => self.paint_labels(scene),
        }
        Some(())
    }

    /// Paints what pills look like, and keeps the pixels.
    fn add_pictures(
        &self,
        looks: &[Look],
        pictures: &mut PillPictures,
        sheet: &mut Option<(OffscreenCanvas, CanvasRenderingContext2d)>,
    ) -> Option<()> {
        let screen = self.screen();
        let height = screen.pixels(HEIGHT);
        let widest = looks.iter().map(|look| screen.width(look)).max()?;
        if sheet.as_ref().is_none_or(|(sheet, _)| (sheet.width() as usize) < widest) {
            *sheet = canvas(widest.next_multiple_of(32) as u32, (AT_ONCE * height) as u32);
        }
        let (_, context) = sheet.as_ref()?;
        let (width, all) = (widest as f64, (looks.len() * height) as f64);
        let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        context.clear_rect(0.0, 0.0, width, all);
        context.set_font(&self.font);
        context.set_text_baseline("middle");
        for (row, look) in looks.iter().enumerate() {
            self.begin_at(context, (0.0, (row * height) as f64));
            self.paint_pill(context, look.mark_type, look.width.into());
            self.paint_number(context, look.mark_type, &look.text());
        }
        let data = context.get_image_data(0.0, 0.0, width, all).ok()?.data();
        let (pixels, _) = data.as_chunks();
        for (look, lines) in looks.iter().zip(pixels.chunks(widest * height)) {
            let own = lines.chunks(widest).flat_map(|line| line.iter().take(screen.width(look)));
            pictures.add(look, &screen, own.copied());
        }
        Some(())
    }

    /// What pixels depend on.
    pub(super) fn screen(&self) -> Screen {
        Screen { ratio: self.ratio, char: self.char }
    }
}

/// A canvas that is not shown, and whose pixels are not moved to a graphics card.
fn canvas(width: u32, height: u32) -> Option<(OffscreenCanvas, CanvasRenderingContext2d)> {
    let canvas = OffscreenCanvas::new(width, height).ok()?;
    let options = Object::new();
    let _ = Reflect::set(&options, &"willReadFrequently".into(), &true.into());
    let context = canvas.get_context_with_context_options("2d", &options).ok()??;
    // It has the same functions as a context of the page's canvas.
    Some((canvas, context.unchecked_into()))
}
