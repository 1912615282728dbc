//! Finds what is under the pointer.

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::Uid;

use crate::kind_id::KindId;
use crate::timeline::lanes::groups::Groups;
use crate::timeline::scene::contents::{GapArea, Kept, LaneRow, Scene};
use crate::timeline::scene::hit::{GroupHit, Hit, LanePart, Owner};
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{Mark, MarkType, SubjectRef};
use crate::timeline::store::marks::Marks;
use crate::timeline::store::walk::newest_below;
use crate::timeline::words::kinds::KindNames;
use crate::timeline::words::text::fit;

/// How far from a mark's middle the pointer may be, in pixels.
const REACH: f64 = 7.0;

/// The most characters of the kind of a group.
const LONGEST: usize = 80;

/// A scene, with the marks and groups of which it was drawn.
#[derive(Clone, Copy)]
pub(in crate::timeline) struct HitTest<'a> {
    pub(in crate::timeline) marks: &'a [&'a Marks],
    pub(in crate::timeline) names: &'a KindNames,
    pub(in crate::timeline) groups: &'a Groups,
    pub(in crate::timeline) scene: &'a Scene,
}

impl<'a> HitTest<'a> {
    /// What the last scene shows at a point of the canvas.
    pub(in crate::timeline) fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        let scene = self.scene;
        let layout = &scene.layout;
        if y >= layout.strip_top && y < layout.strip_bottom {
            let column = scene.columns.iter().find(|column| column.x <= x && x < column.x + column.width + 1.0)?;
            let ago = (scene.now - column.to).max(0.0);
            return Some(Hit::Column { counts: column.counts, from: column.from, at: column.to, ago });
        }
        if y < layout.strip_bottom || y >= layout.bottom {
            return None;
        }
        let row = layout.row_at(y);
        let lane = row.and_then(|row| scene.lanes.get(row)?.as_ref());
        if let Some(hit) = lane.and_then(|lane| self.hit_group(x, lane)) {
            let is_marks = matches!(&hit, Hit::Mark { .. } | Hit::Group(GroupHit { at: Some(_), .. }));
            return if is_marks || x < layout.left - REACH { Some(hit) } else { self.hit_stream(x, y).or(Some(hit)) };
        }
        if x >= layout.left - REACH {
            let drawn = row.zip(lane).and_then(|(row, lane)| {
                let row_y = layout.row_y(row);
                // Events stand in the lower half of a row.
                let event = self.hit_event(x, row_y, lane);
                if y > row_y + 1.0 && event.is_some() { event } else { self.hit_marks(x, row_y, lane).or(event) }
            });
            if let Some(hit) = drawn.or_else(|| self.hit_stream(x, y)) {
                return Some(hit);
            }
        }
        let lane = lane?;
        let (own, known) = known(self.marks, lane)?;
        let state = if x < layout.left { own.state_of(known) } else { own.state_at(known, scene.scale.time(x)) };
        let word = state.map(|state| own.words.get(state)).unwrap_or_default();
        Some(Hit::Lane { owner: self.owner(lane.kind, &known.key, &known.uid), live: known.live, word })
    }

    fn hit_marks(&self, x: f64, y: f64, lane: &LaneRow) -> Option<Hit> {
        let scene = self.scene;
        let own = *self.marks.get(lane.kind.index())?;
        let near = scene.glyphs.iter().filter(|glyph| glyph.y == y && (glyph.x - x).abs() <= REACH);
        // Of two glyphs that are equally near, the one on top wins.
        let glyph = near.rev().min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs()));
        if let Some(mark) = glyph.and_then(|glyph| own.ring.get(glyph.seq)) {
            let (mark_type, at, ago) = (mark.mark_type, mark.at, (scene.now - mark.at).max(0.0));
            if let Some(resync) = mark.resync() {
                let owner = self.known_at(own, lane, mark.seq)?;
                return Some(Hit::Resync { owner, note: resync.note(), at, ago });
            }
            let (owner, resource_version, folded) = self.object_of(own, lane.kind, &mark)?;
            let word = mark.state().map(|state| own.words.get(state)).unwrap_or_default();
            return Some(Hit::Mark { owner, mark_type, resource_version, word, folded, at, ago });
        }
        let pill = scene.pills.iter().find(|pill| pill.y == y && pill.x <= x && x <= pill.x + pill.width)?;
        let last = own.ring.get(pill.last)?;
        let (owner, resource_version, _) = self.object_of(own, lane.kind, &last)?;
        let from = own.ring.get(pill.first).map_or(last.at, |first| first.at);
        let (counts, at, ago) = (pill.counts, last.at, (scene.now - last.at).max(0.0));
        Some(Hit::Fold { owner, counts, resource_version, from, at, ago })
    }

    fn hit_event(&self, x: f64, y: f64, row: &LaneRow) -> Option<Hit> {
        let near = self.scene.events.iter().filter(|event| event.y == y && (event.x - x).abs() <= REACH);
        let glyph = near.min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs()))?;
        let mark = self.marks.get(glyph.kind.index())?.ring.get(glyph.seq)?;
        let (event, resource_version, _) = self.object_of(self.marks.get(glyph.kind.index())?, glyph.kind, &mark)?;
        let (_, lane) = known(self.marks, row)?;
        let owner = self.owner(row.kind, &lane.key, &lane.uid);
        let (tone, count, at, ago) = (glyph.tone, glyph.count, mark.at, (self.scene.now - mark.at).max(0.0));
        Some(Hit::Event { owner, event, tone, resource_version, count, at, ago })
    }

    fn hit_stream(&self, x: f64, y: f64) -> Option<Hit> {
        let scene = self.scene;
        let ago = |at: f64| (scene.now - at).max(0.0);
        let lines = scene.lines.iter().filter(|line| (line.x - x).abs() <= REACH / 2.0);
        if let Some(line) = lines.min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs())) {
            let (note, at) = (line.note.clone(), line.at);
            return Some(Hit::Stream { mark_type: MarkType::Relist, note, from: at, at, ago: ago(at) });
        }
        let is_at = |from: f64, width: f64| from - 1.0 <= x && x <= from + width + 1.0;
        // Over the lanes, a gap is only where it is drawn.
        let row = scene.layout.row_at(y).map(|row| scene.layout.row_y(row));
        let is_drawn = |kept: Kept| {
            row.is_none_or(|row| {
                scene.row_gaps.iter().any(|gap| gap.y == row && gap.kept == kept && is_at(gap.x, gap.width))
            })
        };
        let kind = scene.lanes.iter().flatten().find(|lane| Some(lane.y) == row).map(|lane| lane.kind);
        let is_own =
            |gap: &GapArea| kind.is_none_or(|kind| kind.index() >= self.marks.len() || gap.kinds.contains(&kind));
        let mut gaps = scene.gaps.iter().filter(|gap| gap.kept != Kept::Marks && is_at(gap.x, gap.width));
        let gap = gaps.find(|gap| is_own(gap) && is_drawn(gap.kept))?;
        let (note, from, at) = (gap.note.clone(), gap.from, gap.to);
        Some(Hit::Stream { mark_type: MarkType::Gap, note, from, at, ago: ago(at) })
    }

    /// The object whose lane a row was at the time of a mark that concerns all lanes.
    fn known_at(&self, own: &Marks, row: &LaneRow, seq: u64) -> Option<Owner> {
        let lane = own.lanes.get(row.lane).filter(|lane| lane.key == row.key)?;
        let before = newest_below(&own.ring, lane, seq).and_then(|mark| self.object_of(own, row.kind, &mark));
        Some(before.map_or_else(|| self.owner(row.kind, &lane.key, &lane.uid), |(owner, ..)| owner))
    }

    fn owner(&self, kind: KindId, key: &ObjectKey, uid: &Uid) -> Owner {
        Owner { kind, kind_name: self.names.long(kind), key: key.clone(), uid: uid.clone() }
    }

    fn object_of(&self, own: &Marks, kind: KindId, mark: &Mark<'_>) -> Option<(Owner, ResourceVersion, u32)> {
        let SubjectRef::Object { lane, life, resource_version, folded } = mark.subject else {
            return None;
        };
        let (key, uid) = own.owner(lane, life)?;
        Some((self.owner(kind, key, uid), resource_version.into(), folded))
    }

    /// The row of the last scene at a height, and which part of it is at a point.
    pub(in crate::timeline) fn part_at(&self, x: f64, y: f64) -> Option<(&'a LaneRow, LanePart)> {
        let layout = &self.scene.layout;
        let row = self.scene.lanes.get(layout.row_at(y)?)?.as_ref()?;
        let part = match &row.group {
            _ if x < LaneRow::STAR => LanePart::Star,
            Some(group) if group.open.is_some() && x < row.name_x() && x < layout.left => LanePart::Triangle(group.id),
            Some(group) if !group.word.is_empty() || row.kind.index() >= self.groups.kinds.len() => {
                LanePart::Name(group.id)
            }
            _ => LanePart::Rest,
        };
        Some((row, part))
    }

    /// What a group's row shows at a point; `None` where its lane is hit as any other.
    fn hit_group(&self, x: f64, row: &LaneRow) -> Option<Hit> {
        let group = row.group.as_deref()?;
        let is_lane = row.kind.index() < self.marks.len();
        if is_lane && group.open != Some(false) {
            return None;
        }
        let scene = self.scene;
        let scale = &scene.scale;
        let parts = |from: f64, to: f64| {
            let all = self.groups.parts(group.id, scale);
            all.filter(move |part| scale.x(part.block.last_at) >= from && scale.x(part.block.first_at) <= to)
        };
        let near = scene.glyphs.iter().filter(|glyph| glyph.y == row.y && (glyph.x - x).abs() <= REACH);
        let glyph = near.rev().min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs()));
        if let Some(hit) = glyph.and_then(|glyph| {
            let mut parts = parts(glyph.x - 2.0 * REACH, glyph.x + 2.0 * REACH);
            let (seq, kind) = parts.find_map(|part| match part.delete {
                Some((_, seq, kind)) if glyph.mark_type == MarkType::Deleted && seq == glyph.seq => Some((seq, kind)),
                _ => (part.block.last_seq == glyph.seq).then_some((glyph.seq, part.kind)),
            })?;
            let own = *self.marks.get(kind.index())?;
            let mark: Mark<'_> = own.ring.get(seq)?;
            let (owner, resource_version, folded) = self.object_of(own, kind, &mark)?;
            let ago = (scene.now - mark.at).max(0.0);
            let word = mark.state().map(|state| own.words.get(state)).unwrap_or_default();
            Some(Hit::Mark { owner, mark_type: mark.mark_type, resource_version, word, folded, at: mark.at, ago })
        }) {
            return Some(hit);
        }
        let owner = is_lane.then(|| self.marks.get(row.kind.index())?.lanes.get(row.lane)).flatten();
        let owner = owner.map(|lane| self.owner(row.kind, &lane.key, &lane.uid));
        let mut name = self.name(row);
        if self.groups.index.is_by_manager() {
            name.push_str(" (inferred)");
        }
        let all = GroupHit {
            id: group.id,
            name,
            owner,
            members: group.members,
            open: group.open == Some(true),
            counts: group.counts,
            span: scale.window.span(),
            at: None,
        };
        let pill = scene.pills.iter().find(|pill| pill.y == row.y && pill.x <= x && x <= pill.x + pill.width);
        let Some(pill) = pill else { return Some(Hit::Group(all)) };
        let (from, at) = parts(pill.x, pill.x + pill.width).fold((f64::INFINITY, f64::NEG_INFINITY), |sum, part| {
            (sum.0.min(part.block.first_at), sum.1.max(part.block.last_at))
        });
        let span = (at - from).max(0.0);
        Some(Hit::Group(GroupHit { counts: pill.counts, span, at: Some((at, (scene.now - at).max(0.0))), ..all }))
    }

    /// The kind and the key of a row: `Deployment shop/web`, `node node-4`.
    fn name(&self, row: &LaneRow) -> String {
        let word = row.group.as_ref().map_or("", |group| &*group.word);
        let word = if word.is_empty() { self.names.long(row.kind) } else { word };
        format!("{}{}{}", fit(word, LONGEST), if word.is_empty() { "" } else { " " }, row.key)
    }
}

/// The words about a time of which less is kept, at a point of a scene.
pub(in crate::timeline) fn lost_at(scene: &Scene, x: f64, y: f64) -> Option<&str> {
    let layout = &scene.layout;
    let areas = match () {
        () if x < layout.left || y >= layout.bottom => return None,
        () if y >= layout.top => &scene.gaps,
        () if layout.strip_top <= y && y < layout.strip_bottom => &scene.lost,
        () => return None,
    };
    // In the lanes, a gap in which nothing is kept has a hover text of its own.
    let is_shown = |area: &&GapArea| area.kept == Kept::Marks || (y < layout.top && area.kept == Kept::Nothing);
    areas.iter().filter(is_shown).find(|area| area.x <= x && x < area.x + area.width).map(|area| &*area.note)
}

/// The lane that was drawn in a row, if it is still there, with the marks of its kind.
pub(super) fn known<'a>(marks: &[&'a Marks], row: &LaneRow) -> Option<(&'a Marks, &'a Lane)> {
    let own = *marks.get(row.kind.index())?;
    Some((own, own.lanes.get(row.lane).filter(|lane| lane.key == row.key)?))
}
