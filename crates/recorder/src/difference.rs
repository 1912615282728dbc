//! A text as the bytes in which it differs from another text, the base.
//!
//! Two versions of an object have nearly all bytes in common, and mostly at the same places: a version, a time, a phase is
//! replaced. So both texts are compared from their beginning; where they differ, the same place a few bytes further on is
//! tried first, then the places near it, for a value may be replaced by a longer one, and only then is the base indexed, and
//! looked up for what the text has elsewhere. The index, a table of the words of eight bytes that follow each other in the base,
//! is like that of LZ4 (its document `lz4_Block_format.md` describes the idea), with the base in place of what was read before.
//!
//! What is written is a sequence of steps: how many bytes are new, these bytes, how many bytes of the base follow, and how
//! far from the expected place they begin. The first number, doubled, is odd where that distance is not 0, and is written then.
//! All numbers are of seven bits a byte, the low ones first.

use crate::alike::{common, common_before, first_alike};

/// The bytes that are compared and hashed at once: the base is indexed in words of so many bytes.
const WORD: usize = 8;
/// The most words of the base that are in the index, so that two bytes name each: of a longer base, fewer are.
const PLACES: usize = 1 << 15;
/// The fewest entries of the index: 8 KB are cleared sooner than a word is looked up in vain.
const TABLE: usize = 1 << 12;
/// How many bytes after a difference the two texts are first looked at for going on alike.
const NEAR: usize = 40;
/// How many bytes are looked at where one text goes on sooner than the other. Where they are more, the index is as fast.
const BESIDE: usize = 12;
/// The fewest bytes that are alike between two differences for the third to be looked for at the same place, and the fewest
/// for which a place near it is taken.
const ALIKE: usize = 32;
/// How many bytes from elsewhere in the base are taken at once. Where fewer are found, the next places of the text are looked at,
/// too: only each eighth byte of the base is in the index, and more may be alike than begins at those.
const ENOUGH: usize = 20;
/// How many places of the base with the same hash are looked at for the longest part that is alike.
const TRIED: usize = 16;
/// The fewest bytes that are taken from elsewhere in the base: to name the place costs some of them.
const SHORTEST: usize = 10;

/// The index of a base. It is kept from one text to the next for its memory alone.
#[derive(Debug, Default)]
pub struct Index {
    /// For each hash one more than the number of the first word of the base that has it; 0 for none.
    table: Vec<u16>,
    /// For each word one more than the number of the next one with the same hash.
    next: Vec<u16>,
    shift: u32,
    /// How many bytes of the base lie between one word and the next.
    step: usize,
}

impl Index {
    fn fill(&mut self, base: &[u8]) {
        let words = base.as_chunks::<WORD>().0;
        let each = words.len().div_ceil(PLACES).max(1);
        self.step = each * WORD;
        let places = words.len().div_ceil(each);
        // In a table of this size it is mostly seen at once what is nowhere in the base.
        let size = (4 * places).next_power_of_two().max(TABLE);
        self.shift = u64::BITS - size.trailing_zeros();
        if self.table.len() < size {
            self.table.resize(size, 0);
        }
        if self.next.len() < places {
            self.next.resize(places, 0);
        }
        let (table, shift) = (&mut self.table[..size], self.shift);
        table.fill(0);
        let mut put = |number: usize, word: &[u8; WORD], next: &mut u16| {
            if let Some(first) = table.get_mut(hash(u64::from_le_bytes(*word), shift)) {
                *next = std::mem::replace(first, number as u16 + 1);
            }
        };
        // From the end, so that the first place comes first.
        let all = self.next[..places].iter_mut().enumerate();
        if each == 1 {
            all.zip(words).rev().for_each(|((number, next), word)| put(number, word, next));
        } else {
            all.zip(words.iter().step_by(each)).rev().for_each(|((number, next), word)| put(number, word, next));
        }
    }

    /// One more than the number of the first word of the base that may be this one; 0 for none.
    #[inline]
    fn first(&self, word: u64) -> u16 {
        self.table.get(hash(word, self.shift)).copied().unwrap_or_default()
    }
}

/// Spreads the bits of a word over those of its hash: 2 to the 64th power, divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The high bits of a hash: as many as a shift leaves.
#[inline]
fn hash(word: u64, shift: u32) -> usize {
    (word.wrapping_mul(FACTOR) >> shift) as usize
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn write_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(first & 0x7F) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Writes the steps of one text.
struct Steps<'a> {
    base: &'a [u8],
    text: &'a [u8],
    out: &'a mut Vec<u8>,
    /// Up to where the text is written.
    written: usize,
    /// The place of the base that is expected to follow: where the last copy ended.
    expected: usize,
}

