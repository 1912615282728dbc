//! Fills a scene with one lane: bands, pills, glyphs, and the resyncs that replayed its object.
//!
//! That costs the pixels and not the marks. Blocks of marks are taken as a whole where the picture is the same as if
//! each of their marks were looked at, or differs by a few pixels.

use std::ops::ControlFlow;

use kubechurn_client::api::cell::Tone;

use crate::timeline::scale::Scale;
use crate::timeline::scene::bands::{SHORT, fill_bands};
use crate::timeline::scene::contents::{Glyph, Pill, Scene};
use crate::timeline::scene::fold::{
    CROSS, Fold, NEAR, PILL_PAD, Spot, fold, is_in_one_cell, is_in_one_fold, label_right,
};
use crate::timeline::scene::scratch::{ResyncMark, Scratch};
use crate::timeline::store::block::Block;
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{LaneOf, Mark, MarkType};
use crate::timeline::store::marks::Marks;
use crate::timeline::store::state::State;
use crate::timeline::store::walk::{Part, Step, newest_delete, walk_split};

/// A lane that is drawn in a row, with the marks of its kind.
pub(super) struct RowLane<'a> {
    pub(super) own: &'a Marks,
    pub(super) of: LaneOf,
    pub(super) lane: &'a Lane,
    /// The y coordinate of the row's middle.
    pub(super) y: f64,
}

impl<'a> RowLane<'a> {
    /// The lane with this number, unless it was freed.
    pub(super) fn new(marks: &[&'a Marks], of: LaneOf, y: f64) -> Option<RowLane<'a>> {
        let own = *marks.get(of.kind.index())?;
        Some(RowLane { own, of, lane: own.lanes.get(of.lane)?, y })
    }
}

/// Whether states within this block must be drawn as bands of their own.
fn has_bands(block: &Block, ms_per_pixel: f64) -> bool {
    let is_bad = block.states.has(Some(Tone::Bad));
    let changes = !block.states.is_one() && block.changed_at().is_none();
    let is_seen = f64::from(block.longest) >= SHORT * ms_per_pixel;
    // Of the failures that are left out, one is drawn where the block begins: that must be near.
    changes && (is_seen || (is_bad && block.span() >= CROSS * ms_per_pixel))
}

/// What to do with a block of a lane that is drawn on this scale.
fn step(block: &Block, scale: &Scale) -> Step {
    let ms_per_pixel = scale.ms_per_pixel();
    let has_crosses = block.deletes() > 0 && block.span() >= CROSS * ms_per_pixel;
    let step = Step::outside(block, scale.window).unwrap_or_else(|| {
        let is_one = !has_crosses && !has_bands(block, ms_per_pixel) && is_in_one_fold(block, ms_per_pixel);
        if is_one { Step::Whole } else { Step::Open }
    });
    if step == Step::Open && !has_crosses && block.can_be_split() { Step::Split } else { step }
}

/// Adds the bands, pills and glyphs of a lane.
pub(super) fn fill_lane(row: &RowLane<'_>, scene: &mut Scene, scratch: &mut Scratch) {
    let RowLane { own, of, lane, y } = *row;
    let resyncs = std::mem::take(&mut scratch.resyncs);
    let in_window = resyncs.get(of.kind.index()).map_or(&[][..], Vec::as_slice);
    let entry = collect(own, lane, &scene.scale, in_window, scratch);
    scratch.resyncs = resyncs;
    fill_bands(entry, &scratch.spots, y, &own.words, scene);
    let first_pill = scene.pills.len();
    fold(&scratch.spots, scene.scale.ms_per_pixel(), |fold| {
        add_fold(&fold, y, scene, &mut scratch.crosses, |spot| newest_delete_of(own, lane, spot));
    });
    // A resync never takes the place of a change. Of several resyncs that are near each other one is drawn. Which one
    // depends only on times, so that it stays the same while the window moves.
    let Scene { pills, glyphs, scale, .. } = scene;
    let mut cell = f64::INFINITY;
    for ResyncMark { x, at, seq } in &scratch.replayed {
        let in_pill = pills[first_pill..].iter().any(|pill| pill.x <= *x && *x <= pill.x + pill.width);
        let in_cell = (at / (NEAR * scale.ms_per_pixel())).floor();
        if in_cell < cell && !in_pill {
            glyphs.push(Glyph { x: *x, y, mark_type: MarkType::Sync, tone: Tone::Plain, seq: *seq });
        }
        cell = in_cell;
    }
}

/// Adds the bands of a lane alone.
pub(super) fn fill_states(row: &RowLane<'_>, scene: &mut Scene, scratch: &mut Scratch) {
    let entry = collect(row.own, row.lane, &scene.scale, &[], scratch);
    fill_bands(entry, &scratch.spots, row.y, &row.own.words, scene);
}

/// Fills the scratch with the spots of a lane, the oldest first, and with the resyncs that replayed the lane's object,
/// the newest first. `resyncs` are the numbers of those in the window. Returns the state in which the window begins.
fn collect(
    marks: &Marks,
    lane: &Lane,
    scale: &Scale,
    mut resyncs: &[u64],
    Scratch { spots, replayed, .. }: &mut Scratch,
) -> Option<State> {
    let ring = &marks.ring;
    spots.clear();
    replayed.clear();
    // Adds the resyncs that stand after a mark of the lane and before the next one.
    let mut resyncs_after = |resyncs: &[u64], before: Option<Mark<'_>>| {
        let all = resyncs.iter().filter_map(|number| ring.get(*number));
        let again = all.filter(|mark| mark.resync().is_some_and(|resync| lane.is_in_resync(resync, before)));
        replayed.extend(again.map(|mark| ResyncMark { x: scale.x(mark.at), at: mark.at, seq: mark.seq }));
    };
    let mut entry = lane.worn;
    let (ms_per_pixel, window) = (scale.ms_per_pixel(), scale.window);
    // What is before the window, or after it, is not taken together with what is in it.
    let is_one_side = |first: f64, last: f64| {
        (first < window.from) == (last < window.from) && (first > window.to) == (last > window.to)
    };
    walk_split(
        ring,
        lane,
        |block| step(block, scale),
        |first, last, widest| is_one_side(first, last) && is_in_one_cell((first, last), widest, ms_per_pixel),
        |part| {
            let block = match part {
                Part::Mark(mark) => {
                    resyncs_after(take_above(&mut resyncs, mark.seq), Some(mark));
                    Block::of(&mark)
                }
                Part::Block(block) => {
                    let after = take_above(&mut resyncs, block.last_seq);
                    if !after.is_empty() {
                        resyncs_after(after, ring.get(block.last_seq));
                    }
                    // Those within the block would be drawn on its pill, and so are not drawn.
                    take_above(&mut resyncs, block.first_seq());
                    block
                }
            };
            if block.last_at < scale.window.from {
                entry = block.last_state();
                return ControlFlow::Break(());
            }
            if block.last_at <= scale.window.to {
                spots.push(Spot::of(block, scale));
            }
            ControlFlow::Continue(())
        },
    );
    resyncs_after(resyncs, None);
    spots.reverse();
    // That an object is as well as it was is no news, nor is what a list brought.
    let mut before = entry;
    for spot in spots.iter_mut() {
        let state = spot.block.last_state();
        let is_news = state != before && spot.mark_type() != MarkType::Replaced;
        if spot.tone == Tone::Good && spot.block.states.is_one() && !is_news {
            spot.tone = Tone::Plain;
        }
        before = state;
    }
    entry
}

/// Takes the numbers above `seq` off a list, whose largest number comes first.
fn take_above<'a>(numbers: &mut &'a [u64], seq: u64) -> &'a [u64] {
    let (above, rest) = numbers.split_at(numbers.partition_point(|number| *number > seq));
    *numbers = rest;
    above
}

