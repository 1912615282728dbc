//! Items by time, in a heap like that of Go's `container/heap`.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// Items, each with a time and at most once. Of items with the same time, that one comes first which would come first in
/// client-go: it depends on the others in the heap, and is seldom the one that was put in first.
#[derive(Clone, Debug)]
pub(super) struct Heap<T> {
    /// No entry is earlier than the one at half its place.
    entries: Vec<(f64, T)>,
    places: HashMap<T, usize, FxBuildHasher>,
}

impl<T> Default for Heap<T> {
    fn default() -> Self {
        Heap { entries: Vec::new(), places: HashMap::default() }
    }
}

impl<T> Heap<T> {
    /// The earliest time.
    pub(super) fn first(&self) -> Option<f64> {
        self.entries.first().map(|(at, _)| *at)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<T: Clone + Eq + Hash> Heap<T> {
    /// Puts an item in. One that is there already keeps the earlier of the two times.
    pub(super) fn put(&mut self, at: f64, item: T) {
        let place = match self.places.get(&item) {
            Some(&place) if self.entries[place].0 <= at => return,
            Some(&place) => {
                self.entries[place].0 = at;
                place
            }
            None => {
                self.places.insert(item.clone(), self.entries.len());
                self.entries.push((at, item));
                self.entries.len() - 1
            }
        };
        self.up(place);
    }

    /// Takes the earliest item out.
    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.entries.len().checked_sub(1)?;
        self.swap(0, last);
        let (_, item) = self.entries.pop()?;
        self.places.remove(&item);
        self.down();
        Some(item)
    }

    fn is_earlier(&self, one: usize, other: usize) -> bool {
        self.entries[one].0.total_cmp(&self.entries[other].0).is_lt()
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.entries.swap(one, other);
        for place in [one, other] {
            if let Some(known) = self.places.get_mut(&self.entries[place].1) {
                *known = place;
            }
        }
    }

    /// Moves an entry to the front, past those that are later.
    fn up(&mut self, mut place: usize) {
        while place > 0 && self.is_earlier(place, (place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    /// Moves the first entry to the back, past those that are earlier.
    fn down(&mut self) {
        let (mut place, count) = (0, self.entries.len());
        while 2 * place + 1 < count {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let next = if right < count && self.is_earlier(right, left) { right } else { left };
            if !self.is_earlier(next, place) {
                return;
            }
            self.swap(place, next);
            place = next;
        }
    }
}
