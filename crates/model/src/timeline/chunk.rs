//! A piece of the ring: marks in 26 bytes each, and beside them what only few marks have.

use std::mem::size_of;

use kubechurn_client::api::cell::Tone;

use crate::timeline::mark::{LaneId, Mark, MarkType, Subject, SubjectRef, Version};

/// The most marks of a chunk: some 100 KB.
pub(super) const MOST: usize = 4_096;

/// The bytes of a mark.
pub(super) const PACKED: usize = size_of::<Packed>();

/// A mark about one object. The version is a number, the life is less than [`LIVES`], and the mark stands for one frame.
/// Of any other mark `rest` says so, and its subject is among [`Chunk::rare`].
///
/// Numbers are kept as bytes, because a struct of numbers would be padded to 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    at: [u8; 8],
    version: [u8; 8],
    lane: [u8; 4],
    before: [u8; 4],
    /// From the lowest bit: three bits of the type, two of the state, one that says that the mark is rare, and the life.
    rest: [u8; 2],
}

/// The bit of `rest` that says that the mark's subject stands beside it.
const RARE: u16 = 1 << 5;
/// Where the life begins in `rest`.
const LIFE: u32 = 6;
/// Lives from this number on do not fit into `rest`.
const LIVES: u32 = 1 << (16 - LIFE);

const TONES: [Tone; 4] = [Tone::Plain, Tone::Good, Tone::Wait, Tone::Bad];

/// A mark that is about to be added.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: f64,
    pub(super) mark_type: MarkType,
    pub(super) tone: Tone,
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
        let Entry { at, mark_type, tone, before, subject } = entry;
        let plain = match &subject {
            Subject::Object { lane, life, resource_version, folded: 1 } if *life < LIVES => {
                number(resource_version.as_str()).map(|version| (lane.0, version, (*life as u16) << LIFE))
            }
            _ => None,
        };
        let tone = TONES.iter().position(|one| *one == tone).unwrap_or(0) as u16;
        let (lane, version, rest) = plain.unwrap_or((0, 0, RARE));
        let rest = rest | tone << 3 | mark_type as u16;
        let (at, version) = (at.to_le_bytes(), version.to_le_bytes());
        let (lane, before, rest) = (lane.to_le_bytes(), before.to_le_bytes(), rest.to_le_bytes());
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
        let rest = u16::from_le_bytes(mark.rest);
        let subject = if rest & RARE == 0 {
            SubjectRef::Object {
                lane: LaneId(u32::from_le_bytes(mark.lane)),
                life: u32::from(rest >> LIFE),
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
            mark_type: MarkType::ALL[usize::from(rest & 7).min(MarkType::COUNT - 1)],
            tone: TONES[usize::from(rest >> 3 & 3)],
            before: u32::from_le_bytes(mark.before),
            subject,
        })
    }
}

/// The number that a text is, if the number's text is the same again: no sign, no zero before it.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let (mark_type, tone) = (MarkType::Updated, Tone::Good);
            chunk.push(Entry { at: 0.1 * at as f64, mark_type, tone, before: 7, subject }, MOST);
            assert!(chunk.bytes() <= (2 * chunk.len()).min(MOST) * PACKED, "at most half of it is spare");
        }
        assert_eq!(chunk.bytes(), MOST * PACKED);
    }
}
