//! Fills a scene with the Events about the object of a lane. Their marks are those of the Events' own kind, and are held and
//! counted there alone.

use std::ops::ControlFlow;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by;

use crate::kind_id::KindId;
use crate::timeline::bands::worse;
use crate::timeline::blocks::{Block, Part, Step, walk};
use crate::timeline::lanes::Lane;
use crate::timeline::marks::Marks;
use crate::timeline::scale::Scale;
use crate::timeline::scene::{EventGlyph, Scene};

/// Events nearer than this, in pixels, are drawn as one.
const NEAR: f64 = 9.0;

/// Marks of Events in one stretch of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The stretch: the same wherever the window is.
    cell: f64,
    at: f64,
    seq: u64,
    kind: KindId,
    tone: Tone,
    frames: u64,
}

fn cell(at: f64, scale: &Scale) -> f64 {
    (at / (NEAR * scale.ms_per_pixel())).floor()
}

/// Adds the Events about the object of a lane of these marks, which are of a kind of this name, to the row with its middle at
/// `y`. The end of an Event, which the server forgets after an hour, says nothing about the object, and is not drawn.
pub(super) fn fill_events(
    marks: &[&Marks],
    (kind, lane): (&str, &Lane),
    y: f64,
    scene: &mut Scene,
    found: &mut Vec<Found>,
) {
    found.clear();
    let scale = scene.scale;
    for (own_kind, own) in (0..).map(KindId).zip(marks).filter(|(_, own)| !own.regarding.is_empty()) {
        for event in own.events_about(kind, lane) {
            walk(
                &own.ring,
                event,
                |block| step(block, &scale),
                |part| {
                    let block = match part {
                        Part::Mark(mark) => Block::of(&mark),
                        Part::Block(block) => block,
                    };
                    if block.last_at < scale.window.from {
                        return ControlFlow::Break(());
                    }
                    let frames = block.frames() - u64::from(block.deletes());
                    if frames > 0 && block.first_at <= scale.window.to {
                        let (at, seq, tone) = (block.last_at, block.last_seq, block.states.worst().unwrap_or_default());
                        found.push(Found { cell: cell(at, &scale), at, seq, kind: own_kind, tone, frames });
                    }
                    ControlFlow::Continue(())
                },
            );
        }
    }
    sort_by(found, |one, other| one.at.total_cmp(&other.at));
    for together in found.chunk_by(|one, other| one.cell == other.cell) {
        // The latest one of the most alarming ones stands for all.
        let tone = together.iter().fold(Tone::Plain, |tone, one| worse(tone, one.tone));
        let Some(Found { at, seq, kind, .. }) = together.iter().rfind(|one| one.tone == tone) else { continue };
        let (x, count) = (scale.x(*at), together.iter().map(|one| one.frames).sum());
        scene.events.push(EventGlyph { x, y, tone, kind: *kind, seq: *seq, count });
    }
}

fn step(block: &Block, scale: &Scale) -> Step {
    Step::outside(block, scale.window).unwrap_or_else(|| {
        let is_one = cell(block.first_at, scale) == cell(block.last_at, scale) && block.deletes() == 0;
        if is_one { Step::Whole } else { Step::Open }
    })
}
