//! Whole files, compressed by flate2.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc, GzBuilder};

use crate::index::{self, Entry};
use crate::line::{Header, Line};
use crate::member;
use crate::reader::{Block, Part, Refusal};
use crate::writer::Writer;

/// How many bytes of lines wait before they are compressed.
const WAITING: usize = 64 << 10;
/// How many bytes of a block [`header`] looks at, and how long the line may be that it reads.
pub const BEGINNING: usize = 64 << 10;

/// Writes a file while what it is about goes on.
///
/// What was pushed before the last [`FileWriter::flush`] is in the file, whatever happens afterwards.
#[derive(Debug)]
pub struct FileWriter<W: Write + Seek> {
    writer: Writer,
    /// `None` after an error that left no output to write to.
    out: Option<Out<W>>,
    /// The blocks that are written.
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Out<W: Write + Seek> {
    /// Between two blocks.
    Idle(W),
    /// Within a block that began at this byte.
    Block(GzEncoder<W>, u64),
}

/// Why a file is no recording.
const FOREIGN: &str = "it is not compressed by gzip, as a recording is";
const TORN: &str = "it breaks off before its first line";

fn lost() -> io::Error {
    io::Error::other("the file could not be written before")
}

impl<W: Write + Seek> FileWriter<W> {
    /// A file of which nothing is written yet. `out` must be empty, or stand at the end of whole blocks.
    pub fn new(header: Header, out: W) -> FileWriter<W> {
        FileWriter { writer: Writer::new(header), out: Some(Out::Idle(out)), entries: Vec::new() }
    }

    /// Writes what happened at a time, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// When the output fails. What was written before stays readable.
    pub fn push(&mut self, at: f64, line: &Line<'_>) -> io::Result<()> {
        self.writer.push(at, line);
        if self.writer.is_full() {
            return self.end_block();
        }
        if self.writer.waiting() >= WAITING { self.compress() } else { Ok(()) }
    }

    fn compress(&mut self) -> io::Result<()> {
        let lines = self.writer.take();
        let (mut encoder, began) = match self.out.take().ok_or_else(lost)? {
            Out::Block(encoder, began) => (encoder, began),
            Out::Idle(mut out) => {
                let began = out.stream_position()?;
                let field = &member::head(0)[12..];
                (GzBuilder::new().extra(field).write(out, Compression::default()), began)
            }
        };
        let result = encoder.write_all(&lines);
        self.out = Some(Out::Block(encoder, began));
        result
    }

    /// Has everything that was pushed written.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.writer.waiting() > 0 {
            self.compress()?;
        }
        match self.out.as_mut().ok_or_else(lost)? {
            Out::Block(encoder, _) => encoder.flush(),
            Out::Idle(out) => out.flush(),
        }
    }

    /// Ends the block, if one has begun: what comes next can be read without it.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn end_block(&mut self) -> io::Result<()> {
        if self.writer.waiting() > 0 {
            self.compress()?;
        }
        let (encoder, began) = match self.out.take().ok_or_else(lost)? {
            Out::Block(encoder, began) => (encoder, began),
            idle => {
                self.out = Some(idle);
                return Ok(());
            }
        };
        let (from, to, kinds) = self.writer.covered();
        self.writer.end_block();
        let mut out = encoder.finish()?;
        let end = out.stream_position()?;
        let length = u32::try_from(end - began).map_err(io::Error::other)?;
        out.seek(SeekFrom::Start(began + member::LENGTH_AT as u64))?;
        out.write_all(&length.to_le_bytes())?;
        out.seek(SeekFrom::Start(end))?;
        out.flush()?;
        self.entries.push(Entry { at: began, bytes: end - began, from, to, kinds, state: None });
        self.out = Some(Out::Idle(out));
        Ok(())
    }

    /// Ends the block, and writes one that has how everything was before an earlier one.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn push_state(&mut self, state: StateWriter) -> io::Result<()> {
        self.end_block()?;
        let Some(Out::Idle(out)) = &mut self.out else { return Err(lost()) };
        let (mut entry, member) = state.finish()?;
        entry.at = out.stream_position()?;
        out.write_all(&member)?;
        out.flush()?;
        self.entries.push(entry);
        Ok(())
    }

    /// At which byte the blocks end that are written.
    pub fn end_of_blocks(&self) -> u64 {
        self.entries.last().map_or(0, Entry::end)
    }

    /// The blocks that begin at this byte or later, which are not in this file any more.
    pub fn take_blocks(&mut self, since: u64) -> Vec<Entry> {
        let first = self.entries.partition_point(|entry| entry.at < since);
        self.entries.split_off(first)
    }

    /// Blocks of another file were copied to this end of this one.
    pub fn add_blocks(&mut self, blocks: Vec<Entry>) {
        for block in blocks {
            self.entries.push(Entry { at: self.end_of_blocks(), ..block });
        }
    }

    /// Ends the file without an index, and returns the output.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn finish_blocks(mut self) -> io::Result<W> {
        self.end_block()?;
        match self.out {
            Some(Out::Idle(out)) => Ok(out),
            _ => Err(lost()),
        }
    }

    /// Ends the file with an index, and returns the output.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        let entries = std::mem::take(&mut self.entries);
        let mut out = self.finish_blocks()?;
        let begins = entries.last().map_or(0, Entry::end);
        // What another program has written before is not known.
        if begins == 0 || entries.first().is_some_and(|entry| entry.at > 0) {
            return Ok(out);
        }
        out.seek(SeekFrom::Start(begins))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&index::write(&entries))?;
        out.write_all(&member::framed(&encoder.finish()?).ok_or_else(lost)?)?;
        let last = entries.iter().map(|entry| entry.to).fold(f64::NEG_INFINITY, f64::max);
        out.write_all(&last_member(begins, last))?;
        out.flush()?;
        Ok(out)
    }
}

