//! Paints a timeline's scene on a canvas. It decides nothing: what stands where comes with the scene.
//!
//! Painting is fast because what has one colour is painted together, what a full scene has hundreds of is not painted as
//! paths, and no text is measured: the font is monospace, and the width of its characters is read together with the theme.

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use kubechurn_client::api::cell::Tone;
use kubechurn_model::timeline::fold::CHAR;
use kubechurn_model::timeline::mark::{MarkType, grouped};
use kubechurn_model::timeline::pixels::{REACH, ROW_TINTS, SPAN_TINTS};
use kubechurn_model::timeline::scene::{GapArea, Kept, LaneRow, Scene, fit};

use crate::ui::timeline_marks::shape;
use crate::ui::timeline_rows::LanePainter;

/// Where labels begin.
const MARGIN: f64 = 14.0;

/// The most characters of a namespace.
const NAMESPACE: usize = 12;
/// So many characters for namespace and name are too few for both.
const NARROW: usize = 20;
/// The most characters of a kind.
const KIND: usize = 7;

/// The theme's colours, read from the style variables.
#[derive(Debug, Default)]
pub(super) struct Colours {
    marks: [String; MarkType::COUNT],
    pub(super) line: String,
    pub(super) text: String,
    pub(super) dim: String,
    pub(super) faint: String,
    pub(super) focus: String,
    pub(super) warn: String,
    bad: String,
    good: String,
    pub(super) panel: String,
}

/// A canvas and what painting it needs.
#[derive(Debug)]
pub struct Painter {
    canvas: HtmlCanvasElement,
    pub(super) context: CanvasRenderingContext2d,
    /// The pixels of the screen per CSS pixel.
    pub(super) ratio: f64,
    pub(super) colours: Colours,
    pub(super) font: String,
    /// How wide a character is.
    pub(super) char: f64,
    pub(super) lanes: LanePainter,
}

impl Painter {
    /// A painter for a canvas; `None` where the browser gives no 2D context.
    pub fn new(canvas: HtmlCanvasElement) -> Option<Painter> {
        let context = canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
        let (colours, font, lanes) = (Colours::default(), String::new(), LanePainter::default());
        let mut painter = Painter { canvas, context, ratio: 1.0, colours, font, char: CHAR, lanes };
        painter.read_theme();
        Some(painter)
    }

    /// Sets the size in CSS pixels and the device pixels per CSS pixel. Clears the canvas if it changed.
    pub fn resize(&mut self, width: f64, height: f64, ratio: f64) {
        let ratio = if ratio > 0.0 { ratio } else { 1.0 };
        if ratio != self.ratio {
            self.ratio = ratio;
            self.lanes.clear();
        }
        let pixels = |length: f64| (length * self.ratio).round().clamp(1.0, 16_384.0) as u32;
        let (width, height) = (pixels(width), pixels(height));
        if self.canvas.width() != width {
            self.canvas.set_width(width);
        }
        if self.canvas.height() != height {
            self.canvas.set_height(height);
        }
        self.context.set_font(&self.font);
    }

    /// Reads colours and font from the style variables: to be called when the theme changed.
    pub fn read_theme(&mut self) {
        let style = web_sys::window().and_then(|window| window.get_computed_style(&self.canvas).ok().flatten());
        let read = |name: &str, otherwise: &str| {
            let value = style.as_ref().and_then(|style| style.get_property_value(name).ok()).unwrap_or_default();
            let value = value.trim();
            if value.is_empty() { otherwise.to_owned() } else { value.to_owned() }
        };
        let colour = |name: &str| read(name, "#808080");
        self.colours = Colours {
            marks: MarkType::ALL.map(|mark_type| colour(mark_type.css_variable())),
            line: colour("--line"),
            text: colour("--text"),
            dim: colour("--dim"),
            faint: colour("--faint"),
            focus: colour("--focus"),
            warn: colour("--warn"),
            bad: colour("--bad"),
            good: colour("--good"),
            panel: read("--panel", "transparent"),
        };
        self.lanes.clear();
        self.read_palette();
        self.font = format!("11px {}", read("--mono", "monospace"));
        self.context.set_font(&self.font);
        let width = self.context.measure_text("0").map_or(CHAR, |metrics| metrics.width());
        self.char = if width > 0.0 { width } else { CHAR };
    }

    /// Paints everything anew.
    pub fn paint(&self, scene: &Scene) {
        let (context, layout) = (&self.context, &scene.layout);
        // Resizing a canvas resets its context, so the context is set up each time. Setting the font is slow, and done once.
        let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
        context.set_text_baseline("middle");
        context.set_text_align("left");
        context.set_line_width(1.0);
        context.clear_rect(0.0, 0.0, layout.width, layout.height);
        self.fill(&self.colours.panel);
        context.fill_rect(0.0, 0.0, layout.width, layout.height);
        self.paint_strip(scene);
        self.paint_rows(scene);
        context.save();
        context.begin_path();
        context.rect(layout.left - REACH, 0.0, layout.right - layout.left + 2.0 * REACH, layout.height);
        context.clip();
        self.paint_lanes(scene);
        self.paint_marks(scene);
        self.paint_stream(scene);
        context.restore();
        self.paint_axis(scene);
    }

