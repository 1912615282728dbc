//! Which files of a recording are looked at, which blocks of them, and how everything was before these.

use std::fs::File;
use std::io::{self, Cursor, Write};
use std::path::PathBuf;

use kubechurn_recording::native::{self, FileWriter};
use kubechurn_recording::places::{Looked, Place, Places};
use kubechurn_recording::{Block, Line, Newest, Refusal, member};

/// A file of which something is looked at.
#[derive(Debug)]
pub struct LookedFile {
    pub path: PathBuf,
    pub places: Places<File>,
    pub looked: Looked,
    /// How everything was before the blocks, where there are blocks before them.
    pub newest: Option<Newest>,
}

/// The files in which something is of the time between these, in milliseconds since 1970. What is no recording is left out. Each file
/// has everything that is known at its beginning, so that only of the first one a beginning is left out.
///
/// # Errors
/// When one of them cannot be read.
pub fn files(paths: Vec<PathBuf>, from: Option<f64>, to: Option<f64>) -> io::Result<Vec<LookedFile>> {
    let mut found = Vec::new();
    for path in paths {
        let mut places = Places::new(File::open(&path)?)?;
        if let Some(begins) = places.begins()? {
            found.push((path, places, begins));
        }
    }
    let first = from.and_then(|from| found.iter().rposition(|(.., begins)| *begins <= from));
    found.drain(..first.unwrap_or(0));
    let mut all = Vec::with_capacity(found.len());
    for (path, mut places, _) in found {
        let looked = places.looked(from.filter(|_| all.is_empty()), to)?;
        let mut file = LookedFile { path, places, looked, newest: None };
        if !file.looked.before.is_empty() {
            match file.places.newest(&file.looked.before)? {
                Ok(newest) => file.newest = Some(newest),
                // Whoever reads it from its beginning hears what is wrong with it.
                Err(_) => file.looked = Looked { why: file.looked.why, ..file.places.looked(None, to)? },
            }
        }
        all.push(file);
    }
    Ok(all)
}

impl LookedFile {
    /// Says in words that the index is not used, where it is wrong.
    pub fn warn(&self) {
        if let Some(why) = self.looked.why {
            // Whoever does not read what is said here gets the same blocks.
            let _ = writeln!(io::stderr(), "kubechurn: the index of {} is not used: {why}.", self.path.display());
        }
    }

    /// A block with how everything was before those that are looked at, with which a file begins that has no others.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn beginning(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (Some(newest), Some(first)) = (&self.newest, self.looked.blocks.first()) else { return Ok(None) };
        let start = self.places.bytes(0, native::BEGINNING as u64)?;
        let Ok((begins, header)) = native::header(&start) else { return Ok(None) };
        let mut file = FileWriter::new(header, Cursor::new(Vec::new()));
        let at = first.from.unwrap_or(begins);
        newest.beginning().next(usize::MAX, |line| file.push(at, line))?;
        Ok(Some(file.finish_blocks()?.into_inner()))
    }

    /// The bytes of a block, as far as they are written.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn member(&mut self, place: &Place) -> io::Result<Vec<u8>> {
        self.places.bytes(place.at, place.end - place.at)
    }

    /// Calls `each` with the lines of the blocks.
    ///
    /// # Errors
    /// When the file cannot be read; or a line of it, with the number of the block from 1.
    pub fn lines(&mut self, each: &mut dyn FnMut(f64, &Line<'_>)) -> io::Result<Result<(), (usize, Refusal)>> {
        for (number, place) in (self.looked.first + 1..).zip(self.looked.blocks.clone()) {
            let member = self.member(&place)?;
            if place.at == 0 && !member::is_gzip(&member) {
                return Ok(native::read(&member, |_, _| {}));
            }
            let text = match native::unpacked(&member) {
                Ok(text) => text,
                Err(reason) => return Ok(Err((number, Refusal { line: 1, reason: reason.to_owned() }))),
            };
            let mut block = Block::default();
            loop {
                match block.next(&text) {
                    Ok(Some((at, line))) => each(at, &line),
                    Ok(None) => break,
                    Err(refusal) => return Ok(Err((number, refusal))),
                }
            }
        }
        Ok(Ok(()))
    }
}
