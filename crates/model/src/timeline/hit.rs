//! Finds what is under the pointer.

use std::fmt;

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::Uid;

use crate::kind_id::KindId;
use crate::timeline::Chart;
use crate::timeline::blocks::newest_below;
use crate::timeline::groups::GroupHit;
use crate::timeline::lanes::Lane;
use crate::timeline::mark::{Counts, Mark, MarkType, SubjectRef, grouped};
use crate::timeline::marks::Marks;
use crate::timeline::scene::{Kept, LaneRow, duration};

/// How far from a mark's middle the pointer may be, in pixels.
const REACH: f64 = 7.0;

/// The object whose lane is under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Owner {
    /// The object's kind.
    pub kind: KindId,
    /// What the kind is called on a timeline of several kinds; otherwise empty.
    pub kind_name: &'static str,
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid of the object that the mark belongs to: several may have had the name.
    pub uid: Uid,
}

/// What is under the pointer. Times are in milliseconds on the timeline's clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Hit {
    /// One mark.
    Mark {
        /// The object.
        owner: Owner,
        /// What happened.
        mark_type: MarkType,
        /// The object's version after the change.
        resource_version: ResourceVersion,
        /// The word for the state that the object was in then; empty where there is none.
        word: SmolStr,
        /// How many frames the mark stands for.
        folded: u32,
        /// When the mark was stamped.
        at: f64,
        /// How long ago that was.
        ago: f64,
    },
    /// Several marks that are drawn as one.
    Fold {
        /// The object; the uid is that of the last mark.
        owner: Owner,
        /// How many frames the marks stand for, by type.
        counts: Counts,
        /// The object's version after the last mark.
        resource_version: ResourceVersion,
        /// When the first mark was stamped.
        from: f64,
        /// When the last mark was stamped.
        at: f64,
        /// How long ago the last mark was stamped.
        ago: f64,
    },
    /// A resync, in the lane of an object that it told again.
    Resync {
        /// The object.
        owner: Owner,
        /// What the resync was.
        note: String,
        /// When the resync was.
        at: f64,
        /// How long ago that was.
        ago: f64,
    },
    /// A Kubernetes Event, in the lane of the object that it is about.
    Event {
        /// The object that the Event is about.
        owner: Owner,
        /// The Event.
        event: Owner,
        /// How alarming the Event is: [`Tone::Bad`] for a Warning.
        tone: Tone,
        /// The Event's version.
        resource_version: ResourceVersion,
        /// How many frames of Events are drawn as this one.
        count: u64,
        /// When the mark was stamped.
        at: f64,
        /// How long ago that was.
        ago: f64,
    },
    /// A relist or a gap.
    Stream {
        /// Which of the two.
        mark_type: MarkType,
        /// What the relist or gap was.
        note: String,
        /// When the gap began; for a relist the same as `at`.
        from: f64,
        /// When the gap ended, or when the relist was.
        at: f64,
        /// How long ago the gap ended or the relist was.
        ago: f64,
    },
    /// A lane, between its marks or at its label.
    Lane {
        /// The object; the uid is that of the latest one of that name.
        owner: Owner,
        /// Whether the object exists.
        live: bool,
        /// The word for the state that the object was in at the time under the pointer; at the lane's label, for its
        /// present state. Empty where there is none.
        word: SmolStr,
    },
    /// A group of lanes.
    Group(GroupHit),
    /// A column of the overview.
    Column {
        /// What happened in the column's time, by type.
        counts: Counts,
        /// When the column's time begins.
        from: f64,
        /// When the column's time ends.
        at: f64,
        /// How long ago the column's time ended.
        ago: f64,
    },
}

