//! Paints the bands of a timeline's scene, which are the states of its objects over time.

use std::cell::RefCell;

use js_sys::{Object, Reflect};
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, ImageData, OffscreenCanvas};

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::pixels::{BandRows, Rgba};
use kubechurn_model::timeline::scene::Scene;

use crate::ui::timeline_canvas::Painter;

/// So many bands are painted as rectangles, which is fast on every machine. More of them are painted as lines of pixels.
const FEW: usize = 100;

/// How opaque the bands of each tone are, in the order in which they are painted.
const TONES: [(Tone, f64); 4] = [(Tone::Plain, 0.12), (Tone::Good, 0.2), (Tone::Wait, 0.22), (Tone::Bad, 0.22)];

/// What is needed to paint lines of pixels.
#[derive(Debug, Default)]
pub(super) struct BandPainter {
    /// The colours of [`TONES`]; `None` where the browser does not tell them.
    colours: Option<[Rgba; TONES.len()]>,
    rows: RefCell<BandRows>,
    canvas: RefCell<Option<(OffscreenCanvas, CanvasRenderingContext2d)>>,
}

impl Painter {
    /// Reads the colours of the bands: to be called when the theme changed.
    pub(super) fn read_band_colours(&mut self) {
        self.bands.colours = canvas(TONES.len() as u32, 1).and_then(|(_, context)| {
            let mut colours = [Rgba::default(); TONES.len()];
            for (place, (tone, alpha)) in TONES.into_iter().enumerate() {
                context.set_fill_style_str(self.tone(tone));
                context.fill_rect(place as f64, 0.0, 1.0, 1.0);
                let data = context.get_image_data(place as f64, 0.0, 1.0, 1.0).ok()?.data();
                let [red, green, blue, opaque] = **data else { return None };
                colours[place] = [red, green, blue, (f64::from(opaque) * alpha).round() as u8];
            }
            Some(colours)
        });
    }

    pub(super) fn paint_bands(&self, scene: &Scene) {
        let context = &self.context;
        let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        if scene.bands.len() <= FEW || self.paint_rows_of_pixels(scene).is_none() {
            self.paint_rectangles(scene);
        }
        let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
        for label in &scene.labels {
            self.fill(self.tone(label.tone));
            self.text(&label.text, label.x, label.y + 0.5);
        }
    }

    fn paint_rectangles(&self, scene: &Scene) {
        let context = &self.context;
        for (tone, alpha) in TONES {
            context.set_global_alpha(alpha);
            self.fill(self.tone(tone));
            // Rectangles one by one are several times as fast as a path of them.
            for band in scene.bands.iter().filter(|band| band.tone == tone) {
                let area = band.area(self.ratio);
                context.fill_rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
            }
        }
        context.set_global_alpha(1.0);
    }

    /// Paints all bands by one picture for each lane. `None` where the browser cannot.
    fn paint_rows_of_pixels(&self, scene: &Scene) -> Option<()> {
        let colours = self.bands.colours?;
        let colour = |tone: Tone| {
            let place = TONES.iter().position(|(other, _)| *other == tone);
            place.and_then(|place| colours.get(place)).copied().unwrap_or_default()
        };
        let mut rows = self.bands.rows.borrow_mut();
        rows.fill(scene, self.ratio, colour);
        let (width, height) = (rows.width as u32, rows.rows.len() as u32);
        let mut kept = self.bands.canvas.borrow_mut();
        let fits = |canvas: &OffscreenCanvas| canvas.width() == width && canvas.height() >= height;
        let (canvas, lines) = match &mut *kept {
            Some(kept) if fits(&kept.0) => kept,
            kept => kept.insert(canvas(width, height.next_power_of_two())?),
        };
        let data =
            ImageData::new_with_u8_clamped_array_and_sh(Clamped(rows.pixels.as_flattened()), width, height).ok()?;
        lines.put_image_data(&data, 0.0, 0.0).ok()?;
        let context = &self.context;
        context.set_image_smoothing_enabled(false);
        for (line, row) in rows.rows.iter().enumerate() {
            let (width, height) = (rows.width as f64, row.bottom - row.top);
            let _ = context.draw_image_with_offscreen_canvas_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                canvas,
                0.0,
                line as f64,
                width,
                1.0,
                rows.left,
                row.top,
                width,
                height,
            );
        }
        context.set_image_smoothing_enabled(true);
        Some(())
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
