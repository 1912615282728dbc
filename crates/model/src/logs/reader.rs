//! Cuts the bytes of a log into lines.

use std::sync::Arc;

use crate::logs::stamp;

/// How many bytes of a line are kept. What is longer is cut, and what was cut is counted.
pub const LONGEST: usize = 16 << 10;
/// The room for the time before a line.
const STAMP: usize = 40;

/// A line as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLine {
    /// The server's time, in nanoseconds since 1970, if the line has one.
    pub time: Option<i64>,
    /// The text. What is no UTF-8 is replaced by `\u{fffd}`.
    pub text: Arc<str>,
    /// How many more bytes the line had.
    pub cut: u32,
}

/// What was read of a line that is not complete.
#[derive(Debug, Default)]
pub struct Reader {
    rest: Vec<u8>,
    /// How many bytes of it were let go.
    cut: usize,
}

impl Reader {
    /// Reads more bytes, and hands on each line that they complete.
    pub fn read(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(ReadLine)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.push(&bytes[..end]);
            bytes = &bytes[end + 1..];
            each(self.line());
        }
        self.push(bytes);
    }

    /// Hands on the last line, which no line break has ended.
    pub fn end(&mut self, each: &mut dyn FnMut(ReadLine)) {
        if !self.rest.is_empty() {
            each(self.line());
        }
    }

    /// Lets go of a line that is not complete: it comes again.
    pub fn forget(&mut self) {
        (self.rest, self.cut) = (Vec::new(), 0);
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = (LONGEST + STAMP).saturating_sub(self.rest.len());
        let (kept, cut) = bytes.split_at(room.min(bytes.len()));
        self.rest.extend_from_slice(kept);
        self.cut += cut.len();
    }

    fn line(&mut self) -> ReadLine {
        let line = self.rest.strip_suffix(b"\r").filter(|_| self.cut == 0).unwrap_or(&self.rest);
        let (time, text) = stamp::split(line);
        let (text, beyond) = text.split_at(text.len().min(LONGEST));
        let text = Arc::from(String::from_utf8_lossy(text));
        let cut = u32::try_from(beyond.len() + self.cut).unwrap_or(u32::MAX);
        self.rest.clear();
        self.cut = 0;
        ReadLine { time, text, cut }
    }
}
