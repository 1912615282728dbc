//! What is under the pointer in the row of a group.

use std::fmt;

use crate::timeline::Chart;
use crate::timeline::groups::{GroupId, words};
use crate::timeline::hit::{Hit, Owner, phrases};
use crate::timeline::mark::{Counts, Mark, MarkType};
use crate::timeline::marks::Marks;
use crate::timeline::scene::{LaneRow, duration};

/// How far from a mark's middle the pointer may be, in pixels.
const REACH: f64 = 7.0;

/// A closed group, or one whose object is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupHit {
    /// The number.
    pub id: GroupId,
    /// What it is: `Deployment shop/web`, `node node-4`.
    pub name: String,
    /// The object, if the group is one whose lane is known.
    pub owner: Option<Owner>,
    /// How many objects are below it.
    pub members: u32,
    /// Whether the group is open.
    pub open: bool,
    /// How many frames of each type: those under the pointer, or all in the window.
    pub counts: Counts,
    /// In how many milliseconds they came.
    pub span: f64,
    /// When the last of them came, and how long ago that was, in milliseconds; `None` for all in the window.
    pub at: Option<(f64, f64)>,
}

/// A part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanePart {
    /// The star: whether the lane is kept on top.
    Star,
    /// The triangle that opens and closes the group.
    Triangle(GroupId),
    /// The rest of the label of a group that is no object whose lane is known.
    Name(GroupId),
    /// Everything else.
    Rest,
}

impl fmt::Display for GroupHit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.name, words::members(self.members))?;
        if self.open {
            return Ok(());
        }
        let counts = if self.counts.total() == 0 { String::from("no changes") } else { phrases(&self.counts) };
        write!(formatter, ": {counts} within {}", duration(self.span))?;
        self.at.map_or(Ok(()), |(_, ago)| write!(formatter, ", {} ago", duration(ago)))
    }
}

impl Chart {
    /// The row of the last scene at a height, and which part of it is at a point.
    pub(crate) fn part_at(&self, (x, y): (f64, f64)) -> Option<(&LaneRow, LanePart)> {
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
    pub(crate) fn hit_group(&self, marks: &[&Marks], x: f64, row: &LaneRow) -> Option<Hit> {
        let group = row.group.as_deref()?;
        let is_lane = row.kind.index() < marks.len();
        if is_lane && group.open != Some(false) {
            return None;
        }
        let (scene, scale) = (&self.scene, &self.scene.scale);
        let parts = |from: f64, to: f64| {
            let all = self.groups.marks.of(group.id, scale);
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
            let own = *marks.get(kind.index())?;
            let mark: Mark<'_> = own.ring.get(seq)?;
            let (owner, resource_version, folded) = self.object_of(own, kind, &mark)?;
            let ago = (scene.now - mark.at).max(0.0);
            let word = mark.state().map(|state| own.words.get(state)).unwrap_or_default();
            Some(Hit::Mark { owner, mark_type: mark.mark_type, resource_version, word, folded, at: mark.at, ago })
        }) {
            return Some(hit);
        }
        let owner = is_lane.then(|| marks.get(row.kind.index())?.lanes.get(row.lane)).flatten();
        let owner = owner.map(|lane| self.owner(row.kind, &lane.key, &lane.uid));
        let mut name = words::name(row, &self.names);
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
}