impl Hit {
    /// The object that a click selects; `None` for what is of no object.
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Hit::Mark { owner, .. }
            | Hit::Fold { owner, .. }
            | Hit::Resync { owner, .. }
            | Hit::Event { owner, .. }
            | Hit::Lane { owner, .. } => Some(owner),
            Hit::Group(group) => group.owner.as_ref(),
            Hit::Stream { .. } | Hit::Column { .. } => None,
        }
    }

    /// When what was hit was, on the timeline's clock; `None` for a lane.
    pub fn at(&self) -> Option<f64> {
        match self {
            Hit::Mark { at, .. }
            | Hit::Fold { at, .. }
            | Hit::Resync { at, .. }
            | Hit::Event { at, .. }
            | Hit::Stream { at, .. }
            | Hit::Column { at, .. } => Some(*at),
            Hit::Group(group) => group.at.map(|(at, _)| at),
            Hit::Lane { .. } => None,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uid = self.uid.text();
        let short = uid.char_indices().nth(8).map_or(&*uid, |(end, _)| &uid[..end]);
        let space = if self.kind_name.is_empty() { "" } else { " " };
        write!(formatter, "{}{space}{} (uid {short})", self.kind_name, self.key)
    }
}

/// Counts in words: `3 added, 1 deleted`.
pub(super) fn phrases(counts: &Counts) -> String {
    counts.iter().map(|(mark_type, count)| mark_type.phrase(count)).collect::<Vec<_>>().join(", ")
}

/// The hover text. It is plain text, and must be shown as text.
impl fmt::Display for Hit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hit::Mark { owner, mark_type, resource_version, word, folded, ago, .. } => {
                write!(formatter, "{} {} {owner}, ", mark_type.glyph(), mark_type.name())?;
                if !word.is_empty() {
                    write!(formatter, "{word}, ")?;
                }
                write!(formatter, "resourceVersion {resource_version}, {} ago", duration(*ago))?;
                if *folded > 1 { write!(formatter, ", {folded} frames folded") } else { Ok(()) }
            }
            Hit::Fold { owner, counts, resource_version, from, at, ago } => {
                write!(formatter, "{owner}: {} within {}, ", phrases(counts), duration(at - from))?;
                write!(formatter, "up to resourceVersion {resource_version}, {} ago", duration(*ago))
            }
            Hit::Resync { owner, note, ago, .. } => {
                let (glyph, name) = (MarkType::Sync.glyph(), MarkType::Sync.name());
                write!(formatter, "{glyph} {name} {owner}, {note}, {} ago", duration(*ago))
            }
            Hit::Event { owner, event, tone, count, ago, .. } => {
                let word = if *tone == Tone::Bad { "Warning" } else { "Normal" };
                write!(formatter, "{word} {} about {owner}, {} ago", event.key, duration(*ago))?;
                if *count > 1 { write!(formatter, ", with {} others", grouped(count - 1)) } else { Ok(()) }
            }
            Hit::Stream { mark_type, note, ago, .. } => {
                write!(formatter, "{} {note}, {} ago", mark_type.glyph(), duration(*ago))
            }
            Hit::Lane { owner, live, word } => {
                write!(formatter, "{owner}")?;
                if !word.is_empty() {
                    write!(formatter, ", {word}")?;
                }
                if *live { Ok(()) } else { write!(formatter, ", deleted") }
            }
            Hit::Group(group) => write!(formatter, "{group}"),
            Hit::Column { counts, from, at, ago } => {
                write!(formatter, "{} within {}, {} ago", phrases(counts), duration(at - from), duration(*ago))
            }
        }
    }
}

impl Chart {
    /// What the last scene shows at a point of the canvas.
    pub(super) fn hit(&self, marks: &[&Marks], (x, y): (f64, f64)) -> Option<Hit> {
        let (scene, layout) = (&self.scene, &self.scene.layout);
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
        if let Some(hit) = lane.and_then(|lane| self.hit_group(marks, x, lane)) {
            let is_marks = matches!(&hit, Hit::Mark { .. } | Hit::Group(GroupHit { at: Some(_), .. }));
            return if is_marks || x < layout.left - REACH { Some(hit) } else { self.hit_stream(x).or(Some(hit)) };
        }
        if x >= layout.left - REACH {
            let drawn = row.zip(lane).and_then(|(row, lane)| {
                let place = (x, layout.row_y(row));
                // Events stand in the lower half of a row.
                let event = self.hit_event(marks, place, lane);
                if y > place.1 + 1.0 && event.is_some() { event } else { self.hit_marks(marks, place, lane).or(event) }
            });
            if let Some(hit) = drawn.or_else(|| self.hit_stream(x)) {
                return Some(hit);
            }
        }
        let lane = lane?;
        let (own, known) = known(marks, lane)?;
        let state = if x < layout.left { own.state_of(known) } else { own.state_at(known, scene.scale.time(x)) };
        let word = state.map(|state| own.words.get(state)).unwrap_or_default();
        Some(Hit::Lane { owner: self.owner(lane.kind, &known.key, &known.uid), live: known.live, word })
    }

