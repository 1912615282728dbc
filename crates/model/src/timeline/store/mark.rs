//! One mark of the timeline: what happened to which object, when, and what it stands for.

use std::ops::AddAssign;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::cache::delta::DeltaType;

use crate::kind_id::KindId;
use crate::timeline::store::state::State;

/// The number of a lane. After the lane was freed, it may stand for another one: see
/// [`crate::timeline::store::lanes::Lanes::generation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneId(pub u32);

/// A lane of one of the timeline's kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneOf {
    pub kind: KindId,
    /// The lane's number among those of the kind.
    pub lane: LaneId,
}

/// What a mark says. The first five are delta types. Relists, gaps and resyncs concern the whole kind, and not one
/// object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkType {
    /// An object appeared.
    Added,
    /// An object changed.
    Updated,
    /// An object is gone.
    Deleted,
    /// A list brought the object.
    Replaced,
    /// A resync notified again of what is known.
    Sync,
    /// The resource was listed again.
    Relist,
    /// Nothing is known of a time.
    Gap,
}

impl From<DeltaType> for MarkType {
    fn from(delta_type: DeltaType) -> MarkType {
        match delta_type {
            DeltaType::Added => MarkType::Added,
            DeltaType::Updated => MarkType::Updated,
            DeltaType::Deleted => MarkType::Deleted,
            DeltaType::Replaced => MarkType::Replaced,
            DeltaType::Sync => MarkType::Sync,
        }
    }
}

impl MarkType {
    /// How many types there are.
    pub const COUNT: usize = 7;

    /// All types, in the order of [`Counts`].
    pub const ALL: [MarkType; MarkType::COUNT] = [
        MarkType::Added,
        MarkType::Updated,
        MarkType::Deleted,
        MarkType::Replaced,
        MarkType::Sync,
        MarkType::Relist,
        MarkType::Gap,
    ];

    /// The types that belong to an object, in the order in which they are stacked and drawn.
    pub const OBJECT: [MarkType; 5] =
        [MarkType::Sync, MarkType::Replaced, MarkType::Updated, MarkType::Added, MarkType::Deleted];

    /// The sign that stands for the type. Its colour says what the mark means.
    pub fn glyph(self) -> &'static str {
        match self {
            MarkType::Added => "▲",
            MarkType::Updated => "●",
            MarkType::Deleted => "✕",
            MarkType::Replaced => "◆",
            MarkType::Sync => "◇",
            MarkType::Relist => "┊",
            MarkType::Gap => "░",
        }
    }

    /// The name of the type, as in client-go.
    pub fn name(self) -> &'static str {
        match self {
            MarkType::Added => "Added",
            MarkType::Updated => "Updated",
            MarkType::Deleted => "Deleted",
            MarkType::Replaced => "Replaced",
            MarkType::Sync => "Sync",
            MarkType::Relist => "Relist",
            MarkType::Gap => "Gap",
        }
    }

    /// A count of the type in words: `14 added`, `1 relist`, `2 gaps`.
    pub fn phrase(self, count: u64) -> String {
        let words = match (self, count) {
            (MarkType::Added, _) => "added",
            (MarkType::Updated, _) => "updated",
            (MarkType::Deleted, _) => "deleted",
            (MarkType::Replaced, _) => "replaced",
            (MarkType::Sync, 1) => "resync",
            (MarkType::Sync, _) => "resyncs",
            (MarkType::Relist, 1) => "relist",
            (MarkType::Relist, _) => "relists",
            (MarkType::Gap, 1) => "gap",
            (MarkType::Gap, _) => "gaps",
        };
        format!("{} {words}", grouped(count))
    }
}

/// A number with commas between the thousands, as the page prints it: `1,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number for each type of mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; MarkType::COUNT]);

impl Counts {
    /// The number of a type.
    pub fn of(&self, mark_type: MarkType) -> u64 {
        self.0[mark_type as usize]
    }

    /// Adds `count` to the number of a type.
    pub fn add(&mut self, mark_type: MarkType, count: u64) {
        self.0[mark_type as usize] += count;
    }

