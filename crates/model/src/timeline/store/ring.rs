//! Keeps marks in the order of their arrival, within a budget of bytes. The oldest marks are evicted first, and
//! counted.
//!
//! The marks lie in chunks. The memory of a chunk is given back when its last mark is evicted, so that about a chunk's
//! marks are evicted at a time.

use std::collections::VecDeque;
use std::mem::size_of;

use crate::timeline::store::chunk::{self, Chunk, Entry};
use crate::timeline::store::mark::{Counts, Evicted, Mark, MarkType, Subject};
use crate::timeline::store::state::State;

/// A ring of fewer chunks would give up too many marks at a time.
const CHUNKS: usize = 32;

/// Marks within a budget, whose times never run backwards.
#[derive(Debug)]
pub struct Ring {
    /// The marks of the sequence numbers from `first` on, without a hole. Each chunk but the last is full, and the
    /// first one may have evicted marks at its begin.
    chunks: VecDeque<Chunk>,
    /// The most marks of a chunk: two to this power.
    power: u32,
    /// The sequence number of the first mark of the first chunk.
    begin: u64,
    /// The sequence number of the oldest mark that is held; that of the next mark where none is held.
    first: u64,
    /// The sequence number of the next mark.
    next: u64,
    /// The bytes of all chunks but the last one.
    full: usize,
    budget: usize,
    last_at: f64,
    evicted: Counts,
}

impl Ring {
    /// An empty ring that may take `budget` bytes.
    pub fn new(budget: usize) -> Ring {
        Ring {
            chunks: VecDeque::new(),
            power: (budget / CHUNKS / chunk::BYTES).clamp(1, chunk::MOST).ilog2(),
            begin: 1,
            first: 1,
            next: 1,
            full: 0,
            budget,
            last_at: f64::NEG_INFINITY,
            evicted: Counts::default(),
        }
    }

    /// The time that a mark gets that is stamped `at`: never before the time of the last mark.
    pub fn clamp(&self, at: f64) -> f64 {
        // `max` also replaces NaN, which would make the order of times meaningless.
        let at = at.max(self.last_at);
        if at.is_finite() { at } else { self.last_at.max(0.0) }
    }

    /// Appends a mark and returns its sequence number. The caller must then call [`Ring::evict`] until that returns
    /// `None`.
    pub fn push(&mut self, at: f64, mark_type: MarkType, state: State, before: u32, subject: Subject) -> u64 {
        let seq = self.next;
        let at = self.clamp(at);
        let entry = Entry { at, mark_type, state, before, subject };
        let most = 1 << self.power;
        match self.chunks.back_mut().filter(|chunk| chunk.len() < most) {
            Some(chunk) => chunk.push(entry, most),
            None => {
                self.full += self.chunks.back().map_or(0, Chunk::bytes);
                let mut chunk = Chunk::default();
                chunk.push(entry, most);
                if self.chunks.len() == self.chunks.capacity() {
                    self.chunks.reserve_exact(self.chunks.len() / 4 + 1);
                }
                self.chunks.push_back(chunk);
            }
        }
        self.last_at = at;
        self.next += 1;
        seq
    }

    /// Takes out the oldest mark, if the marks and the `beside` bytes that are kept because of them exceed the budget.
    pub fn evict(&mut self, beside: usize) -> Option<Evicted> {
        if self.bytes() + beside <= self.budget { None } else { self.evict_one() }
    }

    /// Takes out the oldest mark.
    pub fn evict_one(&mut self) -> Option<Evicted> {
        let mark = Evicted::from(self.oldest()?);
        self.first += 1;
        self.evicted.add(mark.mark_type, 1);
        if (self.first == self.next || self.first - self.begin == 1 << self.power)
            && let Some(chunk) = self.chunks.pop_front()
        {
            self.begin = self.first;
            self.full -= if self.chunks.is_empty() { 0 } else { chunk.bytes() };
        }
        Some(mark)
    }

    /// Lowers the budget to so many bytes. The caller must then call [`Ring::evict`] until that returns `None`.
    pub fn limit(&mut self, budget: usize) {
        self.budget = self.budget.min(budget);
    }

