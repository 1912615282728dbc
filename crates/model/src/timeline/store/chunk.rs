//! A piece of the ring: marks in as few bytes as their numbers need, and beside them what only few marks have.
//!
//! Each mark is a row of bytes. All rows of a chunk are alike: each number has as many whole bytes as the largest one
//! of its field needs. A time is kept as its distance from the first one of the chunk, and so is a version. A number
//! that does not fit makes all rows of the chunk wider, so that every number is kept exactly. Where the page's clock
//! and an API server made the numbers, a mark takes 10 to 16 bytes; and at most [`BYTES`], whatever the versions are,
//! unless the chunk's marks are of several days.

use std::mem::size_of;

use crate::timeline::store::mark::{LaneId, Mark, MarkType, Subject, SubjectRef, Version};
use crate::timeline::store::state::{State, TONES, WordId};

/// The most marks of a chunk: some 60 KB.
pub(super) const MOST: usize = 4_096;

/// The most bytes that a mark is counted on to take, by which a ring divides its budget into chunks.
pub(super) const BYTES: usize = 24;

/// A new chunk has room for so many marks, because many kinds have only few. It doubles from there.
const FIRST: usize = 8;

/// The fields of a row, in their order.
const FIELDS: usize = 6;
/// From the lowest bit: three bits of the type, two of the tone, one that says that the mark is [`BESIDE`], and those
/// of the state's word.
const REST: usize = 0;
/// The bits of the time, less those of the chunk's first one. Times of a sign have the order of their bits, and from
/// 2004 to 2039 the lowest bit is a quarter of a microsecond.
const AT: usize = 1;
/// The distance from the first version that is a number. Of a mark that is [`BESIDE`] twice the place of its subject,
/// or one more than twice that of its version.
const VERSION: usize = 2;
const LANE: usize = 3;
const BEFORE: usize = 4;
const LIFE: usize = 5;

/// The bit of `REST` that says that something of the mark stands in [`Beside`].
const BESIDE: u64 = 1 << 5;
/// Where the word begins in `REST`.
const WORD: u32 = 6;

/// Where the last field begins at most: behind two bytes of `REST`, two numbers of eight bytes and two of four.
const LAST: usize = 26;
/// So many bytes are read for each row, of which eight are taken for each number.
const READ: usize = LAST + size_of::<u64>();

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

/// What only few marks have.
#[derive(Debug, Default)]
struct Beside {
    /// What is no object.
    subjects: Vec<Subject>,
    /// The bytes that the subjects hold outside themselves.
    heap: usize,
    /// Versions that are no numbers, and those of marks that do not stand for one frame: where each text ends in
    /// `texts`.
    versions: Vec<u32>,
    texts: String,
    /// How many frames such marks stand for, unless it is one, by the places of their versions, in order.
    folded: Vec<(u32, u32)>,
}

impl Beside {
    fn bytes(&self) -> usize {
        self.subjects.capacity() * size_of::<Subject>()
            + self.heap
            + self.versions.capacity() * size_of::<u32>()
            + self.texts.capacity()
            + self.folded.capacity() * size_of::<(u32, u32)>()
    }

    /// Adds a subject, and returns what is in the row in place of a version.
    fn add(&mut self, subject: Subject) -> u64 {
        if let Subject::Object { resource_version, folded, .. } = &subject
            && let Ok(end) = u32::try_from(self.texts.len() + resource_version.as_str().len())
        {
            let text = resource_version.as_str();
            if self.texts.capacity() - self.texts.len() < text.len() {
                self.texts.reserve_exact(text.len().max(self.texts.len() / 8));
            }
            self.texts.push_str(text);
            if *folded != 1 {
                push_back(&mut self.folded, (self.versions.len() as u32, *folded));
            }
            push_back(&mut self.versions, end);
            return 2 * self.versions.len() as u64 - 1;
        }
        self.heap += subject.heap_bytes();
        push_back(&mut self.subjects, subject);
        2 * (self.subjects.len() as u64 - 1)
    }

    /// The version of this place, and how many frames its mark stands for.
    fn version(&self, place: usize) -> Option<(Version<'_>, u32)> {
        let end = *self.versions.get(place)?;
        let begin = place.checked_sub(1).and_then(|before| self.versions.get(before)).map_or(0, |end| *end);
        let folded = self.folded.binary_search_by_key(&place, |(place, _)| *place as usize);
        let folded = folded.ok().and_then(|found| self.folded.get(found)).map_or(1, |(_, folded)| *folded);
        Some((Version::Text(self.texts.get(begin as usize..end as usize)?), folded))
    }
}

