//! The bands of a scene in whole pixels of the screen: as rectangles, and as rows of pixels.
//!
//! Where states change fast, a scene has thousands of bands, and a rectangle for each of them takes a sixth of the time of a
//! picture that is painted in software. The bands of a lane look the same on each line of the screen. So one line of pixels
//! is filled for each lane, and stretched to the height of the bands.

use kubechurn_client::api::cell::Tone;

use crate::timeline::scene::{Band, Scene};

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
        let half = self.half_height();
        (((self.y - half) * ratio).round(), ((self.y + half) * ratio).round())
    }

    /// Half the height. A failing state is taller than others, and states that change too fast are lower: never a colour
    /// alone.
    fn half_height(&self) -> f64 {
        match (self.changing, self.tone) {
            (true, _) => 3.0,
            (false, Tone::Bad) => 7.5,
            (false, _) => 6.5,
        }
    }
}

/// Where a line of pixels is stretched to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandRow {
    /// The upper edge, in pixels of the screen.
    pub top: f64,
    /// The lower edge.
    pub bottom: f64,
}

/// All bands of a scene as lines of pixels.
#[derive(Debug, Default)]
pub struct BandRows {
    /// Where the lines begin, in pixels of the screen.
    pub left: f64,
    /// How many pixels a line has.
    pub width: usize,
    /// The lines: one for each height of the bands of a lane. The tallest one comes last, so that failures are on top.
    pub rows: Vec<BandRow>,
    /// Their pixels, line by line.
    pub pixels: Vec<Rgba>,
}

impl BandRows {
    /// Fills the lines for a scene on a screen of so many pixels per CSS pixel.
    pub fn fill(&mut self, scene: &Scene, ratio: f64, colour: impl Fn(Tone) -> Rgba) {
        self.left = (scene.layout.left * ratio).floor();
        self.width = ((scene.layout.right * ratio).ceil() - self.left).max(0.0) as usize;
        self.rows.clear();
        self.pixels.clear();
        for lane in scene.bands.chunk_by(|one, other| one.y == other.y) {
            for half in [3.0, 6.5, 7.5] {
                let mut bands = lane.iter().filter(|band| band.half_height() == half).peekable();
                let Some(first) = bands.peek() else { continue };
                let (top, bottom) = first.lines(ratio);
                let begin = self.pixels.len();
                self.rows.push(BandRow { top, bottom });
                self.pixels.resize(begin + self.width, Rgba::default());
                let line = &mut self.pixels[begin..];
                for band in bands {
                    let (area, colour) = (band.area(ratio), colour(band.tone));
                    let place = |x: f64| ((x - self.left).max(0.0) as usize).min(self.width);
                    line.get_mut(place(area.left)..place(area.right)).unwrap_or_default().fill(colour);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smol_str::SmolStr;

    use super::*;
    use crate::timeline::scene::Layout;

    const TONES: [Tone; 4] = [Tone::Plain, Tone::Good, Tone::Wait, Tone::Bad];

    fn band(x: f64, width: f64, tone: Tone, changing: bool) -> Band {
        Band { x, width, y: 57.3, tone, word: SmolStr::default(), changing }
    }

    fn colour(tone: Tone) -> Rgba {
        [tone as u8 + 1, 0, 0, 50]
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

    proptest! {
        /// A line of pixels has what rectangles would paint there.
        #[test]
        fn lines_of_pixels_are_the_rectangles(
            bands in proptest::collection::vec((0.0f64..9.0, 0usize..4, 0usize..5), 1..200),
            ratio in 1.0f64..3.0,
        ) {
            let mut scene = Scene { layout: Layout::new(720.0, 300.0), ..Scene::default() };
            let mut x = scene.layout.left - 5.0;
            for (width, tone, changing) in bands {
                scene.bands.push(band(x, width, TONES[tone], changing == 0));
                x += width;
            }
            let mut rows = BandRows::default();
            rows.fill(&scene, ratio, colour);
            prop_assert_eq!(rows.pixels.len(), rows.rows.len() * rows.width);
            for (row, pixels) in rows.rows.iter().zip(rows.pixels.chunks_exact(rows.width)) {
                let areas = scene.bands.iter().map(|band| (band.area(ratio), band.tone));
                let areas: Vec<_> = areas.filter(|(area, _)| (area.top, area.bottom) == (row.top, row.bottom)).collect();
                prop_assert!(!areas.is_empty());
                for (place, pixel) in pixels.iter().enumerate() {
                    let x = rows.left + place as f64;
                    let on_top = areas.iter().rev().find(|(area, _)| area.left <= x && x < area.right);
                    prop_assert_eq!(*pixel, on_top.map_or([0; 4], |(_, tone)| colour(*tone)), "at {}", x);
                }
            }
            let lines = |band: &Band| { let area = band.area(ratio); (area.top, area.bottom) };
            prop_assert!(scene.bands.iter().all(|band| rows.rows.iter().any(|row| (row.top, row.bottom) == lines(band))));
        }
    }
}
