//! The marks of one kind: what happened to which object, and when, kept within a budget of bytes.
//!
//! A mark is stamped when its frame arrives, before anything is folded by the queue. Its time is a number of
//! milliseconds that the caller passes in. Nothing is dropped in silence: evicted marks are counted.

use std::sync::Arc;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::Owners;
use kubechurn_client::api::uid::{self, Uid};
use kubechurn_client::cache::delta::DeltaType;

use crate::timeline::store::event_targets::EventTargets;
use crate::timeline::store::lane::Lane;
use crate::timeline::store::lanes::{Change, Lanes};
use crate::timeline::store::mark::{Counts, Evicted, LaneId, Mark, MarkType, Resync, Subject, SubjectRef};
use crate::timeline::store::overview::Overview;
use crate::timeline::store::placement::{NodeNames, Placement};
use crate::timeline::store::ring::Ring;
use crate::timeline::store::state::{NewState, State, Words};
use crate::timeline::store::walk::newest_until;

/// A budget for the marks of all kinds together, in bytes: room for some two million marks with their lanes. A single
/// kind may take all of it, and [`keep_within`] divides it where there are several.
pub const BUDGET: usize = 40 << 20;

/// The words of a gap that lasts for as long as the server is not heard. On a timeline of several kinds the names of
/// those that are not heard stand behind them.
pub const NO_CONNECTION: &str = "no connection";

/// The words of a gap in which nobody watched.
pub const NOT_WATCHED: &str = "not watched";

/// A mark as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkInfo<'a> {
    /// Counts up by one from mark to mark.
    pub sequence: u64,
    /// When the mark was stamped.
    pub at: f64,
    /// When a gap began; for all other marks the same as `at`.
    pub from: f64,
    /// What happened.
    pub mark_type: MarkType,
    /// The object; `None` for relists, gaps and resyncs.
    pub key: Option<&'a ObjectKey>,
    /// The uid of the object, which distinguishes it from others that had its name; empty for relists, gaps and resyncs.
    pub uid: &'a Uid,
    /// The object's version after the change; empty for relists, gaps and resyncs.
    pub resource_version: ResourceVersion,
    /// How many frames the mark stands for; for a resync, of how many objects it notified again.
    pub folded: u32,
    /// How alarming the object's state is after the change.
    pub tone: Tone,
    /// The word for that state; empty for a kind that has none.
    pub word: &'a str,
    /// What a relist or gap was; otherwise empty.
    pub note: &'a str,
    /// Of what a resync notified again.
    pub resync: Option<&'a Resync>,
}

/// A change of one object that is about to be marked.
#[derive(Clone, Copy, Debug)]
pub struct NewMark<'a> {
    /// Namespace and name of the object.
    pub key: &'a ObjectKey,
    /// The object's uid. An empty uid stands for the latest object of that name.
    pub uid: &'a Uid,
    /// What happened.
    pub mark_type: MarkType,
    /// The object's version after the change.
    pub resource_version: &'a ResourceVersion,
    /// How many frames the mark stands for; 0 counts as 1.
    pub folded: u32,
    /// The object's state after the change.
    pub tone: Tone,
}

impl<'a> NewMark<'a> {
    /// The mark of one frame that brought this object.
    pub fn of(mark_type: MarkType, object: &'a Object, tone: Tone) -> NewMark<'a> {
        let Object { key, uid, resource_version, .. } = object;
        NewMark { key, uid, mark_type, resource_version, folded: 1, tone }
    }
}

/// What a new mark says beside the change itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail<'a> {
    /// The word for the object's state after the change; empty for a kind that has none.
    pub word: &'a str,
    /// The object that an Event is about, as `pod/web-1`; empty for every other kind.
    pub regarding: &'a str,
    /// The uid of that object, if the Event has it.
    pub regarding_uid: Option<&'a Uid>,
}

/// The marks of one kind. However many timelines draw them, they are kept once.
#[derive(Debug)]
pub struct Marks {
    pub(in crate::timeline) ring: Ring,
    pub(in crate::timeline) lanes: Lanes,
    pub(in crate::timeline) overview: Overview,
    /// The words for the states of marks and lanes.
    pub(in crate::timeline) words: Words,
    /// What the objects are about, if they are Events.
    pub(in crate::timeline) event_targets: EventTargets,
    /// The kind's name, such as `Pod`; empty if it is not known.
    pub(in crate::timeline) kind: &'static str,
    /// The sequence number of the newest relist, gap or resync; 0 before the first.
    pub(in crate::timeline) last_stream: u64,
    /// How many marks of objects, and of resyncs, were made.
    pushed: u64,
    /// A gap that still lasts: since when, and what it is.
    pub(in crate::timeline) open: Option<(f64, Box<str>)>,
    /// The names of nodes on which objects are, each kept once.
    nodes: NodeNames,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::new(BUDGET)
    }
}

