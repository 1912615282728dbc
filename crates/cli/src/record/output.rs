//! Where a recording goes: into one file, into the files of a folder, or, as lines of changes, to the terminal.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kubechurn_recording::native::FileWriter;
use kubechurn_recording::{Header, Line, Newest, Step};

use super::folder::Folder;
use crate::args::Limits;

/// How long after a failure it is tried again to write into a folder, in milliseconds.
const AGAIN: f64 = 5_000.0;
/// How often is looked whether files are to be removed, in milliseconds.
const OFTEN: f64 = 10_000.0;
/// A file of a folder has at most one part of so many of all that the folder may have.
const PARTS: u64 = 4;

/// A file that is being written.
struct Writing {
    path: PathBuf,
    writer: FileWriter<File>,
    /// The same file, of which the length is asked.
    length: File,
    /// When it began, in milliseconds since 1970.
    began: f64,
    /// How many bytes its beginning took.
    beginning: u64,
}

impl Writing {
    fn new(path: PathBuf, file: File, header: &Header, began: f64) -> io::Result<Writing> {
        let length = file.try_clone()?;
        Ok(Writing { path, writer: FileWriter::new(header.clone(), file), length, began, beginning: 0 })
    }

    fn bytes(&self) -> u64 {
        self.length.metadata().map_or(0, |known| known.len())
    }
}

/// What is particular to a folder.
struct Rolling {
    folder: Folder,
    limits: Limits,
    /// When is looked for files to be removed, in milliseconds since 1970.
    look_at: f64,
    /// When it is tried again to write.
    again_at: f64,
    /// Until when everything was written that came, where it is not any more.
    written: Option<f64>,
}

/// A recording that is being written.
pub struct Output {
    header: Header,
    /// `None` once it has ended, or as long as nothing can be written.
    file: Option<Writing>,
    rolling: Option<Rolling>,
    /// Whether something came since the last flush.
    is_new: bool,
    /// Why nothing more is written into this file.
    failure: Option<io::Error>,
    /// When everything was written that came, in milliseconds since 1970.
    written: f64,
    /// The bytes of the files before this one.
    before: u64,
}

