//! Seeded pseudo-random numbers: the same seed gives the same numbers. They are not fit for secrets.

/// The letters and digits of Kubernetes' generated names. There are no vowels, so that no words appear.
pub const NAME_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The splitmix64 generator (<https://prng.di.unimi.it/splitmix64.c>): eight bytes of state, no bad seeds.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The bias of a remainder of 64 bits is far too small to show in a demo.
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// A number from `low` up to and including `high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A random item.
    ///
    /// # Panics
    /// If there are no items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A suffix as Kubernetes generates them, such as `x2x7p`.
    pub fn suffix(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(NAME_ALPHABET))).collect()
    }
}

/// A uid: the same seed, name and generation give the same uid.
pub fn uid(seed: u64, name: &str, generation: u64) -> String {
    let hash = name.bytes().fold(mix(seed ^ mix(generation)), |hash, byte| mix(hash ^ u64::from(byte)));
    let (high, low) = (mix(hash), mix(hash ^ 0x5bd1_e995));
    // The version (4) and variant bits of RFC 9562.
    let high = high & 0xffff_ffff_ffff_0fff | 0x4000;
    let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (random.suffix(5), random.below(1000), random.between(3, 3))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_eq!(draw(7).2, 3);
    }

    #[test]
    fn uids_differ_by_seed_name_and_generation() {
        let uids = [uid(1, "shop/web", 0), uid(2, "shop/web", 0), uid(1, "shop/wec", 0), uid(1, "shop/web", 1)];
        for (index, uid) in uids.iter().enumerate() {
            assert_eq!(uid.len(), 36, "{uid}");
            assert_eq!(uid.as_bytes()[14], b'4', "{uid}");
            assert!(!uids[..index].contains(uid));
        }
        assert_eq!(uids[0], uid(1, "shop/web", 0));
    }
}
