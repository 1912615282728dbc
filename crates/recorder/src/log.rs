//! A log of versions in segments. A segment is whole in itself: a version is written as its difference from another version of
//! the same segment, or as it is. So the oldest segment can be dropped at any time, and every other version stays readable.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use hashbrown::HashMap;
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::difference::{self, Index};
use crate::texts::Texts;

/// How many differences lie between a version and a text that is written as it is, at most.
const DEEPEST: u8 = 24;
/// A difference that is longer than this part of the text is not worth its time: the text is written as it is.
const WORTH: usize = 4;

/// The place of a version among those of its segment.
type Place = u32;

/// The objects of one family resemble each other: those of one owner, or of one resource.
pub type Family = u64;

/// What is known of a version beside its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The number among everything that was received.
    pub sequence: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// Stands for the resourceVersion: two versions of one object with the same mark are the same.
    pub version: u64,
    /// The number of the object.
    pub life: u32,
    /// How far back in numbers the version of the same object is that came into the same log before; 0 for none.
    pub before: u32,
    /// Where its bytes begin in the segment.
    start: u32,
    /// How long the text is.
    length: u32,
    /// One more than the place of the base; 0 for a text that is written as it is.
    base: Place,
    /// How many differences lie between this version and a text that is written as it is.
    depth: u8,
    /// What happened to the object.
    pub delta_type: DeltaType,
    /// Whether there is a text.
    pub has_text: bool,
    /// Whether this stands for a version that is not kept.
    pub(crate) is_missing: bool,
}

impl Record {
    /// The resourceVersion, if it is a number.
    pub fn number(&self) -> Option<u64> {
        (self.version & NOT_A_NUMBER == 0).then_some(self.version)
    }

    /// Whether this is the version of an object that has this resourceVersion.
    pub fn is_of(&self, version: &ResourceVersion) -> bool {
        mark_of(version) == self.version
    }

    /// How many bytes the text has, if there is one.
    pub fn text_length(&self) -> Option<u32> {
        self.has_text.then_some(self.length)
    }

    /// Whether the version is kept, and does not only stand for one that is not.
    pub fn is_kept(&self) -> bool {
        !self.is_missing
    }

    /// The number of the version before it in its log.
    pub(crate) fn previous(&self) -> Option<u64> {
        self.sequence.checked_sub(u64::from(self.before)).filter(|_| self.before > 0)
    }
}

/// Marks a version that is no number: the rest is a hash of its text.
pub const NOT_A_NUMBER: u64 = 1 << 63;

/// Stands for a resourceVersion: the number that it is, or a hash of any other text.
pub fn mark_of(version: &ResourceVersion) -> u64 {
    let number = version.as_str().parse().ok().filter(|number| *number < NOT_A_NUMBER && version.is_comparable());
    number.unwrap_or_else(|| {
        let mut hasher = FxHasher::default();
        version.as_str().hash(&mut hasher);
        hasher.finish() | NOT_A_NUMBER
    })
}

/// The memory of one record.
pub const RECORD: usize = size_of::<Record>();

/// A version to be written.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// What is known of it; `start`, `length`, `base` and `depth` are found when it is written.
    pub head: Head,
    /// Those that resemble it, the nearest first.
    pub families: [Family; 2],
    /// The number of the version of the same object that came into the same log before.
    pub previous: Option<u64>,
    /// Its text.
    pub text: Option<&'a str>,
}

/// What is known of a version before it is written: see [`Record`].
#[allow(missing_docs, reason = "the record describes each")]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub sequence: u64,
    pub at: f64,
    pub version: u64,
    pub life: u32,
    pub before: u32,
    pub delta_type: DeltaType,
    pub is_missing: bool,
}

#[derive(Debug)]
struct Segment {
    records: Vec<Record>,
    /// The earliest time at which one of them was received.
    earliest: f64,
    bytes: Vec<u8>,
    /// A version of each family, whose text others may be written as a difference from.
    families: HashMap<Family, Place, FxBuildHasher>,
}

impl Segment {
    fn new() -> Segment {
        Segment { records: Vec::new(), earliest: f64::INFINITY, bytes: Vec::new(), families: HashMap::default() }
    }