impl Output {
    /// One file, which begins now, in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(path: &Path, header: Header, now: f64) -> io::Result<Output> {
        let file = Some(Writing::new(path.to_owned(), File::create(path)?, &header, now)?);
        Ok(Output { header, file, rolling: None, is_new: false, failure: None, written: now, before: 0 })
    }

    /// The files of a folder, of which the first begins now, in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be written into.
    pub fn folder(path: &Path, limits: Limits, header: Header, now: f64) -> io::Result<Output> {
        let folder = Folder::open(path)?;
        let (path, file) = folder.create(now)?;
        let file = Some(Writing::new(path, file, &header, now)?);
        let rolling = Some(Rolling { folder, limits, look_at: now, again_at: now, written: None });
        Ok(Output { header, file, rolling, is_new: false, failure: None, written: now, before: 0 })
    }

    /// Whether later files begin with what is newest.
    pub fn rolls(&self) -> bool {
        self.rolling.is_some()
    }

    /// The bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.before + self.file.as_ref().map_or(0, Writing::bytes)
    }

    pub fn push(&mut self, at: f64, line: &Line<'_>) {
        if let (Some(file), None) = (&mut self.file, &self.failure) {
            self.failure = file.writer.push(at, line).err();
            self.is_new = true;
        }
    }

    /// Hands all that came to the system, and begins another file of a folder where one is due. `newest` is what is known now, and
    /// `said` gets what is to be said to the user.
    ///
    /// # Errors
    /// When something cannot be written. Into a single file nothing more is written then.
    pub fn flush(&mut self, now: f64, newest: Option<&Newest>, said: &mut Vec<String>) -> io::Result<()> {
        let flushed = self.flush_file();
        if flushed.is_ok() && self.file.is_some() {
            self.written = now;
        }
        if self.rolling.is_none() {
            return flushed;
        }
        match flushed {
            Ok(()) => self.roll(now, newest, said),
            Err(error) => self.fail(&error, now, said),
        }
        Ok(())
    }

    fn flush_file(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        match &mut self.file {
            // A flush costs some bytes of the file.
            Some(file) if std::mem::take(&mut self.is_new) => file.writer.flush(),
            _ => Ok(()),
        }
    }

    fn roll(&mut self, now: f64, newest: Option<&Newest>, said: &mut Vec<String>) {
        let Some(rolling) = &mut self.rolling else { return };
        let Limits { every, size, keep, max } = rolling.limits;
        let size = max.map_or(size, |max| size.min(max / PARTS));
        // A file that has hardly more than its beginning would be followed by another one at once.
        let is_due = self.file.as_ref().map(|file| {
            let bytes = file.bytes();
            now - file.began >= every.as_secs_f64() * 1e3 || (bytes >= size && bytes >= 2 * file.beginning)
        });
        match is_due {
            Some(true) => {
                let ended = self.end_file();
                let begun = ended.and_then(|()| self.begin(now, newest));
                if let Err(error) = begun {
                    self.fail(&error, now, said);
                }
            }
            None if now >= rolling.again_at => match self.begin(now, newest) {
                Ok(()) => said.push("There is room again: the recording goes on in another file.".to_owned()),
                Err(error) => self.fail(&error, now, said),
            },
            _ => {}
        }
        let Some(rolling) = &mut self.rolling else { return };
        if now >= rolling.look_at || is_due == Some(true) {
            rolling.look_at = now + OFTEN;
            let before = keep.and_then(|keep| SystemTime::now().checked_sub(keep));
            match rolling.folder.prune(self.file.as_ref().map(|file| &*file.path), before, max) {
                Ok(0) => {}
                Ok(1) => said.push("The oldest file was removed.".to_owned()),
                Ok(several) => said.push(format!("The oldest {several} files were removed.")),
                Err(error) => said.push(format!("Old files cannot be removed: {error}.")),
            }
        }
    }

    /// Begins another file of the folder with what is newest.
    fn begin(&mut self, now: f64, newest: Option<&Newest>) -> io::Result<()> {
        let (Some(rolling), Some(newest)) = (&self.rolling, newest) else { return Ok(()) };
        let (path, file) = rolling.folder.create(now)?;
        let begun = Writing::new(path.clone(), file, &self.header, now).and_then(|mut file| {
            newest.begin(|line| file.writer.push(now, line))?;
            if let Some(since) = rolling.written {
                let gap = || Step::Gap(since, "nothing could be written".to_owned());
                newest.listed().try_for_each(|watch| file.writer.push(now, &Line::Step(watch, gap())))?;
            }
            file.writer.flush()?;
            file.beginning = file.bytes();
            Ok(file)
        });
        match begun {
            Ok(file) => self.file = Some(file),
            Err(error) => {
                // It has nothing that the file before it lacks, and is tried again.
                std::fs::remove_file(&path)?;
                return Err(error);
            }
        }
        if let Some(rolling) = &mut self.rolling {
            rolling.written = None;
        }
        (self.written, self.is_new) = (now, false);
        Ok(())
    }

    /// Nothing can be written into the folder, for now.
    fn fail(&mut self, error: &io::Error, now: f64, said: &mut Vec<String>) {
        self.before = self.bytes();
        self.file = None;
        let Some(rolling) = &mut self.rolling else { return };
        rolling.again_at = now + AGAIN;
        if rolling.written.is_none() {
            rolling.written = Some(self.written);
            said.push(format!(
                "The recording cannot be written further: {error}. What was written can be read; it is tried again and again, and \
                 what is missing will be a gap."
            ));
        }
    }

    fn end_file(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        let Some(Writing { writer, length, .. }) = self.file.take() else { return Ok(()) };
        let ended = writer.finish().and_then(|file| file.sync_all());
        self.before += length.metadata().map_or(0, |known| known.len());
        ended
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let is_lost = self.rolling.as_ref().is_some_and(|rolling| rolling.written.is_some());
        let ended = self.end_file();
        if is_lost { Err(io::Error::other("there was no room for the rest")) } else { ended }
    }
}
