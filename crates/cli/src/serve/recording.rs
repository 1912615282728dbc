//! A recording beside the page: a file, or the files of a folder as one, of which a page fetches no more than it is to show.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, StreamExt};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use kubechurn_recording::{member, native};

use crate::record::folder;

/// How many bytes are read at once.
const PIECE: u64 = 256 << 10;

/// A recording that is served.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// The name by which it is served.
    pub name: String,
    /// The time that is shown, in milliseconds since 1970: files that end before it, and blocks that begin after it, are left out.
    from: Option<f64>,
    to: Option<f64>,
}

/// Why a recording cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{0} cannot be read: {1}")]
    Read(PathBuf, #[source] io::Error),
    #[error("{0} has no recording of that time, or none at all")]
    None(PathBuf),
}

/// A part of what is served.
#[derive(Debug, PartialEq)]
enum Part {
    /// Whole blocks of a file.
    Blocks { file: PathBuf, from: u64, to: u64 },
    /// A block that was not written to its end, as far as it goes.
    Last(Vec<u8>),
}

impl Part {
    fn bytes(&self) -> u64 {
        match self {
            Self::Blocks { from, to, .. } => to - from,
            Self::Last(bytes) => bytes.len() as u64,
        }
    }
}

/// A block of a file.
struct Found {
    at: u64,
    end: u64,
    /// Whether its end is known to be written.
    is_whole: bool,
    /// When it begins, in milliseconds since 1970; `None` where that cannot be read.
    begins: Option<f64>,
}

impl Recording {
    /// The recording that a file is, or a folder of files. The times are in milliseconds since 1970.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(path: PathBuf, from: Option<f64>, to: Option<f64>) -> Result<Recording, RecordingError> {
        let name = path.file_stem().map_or_else(|| "recording".into(), |name| name.to_string_lossy());
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let recording = Recording { name: name + ".churn", path, from, to };
        match recording.parts() {
            Ok(parts) if parts.is_empty() => Err(RecordingError::None(recording.path)),
            Ok(_) => Ok(recording),
            Err(error) => Err(RecordingError::Read(recording.path, error)),
        }
    }

    /// Its address below the page.
    pub fn address(&self) -> String {
        format!("recordings/{}", self.name)
    }

    /// Its address below the page, and a title that says of which time it is; `None` where that cannot be read.
    pub fn offer(&self) -> Option<(String, String)> {
        let files = self.files().ok()?;
        let begins = files.iter().find_map(|file| blocks(file).ok()?.first()?.begins)?;
        let ended = files.iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok()).max()?;
        let begins = Timestamp::from_millisecond(begins as i64).ok()?;
        let zoned = |time: Timestamp| time.to_zoned(TimeZone::system());
        let title = title(&zoned(begins), &zoned(Timestamp::try_from(ended).ok()?), &Zoned::now());
        Some((self.address(), title))
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        if self.path.is_dir() { folder::files(&self.path) } else { Ok(vec![self.path.clone()]) }
    }

    /// The answer with the recording as it is now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn answer(&self) -> io::Result<Response> {
        let parts = self.parts()?;
        let length: u64 = parts.iter().map(Part::bytes).sum();
        let pieces = stream::iter(parts).flat_map(|part| {
            stream::unfold(Some(part), |part| async move {
                let read = tokio::task::spawn_blocking(move || read(part?)).await;
                read.unwrap_or_else(|error| Some((Err(io::Error::other(error)), None)))
            })
        });
        let mut response = Response::new(Body::from_stream(pieces));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        Ok(response)
    }

    fn parts(&self) -> io::Result<Vec<Part>> {
        let mut files = self
            .files()?
            .into_iter()
            .map(|file| blocks(&file).map(|blocks| (file, blocks)))
            .filter(|found| {
                found.as_ref().map_or(true, |(_, blocks)| blocks.first().is_some_and(|one| one.begins.is_some()))
            })
            .collect::<io::Result<Vec<_>>>()?;
        // A file has everything that is known at its beginning.
        let is_before = |begins: Option<f64>| begins.zip(self.from).is_some_and(|(begins, from)| begins <= from);
        let first = files.iter().rposition(|(_, blocks)| is_before(blocks.first().and_then(|one| one.begins)));
        files.drain(..first.unwrap_or(0));
        let mut parts = Vec::new();
        for (file, blocks) in files {
            let is_after = |one: &Found| one.begins.zip(self.to).is_some_and(|(begins, to)| begins > to);
            let blocks: Vec<Found> = blocks.into_iter().take_while(|one| !is_after(one)).collect();
            let (last, whole) = match blocks.split_last() {
                Some((last, whole)) if !last.is_whole => (Some(last), whole),
                _ => (None, &blocks[..]),
            };
            if let (Some(first), Some(end)) = (whole.first(), whole.last()) {
                parts.push(Part::Blocks { file: file.clone(), from: first.at, to: end.end });
            }
            if let Some(last) = last {
                let bytes = packed(&bytes(&mut File::open(&file)?, last.at, last.end - last.at)?)?;
                parts.extend((!bytes.is_empty()).then_some(Part::Last(bytes)));
            }
        }
        Ok(parts)
    }
}