    /// Those of its versions that were received from one number on, up to before another one.
    fn between(&self, from: u64, to: u64) -> &[Record] {
        let place = |sequence| self.records.partition_point(|record| record.sequence < sequence);
        self.records.get(place(from)..place(to)).unwrap_or_default()
    }

    /// The place of a version. Numbers grow by one from version to version, but for those that are in other logs or are not kept:
    /// so a place is at most as many back from where it would be without them as there are of these.
    fn place_of(&self, sequence: u64) -> Option<Place> {
        let (first, last) = (self.records.first()?, self.records.last()?);
        let most = usize::try_from(sequence.checked_sub(first.sequence)?).ok()?;
        let skipped = usize::try_from(last.sequence - first.sequence).ok()? + 1 - self.records.len();
        let (from, to) = (most.saturating_sub(skipped), (most + 1).min(self.records.len()));
        let place = self.records.get(from..to)?.binary_search_by_key(&sequence, |record| record.sequence).ok()?;
        Some((from + place) as Place)
    }

    fn memory(&self) -> usize {
        self.bytes.capacity() + self.records.capacity() * RECORD + self.families.capacity() * 16
    }

    fn written(&self, place: Place) -> &[u8] {
        let at = place as usize;
        let start = self.records[at].start as usize;
        let end = self.records.get(at + 1).map_or(self.bytes.len(), |next| next.start as usize);
        &self.bytes[start..end]
    }

    /// The text of a version, from the nearest of its bases whose text is at hand.
    fn read<'a>(&'a self, place: Place, texts: &'a Texts) -> Option<Cow<'a, [u8]>> {
        let mut way = Vec::new();
        let mut at = place;
        let start = loop {
            let record = self.records.get(at as usize).filter(|record| record.has_text)?;
            match texts.get(record.sequence) {
                Some(text) => break text,
                None if record.base == 0 => break self.written(at),
                None => way.push(at),
            }
            at = record.base - 1;
        };
        if way.is_empty() {
            return Some(Cow::Borrowed(start));
        }
        let (mut text, mut base) = (Vec::new(), Vec::new());
        for (step, at) in way.into_iter().rev().enumerate() {
            std::mem::swap(&mut text, &mut base);
            text.clear();
            text.reserve(self.records[at as usize].length as usize);
            difference::decode(if step == 0 { start } else { &base }, self.written(at), &mut text)?;
        }
        Some(Cow::Owned(text))
    }
}

/// Memory that is used for each version, and kept from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    index: Index,
    bytes: Vec<u8>,
}

/// Versions in the order in which they came.
#[derive(Debug)]
pub struct Log {
    segments: VecDeque<Segment>,
    /// After so many bytes, a segment is full.
    full: usize,
    memory: usize,
}

impl Log {
    /// An empty log whose segments hold so many bytes.
    pub fn new(full: usize) -> Log {
        Log { segments: VecDeque::new(), full, memory: 0 }
    }

    /// The memory that is taken, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// From now on, segments hold so many bytes.
    pub fn fill_to(&mut self, full: usize) {
        self.full = full;
    }

