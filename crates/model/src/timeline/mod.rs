//! The timeline of one kind, or of several: who changed, when and how, drawn as plain data.
//!
//! Each kind's [`Marks`] are kept once, whichever timelines draw them. A [`Chart`] is what one timeline remembers of
//! its drawing: which lanes stand in which rows, and the last scene. A timeline of several kinds draws their lanes
//! among each other, the most recently changed first, and their relists and gaps by name. Folds keep their counts by
//! type, and a delete is drawn on top of whatever it would be folded into.
//!
//! A mark also says in which state its object is from then on, with the word that the table has for it ([`words`]). A band is
//! the time between two marks of different states. The marks of an Event are drawn on the lane of the object that it is
//! about ([`regarding`]), and are held by the Events' own kind alone.
//!
//! Nothing here paints, and nothing walks all marks: each mark points at the one before it in its lane
//! ([`mark::Mark::before`]), and where the marks of a lane stand closer than pixels, [`blocks`] of them are taken
//! together. So a scene costs the lanes and the pixels that are on the screen.

mod bands;
pub mod blocks;
mod chunk;
mod draw;
mod draw_lane;
mod events;
pub mod fold;
pub mod groups;
pub mod hit;
mod kept;
pub mod lanes;
pub mod mark;
pub mod marks;
pub mod order;
pub mod overview;
pub mod place;
pub mod regarding;
pub mod ring;
pub mod scale;
pub mod scene;
pub mod states;
mod stream;
mod summary;
pub mod ticks;
pub mod words;

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::timeline::draw::Scratch;
use crate::timeline::groups::{GroupId, Groups, LaneChoice, LanePart};
use crate::timeline::hit::Hit;
use crate::timeline::mark::Counts;
use crate::timeline::marks::{MarkInfo, Marks, made, open_gaps};
use crate::timeline::order::Order;
use crate::timeline::scene::{LaneRow, Scene, TimelineView};
use kubechurn_columns::kinds::Kind;

/// The least time between two scenes of a window that only moves on, in milliseconds: seven a
/// second, by which it moves some two pixels in a window of a minute.
const PACE: f64 = 130.0;

/// What a kind is called on a timeline of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindName {
    /// At a lane: `po`.
    pub short: &'static str,
    /// In words, for one object: `Pod`.
    pub long: &'static str,
    /// In words, for all objects: `Pods`.
    pub title: &'static str,
}

/// What the last scene was made of.
#[derive(Debug)]
struct Drawn {
    view: TimelineView,
    now: f64,
    made: u64,
    open: usize,
    texts_since: Option<f64>,
}

/// What a timeline remembers of how it was drawn.
#[derive(Debug, Default)]
pub struct Chart {
    /// The names of several kinds; nothing is told of a single one.
    names: Vec<KindName>,
    order: Order,
    groups: Groups,
    scene: Scene,
    /// The scene that was painted last.
    painted: Scene,
    scratch: Scratch,
    drawn: Option<Drawn>,
    /// Since when the texts of all changes are kept; `None` as long as none was dropped.
    texts_since: Option<f64>,
}

/// The marks of the kinds in view, and the chart that draws them.
#[derive(Debug)]
pub struct Timeline<'a> {
    marks: Vec<&'a Marks>,
    chart: &'a Chart,
}

/// The same, to be drawn anew.
#[derive(Debug)]
pub struct TimelineMut<'a> {
    marks: Vec<&'a Marks>,
    chart: &'a mut Chart,
}

impl Chart {
    /// A chart of several kinds, by their numbers.
    pub fn of(names: Vec<KindName>) -> Chart {
        Chart { names, ..Chart::default() }
    }

    /// The same chart, whose lanes can stand in groups. These are the kinds, by their numbers.
    pub fn with_groups(self, kinds: &[&'static Kind]) -> Chart {
        Chart { groups: Groups::of(kinds.to_vec()), ..self }
    }

    /// The memory that the chart takes, without the marks.
    pub fn bytes(&self) -> usize {
        self.order.bytes() + self.groups.bytes()
    }

    fn is_due(&self, marks: &[&Marks], view: &TimelineView, now: f64) -> bool {
        let Some(drawn) = &self.drawn else {
            return true;
        };
        let passed = now - drawn.now;
        let follows = drawn.view.window.ends_at(drawn.now) && view.window.ends_at(now);
        let same_window = if follows {
            (view.window.span() - drawn.view.window.span()).abs() < 1e-3
        } else {
            view.window == drawn.view.window
        };
        let same_view = same_window
            && view.span == drawn.view.span
            && (view.width, view.height, view.scroll, view.hold, &view.selected, view.hover)
                == (
                    drawn.view.width,
                    drawn.view.height,
                    drawn.view.scroll,
                    drawn.view.hold,
                    &drawn.view.selected,
                    drawn.view.hover,
                );
        if !same_view || drawn.texts_since != self.texts_since || self.groups.is_behind {
            return true;
        }
        // Without following, the ticks move on, since they tell how long ago the window was.
        let moved = passed.abs() >= self.scene.scale.ms_per_pixel();
        let news = drawn.made != made(marks) || drawn.open != open_gaps(marks);
        passed.abs() >= PACE && (moved || news)
    }

    fn draw(&mut self, marks: &[&Marks], view: &TimelineView, now: f64) {
        let mut scene = std::mem::take(&mut self.scene);
        let mut scratch = std::mem::take(&mut self.scratch);
        self.fill(marks, (view, now), &mut scene, &mut scratch);
        (self.scene, self.scratch) = (scene, scratch);
        let (made, open, texts_since) = (made(marks), open_gaps(marks), self.texts_since);
        self.drawn = Some(Drawn { view: view.clone(), now, made, open, texts_since });
    }
}

impl<'a> Timeline<'a> {
    /// The timeline of the kinds whose marks these are, in the order of their numbers.
    pub fn new(marks: Vec<&'a Marks>, chart: &'a Chart) -> Timeline<'a> {
        Timeline { marks, chart }
    }

