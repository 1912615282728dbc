//! The states of some marks that follow each other, as far as a block of marks must know them, in 32 bits.

use kubechurn_client::api::cell::Tone;

use crate::timeline::store::state::{self, State, TONES, WordId};

/// The first and the last of some states, and which tones there are among all of them.
///
/// From the lowest bit: one for each tone, one for the time in which the object does not exist, and one that says that
/// not all states are the same; then the first state, and the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(u32);

const GONE: u32 = 1 << 4;
const SEVERAL: u32 = 1 << 5;
/// All these bits.
const SET: u32 = (1 << 6) - 1;
/// The bits of a state: three of its tone, and its word.
const BITS: u32 = 3 + state::BITS;
const FIRST: u32 = 6;
const LAST: u32 = FIRST + BITS;
const STATE: u32 = (1 << BITS) - 1;

const _: () = assert!(LAST + BITS <= 32);

/// The bits of a state; 0 for an object that does not exist.
fn bits(state: Option<State>) -> u32 {
    state.map_or(0, |State { tone, word }| u32::from(word.bits()) << 3 | (tone as u32 + 1))
}

fn state(bits: u32) -> Option<State> {
    let tone = TONES.get((bits as usize & 7).checked_sub(1)?)?;
    Some(State { tone: *tone, word: WordId::of_bits((bits >> 3) as u16) })
}

/// The bit of a tone; `None` is that of an object that does not exist.
fn bit(tone: Option<Tone>) -> u32 {
    tone.map_or(GONE, |tone| 1 << tone as u32)
}

impl States {
    /// One state; `None` is that of an object that does not exist.
    pub fn of(state: Option<State>) -> States {
        let own = bits(state);
        States(own << LAST | own << FIRST | bit(state.map(|state| state.tone)))
    }

    /// These states, and then the others.
    pub fn then(self, next: States) -> States {
        let several = if self.last_bits() == next.first_bits() { 0 } else { SEVERAL };
        let set = (self.0 | next.0) & SET | several;
        States(next.last_bits() << LAST | self.first_bits() << FIRST | set)
    }

    /// Whether all are the same.
    pub fn is_one(self) -> bool {
        self.0 & SEVERAL == 0
    }

    /// Whether a tone is among them; `None` is that of an object that does not exist.
    pub fn has(self, tone: Option<Tone>) -> bool {
        self.0 & bit(tone) != 0
    }

    /// The most alarming tone.
    pub fn worst(self) -> Option<Tone> {
        TONES.into_iter().rev().find(|tone| self.has(Some(*tone)))
    }

    /// The first state.
    pub fn first(self) -> Option<State> {
        state(self.first_bits())
    }

    /// The last state.
    pub fn last(self) -> Option<State> {
        state(self.last_bits())
    }

    fn first_bits(self) -> u32 {
        self.0 >> FIRST & STATE
    }

    fn last_bits(self) -> u32 {
        self.0 >> LAST & STATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_the_tones_are_known_of_any_states() {
        let one = |tone: usize, word: u16| Some(State { tone: TONES[tone], word: WordId::of_bits(word) });
        let all = [None, one(0, 0), one(0, 1_023), one(1, 7), one(1, 8), one(2, 512), one(3, 1_022)];
        for first in all {
            assert_eq!((States::of(first).first(), States::of(first).last()), (first, first));
            assert!(States::of(first).is_one() && States::of(first).then(States::of(first)).is_one());
            for last in all {
                for between in all {
                    let states = States::of(first).then(States::of(between).then(States::of(last)));
                    assert_eq!(states, States::of(first).then(States::of(between)).then(States::of(last)));
                    assert_eq!((states.first(), states.last()), (first, last));
                    assert_eq!(states.is_one(), first == between && between == last);
                    let tones = [first, between, last].map(|state| state.map(|state| state.tone));
                    for tone in [None].into_iter().chain(TONES.map(Some)) {
                        assert_eq!(states.has(tone), tones.contains(&tone), "{tone:?} in {tones:?}");
                    }
                    assert_eq!(
                        states.worst().map(|tone| tone as u8),
                        tones.into_iter().flatten().map(|tone| tone as u8).max()
                    );
                }
            }
        }
    }
}
