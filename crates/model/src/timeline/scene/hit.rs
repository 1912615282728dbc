//! The things that can be under the pointer, and their hover texts.

use std::fmt;

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::Uid;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::GroupId;
use crate::timeline::store::mark::{Counts, MarkType, grouped};
use crate::timeline::words::text::{duration, objects};

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
    /// A resync, in the lane of an object of which it notified again.
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
                write!(formatter, "{owner}: {} within {}, ", counts.phrases(), duration(at - from))?;
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
                write!(formatter, "{} within {}, {} ago", counts.phrases(), duration(at - from), duration(*ago))
            }
        }
    }
}

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
        write!(formatter, "{}, {}", self.name, objects(self.members))?;
        if self.open {
            return Ok(());
        }
        let counts = if self.counts.total() == 0 { String::from("no changes") } else { self.counts.phrases() };
        write!(formatter, ": {counts} within {}", duration(self.span))?;
        self.at.map_or(Ok(()), |(_, ago)| write!(formatter, ", {} ago", duration(ago)))
    }
}