    /// The last scene.
    pub fn last_scene(&self) -> &'a Scene {
        &self.chart.scene
    }

    /// What the last scene shows at a point of the canvas.
    pub fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        self.chart.hit(&self.marks, (x, y))
    }

    /// The row of the last scene at a point of the canvas, and which part of it is there.
    pub fn part_at(&self, x: f64, y: f64) -> Option<(&'a LaneRow, LanePart)> {
        self.chart.part_at((x, y))
    }

    /// The words of a group of the last scene, as [`groups::OpenGroups`] has them.
    pub fn group_words(&self, id: GroupId) -> Option<String> {
        self.chart.groups.words(&self.marks, id)
    }

    /// The words of the group of an object; of one that has nothing below it, of the group that it is in.
    pub fn group_words_of(&self, kind: KindId, key: &ObjectKey) -> Option<String> {
        self.chart.groups.words_around(&self.marks, (kind, key))
    }

    /// What happened since a time, at most ten minutes ago, by type. Counts frames, evicted marks' included, and
    /// begins at a whole quarter of a second.
    pub fn counts_since(&self, since: f64) -> Counts {
        let mut counts = Counts::default();
        self.marks.iter().for_each(|own| counts += own.counts_since(since));
        counts
    }

    /// How often an object was told again since its newest mark, by resyncs whose marks are held, and when that was
    /// last.
    pub fn resyncs_since_change(&self, kind: KindId, key: &ObjectKey) -> Option<(u64, f64)> {
        self.marks.get(kind.index())?.resyncs_since_change(key)
    }
}

impl<'a> TimelineMut<'a> {
    /// The timeline of the kinds whose marks these are, in the order of their numbers.
    pub fn new(marks: Vec<&'a Marks>, chart: &'a mut Chart) -> TimelineMut<'a> {
        TimelineMut { marks, chart }
    }

    /// Arranges the lanes as the user chose, from the next scene on.
    pub fn choose_lanes(&mut self, choice: &LaneChoice) {
        if self.chart.groups.choose(choice) {
            self.chart.drawn = None;
        }
    }

    /// Where lanes stand by manager, asks `find` who wrote marks of which that is not known yet, at most `most` of them.
    /// `find` returns `None` where nobody knows. Returns whether some are left; the next scene is due then.
    pub fn find_writers(
        &mut self,
        most: usize,
        find: &mut dyn FnMut(&'static Kind, &MarkInfo<'_>) -> Option<String>,
    ) -> bool {
        self.chart.groups.find_writers(&self.marks, most, find)
    }

    /// Whether the last scene left something to find or to count, so that the next one is due at once.
    pub fn is_behind(&self) -> bool {
        self.chart.groups.is_behind
    }

    /// Whether a new scene would differ: at once when the view was changed, and seven times a second when a mark
    /// arrived or the time moved on by a pixel.
    pub fn is_due(&self, view: &TimelineView, now: f64) -> bool {
        self.chart.is_due(&self.marks, view, now)
    }

    /// The scene of a view: made anew, in the buffers of the last one.
    pub fn scene(&mut self, view: &TimelineView, now: f64) -> &Scene {
        self.chart.draw(&self.marks, view, now);
        &self.chart.scene
    }

    /// Whether the last scene must be painted, because it looks different from the one that was painted last. From now on
    /// it counts as painted.
    pub fn take_looks_new(&mut self) -> bool {
        let Chart { scene, painted, .. } = &mut *self.chart;
        let is_new = !scene.looks_like(painted);
        if is_new {
            painted.clone_from(scene);
        }
        is_new
    }

    /// What the last scene shows at a point of the canvas.
    pub fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        self.chart.hit(&self.marks, (x, y))
    }

    /// What is no longer kept of the time at a point of the last scene, in words: `only marks before 14:02`.
    pub fn lost_at(&self, x: f64, y: f64) -> Option<&str> {
        self.chart.lost_at((x, y))
    }

    /// From now on scenes show since when the texts of all changes are kept, in milliseconds; `None` as long as none was
    /// dropped.
    pub fn note_texts(&mut self, since: Option<f64>) {
        self.chart.note_texts(since);
    }
}

#[cfg(test)]
mod tests;