    pub(super) fn fill(&self, colour: &str) {
        self.context.set_fill_style_str(colour);
    }

    /// The colour of a state.
    pub(super) fn tone(&self, tone: Tone) -> &str {
        match tone {
            Tone::Plain => &self.colours.dim,
            Tone::Good => &self.colours.good,
            Tone::Wait => &self.colours.warn,
            Tone::Bad => &self.colours.bad,
        }
    }

    pub(super) fn mark(&self, mark_type: MarkType) -> &str {
        &self.colours.marks[mark_type as usize]
    }

    pub(super) fn text(&self, text: &str, x: f64, y: f64) {
        let _ = self.context.fill_text(text, x, y);
    }

    fn paint_strip(&self, scene: &Scene) {
        let (context, layout) = (&self.context, &scene.layout);
        let height = layout.strip_bottom - layout.strip_top;
        for (index, mark_type) in MarkType::OBJECT.into_iter().enumerate() {
            context.begin_path();
            for column in scene.columns.iter().filter(|column| column.heights[index] > 0.0) {
                let below = f64::from(column.heights[..index].iter().sum::<f32>()) * height;
                let own = f64::from(column.heights[index]) * height;
                context.rect(column.x, layout.strip_bottom - below - own, column.width, own);
            }
            self.fill(self.mark(mark_type));
            context.fill();
        }
        // The counts of a time of which less is kept stand back.
        self.fill(&self.colours.panel);
        context.set_global_alpha(0.55);
        scene.lost.iter().for_each(|area| context.fill_rect(area.x, layout.strip_top, area.width, height));
        context.set_global_alpha(1.0);
        scene.lost.iter().for_each(|area| self.paint_lost(area, (layout.strip_top, height)));
        let [from, to] = scene.framed;
        self.fill(&self.colours.focus);
        context.set_global_alpha(0.08);
        context.fill_rect(from, layout.strip_top, to - from, height);
        context.set_global_alpha(1.0);
        if let Some(span) = scene.strip_span {
            self.tint(span, (layout.strip_top, layout.strip_bottom));
        }
        context.set_stroke_style_str(&self.colours.focus);
        context.stroke_rect(from + 0.5, layout.strip_top + 0.5, (to - from - 1.0).max(1.0), height);
    }

    /// Tints the chosen stretch of time over the lanes.
    pub(super) fn paint_span(&self, scene: &Scene) {
        if let Some(span) = scene.span {
            self.tint(span, (scene.layout.top, scene.layout.height));
        }
    }

    /// Tints a stretch of time, and draws its edges.
    fn tint(&self, [from, to]: [f64; 2], (top, bottom): (f64, f64)) {
        let (context, [inside, edge]) = (&self.context, SPAN_TINTS);
        self.fill(&self.colours.focus);
        context.set_global_alpha(inside);
        context.fill_rect(from, top, (to - from).max(1.0), bottom - top);
        context.set_global_alpha(edge);
        context.fill_rect(from.round(), top, 1.0, bottom - top);
        context.fill_rect(to.round() - 1.0, top, 1.0, bottom - top);
        context.set_global_alpha(1.0);
    }

    fn paint_rows(&self, scene: &Scene) {
        let (context, layout, colours) = (&self.context, &scene.layout, &self.colours);
        let half = layout.row_height / 2.0;
        self.fill(&colours.line);
        for row in 0..=layout.rows {
            context.fill_rect(0.0, (layout.top + row as f64 * layout.row_height).round(), layout.width, 1.0);
        }
        self.fill(&colours.focus);
        for row in scene.lanes.iter().flatten().filter(|row| row.selected || row.hovered) {
            context.set_global_alpha(ROW_TINTS[usize::from(!row.selected)]);
            context.fill_rect(0.0, row.y - half, layout.width, layout.row_height);
            context.set_global_alpha(1.0);
            if row.selected {
                context.fill_rect(0.0, row.y - half, 2.0, layout.row_height);
            }
        }
        scene.lanes.iter().flatten().for_each(|row| self.paint_star(row));
        if scene.lanes.iter().flatten().any(|row| row.group.is_some()) {
            return scene.lanes.iter().flatten().for_each(|row| self.paint_label(row, layout.left));
        }
        // Namespaces stand in a column as wide as the longest of them, so that names begin at one place.
        let all = ((layout.left - MARGIN - 12.0) / self.char).floor().max(1.0) as usize;
        // Where there are several kinds, they stand before them in a column of their own.
        let longest =
            |text: fn(&LaneRow) -> &str| scene.lanes.iter().flatten().map(|row| text(row).chars().count()).max();
        let kind = longest(|row| row.kind_name).unwrap_or(0).min(KIND).min(all / 3);
        let room = |length: usize| if length == 0 { 0 } else { length + 1 };
        // Where there is little room, it is the name's.
        let most = if all < room(kind) + NARROW { 0 } else { NAMESPACE.min((all - kind) / 2) };
        let namespace = longest(|row| &row.key.namespace).unwrap_or(0).min(most);
        let namespace_x = MARGIN + room(kind) as f64 * self.char;
        let name_x = namespace_x + room(namespace) as f64 * self.char;
        let name = all.saturating_sub(room(kind) + room(namespace));
        self.fill(&colours.faint);
        for row in scene.lanes.iter().flatten() {
            self.text(&fit(row.kind_name, kind), MARGIN, row.y);
            self.text(&fit(&row.key.namespace, namespace), namespace_x, row.y);
        }
        for row in scene.lanes.iter().flatten() {
            self.paint_name(row, name_x, name);
        }
    }

