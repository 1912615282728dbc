//! A recording beside the page: a file, or the files of a folder as one, of which a page fetches no more than it is to show.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, StreamExt};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use kubechurn_recording::places::Places;
use kubechurn_recording::{member, native};

use crate::looked::{self, LookedFile};
use crate::record::folder;

/// How many bytes are read at once.
const PIECE: u64 = 256 << 10;

/// A recording that is served.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// The name by which it is served.
    pub name: String,
    /// The time that is shown, in milliseconds since 1970: files and blocks that end before it or begin after it are left out.
    from: Option<f64>,
    to: Option<f64>,
    beginning: Mutex<Option<Beginning>>,
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
    /// What is not in a file as it is served: how everything was before the first block, and a block that was not written to its end.
    Made(Bytes),
}

impl Part {
    fn bytes(&self) -> u64 {
        match self {
            Self::Blocks { from, to, .. } => to - from,
            Self::Made(bytes) => bytes.len() as u64,
        }
    }
}

/// How everything was before a block, which is found once: the file, and the byte at which the block begins.
type Beginning = ((PathBuf, u64), Bytes);

impl Recording {
    /// The recording that a file is, or a folder of files. The times are in milliseconds since 1970.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(path: PathBuf, from: Option<f64>, to: Option<f64>) -> Result<Recording, RecordingError> {
        let name = path.file_stem().map_or_else(|| "recording".into(), |name| name.to_string_lossy());
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let recording = Recording { name: name + ".churn", path, from, to, beginning: Mutex::default() };
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
        let begins = |file: &PathBuf| Places::new(File::open(file).ok()?).ok()?.begins().ok()?;
        let begins = files.iter().find_map(begins)?;
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
        let mut parts = Vec::new();
        for mut file in looked::files(self.files()?, self.from, self.to)? {
            parts.extend(self.beginning(&mut file)?.map(Part::Made));
            for place in file.looked.blocks.clone() {
                match parts.last_mut() {
                    _ if !place.is_whole => {
                        let bytes = packed(&file.member(&place)?)?;
                        parts.extend((!bytes.is_empty()).then(|| Part::Made(bytes.into())));
                    }
                    Some(Part::Blocks { file: path, to, .. }) if *path == file.path && *to == place.at => {
                        *to = place.end
                    }
                    _ => parts.push(Part::Blocks { file: file.path.clone(), from: place.at, to: place.end }),
                }
            }
        }
        Ok(parts)
    }

    /// How everything was before the blocks of a file that are looked at.
    fn beginning(&self, file: &mut LookedFile) -> io::Result<Option<Bytes>> {
        let Some(first) = file.looked.blocks.first().filter(|_| file.newest.is_some()) else { return Ok(None) };
        let of = (file.path.clone(), first.at);
        let mut known = self.beginning.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = known.as_ref().filter(|(known, _)| *known == of) {
            return Ok(Some(bytes.clone()));
        }
        file.warn();
        let made = file.beginning()?.map(Bytes::from);
        *known = made.clone().map(|bytes| (of, bytes));
        Ok(made)
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
        Part::Made(bytes) => Some((Ok(bytes), None)),
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
