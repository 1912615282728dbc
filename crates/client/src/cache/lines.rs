//! The lines of a body that comes in pieces, which are cut anywhere: a watch over HTTP sends one event in each.

/// A line without its end, or the number of its bytes where it has too many.
pub type Line<'a> = Result<&'a [u8], usize>;

/// Puts lines together.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// How many bytes of a line that is too long have come.
    dropped: usize,
}

impl Lines {
    /// Calls `line` with each line that ends in this piece, without its end; with the number of its bytes where it has more than
    /// `most`. Empty lines are left out. No more than `most` bytes are kept.
    pub fn read(&mut self, piece: &[u8], most: usize, line: &mut dyn FnMut(Line<'_>)) {
        let mut parts = piece.split(|byte| *byte == b'\n');
        // What follows the last end is the beginning of the next line.
        let begun = parts.next_back().unwrap_or_default();
        for part in parts {
            if self.begun.is_empty() && self.dropped == 0 && part.len() <= most {
                if !part.trim_ascii().is_empty() {
                    line(Ok(part));
                }
                continue;
            }
            self.push(part, most);
            match std::mem::take(&mut self.dropped) {
                0 if self.begun.trim_ascii().is_empty() => {}
                0 => line(Ok(&self.begun)),
                dropped => line(Err(dropped)),
            }
            self.wipe();
        }
        self.push(begun, most);
    }

    /// Whether the last line has come to its end: the rest of one is nothing.
    pub fn is_whole(&self) -> bool {
        self.begun.trim_ascii().is_empty() && self.dropped == 0
    }

    fn push(&mut self, part: &[u8], most: usize) {
        if self.dropped == 0 && self.begun.len() + part.len() <= most {
            return self.begun.extend_from_slice(part);
        }
        self.dropped += self.begun.len() + part.len();
        self.wipe();
    }

    /// A line may be a Secret's.
    fn wipe(&mut self) {
        self.begun.fill(0);
        self.begun.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text that comes in pieces of so many bytes.
    fn read(text: &str, bytes: usize, most: usize) -> Vec<String> {
        let (mut lines, mut read) = (Lines::default(), Vec::new());
        for piece in text.as_bytes().chunks(bytes) {
            lines.read(piece, most, &mut |line| {
                read.push(
                    line.map_or_else(
                        |bytes| format!("{bytes} bytes"),
                        |line| String::from_utf8_lossy(line).into_owned(),
                    ),
                );
            });
        }
        read
    }

    #[test]
    fn lines_are_the_same_wherever_they_are_cut() {
        let text = "{\"a\":\"ü\"}\n\n{\"b\":1}\r\n \n{\"long\":\"0123456789\"}\n{\"c\":2}\n{\"not\":";
        for bytes in 1..text.len() + 1 {
            let found = read(text, bytes, 16);
            assert_eq!(found, ["{\"a\":\"ü\"}", "{\"b\":1}\r", "21 bytes", "{\"c\":2}"], "{bytes}");
            let mut lines = Lines::default();
            lines.read(text.as_bytes(), 16, &mut |_| {});
            assert!(!lines.is_whole());
            lines.read(b"7}\n", 16, &mut |line| assert_eq!(line, Ok(&b"{\"not\":7}"[..])));
            assert!(lines.is_whole());
            assert_eq!(read(text, bytes, 1_000)[2], "{\"long\":\"0123456789\"}", "{bytes}");
        }
    }
}
