//! The pills of a scene, with their numbers, as pixels of the screen.
//!
//! A full scene has hundreds of pills. Painted one by one, they take more than half of the time of the whole picture, be they
//! paths or pictures. So the pixels of a pill are kept for its type, its number and its width, and are laid over the pixels
//! of its lane: see [`crate::timeline::pixels`].

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::timeline::fold::{PILL_PAD, short};
use crate::timeline::ink::{Ink, Inks};
use crate::timeline::mark::MarkType;
use crate::timeline::pixels::Rgba;
use crate::timeline::scene::{Pill, Scene};

/// How tall a pill is, in CSS pixels.
pub const HEIGHT: f64 = 16.0;

/// Where a pill's number begins, in CSS pixels from the pill's left edge.
pub const NUMBER: f64 = PILL_PAD + 6.0;

/// The most pixels of all pictures that are kept: two megabytes of them. Few are needed: a number is mostly seen at one width.
const MOST: usize = 1 << 19;

/// Of so many widths one is tried after the other, to find one that differs by whole pixels of the screen.
const WIDTHS: u32 = 16;

/// The number of a pill, as it is shown.
pub fn text(pill: &Pill) -> String {
    short(pill.counts.total())
}

/// How a pill looks, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    /// The type of most of the frames.
    pub mark_type: MarkType,
    /// The number, of which [`Look::text`] shows all.
    count: u64,
    /// The width, in CSS pixels.
    pub width: u32,
}

impl Look {
    /// The number as the pill shows it.
    pub fn text(&self) -> String {
        short(self.count)
    }
}

/// A pill of a scene as it is made of a picture.
#[derive(Debug)]
struct Placed {
    /// The picture's number.
    picture: usize,
    /// The left edge, in pixels of the screen.
    left: f64,
    /// By how many pixels of the screen the picture is stretched.
    by: usize,
    /// Whether the pill is too narrow for its number, because another one begins there.
    is_narrow: bool,
}

/// What pixels depend on beside the theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// The pixels of the screen per CSS pixel.
    pub ratio: f64,
    /// How wide a character of the text is, in CSS pixels.
    pub char: f64,
}

impl Screen {
    /// So many CSS pixels in whole pixels of the screen, rounded up.
    pub fn pixels(&self, length: f64) -> usize {
        (length * self.ratio - 1e-6).ceil().max(1.0) as usize
    }

    /// Where a pill's upper left corner is, in whole pixels of the screen.
    pub fn place(&self, pill: &Pill) -> (f64, f64) {
        ((pill.x * self.ratio).round(), ((pill.y - HEIGHT / 2.0) * self.ratio).round())
    }

    /// Where a number ends, in CSS pixels from the pill's left edge.
    fn number_right(&self, count: u64) -> f64 {
        let (digits, sign) = if count < 10_000 { (count, 0) } else { (count / 1_000, 1) };
        let length = digits.checked_ilog10().unwrap_or(0) + 1 + sign;
        NUMBER + f64::from(length) * self.char
    }

    /// How a pill looks, and what of that its picture does not say.
    fn look(&self, pill: &Pill) -> (Look, Placed) {
        let (total, width) = (pill.counts.total(), pill.width.max(1.0) as u32);
        let count = if total < 10_000 { total } else { total / 1_000 * 1_000 };
        let number_right = self.number_right(count);
        // Between the number and the round end, all columns of pixels are alike. There are two of them at least.
        let least = (number_right + HEIGHT / 2.0 + 2.0 / self.ratio).ceil() as u32;
        let by = |own: u32| f64::from(width - own) * self.ratio;
        let is_whole = |own: &u32| (by(*own) - by(*own).round()).abs() < 1e-6;
        let own = (least..width).take(WIDTHS as usize).find(is_whole).unwrap_or(width);
        let look = Look { mark_type: pill.mark_type, count, width: own };
        let (by, is_narrow) = (by(own).round() as usize, f64::from(width) < number_right);
        (look, Placed { picture: 0, left: self.place(pill).0, by, is_narrow })
    }

