//! The timeline of one resource, or of several: who changed, when and how, kept within a budget, and drawn as plain data.
//!
//! A mark is stamped when its frame arrives, before anything is folded by the queue. Its time is a number of
//! milliseconds that the caller passes in. Nothing is dropped in silence: evicted marks are counted, folds keep
//! their counts by type, and a delete is drawn on top of whatever it would be folded into.
//!
//! Nothing here draws, and nothing walks all marks: each mark points at the one before it in its lane
//! ([`mark::Mark::before`]), so a scene costs the marks of the lanes that are on the screen.

mod draw;
pub mod fold;
pub mod hit;
pub mod lanes;
pub mod mark;
pub mod order;
pub mod overview;
pub mod ring;
pub mod scale;
pub mod scene;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::uid::{self, Uid};

use crate::kind_id::KindId;
use crate::timeline::draw::Scratch;
use crate::timeline::lanes::{Change, Lane, Lanes};
use crate::timeline::mark::{Counts, Mark, MarkType, Resync, Subject};
use crate::timeline::order::Order;
use crate::timeline::overview::Overview;
use crate::timeline::ring::Ring;
use crate::timeline::scene::{Scene, TimelineView};

/// A budget for one resource, in bytes: room for some hundred thousand marks.
pub const BUDGET: usize = 8 << 20;

/// The least time between two scenes of a window that only moves on, in milliseconds: seven a
/// second, by which it moves some two pixels in a window of a minute.
const PACE: f64 = 130.0;

/// A mark as a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkInfo<'a> {
    /// Counts up by one from mark to mark.
    pub sequence: u64,
    /// When it was stamped.
    pub at: f64,
    /// When a gap began; otherwise the same as `at`.
    pub from: f64,
    /// What happened.
    pub mark_type: MarkType,
    /// Of which of the timeline's kinds; 0 where there is one.
    pub kind: KindId,
    /// To whom; `None` for relists, gaps and resyncs.
    pub key: Option<&'a ObjectKey>,
    /// The uid of the life that it happened to; empty for relists, gaps and resyncs.
    pub uid: &'a Uid,
    /// The object's version after it; empty for relists, gaps and resyncs.
    pub resource_version: &'a str,
    /// How many frames it stands for; for a resync, how many objects it told again.
    pub folded: u32,
    /// The object's state after it.
    pub tone: Tone,
    /// What a relist or gap was; otherwise empty.
    pub note: &'a str,
    /// What a resync told again.
    pub resync: Option<&'a Resync>,
}

/// A change of one object that is about to be marked.
#[derive(Clone, Copy, Debug)]
pub struct NewMark<'a> {
    /// The kind of the object, by its number on the timeline.
    pub kind: KindId,
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
    pub fn of(kind: KindId, mark_type: MarkType, object: &'a Object, tone: Tone) -> NewMark<'a> {
        let Object { key, uid, resource_version, .. } = object;
        NewMark { kind, key, uid, mark_type, resource_version, folded: 1, tone }
    }
}

/// What the last scene was made of.
#[derive(Debug)]
struct Drawn {
    view: TimelineView,
    now: f64,
    seq: u64,
    open: bool,
}

/// What a kind is called on a timeline of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindName {
    /// At a lane: `po`.
    pub short: &'static str,
    /// In words: `Pod`.
    pub long: &'static str,
}

/// The marks of one resource, or of several.
#[derive(Debug)]
pub struct Timeline {
    /// The names of several kinds; nothing is told of a single one.
    kinds: Vec<KindName>,
    ring: Ring,
    lanes: Lanes,
    order: Order,
    overview: Overview,
    /// The sequence number of the newest relist, gap or resync; 0 before the first.
    last_stream: u64,
    /// How many marks of objects, and of resyncs, were made.
    pushed: u64,
    /// A gap that still lasts: since when, and what it is.
    open: Option<(f64, Box<str>)>,
    scene: Scene,
    scratch: Scratch,
    drawn: Option<Drawn>,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::new(BUDGET)
    }
}

impl Timeline {
    /// An empty timeline whose marks, and the lanes that they stand in, take at most `budget` bytes.
    pub fn new(budget: usize) -> Timeline {
        Timeline {
            kinds: Vec::new(),
            ring: Ring::new(budget),
            lanes: Lanes::default(),
            order: Order::default(),
            overview: Overview::default(),
            last_stream: 0,
            pushed: 0,
            open: None,
            scene: Scene::default(),
            scratch: Scratch::default(),
            drawn: None,
        }
    }

