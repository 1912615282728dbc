//! Fills a scene. Costs the visible lanes' marks in the window and the pixels, whatever else is in the ring.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::{sort_by, sort_by_key};

use crate::timeline::Timeline;
use crate::timeline::fold::{CHAR, CROSS, NEAR, PILL_PAD, Spot, fold, label_right};
use crate::timeline::mark::LaneId;
use crate::timeline::mark::{Mark, MarkType, Subject, grouped};
use crate::timeline::order::Ask;
use crate::timeline::scale::{HISTORY, Scale, Window, ticks};
use crate::timeline::scene::{Band, GapArea, Glyph, LaneRow, Layout, NoteLabel, Pill, Scene, StreamLine, TimelineView};

/// How wide the overview's columns are, in pixels.
const COLUMN: f64 = 3.0;

/// Buffers that are kept from scene to scene.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    spots: Vec<Spot>,
    tones: Vec<Tone>,
    rows: Vec<Option<LaneId>>,
    crosses: Vec<Glyph>,
    /// The resyncs in the window, and those of them that told the object of a lane again, newest first.
    resyncs: Vec<u64>,
    told: Vec<Spot>,
}

impl Timeline {
    pub(crate) fn fill(&mut self, view: &TimelineView, now: f64, scene: &mut Scene, scratch: &mut Scratch) {
        let layout = Layout::new(view.width, view.height);
        let width = layout.right - layout.left;
        scene.layout = layout;
        scene.now = now;
        scene.scale = Scale { window: view.window, left: layout.left, width };
        scene.following = (now - view.window.to).abs() < 1.0;
        scene.counts = self.overview.counts(view.window.from, view.window.to.min(now));
        ticks(&scene.scale, now, &mut scene.ticks);
        self.fill_strip(now, scene);
        self.fill_stream(now, scene, &mut scratch.resyncs);

        let ask = Ask {
            now,
            window: view.window,
            rows: layout.rows,
            scroll: view.scroll,
            hold: view.hold,
            selected: view.selected.as_ref().and_then(|(kind, key)| self.lanes.find(*kind, key)),
        };
        self.order.arrange(&self.lanes, &self.ring, ask);
        scratch.rows.clear();
        scratch.rows.extend(self.order.visible(&self.lanes, &ask));
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
            let id = scratch.rows[row];
            let y = layout.row_y(row);
            let Some((id, lane)) = id.and_then(|id| Some((id, self.lanes.get(id)?))) else {
                scene.lanes.push(None);
                continue;
            };
            scene.lanes.push(Some(LaneRow {
                y,
                lane: id,
                kind: lane.kind,
                kind_name: self.kinds.get(lane.kind.index()).map_or("", |name| name.short),
                key: lane.key.clone(),
                live: lane.live,
                selected: view.selected.as_ref().is_some_and(|(kind, key)| *kind == lane.kind && *key == lane.key),
                hovered: hovered == Some(row),
            }));
            self.fill_lane(id, y, scene, scratch);
        }
        // Deletes last: whatever else happened there, they are on top.
        sort_by_key(&mut scene.glyphs, |glyph| glyph.mark_type == MarkType::Deleted);
        scene.glyphs.append(&mut scratch.crosses);
    }

    /// The overview spans two minutes, then five, then ten, as far as there is a history to show.
    fn fill_strip(&self, now: f64, scene: &mut Scene) {
        let window = scene.scale.window;
        let known = self.overview.first_at().map_or(0.0, |first| now - first);
        let wanted = known.max(2.0 * window.span()).max(now - window.from);
        let span = [120_000.0, 300_000.0].into_iter().find(|span| *span >= wanted).unwrap_or(HISTORY);
        scene.strip = Scale { window: Window { from: now - span, to: now }, ..scene.scale };
        self.overview.columns(&scene.strip, COLUMN, &mut scene.columns);
    }

    /// One lane's bands, pills and glyphs.
    fn fill_lane(&self, id: LaneId, y: f64, scene: &mut Scene, scratch: &mut Scratch) {
        let Some(lane) = self.lanes.get(id) else {
            return;
        };
        let scale = scene.scale;
        scratch.spots.clear();
        scratch.tones.clear();
        scratch.told.clear();
        // Newest to oldest, up to the one that left the state in which the window begins.
        let mut entry = lane.worn;
        let mut next = if lane.marks == 0 { None } else { self.ring.get(lane.last_seq) };
        let (mut resyncs, mut newer) = (&*scratch.resyncs, None);
        // Resyncs stand between the lane's own marks.
        let mut resyncs_after = |seq: u64, newer: Option<&Mark>, told: &mut Vec<Spot>| {
            while let Some((first, rest)) = resyncs.split_first().filter(|(first, _)| **first > seq) {
                resyncs = rest;
                let tells = |mark: &&Mark| {
                    let resync = mark.resync();
                    resync.is_some_and(|resync| self.tells(resync, mark.seq, lane, newer))
                };
                if let Some(mark) = self.ring.get(*first).filter(tells) {
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
            next = self.ring.before(mark);
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
            // At the right end the number moves to the left until there is room for it.
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
            // A delete is where it happened, or beside the pill's number, but never under it.
            let mut free = number - CROSS / 2.0;
            for spot in fold.spots.iter().filter(|spot| spot.mark_type == MarkType::Deleted) {
                if spot.x >= free || crosses.last().is_none_or(|last| last.y != y || last.x < first.x) {
                    let x = spot.x.max(free);
                    crosses.push(Glyph { x, ..glyph(spot) });
                    free = x + CROSS;
                }
            }
        });
        // A resync never takes the place of what changed; of several that are near, one is shown for all. Which one
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

    /// Relists, gaps, resyncs, and what was evicted.
    fn fill_stream(&self, now: f64, scene: &mut Scene, resyncs: &mut Vec<u64>) {
        resyncs.clear();
        scene.gaps.clear();
        scene.lines.clear();
        scene.notes.clear();
        let scale = scene.scale;
        let window = scale.window;
        if let Some((from, note)) = self.open.as_ref().filter(|(from, _)| *from <= window.to && now >= window.from) {
            scene.gaps.push(area(&scale, *from, now, note));
        }
        let mut next = self.ring.get(self.last_stream);
        while let Some(mark) = next {
            // A gap is stamped when it ends, so nothing before this one reaches into the window.
            if mark.at < window.from {
                break;
            }
            if mark.resync().is_some() && mark.at <= window.to {
                resyncs.push(mark.seq);
            } else if let Subject::Stream { from, note } = &mark.subject {
                if mark.mark_type == MarkType::Gap && *from <= window.to {
                    scene.gaps.push(area(&scale, *from, mark.at, note));
                } else if mark.mark_type == MarkType::Relist && mark.at <= window.to {
                    scene.lines.push(StreamLine {
                        x: scale.x(mark.at),
                        at: mark.at,
                        note: note.to_string(),
                        headed: true,
                    });
                }
            }
            next = self.ring.before(mark);
        }
        let evicted = self.ring.evicted().total();
        if evicted > 0
            && let Some(oldest) = self.ring.oldest().filter(|oldest| oldest.at > window.from)
        {
            let note = format!("{} older marks dropped", grouped(evicted));
            let to = oldest.at.min(window.to);
            scene.gaps.push(GapArea { evicted: true, ..area(&scale, window.from, to, &note) });
        }
        scene.gaps.reverse();
        scene.lines.reverse();

        let gaps = scene.gaps.iter().map(|gap| (gap.x, gap.note.as_str(), false));
        let lines = scene.lines.iter().map(|line| (line.x, line.note.as_str(), true));
        let mut words: Vec<(f64, &str, bool)> = lines.chain(gaps).collect();
        sort_by(&mut words, |one, other| one.0.total_cmp(&other.0));
        place(&words, (scale.left, scene.layout.right), &mut scene.notes);
        for line in &mut scene.lines {
            line.headed = !scene.notes.iter().any(|note| note.x + 1.0 < line.x && line.x < words_end(note));
        }
    }
}

fn area(scale: &Scale, from: f64, to: f64, note: &str) -> GapArea {
    let x = scale.clamped(from);
    GapArea { x, width: (scale.clamped(to) - x).max(1.0), from, to, note: note.into(), evicted: false }
}

/// Where the words beside a line end, with some room after them.
fn words_end(note: &NoteLabel) -> f64 {
    note.x + (note.text.chars().count() as f64 + 3.0) * CHAR
}

/// Words that would run into each other are joined; from the fourth on they are only counted.
fn place(words: &[(f64, &str, bool)], (left, right): (f64, f64), notes: &mut Vec<NoteLabel>) {
    let (mut joined, mut more, mut after_gap) = (1, 0, false);
    for (x, text, is_line) in words {
        match notes.last_mut() {
            Some(last) if *x < words_end(last) => {
                joined += 1;
                if joined == 2 && *is_line && after_gap {
                    // A gap mostly ends with a relist: its words begin beside the relist's sign.
                    last.text = format!("{text}, {}", last.text);
                    last.x = *x;
                } else if joined <= 3 {
                    last.text.push_str(", ");
                    last.text.push_str(text);
                } else {
                    let kept = last.text.rfind(" +").filter(|_| more > 0).unwrap_or(last.text.len());
                    last.text.truncate(kept);
                    more += 1;
                    last.text.push_str(&format!(" +{more}"));
                }
            }
            _ => {
                (joined, more, after_gap) = (1, 0, !is_line);
                notes.push(NoteLabel { x: *x, text: (*text).to_owned() });
            }
        }
    }
    // The newest words often begin near the right edge: then they end where they would begin.
    let Some(mut last) = notes.pop() else {
        return;
    };
    if words_end(&last) > right {
        last.x = (last.x - (last.text.chars().count() as f64 + 2.5) * CHAR).max(left);
    }
    match notes.last_mut().filter(|note| words_end(note) > last.x) {
        Some(note) => note.text.push_str(&format!(", {}", last.text)),
        None => notes.push(last),
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
        // A short failure stays visible; short stretches of the other states may give way.
        bands.push(Band { x, width: 1.0, y, tone });
    }
}
