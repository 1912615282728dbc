//! The words for the states of one kind's objects, each kept once, for as long as a mark or a lane has it.
//!
//! The number of words and their length are bounded, because whoever may write to the cluster may make them up.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;

/// The number of a word: below 1,024, so that it takes ten bits of a mark. 0 stands for no word.
///
/// It is kept as bytes, so that a lane, of which there may be many thousands, has room for a state without growing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordId([u8; 2]);

/// The bits of a [`WordId`].
pub(super) const BITS: u32 = 10;

/// The most words that there may be at a time. What has any other word meanwhile, has none.
const MOST: usize = (1 << BITS) - 1;

/// The most bytes of a word. A longer one is cut, and ends with an ellipsis.
const LONGEST: usize = 60;

/// All tones, in the order of their numbers: the least alarming one first.
pub(super) const TONES: [Tone; 4] = [Tone::Plain, Tone::Good, Tone::Wait, Tone::Bad];

/// The state of an object: how alarming it is, and its word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// How alarming the state is.
    pub tone: Tone,
    /// The state's word, in [`Words`].
    pub word: WordId,
}

impl From<Tone> for State {
    /// A state that has no word.
    fn from(tone: Tone) -> State {
        State { tone, word: WordId::default() }
    }
}

/// A state as whoever marks an object says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewState<'a> {
    /// How alarming the state is.
    pub tone: Tone,
    /// The state's word; empty for a state that has none.
    pub word: &'a str,
}

impl From<Tone> for NewState<'_> {
    /// A state that has no word.
    fn from(tone: Tone) -> Self {
        NewState { tone, word: "" }
    }
}

impl WordId {
    /// The word with this number, of which only the lowest bits count.
    pub(super) fn of_bits(bits: u16) -> WordId {
        WordId((bits & MOST as u16).to_le_bytes())
    }

    /// The number.
    pub(super) fn bits(self) -> u16 {
        u16::from_le_bytes(self.0)
    }

    /// The place in [`Words::words`]; `None` for no word.
    fn place(self) -> Option<usize> {
        usize::from(self.bits()).checked_sub(1)
    }
}

#[derive(Debug)]
struct Word {
    text: SmolStr,
    /// By how many marks and lanes the word is used. A place without uses is free.
    uses: u32,
}

/// The words of one kind.
#[derive(Debug, Default)]
pub struct Words {
    words: Vec<Word>,
    ids: HashTable<u16>,
    free: Vec<u16>,
    /// The bytes that the words hold outside their places.
    texts: usize,
}

