//! Fills a scene with the times that are lost: that of which only marks remain, because the recorder dropped the texts
//! of its changes, and that of which nothing remains. Both are drawn in the overview, too, where the counts of that
//! time still stand.

use crate::kind_id::KindId;
use crate::timeline::scale::Scale;
use crate::timeline::scene::contents::{GapArea, Kept, Scene};
use crate::timeline::scene::source::Source;
use crate::timeline::scene::ticks::{Label, Precision, Tick};
use crate::timeline::store::mark::grouped;
use crate::timeline::store::marks::Marks;

/// A time is shown with its seconds up to so many milliseconds later, and with its date from [`DAYS`] on.
const RECENT: f64 = 600_000.0;
const DAYS: f64 = 20.0 * 3_600_000.0;

/// Adds the times of which less is kept than was received.
pub(super) fn fill_lost(source: &Source<'_>, scene: &mut Scene) {
    let Source { marks, names, view, now, texts_since, .. } = *source;
    scene.lost.clear();
    let lanes = scene.scale;
    let strip = scene.strip;
    let window = lanes.window;
    let clock = |at: f64| {
        let precision = match now - at {
            ago if ago < RECENT => Precision::Second,
            ago if ago < DAYS => Precision::Minute,
            _ => Precision::DateAndTime,
        };
        Tick { x: 0.0, label: Label::Local(view.offsets.local(at), precision) }.label()
    };
    for (kind, own) in (0..).map(KindId).zip(marks) {
        let evicted = own.ring.evicted().total();
        if evicted > 0
            && let Some(oldest) = own.ring.oldest().filter(|oldest| oldest.at > window.from)
        {
            let note = format!("nothing is kept before {}, {} older marks dropped", clock(oldest.at), grouped(evicted));
            let note = names.about(&[kind], &note);
            let gap = area(&lanes, (window.from, oldest.at.min(window.to)), note, vec![kind]);
            scene.gaps.push(GapArea { kept: Kept::Nothing, ..gap });
        }
    }
    let Some(first) = marks.iter().filter_map(|own| own.overview.first_at()).reduce(f64::min) else { return };
    let nothing = nothing_before(marks);
    if let Some(end) = nothing {
        let note = format!("nothing is kept before {}", clock(end));
        scene.lost.extend(part(&strip, (first, end), &note, Kept::Nothing, marks.len()));
    }
    if let Some(since) = texts_since {
        let note = format!("only marks before {}", clock(since));
        let from = nothing.unwrap_or(first);
        scene.lost.extend(part(&strip, (from, since), &note, Kept::Marks, marks.len()));
        scene.gaps.extend(part(&lanes, (from, since), &note, Kept::Marks, marks.len()));
    }
}

/// An area of the lanes or of the strip, in which nothing is known of some kinds.
pub(super) fn area(scale: &Scale, (from, to): (f64, f64), note: String, kinds: Vec<KindId>) -> GapArea {
    let x = scale.clamped(from);
    GapArea { x, width: (scale.clamped(to) - x).max(1.0), from, to, note, kept: Kept::All, kinds }
}

/// The time before which no kind has marks any more; `None` if some kind has all of its marks.
fn nothing_before(marks: &[&Marks]) -> Option<f64> {
    let mut oldest = None;
    for own in marks.iter().filter(|own| own.made() > 0) {
        if own.ring.evicted().total() == 0 {
            return None;
        }
        let own = own.ring.oldest().map_or(own.ring.last_at(), |mark| mark.at);
        oldest = Some(oldest.map_or(own, |oldest: f64| oldest.min(own)));
    }
    oldest
}

/// The part of a time that is on the scale, if there is any; of which less is kept of all kinds, which are so many.
fn part(scale: &Scale, (from, to): (f64, f64), note: &str, kept: Kept, kinds: usize) -> Option<GapArea> {
    let (from, to) = (from.max(scale.window.from), to.min(scale.window.to));
    let kinds = || (0..).map(KindId).take(kinds).collect();
    (from < to).then(|| GapArea { kept, ..area(scale, (from, to), note.into(), kinds()) })
}
