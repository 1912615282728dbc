//! A piece of the ring: marks in 26 bytes each, and beside them what only few marks have.

use std::mem::size_of;

use crate::timeline::mark::{LaneId, Mark, MarkType, Subject, SubjectRef, Version};
use crate::timeline::words::{self, State, TONES, WordId};

/// The most marks of a chunk: some 100 KB.
pub(super) const MOST: usize = 4_096;

/// The bytes of a mark.
pub(super) const PACKED: usize = size_of::<Packed>();

/// A mark about one object. The version is a number, lane and life are less than [`LANES`] and [`LIVES`], and the mark stands
/// for one frame. Of any other mark `rest` says so, and its subject is among [`Chunk::rare`].
///
/// Numbers are kept as bytes, because a struct of numbers would be padded to 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    at: [u8; 8],
    version: [u8; 8],
    lane: [u8; 3],
    before: [u8; 4],
    /// From the lowest bit: three bits of the type, two of the tone, one that says that the mark is rare, those of the
    /// state's word, and the life.
    rest: [u8; 3],
}

/// The bit of `rest` that says that the mark's subject stands beside it.
const RARE: u32 = 1 << 5;
/// Where the word begins in `rest`.
const WORD: u32 = 6;
/// Where the life begins in `rest`.
const LIFE: u32 = WORD + words::BITS;
/// Lives from this number on do not fit into `rest`.
const LIVES: u32 = 1 << (24 - LIFE);
/// Lanes from this number on do not fit into `lane`.
const LANES: u32 = 1 << 24;

/// A mark that is about to be added.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: f64,
    pub(super) mark_type: MarkType,
    pub(super) state: State,
    /// See [`Mark::before`].
    pub(super) before: u32,
    pub(super) subject: Subject,
}

/// Marks whose sequence numbers follow each other.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    marks: Vec<Packed>,
    /// The subjects that are not in the marks themselves, with the places of their marks, in the order of the places.
    rare: Vec<(u16, Subject)>,
    /// The bytes that the rare subjects hold outside themselves.
    texts: usize,
}

impl Chunk {
    /// A chunk with room for so many marks.
    pub(super) fn with_capacity(marks: usize) -> Chunk {
        Chunk { marks: Vec::with_capacity(marks), rare: Vec::new(), texts: 0 }
    }

    /// How many marks there are.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    /// The bytes that the chunk takes, with the room that it has for more marks.
    pub(super) fn bytes(&self) -> usize {
        self.marks.capacity() * PACKED + self.rare.capacity() * size_of::<(u16, Subject)>() + self.texts
    }

    /// Adds a mark. A chunk that is full grows by as much as it holds, up to `most` marks.
    pub(super) fn push(&mut self, entry: Entry, most: usize) {
        if self.marks.len() == self.marks.capacity() {
            let more = self.marks.len().clamp(1, most.saturating_sub(self.marks.len()).max(1));
            self.marks.reserve_exact(more);
        }
        let Entry { at, mark_type, state, before, subject } = entry;
        let plain = match &subject {
            Subject::Object { lane, life, resource_version, folded: 1 } if lane.0 < LANES && *life < LIVES => {
                number(resource_version.as_str()).map(|version| (lane.0, version, *life << LIFE))
            }
            _ => None,
        };
        let (lane, version, rest) = plain.unwrap_or((0, 0, RARE));
        let rest = rest | u32::from(state.word.bits()) << WORD | (state.tone as u32) << 3 | mark_type as u32;
        let (at, version) = (at.to_le_bytes(), version.to_le_bytes());
        let (lane, before, rest) = (three(lane), before.to_le_bytes(), three(rest));
        if plain.is_none() {
            self.texts += subject.heap_bytes();
            if self.rare.len() == self.rare.capacity() {
                self.rare.reserve_exact(self.rare.len() / 4 + 1);
            }
            self.rare.push((self.marks.len() as u16, subject));
        }
        self.marks.push(Packed { at, version, lane, before, rest });
    }

    /// The time of the mark at this place.
    pub(super) fn at(&self, place: usize) -> Option<f64> {
        self.marks.get(place).map(|mark| f64::from_le_bytes(mark.at))
    }

    /// The mark at this place, whose sequence number is `seq`.
    pub(super) fn get(&self, place: usize, seq: u64) -> Option<Mark<'_>> {
        let mark = self.marks.get(place)?;
        let rest = number_of(mark.rest);
        let subject = if rest & RARE == 0 {
            SubjectRef::Object {
                lane: LaneId(number_of(mark.lane)),
                life: rest >> LIFE,
                resource_version: Version::Number(u64::from_le_bytes(mark.version)),
                folded: 1,
            }
        } else {
            let found = self.rare.binary_search_by_key(&place, |(place, _)| usize::from(*place)).ok()?;
            self.rare[found].1.as_ref()
        };
        Some(Mark {
            seq,
            at: f64::from_le_bytes(mark.at),
            // Three bits, of which a mark has never the highest number.
            mark_type: MarkType::ALL[(rest as usize & 7).min(MarkType::COUNT - 1)],
            state: State { tone: TONES[rest as usize >> 3 & 3], word: WordId::of_bits((rest >> WORD) as u16) },
            before: u32::from_le_bytes(mark.before),
            subject,
        })
    }
}

/// The lower three bytes of a number.
fn three(number: u32) -> [u8; 3] {
    let [one, two, three, _] = number.to_le_bytes();
    [one, two, three]
}

/// The number of three bytes.
fn number_of([one, two, three]: [u8; 3]) -> u32 {
    u32::from_le_bytes([one, two, three, 0])
}

/// The number that a text is, if the number's text is the same again: no sign, no zero before it.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::ResourceVersion;

    #[test]
    fn a_version_is_a_number_only_if_its_text_comes_back() {
        for text in ["0", "1", "4000000000", "18446744073709551615"] {
            assert_eq!(number(text).map(|number| number.to_string()).as_deref(), Some(text));
        }
        for text in ["", "00", "01", "+1", "-1", "1 ", "1e3", "１", "18446744073709551616", "abc"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_mark_takes_at_most_24_bytes_beside_its_version() {
        assert!(PACKED - size_of::<u64>() <= 24);
        let mut chunk = Chunk::default();
        for at in 0..MOST {
            let resource_version = ResourceVersion::new(&(at + 1_000).to_string());
            let subject = Subject::Object { lane: LaneId(at as u32), life: 3, resource_version, folded: 1 };
            let (mark_type, state) = (MarkType::Updated, Tone::Good.into());
            chunk.push(Entry { at: 0.1 * at as f64, mark_type, state, before: 7, subject }, MOST);
            assert!(chunk.bytes() <= (2 * chunk.len()).min(MOST) * PACKED, "at most half of it is spare");
        }
        assert_eq!(chunk.bytes(), MOST * PACKED);
    }
}
