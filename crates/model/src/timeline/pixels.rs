//! The lanes of a scene in whole pixels of the screen: their bands and pills on what is beneath them.
//!
//! A full scene has thousands of bands and hundreds of pills. Where a canvas is painted in software, each of them takes some
//! microseconds, which is most of the time of a picture. So the pixels of a lane are composed here, and put where they are
//! seen. Most lines of a lane's pixels are alike, until the pills are laid over them.

use std::ops::Range;

use kubechurn_client::api::cell::Tone;

use crate::timeline::fold::PILL_PAD;
use crate::timeline::ink::Ink;
use crate::timeline::pills::{HEIGHT, PillPictures, Screen};
use crate::timeline::scene::{Band, Layout, Scene};
use wide::bytemuck::cast_slice;

/// How opaque the bands of each tone are, in the order in which they are painted.
pub const TONES: [(Tone, f64); 4] = [(Tone::Plain, 0.12), (Tone::Good, 0.2), (Tone::Wait, 0.22), (Tone::Bad, 0.22)];

/// How opaque the tint of the selected row is, and that of the row with the pointer.
pub const ROW_TINTS: [f64; 2] = [0.13, 0.06];

/// How opaque the tint of a stretch of time is, and its edges.
pub const SPAN_TINTS: [f64; 2] = [0.16, 0.7];

/// So many pixels beyond both ends of the time axis belong to the lanes: pills reach there.
pub const REACH: f64 = PILL_PAD + 1.0;

/// Half the heights of bands. The tallest ones come last, so that failures are on top.
const HALVES: [f64; 3] = [3.0, 6.5, 7.5];

/// Painted one by one, a pill takes as long as so many bands.
const PILL: usize = 15;

/// So much is fast to paint one by one, on every machine.
const FEW: usize = 100;

/// Where a band is, in whole pixels of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The left edge.
    pub left: f64,
    /// The right edge, which is beyond the left one.
    pub right: f64,
    /// The upper edge.
    pub top: f64,
    /// The lower edge.
    pub bottom: f64,
}

/// The colour of a pixel: red, green, blue, and how opaque it is.
pub type Rgba = [u8; 4];

impl Band {
    /// Where the band is painted on a screen of so many pixels per CSS pixel.
    pub fn area(&self, ratio: f64) -> Area {
        // Bands that follow each other are told apart.
        let width = if self.width >= 3.0 { self.width - 1.0 } else { self.width };
        let left = (self.x * ratio).round();
        let right = ((self.x + width) * ratio).round().max(left + 1.0);
        let (top, bottom) = self.lines(ratio);
        Area { left, right, top, bottom }
    }

    /// The upper and the lower edge.
    fn lines(&self, ratio: f64) -> (f64, f64) {
        lines((self.y, self.half_height()), ratio)
    }

    /// Half the height. A failing state is taller than others, and states that change too fast are lower: never a colour
    /// alone.
    fn half_height(&self) -> f64 {
        match (self.changing, self.tone) {
            (true, _) => HALVES[0],
            (false, Tone::Bad) => HALVES[2],
            (false, _) => HALVES[1],
        }
    }
}

/// The edges of what reaches so far up and down from the middle of a row.
fn lines((y, half): (f64, f64), ratio: f64) -> (f64, f64) {
    (((y - half) * ratio).round(), ((y + half) * ratio).round())
}

/// The colours of the theme.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Palette {
    /// The ground of the canvas, which nothing shines through.
    pub panel: Rgba,
    /// The lines between rows.
    pub line: Rgba,
    /// The tint of rows and of a stretch of time.
    pub focus: Rgba,
    /// The bands, in the order of [`TONES`].
    pub tones: [Rgba; TONES.len()],
}

impl Palette {
    /// The colour of bands of a tone.
    fn tone(&self, tone: Tone) -> Rgba {
        let place = TONES.iter().position(|(other, _)| *other == tone);
        place.and_then(|place| self.tones.get(place)).copied().unwrap_or_default()
    }
}

/// A colour of which less is seen.
fn fainter([red, green, blue, opaque]: Rgba, part: f64) -> Rgba {
    [red, green, blue, (f64::from(opaque) * part).round() as u8]
}

