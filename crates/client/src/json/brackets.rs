//! Where an object or a list of JSON ends, read 64 bytes at a time.

use wide::u8x16;

const BLOCK: usize = 64;

/// Brackets that open and close one kind of value. Of an object only the braces are counted, and of a list only the
/// square brackets: what else there is must match in valid JSON, and where it does not, whoever reads the value finds
/// that out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    open: u8,
    close: u8,
}

/// `{` and `}`.
pub(super) const BRACES: Kind = Kind { open: b'{', close: b'}' };
/// `[` and `]`.
pub(super) const SQUARE: Kind = Kind { open: b'[', close: b']' };

/// Which bytes of a block are what: a bit for each byte, the lowest for the first.
struct Block {
    quotes: u64,
    escapes: u64,
    opening: u64,
    closing: u64,
}

impl Block {
    #[inline(always)]
    fn read(bytes: &[u8; BLOCK], kind: Kind) -> Block {
        let mut block = Block { quotes: 0, escapes: 0, opening: 0, closing: 0 };
        for (at, bytes) in bytes.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            let which = |wanted: u8| u64::from(bytes.simd_eq(u8x16::splat(wanted)).to_bitmask()) << (16 * at);
            block.quotes |= which(b'"');
            block.escapes |= which(b'\\');
            block.opening |= which(kind.open);
            block.closing |= which(kind.close);
        }
        block
    }
}

/// What one block hands on to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    /// All bits if the block ended within a string, else none.
    in_string: u64,
    /// Whether the last byte of the block was an escape, so that the first of the next one is escaped.
    is_escaped: bool,
}

impl Carry {
    /// The bytes of the block that are within strings, the opening quotes included. Of the block only the first `length`
    /// bytes count.
    #[inline]
    fn strings(&mut self, block: &Block, length: usize) -> u64 {
        let quotes = if block.escapes == 0 && !self.is_escaped { block.quotes } else { self.unescaped(block, length) };
        let strings = up_to(quotes) ^ self.in_string;
        self.in_string = ((strings as i64) >> 63) as u64;
        strings
    }

    /// The quotes of the block that no backslash stands before, or an even number of them.
    #[cold]
    fn unescaped(&mut self, block: &Block, length: usize) -> u64 {
        let mut escaped = u64::from(self.is_escaped);
        let mut escapes = block.escapes & !escaped;
        self.is_escaped = false;
        while escapes != 0 {
            let escape = escapes.isolate_lowest_one();
            escaped |= escape << 1;
            self.is_escaped = escape.trailing_zeros() as usize + 1 == length;
            escapes &= !(escape | escape << 1);
        }
        block.quotes & !escaped
    }
}

/// For each bit, whether an odd number of bits is set up to it, itself included.
#[inline]
fn up_to(mut bits: u64) -> u64 {
    for distance in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << distance;
    }
    bits
}

/// Finds the end of an object or a list whose bytes come in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brackets {
    carry: Carry,
    /// How many brackets are open.
    depth: u64,
}

impl Brackets {
    /// How many of these bytes belong to the value; `None` means all of them, and that the value goes on.
    #[inline(always)]
    pub(super) fn find(&mut self, bytes: &[u8], kind: Kind) -> Option<usize> {
        let (blocks, last) = bytes.as_chunks::<BLOCK>();
        for (place, block) in blocks.iter().enumerate() {
            if let Some(end) = self.end_in(block, BLOCK, kind) {
                return Some(place * BLOCK + end);
            }
        }
        if last.is_empty() {
            return None;
        }
        let mut padded = [0; BLOCK];
        padded.get_mut(..last.len())?.copy_from_slice(last);
        self.end_in(&padded, last.len(), kind).map(|end| blocks.len() * BLOCK + end)
    }

    /// Where in the block the value ends, if it does.
    #[inline(always)]
    fn end_in(&mut self, bytes: &[u8; BLOCK], length: usize, kind: Kind) -> Option<usize> {
        let block = Block::read(bytes, kind);
        let outside = !self.carry.strings(&block, length);
        let (opening, mut closing) = (block.opening & outside, block.closing & outside);
        let count = |bits: u64| u64::from(bits.count_ones());
        let open = self.depth + count(opening);
        if count(closing) < self.depth {
            self.depth = open - count(closing);
            return None;
        }
        let mut closed = 0;
        while closing != 0 {
            let here = closing.isolate_lowest_one();
            closed += 1;
            if self.depth + count(opening & (here - 1)) == closed {
                return Some(here.trailing_zeros() as usize + 1);
            }
            closing &= closing - 1;
        }
        self.depth = open - closed;
        None
    }
}

/// What follows the object or list that begins at `at`; `None` if it does not end, or if no bracket stands there.
#[inline]
pub(super) fn bracket_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = match rest.first()? {
        b'{' => Brackets::default().find(rest, BRACES),
        b'[' => Brackets::default().find(rest, SQUARE),
        _ => None,
    };
    length.map(|length| at + length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn plain(bytes: &[u8], at: usize) -> Option<usize> {
        let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
        let first = *bytes.get(at)?;
        for (place, byte) in bytes.iter().enumerate().skip(at) {
            let was_escaped = std::mem::take(&mut is_escaped);
            match byte {
                b'\\' => is_escaped = !was_escaped,
                b'"' if !was_escaped => in_string = !in_string,
                byte if in_string || (first == b'{') != matches!(byte, b'{' | b'}') => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return (place > at).then_some(place + 1);
            }
        }
        None
    }

    #[test]
    fn an_object_ends_at_its_bracket_wherever_blocks_end() {
        let inner = r#""a]":{"b\"}":[1,"\\"],"c":"\\\\\"{"},"d":[[],{}],"e":"é""#;
        for before in 0..130 {
            for within in 0..130 {
                let text = format!("{}{{{}{inner}}}]]", "[".repeat(before), " ".repeat(within));
                assert_eq!(bracket_end(text.as_bytes(), before), Some(text.len() - 2), "{text}");
                assert_eq!(bracket_end(&text.as_bytes()[..text.len() - 3], before), None, "{text}");
            }
        }
        assert_eq!(
            (bracket_end(b"", 0), bracket_end(b"x", 0), bracket_end(b"}", 0), bracket_end(b"{}", 3)),
            Default::default()
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_followed_as_one_by_one(text in r#"[\{\[]([{}\[\]a\\]|"){0,200}"#, before in 0..70_usize) {
            let bytes = ["x".repeat(before), text].concat();
            prop_assert_eq!(bracket_end(bytes.as_bytes(), before), plain(bytes.as_bytes(), before));
        }

        #[test]
        fn escapes_run_over_the_ends_of_blocks(run in 0..140_usize, before in 0..130_usize, text in r#"("|\\|\}|a){0,80}"#) {
            let bytes = format!("{{{}\"{}\"{text}}}", " ".repeat(before), "\\".repeat(run));
            prop_assert_eq!(bracket_end(bytes.as_bytes(), 0), plain(bytes.as_bytes(), 0));
        }
    }
}
