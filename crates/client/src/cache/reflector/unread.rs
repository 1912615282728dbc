//! The items of a list that could not be read, and what is known of them all the same.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::api::object::ObjectKey;

/// This many items of a list have a notice each.
const NOTICES: usize = 10;

/// The items of a list that could not be read. Where there are some, an object that the list does not name may exist
/// all the same.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    /// The items whose name could be read, and what was wrong with them.
    named: HashMap<ObjectKey, Box<str>, FxBuildHasher>,
    /// How many items could not be read, with or without a name.
    count: usize,
    /// How many of them have no name that could be read.
    unnamed: usize,
}

impl Unread {
    /// Takes in an item that could not be read, for this reason; `key` is its name, where that could be read. Returns
    /// the words of a notice, if there is to be one.
    pub(super) fn push(&mut self, key: Option<ObjectKey>, words: &str) -> Option<String> {
        self.count += 1;
        match key {
            Some(key) => drop(self.named.insert(key, words.into())),
            None => self.unnamed += 1,
        }
        (self.count <= NOTICES).then(|| format!("an item of the list: {words}"))
    }

    /// The words of the notice of all items that have none of their own ([`Unread::push`]).
    pub(super) fn rest(&self) -> Option<String> {
        let more = self.count.checked_sub(NOTICES).filter(|more| *more > 0)?;
        Some(format!("{more} more items of the list"))
    }

    /// Leaves out the objects that another item of the list shows (`has`): nothing is in doubt of them.
    pub(super) fn forget(&mut self, has: impl Fn(&ObjectKey) -> bool) {
        self.named.retain(|key, _| !has(key));
    }

    /// The objects whose newest state could not be read, and why.
    pub fn named(&self) -> impl Iterator<Item = (&ObjectKey, &str)> {
        self.named.iter().map(|(key, words)| (key, &**words))
    }

    /// Returns whether the list names this object, without a state that can be read.
    pub fn names(&self, key: &ObjectKey) -> bool {
        self.named.contains_key(key)
    }

    /// Returns how many items there are of which not even the name could be read. Any object that the list does not
    /// name may be one of them.
    pub fn unnamed(&self) -> usize {
        self.unnamed
    }

    /// Returns how many items could not be read.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether every item could be read.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
