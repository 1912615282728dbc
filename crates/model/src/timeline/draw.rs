//! Fills a scene. That costs the marks in the window of the lanes on the screen, and the pixels, however many marks
//! there are.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by_key;

use crate::timeline::Chart;
use crate::timeline::fold::{CROSS, NEAR, PILL_PAD, Spot, fold, label_right};
use crate::timeline::mark::{Counts, LaneOf, Mark, MarkType};
use crate::timeline::marks::Marks;
use crate::timeline::order::Ask;
use crate::timeline::overview::{self, Overview};
use crate::timeline::scale::{HISTORY, Scale, Window, ticks};
use crate::timeline::scene::{Band, Glyph, LaneRow, Layout, Pill, Scene, TimelineView};

/// How wide the overview's columns are, in pixels.
const COLUMN: f64 = 3.0;

/// Buffers that are used again for the next scene.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    spots: Vec<Spot>,
    tones: Vec<Tone>,
    rows: Vec<Option<LaneOf>>,
    crosses: Vec<Glyph>,
    /// The resyncs in the window, by kind, newest first.
    pub(super) resyncs: Vec<Vec<u64>>,
    /// Those of them that told the object of a lane again.
    told: Vec<Spot>,
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
        scene.following = (now - view.window.to).abs() < 1.0;
        scene.counts = Counts::default();
        for own in marks {
            scene.counts += own.overview.counts(view.window.from, view.window.to.min(now));
        }
        ticks(&scene.scale, now, &mut scene.ticks);
        fill_strip(marks, now, scene);
        self.fill_stream(marks, now, scene, &mut scratch.resyncs);

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
        self.order.arrange(marks, ask);
        scratch.rows.clear();
        scratch.rows.extend(self.order.visible(marks, &ask));
        scene.active = self.order.active();
        scene.scrollable = self.order.len();
        let over_lanes = |(_, y): &(f64, f64)| *y >= layout.top && *y < layout.bottom;
        let hovered = view.hover.filter(over_lanes).and_then(|(_, y)| layout.row_at(y));
        scene.crosshair = view.hover.map(|(x, _)| x).filter(|x| *x >= layout.left && *x <= layout.right);
        scene.lanes.clear();
        scene.bands.clear();
        scene.pills.clear();
        scene.glyphs.clear();
        scratch.crosses.clear();
        for row in 0..scratch.rows.len() {
            let y = layout.row_y(row);
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
                live: lane.live,
                selected: view.selected.as_ref().is_some_and(|(other, key)| *other == kind && *key == lane.key),
                hovered: hovered == Some(row),
            }));
            fill_lane(own, (LaneOf { kind, lane: id }, y), scene, scratch);
        }
        // Deletes come last, so that nothing covers them.
        sort_by_key(&mut scene.glyphs, |glyph| glyph.mark_type == MarkType::Deleted);
        scene.glyphs.append(&mut scratch.crosses);
    }
}

/// The overview spans two minutes, then five, then ten, as far as there is a history to show.
fn fill_strip(marks: &[&Marks], now: f64, scene: &mut Scene) {
    let window = scene.scale.window;
    let first = marks.iter().filter_map(|own| own.overview.first_at()).reduce(f64::min);
    let known = first.map_or(0.0, |first| now - first);
    let wanted = known.max(2.0 * window.span()).max(now - window.from);
    let span = [120_000.0, 300_000.0].into_iter().find(|span| *span >= wanted).unwrap_or(HISTORY);
    scene.strip = Scale { window: Window { from: now - span, to: now }, ..scene.scale };
    let overviews: Vec<&Overview> = marks.iter().map(|own| &own.overview).collect();
    overview::columns(&overviews, &scene.strip, COLUMN, &mut scene.columns);
}