/// What is painted of a lane.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The number of its row.
    row: usize,
    y: f64,
    /// How opaque the row's tint is.
    tint: f64,
    bands: &'a [Band],
    /// Which of the scene's pills are of the lane.
    pills: Range<usize>,
}

/// The lanes of a scene that have bands or pills. `None` where it is as fast to paint them one by one.
pub fn lanes(scene: &Scene) -> Option<Vec<Lane<'_>>> {
    if scene.bands.len() + PILL * scene.pills.len() <= FEW {
        return None;
    }
    let (mut bands, mut begin) = (&scene.bands[..], 0);
    let mut lanes = Vec::with_capacity(scene.lanes.len());
    for (row, lane) in scene.lanes.iter().enumerate() {
        let Some(lane) = lane else { continue };
        let own;
        (own, bands) = bands.split_at(bands.iter().take_while(|band| band.y == lane.y).count());
        let pills = scene.pills.iter().skip(begin).take_while(|pill| pill.y == lane.y).count();
        if !own.is_empty() || pills > 0 {
            let tint = match () {
                () if lane.selected => ROW_TINTS[0],
                () if lane.hovered => ROW_TINTS[1],
                () => 0.0,
            };
            lanes.push(Lane { row, y: lane.y, tint, bands: own, pills: begin..begin + pills });
        }
        begin += pills;
    }
    // Whatever is on no lane is not left out.
    if bands.is_empty() && begin == scene.pills.len() { Some(lanes) } else { None }
}

/// The pixels of a lane.
#[derive(Debug, Default)]
pub struct LaneRows {
    /// The left edge, in pixels of the screen.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// How wide a line of pixels is.
    pub width: usize,
    pixels: Vec<u32>,
}

impl LaneRows {
    /// The bytes of the pixels, line by line.
    pub fn bytes(&self) -> &[u8] {
        cast_slice(&self.pixels)
    }

    /// Fills in the pixels of a lane of a scene for which the pictures are prepared.
    pub fn fill(
        &mut self,
        lane: &Lane<'_>,
        (scene, screen): (&Scene, &Screen),
        palette: &Palette,
        pictures: &PillPictures,
    ) {
        let (layout, ratio) = (&scene.layout, screen.ratio);
        self.left = ((layout.left - REACH) * ratio).floor();
        self.width = (((layout.right + REACH) * ratio).ceil() - self.left).max(1.0) as usize;
        self.top = lines((lane.y, HEIGHT / 2.0), ratio).0;
        let edges = HALVES.map(|half| lines((lane.y, half), ratio));
        let bottom = edges.into_iter().map(|(_, bottom)| bottom).fold(self.top, f64::max);
        let height = screen.pixels(HEIGHT).max((bottom - self.top) as usize);
        self.pixels.clear();
        let mut before = None;
        for line in 0..height {
            let y = self.top + line as f64;
            let ground = lane.ground(y, layout, ratio, palette);
            let heights = edges.map(|(top, bottom)| top <= y && y < bottom);
            let begin = self.pixels.len();
            if before == Some((ground, heights)) {
                self.pixels.extend_from_within(begin - self.width..);
                continue;
            }
            before = Some((ground, heights));
            self.pixels.resize(begin + self.width, ground);
            let pixels = self.pixels.get_mut(begin..).unwrap_or_default();
            for (half, _) in HALVES.iter().zip(heights).filter(|(_, is_there)| *is_there) {
                fill_bands(
                    pixels,
                    lane.bands.iter().filter(|band| band.half_height() == *half),
                    (self.left, ratio),
                    |tone| over(ground, palette.tone(tone)),
                );
            }
            if let Some(span) = scene.span {
                tint(pixels, span, (self.left, ratio), palette.focus);
            }
        }
        pictures.lay(lane.pills.clone(), &mut self.pixels, (self.left, self.width));
    }
}