/// The newest delete of a spot, where it was, and its number.
fn newest_delete_of(marks: &Marks, lane: &Lane, spot: &Spot) -> Option<(f64, u64)> {
    let Block { last_at, last_seq, .. } = spot.block;
    let first = spot.block.first_seq();
    if first == last_seq {
        return (spot.block.deletes() > 0).then_some((last_at, last_seq));
    }
    newest_delete(&marks.ring, lane, (first, last_seq)).map(|mark| (mark.at, mark.seq))
}

/// Adds what is drawn of a fold. `delete_of` finds a delete of a spot that has one: its time and its number.
pub(super) fn add_fold(
    fold: &Fold<'_>,
    y: f64,
    Scene { scale, layout, glyphs, pills, .. }: &mut Scene,
    crosses: &mut Vec<Glyph>,
    delete_of: impl Fn(&Spot) -> Option<(f64, u64)>,
) {
    if !fold.is_pill() {
        // Blocks have enough marks for a pill, so that each spot is one mark.
        glyphs.extend(fold.spots.iter().map(|spot| {
            let (x, seq, mark_type) = (spot.x, spot.block.last_seq, spot.mark_type());
            Glyph { x, y, mark_type, tone: spot.tone, seq }
        }));
        return;
    }
    let (first, last) = (&fold.spots[0], &fold.spots[fold.spots.len() - 1]);
    // Near the right end the number moves to the left until there is room for it.
    let over = (label_right(first.x, &fold.counts) - layout.right).max(0.0);
    let first_x = first.x - over;
    let x = first_x - PILL_PAD;
    if let Some(previous) = pills.last_mut().filter(|previous| previous.y == y) {
        previous.width = previous.width.min(x - 1.0 - previous.x);
    }
    let number = label_right(first_x, &fold.counts);
    pills.push(Pill {
        x,
        width: (last.last_x.max(number) + PILL_PAD) - x,
        y,
        mark_type: fold.counts.dominant().unwrap_or_else(|| last.mark_type()),
        tone: fold.tone(),
        counts: fold.counts,
        first: first.block.first_seq(),
        last: last.block.last_seq,
    });
    // A delete is drawn where it happened, or beside the pill's number, but never under the number.
    let mut free = number - CROSS / 2.0;
    for spot in fold.spots.iter().filter(|spot| spot.block.deletes() > 0) {
        let is_first = crosses.last().is_none_or(|last| last.y != y || last.x < first.x);
        if spot.last_x < free && !is_first {
            continue;
        }
        let found = delete_of(spot).map(|(at, seq)| (scale.x(at), seq)).filter(|(x, _)| *x >= free || is_first);
        if let Some((x, seq)) = found {
            let x = x.max(free);
            crosses.push(Glyph { x, y, mark_type: MarkType::Deleted, tone: Tone::Plain, seq });
            free = x + CROSS;
        }
    }
}
