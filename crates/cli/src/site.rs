//! `kubechurn site`: a folder with the page and recordings, which plays them from any web server.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kubechurn_recording::{Refusal, native};

use crate::args::Site;
use crate::serve::page;

/// The folder of the recordings within the site.
const RECORDINGS: &str = "recordings";

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
    let (mut names, mut offered, mut files) = (BTreeSet::new(), Vec::new(), Vec::new());
    for path in recordings {
        let name = path.file_name().and_then(OsStr::to_str).filter(|name| is_plain(name) && names.insert(*name));
        let name = name.ok_or_else(|| SiteError::Name(path.clone()))?;
        let bytes = fs::read(path).map_err(of(path))?;
        let (_, header) = native::header(&bytes).map_err(|refusal| SiteError::NoRecording(path.clone(), refusal))?;
        let title = if header.title.trim().is_empty() { name.to_owned() } else { header.title };
        offered.push((format!("{RECORDINGS}/{name}"), title));
        files.push((name, bytes));
    }
    let index = page::index().ok_or(SiteError::NoPage)?;
    let index = page::offering(&index, &offered).ok_or(SiteError::NoPage)?;
    let place = folder.join(RECORDINGS);
    fs::create_dir_all(&place).map_err(of(&place))?;
    let page = page::files().filter(|(name, _)| *name != "index.html").map(|(name, text)| (folder.join(name), text));
    let files = files.into_iter().map(|(name, bytes)| (place.join(name), bytes));
    for (path, bytes) in page.chain(files).chain([(folder.join("index.html"), index.into_bytes())]) {
        fs::write(&path, bytes).map_err(of(&path))?;
    }
    Ok(())
}

/// Whether a name can stand in an address as it is, and is no hidden file.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use kubechurn_recording::native::FileWriter;
    use kubechurn_recording::{Header, Line};

    use super::*;

    #[test]
    fn a_site_has_the_recordings_and_what_cannot_be_one_is_refused() {
        let scratch = std::env::temp_dir().join(format!("kubechurn-site-{}", std::process::id()));
        let place = |name: &str| scratch.join(name);
        fs::create_dir_all(place("taken")).expect("a folder");
        let header = Header { title: "a \"title\"".to_owned(), ..Header::default() };
        let mut file = FileWriter::new(header, Cursor::new(Vec::new()));
        file.push(1_000.0, &Line::Note("x")).expect("memory takes it");
        let bytes = file.finish().expect("memory takes it").into_inner();
        for name in ["run.churn", "taken/run.churn", "a b.churn"] {
            fs::write(place(name), &bytes).expect("a file");
        }
        fs::write(place("text.churn"), "hello").expect("a file");
        let site = |folder: &str, names: &[&str]| {
            let recordings = names.iter().map(|name| place(name)).collect();
            run(&Site { folder: place(folder), recordings }).map_err(|error| error.to_string())
        };
        let refused = |folder: &str, names: &[&str], why: &str| {
            let refusal = site(folder, names).expect_err(why);
            assert!(refusal.contains(why), "{refusal}");
        };
        refused("taken", &["run.churn"], "is there already");
        refused("text.churn", &["run.churn"], "is there already");
        refused("new", &["text.churn"], "text.churn is no recording: line 1: it is not compressed by gzip");
        refused("new", &["run.churn", "taken/run.churn"], "the name of each recording must be another one");
        refused("new", &["a b.churn"], "the name of each recording");
        refused("new", &["none.churn"], "No such file");
        assert!(!place("new").exists());
        match page::index() {
            None => refused("new", &["run.churn"], "built without the page"),
            Some(_) => {
                site("new", &["run.churn"]).expect("it is made");
                let index = fs::read_to_string(place("new/index.html")).expect("the page");
                let named = "<meta name=\"recordings\" content=\"recordings/run.churn a &quot;title&quot;\"></head>";
                assert!(index.contains(named), "{index}");
                assert_eq!(fs::read(place("new/recordings/run.churn")).expect("the recording"), bytes);
            }
        }
        fs::remove_dir_all(&scratch).expect("it goes");
    }

    #[test]
    fn names_are_addresses() {
        assert!(["run.churn", "a-b_c.1"].into_iter().all(is_plain));
        assert!(!["", ".", "..", ".churn", "a b", "a/b", "a?b", "ä"].into_iter().any(is_plain));
    }
}
