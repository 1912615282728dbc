//! Finds the end of plain text in a JSON string. Most of the time of passing over an object is spent here.

/// How many bytes at the beginning are neither a quote nor a backslash nor a control character.
///
/// Two words are looked at together, because most names and values end within them: the processor predicts the end of a
/// loop worst.
#[cfg(not(target_feature = "simd128"))]
#[inline(always)]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some((first, rest)) = bytes[at..].split_first_chunk::<8>()
        && let Some(second) = rest.first_chunk::<8>()
    {
        let (first, second) = (marks(*first), marks(*second));
        if first | second != 0 {
            let (marks, before) = if first != 0 { (first, 0) } else { (second, 8) };
            return at + before + marks.trailing_zeros() as usize / 8;
        }
        at += 16;
    }
    at + plain_bytes(&bytes[at..])
}

/// Marks the highest bit of each quote, backslash and control character. The lowest mark is right; those above it may
/// be wrong, because of a borrow in the subtraction.
#[cfg(not(target_feature = "simd128"))]
#[inline(always)]
fn marks(chunk: [u8; 8]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_le_bytes(chunk);
    // A quote and the control characters are the bytes below 0x21 once the bit 0x02 is flipped.
    let ends = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let slashes = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
    (ends | slashes) & !word & (ONES << 7)
}

/// The same, with the sixteen bytes of a browser's vectors.
#[cfg(target_feature = "simd128")]
#[inline(always)]
pub(super) fn plain(bytes: &[u8]) -> usize {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};

    let mut at = 0;
    while let Some((first, rest)) = bytes[at..].split_first_chunk::<8>()
        && let Some(second) = rest.first_chunk::<8>()
    {
        let vector = u64x2(u64::from_le_bytes(*first), u64::from_le_bytes(*second));
        let quotes = u8x16_eq(vector, u8x16_splat(b'"'));
        let slashes = u8x16_eq(vector, u8x16_splat(b'\\'));
        let controls = u8x16_lt(vector, u8x16_splat(0x20));
        let marks = u8x16_bitmask(v128_or(v128_or(quotes, slashes), controls));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += 16;
    }
    at + plain_bytes(&bytes[at..])
}

/// The same, byte by byte, for the end of a text.
fn plain_bytes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)).count()
}
