//! Whole files, compressed by flate2.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use crate::line::{Header, Line};
use crate::member;
use crate::reader::{Block, Refusal};
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
        FileWriter { writer: Writer::new(header), out: Some(Out::Idle(out)) }
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
        self.writer.end_block();
        let mut out = encoder.finish()?;
        let end = out.stream_position()?;
        let length = u32::try_from(end - began).map_err(io::Error::other)?;
        out.seek(SeekFrom::Start(began + member::LENGTH_AT as u64))?;
        out.write_all(&length.to_le_bytes())?;
        out.seek(SeekFrom::Start(end))?;
        out.flush()?;
        self.out = Some(Out::Idle(out));
        Ok(())
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// When the output fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        match self.out {
            Some(Out::Idle(out)) => Ok(out),
            _ => Err(lost()),
        }
    }
}

/// What the first line of a block says: when the block begins, in milliseconds since 1970, and what the recording is, which only the
/// first block of a file says. `start` is the block, or no more than its first [`BEGINNING`] bytes.
///
/// # Errors
///
/// When it does not begin as a block of a recording does.
pub fn header(start: &[u8]) -> Result<(f64, Header), Refusal> {
    let refused = |reason: &str| Refusal { line: 1, reason: reason.to_owned() };
    if !member::is_gzip(start) {
        return Err(refused(FOREIGN));
    }
    let start = &start[..start.len().min(BEGINNING)];
    let mut line = Vec::new();
    // Where the block breaks off before the end of the line, there is none.
    let _ = BufReader::new(GzDecoder::new(start)).take(BEGINNING as u64).read_until(b'\n', &mut line);
    match Block::default().next(&String::from_utf8_lossy(&line))? {
        Some((begins, Line::Header(header))) => Ok((begins, header)),
        _ => Err(refused(TORN)),
    }
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