    /// Takes one off the number of a type, unless it is 0.
    pub(in crate::timeline) fn take_one(&mut self, mark_type: MarkType) {
        self.0[mark_type as usize] = self.0[mark_type as usize].saturating_sub(1);
    }

    /// The sum over all types.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The counts in words: `3 added, 1 deleted`.
    pub fn phrases(&self) -> String {
        self.iter().map(|(mark_type, count)| mark_type.phrase(count)).collect::<Vec<_>>().join(", ")
    }

    /// The types whose numbers are not 0, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (MarkType, u64)> {
        MarkType::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    /// The type with the largest number; `None` where all are 0.
    pub fn dominant(&self) -> Option<MarkType> {
        self.iter().max_by_key(|(_, count)| *count).map(|(mark_type, _)| mark_type)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }
}

/// Adds the numbers of the first types, in the order of [`MarkType::ALL`].
impl<const TYPES: usize> AddAssign<&[u32; TYPES]> for Counts {
    fn add_assign(&mut self, other: &[u32; TYPES]) {
        for (sum, count) in self.0.iter_mut().zip(other) {
            *sum += u64::from(*count);
        }
    }
}

/// What a mark that is about to be made is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One object.
    Object {
        /// The lane of the object's name.
        lane: LaneId,
        /// Which of the lives that had this name: see [`crate::timeline::store::lanes::Lanes`].
        life: u32,
        /// The object's version after the change.
        resource_version: ResourceVersion,
        /// How many frames this mark stands for, at least 1.
        folded: u32,
    },
    /// The whole kind: a relist, or a gap that ended with this mark.
    Stream {
        /// When the gap began; for a relist the mark's own time.
        from: f64,
        /// What is written beside the mark: `relist (410)`, `gap of 1.2 s`.
        note: Box<str>,
        /// Whether the gap is of the whole page, so that every kind has the same mark.
        of_all: bool,
    },
    /// A resync: one mark for all the objects of which it notified again.
    Resync(Box<Resync>),
}

/// Of what a resync notified again.
#[derive(Clone, Debug, PartialEq)]
pub struct Resync {
    /// The namespace of those objects; empty for all.
    pub namespace: Box<str>,
    /// How many objects there were.
    pub count: u64,
    /// Since when the objects were watched, in milliseconds: marks from before that may be of objects that were not
    /// replayed.
    pub since: f64,
    /// When the queue was empty last, in milliseconds. Only objects to which nothing happened since then were
    /// replayed: what happened to the others was still queued.
    pub settled: f64,
}

impl Resync {
    /// What the resync did, in words.
    pub fn note(&self) -> String {
        let objects = if self.count == 1 { "object" } else { "objects" };
        let place = if self.namespace.is_empty() { String::new() } else { format!(" in {}", self.namespace) };
        format!("resync: {} {objects}{place} replayed", grouped(self.count))
    }
}

/// The version of an object, as a mark holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version<'a> {
    /// A version that is a decimal number, as the API server makes them.
    Number(u64),
    /// Any other version, which may be empty or longer than a number of 64 bits.
    Text(&'a str),
}

impl From<Version<'_>> for ResourceVersion {
    fn from(version: Version<'_>) -> ResourceVersion {
        match version {
            Version::Number(number) => ResourceVersion::new(&number.to_string()),
            Version::Text(text) => ResourceVersion::new(text),
        }
    }
}

/// What a mark that is held is about: a [`Subject`] as a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SubjectRef<'a> {
    /// One object, with the fields of [`Subject::Object`].
    Object {
        /// The lane of the object's name.
        lane: LaneId,
        /// Which of the lives that had this name.
        life: u32,
        /// The object's version after the change.
        resource_version: Version<'a>,
        /// How many frames this mark stands for, at least 1.
        folded: u32,
    },
    /// The whole kind, with the fields of [`Subject::Stream`].
    Stream {
        /// When the gap began; for a relist the mark's own time.
        from: f64,
        /// What is written beside the mark.
        note: &'a str,
        /// Whether the gap is of the whole page.
        of_all: bool,
    },
    Resync(&'a Resync),
}