    fn hit_marks(&self, marks: &[&Marks], (x, y): (f64, f64), lane: &LaneRow) -> Option<Hit> {
        let scene = &self.scene;
        let own = *marks.get(lane.kind.index())?;
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

    fn hit_event(&self, marks: &[&Marks], (x, y): (f64, f64), row: &LaneRow) -> Option<Hit> {
        let near = self.scene.events.iter().filter(|event| event.y == y && (event.x - x).abs() <= REACH);
        let glyph = near.min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs()))?;
        let mark = marks.get(glyph.kind.index())?.ring.get(glyph.seq)?;
        let (event, resource_version, _) = self.object_of(marks.get(glyph.kind.index())?, glyph.kind, &mark)?;
        let (_, lane) = known(marks, row)?;
        let owner = self.owner(row.kind, &lane.key, &lane.uid);
        let (tone, count, at, ago) = (glyph.tone, glyph.count, mark.at, (self.scene.now - mark.at).max(0.0));
        Some(Hit::Event { owner, event, tone, resource_version, count, at, ago })
    }

    fn hit_stream(&self, x: f64) -> Option<Hit> {
        let scene = &self.scene;
        let ago = |at: f64| (scene.now - at).max(0.0);
        let lines = scene.lines.iter().filter(|line| (line.x - x).abs() <= REACH / 2.0);
        if let Some(line) = lines.min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs())) {
            let (note, at) = (line.note.clone(), line.at);
            return Some(Hit::Stream { mark_type: MarkType::Relist, note, from: at, at, ago: ago(at) });
        }
        let gap = scene
            .gaps
            .iter()
            .filter(|gap| gap.kept != Kept::Marks)
            .find(|gap| gap.x - 1.0 <= x && x <= gap.x + gap.width + 1.0)?;
        let (note, from, at) = (gap.note.clone(), gap.from, gap.to);
        Some(Hit::Stream { mark_type: MarkType::Gap, note, from, at, ago: ago(at) })
    }

    /// The object whose lane a row was at the time of a mark that concerns all lanes.
    fn known_at(&self, own: &Marks, row: &LaneRow, seq: u64) -> Option<Owner> {
        let lane = own.lanes.get(row.lane).filter(|lane| lane.key == row.key)?;
        let before = newest_below(&own.ring, lane, seq).and_then(|mark| self.object_of(own, row.kind, &mark));
        Some(before.map_or_else(|| self.owner(row.kind, &lane.key, &lane.uid), |(owner, ..)| owner))
    }

    pub(super) fn owner(&self, kind: KindId, key: &ObjectKey, uid: &Uid) -> Owner {
        let kind_name = self.names.get(kind.index()).map_or("", |name| name.long);
        Owner { kind, kind_name, key: key.clone(), uid: uid.clone() }
    }

    pub(super) fn object_of(
        &self,
        own: &Marks,
        kind: KindId,
        mark: &Mark<'_>,
    ) -> Option<(Owner, ResourceVersion, u32)> {
        let SubjectRef::Object { lane, life, resource_version, folded } = mark.subject else {
            return None;
        };
        let (key, uid) = own.owner(lane, life)?;
        Some((self.owner(kind, key, uid), resource_version.into(), folded))
    }
}

/// The lane that was drawn in a row, if it is still there, with the marks of its kind.
fn known<'a>(marks: &[&'a Marks], row: &LaneRow) -> Option<(&'a Marks, &'a Lane)> {
    let own = *marks.get(row.kind.index())?;
    Some((own, own.lanes.get(row.lane).filter(|lane| lane.key == row.key)?))
}