/// What a recording is called that is of this time, by the clock of this machine.
fn title(begins: &Zoned, ends: &Zoned, now: &Zoned) -> String {
    let day = |time: &Zoned| match now.date() {
        today if time.date() == today => "today".to_owned(),
        today if today.yesterday().is_ok_and(|yesterday| time.date() == yesterday) => "yesterday".to_owned(),
        _ => time.date().to_string(),
    };
    let to = if begins.date() == ends.date() { String::new() } else { day(ends) + " " };
    format!("earlier: {} {} to {to}{}", day(begins), begins.strftime("%H:%M"), ends.strftime("%H:%M"))
}

/// The blocks of a file, without reading them.
fn blocks(path: &Path) -> io::Result<Vec<Found>> {
    let mut file = File::open(path)?;
    let all = file.metadata()?.len();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < all {
        let start = bytes(&mut file, at, native::BEGINNING as u64)?;
        let length = member::length(&start).map(|length| at + length as u64).filter(|end| *end <= all);
        let begins = native::header(&start).ok().map(|(begins, _)| begins);
        found.push(Found { at, end: length.unwrap_or(all), is_whole: length.is_some(), begins });
        at = length.unwrap_or(all);
    }
    Ok(found)
}

/// A block that was not written to its end as one that was, so that others can follow it.
fn packed(block: &[u8]) -> io::Result<Vec<u8>> {
    let text = native::unpacked(block).unwrap_or_default();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes())?;
    Ok(member::framed(&encoder.finish()?).unwrap_or_default())
}

fn bytes(file: &mut File, at: u64, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The next bytes of a part, and what is left of it.
fn read(part: Part) -> Option<(io::Result<Bytes>, Option<Part>)> {
    match part {
        Part::Last(bytes) => Some((Ok(bytes.into()), None)),
        Part::Blocks { from, to, .. } if from >= to => None,
        Part::Blocks { file, from, to } => {
            let count = PIECE.min(to - from);
            let read = File::open(&file).and_then(|mut open| bytes(&mut open, from, count));
            let read = read.and_then(|bytes| match bytes.len() as u64 == count {
                true => Ok(bytes.into()),
                false => Err(io::Error::other("the file became shorter")),
            });
            let rest = read.is_ok().then_some(Part::Blocks { file, from: from + count, to });
            Some((read, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_of_which_time_it_is() {
        let at = |text: &str| -> Zoned { format!("{text}[UTC]").parse().expect("a time") };
        let now = at("2026-11-27T15:00:00Z");
        let check = |from: &str, to: &str, expected: &str| assert_eq!(title(&at(from), &at(to), &now), expected);
        check("2026-11-27T09:00:10Z", "2026-11-27T12:40:50Z", "earlier: today 09:00 to 12:40");
        check("2026-11-26T23:10:00Z", "2026-11-27T00:05:00Z", "earlier: yesterday 23:10 to today 00:05");
        check("2026-11-20T23:10:00Z", "2026-11-20T23:50:00Z", "earlier: 2026-11-20 23:10 to 23:50");
    }
}