    /// The bytes that the marks take, texts and the room for more marks included.
    pub fn bytes(&self) -> usize {
        let last = self.chunks.back().map_or(0, Chunk::bytes);
        self.full + last + self.chunks.len() * size_of::<Chunk>()
    }

    /// How many marks were evicted, by type.
    pub fn evicted(&self) -> &Counts {
        &self.evicted
    }

    /// How many marks are held.
    pub fn len(&self) -> usize {
        (self.next - self.first) as usize
    }

    /// Whether no mark is held.
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// How many marks a chunk has.
    pub fn per_chunk(&self) -> usize {
        1 << self.power
    }

    /// The sequence number that the next mark gets.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// The sequence number of the oldest mark that is held; that of the next mark where none is held.
    pub fn first_seq(&self) -> u64 {
        self.first
    }

    /// The time of the newest mark that ever was; negative infinity before the first.
    pub fn last_at(&self) -> f64 {
        self.last_at
    }

    /// The oldest mark that is held.
    pub fn oldest(&self) -> Option<Mark<'_>> {
        self.get(self.first)
    }

    /// The chunk of a sequence number, and the place there; `None` if the mark is evicted or still to come.
    fn place(&self, seq: u64) -> Option<(&Chunk, usize)> {
        let index = if seq < self.first { None } else { usize::try_from(seq - self.begin).ok() }?;
        Some((self.chunks.get(index >> self.power)?, index & ((1 << self.power) - 1)))
    }

    /// The mark with this sequence number; `None` if it is evicted or still to come.
    pub fn get(&self, seq: u64) -> Option<Mark<'_>> {
        let (chunk, place) = self.place(seq)?;
        chunk.get(place, seq)
    }

    fn at(&self, seq: u64) -> Option<f64> {
        let (chunk, place) = self.place(seq)?;
        chunk.at(place)
    }

    /// The mark that `mark.before` points at; `None` if there is none or it is evicted.
    pub fn before(&self, mark: &Mark<'_>) -> Option<Mark<'_>> {
        if mark.before == 0 { None } else { self.get(mark.seq.checked_sub(u64::from(mark.before))?) }
    }

    /// All marks, the newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = Mark<'_>> + ExactSizeIterator {
        self.between(self.first, self.next)
    }

    /// The marks with `from <= at <= to`, the newest first.
    pub fn range(&self, from: f64, to: f64) -> impl DoubleEndedIterator<Item = Mark<'_>> + ExactSizeIterator {
        let start = self.from(from);
        let end = self.after(to).max(start);
        self.between(start, end)
    }

    /// The sequence number of the first mark that was not stamped before a time.
    pub fn from(&self, at: f64) -> u64 {
        self.partition(|other| other < at)
    }

    /// The sequence number of the first mark that was stamped after a time.
    pub fn after(&self, at: f64) -> u64 {
        self.partition(|other| other <= at)
    }

    /// The marks with `first <= seq < end`, which are held, the newest first.
    fn between(&self, first: u64, end: u64) -> Between<'_> {
        Between { ring: self, first, end }
    }

    /// The sequence number of the first mark whose time does not have this property. The marks that have it come first.
    pub(in crate::timeline) fn partition(&self, has: impl Fn(f64) -> bool) -> u64 {
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle).is_some_and(&has) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Marks that follow each other, the newest first.
struct Between<'a> {
    ring: &'a Ring,
    first: u64,
    end: u64,
}

impl<'a> Iterator for Between<'a> {
    type Item = Mark<'a>;

    fn next(&mut self) -> Option<Mark<'a>> {
        if self.first == self.end {
            return None;
        }
        self.end -= 1;
        self.ring.get(self.end)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = (self.end - self.first) as usize;
        (len, Some(len))
    }
}

impl DoubleEndedIterator for Between<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.first == self.end {
            return None;
        }
        self.first += 1;
        self.ring.get(self.first - 1)
    }
}

