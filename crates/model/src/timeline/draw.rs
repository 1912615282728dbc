//! Fills a scene. That costs the lanes that are active in the window, and the pixels, however many marks there are.

use kubechurn_client::api::sort::{sort_by, sort_by_key};

use crate::timeline::Chart;
use crate::timeline::bands::{fill_labels, has_room};
use crate::timeline::draw_lane::{Told, fill_lane};
use crate::timeline::events::{Found, fill_events};
use crate::timeline::fold::Spot;
use crate::timeline::groups::LanesBy;
use crate::timeline::mark::{Counts, LaneOf, MarkType};
use crate::timeline::marks::Marks;
use crate::timeline::order::Ask;
use crate::timeline::overview::{self, Overview};
use crate::timeline::scale::{HISTORY, Scale, Window};
use crate::timeline::scene::{Glyph, LaneRow, Layout, Scene, TimelineView};
use crate::timeline::ticks::ticks;

/// How wide the overview's columns are, in pixels.
const COLUMN: f64 = 3.0;

/// How far a mark reaches from its middle, in pixels.
const GLYPH: f64 = 5.0;

/// Buffers that are used again for the next scene.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) spots: Vec<Spot>,
    rows: Vec<Option<LaneOf>>,
    pub(super) crosses: Vec<Glyph>,
    /// The resyncs in the window, by kind, newest first.
    pub(super) resyncs: Vec<Vec<u64>>,
    /// Those of them that told the object of a lane again.
    pub(super) told: Vec<Told>,
    /// The Events of a row.
    pub(super) found: Vec<Found>,
    /// From where to where marks are drawn in a row, from left to right.
    taken: Vec<(f64, f64)>,
}

/// Where what is drawn of a row begins.
pub(super) struct RowStart {
    bands: usize,
    pills: usize,
    glyphs: usize,
    crosses: usize,
    events: usize,
}

impl RowStart {
    /// The row that is drawn next.
    pub(super) fn of(scene: &Scene, scratch: &Scratch) -> RowStart {
        let (bands, pills, glyphs) = (scene.bands.len(), scene.pills.len(), scene.glyphs.len());
        RowStart { bands, pills, glyphs, crosses: scratch.crosses.len(), events: scene.events.len() }
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

impl Chart {
    /// Fills the scene of these kinds' marks, as it is seen at a time.
    pub(super) fn fill(
        &mut self,
        marks: &[&Marks],
        (view, now): (&TimelineView, f64),
        scene: &mut Scene,
        scratch: &mut Scratch,
    ) {
        let layout = Layout::new(view.width, view.height);
        let width = layout.right - layout.left;
        scene.layout = layout;
        scene.now = now;
        scene.scale = Scale { window: view.window, left: layout.left, width };
        scene.following = view.window.ends_at(now);
        scene.counts = Counts::default();
        for own in marks {
            scene.counts += own.overview.counts(view.window.from, view.window.to.min(now));
        }
        ticks(&scene.scale, (now, view.zone), &mut scene.ticks);
        fill_strip(marks, now, scene);
        scene.span = view.span.and_then(|span| scene.scale.stretch(span));
        scene.strip_span = view.span.and_then(|span| scene.strip.stretch(span));
        self.fill_stream(marks, (now, view.zone), scene, &mut scratch.resyncs);

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
        let over_lanes = |(_, y): &(f64, f64)| *y >= layout.top && *y < layout.bottom;
        let hovered = view.hover.filter(over_lanes).and_then(|(_, y)| layout.row_at(y));
        scene.crosshair = view.hover.map(|(x, _)| x).filter(|x| *x >= layout.left && *x <= layout.right);
        scene.lanes.clear();
        scene.bands.clear();
        scene.labels.clear();
        scene.events.clear();
        scene.pills.clear();
        scene.glyphs.clear();
        scratch.crosses.clear();
        if self.groups.is_in_use() {
            self.fill_groups(marks, &ask, hovered, scene, scratch);
        } else {
            self.fill_lanes(marks, &ask, (view, hovered), scene, scratch);
        }
        // Deletes come last, so that nothing covers them.
        sort_by_key(&mut scene.glyphs, |glyph| glyph.mark_type == MarkType::Deleted);
        scene.glyphs.append(&mut scratch.crosses);
    }

    /// Fills the scene with a row for each lane.
    fn fill_lanes(
        &mut self,
        marks: &[&Marks],
        ask: &Ask,
        (view, hovered): (&TimelineView, Option<usize>),
        scene: &mut Scene,
        scratch: &mut Scratch,
    ) {
        self.order.arrange(marks, *ask);
        scratch.rows.clear();
        scratch.rows.extend(self.order.visible(marks, ask));
        scene.active = self.order.active();
        scene.scrollable = self.order.len();
        scene.lanes_by = LanesBy::Object;
        for row in 0..scratch.rows.len() {
            let y = scene.layout.row_y(row);
            let found = scratch.rows[row].and_then(|LaneOf { kind, lane: id }| {
                let own = *marks.get(kind.index())?;
                Some((kind, id, own, own.lanes.get(id)?))
            });
            let Some((kind, id, own, lane)) = found else {
                scene.lanes.push(None);
                continue;
            };
            scene.lanes.push(Some(LaneRow {
                y,
                lane: id,
                kind,
                kind_name: self.names.get(kind.index()).map_or("", |name| name.short),
                key: lane.key.clone(),
                word: own.state_of(lane).map(|state| own.words.get(state)).unwrap_or_default(),
                live: lane.live,
                selected: view.selected.as_ref().is_some_and(|(other, key)| *other == kind && *key == lane.key),
                hovered: hovered == Some(row),
                group: None,
            }));
            let first = RowStart::of(scene, scratch);
            fill_lane(own, (LaneOf { kind, lane: id }, y), scene, scratch);
            if marks.len() > 1 {
                fill_events(marks, (own.kind, lane), y, scene, &mut scratch.found);
            }
            first.fill_labels(scene, scratch);
        }
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
    overview::columns(&overviews, &scene.strip, COLUMN, &mut scene.columns);
}