impl Steps<'_> {
    /// What is new up to a place, and what is alike there.
    fn copy(&mut self, Alike { at, from, length }: Alike) {
        let new = &self.text[self.written..at];
        // Where as many bytes were replaced as are new, the distance is 0.
        let distance = from as isize - (self.expected + new.len()) as isize;
        write_number(new.len() << 1 | usize::from(distance != 0), self.out);
        self.out.extend_from_slice(new);
        write_number(length, self.out);
        if distance != 0 {
            write_number(((distance << 1) ^ (distance >> (isize::BITS - 1))) as usize, self.out);
        }
        self.written = at + length;
        self.expected = from + length;
    }

    fn end(self) {
        if self.written < self.text.len() {
            let new = &self.text[self.written..];
            write_number(new.len() << 1, self.out);
            self.out.extend_from_slice(new);
        }
        debug_assert!(self.expected <= self.base.len());
    }
}

/// Bytes that a text and its base have in common.
#[derive(Clone, Copy)]
struct Alike {
    /// Where they are in the text.
    at: usize,
    /// Where they are in the base.
    from: usize,
    length: usize,
}

/// Appends to `out` in which `text` differs from `base`. Both may hold any bytes.
pub fn encode(base: &[u8], text: &[u8], index: &mut Index, out: &mut Vec<u8>) {
    let mut is_indexed = false;
    let mut steps = Steps { base, text, out, written: 0, expected: 0 };
    let mut alike = Alike { at: 0, from: 0, length: common(base, text) };
    // Where only little is alike between one difference and the next, the two places do not belong together.
    let mut is_apart = false;
    loop {
        let Alike { mut at, mut from, length } = alike;
        is_apart = is_apart || length < ALIKE;
        if length >= WORD || (length > 0 && at + length == text.len()) {
            steps.copy(alike);
            (at, from) = (at + length, from + length);
        }
        // What is left may be too short to be taken from anywhere.
        if text.len() - steps.written < SHORTEST {
            break;
        }
        let next = if is_apart { None } else { near(base, text, (at, from)) };
        // What the index finds needs not be looked for beside.
        let next = if is_apart || is_indexed { next } else { next.or_else(|| beside(base, text, (at, from))) };
        if let Some(next) = next {
            alike = next;
            continue;
        }
        if !is_indexed {
            index.fill(base);
            is_indexed = true;
        }
        match elsewhere(&steps, index, at) {
            Some(next) => (alike, is_apart) = (next, false),
            None => break,
        }
    }
    steps.end();
}

/// The nearest places behind a difference at which the text and the base go on alike at the same distance.
#[inline]
fn near(base: &[u8], text: &[u8], (at, from): (usize, usize)) -> Option<Alike> {
    let mut words = first_alike(text.get(at..)?, base.get(from..)?);
    // Where a byte is alike, and those that follow it: first one, then three, then seven.
    for further in [1, 2, 4] {
        words &= words >> further;
    }
    words &= (2 << NEAR) - 2;
    if words == 0 {
        return None;
    }
    let further = words.trailing_zeros() as usize;
    let (at, from) = (at + further, from + further);
    Some(Alike { at, from, length: common(&base[from..], &text[at..]) })
}

/// The nearest places behind a difference at which the text and the base go on alike for long, though not at the same distance:
/// a value was replaced by a slightly longer or shorter one. To index the base for that would take longer than all else.
fn beside(base: &[u8], text: &[u8], (at, from): (usize, usize)) -> Option<Alike> {
    const SHIFT: u32 = u64::BITS - 6;
    // For each hash one more than the first place that has it; 0 for none.
    let mut first = [0_u8; 1 << (u64::BITS - SHIFT)];
    for further in (0..BESIDE).rev() {
        if let Some(word) = word(base, from + further) {
            first[hash(word, SHIFT)] = further as u8 + 1;
        }
    }
    (0..BESIDE).find_map(|further| {
        let (place, word_of_text) = (at + further, word(text, at + further)?);
        let found = from + usize::from(first[hash(word_of_text, SHIFT)].checked_sub(1)?);
        let length = if word(base, found) == Some(word_of_text) { common(&base[found..], &text[place..]) } else { 0 };
        let is_enough = length >= ALIKE || (length > 0 && place + length == text.len());
        is_enough.then_some(Alike { at: place, from: found, length })
    })
}

