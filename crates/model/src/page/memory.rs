//! How much memory the page may take, and what it gives up before it takes more: first what it keeps for those who look
//! back, then whole watches.
//!
//! A program's memory in a browser never shrinks. What is given up makes room within it, so that having reached a mark says
//! nothing any more: only that it grows on does.

/// The most that the program's memory may have where no one says otherwise, in bytes. A browser allows four times as much,
/// on machines that have it.
pub const BUDGET: usize = 1 << 30;
/// From this part of it on the texts of versions and the timeline's marks are given up.
const SHEDS: f64 = 0.8;
/// From this part of it on the largest watch is given up, and the next one for each part of [`GROWN`] more.
const STOPS: f64 = 0.95;
const GROWN: f64 = 0.01;

/// What is to be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Texts and marks, and from now on fewer are kept.
    Shed,
    /// The largest watch.
    Stop,
}

/// The budget, and what was given up for it.
#[derive(Clone, Debug)]
pub struct Memory {
    budget: usize,
    shed: bool,
    /// What was taken when a watch was last given up.
    stopped_at: Option<usize>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { budget: BUDGET, shed: false, stopped_at: None }
    }
}

impl Memory {
    /// Reads what the address says: so many megabytes, at least one and at most four thousand. Anything else changes
    /// nothing.
    pub fn parse(parameter: Option<&str>) -> Memory {
        let megabytes =
            parameter.and_then(|text| text.parse::<usize>().ok()).filter(|count| (1..=4000).contains(count));
        let budget = megabytes.map_or(BUDGET, |count| count * 1_000_000);
        Memory { budget, ..Memory::default() }
    }

    /// How much may be taken, in bytes.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Whether texts and marks were given up.
    pub fn has_shed(&self) -> bool {
        self.shed
    }

    /// What is to be given up, now that so many bytes are taken. `watches` says whether there is a watch to be given up.
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
        // What jumps over both marks at once gives up both, one after the other.
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