impl Subject {
    /// The subject as a reader sees it.
    pub fn as_ref(&self) -> SubjectRef<'_> {
        match self {
            Subject::Object { lane, life, resource_version, folded } => {
                let resource_version = Version::Text(resource_version.as_str());
                SubjectRef::Object { lane: *lane, life: *life, resource_version, folded: *folded }
            }
            Subject::Stream { from, note, of_all } => SubjectRef::Stream { from: *from, note, of_all: *of_all },
            Subject::Resync(resync) => SubjectRef::Resync(resync),
        }
    }

    /// The bytes that the subject holds outside itself, with a guess at what the allocator adds.
    pub fn heap_bytes(&self) -> usize {
        let text = match self {
            Subject::Object { resource_version, .. } => resource_version.as_str().len(),
            Subject::Stream { note, .. } => note.len(),
            Subject::Resync(resync) => size_of::<Resync>() + 16 + resync.namespace.len(),
        };
        if text == 0 { 0 } else { text + 16 }
    }
}

/// One thing that happened. The marks are held in fewer bytes, and this is made of them when one is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark<'a> {
    /// Counts up by one from mark to mark, also over marks that are evicted.
    pub seq: u64,
    /// When the mark was stamped, in milliseconds. It is never less than for the mark before.
    pub at: f64,
    /// What happened.
    pub mark_type: MarkType,
    /// The state of the object from here on.
    pub state: State,
    /// How far back in `seq` the previous mark of the same lane is; for a mark of the whole kind, the previous one of
    /// those. 0 where there is none. So each lane is a list that is walked without looking at other lanes.
    pub before: u32,
    /// What the mark is about.
    pub subject: SubjectRef<'a>,
}

impl<'a> Mark<'a> {
    /// The resync, if the mark is one.
    pub fn resync(&self) -> Option<&'a Resync> {
        if let SubjectRef::Resync(resync) = self.subject { Some(resync) } else { None }
    }

    /// How many frames the mark stands for.
    pub fn frames(&self) -> u32 {
        match self.subject {
            SubjectRef::Object { folded, .. } => folded,
            SubjectRef::Stream { .. } | SubjectRef::Resync(_) => 1,
        }
    }

    /// The state that the object is in after the mark; `None` if the object is gone.
    pub fn state(&self) -> Option<State> {
        (self.mark_type != MarkType::Deleted).then_some(self.state)
    }
}

/// What is left of a mark that was evicted: as much as its lane must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The sequence number of the mark.
    pub seq: u64,
    /// What happened.
    pub mark_type: MarkType,
    /// The state of the object after the mark.
    pub state: State,
    /// The lane of the object and its life; `None` if the mark was of the whole kind.
    pub owner: Option<(LaneId, u32)>,
}

impl From<Mark<'_>> for Evicted {
    fn from(mark: Mark<'_>) -> Evicted {
        let owner = match mark.subject {
            SubjectRef::Object { lane, life, .. } => Some((lane, life)),
            SubjectRef::Stream { .. } | SubjectRef::Resync(_) => None,
        };
        Evicted { seq: mark.seq, mark_type: mark.mark_type, state: mark.state, owner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_per_type() {
        let mut counts = Counts::default();
        counts.add(MarkType::Updated, 3);
        counts.add(MarkType::Deleted, 1);
        assert_eq!(counts.of(MarkType::Updated), 3);
        assert_eq!(counts.total(), 4);
        assert_eq!(counts.dominant(), Some(MarkType::Updated));
        assert_eq!(counts.iter().count(), 2);
        for (index, mark_type) in MarkType::ALL.into_iter().enumerate() {
            assert_eq!(mark_type as usize, index);
        }
    }

    #[test]
    fn phrases_read_well() {
        assert_eq!(MarkType::Updated.phrase(1_234_567), "1,234,567 updated");
        assert_eq!(MarkType::Relist.phrase(1), "1 relist");
        assert_eq!(MarkType::Gap.phrase(2), "2 gaps");
        assert_eq!((MarkType::Sync.phrase(1), MarkType::Sync.phrase(2)), ("1 resync".into(), "2 resyncs".into()));
        assert_eq!(grouped(100), "100");
    }
}
