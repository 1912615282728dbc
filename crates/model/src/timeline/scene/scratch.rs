//! Buffers that are used again for the next scene.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by;

use crate::kind_id::KindId;
use crate::timeline::scene::bands::{fill_labels, has_room};
use crate::timeline::scene::contents::{Glyph, Scene};
use crate::timeline::scene::fold::Spot;
use crate::timeline::scene::row_gaps::KindGaps;
use crate::timeline::store::mark::LaneOf;

/// How far a mark reaches from its middle, in pixels.
const GLYPH: f64 = 5.0;

/// A resync that replayed the object of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResyncMark {
    pub(super) x: f64,
    pub(super) at: f64,
    pub(super) seq: u64,
}

/// Marks of Events in one stretch of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventMarks {
    /// The number of the stretch: the same wherever the window is.
    pub(super) cell: f64,
    pub(super) at: f64,
    pub(super) seq: u64,
    pub(super) kind: KindId,
    pub(super) tone: Tone,
    pub(super) frames: u64,
}

/// The buffers.
#[derive(Debug, Default)]
pub(in crate::timeline) struct Scratch {
    /// The marks of a lane, the oldest first.
    pub(in crate::timeline) spots: Vec<Spot>,
    pub(super) rows: Vec<Option<LaneOf>>,
    /// The deletes of pills, which are drawn last.
    pub(super) crosses: Vec<Glyph>,
    /// The gaps of each kind.
    pub(super) gaps: Vec<KindGaps>,
    /// The numbers of the resyncs in the window, by kind, newest first.
    pub(super) resyncs: Vec<Vec<u64>>,
    /// Those of them that replayed the object of a lane.
    pub(super) replayed: Vec<ResyncMark>,
    /// The Events of a row.
    pub(super) events: Vec<EventMarks>,
    /// From where to where marks are drawn in a row, from left to right.
    taken: Vec<(f64, f64)>,
}

/// How much a scene contains before the next row is drawn.
pub(super) struct RowStart {
    bands: usize,
    pills: usize,
    glyphs: usize,
    crosses: usize,
    events: usize,
}

impl RowStart {
    /// The start of the row that is drawn next.
    pub(super) fn of(scene: &Scene, scratch: &Scratch) -> RowStart {
        RowStart {
            bands: scene.bands.len(),
            pills: scene.pills.len(),
            glyphs: scene.glyphs.len(),
            crosses: scratch.crosses.len(),
            events: scene.events.len(),
        }
    }

    /// Writes the words of the row's bands, beside its marks.
    pub(super) fn fill_labels(&self, scene: &mut Scene, scratch: &mut Scratch) {
        if !scene.bands[self.bands..].iter().any(has_room) {
            return;
        }
        let taken = &mut scratch.taken;
        taken.clear();
        taken.extend(scene.pills[self.pills..].iter().map(|pill| (pill.x, pill.x + pill.width)));
        let glyphs = scene.glyphs[self.glyphs..].iter().chain(&scratch.crosses[self.crosses..]);
        taken.extend(glyphs.map(|glyph| (glyph.x - GLYPH, glyph.x + GLYPH)));
        taken.extend(scene.events[self.events..].iter().map(|event| (event.x - GLYPH, event.x + GLYPH)));
        sort_by(taken, |one, other| one.0.total_cmp(&other.0));
        // The ends are put in order, too.
        let mut end = f64::NEG_INFINITY;
        for one in taken.iter_mut() {
            end = end.max(one.1);
            one.1 = end;
        }
        fill_labels(self.bands, taken, scene);
    }
}
