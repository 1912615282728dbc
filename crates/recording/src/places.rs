//! Where the blocks of a file are, so that only those are read that are looked at: from its index, or by going from the head of one to
//! that of the next.
//!
//! Nothing that an index says is trusted. The blocks that are looked at, and those beside them, say themselves when they begin; where
//! one says something else, the index is not used.

use std::io::{self, Read, Seek, SeekFrom};

use crate::index::{self, Entry};
use crate::newest::Newest;
use crate::reader::{Block, Part, Refusal};
use crate::{member, native};

/// How many bytes of a block are read first to see when it begins.
const FEW: u64 = 512;
/// The most bytes that an index may have: it is read as a whole.
const LONGEST: u64 = 64 << 20;

/// A block of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// At which byte it begins.
    pub at: u64,
    /// At which byte the next one does.
    pub end: u64,
    /// Whether its end is known to be written.
    pub is_whole: bool,
    /// When it begins, in milliseconds since 1970; `None` where that cannot be read.
    pub from: Option<f64>,
    /// What it is.
    pub part: Part,
}

/// The blocks of a file that are looked at.
#[derive(Debug, Default, PartialEq)]
pub struct Looked {
    /// What is read to know how everything was before them: a state, if there is one, and the blocks after it.
    pub before: Vec<Place>,
    /// The blocks.
    pub blocks: Vec<Place>,
    /// How many blocks there are before them.
    pub first: usize,
    /// Why the index of the file is not used, where it has one that is wrong.
    pub why: Option<&'static str>,
}

/// A file, and what was read of it.
#[derive(Debug)]
pub struct Places<F> {
    file: F,
    length: u64,
    /// How many bytes were read.
    pub read: u64,
}