/// The next place of the text, not before `at`, whose bytes are somewhere in the base, and where.
fn elsewhere(steps: &Steps<'_>, index: &Index, at: usize) -> Option<Alike> {
    let (base, text, written) = (steps.base, steps.text, steps.written);
    // What was put into the text stands before that with which the base goes on.
    let expected = word(base, steps.expected);
    let mut best: Option<Alike> = None;
    let mut last = usize::MAX;
    for (place, word) in (at..).zip(text.get(at..)?.array_windows()) {
        if place > last {
            break;
        }
        let sequence = u64::from_le_bytes(*word);
        let first = index.first(sequence);
        let is_expected = expected == Some(sequence);
        if first == 0 && !is_expected {
            continue;
        }
        let mut look = |found: usize| {
            // What ends no later than the best is not better.
            if let Some(known) = best
                && let end = known.at + known.length
                && (end >= text.len() || base.get(found + end - place) != text.get(end))
            {
                return;
            }
            let before = common_before(&base[..found], &text[..place], place - written);
            let length = before + common(&base[found..], &text[place..]);
            let start = place - before;
            // What lies before it is new, and has its price, too.
            if length >= SHORTEST && best.is_none_or(|known| length + known.at > known.length + start) {
                best = Some(Alike { at: start, from: found - before, length });
            }
        };
        if is_expected {
            look(steps.expected);
        }
        let mut next = first;
        for _ in 0..TRIED {
            let Some(number) = next.checked_sub(1).map(usize::from) else { break };
            let found = number * index.step;
            if self::word(base, found) == Some(sequence) {
                look(found);
            }
            next = index.next.get(number).copied().unwrap_or_default();
        }
        if let Some(known) = best {
            if known.length >= ENOUGH {
                break;
            }
            last = last.min(place + WORD - 1);
        }
    }
    best
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Bytes that are new.
    New(&'a [u8]),
    /// Bytes of the base, from one place up to before another one.
    Base {
        /// The first.
        from: usize,
        /// The end.
        to: usize,
    },
}

/// Calls `each` with the parts of a text, from its difference. `None` if these bytes are none; some parts may have come then.
#[inline]
pub fn parts<'a>(mut difference: &'a [u8], each: &mut impl FnMut(Part<'a>)) -> Option<()> {
    let bytes = &mut difference;
    let mut expected = 0_usize;
    while !bytes.is_empty() {
        let new = read_number(bytes)?;
        let (new, is_moved) = (new >> 1, new & 1 == 1);
        each(Part::New(bytes.get(..new)?));
        *bytes = &bytes[new..];
        if bytes.is_empty() {
            return Some(());
        }
        let length = read_number(bytes)?;
        let distance = if is_moved { read_number(bytes)? } else { 0 };
        let distance = (distance >> 1) as isize ^ -((distance & 1) as isize);
        let from = expected.checked_add(new)?.checked_add_signed(distance)?;
        expected = from.checked_add(length)?;
        each(Part::Base { from, to: expected });
    }
    Some(())
}

/// Appends to `out` the text that [`encode`] was given with this base. `None` if `difference` was not made with it; `out` may
/// then hold a part of the text.
pub fn decode(base: &[u8], difference: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut fits = true;
    parts(difference, &mut |part| match part {
        Part::New(bytes) => out.extend_from_slice(bytes),
        Part::Base { from, to } => match base.get(from..to) {
            Some(bytes) => out.extend_from_slice(bytes),
            None => fits = false,
        },
    })?;
    fits.then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(base: &[u8], text: &[u8]) -> usize {
        let mut difference = vec![7];
        encode(base, text, &mut Index::default(), &mut difference);
        let mut out = vec![9];
        assert_eq!(decode(base, &difference[1..], &mut out), Some(()));
        assert!(out[1..] == *text, "{} of {}", String::from_utf8_lossy(&out), String::from_utf8_lossy(text));
        difference.len() - 1
    }

    #[test]
    fn what_is_replaced_at_its_place_costs_its_bytes_and_a_few() {
        let base =
            r#"{"metadata":{"name":"web-1","resourceVersion":"1200"},"status":{"phase":"Pending","conditions":[]}}"#;
        let text = base.replace("1200", "1201").replace("Pending", "Running");
        assert!(there_and_back(base.as_bytes(), text.as_bytes()) <= 25);
        assert_eq!(there_and_back(base.as_bytes(), base.as_bytes()), 2, "one copy");
        assert_eq!(there_and_back(b"", base.as_bytes()), base.len() + 2);
        assert_eq!(there_and_back(base.as_bytes(), b""), 0);
        assert_eq!(there_and_back(b"", b""), 0);
    }

    #[test]
    fn a_value_that_is_replaced_by_a_longer_one_needs_no_index() {
        let items = |ready: bool| {
            let digest = |at: u64| at.wrapping_add(1).wrapping_mul(FACTOR);
            let item =
                |at: u64| format!(r#"{{"imageID":"registry.example/shop:{:016x}","ready":{ready}}}"#, digest(at));
            let items: Vec<_> = (0..20).map(item).collect();
            format!(r#"{{"containerStatuses":[{}],"hostIP":"10.0.0.1","qosClass":"BestEffort"}}"#, items.join(","))
        };
        let (base, text) = (items(true), items(false));
        let (mut index, mut difference, mut out) = (Index::default(), Vec::new(), Vec::new());
        encode(base.as_bytes(), text.as_bytes(), &mut index, &mut difference);
        assert!(index.table.is_empty() && difference.len() < 20 * 10, "{} bytes", difference.len());
        assert_eq!(decode(base.as_bytes(), &difference, &mut out), Some(()));
        assert_eq!(out, text.as_bytes());
    }

    #[test]
    fn what_is_put_in_or_moved_is_found_elsewhere_in_the_base() {
        let items: Vec<String> = (0..50)
            .map(|at| format!(r#"{{"type":"Condition{at}","status":"{}","number":{}}}"#, at % 2, at * 7919))
            .collect();
        let base = items.join(",");
        let mut other = items.clone();
        other.insert(20, String::from(r#"{"something":"new and long enough"}"#));
        other.remove(30);
        other.rotate_left(10);
        let cost = there_and_back(base.as_bytes(), other.join(",").as_bytes());
        assert!(cost < 80, "{cost} bytes");
    }

    #[test]
    fn a_base_of_more_words_than_the_index_has_places_is_found_in() {
        let items: Vec<String> = (0..20_000_u64).map(|at| format!("{:016x}", at.wrapping_mul(FACTOR))).collect();
        let base = items.join(",");
        assert!(base.len() > PLACES * WORD);
        let mut other = items;
        other.rotate_left(7_000);
        other.remove(3_000);
        let cost = there_and_back(base.as_bytes(), other.join(",").as_bytes());
        assert!(cost < 80, "{cost} bytes");
    }

    #[test]
    fn what_was_not_made_with_the_base_is_no_difference() {
        let mut out = Vec::new();
        for bad in [
            &[10, 1][..],
            &[0, 200, 1],
            &[0, 5],
            &[1, 3],
            &[1, 3, 4],
            &[0x80],
            &[0xFF; 12],
            &[1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        ] {
            assert_eq!(decode(b"base", bad, &mut out), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back_from_any_base(base in "[ab]{0,200}", text in "[ab]{0,200}") {
            there_and_back(base.as_bytes(), text.as_bytes());
        }

        #[test]
        fn an_edited_text_comes_back_and_costs_little(
            base in proptest::collection::vec(any::<u8>(), 400..3000),
            edits in proptest::collection::vec((0.0..1.0, 0usize..30, proptest::collection::vec(any::<u8>(), 0..30)), 0..8),
        ) {
            let mut text = base.clone();
            for (place, gone, new) in &edits {
                let at = (place * text.len() as f64) as usize;
                text.splice(at..(at + gone).min(text.len()), new.iter().copied());
            }
            let cost = there_and_back(&base, &text);
            prop_assert!(cost <= 8 + edits.len() * 64, "{} bytes for {} edits", cost, edits.len());
        }

        #[test]
        fn a_text_of_the_same_parts_comes_back(
            base in proptest::collection::vec(0_u32..12, 0..60),
            text in proptest::collection::vec(0_u32..14, 0..60),
        ) {
            let of = |parts: &[u32]| {
                let part = |part: &u32| format!(r#"{{"type":"Part{part}","status":"{}"}}"#, "True".repeat(*part as usize % 3));
                parts.iter().map(part).collect::<Vec<_>>().join(",")
            };
            let (base, text) = (of(&base), of(&text));
            let cost = there_and_back(base.as_bytes(), text.as_bytes());
            prop_assert!(cost <= text.len() + 8, "{} bytes of {}", cost, text.len());
        }

        #[test]
        fn no_bytes_are_too_bad_to_be_decoded(base in proptest::collection::vec(any::<u8>(), 0..50), bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let _ = decode(&base, &bytes, &mut Vec::new());
        }
    }
}