impl Marks {
    /// No marks yet. Those that come, and the lanes that they stand in, take at most `budget` bytes.
    pub fn new(budget: usize) -> Marks {
        Marks {
            ring: Ring::new(budget),
            lanes: Lanes::default(),
            overview: Overview::default(),
            words: Words::default(),
            event_targets: EventTargets::default(),
            kind: "",
            last_stream: 0,
            pushed: 0,
            open: None,
            nodes: NodeNames::default(),
        }
    }

    /// No marks yet of the kind of this name, such as `Pod`. They take at most [`BUDGET`] bytes.
    pub fn of_kind(kind: &'static str) -> Marks {
        Marks { kind, ..Marks::default() }
    }

    /// Marks a change of one object. `now` is the time of its arrival, in milliseconds. Returns the lane of the object.
    pub fn push(&mut self, now: f64, mark: NewMark<'_>) -> LaneId {
        self.push_with(now, mark, Detail::default())
    }

    /// Marks a change of one object of which more is known. Returns the lane of the object.
    pub fn push_with(&mut self, now: f64, mark: NewMark<'_>, detail: Detail<'_>) -> LaneId {
        let NewMark { key, uid, mark_type, resource_version, folded, tone } = mark;
        let Detail { word, regarding, regarding_uid } = detail;
        let at = self.ring.clamp(now);
        let folded = folded.max(1);
        let touch = self.lanes.touch(Change { key, uid, mark_type }, self.ring.next_seq(), at);
        let resource_version = resource_version.clone();
        let subject = Subject::Object { lane: touch.lane, life: touch.life, resource_version, folded };
        // What is gone is in no state.
        let word = if mark_type == MarkType::Deleted { "" } else { word };
        let state = self.words.state(NewState { tone, word });
        self.ring.push(at, mark_type, state, touch.before, subject);
        self.lanes.end_block(touch.lane, &self.ring);
        self.event_targets.note(touch.lane, regarding, regarding_uid);
        self.pushed += 1;
        self.overview.add(at, mark_type, folded);
        self.evict();
        touch.lane
    }

    /// Notes who owns the object of a lane, and on which node it is; an empty name stands for none. A deleted object
    /// keeps what was noted last.
    pub fn put(&mut self, lane: LaneId, owners: Option<&Arc<Owners>>, node: &str) {
        let Some(known) = self.lanes.get(lane) else { return };
        if !known.live && owners.is_none() && node.is_empty() {
            return;
        }
        let same_owners = match (&known.placement.owners, owners) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if !same_owners || known.placement.node.as_deref().unwrap_or_default() != node {
            let placement = Placement { owners: owners.cloned(), node: self.nodes.name(node) };
            self.lanes.put(lane, placement);
        }
    }

    /// Whether an object has a lane.
    pub fn has_lane(&self, key: &ObjectKey) -> bool {
        self.lanes.find(key).is_some()
    }