impl<F: Read + Seek> Places<F> {
    /// A file.
    ///
    /// # Errors
    ///
    /// When its length cannot be found.
    pub fn new(mut file: F) -> io::Result<Places<F>> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Places { file, length, read: 0 })
    }

    /// Some bytes of the file: fewer, where it ends before.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn bytes(&mut self, at: u64, count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(at))?;
        self.read += (&mut self.file).take(count).read_to_end(&mut bytes)? as u64;
        Ok(bytes)
    }

    /// When the file begins, in milliseconds since 1970; `None` where it is no recording.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn begins(&mut self) -> io::Result<Option<f64>> {
        Ok(self.head(0)?.from)
    }

    /// The blocks in which something is of the time between these, in milliseconds since 1970; of all time, where there is none.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn looked(&mut self, from: Option<f64>, to: Option<f64>) -> io::Result<Looked> {
        let why = match self.of_index()? {
            Ok(None) => None,
            Ok(Some(all)) => {
                let looked = chosen(all, from, to);
                match self.verify(&looked.0, &looked.1)? {
                    true => return Ok(looked.0),
                    false => Some("a block of it is not where it says, or not of that time"),
                }
            }
            Err(why) => Some(why),
        };
        let all = self.of_heads()?;
        Ok(Looked { why, ..chosen(all, from, to).0 })
    }

    /// The blocks by the index.
    fn of_index(&mut self) -> io::Result<Result<Option<Vec<Place>>, &'static str>> {
        let end = self.length.saturating_sub(native::LAST as u64);
        let last = self.bytes(end, native::LAST as u64)?;
        let Some(begins) = native::index_begins(&last) else { return Ok(Ok(None)) };
        if begins >= end || end - begins > LONGEST {
            return Ok(Err("it does not begin in the file"));
        }
        let member = self.bytes(begins, end - begins)?;
        if !member::is_whole(&member) {
            return Ok(Err("it does not begin where a block does"));
        }
        let entries = native::unpacked(&member).and_then(|text| index::read(&text, begins));
        let place = |entry: Entry| Place {
            at: entry.at,
            end: entry.end(),
            is_whole: true,
            from: Some(entry.from),
            part: entry.state.map_or(Part::Lines, Part::State),
        };
        Ok(entries.map(|entries| Some(entries.into_iter().map(place).collect())))
    }

    /// The blocks by their heads.
    fn of_heads(&mut self) -> io::Result<Vec<Place>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.length {
            let place = self.head(at)?;
            at = place.end;
            found.push(place);
        }
        Ok(found)
    }

    /// What the head of a block says that begins at this byte.
    fn head(&mut self, at: u64) -> io::Result<Place> {
        let mut start = self.bytes(at, FEW)?;
        let mut first = native::first(&start);
        if first.is_err() && start.len() as u64 == FEW {
            start = self.bytes(at, native::BEGINNING as u64)?;
            first = native::first(&start);
        }
        let end = member::length(&start).map(|length| at + length as u64).filter(|end| *end <= self.length);
        let (from, part) = first.map_or((None, Part::Lines), |(from, _, part)| (Some(from), part));
        Ok(Place { at, end: end.unwrap_or(self.length), is_whole: end.is_some(), from, part })
    }

    /// Whether blocks are where an index says, and begin when it says: those that are looked at, and those beside them.
    fn verify(&mut self, looked: &Looked, beside: &[Place]) -> io::Result<bool> {
        for place in looked.before.iter().chain(&looked.blocks).chain(beside) {
            if self.head(place.at)? != *place {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How everything was before the blocks that are looked at, as far as it can be read.
    ///
    /// # Errors
    ///
    /// When the file cannot be read; or one of its blocks, with the place of the block.
    pub fn newest(&mut self, before: &[Place]) -> io::Result<Result<Newest, (u64, Refusal)>> {
        let mut newest = Newest::default();
        for place in before {
            let member = self.bytes(place.at, place.end - place.at)?;
            let refused = |reason: &str| (place.at, Refusal { line: 1, reason: reason.to_owned() });
            let text = match native::unpacked(&member) {
                Ok(text) => text,
                Err(reason) => return Ok(Err(refused(reason))),
            };
            let mut block = Block::of_state();
            loop {
                match block.next(&text) {
                    Ok(Some((_, line))) => newest.take(&line),
                    Ok(None) => break,
                    Err(refusal) => return Ok(Err((place.at, refusal))),
                }
            }
        }
        Ok(Ok(newest))
    }
}

/// Of all blocks those that are looked at; and others, by which it is seen that none is missing: those beside them, and the states
/// between them, which are left out.
fn chosen(all: Vec<Place>, from: Option<f64>, to: Option<f64>) -> (Looked, Vec<Place>) {
    let (states, blocks): (Vec<Place>, Vec<Place>) =
        all.into_iter().filter(|place| place.part != Part::Index).partition(|place| place.part != Part::Lines);
    let begins_by = |place: &Place, time: f64| place.from.is_some_and(|begins| begins <= time);
    let first = from.and_then(|from| blocks.iter().rposition(|place| begins_by(place, from))).unwrap_or(0);
    let after = |to: f64| blocks[first..].iter().position(|place| place.from.is_some_and(|begins| begins > to));
    let end = to.and_then(after).map_or(blocks.len(), |count| first + count);
    let state = states.iter().filter_map(|place| {
        let Part::State(before) = place.part else { return None };
        let at = blocks.iter().position(|block| block.at >= before)?;
        (at <= first).then_some((at, place))
    });
    let state = state.max_by_key(|(at, place)| (*at, place.at)).filter(|_| first > 0);
    let mut before: Vec<Place> = state.iter().map(|(_, place)| (*place).clone()).collect();
    before.extend_from_slice(&blocks[state.map_or(0, |(at, _)| at)..first]);
    let begins = match before.first() {
        Some(Place { part: Part::State(begins), .. }) => *begins,
        _ => 0,
    };
    let ends = blocks.get(end).map_or(u64::MAX, |place| place.at);
    let beside = [first.checked_sub(1), Some(end)];
    let mut beside: Vec<Place> = beside.into_iter().flatten().filter_map(|at| blocks.get(at).cloned()).collect();
    beside.extend(states.iter().filter(|place| (begins..ends).contains(&place.at)).cloned());
    (Looked { before, blocks: blocks[first..end].to_vec(), first, why: None }, beside)
}