impl Lane<'_> {
    /// What is beneath bands and pills on a line of pixels.
    fn ground(&self, y: f64, layout: &Layout, ratio: f64, palette: &Palette) -> u32 {
        let mut ground = u32::from_le_bytes(palette.panel);
        // On a screen of small pixels the lines between rows may reach here.
        for row in [self.row, self.row + 1] {
            let top = (layout.top + row as f64 * layout.row_height).round() * ratio;
            let part = (top + ratio).min(y + 1.0) - top.max(y);
            if part > 0.0 {
                ground = over(ground, fainter(palette.line, part));
            }
        }
        over(ground, fainter(palette.focus, self.tint))
    }
}

/// The colour of a tone's words where the chosen stretch of time is tinted.
pub fn over_span(palette: &Palette, tone: Tone) -> Rgba {
    let [red, green, blue, _] = palette.tone(tone);
    over(u32::from_le_bytes([red, green, blue, 255]), fainter(palette.focus, SPAN_TINTS[0])).to_le_bytes()
}

/// An opaque colour, with another one over it.
fn over(under: u32, colour: Rgba) -> u32 {
    Ink::from(colour).on(under)
}

/// Fills in the bands, each in the colour of its tone.
fn fill_bands<'a>(
    line: &mut [u32],
    bands: impl Iterator<Item = &'a Band>,
    (left, ratio): (f64, f64),
    colour: impl Fn(Tone) -> u32,
) {
    let width = line.len();
    let place = |x: f64| ((x - left).max(0.0) as usize).min(width);
    let mut last = None;
    for band in bands {
        let area = band.area(ratio);
        let colour = match last {
            Some((tone, colour)) if tone == band.tone => colour,
            _ => colour(band.tone),
        };
        last = Some((band.tone, colour));
        line.get_mut(place(area.left)..place(area.right)).unwrap_or_default().fill(colour);
    }
}

