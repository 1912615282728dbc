//! Recordings that the browser keeps, in the private file system of the page's origin.
//!
//! Each recording has a folder of its own. A file in it is written once, and never changed: a browser has what was written of a file
//! only when the file is closed, and to write more into one it copies all of it. So the lines of the block that is being written are
//! in a small file for each second or so, a *part*. When the block is complete, it is compressed into one file, and its parts are
//! removed, the first one first. A tab that is killed leaves the file that was not closed, which is empty: so a part loses only its own
//! lines, and the file of a block counts from when its first part is gone.

use kubechurn_client::api::sort::sort;
use kubechurn_recording::{Block, Header, Line};

/// The folder in which the folders of the recordings are.
pub const FOLDER: &str = "kubechurn";
/// The file of a recording that has its first line: what it is, and since when.
pub const ABOUT: &str = "about";

/// Something that is to be done with the recordings that the browser keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepCommand {
    /// Keep what the page has and receives from now on, or do so no longer.
    Toggle,
    /// Go on after a reload of the tab, or do not.
    GoOn,
    /// Show what is kept.
    List,
    /// Show it no longer.
    Close,
    /// Open the recording in this folder.
    Open(String),
    /// Hand it to the browser as a file.
    Download(String),
    /// Ask whether it is to be deleted; and delete it, where that was asked.
    Delete(String),
}

/// What is to be done in the private file system.
#[derive(Debug)]
pub enum DiskRequest {
    /// Write a part of a block. For the very first one the folder is made, with [`ABOUT`], and other tabs see that it is in use; for
    /// all others it must be there.
    Write {
        /// The folder.
        id: String,
        /// The numbers of the block and of the part in it.
        place: (u32, u32),
        /// The lines; for none nothing is written.
        lines: Vec<u8>,
        /// Whether the block is complete, and to be compressed into one file in place of its parts.
        is_last: bool,
    },
    /// The recording is complete, and no longer in use.
    End(String),
    /// Find what there is.
    List,
    /// Delete the folder of a recording.
    Delete(String),
    /// Hand a recording to the browser as a file of this name.
    Download(String, String),
}

/// What came of it.
#[derive(Debug)]
pub enum DiskAnswer {
    /// It was done, and so many bytes were written: those of the part, or of the whole block.
    Done(f64),
    /// What there is.
    Listed(Listed),
}

/// What there is in the private file system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The recordings.
    pub all: Vec<Kept>,
    /// How many bytes the browser gives all pages of the origin, if it says so.
    pub room: Option<f64>,
}

/// A recording that is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Its folder.
    pub id: String,
    /// Its first line.
    pub about: String,
    /// When it was last written, by the wall clock, in milliseconds.
    pub to: f64,
    /// How many bytes it takes.
    pub bytes: f64,
    /// Whether a tab is writing it.
    pub is_in_use: bool,
}

impl Kept {
    /// When it begins, in milliseconds, and what it says of itself; `None` where the line is none.
    pub fn header(&self) -> Option<(f64, Header)> {
        match Block::default().next(&self.about) {
            Ok(Some((at, Line::Header(header)))) => Some((at, header)),
            _ => None,
        }
    }
}

/// Why something could not be done: the exception's name, as browsers have it, and its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskFailure {
    /// The name.
    pub name: String,
    /// The words.
    pub words: String,
}

impl DiskFailure {
    /// What happened, as the end of a sentence.
    pub fn reason(&self) -> String {
        let words = match &*self.name {
            "QuotaExceededError" => "the browser has no more room for pages of this address",
            "NotFoundError" => "it is not there any more, because another tab deleted it, or the browser did",
            "SecurityError" => {
                "this browser keeps no files for this page, as in a private window, or at an address without https that is \
                 not this machine"
            }
            "NotSupportedError" => "this browser does not let a page write files of its own (createWritable)",
            name => return format!("the browser's disk failed ({name}: {})", self.words.trim_end_matches('.')),
        };
        words.to_owned()
    }

    /// What the user can do, as a sentence.
    pub fn advice(&self) -> &'static str {
        match &*self.name {
            "QuotaExceededError" => "Delete something of what is kept, or save the recording as a file.",
            "NotFoundError" => "Switch it on again, to begin anew.",
            "SecurityError" | "NotSupportedError" => "Save the recording as a file.",
            _ => "Switch it on again, or save the recording as a file.",
        }
    }
}

/// What the file of a part is called.
pub fn part_name((block, part): (u32, u32)) -> String {
    format!("{block:06}-{part:06}")
}

/// What the file of a whole block is called.
pub fn block_name(block: u32) -> String {
    format!("{block:06}")
}

