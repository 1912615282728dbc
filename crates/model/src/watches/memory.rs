//! How much memory the page may take, and what it gives up before it takes more: first texts of versions and marks,
//! then whole watches.
//!
//! A program's memory in a browser never shrinks: what is given up makes room within the memory. Memory that stays
//! above a threshold therefore means nothing, and only further growth counts.

/// The default budget for the program's memory, in bytes. A browser allows four times as much, if the machine has it.
pub const BUDGET: usize = 1 << 30;
/// The part of the budget at which the texts of versions and the timeline's marks are given up.
const SHEDS: f64 = 0.8;
/// The part of the budget at which the largest watch is given up. Another watch follows each time that the memory has
/// grown by [`GROWN`].
const STOPS: f64 = 0.95;
const GROWN: f64 = 0.01;

/// What to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Texts and marks. From now on, fewer of them are kept.
    Shed,
    /// The largest watch.
    Stop,
}

/// The budget, and what was given up so far.
#[derive(Clone, Debug)]
pub struct Memory {
    budget: usize,
    shed: bool,
    /// The size of the memory when a watch was last given up.
    stopped_at: Option<usize>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { budget: BUDGET, shed: false, stopped_at: None }
    }
}

impl Memory {
    /// Reads the address's number of megabytes, from 1 to 4000. Any other text gives the default budget.
    pub fn parse(parameter: Option<&str>) -> Memory {
        let megabytes =
            parameter.and_then(|text| text.parse::<usize>().ok()).filter(|count| (1..=4000).contains(count));
        let budget = megabytes.map_or(BUDGET, |count| count * 1_000_000);
        Memory { budget, ..Memory::default() }
    }

    /// The budget, in bytes.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Whether texts and marks were given up.
    pub fn has_shed(&self) -> bool {
        self.shed
    }

    /// What to give up now that the memory has this size. `watches` says whether any watch is left to give up.
    pub fn look(&mut self, taken: usize, watches: bool) -> Option<Step> {
        let part = |part: f64| (self.budget as f64 * part) as usize;
        if !self.shed && taken >= part(SHEDS) {
            self.shed = true;
            return Some(Step::Shed);
        }
        let grows = self.stopped_at.is_none_or(|at| taken > at + part(GROWN));
        if watches && taken >= part(STOPS) && grows {
            self.stopped_at = Some(taken);
            return Some(Step::Stop);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_marks_go_first_and_then_a_watch_for_each_growth() {
        let mut memory = Memory::parse(Some("100"));
        let mut look = |megabytes: usize| memory.look(megabytes * 1_000_000, true);
        assert_eq!((look(10), look(79), look(80)), (None, None, Some(Step::Shed)));
        assert_eq!((look(80), look(94)), (None, None), "what was given up is given up once");
        assert_eq!((look(95), look(95), look(96)), (Some(Step::Stop), None, None));
        assert_eq!((look(97), look(98), look(99)), (Some(Step::Stop), None, Some(Step::Stop)));
        assert_eq!(look(99), None);
        // A jump over both thresholds gives up both, one after the other.
        let mut memory = Memory::parse(Some("1"));
        let mut look = |watches: bool| memory.look(20_000_000, watches);
        assert_eq!(
            (look(false), look(false), look(true), look(true)),
            (Some(Step::Shed), None, Some(Step::Stop), None)
        );
    }

    #[test]
    fn the_address_says_how_much() {
        for (text, budget) in [("64", 64_000_000), ("0", BUDGET), ("-1", BUDGET), ("1e3", BUDGET), ("99999", BUDGET)] {
            assert_eq!(Memory::parse(Some(text)).budget(), budget, "{text}");
        }
        assert_eq!(Memory::parse(None).budget(), BUDGET);
    }
}