/// How many bytes the last member of a file with an index has: it is not compressed, so that its line is found from the end.
pub const LAST: usize = member::HEAD + STORED + index::END + 8;
/// The bytes before the text of a block of deflate that is not compressed.
const STORED: usize = 5;

/// The last member of a file with an index, which begins at this byte. `last` is the latest time of a line.
pub fn last_member(begins: u64, last: f64) -> Vec<u8> {
    let line = index::end(begins, last);
    let mut crc = Crc::new();
    crc.update(line.as_bytes());
    let (length, whole) = (line.len() as u16, LAST as u32);
    let [low, high] = length.to_le_bytes();
    let mut out = member::head(whole).to_vec();
    out.extend_from_slice(&[1, low, high, !low, !high]);
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&u32::from(length).to_le_bytes());
    out
}

/// Where the index begins of a file that ends with these bytes, if it has one.
pub fn index_begins(end: &[u8]) -> Option<u64> {
    let last = end.get(end.len().checked_sub(LAST)?..)?;
    (member::length(last) == Some(LAST)).then_some(())?;
    index::begins(last.get(member::HEAD + STORED..)?.get(..index::END)?)
}

/// Writes a block that has how everything was before another one, while the recording goes on.
#[derive(Debug)]
pub struct StateWriter {
    writer: Writer,
    encoder: GzEncoder<Vec<u8>>,
    before: u64,
}

impl StateWriter {
    /// How everything was before the block that begins at this byte of the file.
    pub fn new(before: u64) -> StateWriter {
        let encoder = GzEncoder::new(Vec::new(), Compression::default());
        StateWriter { writer: Writer::of_state(before), encoder, before }
    }

    /// Writes a line as one with which a file begins that goes on from there, at this time in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// Memory can be written.
    pub fn push(&mut self, at: f64, line: &Line<'_>) -> io::Result<()> {
        self.writer.push(at, line);
        if self.writer.waiting() >= WAITING { self.encoder.write_all(&self.writer.take()) } else { Ok(()) }
    }

    fn finish(mut self) -> io::Result<(Entry, Vec<u8>)> {
        self.encoder.write_all(&self.writer.take())?;
        let (from, to, kinds) = self.writer.covered();
        let member = member::framed(&self.encoder.finish()?).ok_or_else(lost)?;
        Ok((Entry { at: 0, bytes: member.len() as u64, from, to, kinds, state: Some(self.before) }, member))
    }
}

/// What the first line of a block says: when the block begins, in milliseconds since 1970, and what the recording is, which only the
/// first block of a file says. `start` is the block, or no more than its first [`BEGINNING`] bytes.
///
/// # Errors
///
/// When it does not begin as a block of a recording does.
pub fn header(start: &[u8]) -> Result<(f64, Header), Refusal> {
    match first(start)? {
        (begins, Some(header), _) => Ok((begins, header)),
        _ => Err(Refusal { line: 1, reason: TORN.to_owned() }),
    }
}

/// When a block begins, what the recording is, if the block is a part of it, and what the block is.
///
/// # Errors
///
/// When it does not begin as a block of a recording does.
pub fn first(start: &[u8]) -> Result<(f64, Option<Header>, Part), Refusal> {
    let refused = |reason: &str| Refusal { line: 1, reason: reason.to_owned() };
    if !member::is_gzip(start) {
        return Err(refused(FOREIGN));
    }
    let start = &start[..start.len().min(BEGINNING)];
    let mut line = Vec::new();
    // Where the block breaks off before the end of the line, there is none.
    let _ = BufReader::new(GzDecoder::new(start)).take(BEGINNING as u64).read_until(b'\n', &mut line);
    let mut block = Block::default();
    let header = match block.next(&String::from_utf8_lossy(&line))? {
        Some((_, Line::Header(header))) => Some(header),
        _ => None,
    };
    block.begins().map(|begins| (begins, header, block.part())).ok_or_else(|| refused(TORN))
}

/// The lines of a member, as far as they are whole.
///
/// # Errors
///
/// When the member is whole, and not as it was written.
pub fn unpacked(member: &[u8]) -> Result<String, &'static str> {
    let mut text = Vec::new();
    // Of a member that breaks off, what comes before is right, and the rest is not there.
    if GzDecoder::new(member).read_to_end(&mut text).is_err() && member::is_whole(member) {
        return Err(member::SPOILED);
    }
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    text.truncate(whole);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Calls `each` with every line of a file and its time.
///
/// # Errors
///
/// When the file is no recording, or a line in it is none; the number of the block, from 1, stands with it. What came before was
/// right.
pub fn read(file: &[u8], mut each: impl FnMut(f64, Line<'_>)) -> Result<(), (usize, Refusal)> {
    let none = |reason: &str| (1, Refusal { line: 1, reason: reason.to_owned() });
    if !member::is_gzip(file) {
        return Err(none(FOREIGN));
    }
    let mut is_empty = true;
    for (at, range) in member::members(file).into_iter().enumerate() {
        let spoiled = |reason: &str| (at + 1, Refusal { line: 1, reason: reason.to_owned() });
        let text = unpacked(&file[range]).map_err(spoiled)?;
        let mut block = Block::default();
        while let Some((at, line)) = block.next(&text).map_err(|refusal| (at + 1, refusal))? {
            each(at, line);
            is_empty = false;
        }
    }
    if is_empty { Err(none(TORN)) } else { Ok(()) }
}
