//! Fills a scene with the rows of groups.

use kubechurn_client::api::cell::Tone;

use crate::kind_id::KindId;
use crate::timeline::lanes::ask::Ask;
use crate::timeline::lanes::choice::{GroupId, GroupRow};
use crate::timeline::lanes::groups::{Groups, RowEntry};
use crate::timeline::lanes::index::entry::Anchor;
use crate::timeline::lanes::rows::Row;
use crate::timeline::scene::contents::{Glyph, LaneRow, Scene};
use crate::timeline::scene::events::fill_events;
use crate::timeline::scene::fold::{Spot, fold};
use crate::timeline::scene::lane::{RowLane, add_fold, fill_lane, fill_states};
use crate::timeline::scene::row_gaps::add_row_gaps;
use crate::timeline::scene::scratch::{RowStart, Scratch};
use crate::timeline::scene::source::Source;
use crate::timeline::store::mark::{Counts, LaneId, LaneOf, MarkType};

/// The lane of a row that has none.
const NO_LANE: LaneOf = LaneOf { kind: KindId(u8::MAX), lane: LaneId(u32::MAX) };

/// Fills the scene with the rows of groups and lanes.
pub(super) fn fill_groups(
    source: &Source<'_>,
    ask: &Ask,
    groups: &mut Groups,
    scene: &mut Scene,
    scratch: &mut Scratch,
) {
    let Source { marks, view, .. } = *source;
    groups.arrange(marks, ask);
    let rows = groups.visible(ask);
    groups.count(&rows, marks, &scene.scale);
    scene.active = groups.active();
    scene.scrollable = groups.len();
    scene.lanes_by = groups.by();
    let hovered = view.hovered_row(&scene.layout);
    for (number, row) in rows.iter().enumerate() {
        let y = scene.layout.row_y(number);
        let Some(known) = groups.entry(marks, row) else {
            scene.lanes.push(None);
            continue;
        };
        let group = group_row(source, groups, row, &known, scene);
        let LaneOf { kind, lane } = known.lane.map_or(NO_LANE, |(of, _)| of);
        let drawn = known.lane.and_then(|(of, _)| RowLane::new(marks, of, y));
        let word = drawn.as_ref().and_then(|RowLane { own, lane, .. }| Some(own.words.get(own.state_of(lane)?)));
        scene.lanes.push(Some(LaneRow {
            y,
            lane,
            kind,
            kind_name: source.names.short(kind),
            key: known.key.clone(),
            word: word.unwrap_or_default(),
            live: known.lane.is_none_or(|(_, lane)| lane.live),
            selected: known.lane.is_some_and(|(of, _)| Some(of) == ask.selected),
            hovered: hovered == Some(number),
            group: Some(Box::new(group)),
        }));
        let of_kind = match known.entry.label.as_deref().map(|label| &label.anchor) {
            Some(Anchor::Kind(kind)) => Some(*kind),
            _ => known.lane.map(|(of, _)| of.kind),
        };
        add_row_gaps(y, of_kind, &scratch.gaps, &mut scene.row_gaps);
        let start = RowStart::of(scene, scratch);
        match (known.is_counted, &drawn) {
            (true, drawn) => {
                if let Some(drawn) = drawn {
                    fill_states(drawn, scene, scratch);
                }
                fill_closed(groups, row.id, y, scene, scratch);
            }
            (false, Some(drawn)) => {
                fill_lane(drawn, scene, scratch);
                if marks.len() > 1 {
                    fill_events(marks, drawn, scene, &mut scratch.events);
                }
            }
            (false, None) => {}
        }
        start.fill_labels(scene, scratch);
    }
}

/// The label of a row.
fn group_row(source: &Source<'_>, groups: &Groups, row: &Row, known: &RowEntry<'_>, scene: &Scene) -> GroupRow {
    let RowEntry { entry, lane, is_counted, .. } = *known;
    let label = entry.label.as_deref().filter(|_| lane.is_none());
    GroupRow {
        id: row.id,
        depth: row.depth,
        open: row.has_members.then_some(entry.open),
        members: entry.members,
        kept: row.kept && row.depth == 0,
        word: label.map_or_else(Box::default, |label| label.word.clone()),
        long: lane.map_or("", |(of, _)| source.names.long(of.kind)),
        name: groups.name(source.marks, known, row.depth).into(),
        counts: if is_counted { groups.counts(row.id, &scene.scale) } else { Counts::default() },
    }
}

/// Adds the marks of a closed group, or of an object below a manager.
fn fill_closed(groups: &Groups, id: GroupId, y: f64, scene: &mut Scene, scratch: &mut Scratch) {
    let scale = scene.scale;
    scratch.spots.clear();
    // Of several objects it is no news that one of them is well.
    let quiet = |spot: Spot| Spot { tone: if spot.tone == Tone::Good { Tone::Plain } else { spot.tone }, ..spot };
    scratch.spots.extend(groups.parts(id, &scale).map(|part| quiet(Spot::of(part.block, &scale))));
    let delete_of = |spot: &Spot| {
        let mut parts = groups.parts(id, &scale);
        let part = parts.find(|part| part.block.first_at == spot.block.first_at && part.delete.is_some())?;
        part.delete.map(|(at, seq, _)| (at, seq))
    };
    fold(&scratch.spots, scale.ms_per_pixel(), |fold| {
        if fold.is_pill() {
            return add_fold(&fold, y, scene, &mut scratch.crosses, delete_of);
        }
        for Spot { x, block, tone, .. } in fold.spots {
            for (mark_type, _) in MarkType::ALL.into_iter().zip(block.counts).filter(|(_, count)| *count > 0) {
                let tone = if mark_type == MarkType::Deleted { Tone::Plain } else { *tone };
                let glyph = Glyph { x: *x, y, mark_type, tone, seq: block.last_seq };
                if mark_type == MarkType::Deleted { scratch.crosses.push(glyph) } else { scene.glyphs.push(glyph) }
            }
        }
    });
}
