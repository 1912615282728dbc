//! Fills a scene with the Events about the object of a lane. Their marks are those of the Events' own kind, and are
//! held and counted there alone.

use std::ops::ControlFlow;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by;

use crate::kind_id::KindId;
use crate::timeline::scale::Scale;
use crate::timeline::scene::bands::worse;
use crate::timeline::scene::contents::{EventGlyph, Scene};
use crate::timeline::scene::lane::RowLane;
use crate::timeline::scene::scratch::EventMarks;
use crate::timeline::store::block::Block;
use crate::timeline::store::mark::MarkType;
use crate::timeline::store::marks::Marks;
use crate::timeline::store::walk::{Part, Step, walk};

/// Events nearer than this, in pixels, are drawn as one.
const NEAR: f64 = 9.0;

fn cell(at: f64, scale: &Scale) -> f64 {
    (at / (NEAR * scale.ms_per_pixel())).floor()
}

/// Adds the Events about the object of a lane to its row. The end of an Event, which the server forgets after an hour,
/// says nothing about the object, and is not drawn.
pub(super) fn fill_events(marks: &[&Marks], row: &RowLane<'_>, scene: &mut Scene, found: &mut Vec<EventMarks>) {
    found.clear();
    let scale = scene.scale;
    for (own_kind, own) in (0..).map(KindId).zip(marks).filter(|(_, own)| !own.event_targets.is_empty()) {
        for event in own.events_about(row.own.kind, row.lane) {
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
                    // What a first list brought stands at the Event's own time, as a moment of the past.
                    let is_listed = block.first_at == event.first_at && block.counts[MarkType::Replaced as usize] > 0;
                    let frames = block.frames() - u64::from(block.deletes()) - u64::from(is_listed);
                    if frames > 0 && block.first_at <= scale.window.to {
                        let (at, seq, tone) = (block.last_at, block.last_seq, block.states.worst().unwrap_or_default());
                        found.push(EventMarks { cell: cell(at, &scale), at, seq, kind: own_kind, tone, frames });
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
        let Some(EventMarks { at, seq, kind, .. }) = together.iter().rfind(|one| one.tone == tone) else { continue };
        let (x, count) = (scale.x(*at), together.iter().map(|one| one.frames).sum());
        scene.events.push(EventGlyph { x, y: row.y, tone, kind: *kind, seq: *seq, count });
    }
}

fn step(block: &Block, scale: &Scale) -> Step {
    Step::outside(block, scale.window).unwrap_or_else(|| {
        let is_one = cell(block.first_at, scale) == cell(block.last_at, scale) && block.deletes() == 0;
        if is_one { Step::Whole } else { Step::Open }
    })
}