impl ExactSizeIterator for Between<'_> {}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::timeline::store::mark::{LaneId, Resync, SubjectRef};
    use crate::timeline::store::state::WordId;
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::ResourceVersion;

    fn subject(version: &str) -> Subject {
        Subject::Object { lane: LaneId(0), life: 0, resource_version: ResourceVersion::new(version), folded: 1 }
    }

    fn push(ring: &mut Ring, at: f64, mark_type: MarkType, version: &str) -> Vec<u64> {
        ring.push(at, mark_type, State::default(), 0, subject(version));
        std::iter::from_fn(|| ring.evict(0)).map(|mark| mark.seq).collect()
    }

    #[test]
    fn a_clock_that_runs_backwards_is_clamped() {
        let mut ring = Ring::new(1 << 20);
        for at in [5.0, 3.0, f64::NAN, f64::NEG_INFINITY, 7.0] {
            push(&mut ring, at, MarkType::Added, "1");
        }
        let times: Vec<f64> = ring.newest_first().map(|mark| mark.at).collect();
        assert_eq!(times, [7.0, 5.0, 5.0, 5.0, 5.0]);
        assert_eq!(ring.range(5.0, 6.0).count(), 4);
        assert_eq!(ring.range(6.0, 5.0).count(), 0);
    }

    #[test]
    fn the_oldest_go_first_and_are_counted_by_type() {
        // A ring as small as this has a chunk for each mark.
        let mut one = Ring::new(0);
        one.push(0.0, MarkType::Added, State::default(), 0, subject("1"));
        let mut ring = Ring::new(4 * one.bytes());
        let types = [MarkType::Added, MarkType::Updated, MarkType::Deleted, MarkType::Added];
        for (at, mark_type) in types.into_iter().enumerate() {
            assert!(push(&mut ring, at as f64, mark_type, "1").is_empty());
        }
        assert_eq!(push(&mut ring, 9.0, MarkType::Updated, "1"), [1]);
        assert_eq!(push(&mut ring, 9.0, MarkType::Updated, "a"), [2, 3], "the text's bytes count too");
        assert_eq!(ring.evicted().of(MarkType::Deleted), 1);
        assert_eq!(ring.evicted().total(), 3);
        assert!(ring.get(3).is_none() && ring.get(4).is_some() && ring.get(7).is_none());
    }

    #[test]
    fn a_million_marks_fit_into_12_bytes_each_and_lie_in_order() {
        let mut ring = Ring::new(12_000_000);
        for at in 0..1_000_000_u32 {
            push(&mut ring, f64::from(at), MarkType::Updated, &(4_000_000_000 + u64::from(at)).to_string());
        }
        assert_eq!((ring.len(), ring.evicted().total()), (1_000_000, 0));
        assert!(ring.newest_first().rev().zip(1..).all(|(mark, seq)| mark.seq == seq));
        assert_eq!(ring.range(4_094.0, 4_097.0).map(|mark| mark.seq).collect::<Vec<_>>(), [4_098, 4_097, 4_096, 4_095]);
    }

    /// A subject, by some numbers: most are plain, and some have all that is rare.
    fn any_subject(kind: usize, number: u64) -> Subject {
        let texts = ["", "0", "007", "abc", "18446744073709551615", "99999999999999999999999999", "12 "];
        let version = match texts.get(kind % 20) {
            Some(text) => ResourceVersion::new(text),
            None => ResourceVersion::new(&number.to_string()),
        };
        // Half of the lanes have numbers that are too large for a plain mark.
        let (lane, low) = (LaneId(number as u32 >> (number % 2 * 9)), (number % 3) as u32);
        match kind % 11 {
            0 => Subject::Stream { from: number as f64 * 0.1, note: "relist (410)".into(), of_all: low == 0 },
            1 => Subject::Resync(Box::new(Resync {
                namespace: "shop".into(),
                count: number,
                since: 0.5,
                settled: number as f64,
            })),
            2 => Subject::Object { lane, life: 255 + low, resource_version: version, folded: 1 },
            3 => Subject::Object { lane, life: u32::MAX, resource_version: version, folded: u32::MAX - low },
            _ => Subject::Object { lane, life: low, resource_version: version, folded: 1 },
        }
    }

    /// Whether a mark that was read is the one that was pushed.
    fn is_same(read: SubjectRef<'_>, pushed: &Subject) -> bool {
        match (read, pushed) {
            (SubjectRef::Object { lane, life, resource_version, folded }, Subject::Object { .. }) => {
                let resource_version = resource_version.into();
                Subject::Object { lane, life, resource_version, folded } == *pushed
            }
            (read, pushed) => read == pushed.as_ref(),
        }
    }

    proptest! {
        /// The plain old representation: a list of what was pushed, from which the oldest go.
        #[test]
        fn marks_are_read_as_they_were_pushed(
            budget in prop_oneof![0usize..4_000, 4_000usize..200_000],
            marks in proptest::collection::vec(
                (0usize..7, (0usize..4, 0u16..1_024), any::<usize>(), any::<u64>(), any::<u32>(), -5.0f64..20.0), 0..600),
            begin in prop_oneof![Just(0.0), Just(1.79e12)],
        ) {
            let mut ring = Ring::new(budget);
            let mut plain: VecDeque<(u64, f64, MarkType, State, u32, Subject)> = VecDeque::new();
            let (mut pushed, mut at, mut last) = (Counts::default(), begin, f64::NEG_INFINITY);
            for (mark_type, (tone, word), kind, number, before, step) in marks {
                at += step;
                last = f64::max(at, last);
                let (mark_type, tone) = (MarkType::ALL[mark_type], [Tone::Plain, Tone::Good, Tone::Wait, Tone::Bad][tone]);
                let state = State { tone, word: WordId::of_bits(word) };
                let subject = any_subject(kind, number);
                pushed.add(mark_type, 1);
                let seq = ring.push(at, mark_type, state, before, subject.clone());
                plain.push_back((seq, last, mark_type, state, before, subject));
                while let Some(gone) = ring.evict(0) {
                    let (seq, _, mark_type, state, _, subject) = plain.pop_front().expect("a mark that was pushed");
                    let owner = match subject {
                        Subject::Object { lane, life, .. } => Some((lane, life)),
                        _ => None,
                    };
                    prop_assert_eq!(gone, Evicted { seq, mark_type, state, owner });
                }
                prop_assert!(ring.bytes() <= budget || ring.is_empty());
                let held: usize = ring.chunks.iter().map(|chunk| size_of::<Chunk>() + chunk.bytes()).sum();
                prop_assert_eq!(ring.bytes(), held);
            }
            prop_assert_eq!(ring.len(), plain.len());
            for (mark, (seq, at, mark_type, state, before, subject)) in ring.newest_first().rev().zip(&plain) {
                prop_assert_eq!((mark.seq, mark.at, mark.mark_type), (*seq, *at, *mark_type));
                prop_assert_eq!((mark.state, mark.before), (*state, *before));
                prop_assert!(is_same(mark.subject, subject), "{:?} for {:?}", mark, subject);
                prop_assert_eq!(ring.get(*seq), Some(mark));
                let earlier = if *before == 0 { None } else { seq.checked_sub(u64::from(*before)) };
                let earlier = earlier.filter(|earlier| plain.iter().any(|(seq, ..)| seq == earlier));
                prop_assert_eq!(ring.before(&mark).map(|mark| mark.seq), earlier);
            }
            let mut counted = *ring.evicted();
            plain.iter().for_each(|(_, _, mark_type, ..)| counted.add(*mark_type, 1));
            prop_assert_eq!(counted, pushed);
            prop_assert_eq!(ring.oldest().map(|mark| mark.seq), plain.front().map(|(seq, ..)| *seq));
            let (from, to) = (begin + (at - begin) * 0.25, begin + (at - begin) * 0.75);
            let inside = plain.iter().rev().filter(|(_, at, ..)| from <= *at && *at <= to);
            let inside: Vec<u64> = inside.map(|(seq, ..)| *seq).collect();
            prop_assert_eq!(ring.range(from, to).map(|mark| mark.seq).collect::<Vec<_>>(), inside);
        }
    }
}
