//! Fills a scene with what was noted: above the lanes, and below the overview.

use kubechurn_changes::note::Note;

use crate::timeline::scale::Scale;
use crate::timeline::scene::contents::{NoteMark, Scene};

/// Fills in the notes of the time of the overview and of the window.
pub(in crate::timeline) fn fill_notes(notes: &[Note], scene: &mut Scene) {
    let Scene { noted, scale, strip, .. } = scene;
    let place = |scale: &Scale, at: f64| scale.window.contains(at).then(|| scale.x(at));
    let mark = |note: &Note| NoteMark { note: note.clone(), x: place(scale, note.at), strip_x: place(strip, note.at) };
    noted.clear();
    noted.extend(notes.iter().map(mark).filter(|mark| mark.x.or(mark.strip_x).is_some()));
}

/// The note at a point of a scene.
pub(in crate::timeline) fn note_at(scene: &Scene, x: f64, y: f64) -> Option<&Note> {
    let layout = &scene.layout;
    let is_above = (layout.top - NoteMark::ABOVE..layout.top).contains(&y);
    let is_below = (layout.strip_bottom..layout.strip_bottom + NoteMark::BELOW).contains(&y);
    let away = |mark: &NoteMark| {
        let at = mark.x.filter(|_| is_above).or(mark.strip_x.filter(|_| is_below))?;
        Some((at - x).abs()).filter(|away| *away <= NoteMark::HALF + 2.0)
    };
    let near = scene.noted.iter().filter_map(|mark| Some((away(mark)?, &mark.note)));
    near.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, note)| note)
}