    /// An empty timeline of several kinds, known by their numbers.
    pub fn of(kinds: Vec<KindName>) -> Timeline {
        Timeline { kinds, ..Timeline::default() }
    }

    /// Marks a change of one object. `now` is the time of its arrival, in milliseconds.
    pub fn push(&mut self, now: f64, mark: NewMark<'_>) {
        let NewMark { kind, key, uid, mark_type, resource_version, folded, tone } = mark;
        let at = self.ring.clamp(now);
        let folded = folded.max(1);
        let touch = self.lanes.touch(Change { kind, key, uid, mark_type }, self.ring.next_seq(), at);
        let resource_version = resource_version.clone();
        let subject = Subject::Object { lane: touch.lane, life: touch.life, resource_version, folded };
        self.ring.push(at, mark_type, tone, touch.before, subject);
        self.pushed += 1;
        self.overview.add(at, mark_type, folded);
        self.evict();
    }

    /// Whether an object has a lane.
    pub fn has_lane(&self, kind: KindId, key: &ObjectKey) -> bool {
        self.lanes.find(kind, key).is_some()
    }

    /// Gives an object that lives a lane, if it has none: either nothing of it was heard, or its marks are evicted. `tone`
    /// is its state, in which the lane begins.
    pub fn recall(&mut self, (kind, key): (KindId, &ObjectKey), uid: &Uid, tone: Tone) {
        self.lanes.recall((kind, key), uid, tone);
    }

    /// The same for an object that is looked at: its lane goes with the next one's, if nothing happens to it.
    pub fn attend(&mut self, (kind, key): (KindId, &ObjectKey), uid: &Uid, tone: Tone) {
        self.lanes.attend((kind, key), uid, tone);
    }

    /// Marks that the resource was listed again, and why: `relist (410)`.
    pub fn relist(&mut self, now: f64, note: &str) {
        self.push_stream(now, now, MarkType::Relist, note);
    }

    /// Marks that what is known was told again: once, however much that is. It is drawn in each lane of an object that was
    /// told again.
    pub fn resync(&mut self, now: f64, resync: Resync) {
        let at = self.ring.clamp(now);
        self.pushed += 1;
        self.push_for_all(at, MarkType::Sync, Subject::Resync(Box::new(resync)));
    }

    /// How often an object was told again since its newest mark, by resyncs whose marks are held, and when that was last.
    pub fn resyncs_since_change(&self, kind: KindId, key: &ObjectKey) -> Option<(u64, f64)> {
        let lane = self.lanes.get(self.lanes.find(kind, key)?)?;
        let marks = std::iter::successors(self.ring.get(self.last_stream), |mark| self.ring.before(mark));
        let since = marks.take_while(|mark| lane.marks == 0 || mark.seq > lane.last_seq);
        let own = since.filter(|mark| mark.resync().is_some_and(|resync| self.tells(resync, mark.seq, lane, None)));
        own.fold(None, |told, mark| Some(told.map_or((1, mark.at), |(count, last)| (count + 1, last))))
    }

    /// Whether a resync told the object of a lane again. `newer` is the lane's oldest mark after the resync, if that is
    /// known; otherwise the lane is looked through.
    pub(crate) fn tells(&self, resync: &Resync, seq: u64, lane: &Lane, newer: Option<&Mark>) -> bool {
        if lane.kind != resync.kind || !(resync.namespace.is_empty() || *resync.namespace == *lane.key.namespace) {
            return false;
        }
        let newest = if lane.marks == 0 { None } else { self.ring.get(lane.last_seq) };
        let mut mark = newer.or(newest);
        while let Some(later) = mark.filter(|mark| mark.seq > seq) {
            mark = self.ring.before(later);
        }
        match mark {
            // What happened after the queue was empty last may have been queued still.
            Some(mark) => mark.mark_type != MarkType::Deleted && resync.since <= mark.at && mark.at <= resync.settled,
            // Its marks are gone, but for the state that they left, if the object did not end with them.
            None => lane.worn.is_some(),
        }
    }

    /// Marks a time without knowledge that is over, such as `gap of 1.2 s`. An open gap ends with it.
    pub fn gap(&mut self, from: f64, to: f64, note: &str) {
        self.open = None;
        self.push_stream(from, to, MarkType::Gap, note);
    }