    /// How many bytes the versions are written in, with what is known of each.
    pub fn written(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes.len() + segment.records.len() * RECORD).sum()
    }

    /// Writes a version. Sequence numbers must grow.
    pub fn push(&mut self, new: New<'_>, texts: &mut Texts, scratch: &mut Scratch) {
        if self.segments.back().is_none_or(|last| last.bytes.len() + last.records.len() * RECORD >= self.full) {
            if let Some(last) = self.segments.back_mut() {
                let before = last.memory();
                last.records.shrink_to_fit();
                last.families = HashMap::default();
                self.memory = self.memory - before + last.memory();
            }
            self.segments.push_back(Segment::new());
        }
        let Some(segment) = self.segments.back_mut() else { return };
        let before = segment.memory();
        write(segment, new, texts, scratch);
        self.memory = self.memory - before + segment.memory();
    }

    fn find(&self, sequence: u64) -> Option<(&Segment, Place)> {
        let after = self
            .segments
            .partition_point(|segment| segment.records.first().is_some_and(|first| first.sequence <= sequence));
        let segment = self.segments.get(after.checked_sub(1)?)?;
        Some((segment, segment.place_of(sequence)?))
    }

    /// What is known of a version, if it is kept here.
    pub fn record(&self, sequence: u64) -> Option<&Record> {
        let (segment, place) = self.find(sequence)?;
        segment.records.get(place as usize)
    }

    /// The versions that were received at a time.
    pub fn received_at(&self, at: f64) -> impl Iterator<Item = &Record> {
        // A segment that begins before the time may end with it, and so may many that follow.
        let first = self.segments.partition_point(|own| own.records.last().is_some_and(|last| last.at < at));
        let segments = self.segments.range(first..);
        segments
            .map_while(move |segment| {
                let first = segment.records.partition_point(|record| record.at < at);
                Some(segment.records.get(first..)?)
                    .filter(|records| records.first().is_some_and(|record| record.at <= at))
            })
            .flat_map(move |records| records.iter().take_while(move |record| record.at <= at))
    }

    /// The versions that were received from one number on, up to before another one.
    pub fn between(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = &Record> + Clone {
        let first = self.segments.partition_point(|own| own.records.last().is_some_and(|last| last.sequence < from));
        let end = self.segments.partition_point(|own| own.records.first().is_some_and(|first| first.sequence < to));
        self.segments.range(first.min(end)..end).flat_map(move |segment| segment.between(from, to))
    }

    /// The number of the last version that was received when the clock said this time or an earlier one.
    pub fn last_by(&self, at: f64) -> Option<u64> {
        let segment = self.segments.iter().rev().find(|segment| segment.earliest <= at)?;
        Some(segment.records.iter().rev().find(|record| record.at <= at)?.sequence)
    }

    /// The text of a version; `None` if it is not kept here, or has none.
    pub fn read<'a>(&'a self, sequence: u64, texts: &'a Texts) -> Option<Cow<'a, [u8]>> {
        let (segment, place) = self.find(sequence)?;
        segment.read(place, texts)
    }

    /// When the oldest version that is kept was received.
    pub fn oldest(&self) -> Option<f64> {
        Some(self.segments.front()?.records.first()?.at)
    }

    /// Drops the oldest segment, and gives its records.
    pub fn drop_oldest(&mut self) -> Option<Vec<Record>> {
        let segment = self.segments.pop_front()?;
        self.memory -= segment.memory();
        Some(segment.records)
    }
}

fn write(segment: &mut Segment, new: New<'_>, texts: &mut Texts, scratch: &mut Scratch) {
    let Head { sequence, at, version, life, before, delta_type, is_missing } = new.head;
    segment.earliest = segment.earliest.min(at);
    let (place, start) = (segment.records.len() as Place, segment.bytes.len());
    let (mut base, mut depth) = (0, 0);
    if let Some(text) = new.text {
        let written = &mut scratch.bytes;
        written.clear();
        let mut previous_text = None;
        if let Some(from) = base_of(segment, &new)
            && let Some(base_text) = segment.read(from, texts)
        {
            difference::encode(&base_text, text.as_bytes(), &mut scratch.index, written);
            let known = &segment.records[from as usize];
            (base, depth) = (from + 1, known.depth + 1);
            if let Cow::Owned(read) = base_text
                && new.previous == Some(known.sequence)
            {
                previous_text = Some(read);
            }
        }
        if base == 0 || written.len() * WORTH > text.len() * (WORTH - 1) {
            (base, depth) = (0, 0);
            segment.bytes.extend_from_slice(text.as_bytes());
        } else {
            segment.bytes.extend_from_slice(written);
        }
        for family in new.families {
            segment.families.entry(family).or_insert(place);
        }
        texts.replace(new.previous, previous_text, sequence, text.as_bytes());
    }
    segment.records.push(Record {
        sequence,
        at,
        version,
        life,
        before,
        start: start as u32,
        length: new.text.map_or(0, str::len) as u32,
        base,
        depth,
        delta_type,
        has_text: new.text.is_some(),
        is_missing,
    });
}

/// The version that the new one is written as a difference from: the one of the same object before it, or one that
/// resembles it.
fn base_of(segment: &Segment, new: &New<'_>) -> Option<Place> {
    let previous = new.previous.and_then(|sequence| segment.place_of(sequence));
    let families = new.families.iter().filter_map(|family| segment.families.get(family).copied());
    previous.into_iter().chain(families).find(|&place| {
        segment.records.get(place as usize).is_some_and(|record| record.has_text && record.depth < DEEPEST)
    })
}