/// Adds to a list that grows by an eighth, because it is kept for long.
fn push_back<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 1);
    }
    list.push(item);
}

/// Marks whose sequence numbers follow each other.
#[derive(Debug)]
pub(super) struct Chunk {
    /// The rows, and [`READ`] bytes behind the last one.
    rows: Vec<u8>,
    len: usize,
    /// Where each field begins in a row, and how long a row is.
    starts: [u8; FIELDS + 1],
    /// The highest number that fits into each field.
    highest: [u64; FIELDS],
    /// The bits of the first time.
    at: u64,
    /// The first version that is a number.
    version: Option<u64>,
    beside: Option<Box<Beside>>,
}

impl Default for Chunk {
    fn default() -> Chunk {
        // The types and tones take a byte. All else begins with none.
        let starts = [0, 1, 1, 1, 1, 1, 1];
        Chunk { rows: Vec::new(), len: 0, starts, highest: highest(&starts), at: 0, version: None, beside: None }
    }
}

impl Chunk {
    /// How many marks there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes that the chunk takes, with the room that it has for more marks.
    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() + self.beside.as_ref().map_or(0, |beside| size_of::<Beside>() + beside.bytes())
    }

    /// Adds a mark. A chunk that is full grows by as much as it holds, up to `most` marks.
    pub(super) fn push(&mut self, entry: Entry, most: usize) {
        let Entry { at, mark_type, state, before, subject } = entry;
        let mut rest = u64::from(state.word.bits()) << WORD | (state.tone as u64) << 3 | mark_type as u64;
        let (lane, life, plain) = match &subject {
            Subject::Object { lane, life, resource_version, folded } => {
                let plain = if *folded == 1 { number(resource_version.as_str()) } else { None };
                (lane.0, *life, plain)
            }
            Subject::Stream { .. } | Subject::Resync(_) => (0, 0, None),
        };
        let version = match plain {
            Some(version) => folded_sign(version.wrapping_sub(*self.version.get_or_insert(version))),
            None => {
                rest |= BESIDE;
                self.beside.get_or_insert_default().add(subject)
            }
        };
        if self.len == 0 {
            self.at = at.to_bits();
        }
        let at = at.to_bits().wrapping_sub(self.at);
        let numbers = [rest, at, version, lane.into(), before.into(), life.into()];
        self.widen(&numbers);
        if self.rows.capacity() < self.rows.len().max(READ) + self.row_len() {
            let more = self.len.max(FIRST).min(most.saturating_sub(self.len).max(1));
            self.rows.reserve_exact(more * self.row_len() + READ.saturating_sub(self.rows.len()));
        }
        append(&mut self.rows, &self.starts, &numbers);
        self.len += 1;
    }

    /// Has each field take as many bytes as this number of it needs, if it takes fewer.
    fn widen(&mut self, numbers: &[u64; FIELDS]) {
        if numbers.iter().enumerate().all(|(field, number)| *number <= self.highest[field]) {
            return;
        }
        let mut starts = [0; FIELDS + 1];
        for (field, number) in numbers.iter().enumerate() {
            let needed = (u64::BITS - number.leading_zeros()).div_ceil(8) as u8;
            starts[field + 1] = starts[field] + needed.max(self.starts[field + 1] - self.starts[field]);
        }
        // As many marks as before fit into the memory.
        let room = self.rows.capacity().saturating_sub(READ) / self.row_len();
        let mut rows = Vec::new();
        if room > 0 {
            rows.reserve_exact(room * usize::from(starts[FIELDS]) + READ);
        }
        for place in 0..self.len {
            if let Some(row) = self.row(place) {
                append(&mut rows, &starts, &std::array::from_fn(|field| self.number(row, field)));
            }
        }
        (self.rows, self.starts, self.highest) = (rows, starts, highest(&starts));
    }

    /// How many bytes a row has.
    fn row_len(&self) -> usize {
        usize::from(self.starts[FIELDS])
    }

    /// The row of the mark at this place, and some bytes of what is behind it.
    fn row(&self, place: usize) -> Option<&[u8; READ]> {
        if place < self.len { self.rows.get(place * self.row_len()..)?.first_chunk() } else { None }
    }

    /// The number in a field of a row.
    fn number(&self, row: &[u8; READ], field: usize) -> u64 {
        let start = usize::from(self.starts[field]).min(LAST);
        let bytes = row[start..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        bytes & self.highest[field]
    }

    fn at_of(&self, row: &[u8; READ]) -> f64 {
        f64::from_bits(self.at.wrapping_add(self.number(row, AT)))
    }

    /// The time of the mark at this place.
    pub(super) fn at(&self, place: usize) -> Option<f64> {
        self.row(place).map(|row| self.at_of(row))
    }

    /// The mark at this place, whose sequence number is `seq`.
    pub(super) fn get(&self, place: usize, seq: u64) -> Option<Mark<'_>> {
        let row = self.row(place)?;
        let (rest, version) = (self.number(row, REST), self.number(row, VERSION));
        let object = |(resource_version, folded)| SubjectRef::Object {
            lane: LaneId(self.number(row, LANE) as u32),
            life: self.number(row, LIFE) as u32,
            resource_version,
            folded,
        };
        let subject = if rest & BESIDE == 0 {
            let distance = version >> 1 ^ 0_u64.wrapping_sub(version & 1);
            object((Version::Number(self.version.unwrap_or(0).wrapping_add(distance)), 1))
        } else {
            let (beside, place) = (self.beside.as_ref()?, usize::try_from(version / 2).ok()?);
            if version & 1 == 1 { object(beside.version(place)?) } else { beside.subjects.get(place)?.as_ref() }
        };
        Some(Mark {
            seq,
            at: self.at_of(row),
            // Three bits, of which a mark has never the highest number.
            mark_type: MarkType::ALL[(rest as usize & 7).min(MarkType::COUNT - 1)],
            state: State { tone: TONES[rest as usize >> 3 & 3], word: WordId::of_bits((rest >> WORD) as u16) },
            before: self.number(row, BEFORE) as u32,
            subject,
        })
    }
}