    /// What happened last to an object that is there, and when; `None` where no mark of that is held. A list that brought the
    /// version that was known before is nothing that happened.
    pub fn last_change(&self, object: &Object) -> Option<(DeltaType, f64)> {
        let lane = self.lanes.get(self.lanes.find(&object.key)?)?;
        let newest = self.ring.get(lane.last_seq).filter(|_| lane.live && lane.marks > 0 && lane.uid == object.uid)?;
        let version = |mark: &Mark<'_>| match mark.subject {
            SubjectRef::Object { life, resource_version, .. } => Some((life, ResourceVersion::from(resource_version))),
            _ => None,
        };
        let is_repeated = |mark: &Mark<'_>, before: &Mark<'_>| {
            mark.mark_type == MarkType::Replaced
                && before.mark_type != MarkType::Deleted
                && version(before) == version(mark)
        };
        let older = |mark: &Mark<'_>| self.ring.before(mark).filter(|before| is_repeated(mark, before));
        let mark = std::iter::successors(Some(newest), older).last()?;
        let delta_type = match mark.mark_type {
            MarkType::Added => DeltaType::Added,
            MarkType::Updated => DeltaType::Updated,
            MarkType::Replaced => DeltaType::Replaced,
            _ => return None,
        };
        Some((delta_type, mark.at))
    }

    /// Gives a live object a lane, if it has none because nothing has happened to it or because its marks are evicted.
    /// The lane begins in this state.
    pub fn recall<'a>(&mut self, key: &ObjectKey, uid: &Uid, state: impl Into<NewState<'a>>) {
        if self.lanes.find(key).is_none() {
            let state = self.words.state(state.into());
            self.lanes.recall(key, uid, state);
        }
    }

    /// The same for an object that the user looks at. If nothing happens to the object, its lane is freed when the user
    /// looks at another one.
    pub fn attend<'a>(&mut self, key: &ObjectKey, uid: &Uid, state: impl Into<NewState<'a>>) -> Option<LaneId> {
        self.recall(key, uid, state);
        let lane = self.lanes.find(key);
        if let Some(worn) = self.lanes.attend(key) {
            self.words.release(worn);
        }
        lane
    }

    /// Marks that the kind was listed again, and why: `relist (410)`.
    pub fn relist(&mut self, now: f64, note: &str) {
        self.push_stream((now, now), MarkType::Relist, note, false);
    }

    /// Marks that handlers were notified of known objects again: one mark, however many they are. It is drawn in the lane of each
    /// object of which they were.
    pub fn resync(&mut self, now: f64, resync: Resync) {
        let at = self.ring.clamp(now);
        self.pushed += 1;
        self.push_for_all(at, MarkType::Sync, Subject::Resync(Box::new(resync)));
    }

    /// How often handlers were notified again of an object since its newest mark, by resyncs with held marks, and when that was
    /// last.
    pub fn resyncs_since_change(&self, key: &ObjectKey) -> Option<(u64, f64)> {
        let lane = self.lanes.get(self.lanes.find(key)?)?;
        let marks = std::iter::successors(self.ring.get(self.last_stream), |mark| self.ring.before(mark));
        let since = marks.take_while(|mark| lane.marks == 0 || mark.seq > lane.last_seq);
        let newest = if lane.marks == 0 { None } else { self.ring.get(lane.last_seq) };
        let own = since.filter(|mark| mark.resync().is_some_and(|resync| lane.is_in_resync(resync, newest)));
        own.fold(None, |counted, mark| Some(counted.map_or((1, mark.at), |(count, last)| (count + 1, last))))
    }

    /// Marks a time without knowledge that is over, such as `gap of 1.2 s`. An open gap ends with it.
    pub fn gap(&mut self, from: f64, to: f64, note: &str) {
        self.open = None;
        self.push_stream((from, to), MarkType::Gap, note, false);
    }

    /// Marks a time in which the page itself was behind. A timeline of several kinds, each of which has this mark,
    /// draws one gap.
    pub fn gap_of_all(&mut self, from: f64, to: f64, note: &str) {
        self.open = None;
        self.push_stream((from, to), MarkType::Gap, note, true);
    }

    /// From this time on nothing is known, until [`Marks::gap`] or [`Marks::close_gap`] says when that ended. Drawn up
    /// to now.
    pub fn open_gap(&mut self, from: f64, note: &str) {
        let from = if from.is_finite() { from } else { self.ring.clamp(from) };
        self.open = Some((from, note.into()));
    }

    /// Whether a gap is open.
    pub fn has_open_gap(&self) -> bool {
        self.open.is_some()
    }

    /// Ends an open gap, if there is one, with a mark of its own.
    pub fn close_gap(&mut self, now: f64) {
        if let Some((from, note)) = self.open.take() {
            self.push_stream((from, now), MarkType::Gap, &note, false);
        }
    }

    fn push_stream(&mut self, (from, to): (f64, f64), mark_type: MarkType, note: &str, of_all: bool) {
        let at = self.ring.clamp(to);
        let from = if from <= at { from } else { at };
        self.push_for_all(at, mark_type, Subject::Stream { from, note: note.into(), of_all });
    }

    fn push_for_all(&mut self, at: f64, mark_type: MarkType, subject: Subject) {
        let before = match self.last_stream {
            0 => 0,
            last => u32::try_from(self.ring.next_seq() - last).unwrap_or(0),
        };
        self.last_stream = self.ring.push(at, mark_type, State::default(), before, subject);
        self.overview.add(at, mark_type, 1);
        self.evict();
    }

    fn evict(&mut self) {
        while let Some(mark) = self.ring.evict(self.beside()) {
            self.release(&mark);
        }
    }

    /// Forgets a mark that the ring evicted, and the words that nothing has any more.
    fn release(&mut self, mark: &Evicted) {
        self.lanes.release(mark).into_iter().flatten().for_each(|state| self.words.release(state));
        if let Some((lane, _)) = mark.owner
            && !self.event_targets.is_empty()
            && self.lanes.get(lane).is_none()
        {
            self.event_targets.forget(lane);
        }
    }

    /// The bytes that are kept because of the marks, beside them.
    fn beside(&self) -> usize {
        self.lanes.charged() + self.words.bytes() + self.event_targets.bytes()
    }

    /// All marks that are held, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = MarkInfo<'_>> + ExactSizeIterator {
        self.ring.newest_first().rev().map(|mark| self.info(mark))
    }

    /// The state that the object of a lane is in now; `None` if it is gone.
    pub(in crate::timeline) fn state_of(&self, lane: &Lane) -> Option<State> {
        if lane.marks == 0 { lane.worn } else { self.ring.get(lane.last_seq)?.state() }
    }

    /// The state that the object of a lane was in at a time; `None` if there was no such object, or it is not known.
    pub(in crate::timeline) fn state_at(&self, lane: &Lane, at: f64) -> Option<State> {
        newest_until(&self.ring, lane, at).map_or(lane.worn, |mark| mark.state())
    }

    /// The lanes of the Events about an object of a kind, the latest ones first, if these are the marks of Events.
    pub(in crate::timeline) fn events_about<'a>(
        &'a self,
        kind: &str,
        object: &'a Lane,
    ) -> impl Iterator<Item = &'a Lane> {
        self.event_targets.about(kind, object, &self.lanes)
    }

    pub(in crate::timeline) fn info<'a>(&'a self, mark: Mark<'a>) -> MarkInfo<'a> {
        let (sequence, at, mark_type, tone) = (mark.seq, mark.at, mark.mark_type, mark.state.tone);
        let all = MarkInfo {
            sequence,
            at,
            from: at,
            mark_type,
            key: None,
            uid: &uid::UNKNOWN,
            resource_version: ResourceVersion::default(),
            folded: 1,
            tone,
            word: self.words.text(mark.state),
            note: "",
            resync: None,
        };
        match mark.subject {
            SubjectRef::Object { lane, life, resource_version, folded } => {
                let owner = self.owner(lane, life);
                let (key, uid) = owner.map_or((None, &uid::UNKNOWN), |(key, uid)| (Some(key), uid));
                MarkInfo { key, uid, resource_version: resource_version.into(), folded, ..all }
            }
            SubjectRef::Stream { from, note, .. } => MarkInfo { from, note, ..all },
            SubjectRef::Resync(resync) => {
                let folded = u32::try_from(resync.count).unwrap_or(u32::MAX);
                MarkInfo { folded, resync: Some(resync), ..all }
            }
        }
    }

    /// What happened since a time, at most ten minutes ago, by type. Counts frames, evicted marks' included, and
    /// begins at a whole quarter of a second.
    pub fn counts_since(&self, since: f64) -> Counts {
        self.overview.counts(since, f64::INFINITY)
    }

    /// How many marks were ever made.
    pub fn made(&self) -> u64 {
        self.ring.next_seq() - 1
    }

    /// How many marks of objects and of resyncs were ever made. Of each a handler was notified; relists and gaps are
    /// announced.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Hides each lane that `passes` does not let through, and shows the others, as far as they have changed since a time.
    /// Returns whether that is news for one of them.
    pub fn hide_lanes(&mut self, since: f64, passes: &mut dyn FnMut(&Lane) -> bool) -> bool {
        self.lanes.hide(since, passes)
    }

    /// The objects that are gone and whose marks are kept, among `count` lanes from the number `first` on.
    pub fn gone_among(&self, first: usize, count: usize) -> impl Iterator<Item = &ObjectKey> {
        let lanes = (first..first.saturating_add(count)).filter_map(|number| self.lanes.get(LaneId(number as u32)));
        lanes.filter(|lane| !lane.live && lane.marks > 0).map(|lane| &lane.key)
    }

    /// One more than the largest number of a lane.
    pub fn places(&self) -> usize {
        self.lanes.slots()
    }

    /// From now on the marks, and the lanes that they stand in, take at most so many bytes. The oldest marks are
    /// evicted.
    pub fn limit(&mut self, budget: usize) {
        self.ring.limit(budget);
        self.evict();
    }

    /// Evicts the oldest marks, a few thousand or fewer: as many as share a piece of memory. Returns whether there were
    /// any.
    fn give_up_oldest(&mut self) -> bool {
        let before = self.ring.len();
        for _ in 0..self.ring.per_chunk() {
            let Some(mark) = self.ring.evict_one() else { break };
            self.release(&mark);
        }
        self.ring.len() < before
    }

    /// The bytes that count against the budget: those of the marks, of the lanes that they stand in, and of the words.
    pub fn charged(&self) -> usize {
        self.ring.bytes() + self.beside()
    }

    /// How many marks are held.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no mark is held.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The bytes that the marks take, with their lanes and counts.
    pub fn bytes(&self) -> usize {
        self.ring.bytes() + self.lanes.bytes() + self.words.bytes() + self.event_targets.bytes() + self.overview.bytes()
    }

    /// How many marks were evicted, by type.
    pub fn evicted(&self) -> &Counts {
        self.ring.evicted()
    }

    /// The object of a lane, in the life with this number: its key and its uid.
    pub(in crate::timeline) fn owner(&self, lane: LaneId, life: u32) -> Option<(&ObjectKey, &Uid)> {
        let lane = self.lanes.get(lane)?;
        Some((&lane.key, lane.uid_of(life)))
    }
}