/// A block of a recording, as it is in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A file that has all of it, compressed.
    Block(String),
    /// Files that have its lines, one after the other.
    Parts(Vec<String>),
}

/// The number that a block, or a part, has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: u32,
    /// `None` for the file of a whole block.
    part: Option<u32>,
}

impl Place {
    fn name(self) -> String {
        match self.part {
            Some(part) => part_name((self.block, part)),
            None => block_name(self.block),
        }
    }

    /// The place of the file that is called so.
    fn named(name: &str) -> Option<Place> {
        let place = match name.split_once('-') {
            Some((block, part)) => Place { block: block.parse().ok()?, part: Some(part.parse().ok()?) },
            None => Place { block: name.parse().ok()?, part: None },
        };
        Some(place).filter(|place| place.name() == name)
    }
}

/// The first of these lines, which is what [`ABOUT`] has.
pub fn first_line(lines: &[u8]) -> &[u8] {
    lines.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// The files of a recording in the order in which they are read, from the names of all files in its folder. Where a block has its
/// first part, its parts are read: its own file may not have been closed. Parts behind one that is missing are left out, and so are
/// blocks behind one of which nothing is there: they may be edits of what is missing.
pub fn pieces<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Piece> {
    let mut places: Vec<Place> = names.filter_map(Place::named).collect();
    sort(&mut places);
    let mut pieces: Vec<Piece> = Vec::new();
    for place in places {
        let (block, count) = (place.block as usize, pieces.len());
        match (place.part, pieces.last_mut()) {
            (None, _) if block == count => pieces.push(Piece::Block(place.name())),
            (Some(0), _) if block == count => pieces.push(Piece::Parts(vec![place.name()])),
            (Some(0), Some(own @ Piece::Block(_))) if block + 1 == count => *own = Piece::Parts(vec![place.name()]),
            (Some(part), Some(Piece::Parts(parts))) if block + 1 == count && part as usize == parts.len() => {
                parts.push(place.name());
            }
            _ => {}
        }
    }
    pieces
}

/// What is shown of a recording that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptItem {
    /// Its folder.
    pub id: String,
    /// Its title, or where it is from.
    pub title: String,
    /// From when to when.
    pub time: String,
    /// How large it is.
    pub size: String,
    /// Whether a tab is writing it, so that it cannot be deleted.
    pub is_in_use: bool,
    /// Whether the user is asked to delete it.
    pub is_asked: bool,
}

/// What is shown of all that is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptModel {
    /// Whether what this page receives is kept.
    pub is_on: bool,
    /// Whether it goes on after a reload of the tab.
    pub goes_on: bool,
    /// Whether a recording is shown, of which nothing is kept.
    pub is_recording: bool,
    /// What is being done, in words.
    pub state: String,
    /// What came of the last command, or why nothing is kept any more.
    pub said: String,
    /// The recordings, the newest first.
    pub items: Vec<KeptItem>,
    /// How much they are, in words.
    pub total: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<Piece> {
        pieces(names.iter().copied())
    }

    #[test]
    fn files_are_read_in_the_order_in_which_they_were_written() {
        let part = |place| part_name(place);
        let all = ["000001-000002", "000001-000000", "about", "000000", "000001-000001"];
        let parts = Piece::Parts(vec![part((1, 0)), part((1, 1)), part((1, 2))]);
        assert_eq!(names(&all), [Piece::Block(block_name(0)), parts.clone()]);
        // A block that could not be compressed, one whose file may not be whole, and one whose parts are being removed.
        let all = ["000000-000000", "000001", "000001-000000", "000001-000001", "000002", "000002-000001"];
        let [first, second] = [vec![part((0, 0))], vec![part((1, 0)), part((1, 1))]].map(Piece::Parts);
        assert_eq!(names(&all), [first, second, Piece::Block(block_name(2))]);
        // More than a million are read all the same.
        assert_eq!(part((1_234_567, 0)), "1234567-000000");
    }

    #[test]
    fn nothing_is_read_behind_what_is_missing_and_strange_names_are_none() {
        let begins = Piece::Parts(vec![part_name((0, 0))]);
        assert_eq!(names(&["000000-000000", "000000-000002"]), std::slice::from_ref(&begins));
        assert_eq!(names(&["000000-000000", "000002"]), [begins]);
        assert_eq!(names(&["000001", "000000-000001"]), []);
        assert_eq!(
            names(&["", "-", "-1", "0-", "+1", "0", "+00000", "000000.crswap", "..", "4294967296", "٣", "000000-٣"]),
            []
        );
    }
}
