//! Random faults between a page and its cluster: everything that a network, a proxy, a server, a tab or a clock can do wrong.
//!
//! A seed determines which proxy there is, which faults happen, and how long each lasts. After each fault nothing is written
//! for a while, and within ten seconds the page must hold what an independent list says. In the end the judge compares what
//! the page and the cluster noted.

/// Every fault, and how it is made.
pub mod matrix;
/// One seed from beginning to end.
pub mod seed;
/// Every fault for an hour, and how much the page and the cluster grow.
pub mod soak;
/// The results of many seeds.
pub mod table;
/// A script that runs in the page: clocks that can be set, and samples of what the page says.
pub mod watcher;
/// What is between the page and its cluster.
pub mod world;

/// Random numbers that are the same for the same seed (splitmix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The random numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next random number, which is less than `sides`.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % sides
    }
}