    /// From this time on nothing is known, until [`Timeline::gap`] tells when that ended. Drawn up to now.
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
            self.push_stream(from, now, MarkType::Gap, &note);
        }
    }

    fn push_stream(&mut self, from: f64, to: f64, mark_type: MarkType, note: &str) {
        let at = self.ring.clamp(to);
        let from = if from <= at { from } else { at };
        self.push_for_all(at, mark_type, Subject::Stream { from, note: note.into() });
    }

    fn push_for_all(&mut self, at: f64, mark_type: MarkType, subject: Subject) {
        let before = match self.last_stream {
            0 => 0,
            last => u32::try_from(self.ring.next_seq() - last).unwrap_or(0),
        };
        self.last_stream = self.ring.push(at, mark_type, Tone::Plain, before, subject);
        self.overview.add(at, mark_type, 1);
        self.evict();
    }

    fn evict(&mut self) {
        while let Some(mark) = self.ring.evict(self.lanes.charged()) {
            self.lanes.release(&mark);
        }
    }

    /// All marks that are held, oldest first, for the page's test handle.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = MarkInfo<'_>> + ExactSizeIterator {
        self.ring.newest_first().rev().map(|mark| self.info(mark))
    }

    fn info<'a>(&'a self, mark: &'a Mark) -> MarkInfo<'a> {
        let (sequence, at, mark_type, tone) = (mark.seq, mark.at, mark.mark_type, mark.tone);
        let all = MarkInfo {
            sequence,
            at,
            from: at,
            mark_type,
            kind: KindId::ONLY,
            key: None,
            uid: &uid::UNKNOWN,
            resource_version: "",
            folded: 1,
            tone,
            note: "",
            resync: None,
        };
        match &mark.subject {
            Subject::Object { lane, life, resource_version, folded } => {
                let owner = self.owner(*lane, *life);
                let (kind, key, uid) =
                    owner.map_or((KindId::ONLY, None, &uid::UNKNOWN), |(kind, key, uid)| (kind, Some(key), uid));
                let (resource_version, folded) = (resource_version.as_str(), *folded);
                MarkInfo { kind, key, uid, resource_version, folded, ..all }
            }
            Subject::Stream { from, note } => MarkInfo { from: *from, note, ..all },
            Subject::Resync(resync) => {
                let folded = u32::try_from(resync.count).unwrap_or(u32::MAX);
                MarkInfo { kind: resync.kind, folded, resync: Some(resync), ..all }
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

    /// How many marks of objects, and of resyncs, were ever made: all that handlers are told of.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// From now on the marks, and the lanes that they stand in, take at most so many bytes: the oldest go.
    pub fn limit(&mut self, budget: usize) {
        self.ring.limit(budget);
        self.evict();
    }

    /// How many marks are held.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no mark is held.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        self.ring.bytes() + self.lanes.bytes() + self.overview.bytes() + self.order.bytes()
    }

    /// How many marks were evicted, by type.
    pub fn evicted(&self) -> &Counts {
        self.ring.evicted()
    }

    /// Whether a new scene would differ: at once when the view was changed, and seven times a second when a mark
    /// arrived or the time moved on by a pixel.
    pub fn is_due(&self, view: &TimelineView, now: f64) -> bool {
        let Some(drawn) = &self.drawn else {
            return true;
        };
        let passed = now - drawn.now;
        let follows = (drawn.view.window.to - drawn.now).abs() < 1.0 && (view.window.to - now).abs() < 1.0;
        let same_window = if follows {
            (view.window.span() - drawn.view.window.span()).abs() < 1e-3
        } else {
            view.window == drawn.view.window
        };
        let same_view = same_window
            && (view.width, view.height, view.scroll, view.hold, &view.selected, view.hover)
                == (
                    drawn.view.width,
                    drawn.view.height,
                    drawn.view.scroll,
                    drawn.view.hold,
                    &drawn.view.selected,
                    drawn.view.hover,
                );
        if !same_view {
            return true;
        }
        // Without following, the ticks move on, since they tell how long ago the window was.
        let moved = passed.abs() >= self.scene.scale.ms_per_pixel();
        let news = drawn.seq != self.ring.next_seq() || drawn.open != self.open.is_some();
        passed.abs() >= PACE && (moved || news)
    }

    /// The scene of a view: made anew, in the buffers of the last one.
    pub fn scene(&mut self, view: &TimelineView, now: f64) -> &Scene {
        let mut scene = std::mem::take(&mut self.scene);
        let mut scratch = std::mem::take(&mut self.scratch);
        self.fill(view, now, &mut scene, &mut scratch);
        (self.scene, self.scratch) = (scene, scratch);
        self.drawn = Some(Drawn { view: view.clone(), now, seq: self.ring.next_seq(), open: self.open.is_some() });
        &self.scene
    }

    /// The last scene.
    pub fn last_scene(&self) -> &Scene {
        &self.scene
    }
}

#[cfg(test)]
mod tests;