/// Adds the bands, pills and glyphs of a lane, whose row has its middle at `y`.
fn fill_lane(marks: &Marks, (LaneOf { kind, lane: id }, y): (LaneOf, f64), scene: &mut Scene, scratch: &mut Scratch) {
    let Some(lane) = marks.lanes.get(id) else {
        return;
    };
    let scale = scene.scale;
    scratch.spots.clear();
    scratch.tones.clear();
    scratch.told.clear();
    // From the newest mark to the oldest, up to the mark that left the state in which the window begins.
    let mut entry = lane.worn;
    let mut next = if lane.marks == 0 { None } else { marks.ring.get(lane.last_seq) };
    let (mut resyncs, mut newer) = (scratch.resyncs.get(kind.index()).map_or(&[][..], Vec::as_slice), None);
    // Adds the resyncs that stand after a mark of the lane.
    let mut resyncs_after = |seq: u64, newer: Option<Mark<'_>>, told: &mut Vec<Spot>| {
        while let Some((first, rest)) = resyncs.split_first().filter(|(first, _)| **first > seq) {
            resyncs = rest;
            let tells = |mark: &Mark<'_>| {
                let resync = mark.resync();
                resync.is_some_and(|resync| marks.tells(resync, mark.seq, lane, newer))
            };
            if let Some(mark) = marks.ring.get(*first).filter(tells) {
                let (x, at, mark_type) = (scale.x(mark.at), mark.at, mark.mark_type);
                told.push(Spot { x, at, seq: mark.seq, mark_type, frames: 1 });
            }
        }
    };
    while let Some(mark) = next {
        resyncs_after(mark.seq, newer, &mut scratch.told);
        newer = Some(mark);
        if mark.at < scale.window.from {
            entry = (mark.mark_type != MarkType::Deleted).then_some(mark.tone);
            break;
        }
        if mark.at <= scale.window.to {
            scratch.spots.push(Spot {
                x: scale.x(mark.at),
                at: mark.at,
                seq: mark.seq,
                mark_type: mark.mark_type,
                frames: mark.frames(),
            });
            scratch.tones.push(mark.tone);
        }
        next = marks.ring.before(&mark);
    }
    resyncs_after(0, newer, &mut scratch.told);
    scratch.spots.reverse();
    scratch.tones.reverse();

    let mut state = entry.map(|tone| (tone, scale.left));
    for (spot, tone) in scratch.spots.iter().zip(&scratch.tones) {
        let tone = (spot.mark_type != MarkType::Deleted).then_some(*tone);
        if tone != state.map(|(tone, _)| tone) {
            push_band(&mut scene.bands, state, spot.x, y);
            state = tone.map(|tone| (tone, spot.x));
        }
    }
    push_band(&mut scene.bands, state, scale.clamped(scale.window.to.min(scene.now)), y);

    let right = scene.layout.right;
    let (glyphs, pills, crosses) = (&mut scene.glyphs, &mut scene.pills, &mut scratch.crosses);
    let before = pills.len();
    fold(&scratch.spots, scale.ms_per_pixel(), |fold| {
        let glyph = |spot: &Spot| Glyph { x: spot.x, y, mark_type: spot.mark_type, seq: spot.seq };
        if !fold.is_pill() {
            glyphs.extend(fold.spots.iter().map(glyph));
            return;
        }
        let (first, last) = (&fold.spots[0], &fold.spots[fold.spots.len() - 1]);
        // Near the right end the number moves to the left until there is room for it.
        let over = (label_right(first.x, &fold.counts) - right).max(0.0);
        let first_x = first.x - over;
        let x = first_x - PILL_PAD;
        if let Some(previous) = pills.last_mut().filter(|previous| previous.y == y) {
            previous.width = previous.width.min(x - 1.0 - previous.x);
        }
        let number = label_right(first_x, &fold.counts);
        pills.push(Pill {
            x,
            width: (last.x.max(number) + PILL_PAD) - x,
            y,
            mark_type: fold.counts.dominant().unwrap_or(last.mark_type),
            counts: fold.counts,
            first: first.seq,
            last: last.seq,
        });
        // A delete is drawn where it happened, or beside the pill's number, but never under the number.
        let mut free = number - CROSS / 2.0;
        for spot in fold.spots.iter().filter(|spot| spot.mark_type == MarkType::Deleted) {
            if spot.x >= free || crosses.last().is_none_or(|last| last.y != y || last.x < first.x) {
                let x = spot.x.max(free);
                crosses.push(Glyph { x, ..glyph(spot) });
                free = x + CROSS;
            }
        }
    });
    // A resync never takes the place of a change. Of several resyncs that are near each other one is drawn. Which one
    // depends only on times, so that it stays the same while the window moves.
    let own = &pills[before..];
    let mut cell = f64::INFINITY;
    for spot in &scratch.told {
        let in_pill = own.iter().any(|pill| pill.x <= spot.x && spot.x <= pill.x + pill.width);
        let in_cell = (spot.at / (NEAR * scale.ms_per_pixel())).floor();
        if in_cell < cell && !in_pill {
            glyphs.push(Glyph { x: spot.x, y, mark_type: spot.mark_type, seq: spot.seq });
        }
        cell = in_cell;
    }
}

fn push_band(bands: &mut Vec<Band>, state: Option<(Tone, f64)>, end: f64, y: f64) {
    let Some((tone, x)) = state.filter(|(tone, _)| *tone != Tone::Plain) else {
        return;
    };
    let width = end - x;
    if width >= 1.0 {
        bands.push(Band { x, width, y, tone });
    } else if tone == Tone::Bad && bands.last().is_none_or(|last| last.y != y || last.tone != tone || x - last.x >= 1.0)
    {
        // A short failure stays visible. Short times of the other states may be left out.
        bands.push(Band { x, width: 1.0, y, tone });
    }
}
