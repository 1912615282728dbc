//! A folder with the files of a recording, one after the other. Their names are the times at which they begin, so that they sort.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::GzDecoder;
use kubechurn_client::api::time::Timestamp;
use kubechurn_recording::native;

use super::api::PROGRAM;
use crate::changes::time;

/// The end of each name.
pub const EXTENSION: &str = ".churn";
/// What follows the name of a file whose beginning is not complete.
const PART: &str = ".part";
/// With what a file begins that gzip has written.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A folder that this program alone writes into.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder itself, which is locked as long as it is open.
    _lock: File,
}

/// Whether this names a folder, there or not yet.
pub fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// The files of a folder that have the name of one, in the order of their times.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name().to_str().and_then(begins).is_some() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The name of a file that begins at a time, in milliseconds since 1970: `2026-11-26T13-04-05.678Z.churn`.
fn name(at: f64) -> String {
    time(at).replace(':', "-") + EXTENSION
}

/// When a file of this name begins, in whole seconds since 1970; `None` where it is no name of a file of a folder.
pub fn begins(name: &str) -> Option<i64> {
    let (date, clock) = name.strip_suffix(EXTENSION)?.split_once('T')?;
    let Timestamp(seconds) = Timestamp::parse(&format!("{date}T{}", clock.replace('-', ":")))?;
    (name.len() == self::name(0.0).len()).then_some(seconds)
}

/// Where a file is until its beginning is complete.
fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

/// The first bytes of a file.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(native::BEGINNING as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether this program has written a file, by what its first line says.
fn is_own(path: &Path) -> bool {
    let (own, _) = PROGRAM.split_once('/').unwrap_or((PROGRAM, ""));
    let header = beginning(path).ok().and_then(|bytes| native::header(&bytes).ok());
    header.is_some_and(|(_, header)| header.program.split(' ').next() == Some(own))
}

/// Whether a file breaks off within its first line, as one does in which this program had hardly begun when it was killed.
fn is_torn(path: &Path) -> bool {
    let Ok(bytes) = beginning(path) else { return false };
    let line = BufReader::new(GzDecoder::new(&*bytes)).read_until(b'\n', &mut Vec::new());
    let is_gzip = MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
    bytes.is_empty() || (is_gzip && line.is_err())
}

impl Folder {
    /// Opens a folder to write into, and makes it if it is not there.
    ///
    /// # Errors
    /// When it cannot be made or read, or another program records into it.
    pub fn open(path: &Path) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        let lock = File::open(path)?;
        // A file system that knows no locks refuses nothing.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(io::Error::new(ErrorKind::WouldBlock, "another kubechurn records into it"));
        }
        let folder = Folder { path: path.to_owned(), _lock: lock };
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(PART));
            // Whoever wrote it was killed, and all that it has is in the file before it.
            if name.and_then(begins).is_some() && (is_own(&path) || is_torn(&path)) {
                fs::remove_file(&path)?;
            }
        }
        Ok(folder)
    }

    /// A new file that begins at a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self, at: f64) -> io::Result<(PathBuf, File)> {
        let mut at = at.round();
        loop {
            let path = self.path.join(name(at));
            match File::create_new(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => at += 1.0,
                made => return made.map(|file| (path, file)),
            }
        }
    }

    /// A new file that begins at a time, in milliseconds since 1970, and belongs to the folder once it is [completed](Self::complete).
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(&self, at: f64) -> io::Result<(PathBuf, File)> {
        let mut at = at.round();
        loop {
            let path = self.path.join(name(at));
            if !path.try_exists()? {
                return File::create(part(&path)).map(|file| (path, file));
            }
            at += 1.0;
        }
    }

    /// The file of this path, which was begun, belongs to the folder.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn complete(&self, path: &Path) -> io::Result<()> {
        fs::rename(part(path), path)
    }

    /// The file of this path, which was begun, is not needed.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn give_up(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(part(path))
    }

    /// Removes the oldest files but this one, if there is one: those that were written last before a time, and as many as it takes for all to have at
    /// most so many bytes. Only what this program has written is removed. Returns how many were.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file not be removed.
    pub fn prune(&self, but: Option<&Path>, before: Option<SystemTime>, most: Option<u64>) -> io::Result<usize> {
        let mut all = Vec::new();
        for path in files(&self.path)? {
            let known = fs::metadata(&path)?;
            all.push((path, known.len(), known.modified()?));
        }
        let (mut left, mut removed) = (all.iter().map(|(_, bytes, _)| bytes).sum::<u64>(), 0);
        for (path, bytes, written) in all {
            let is_old = before.is_some_and(|before| written < before);
            if (is_old || most.is_some_and(|most| left > most)) && Some(&*path) != but && is_own(&path) {
                fs::remove_file(&path)?;
                left -= bytes;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_times_and_sort_as_they_do() {
        assert_eq!(name(1_795_693_290_329.0), "2026-11-26T11-41-30.329Z.churn");
        assert_eq!(begins("2026-11-26T11-41-30.329Z.churn"), Some(1_795_693_290));
        for other in
            ["run.churn", "2026-11-26T11-41-30Z.churn", "2026-11-26T11-41-30.329Z", "2026-13-26T11-41-30.329Z.churn"]
        {
            assert_eq!(begins(other), None, "{other}");
        }
    }
}
