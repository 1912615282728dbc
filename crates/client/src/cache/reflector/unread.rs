//! The items of a list that could not be read, and what of them is known all the same.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::api::object::{ObjectKey, key_of};

/// Of so many items of a list it is told one by one what was wrong.
const TOLD: usize = 10;

/// The items of a list that could not be read. A list without them is complete; in one with them, what is not named may
/// be there all the same.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    /// Those that have a name that can be read, and what was wrong with them.
    named: HashMap<ObjectKey, Box<str>, FxBuildHasher>,
    /// How many there are, those without a name included.
    count: usize,
    unnamed: usize,
}

impl Unread {
    /// An item that could not be read, for this reason. What is to be told of it, if anything.
    pub(super) fn push(&mut self, item: &str, words: &str) -> Option<String> {
        self.count += 1;
        match key_of(item) {
            Some(key) => drop(self.named.insert(key, words.into())),
            None => self.unnamed += 1,
        }
        (self.count <= TOLD).then(|| format!("an item of the list: {words}"))
    }

    /// What is to be told of those of which nothing was told.
    pub(super) fn rest(&self) -> Option<String> {
        let more = self.count.checked_sub(TOLD).filter(|more| *more > 0)?;
        Some(format!("{more} more items of the list"))
    }

    /// Of what could be read all the same nothing is in doubt.
    pub(super) fn forget(&mut self, has: impl Fn(&ObjectKey) -> bool) {
        self.named.retain(|key, _| !has(key));
    }

    /// The objects whose newest state could not be read, and why.
    pub fn named(&self) -> impl Iterator<Item = (&ObjectKey, &str)> {
        self.named.iter().map(|(key, words)| (key, &**words))
    }

    /// Whether the list names this object, without a state that can be read.
    pub fn names(&self, key: &ObjectKey) -> bool {
        self.named.contains_key(key)
    }

    /// How many items not even a name could be read of: any object that the list does not name may be one of them.
    pub fn unnamed(&self) -> usize {
        self.unnamed
    }

    /// How many items could not be read.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether every item could be read.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
