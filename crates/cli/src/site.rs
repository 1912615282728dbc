//! `kubechurn site`: a folder with the page and recordings, which plays them from any web server.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kubechurn_recording::{Block, Line, Refusal, member, native};

use crate::args::Site;
use crate::serve::page;

/// The folder of the recordings within the site.
const RECORDINGS: &str = "recordings";
const END_OF_HEAD: &str = "</head>";

/// Why no site was made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A site is only ever made anew.
    #[error("{} is there already: name a folder that is new, or empty", .0.display())]
    Exists(PathBuf),
    /// The page is not in the program.
    #[error(
        "this program was built without the page: set KUBECHURN_PAGE to the folder of the built page, and build it again"
    )]
    NoPage,
    /// A file is no recording.
    #[error("{} is no recording: {}", .0.display(), .1)]
    NoRecording(PathBuf, Refusal),
    /// Two files would have one address, or a file has no name that can be one.
    #[error("{}: the name of each recording must be another one, of letters, digits, dots, - and _", .0.display())]
    Name(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
}

/// Makes the site.
///
/// # Errors
///
/// When it cannot be made. What was written by then stays.
pub fn run(Site { folder, recordings }: &Site) -> Result<(), SiteError> {
    let of = |path: &Path| {
        let path = path.to_owned();
        move |error| SiteError::File(path, error)
    };
    let is_taken = fs::read_dir(folder).map_or_else(|_| folder.exists(), |mut entries| entries.next().is_some());
    if is_taken {
        return Err(SiteError::Exists(folder.clone()));
    }
    let (mut names, mut offered, mut files) = (BTreeSet::new(), String::new(), Vec::new());
    for path in recordings {
        let name = path.file_name().and_then(OsStr::to_str).filter(|name| is_plain(name) && names.insert(*name));
        let name = name.ok_or_else(|| SiteError::Name(path.clone()))?;
        let bytes = fs::read(path).map_err(of(path))?;
        let title = title(&bytes).map_err(|refusal| SiteError::NoRecording(path.clone(), refusal))?;
        let title = if title.trim().is_empty() { name.to_owned() } else { title };
        offered.push_str(&format!("{RECORDINGS}/{name} {}\n", attribute(&title)));
        files.push((name, bytes));
    }
    let index = page::index().ok_or(SiteError::NoPage)?;
    let (before, after) = index.split_once(END_OF_HEAD).ok_or(SiteError::NoPage)?;
    let index = format!("{before}<meta name=\"recordings\" content=\"{}\">{END_OF_HEAD}{after}", offered.trim_end());
    let place = folder.join(RECORDINGS);
    fs::create_dir_all(&place).map_err(of(&place))?;
    let page = page::files().filter(|(name, _)| *name != "index.html").map(|(name, text)| (folder.join(name), text));
    let files = files.into_iter().map(|(name, bytes)| (place.join(name), bytes));
    for (path, bytes) in page.chain(files).chain([(folder.join("index.html"), index.into_bytes())]) {
        fs::write(&path, bytes).map_err(of(&path))?;
    }
    Ok(())
}

/// The title of a recording.
fn title(file: &[u8]) -> Result<String, Refusal> {
    let refused = |reason: &str| Refusal { line: 1, reason: reason.to_owned() };
    if !member::is_gzip(file) {
        return Err(refused("it is not compressed by gzip, as a recording is"));
    }
    let first = member::members(file).into_iter().next().unwrap_or_default();
    let text = native::unpacked(&file[first]).map_err(refused)?;
    match Block::default().next(&text)? {
        Some((_, Line::Header(header))) => Ok(header.title),
        _ => Err(refused("it breaks off before its first line")),
    }
}

/// Whether a name can stand in an address as it is, and is no hidden file.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// A text on one line, as it may stand in an attribute.
fn attribute(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_leave_its_attribute() {
        assert_eq!(attribute("a \"b\" <c> & d\ne"), "a &quot;b&quot; &lt;c> &amp; d e");
    }

    #[test]
    fn names_are_addresses() {
        assert!(["run.churn", "a-b_c.1"].into_iter().all(is_plain));
        assert!(!["", ".", "..", ".churn", "a b", "a/b", "a?b", "ä"].into_iter().any(is_plain));
    }
}
