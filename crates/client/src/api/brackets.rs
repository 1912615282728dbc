//! Where an object or a list of JSON ends, read 64 bytes at a time.

use wide::u8x16;

const BLOCK: usize = 64;

/// Which bytes of a block are what: a bit for each byte, the lowest for the first.
struct Block {
    quotes: u64,
    escapes: u64,
    opening: u64,
    closing: u64,
}

impl Block {
    #[inline]
    fn read(bytes: &[u8; BLOCK]) -> Block {
        let mut block = Block { quotes: 0, escapes: 0, opening: 0, closing: 0 };
        for (at, bytes) in bytes.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            // `[` and `{` differ by this bit alone, and so do `]` and `}`.
            let braces = bytes | u8x16::splat(0x20);
            let which =
                |bytes: u8x16, wanted: u8| u64::from(bytes.simd_eq(u8x16::splat(wanted)).to_bitmask()) << (16 * at);
            block.quotes |= which(bytes, b'"');
            block.escapes |= which(bytes, b'\\');
            block.opening |= which(braces, b'{');
            block.closing |= which(braces, b'}');
        }
        block
    }
}

/// What one block hands on to the next.
#[derive(Default)]
struct Carry {
    /// All bits if the block ended within a string, else none.
    in_string: u64,
    /// Whether the last byte of the block was an escape, so that the first of the next one is escaped.
    is_escaped: bool,
}

impl Carry {
    /// The bytes of the block that are within strings, the opening quotes included.
    #[inline]
    fn strings(&mut self, block: &Block) -> u64 {
        let quotes = if block.escapes == 0 && !self.is_escaped { block.quotes } else { self.unescaped(block) };
        let strings = up_to(quotes) ^ self.in_string;
        self.in_string = ((strings as i64) >> 63) as u64;
        strings
    }

    /// The quotes of the block that no backslash stands before, or an even number of them.
    #[cold]
    fn unescaped(&mut self, block: &Block) -> u64 {
        let mut escaped = u64::from(self.is_escaped);
        let mut escapes = block.escapes & !escaped;
        self.is_escaped = false;
        while escapes != 0 {
            let escape = escapes.isolate_lowest_one();
            escaped |= escape << 1;
            self.is_escaped = escape << 1 == 0;
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

/// What follows the object or list that begins at `at`; `None` if it does not end. Only quotes, escapes and brackets are looked
/// at, and one kind of bracket may be closed by the other: whatever else is wrong is for others to find.
pub fn bracket_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0;
    let mut carry = Carry::default();
    let rest = bytes.get(at..)?;
    let (blocks, last) = rest.as_chunks::<BLOCK>();
    for (place, block) in blocks.iter().enumerate() {
        if let Some(end) = end_in(block, &mut carry, &mut depth)? {
            return Some(at + place * BLOCK + end);
        }
    }
    let mut padded = [0; BLOCK];
    padded.get_mut(..last.len())?.copy_from_slice(last);
    end_in(&padded, &mut carry, &mut depth)?.map(|end| at + blocks.len() * BLOCK + end)
}

/// Where in the block it ends, if it does. `None` if no bracket was opened: what begins here is no object and no list.
#[inline]
fn end_in(bytes: &[u8; BLOCK], carry: &mut Carry, depth: &mut u32) -> Option<Option<usize>> {
    let block = Block::read(bytes);
    let outside = !carry.strings(&block);
    let (opening, mut closing) = (block.opening & outside, block.closing & outside);
    if *depth == 0 && opening & 1 == 0 {
        return None;
    }
    let open = *depth + opening.count_ones();
    if closing.count_ones() < *depth {
        *depth = open - closing.count_ones();
        return Some(None);
    }
    let mut closed = 0;
    while closing != 0 {
        let here = closing.isolate_lowest_one();
        closed += 1;
        if *depth + (opening & (here - 1)).count_ones() == closed {
            return Some(Some(here.trailing_zeros() as usize + 1));
        }
        closing &= closing - 1;
    }
    *depth = open - closed;
    Some(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn plain(bytes: &[u8], at: usize) -> Option<usize> {
        let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
        for (place, byte) in bytes.iter().enumerate().skip(at) {
            let was_escaped = std::mem::take(&mut is_escaped);
            match byte {
                b'\\' => is_escaped = !was_escaped,
                b'"' if !was_escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
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
