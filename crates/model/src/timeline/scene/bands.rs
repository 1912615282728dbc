//! Fills a scene with the bands of a lane: the states of its object over time, with their words where there is room.
//!
//! That costs the pixels. Where states change faster than pixels, one band stands for them, in the most alarming tone.

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;

use crate::timeline::scene::contents::{Band, BandLabel, Scene};
use crate::timeline::scene::fold::{CHAR, Spot};
use crate::timeline::store::block::Block;
use crate::timeline::store::state::{State, Words};
use crate::timeline::words::text::fit;

/// Where states change to and fro within a block, those that last shorter than this are left out, in pixels. At the
/// border of two blocks a state may be left out that lasts twice as long.
pub(super) const SHORT: f64 = 2.0;

/// The room between a word and what stands beside it, in pixels.
const PAD: f64 = 4.0;

/// A word of which fewer characters would be seen is left out, unless it is shorter itself.
const LEAST: usize = 4;

/// The bands of one lane, from left to right.
struct Bands<'a> {
    bands: &'a mut Vec<Band>,
    /// Where the bands of the lane begin.
    first: usize,
    words: &'a Words,
    y: f64,
}

/// Adds the bands of a lane that is in the state `entry` when the window begins.
pub(super) fn fill_bands(entry: Option<State>, spots: &[Spot], y: f64, words: &Words, scene: &mut Scene) {
    let scale = scene.scale;
    let first = scene.bands.len();
    let mut bands = Bands { bands: &mut scene.bands, first, words, y };
    let mut state = entry.map(|state| (state, scale.left));
    for Spot { x, last_x, block, .. } in spots {
        let changed_at = block.changed_at();
        let mut change = |to: Option<State>, x: f64| {
            if to != state.map(|(state, _)| state) {
                bands.lasting(state, x);
                state = to.map(|to| (to, x));
            }
        };
        if block.states.is_one() || changed_at.is_some() {
            change(block.first_state(), *x);
            if let Some(at) = changed_at {
                change(block.last_state(), scale.x(at));
            }
            continue;
        }
        bands.changing(state, block, (*x, *last_x));
        state = block.last_state().map(|state| (state, *last_x));
    }
    bands.lasting(state, scale.clamped(scale.window.to.min(scene.now)));
}

impl Bands<'_> {
    /// The band that was added last, of this lane.
    fn last(&mut self) -> Option<&mut Band> {
        self.bands[self.first..].last_mut()
    }

    /// Adds the band of a state that lasted up to `end`.
    fn lasting(&mut self, state: Option<(State, f64)>, end: f64) {
        // Of a kind without states there is nothing to draw.
        let Some((state, x)) = state.filter(|(state, _)| *state != State::default()) else { return };
        let (y, tone, width) = (self.y, state.tone, end - x);
        if width >= 1.0 {
            self.bands.push(Band { x, width, y, tone, word: self.words.get(state), changing: false });
        } else if tone == Tone::Bad && self.last().is_none_or(|last| last.tone != tone || x - last.x >= 1.0) {
            // A short failure stays visible. Short times of the other states may be left out.
            self.bands.push(Band { x, width: 1.0, y, tone, word: SmolStr::default(), changing: false });
        }
    }

    /// Adds the band of states none of which lasts long enough to be seen, after the state before them. If the object
    /// is gone for some of the time, only a failure is drawn.
    fn changing(&mut self, before: Option<(State, f64)>, block: &Block, (x, last_x): (f64, f64)) {
        let is_whole = !block.states.has(None);
        let tone = block.states.worst().filter(|tone| is_whole || *tone == Tone::Bad);
        if let (true, Some(tone)) = (is_whole, tone)
            && let Some(last) = self.last().filter(|last| last.changing && x - (last.x + last.width) < 2.0 * SHORT)
        {
            last.width = last_x - last.x;
            last.tone = worse(last.tone, tone);
            return;
        }
        self.lasting(before, x);
        match tone {
            Some(tone) if is_whole && last_x - x >= 1.0 => {
                let (y, word) = (self.y, SmolStr::default());
                self.bands.push(Band { x, width: last_x - x, y, tone, word, changing: true });
            }
            Some(Tone::Bad) => self.lasting(Some((Tone::Bad.into(), x)), x),
            _ => {}
        }
    }
}

/// Whether there may be room for a band's word. A word has at least three characters: `2/3`.
pub(super) fn has_room(band: &Band) -> bool {
    band.width >= 2.0 * PAD + 3.0 * CHAR && !band.word.is_empty()
}

/// The more alarming one of two tones.
pub(super) fn worse(one: Tone, other: Tone) -> Tone {
    if (other as u8) > one as u8 { other } else { one }
}

/// Writes the words of a row's bands, which are those from `first` on, where nothing else is drawn: `taken` has from
/// where to where something is, from left to right.
pub(super) fn fill_labels(first: usize, taken: &[(f64, f64)], Scene { bands, labels, .. }: &mut Scene) {
    for Band { x, width, y, tone, word, .. } in bands[first..].iter().filter(|band| has_room(band)) {
        let end = x + width;
        let length = word.chars().count();
        let wanted = length as f64 * CHAR;
        let mut best: Option<(f64, f64)> = None;
        let mut from = *x;
        let begin = taken.partition_point(|(_, end)| *end <= *x);
        let within = taken[begin..].iter().take_while(|(begin, _)| *begin < end);
        for (begin, next) in within.copied().chain([(end, end)]) {
            let room = begin - from - 2.0 * PAD;
            if room > best.map_or(0.0, |(_, room)| room) {
                best = Some((from + PAD, room));
            }
            if room >= wanted {
                break;
            }
            from = from.max(next);
        }
        let Some((x, room)) = best else { continue };
        let most = (room / CHAR) as usize;
        if most >= length {
            labels.push(BandLabel { x, y: *y, text: fit(word, length), tone: *tone });
        } else if most >= LEAST {
            let cut = fit(word, length).chars().take(most - 1).chain(['…']).collect();
            labels.push(BandLabel { x, y: *y, text: cut, tone: *tone });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(word: &str, width: f64, taken: &[(f64, f64)]) -> Vec<(f64, String)> {
        let mut scene = Scene::default();
        let (tone, word) = (Tone::Good, word.into());
        scene.bands.push(Band { x: 100.0, width, y: 5.0, tone, word, changing: false });
        fill_labels(0, taken, &mut scene);
        scene.labels.into_iter().map(|label| (label.x, label.text)).collect()
    }

    #[test]
    fn a_word_stands_where_there_is_room_for_it() {
        let at = |x: f64, text: &str| vec![(x, text.to_owned())];
        assert_eq!(labels("Running", 300.0, &[]), at(104.0, "Running"));
        assert_eq!(labels("Running", 300.0, &[(50.0, 90.0), (95.0, 120.0)]), at(124.0, "Running"));
        assert_eq!(labels("Running", 300.0, &[(95.0, 120.0), (140.0, 200.0)]), at(204.0, "Running"));
        assert_eq!(labels("2/3", 28.0, &[]), at(104.0, "2/3"));
        assert_eq!(labels("2/3", 27.0, &[]), [], "a number is never cut");
        assert_eq!(labels("Running", 45.0, &[]), at(104.0, "Runn…"));
        assert_eq!(labels("Running", 30.0, &[]), []);
        assert_eq!(labels("Running", 300.0, &[(0.0, 500.0)]), []);
        assert_eq!(labels("", 300.0, &[]), []);
        let hostile = labels("<b>\u{202e}\u{7}", 300.0, &[]);
        assert_eq!(hostile, at(104.0, "<b>\u{fffd}\u{fffd}"));
    }
}