    /// How wide the picture of a look is, in pixels of the screen. A number may be wider than its pill.
    pub fn width(&self, look: &Look) -> usize {
        self.pixels(f64::from(look.width).max(self.number_right(look.count) + 1.0))
    }

    /// The column of a picture's pixels that is repeated to stretch it.
    fn column(&self, look: &Look) -> usize {
        self.pixels(self.number_right(look.count))
    }
}

/// The pixels of a look, line by line.
#[derive(Debug)]
struct Picture {
    width: usize,
    /// The column that is repeated to stretch the picture.
    column: usize,
    inks: Vec<u32>,
}

/// The pixels of the pills that were seen, for one theme.
#[derive(Debug, Default)]
pub struct PillPictures {
    numbers: FxHashMap<Look, usize>,
    pictures: Vec<Picture>,
    /// How many pixels they have.
    held: usize,
    /// The pills of the scene.
    placed: Vec<Placed>,
}

impl PillPictures {
    /// Forgets all: to be called when the theme or the screen changed.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.pictures.clear();
        self.placed.clear();
        self.held = 0;
    }

    /// Prepares a scene. Returns the looks that it needs and that are not there yet: they must be added in this order.
    pub fn prepare(&mut self, scene: &Scene, screen: &Screen) -> Vec<Look> {
        if self.held > MOST || self.numbers.len() != self.pictures.len() {
            self.clear();
        }
        let mut missing = Vec::new();
        self.placed.clear();
        for pill in &scene.pills {
            let (look, placed) = screen.look(pill);
            let next = self.numbers.len();
            let picture = *self.numbers.entry(look).or_insert(next);
            if picture == next {
                missing.push(look);
            }
            self.placed.push(Placed { picture, ..placed });
        }
        missing
    }

    /// Keeps the pixels of a look, line by line: as many as [`Screen::width`] says, and as [`Screen::pixels`] says of [`HEIGHT`].
    pub fn add(&mut self, look: &Look, screen: &Screen, pixels: impl Iterator<Item = Rgba>) {
        let inks: Vec<u32> = pixels.map(|colour| Ink::from(colour).over).collect();
        self.held += inks.len();
        self.pictures.push(Picture { width: screen.width(look), column: screen.column(look), inks });
    }

    /// Lays pills of the scene that was prepared over lines of pixels of this left edge and width. What is beyond the edges is
    /// left out.
    pub(super) fn lay(&self, pills: Range<usize>, pixels: &mut [u32], (left, width): (f64, usize)) {
        let pills = self.placed.get(pills).unwrap_or_default();
        // A number that is wider than its pill reaches over the next pill.
        for is_narrow in [false, true] {
            for pill in pills.iter().filter(|pill| pill.is_narrow == is_narrow) {
                if let (Some(picture), true) = (self.pictures.get(pill.picture), pill.left >= left) {
                    picture.lay(pill.by, pixels, ((pill.left - left) as usize, width));
                }
            }
        }
    }
}

