//! A stream of events over a set of names, the same for each seed: skewed names, 80 % updates.

/// The change of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Added,
    Modified,
    Deleted,
}

/// One event, from which both sides make their objects.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub what: What,
    pub pod: Pod,
}

/// One version of one Pod.
#[derive(Clone, Copy, Debug)]
pub struct Pod {
    /// The number of its name.
    pub name: u32,
    /// Counts the Pods that have had this name; each has a uid of its own.
    pub life: u32,
    /// Increases with every event.
    pub version: u64,
}

/// Names are drawn by Zipf's law with s = 1. If a Pod with the name exists, it is updated in nine of ten draws, and
/// deleted in the tenth; otherwise it is added. So a tenth of the names is unused at any time, and 82 % of the events
/// are updates, 9 % deletions and 9 % additions.
pub struct Stream {
    random: u64,
    version: u64,
    /// How often each name was added or deleted: odd while it is in use.
    lives: Vec<u32>,
}

impl Stream {
    /// A stream with as many names as are needed for `living` of them to be in use.
    pub fn new(living: usize) -> Stream {
        let mut stream = Stream { random: 7, version: 1_000_000_000, lives: Vec::new() };
        stream.lives = (0..living + living / 9).map(|_| u32::from(stream.next_random() >= 0.1)).collect();
        stream
    }

    /// The Pods that exist, in the order of their names.
    pub fn living(&self) -> impl Iterator<Item = Pod> {
        let lives = self.lives.iter().zip(0_u32..).filter(|(life, _)| *life % 2 == 1);
        lives.map(|(&life, name)| Pod { name, life, version: 1_000_000_000 - 1 })
    }

    fn next_random(&mut self) -> f64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next_name(&mut self) -> usize {
        // The continuous distribution whose density falls as 1/rank, rounded down to whole ranks.
        let names = self.lives.len();
        let rank = (names as f64).powf(self.next_random()) as usize - 1;
        // Names that are drawn often must not be adjacent, so the rank is multiplied by a prime that divides no number
        // of names.
        (rank * 2_654_435_761) % names
    }
}

impl Iterator for Stream {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let name = self.next_name();
        let what = match self.lives[name] % 2 {
            0 => What::Added,
            _ if self.next_random() < 0.1 => What::Deleted,
            _ => What::Modified,
        };
        self.version += 1;
        let before = self.lives[name];
        self.lives[name] += u32::from(what != What::Modified);
        let life = before.max(self.lives[name] * u32::from(what == What::Added));
        Some(Event { what, pod: Pod { name: name as u32, life, version: self.version } })
    }
}
