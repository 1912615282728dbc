//! A map that forgets what was used longest ago when it is full.
//!
//! It is made of two maps of the standard library. The crate `lru` would bring a second hash table into the wasm, and a map
//! that keeps the order of insertion would move all entries behind the one that is used.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;

/// The map. Its keys are texts.
#[derive(Clone, Debug)]
pub struct Lru<V> {
    /// Each value and when it was used last, by a count of the uses.
    values: HashMap<String, (V, u64), FxBuildHasher>,
    /// The key of each value, by that count.
    used: BTreeMap<u64, String>,
    uses: u64,
    capacity: usize,
}

impl<V> Lru<V> {
    /// An empty map for `capacity` values, at least one.
    pub fn new(capacity: usize) -> Lru<V> {
        Lru { values: HashMap::default(), used: BTreeMap::new(), uses: 0, capacity: capacity.max(1) }
    }

    /// The value of a key, which counts as used now. If there is none, `make` makes it; if there is no room for it, the value
    /// that was used longest ago is forgotten.
    pub fn entry(&mut self, key: &str, make: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        let uses = self.uses;
        if let Some((_, last)) = self.values.get_mut(key) {
            let key = self.used.remove(last).unwrap_or_else(|| key.to_owned());
            *last = uses;
            self.used.insert(uses, key);
        } else {
            if self.values.len() >= self.capacity
                && let Some((_, oldest)) = self.used.pop_first()
            {
                self.values.remove(&oldest);
            }
            self.used.insert(uses, key.to_owned());
        }
        &mut self.values.entry(key.to_owned()).or_insert_with(|| (make(), uses)).0
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses each key, and writes which were there (`a`) and which had to be made (`+a`).
    fn check(capacity: usize, keys: &str, expected: &str) {
        let mut lru = Lru::new(capacity);
        let mut seen = Vec::new();
        for key in keys.split(' ') {
            let mut made = false;
            let value = lru.entry(key, || {
                made = true;
                key.to_owned()
            });
            assert_eq!(*value, key);
            seen.push(format!("{}{key}", if made { "+" } else { "" }));
            assert!(lru.len() <= capacity.max(1) && lru.len() == lru.used.len());
        }
        assert_eq!(seen.join(" "), expected);
    }

    #[test]
    fn what_was_used_longest_ago_goes() {
        check(2, "a b a c b a", "+a +b a +c +b +a");
        check(2, "a b a c a b", "+a +b a +c a +b");
        check(1, "a a b a", "+a a +b +a");
        check(0, "a a", "+a a");
    }
}
