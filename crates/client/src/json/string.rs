//! Strings: where one ends, and what it means. Most of the time of passing over an object is spent in [`plain`].

use std::borrow::Cow;

use super::scan::byte;

/// The end of the string whose opening quote stands at a place. `None` stands for malformed text.
#[inline(always)]
pub(super) fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += plain(bytes.get(at..)?);
        match byte(bytes, at) {
            b'"' => return Some(at + 1),
            b'\\' => at = escape(bytes, at)?,
            _ => return None,
        }
    }
}

/// The end of an escape. Only decoding a string shows whether a surrogate has its partner.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// The meaning of a string that is given with its quotes. `None` for what is no string, and for one with half of a
/// surrogate pair: it has no meaning in UTF-8.
pub fn unescaped(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(quoted).ok().map(Cow::Owned),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_string_is_found_at_every_place() {
        for length in 0..40 {
            for end in ["\"", "\\", "\u{1}", "\u{1f}"] {
                for filler in ["a", "!", " ", "\u{7f}", "ä", "]", "\u{5d}", "#"] {
                    let text = filler.repeat(length);
                    assert_eq!(plain(format!("{text}{end}{text}").as_bytes()), text.len(), "{text:?} {end:?}");
                }
            }
            assert_eq!(plain(&vec![0xff; length]), length);
        }
    }

    #[test]
    fn a_string_means_what_serde_json_reads() {
        for quoted in
            [r#""""#, r#""a""#, r#""a\"b""#, r#""\u0041\/\ud83d\ude00""#, r#""\ud83d""#, r#""\ud83dx""#, "7", r#"""#]
        {
            assert_eq!(
                unescaped(quoted).as_deref(),
                serde_json::from_str::<String>(quoted).ok().as_deref(),
                "{quoted}"
            );
        }
    }
}
