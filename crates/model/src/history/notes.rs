//! What the user noted, each at a time. It lives as long as the page, and goes into a saved recording.

use kubechurn_changes::note::{Note, kept};

/// The most notes.
const MOST: usize = 1_000;

/// The notes, in the order of their times.
#[derive(Debug, Default)]
pub struct Notes {
    all: Vec<Note>,
    /// The number of the last one that was made.
    last: u64,
    /// Grows with each change.
    revision: u64,
}

impl Notes {
    /// Notes something at a time, in milliseconds. Returns whether it is kept: an empty text is not, and neither is one that is too
    /// many.
    pub fn add(&mut self, at: f64, text: &str) -> bool {
        let Some(text) = kept(text).filter(|_| self.all.len() < MOST) else { return false };
        self.last += 1;
        self.revision += 1;
        let place = self.all.partition_point(|note| note.at <= at);
        self.all.insert(place, Note { id: self.last, at, text });
        true
    }

    /// Has a note have another text. An empty one removes it.
    pub fn change(&mut self, id: u64, text: &str) {
        self.revision += 1;
        match kept(text) {
            Some(text) => self.all.iter_mut().filter(|note| note.id == id).for_each(|note| note.text = text.clone()),
            None => self.all.retain(|note| note.id != id),
        }
    }

    /// A note, by its number.
    pub fn get(&self, id: u64) -> Option<&Note> {
        self.all.iter().find(|note| note.id == id)
    }

    /// All of them.
    pub fn all(&self) -> &[Note] {
        &self.all
    }

    /// Another number whenever they are others.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}
