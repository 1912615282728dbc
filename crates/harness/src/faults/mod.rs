//! Random faults between a page and its cluster, out of everything that a network, a proxy, a server, a tab or a clock can
//! do, and the judge over what both wrote down.
//!
//! A seed says everything: which proxy, which faults, how long each lasts. After each fault the writes rest, and the page
//! must hold what an independent list says within ten seconds; in the end the judge reads both accounts.

/// Every fault, and how it is made.
pub mod matrix;
/// One seed from beginning to end.
pub mod seed;
/// An hour of every fault, and what the page and the cluster hold on to.
pub mod soak;
/// What many seeds came to.
pub mod table;
/// What stands beside the page: clocks that can be moved, and samples of what it says.
pub mod watcher;
/// What is between the page and its cluster.
pub mod world;

/// Dice that the same seed throws the same way (splitmix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// New dice.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % sides
    }
}