/// The highest number that fits into each field.
fn highest(starts: &[u8; FIELDS + 1]) -> [u64; FIELDS] {
    let bits = |field: usize| 8 * u32::from(starts[field + 1] - starts[field]);
    std::array::from_fn(|field| u64::MAX.checked_shr(u64::BITS - bits(field)).unwrap_or(0))
}

/// Adds a row of these numbers, each of which fits into its field.
fn append(rows: &mut Vec<u8>, starts: &[u8; FIELDS + 1], numbers: &[u64; FIELDS]) {
    let end = rows.len().max(READ);
    rows.resize(end + usize::from(starts[FIELDS]), 0);
    for (start, number) in starts.iter().zip(numbers) {
        // The next field is written over the bytes that this one does not have.
        let bytes = rows.get_mut(end - READ + usize::from(*start)..).and_then(<[u8]>::first_chunk_mut);
        if let Some(bytes) = bytes {
            *bytes = number.to_le_bytes();
        }
    }
}

/// A difference in twice its size, and one less for a negative one: so that small differences are small numbers.
fn folded_sign(difference: u64) -> u64 {
    difference << 1 ^ 0_u64.wrapping_sub(difference >> 63)
}

/// The number that a text is, if the number's text is the same again: no sign, no zero before it.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::store::mark::Resync;
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

    /// A full chunk of the marks that `entry` makes of their places.
    fn full(entry: impl Fn(usize) -> Entry) -> Chunk {
        let mut chunk = Chunk::default();
        for place in 0..MOST {
            chunk.push(entry(place), MOST);
            let most = (2 * chunk.len()).clamp(FIRST, MOST) * chunk.row_len() + READ;
            assert!(chunk.rows.capacity() <= most, "at most half of it is spare");
        }
        chunk
    }

    fn object(at: f64, version: &str, [lane, before, life]: [u32; 3]) -> Entry {
        let resource_version = ResourceVersion::new(version);
        let subject = Subject::Object { lane: LaneId(lane), life, resource_version, folded: 1 };
        let state = State { tone: Tone::Good, word: WordId::of_bits(1_000) };
        Entry { at, mark_type: MarkType::Updated, state, before, subject }
    }

    /// A time of the page's clock, in milliseconds since 1970.
    const NOW: f64 = 1.79e12;

    #[test]
    fn a_mark_takes_at_most_24_bytes_whatever_the_versions_are() {
        let high = (1 << 24) - 1;
        for (days, text) in [(3.0, None), (3.0, Some("18446744073709551616")), (3.0, Some("a-text"))] {
            let chunk = full(|place| {
                let at = NOW + days * 86_400_000.0 * place as f64 / MOST as f64;
                let version = (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string();
                object(at, text.unwrap_or(&version), [high - place as u32, high, high])
            });
            // A list of texts has room for some more.
            let texts = text.map_or(0, |text| MOST * text.len() * 9 / 8 + 300);
            assert!(chunk.bytes() <= MOST * BYTES + READ + texts, "{}, of {texts} texts", chunk.bytes());
        }
    }

    #[test]
    fn a_mark_as_clusters_have_them_takes_at_most_16_bytes() {
        for (per_second, objects, bytes) in [(1, 300, 14), (300, 300, 13), (300, 20_000, 14), (300, 100_000, 16)] {
            let chunk = full(|place| {
                // What happens to other objects has versions, too.
                let version = 4_000_000_000 + 20 * place as u64;
                let number = (place as u32).wrapping_mul(2_654_435_761) % objects;
                let at = NOW + 1_000.0 * place as f64 / f64::from(per_second) + 0.1;
                object(at, &version.to_string(), [number, 3 * number + 1, 0])
            });
            assert!(chunk.bytes() <= MOST * bytes + READ, "{}", chunk.bytes() / MOST);
        }
    }

    /// A subject, by some numbers: most have a version that is a number.
    fn any_subject(kind: usize, (lane, life, folded): (u32, u32, u32), version: u64) -> Subject {
        let texts = ["", "0", "007", "abc", "ü", "18446744073709551615", "99999999999999999999999999", "12 "];
        let text = texts.get(kind).map_or_else(|| version.to_string(), ToString::to_string);
        match kind {
            9 => Subject::Stream { from: f64::from(life), note: text.into(), of_all: lane % 2 == 0 },
            10 => {
                let resync = Resync { namespace: text.into(), count: version, since: 0.5, settled: f64::from(lane) };
                Subject::Resync(Box::new(resync))
            }
            _ => {
                let folded = if kind == 11 { folded } else { 1 };
                Subject::Object { lane: LaneId(lane), life, resource_version: ResourceVersion::new(&text), folded }
            }
        }
    }

    /// Any number, most of them small.
    fn any_number() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..300, 0u64..100_000, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit), Just(u64::MAX)]
    }

    proptest! {
        /// Every number comes back, in whatever order wide and narrow ones come.
        #[test]
        fn any_mark_comes_back_exactly(
            base in prop_oneof![Just(0_u64), Just(NOW.to_bits()), Just((-1.0_f64).to_bits()), any::<u64>()],
            marks in proptest::collection::vec(
                ((0usize..7, 0usize..4, 0u16..1_024), 0usize..40, any_number(), any_number(), any_number(), any_number(), any_number()),
                0..200),
        ) {
            let mut chunk = Chunk::default();
            let mut pushed = Vec::new();
            for ((mark_type, tone, word), kind, at, version, one, two, three) in marks {
                let at = f64::from_bits(base.wrapping_add(at));
                let (mark_type, state) = (MarkType::ALL[mark_type], State { tone: TONES[tone], word: WordId::of_bits(word) });
                let [lane, life, before] = [one as u32, two as u32, three as u32];
                let subject = any_subject(kind, (lane, life, (one >> 32) as u32), version);
                chunk.push(Entry { at, mark_type, state, before, subject: subject.clone() }, MOST);
                pushed.push((at, mark_type, state, before, subject));
            }
            prop_assert_eq!(chunk.len(), pushed.len());
            for (place, (at, mark_type, state, before, subject)) in pushed.iter().enumerate() {
                let mark = chunk.get(place, 9).expect("a mark that was pushed");
                prop_assert_eq!(mark.at.to_bits(), at.to_bits());
                prop_assert_eq!(chunk.at(place).map(f64::to_bits), Some(at.to_bits()));
                prop_assert_eq!((mark.seq, mark.mark_type, mark.state, mark.before), (9, *mark_type, *state, *before));
                match (mark.subject, subject) {
                    (SubjectRef::Object { lane, life, resource_version, folded }, Subject::Object { .. }) => {
                        let resource_version = resource_version.into();
                        prop_assert_eq!(&Subject::Object { lane, life, resource_version, folded }, subject);
                    }
                    (read, subject) => prop_assert_eq!(read, subject.as_ref()),
                }
            }
            prop_assert!(chunk.get(pushed.len(), 9).is_none() && chunk.at(pushed.len()).is_none());
        }
    }
}
