//! What came of a change, for the second line of its row.

use std::fmt;

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by;

/// How many Pods, or other objects, fare in one way: `3 of 6 Pods: ImagePullBackOff`, and after it `2 still old`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many.
    pub count: u64,
    /// Of how many, where that is to be shown.
    pub of: Option<u64>,
    /// What is counted, where that is to be shown: `Pods`.
    pub noun: &'static str,
    /// How they fare: the table's word for a Pod's state, or `ready`, `still old`.
    pub word: SmolStr,
    /// What that means.
    pub tone: Tone,
}

impl Outcome {
    /// A count that needs no other words.
    pub fn plain(count: u64, word: impl Into<SmolStr>, tone: Tone) -> Outcome {
        Outcome { count, of: None, noun: "", word: word.into(), tone }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.count)?;
        if let Some(of) = self.of {
            write!(formatter, " of {of}")?;
        }
        match self.noun {
            "" => write!(formatter, " {}", self.word),
            noun => write!(formatter, " {noun}: {}", self.word),
        }
    }
}

/// The most outcomes of one entry. The rest is counted in one word.
const MOST: usize = 4;

/// Orders what fares worst first, and gives the first one the words for what is counted.
pub(super) fn worst_first(mut found: Vec<Outcome>, of: Option<u64>, noun: &'static str) -> Vec<Outcome> {
    let rank = |tone: Tone| match tone {
        Tone::Bad => 0,
        Tone::Wait => 1,
        Tone::Good => 2,
        Tone::Plain => 3,
    };
    found.retain(|outcome| outcome.count > 0);
    sort_by(&mut found, |one, two| (rank(one.tone), two.count, &one.word).cmp(&(rank(two.tone), one.count, &two.word)));
    if found.len() > MOST {
        let others = found.drain(MOST - 1..).map(|outcome| outcome.count).sum();
        found.push(Outcome::plain(others, "others", Tone::Plain));
    }
    if let Some(first) = found.first_mut() {
        (first.of, first.noun) = (of, noun);
    }
    found
}
