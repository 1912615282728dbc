//! The words after `site`.

use std::path::PathBuf;

use lexopt::Parser;

use super::{ArgsError, Command, Word, word_of};

/// What `site --help` prints.
const HELP: &str = "\
kubechurn site FOLDER FILE.churn ...

Makes a folder that any web server can serve, below any address: the page, and recordings that it opens without a cluster.
The page offers them where no API answers, and #/open?url=recordings/FILE.churn opens one. Everything that the recordings
hold can be read by whoever reaches the folder.

  -h, --help              print this
";

/// What a site is made of.
#[derive(Debug, PartialEq)]
pub struct Site {
    /// Where it is made.
    pub folder: PathBuf,
    /// The files of the recordings.
    pub recordings: Vec<PathBuf>,
}

pub(super) fn parse(mut parser: Parser) -> Result<Command, ArgsError> {
    let mut paths = Vec::new();
    while let Some(argument) = parser.next()? {
        match word_of(argument) {
            Word::Flag(name) if name == "--help" => return Ok(Command::Help(HELP)),
            Word::Flag(name) if name == "--version" => return Ok(Command::Version),
            Word::Flag(name) => return Err(ArgsError::Unknown(name)),
            Word::Plain(word) => paths.push(PathBuf::from(word)),
        }
    }
    match paths.split_first() {
        Some((folder, recordings)) if !recordings.is_empty() => {
            Ok(Command::Site(Site { folder: folder.clone(), recordings: recordings.to_vec() }))
        }
        _ => Err(ArgsError::NoSite),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse;

    #[test]
    fn a_folder_and_recordings() {
        let site = |folder: &str, recordings: &[&str]| {
            Ok(Command::Site(Site {
                folder: folder.into(),
                recordings: recordings.iter().map(PathBuf::from).collect(),
            }))
        };
        assert_eq!(parse(["site", "out", "a.churn", "b.churn"]), site("out", &["a.churn", "b.churn"]));
        assert_eq!(parse(["site", "out"]), Err(ArgsError::NoSite));
        assert_eq!(parse(["site", "out", "a.churn", "--port"]), Err(ArgsError::Unknown("--port".to_owned())));
        assert_eq!(parse(["site", "-h"]), Ok(Command::Help(HELP)));
    }
}