/// Has the marks of several kinds take at most `budget` bytes together. The kind that takes the most gives up its
/// oldest marks, again and again. So a kind in which very much happens takes nothing from one in which little happens.
pub fn keep_within<'a>(budget: usize, marks: impl Iterator<Item = &'a mut Marks>) {
    let mut marks: Vec<(usize, &mut Marks)> = marks.map(|own| (own.charged(), own)).collect();
    let mut taken: usize = marks.iter().map(|(charged, _)| charged).sum();
    while taken > budget
        && let Some((charged, own)) = marks.iter_mut().max_by_key(|(charged, _)| *charged)
        && own.give_up_oldest()
    {
        taken -= *charged;
        *charged = own.charged();
        taken += *charged;
    }
}

/// How many marks of several kinds were ever made: another number after each mark.
pub(in crate::timeline) fn made(marks: &[&Marks]) -> u64 {
    marks.iter().map(|own| own.made()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(marks: &mut Marks, first: u32, count: u32) {
        for at in first..first + count {
            let (key, uid) = (&ObjectKey::new("shop", &format!("pod-{}", at % 300)), &Uid::new("u"));
            let resource_version = &ResourceVersion::new(&(4_000_000_000 + u64::from(at)).to_string());
            let (mark_type, tone) = (MarkType::Updated, Tone::Good);
            marks.push(f64::from(at), NewMark { key, uid, mark_type, resource_version, folded: 1, tone });
        }
    }

    #[test]
    fn a_million_marks_are_kept_in_24_bytes_each_with_their_lanes() {
        const MOST: usize = 24_000_000;
        const { assert!(MOST <= BUDGET) };
        let mut marks = Marks::new(MOST);
        push(&mut marks, 0, 1_000_000);
        assert_eq!((marks.len(), marks.evicted().total()), (1_000_000, 0));
        assert!(marks.charged() <= MOST && marks.bytes() <= MOST + (1 << 20), "{}", marks.bytes());
    }

    #[test]
    fn several_kinds_share_one_budget_and_the_largest_gives_up_its_oldest_marks() {
        let budget = 2 << 20;
        let mut kinds = [Marks::default(), Marks::default(), Marks::default()];
        push(&mut kinds[0], 0, 5_000);
        let mut at = 0;
        for _ in 0..40 {
            push(&mut kinds[1], at, 5_000);
            push(&mut kinds[2], at, 2_500);
            at += 5_000;
            keep_within(budget, kinds.iter_mut());
            let charged: usize = kinds.iter().map(Marks::charged).sum();
            assert!(charged <= budget, "{charged}");
        }
        assert_eq!(kinds[0].evicted().total(), 0, "what is older but little stays");
        let [_, one, two] = &kinds;
        assert!(one.len().abs_diff(two.len()) <= 10_000, "{} and {}", one.len(), two.len());
        assert!(one.charged() + two.charged() > budget / 2, "and no more than needed is given up");
        for own in &kinds {
            assert_eq!(own.len() as u64 + own.evicted().total(), own.made());
            assert_eq!(own.ring.first_seq(), own.evicted().total() + 1, "the oldest went");
        }
        // A budget that is too small for anything ends with nothing.
        keep_within(0, kinds.iter_mut());
        assert!(kinds.iter().all(Marks::is_empty));
    }
}