/// Tints a stretch of time on a line of pixels, and its edges.
fn tint(line: &mut [u32], [from, to]: [f64; 2], (left, ratio): (f64, f64), colour: Rgba) {
    let [inside, edge] = SPAN_TINTS;
    let areas = [(from, (to - from).max(1.0), inside), (from.round(), 1.0, edge), (to.round() - 1.0, 1.0, edge)];
    for (x, width, part) in areas {
        let (begin, end) = ((x * ratio - left).max(0.0), ((x + width) * ratio - left).max(0.0));
        // At the edges a part of a pixel is tinted.
        let ends = match (begin.floor(), end.floor()) {
            (first, last) if first == last => [(first, end - begin), (last, 0.0)],
            (first, last) => [(first, begin.ceil() - begin), (last, end - last)],
        };
        if let Some(whole) = line.get_mut(begin.ceil() as usize..(end as usize).min(line.len())) {
            Ink::from(fainter(colour, part)).lay(whole);
        }
        for (place, seen) in ends {
            if let Some(pixel) = line.get_mut(place as usize).filter(|_| seen > 0.0) {
                *pixel = over(*pixel, fainter(colour, part * seen));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smol_str::SmolStr;

    use super::*;
    use crate::kind_id::KindId;
    use crate::timeline::mark::{LaneId, MarkType};
    use crate::timeline::pills::tests::{painted, pill, prepare};
    use crate::timeline::pills::{NUMBER, text};
    use crate::timeline::scene::{LaneRow, Pill};
    use kubechurn_client::api::object::ObjectKey;

    fn band(x: f64, width: f64, tone: Tone, changing: bool) -> Band {
        Band { x, width, y: 57.3, tone, word: SmolStr::default(), changing }
    }

    #[test]
    fn bands_are_told_apart_and_the_alarming_ones_are_taller() {
        let area = |band: Band| band.area(1.0);
        let first = area(band(240.2, 30.0, Tone::Good, false));
        let next = area(band(270.2, 2.0, Tone::Bad, false));
        assert_eq!((first.right, next.left, next.right), (269.0, 270.0, 272.0));
        let height = |area: Area| area.bottom - area.top;
        let fast = area(band(280.0, 30.0, Tone::Bad, true));
        assert!(height(next) > height(first) && height(first) > height(fast));
        let short = area(band(280.4, 0.1, Tone::Bad, false));
        assert_eq!((short.left, short.right), (280.0, 281.0), "it stays visible");
    }

    /// A picture as a painter paints it who paints one thing after the other, on a canvas of so many lines of pixels.
    struct Plain {
        left: f64,
        width: usize,
        pixels: Vec<[f64; 3]>,
    }

    impl Plain {
        /// Paints a rectangle, whose edges may be between pixels.
        fn rectangle(&mut self, [left, right, top, bottom]: [f64; 4], colour: Rgba, part: f64) {
            let (width, origin) = (self.width, self.left);
            for (at, pixel) in self.pixels.iter_mut().enumerate() {
                let (x, y) = ((at % width) as f64 + origin, (at / width) as f64);
                let covered = |from: f64, to: f64, at: f64| (to.min(at + 1.0) - from.max(at)).clamp(0.0, 1.0);
                lay_over(pixel, colour, part * covered(left, right, x) * covered(top, bottom, y));
            }
        }
    }

    fn lay_over(pixel: &mut [f64; 3], colour: Rgba, part: f64) {
        let part = part * f64::from(colour[3]) / 255.0;
        for (under, over) in pixel.iter_mut().zip(colour) {
            *under = *under * (1.0 - part) + f64::from(over) * part;
        }
    }

    fn row(y: f64, selected: bool, hovered: bool) -> LaneRow {
        let (lane, kind, key) = (LaneId(0), KindId::ONLY, ObjectKey::new("shop", "web"));
        let word = SmolStr::default();
        LaneRow { y, lane, kind, kind_name: "", key, word, live: true, selected, hovered, group: None }
    }

    const PALETTE: Palette = Palette {
        panel: [16, 20, 24, 255],
        line: [90, 90, 90, 255],
        focus: [0, 96, 255, 255],
        tones: [[200, 200, 200, 31], [0, 200, 0, 51], [220, 160, 0, 56], [255, 0, 90, 56]],
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The pixels of a lane are what is seen where all of it is painted one by one, in the same order.
        #[test]
        fn pixels_of_lanes_are_what_is_painted_one_by_one(
            bands in proptest::collection::vec((0.0f64..9.0, 0usize..4, 0usize..5), 0..80),
            pills in proptest::collection::vec((0.0f64..60.0, 1.0f64..90.0, 0usize..5, 0u64..20_000, 0u32..5), 0..12),
            ratio in prop_oneof![Just(1.0), Just(1.5), Just(2.0), Just(1.25), 0.7f64..3.0],
            char in prop_oneof![Just(6.6), 5.0f64..9.0],
            (number, selected, hovered) in (0usize..8, any::<bool>(), any::<bool>()),
            span in prop_oneof![Just(None), (200.0f64..700.0, 0.0f64..200.0).prop_map(|(from, width)| Some([from, from + width]))],
            height in 300.0f64..330.0,
        ) {
            let (layout, screen) = (Layout::new(720.0, height), Screen { ratio, char });
            let y = layout.row_y(number);
            let mut scene = Scene { layout, span, ..Scene::default() };
            scene.lanes = vec![None; number];
            scene.lanes.push(Some(row(y, selected, hovered)));
            let mut x = layout.left;
            for (width, tone, changing) in bands {
                // Narrower ones than a pixel would overlap, which is only there to be seen at all.
                let width = (width + 1.0 / ratio).min(layout.right - x);
                scene.bands.push(Band { y, ..band(x, width, TONES[tone].0, changing == 0) });
                x += width;
            }
            scene.bands.retain(|band| band.width * ratio >= 1.0);
            let mut x = layout.left - PILL_PAD;
            for (gap, width, mark_type, count, short) in pills {
                scene.pills.push(pill((x + gap, y), width, MarkType::OBJECT[mark_type], count >> (3 * short)));
                x += gap + width + 1.0;
            }
            scene.pills.retain(|pill| pill.x + pill.width <= layout.right + PILL_PAD);
            let lanes = match lanes(&scene) {
                Some(lanes) => lanes,
                None => {
                    prop_assert!(scene.bands.len() + PILL * scene.pills.len() <= FEW);
                    return Ok(());
                }
            };
            let mut pictures = PillPictures::default();
            prepare(&mut pictures, &scene, &screen);
            let mut rows = LaneRows::default();
            rows.fill(&lanes[0], (&scene, &screen), &PALETTE, &pictures);
            let pixels = rows.bytes().as_chunks::<4>().0;
            let lines = pixels.len() / rows.width;
            prop_assert_eq!(lines * rows.width, pixels.len());
            prop_assert!(rows.top + lines as f64 <= (y + layout.row_height / 2.0) * ratio + 1.0);

            let ground = PALETTE.panel.map(f64::from);
            let blank = vec![[ground[0], ground[1], ground[2]]; pixels.len()];
            let mut plain = Plain { left: rows.left, width: rows.width, pixels: blank };
            let everywhere = 1e6;
            for row in 0..=layout.rows {
                let top = (layout.top + row as f64 * layout.row_height).round() * ratio - rows.top;
                plain.rectangle([0.0, everywhere, top, top + ratio], PALETTE.line, 1.0);
            }
            if selected || hovered {
                plain.rectangle([0.0, everywhere, 0.0, everywhere], PALETTE.focus, if selected { 0.13 } else { 0.06 });
            }
            for (place, (tone, _)) in TONES.iter().enumerate() {
                for band in scene.bands.iter().filter(|band| band.tone == *tone) {
                    let area = band.area(ratio);
                    let area = [area.left, area.right, area.top - rows.top, area.bottom - rows.top];
                    plain.rectangle(area, PALETTE.tones[place], 1.0);
                }
            }
            if let Some([from, to]) = span {
                for (left, width, part) in [(from, (to - from).max(1.0), 0.16), (from.round(), 1.0, 0.7), (to.round() - 1.0, 1.0, 0.7)] {
                    plain.rectangle([left * ratio, (left + width) * ratio, 0.0, everywhere], PALETTE.focus, part);
                }
            }
            // Numbers that are wider than their pills are on top.
            let number_right = |pill: &Pill| NUMBER + text(pill).len() as f64 * char;
            let is_narrow = |pill: &&Pill| f64::from(pill.width.max(1.0) as u32) < number_right(pill);
            let wide = scene.pills.iter().filter(|pill| !is_narrow(pill));
            for pill in wide.chain(scene.pills.iter().filter(is_narrow)) {
                let (total, width) = (pill.counts.total(), pill.width.max(1.0) as u32);
                let count = if total < 10_000 { total } else { total / 1_000 * 1_000 };
                let own = painted((pill.mark_type, count, width), &screen);
                let columns = own.len() / screen.pixels(HEIGHT);
                let begin = (screen.place(pill).0 - rows.left) as usize;
                for (at, colour) in own.into_iter().enumerate() {
                    let (x, y) = (begin + at % columns, at / columns);
                    if x < rows.width {
                        lay_over(&mut plain.pixels[y * rows.width + x], colour, 1.0);
                    }
                }
            }
            for (at, (pixel, wanted)) in pixels.iter().zip(&plain.pixels).enumerate() {
                let is_near = pixel.iter().zip(wanted).all(|(one, other)| (f64::from(*one) - other).abs() <= 4.0);
                prop_assert!(is_near && pixel[3] == 255, "{:?}, not {:?}, at {} of {}", pixel, wanted, at, rows.width);
            }
        }
    }

    #[test]
    fn nothing_is_left_out_that_is_on_no_lane() {
        let mut scene = Scene { layout: Layout::new(720.0, 300.0), ..Scene::default() };
        scene.bands = vec![band(300.0, 9.0, Tone::Good, false); 60];
        scene.lanes = vec![Some(row(scene.bands[0].y, false, false))];
        assert!(lanes(&scene).is_none(), "few bands are painted one by one");
        scene.pills = vec![pill((300.0, scene.bands[0].y), 40.0, MarkType::Updated, 12); 5];
        let found = lanes(&scene).expect("these are many");
        assert_eq!((found.len(), found[0].bands.len(), found[0].pills.clone()), (1, 60, 0..5));
        scene.pills[4].y += 1.0;
        assert!(lanes(&scene).is_none());
    }
}
