//! The canvas of the timeline, with the colours and the font of the theme.
//!
//! No text is measured while a scene is painted: the font is monospace, and the width of its characters is read
//! together with the theme.

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::scene::fold::CHAR;
use kubechurn_model::timeline::scene::{Band, Pill};

/// How much of the ground of a pill is its tone, in percent.
const TINT: u32 = 26;

/// The theme's colours, read from the style variables.
#[derive(Debug, Default)]
pub(super) struct Colours {
    pub(super) line: String,
    pub(super) text: String,
    pub(super) dim: String,
    pub(super) faint: String,
    pub(super) focus: String,
    pub(super) warn: String,
    bad: String,
    good: String,
    pub(super) panel: String,
    /// The grounds of pills, in the order of [`Band::TONES`].
    grounds: [String; 4],
}

/// A canvas, its context, and the theme in which it is painted.
#[derive(Debug)]
pub struct Canvas {
    element: HtmlCanvasElement,
    pub(super) context: CanvasRenderingContext2d,
    /// The pixels of the screen per CSS pixel.
    pub(super) ratio: f64,
    pub(super) colours: Colours,
    font: String,
    /// How wide a character is.
    pub(super) char: f64,
}

impl Canvas {
    /// Reads the theme for a canvas; `None` where the browser gives no 2D context.
    pub fn new(element: HtmlCanvasElement) -> Option<Canvas> {
        let context = element.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
        let (colours, font) = (Colours::default(), String::new());
        let mut canvas = Canvas { element, context, ratio: 1.0, colours, font, char: CHAR };
        canvas.read_theme();
        Some(canvas)
    }

    /// Sets the size in CSS pixels and the device pixels per CSS pixel. Clears the canvas if it changed.
    pub fn resize(&mut self, width: f64, height: f64, ratio: f64) {
        self.ratio = if ratio > 0.0 { ratio } else { 1.0 };
        let pixels = |length: f64| (length * self.ratio).round().clamp(1.0, 16_384.0) as u32;
        let width = pixels(width);
        let height = pixels(height);
        if self.element.width() != width {
            self.element.set_width(width);
        }
        if self.element.height() != height {
            self.element.set_height(height);
        }
        self.context.set_font(&self.font);
    }

    /// Reads colours and font from the style variables. Must be called when the theme changed.
    pub fn read_theme(&mut self) {
        let style = web_sys::window().and_then(|window| window.get_computed_style(&self.element).ok().flatten());
        let read = |name: &str, otherwise: &str| {
            let value = style.as_ref().and_then(|style| style.get_property_value(name).ok()).unwrap_or_default();
            let value = value.trim();
            if value.is_empty() { otherwise.to_owned() } else { value.to_owned() }
        };
        let colour = |name: &str| read(name, "#808080");
        self.colours = Colours {
            line: colour("--line"),
            text: colour("--text"),
            dim: colour("--dim"),
            faint: colour("--faint"),
            focus: colour("--focus"),
            warn: colour("--warn"),
            bad: colour("--bad"),
            good: colour("--good"),
            panel: read("--panel", "transparent"),
            grounds: Default::default(),
        };
        let grounds = Band::TONES
            .map(|(tone, _)| format!("color-mix(in srgb, {} {TINT}%, {})", self.tone(tone), self.colours.panel));
        self.colours.grounds = grounds;
        self.font = format!("11px {}", read("--mono", "monospace"));
        self.context.set_font(&self.font);
        let width = self.context.measure_text("0").map_or(CHAR, |metrics| metrics.width());
        self.char = if width > 0.0 { width } else { CHAR };
    }

    /// From here on, whatever is painted at (0, 0) stands at this point, which is in pixels of the screen.
    pub(super) fn begin_at(&self, left: f64, top: f64) {
        let _ = self.context.set_transform(self.ratio, 0.0, 0.0, self.ratio, left, top);
    }

    pub(super) fn fill(&self, colour: &str) {
        self.context.set_fill_style_str(colour);
    }

    /// The colour of a state, and of what leads to it.
    pub(super) fn tone(&self, tone: Tone) -> &str {
        match tone {
            Tone::Plain => &self.colours.dim,
            Tone::Good => &self.colours.good,
            Tone::Wait => &self.colours.warn,
            Tone::Bad => &self.colours.bad,
        }
    }

    /// The ground of a pill with this tone: the panel, tinted.
    pub(super) fn ground(&self, tone: Tone) -> &str {
        let mut grounds = Band::TONES.iter().zip(&self.colours.grounds);
        grounds.find(|((of, _), _)| *of == tone).map_or("", |(_, ground)| ground)
    }

    /// The upper left corner of a pill, in CSS pixels: it lies on one of the screen's.
    pub(super) fn corner(&self, pill: &Pill) -> (f64, f64) {
        let (left, top) = pill.corner(self.ratio);
        (left / self.ratio, top / self.ratio)
    }

    pub(super) fn text(&self, text: &str, x: f64, y: f64) {
        let _ = self.context.fill_text(text, x, y);
    }
}