fn hash_of(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

/// The bytes that a text holds outside itself.
pub(super) fn heap_bytes(text: &SmolStr) -> usize {
    if text.is_heap_allocated() { text.len() + 2 * size_of::<usize>() } else { 0 }
}

impl Words {
    /// The state with this word, which has one use more. It is without a word if there are too many.
    pub fn state(&mut self, NewState { tone, word }: NewState<'_>) -> State {
        State { tone, word: self.word(word) }
    }

    fn word(&mut self, text: &str) -> WordId {
        if text.is_empty() {
            return WordId::default();
        }
        if text.len() > LONGEST {
            let room = LONGEST - '…'.len_utf8();
            let cut = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            return self.whole(&format!("{}…", &text[..cut]));
        }
        self.whole(text)
    }

    fn whole(&mut self, text: &str) -> WordId {
        let words = &mut self.words;
        if let Some(place) = self.ids.find(hash_of(text), |place| words[usize::from(*place)].text == text) {
            let word = &mut words[usize::from(*place)];
            word.uses = word.uses.saturating_add(1);
            return WordId::of_bits(place + 1);
        }
        let word = Word { text: text.into(), uses: 1 };
        let heap = heap_bytes(&word.text);
        let place = match self.free.pop() {
            Some(place) => {
                words[usize::from(place)] = word;
                place
            }
            None if words.len() < MOST => {
                words.push(word);
                (words.len() - 1) as u16
            }
            None => return WordId::default(),
        };
        self.texts += heap;
        self.ids.insert_unique(hash_of(text), place, |place| hash_of(&words[usize::from(*place)].text));
        WordId::of_bits(place + 1)
    }

    /// Takes one use off a state's word. A word without uses is forgotten.
    pub fn release(&mut self, state: State) {
        let Some((place, word)) = state.word.place().and_then(|place| Some((place, self.words.get_mut(place)?))) else {
            return;
        };
        if word.uses != 1 {
            word.uses = word.uses.saturating_sub(1);
            return;
        }
        word.uses = 0;
        let text = std::mem::take(&mut word.text);
        self.texts -= heap_bytes(&text);
        if let Ok(entry) = self.ids.find_entry(hash_of(&text), |own| usize::from(*own) == place) {
            entry.remove();
        }
        self.free.push(place as u16);
    }

    /// A state's word; empty if it has none.
    pub fn get(&self, state: State) -> SmolStr {
        let word = state.word.place().and_then(|place| self.words.get(place));
        word.map(|word| word.text.clone()).unwrap_or_default()
    }

    /// The word, borrowed.
    pub fn text(&self, state: State) -> &str {
        state.word.place().and_then(|place| self.words.get(place)).map_or("", |word| &word.text)
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that the words take.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>()
            + self.ids.allocation_size()
            + self.free.capacity() * size_of::<u16>()
            + self.texts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn state(word: &str) -> NewState<'_> {
        NewState { tone: Tone::Good, word }
    }

    #[test]
    fn a_word_lives_as_long_as_it_is_used() {
        let mut words = Words::default();
        let [one, again] = [words.state(state("Running")), words.state(state("Running"))];
        assert_eq!((one, words.len(), words.text(one)), (again, 1, "Running"));
        words.release(one);
        assert_eq!(words.text(one), "Running");
        words.release(one);
        assert!(words.is_empty());
        let other = words.state(state("Pending"));
        assert_eq!((other.word, words.text(other)), (one.word, "Pending"), "its number is used again");
        assert_eq!(words.text(State::default()), "");
    }

    #[test]
    fn there_are_only_so_many_words_and_none_is_long() {
        let mut words = Words::default();
        let states: Vec<State> = (0..5_000).map(|at| words.state(state(&format!("{at}/5000")))).collect();
        assert_eq!(words.len(), MOST);
        assert_eq!((words.text(states[MOST - 1]), words.text(states[MOST])), ("1022/5000", ""));
        let most = words.bytes();
        assert!(most < 100_000, "{most}");
        states.iter().for_each(|state| words.release(*state));
        assert!(words.is_empty());
        for text in ["ü".repeat(1_000), "x".repeat(LONGEST + 1)] {
            let long = words.state(state(&text));
            let kept = words.text(long).to_owned();
            assert!(kept.len() <= LONGEST && kept.ends_with('…') && text.starts_with(kept.trim_end_matches('…')));
            words.release(long);
        }
        assert_eq!(words.texts, 0);
    }

    proptest! {
        #[test]
        fn words_are_counted_like_a_map_s(steps in proptest::collection::vec((0usize..30, any::<bool>()), 0..300)) {
            let (mut words, mut plain) = (Words::default(), BTreeMap::<usize, Vec<State>>::new());
            for (number, is_new) in steps {
                let own = plain.entry(number).or_default();
                if is_new {
                    own.push(words.state(state(&format!("a word that takes memory of its own {number}"))));
                } else if let Some(state) = own.pop() {
                    words.release(state);
                }
                plain.retain(|_, own| !own.is_empty());
                prop_assert_eq!(words.len(), plain.len());
                for (number, own) in &plain {
                    let end = format!(" {number}");
                    prop_assert!(own.iter().all(|state| words.text(*state).ends_with(&end)));
                }
            }
        }
    }
}
