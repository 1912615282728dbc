//! Lays colours over pixels, four pixels at a time.
//!
//! A pixel is a number of four bytes: from the lowest one red, green, blue, and how opaque the pixel is.

use wide::u32x4;

use crate::timeline::pixels::Rgba;

/// These bits are those of every other channel.
const CHANNELS: u32 = 0x00ff_00ff;

/// A half of each of them, behind the point.
const HALF: u32 = 0x0080_0080;

/// A colour that is laid over opaque pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    /// The channels, each multiplied by how opaque the colour is; and that.
    pub(super) over: u32,
}

impl From<Rgba> for Ink {
    fn from([red, green, blue, opaque]: Rgba) -> Ink {
        let part = |channel: u8| ((u32::from(channel) * u32::from(opaque) + 127) / 255) as u8;
        Ink { over: u32::from_le_bytes([part(red), part(green), part(blue), opaque]) }
    }
}

impl Ink {
    /// What is seen of a pixel beneath the ink. Two channels at a time are multiplied as one number.
    #[inline(always)]
    pub(super) fn on(self, under: u32) -> u32 {
        // So much is seen of what is beneath, of 256.
        let through = 256 - (self.over >> 24) - (self.over >> 31);
        let even = (((under & CHANNELS) * through + HALF) >> 8) & CHANNELS;
        let odd = (((under >> 8) & CHANNELS) * through + HALF) & !CHANNELS;
        self.over.wrapping_add(even | odd)
    }

    /// Lays the ink over pixels.
    pub(super) fn lay(self, pixels: &mut [u32]) {
        let over = u32x4::splat(self.over);
        let (fours, rest) = pixels.as_chunks_mut();
        fours.iter_mut().for_each(|under| *under = on((*under).into(), over).to_array());
        rest.iter_mut().for_each(|under| *under = self.on(*under));
    }
}

/// The same as [`Ink::on`], for four pixels.
#[inline(always)]
fn on(under: u32x4, over: u32x4) -> u32x4 {
    let through = u32x4::splat(256) - (over >> 24) - (over >> 31);
    let (channels, half) = (u32x4::splat(CHANNELS), u32x4::splat(HALF));
    let even = (((under & channels) * through + half) >> 8) & channels;
    let odd = (((under >> 8) & channels) * through + half) & u32x4::splat(!CHANNELS);
    over + (even | odd)
}

/// A row of inks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inks<'a>(pub(super) &'a [u32]);

impl Inks<'_> {
    /// Lays the inks over as many pixels, as far as there are both.
    pub(super) fn lay(self, pixels: &mut [u32]) {
        let length = self.0.len().min(pixels.len());
        let ((fours, last), (under, rest)) = (self.0[..length].as_chunks(), pixels[..length].as_chunks_mut());
        for (under, over) in under.iter_mut().zip(fours) {
            *under = on((*under).into(), (*over).into()).to_array();
        }
        for (under, over) in rest.iter_mut().zip(last) {
            *under = Ink { over: *over }.on(*under);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_over_an_opaque_colour_is_opaque_and_between_both() {
        for opaque in 0..=255_u8 {
            for under in 0..=255_u8 {
                for over in [0, 1, 77, 128, 200, 254, 255] {
                    let ink = Ink::from([over, 0, 255, opaque]);
                    let seen = ink.on(u32::from_le_bytes([under, under, under, 255])).to_le_bytes();
                    let part = f64::from(opaque) / 255.0;
                    let wanted = |over: u8| f64::from(over) * part + f64::from(under) * (1.0 - part);
                    for (seen, wanted) in [(seen[0], wanted(over)), (seen[1], wanted(0)), (seen[2], wanted(255))] {
                        assert!(
                            (f64::from(seen) - wanted).abs() < 1.6,
                            "{over} over {under}, {opaque}: {seen}, not {wanted}"
                        );
                    }
                    assert_eq!(seen[3], 255);
                }
            }
        }
        assert_eq!(Ink::from([9, 8, 7, 0]).on(0xff12_3456), 0xff12_3456);
        assert_eq!(Ink::from([9, 8, 7, 255]).on(0xff12_3456), 0xff07_0809);
    }

    proptest! {
        /// Whether four at a time or one by one, pixels are the same.
        #[test]
        fn a_row_of_inks_is_each_ink_on_its_pixel(
            inks in proptest::collection::vec(any::<Rgba>(), 0..40),
            under in proptest::collection::vec(any::<[u8; 3]>(), 0..40),
        ) {
            let under: Vec<u32> = under.into_iter().map(|[red, green, blue]| u32::from_le_bytes([red, green, blue, 255])).collect();
            let all: Vec<u32> = inks.into_iter().map(|colour| Ink::from(colour).over).collect();
            let mut laid = under.clone();
            Inks(&all).lay(&mut laid);
            for (at, (pixel, under)) in laid.iter().zip(&under).enumerate() {
                prop_assert_eq!(*pixel, all.get(at).map_or(*under, |over| Ink { over: *over }.on(*under)));
            }
            if let Some(ink) = all.first().map(|over| Ink { over: *over }) {
                let mut laid = under.clone();
                ink.lay(&mut laid);
                prop_assert_eq!(laid, under.iter().map(|under| ink.on(*under)).collect::<Vec<_>>());
            }
        }
    }
}
