//! Draws a scene. That costs the lanes that are active in the window, and the pixels, however many marks there are.

use kubechurn_client::api::sort::sort_by_key;

use crate::timeline::lanes::ask::Ask;
use crate::timeline::lanes::choice::LanesBy;
use crate::timeline::lanes::groups::Groups;
use crate::timeline::lanes::order::Order;
use crate::timeline::scale::{HISTORY, Scale, Window};
use crate::timeline::scene::contents::{LaneRow, MomentFlag, Scene};
use crate::timeline::scene::events::fill_events;
use crate::timeline::scene::group_rows::fill_groups;
use crate::timeline::scene::lane::{RowLane, fill_lane};
use crate::timeline::scene::layout::Layout;
use crate::timeline::scene::row_gaps::add_row_gaps;
use crate::timeline::scene::scratch::{RowStart, Scratch};
use crate::timeline::scene::source::Source;
use crate::timeline::scene::stream::fill_stream;
use crate::timeline::scene::ticks::ticks;
use crate::timeline::store::mark::{Counts, LaneOf, MarkType};
use crate::timeline::store::marks::Marks;
use crate::timeline::store::overview::{Overview, columns};

/// How wide the overview's columns are, in pixels.
const COLUMN: f64 = 3.0;

/// Draws the scene of a source.
pub(in crate::timeline) fn draw(
    source: &Source<'_>,
    order: &mut Order,
    groups: &mut Groups,
    scene: &mut Scene,
    scratch: &mut Scratch,
) {
    let Source { marks, view, now, labels, .. } = *source;
    let layout = Layout::new((view.width, view.height), labels, view.labels);
    scene.layout = layout;
    scene.now = now;
    scene.scale = Scale { window: view.window, left: layout.left, width: layout.right - layout.left };
    scene.following = view.window.ends_at(now);
    scene.counts = Counts::default();
    for own in marks {
        scene.counts += own.overview.counts(view.window.from, view.window.to.min(now));
    }
    ticks(&scene.scale, (now, view.offsets), &mut scene.ticks);
    fill_strip(marks, now, scene);
    scene.span = view.span.and_then(|span| scene.scale.stretch(span));
    scene.strip_span = view.span.and_then(|span| scene.strip.stretch(span));
    let flag = |at: f64| scene.scale.window.contains(at).then(|| scene.scale.x(at));
    scene.compared = view.compared.map_or([None; 2], |Window { from, to }| [from, to.min(now)].map(flag));
    scene.moment = view.moment.as_ref().map(|(at, words)| {
        let x = |scale: &Scale| scale.window.contains(*at).then(|| scale.x(*at));
        let later = (*at < view.window.to).then(|| scene.scale.clamped(*at));
        MomentFlag { x: x(&scene.scale), strip_x: x(&scene.strip), later, words: words.clone() }
    });
    fill_stream(source, scene, scratch);

    let ask = Ask {
        now,
        window: view.window,
        rows: layout.rows,
        scroll: view.scroll,
        hold: view.hold,
        selected: view.selected.as_ref().and_then(|(kind, key)| {
            let lane = marks.get(kind.index())?.lanes.find(key)?;
            Some(LaneOf { kind: *kind, lane })
        }),
    };
    scene.crosshair = view.hover.map(|(x, _)| x).filter(|x| *x >= layout.left && *x <= layout.right);
    scene.lanes.clear();
    scene.row_gaps.clear();
    scene.bands.clear();
    scene.labels.clear();
    scene.events.clear();
    scene.pills.clear();
    scene.glyphs.clear();
    scratch.crosses.clear();
    groups.note_events(marks);
    if groups.is_in_use() {
        fill_groups(source, &ask, groups, scene, scratch);
    } else {
        fill_lanes(source, &ask, order, scene, scratch);
    }
    // Deletes come last, so that nothing covers them.
    sort_by_key(&mut scene.glyphs, |glyph| glyph.mark_type == MarkType::Deleted);
    scene.glyphs.append(&mut scratch.crosses);
}

/// Fills the scene with a row for each lane.
fn fill_lanes(source: &Source<'_>, ask: &Ask, order: &mut Order, scene: &mut Scene, scratch: &mut Scratch) {
    let Source { marks, names, view, .. } = *source;
    order.arrange(marks, *ask);
    scratch.rows.clear();
    scratch.rows.extend(order.visible(marks, ask));
    scene.active = order.active();
    scene.scrollable = order.len();
    scene.lanes_by = LanesBy::Object;
    let hovered = view.hovered_row(&scene.layout);
    for row in 0..scratch.rows.len() {
        let y = scene.layout.row_y(row);
        let Some(drawn) = scratch.rows[row].and_then(|of| RowLane::new(marks, of, y)) else {
            scene.lanes.push(None);
            continue;
        };
        let RowLane { own, of: LaneOf { kind, lane: id }, lane, .. } = drawn;
        scene.lanes.push(Some(LaneRow {
            y,
            lane: id,
            kind,
            kind_name: names.short(kind),
            key: lane.key.clone(),
            word: own.state_of(lane).map(|state| own.words.get(state)).unwrap_or_default(),
            live: lane.live,
            selected: view.selected.as_ref().is_some_and(|(other, key)| *other == kind && *key == lane.key),
            hovered: hovered == Some(row),
            group: None,
        }));
        add_row_gaps(y, Some(kind), &scratch.gaps, &mut scene.row_gaps);
        let start = RowStart::of(scene, scratch);
        fill_lane(&drawn, scene, scratch);
        if marks.len() > 1 {
            fill_events(marks, &drawn, scene, &mut scratch.events);
        }
        start.fill_labels(scene, scratch);
    }
}

/// How long the overview may be, in milliseconds, beside [`HISTORY`]: from two minutes to four days.
const STRIPS: [f64; 12] = {
    const MINUTE: f64 = 60_000.0;
    const HOUR: f64 = 60.0 * MINUTE;
    [
        2.0 * MINUTE,
        5.0 * MINUTE,
        10.0 * MINUTE,
        20.0 * MINUTE,
        HOUR,
        2.0 * HOUR,
        4.0 * HOUR,
        8.0 * HOUR,
        16.0 * HOUR,
        24.0 * HOUR,
        48.0 * HOUR,
        96.0 * HOUR,
    ]
};

/// The overview shows the whole recording, up to a week. Its end is the time, rounded up to a column, so that the strip
/// stands still until the next column begins.
fn fill_strip(marks: &[&Marks], now: f64, scene: &mut Scene) {
    let window = scene.scale.window;
    let first = marks.iter().filter_map(|own| own.overview.first_at()).reduce(f64::min);
    let known = first.map_or(0.0, |first| now - first);
    let wanted = known.max(2.0 * window.span()).max(now - window.from);
    let span = STRIPS.into_iter().find(|span| *span >= wanted).unwrap_or(HISTORY);
    let column = span / scene.scale.width.max(1.0) * COLUMN;
    let to = (now / column).ceil() * column;
    scene.strip = Scale { window: Window { from: to - span, to }, ..scene.scale };
    // The part of the strip that is in the window stands still with it.
    let late = if scene.following { to - now } else { 0.0 };
    scene.framed = [window.from, window.to].map(|at| scene.strip.clamped(at + late));
    let overviews: Vec<&Overview> = marks.iter().map(|own| &own.overview).collect();
    columns(&overviews, &scene.strip, COLUMN, &mut scene.columns);
}
