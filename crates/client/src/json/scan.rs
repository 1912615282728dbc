//! Where values end that are no strings. `None` stands for malformed text in all of these functions.

use serde::de::IgnoredAny;

use super::brackets::bracket_end;
use super::string::string;

/// The byte at a place; 0 at the end, which no JSON text contains.
#[inline(always)]
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The next byte that is no white space, and its place. Servers write no white space inside a frame.
#[inline(always)]
pub(super) fn after_space(bytes: &[u8], at: usize) -> (u8, usize) {
    match byte(bytes, at) {
        next if next > b' ' => (next, at),
        _ => after_spaces(bytes, at),
    }
}

#[cold]
fn after_spaces(bytes: &[u8], mut at: usize) -> (u8, usize) {
    while let b' ' | b'\n' | b'\t' | b'\r' = byte(bytes, at) {
        at += 1;
    }
    (byte(bytes, at), at)
}

/// The end of a number.
#[inline]
pub(super) fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(byte(bytes, at) == b'-');
    at = if byte(bytes, at) == b'0' { at + 1 } else { digits(bytes, at)? };
    if byte(bytes, at) == b'.' {
        at = digits(bytes, at + 1)?;
    }
    if let b'e' | b'E' = byte(bytes, at) {
        at += 1 + usize::from(matches!(byte(bytes, at + 1), b'+' | b'-'));
        at = digits(bytes, at)?;
    }
    // A number may not begin with 0 and go on with digits.
    (!byte(bytes, at).is_ascii_digit()).then_some(at)
}

/// The end of some digits, of which there must be at least one.
#[inline(always)]
fn digits(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    (at > from).then_some(at)
}

/// The end of `word`, if it stands at the place.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// Where the value of a member may begin, whose name must stand at the place.
#[inline(always)]
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    if byte(bytes, at) != b'"' {
        return None;
    }
    let (next, at) = after_space(bytes, string(bytes, at)?);
    (next == b':').then_some(at + 1)
}

/// The end of a value, all of which is checked.
pub(super) fn value(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    // A bit for each open container, the innermost lowest: whether the container is a map.
    let (mut maps, mut open) = (0u64, 0u32);
    loop {
        let (next, place) = after_space(bytes, at);
        at = match next {
            b'"' => string(bytes, place)?,
            b'{' | b'[' => {
                let map = next == b'{';
                let (next, inside) = after_space(bytes, place + 1);
                if next == if map { b'}' } else { b']' } {
                    inside + 1
                } else if open == u64::BITS {
                    return deep_value(text, from);
                } else {
                    maps = maps << 1 | u64::from(map);
                    open += 1;
                    at = if map { name(bytes, inside)? } else { inside };
                    continue;
                }
            }
            b't' => word(bytes, place, b"true")?,
            b'f' => word(bytes, place, b"false")?,
            b'n' => word(bytes, place, b"null")?,
            _ => number(bytes, place)?,
        };
        // A value has ended, and perhaps the containers around it with it.
        loop {
            if open == 0 {
                return Some(at);
            }
            let (next, place) = after_space(bytes, at);
            at = place + 1;
            match (next, maps & 1 == 1) {
                (b',', true) => {
                    at = name(bytes, after_space(bytes, at).1)?;
                    break;
                }
                (b',', false) => break,
                (b'}', true) | (b']', false) => {}
                _ => return None,
            }
            maps >>= 1;
            open -= 1;
        }
    }
}

/// The end of a value that is nested deeper than any object of Kubernetes.
#[cold]
fn deep_value(text: &str, from: usize) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(from + values.byte_offset())
}

/// The end of a value of which only strings, numbers and words are checked, and nothing between brackets.
#[inline]
pub(super) fn skimmed(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, at) {
        b'"' => string(bytes, at),
        b'{' | b'[' => bracket_end(bytes, at),
        b't' => word(bytes, at, b"true"),
        b'f' => word(bytes, at, b"false"),
        b'n' => word(bytes, at, b"null"),
        _ => number(bytes, at),
    }
}