    fn paint_name(&self, row: &LaneRow, x: f64, most: usize) {
        let colours = &self.colours;
        let name = fit(&row.key.name, most);
        self.fill(if !row.live {
            &colours.faint
        } else if row.selected {
            &colours.text
        } else {
            &colours.dim
        });
        self.text(&name, x, row.y);
        if !row.live {
            self.strike(x, row.y, name.chars().count());
        }
    }

    /// Strikes out a name of so many characters, because the object is deleted.
    pub(super) fn strike(&self, x: f64, y: f64, length: usize) {
        self.fill(self.mark(MarkType::Deleted));
        self.context.set_global_alpha(0.6);
        self.context.fill_rect(x, y.round(), length as f64 * self.char, 1.0);
        self.context.set_global_alpha(1.0);
    }

    fn paint_stream(&self, scene: &Scene) {
        let (context, layout) = (&self.context, &scene.layout);
        let height = layout.bottom - layout.top;
        for gap in &scene.gaps {
            if gap.kept != Kept::All {
                self.paint_lost(gap, (layout.top, height));
                continue;
            }
            self.fill(self.mark(MarkType::Gap));
            context.set_global_alpha(0.13);
            context.fill_rect(gap.x, layout.top, gap.width, height);
            context.set_global_alpha(1.0);
            context.fill_rect(gap.x, layout.top - 2.0, gap.width, 2.0);
        }
        let words_y = layout.top - 10.0;
        self.fill(self.mark(MarkType::Relist));
        context.begin_path();
        for line in &scene.lines {
            context.rect(line.x.round(), words_y, 1.0, layout.bottom - words_y);
            if line.headed {
                shape(context, MarkType::Relist, line.x, words_y);
            }
        }
        context.fill();
        let most = ((layout.right - layout.left) / self.char).max(0.0) as usize;
        for note in &scene.notes {
            self.text(&fit(&note.text, most), note.x + 8.0, words_y);
        }
    }

    /// A time of which less is kept than was received: where only marks are left, it is dim and ends with a dotted line; where
    /// nothing is left, it is dark and ends with a whole one.
    fn paint_lost(&self, area: &GapArea, (top, height): (f64, f64)) {
        let (context, is_nothing) = (&self.context, area.kept == Kept::Nothing);
        self.fill(&self.colours.faint);
        context.set_global_alpha(if is_nothing { 0.22 } else { 0.09 });
        context.fill_rect(area.x, top, area.width, height);
        context.set_global_alpha(0.7);
        let (edge, step) = ((area.x + area.width).round() - 1.0, if is_nothing { height } else { 5.0 });
        let mut y = 0.0;
        while y < height {
            context.fill_rect(edge, top + y, 1.0, step.min(height - y) * if is_nothing { 1.0 } else { 0.5 });
            y += step.max(1.0);
        }
        context.set_global_alpha(1.0);
    }

    fn paint_axis(&self, scene: &Scene) {
        let (context, layout) = (&self.context, &scene.layout);
        if let Some(x) = scene.crosshair {
            context.set_global_alpha(0.5);
            self.fill(&self.colours.faint);
            context.fill_rect(x.round(), layout.top, 1.0, layout.bottom - layout.top);
            context.set_global_alpha(1.0);
        }
        self.fill(&self.colours.faint);
        let y = layout.bottom + 10.0;
        if scene.active > layout.rows {
            let count = format!("{} of {} lanes", layout.rows, grouped(scene.active as u64));
            let most = ((layout.left - MARGIN - 30.0) / self.char).max(0.0) as usize;
            self.text(&fit(&count, most), MARGIN, y);
        }
        context.set_text_align("center");
        for tick in &scene.ticks {
            let label = tick.label();
            // The last one stands at the canvas's edge.
            let room = label.len() as f64 * self.char / 2.0 + 2.0;
            self.text(&label, tick.x.min(layout.width - room), y);
        }
        if scene.lanes.is_empty() {
            let middle = (layout.left + layout.right) / 2.0;
            self.text("nothing changed in this time", middle, (layout.top + layout.bottom) / 2.0);
        }
        context.set_text_align("left");
    }
}