impl Picture {
    /// Lays the picture over lines of pixels, stretched by so many pixels. What is beyond the right edge is left out.
    fn lay(&self, by: usize, pixels: &mut [u32], (begin, width): (usize, usize)) {
        for (inks, line) in self.inks.chunks_exact(self.width).zip(pixels.chunks_exact_mut(width)) {
            let (head, tail) = inks.split_at(self.column.min(inks.len()));
            let line = line.get_mut(begin..).unwrap_or_default();
            let (left, rest) = line.split_at_mut(head.len().min(line.len()));
            let (middle, right) = rest.split_at_mut(by.min(rest.len()));
            Inks(head).lay(left);
            if let Some(over) = tail.first().filter(|_| by > 0) {
                Ink { over: *over }.lay(middle);
            }
            Inks(tail).lay(right);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::timeline::mark::Counts;
    use crate::timeline::scene::Layout;

    /// A pill of any width, as a painter would paint it: the left end has the number, the right end is round, and between
    /// them all columns are alike. Each pixel tells where it is from, and some are seen through.
    pub(in crate::timeline) fn painted((mark_type, count, width): (MarkType, u64, u32), screen: &Screen) -> Vec<Rgba> {
        let (columns, exact) = (screen.width(&Look { mark_type, count, width }), f64::from(width) * screen.ratio);
        let number_right = screen.number_right(count) * screen.ratio;
        let pixel = |at: usize| {
            let (x, y) = (at % columns, at / columns);
            let from_right = exact - x as f64;
            let (part, at) = match () {
                () if (x as f64) < number_right => (60, x as u8),
                () if from_right < HEIGHT / 2.0 * screen.ratio => (120, (from_right * 8.0).round() as u8),
                () => (0, 0),
            };
            [(count % 100) as u8 + part, at, y as u8, 255 - 50 * mark_type as u8]
        };
        (0..columns * screen.pixels(HEIGHT)).map(pixel).collect()
    }

    pub(in crate::timeline) fn pill((x, y): (f64, f64), width: f64, mark_type: MarkType, count: u64) -> Pill {
        let mut counts = Counts::default();
        counts.add(mark_type, count);
        Pill { x, width, y, mark_type, counts, first: 0, last: 0 }
    }

    /// Prepares a scene, with pictures as [`painted`] paints them. Returns how many were missing.
    pub(in crate::timeline) fn prepare(pictures: &mut PillPictures, scene: &Scene, screen: &Screen) -> usize {
        let missing = pictures.prepare(scene, screen);
        for look in &missing {
            let pixels = painted((look.mark_type, look.count, look.width), screen);
            pictures.add(look, screen, pixels.into_iter());
        }
        missing.len()
    }

    #[test]
    fn pills_of_one_number_share_a_picture_if_there_is_room_beside_it() {
        for (ratio, looks) in [(1.0, 1), (1.5, 2), (1.25, 4), (1.1, 10)] {
            let screen = Screen { ratio, char: 6.6 };
            let mut scene = Scene { layout: Layout::new(1_440.0, 420.0), ..Scene::default() };
            let wide = |at: u32| pill((300.0, 57.0), f64::from(60 + at), MarkType::Updated, 12_345);
            scene.pills = (0..200).map(wide).collect();
            let mut pictures = PillPictures::default();
            let missing = pictures.prepare(&scene, &screen);
            assert_eq!(missing.len(), looks, "{missing:?}, at {ratio}");
            assert!(missing.iter().all(|look| look.text() == "12k"));
        }
    }

    #[test]
    fn a_number_is_as_wide_as_its_text() {
        let screen = Screen { ratio: 1.0, char: 1.0 };
        for count in [0, 3, 9, 10, 99, 100, 9_999, 10_000, 99_999, 100_000, 1_234_567] {
            let (look, _) = screen.look(&pill((0.0, 0.0), 90.0, MarkType::Added, count));
            assert_eq!(look.text(), short(count));
            assert_eq!(screen.number_right(look.count) - NUMBER, short(count).len() as f64);
        }
    }

    #[test]
    fn pictures_are_forgotten_where_there_are_too_many() {
        let screen = Screen { ratio: 1.0, char: 6.6 };
        let (mut pictures, mut scene, mut all) = (PillPictures::default(), Scene::default(), 0);
        for count in 3..3_000 {
            scene.pills = vec![pill((300.0, 57.0), 64.0, MarkType::Updated, count)];
            all += prepare(&mut pictures, &scene, &screen);
            assert!(pictures.held <= MOST + 64 * 16);
        }
        assert_eq!(all, 2_997);
        scene.pills = vec![pill((300.0, 57.0), 64.0, MarkType::Updated, 2_999)];
        assert_eq!(prepare(&mut pictures, &scene, &screen), 0, "the last one is there");
        // Where a browser could not paint what was missing, all is asked for again.
        scene.pills.push(pill((300.0, 57.0), 64.0, MarkType::Added, 3));
        assert_eq!(pictures.prepare(&scene, &screen).len(), 1);
        assert_eq!(prepare(&mut pictures, &scene, &screen), 2);
    }
}
