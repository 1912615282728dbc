//! A map that keeps the entries used last, and a list of the newest evidence.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use kubechurn_client::api::sort::sort_by;

use crate::findings::MOST_SEQS;

/// The most entries that are kept. For a moment there may be twice as many.
pub(super) const MOST: usize = 2_000;

/// A map whose entries have the time of their last use.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: FxHashMap<K, (f64, V)>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { entries: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V: Default> Recent<K, V> {
    /// The entry of a key, made if there is none. When there are twice as many as are kept, the half that was not used
    /// for longest goes, so that a use costs the same on average however many there are.
    pub(super) fn entry(&mut self, key: K, now: f64) -> &mut V {
        if self.entries.len() >= 2 * MOST {
            let mut times: Vec<f64> = self.entries.values().map(|(at, _)| *at).collect();
            sort_by(&mut times, f64::total_cmp);
            let middle = times[MOST];
            self.entries.retain(|_, (at, _)| *at > middle);
        }
        let entry = self.entries.entry(key).or_default();
        entry.0 = now;
        &mut entry.1
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, (_, value))| (key, value))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Times and sequence numbers of what happened within a stretch of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// Most things happen once or twice, which takes no allocation.
    newest: SmallVec<[(f64, u64); 2]>,
    /// When the first happened, since nothing had happened for that stretch.
    pub(super) since: f64,
    /// How many there were since then.
    pub(super) count: u64,
}

impl Evidence {
    /// Adds one. What is longer ago than `within` before it begins anew.
    pub(super) fn add(&mut self, at: f64, seq: u64, within: f64) {
        if self.last_at().is_none_or(|last| at - last > within) {
            *self = Evidence { since: at, ..Evidence::default() };
        }
        if self.newest.len() == MOST_SEQS {
            self.newest.remove(0);
        }
        self.newest.push((at, seq));
        self.count += 1;
    }

    /// When the last happened.
    pub(super) fn last_at(&self) -> Option<f64> {
        self.newest.last().map(|(at, _)| *at)
    }

    /// How many of the newest happened after a time.
    pub(super) fn after(&self, time: f64) -> usize {
        self.newest.iter().rev().take_while(|(at, _)| *at > time).count()
    }

    pub(super) fn seqs(&self) -> Vec<u64> {
        self.newest.iter().map(|(_, seq)| *seq).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_used_last_are_kept() {
        let mut recent: Recent<usize, usize> = Recent::default();
        for key in 0..100_000 {
            *recent.entry(key, key as f64) += 1;
            *recent.entry(0, key as f64) += 1;
            assert!(recent.len() <= 2 * MOST);
        }
        assert!(recent.get(&0) == Some(&100_001) && recent.get(&99_999) == Some(&1) && recent.get(&1).is_none());
    }

    #[test]
    fn entries_used_at_one_time_are_bounded_too() {
        let mut recent: Recent<usize, ()> = Recent::default();
        (0..10 * MOST).for_each(|key| *recent.entry(key, 7.0) = ());
        assert!(recent.len() <= 2 * MOST);
    }
}
