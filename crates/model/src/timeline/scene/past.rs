//! Fills a scene with what the objects of its lanes say of their past: hollow marks at those times, and a hatched stretch
//! from the first of them to the first mark that was received. None of it is a mark, and no count has it.

use crate::kind_id::KindId;
use crate::timeline::scene::contents::{FindPast, PastArea, PastGlyph, PastMoment, REACH, Scene};
use crate::timeline::scene::pointer::known;
use crate::timeline::store::marks::Marks;

/// Fills in the past of the lanes in sight. `find` gives what an object says, the newest first.
pub(in crate::timeline) fn fill_past(marks: &[&Marks], scene: &mut Scene, find: &mut FindPast<'_>) {
    let Scene { lanes, past, past_areas, scale, .. } = scene;
    past.clear();
    past_areas.clear();
    for row in lanes.iter().flatten() {
        let Some((own, lane)) = known(marks, row) else { continue };
        let mut all = find(row.kind, &lane.key, &lane.uid).to_vec();
        for (kind, other) in (0..).map(KindId).zip(marks).filter(|(_, other)| !other.event_targets.is_empty()) {
            let events = other.events_about(own.kind, lane);
            events.for_each(|event| all.extend_from_slice(&find(kind, &event.key, &event.uid)));
        }
        let Some(oldest) = all.iter().map(|moment| moment.at).reduce(f64::min) else { continue };
        let (x, end) = (scale.clamped(oldest), scale.clamped(lane.first_at));
        if x < end {
            past_areas.push(PastArea { x, width: end - x, y: row.y });
        }
        let in_window = all.into_iter().filter(|moment| scale.window.contains(moment.at));
        past.extend(in_window.map(|moment| PastGlyph { x: scale.x(moment.at), y: row.y, moment }));
    }
}

/// The hollow mark at a point of a scene.
pub(in crate::timeline) fn past_at(scene: &Scene, x: f64, y: f64) -> Option<&PastMoment> {
    let half = scene.layout.row_height / 2.0;
    let near = scene.past.iter().filter(|glyph| (glyph.y - y).abs() <= half && (glyph.x - x).abs() <= REACH);
    near.min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs())).map(|glyph| &glyph.moment)
}
