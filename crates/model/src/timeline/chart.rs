//! The chart of a timeline: it remembers the rows of the lanes and the last scene, and draws the next one when it is
//! due.

use kubechurn_changes::note::Note;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::{GroupId, LaneChoice};
use crate::timeline::lanes::groups::Groups;
use crate::timeline::lanes::index::managers::FindWriter;
use crate::timeline::lanes::order::Order;
use crate::timeline::scene::contents::{FindPast, LaneRow, PastMoment, Scene};
use crate::timeline::scene::draw::draw;
use crate::timeline::scene::hit::{Hit, LanePart};
use crate::timeline::scene::labels::{labels_width, next_width};
use crate::timeline::scene::layout::{Layout, TimelineView};
use crate::timeline::scene::noted::{fill_notes, note_at};
use crate::timeline::scene::past::{fill_past, past_at};
use crate::timeline::scene::pointer::{HitTest, lost_at};
use crate::timeline::scene::scratch::Scratch;
use crate::timeline::scene::source::Source;
use crate::timeline::store::mark::Counts;
use crate::timeline::store::marks::{Marks, made};
use crate::timeline::words::kinds::{KindName, KindNames};

/// The least time between two scenes of a window that only moves on, in milliseconds: seven a
/// second, by which it moves some two pixels in a window of a minute.
const PACE: f64 = 130.0;

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
    names: KindNames,
    order: Order,
    pub(super) groups: Groups,
    pub(super) scene: Scene,
    /// The scene that was painted last.
    painted: Scene,
    pub(super) scratch: Scratch,
    drawn: Option<Drawn>,
    /// How wide the column of labels needs to be, in pixels; 0 before the first label.
    labels: f64,
    /// Since when the texts of all changes are kept; `None` as long as none was dropped.
    pub(super) texts_since: Option<f64>,
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
        Chart { names: KindNames::new(names), ..Chart::default() }
    }

    /// The same chart, whose lanes can stand in groups. These are the kinds, by their numbers.
    pub fn with_groups(self, kinds: &[&'static Kind]) -> Chart {
        Chart { groups: Groups::of(kinds.to_vec()), ..self }
    }

    /// Has the lanes stand anew with the next scene, because others of them are hidden.
    pub fn must_settle(&mut self) {
        self.order.must_settle();
        self.groups.must_settle();
        self.drawn = None;
    }

    /// The memory that the chart takes, without the marks.
    pub fn bytes(&self) -> usize {
        self.order.bytes() + self.groups.bytes()
    }

    pub(super) fn is_due(&self, marks: &[&Marks], view: &TimelineView, now: f64) -> bool {
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
            && (view.span, view.labels) == (drawn.view.span, drawn.view.labels)
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
        // Without following, the ticks move on, since they show how long ago the window was.
        let moved = passed.abs() >= self.scene.scale.ms_per_pixel();
        let news = drawn.made != made(marks) || drawn.open != open_gaps(marks);
        passed.abs() >= PACE && (moved || news)
    }

    pub(super) fn draw(&mut self, marks: &[&Marks], view: &TimelineView, now: f64) {
        // Which labels there are is known only when they are there: a column that does not fit them is drawn again.
        for _ in 0..2 {
            let Chart { names, texts_since, labels, .. } = self;
            let source = Source { marks, names, view, now, texts_since: *texts_since, labels: *labels };
            draw(&source, &mut self.order, &mut self.groups, &mut self.scene, &mut self.scratch);
            let before = self.scene.layout.left;
            self.labels = next_width(self.labels, labels_width(&self.scene.lanes), view.hold);
            if Layout::new((view.width, view.height), self.labels, view.labels).left == before {
                break;
            }
        }
        self.drawn = Some(Drawn {
            view: view.clone(),
            now,
            made: made(marks),
            open: open_gaps(marks),
            texts_since: self.texts_since,
        });
    }

    fn hit_test<'a>(&'a self, marks: &'a [&'a Marks]) -> HitTest<'a> {
        HitTest { marks, names: &self.names, groups: &self.groups, scene: &self.scene }
    }
}

impl<'a> Timeline<'a> {
    /// The timeline of the kinds whose marks these are, in the order of their numbers.
    pub fn new(marks: Vec<&'a Marks>, chart: &'a Chart) -> Timeline<'a> {
        Timeline { marks, chart }
    }

    pub fn last_scene(&self) -> &'a Scene {
        &self.chart.scene
    }

    /// What the last scene shows at a point of the canvas.
    pub fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        self.chart.hit_test(&self.marks).hit(x, y)
    }

    /// What was noted at a point of the last scene.
    pub fn note_at(&self, x: f64, y: f64) -> Option<&'a Note> {
        note_at(&self.chart.scene, x, y)
    }

    /// The row of the last scene at a point of the canvas, and which part of it is there.
    pub fn part_at(&self, x: f64, y: f64) -> Option<(&LaneRow, LanePart)> {
        self.chart.hit_test(&self.marks).part_at(x, y)
    }

    /// The words of a group of the last scene, as [`crate::timeline::lanes::OpenGroups`] has them.
    pub fn group_words(&self, id: GroupId) -> Option<String> {
        self.chart.groups.words(&self.marks, id)
    }

    /// The words of the group of an object; of one that has nothing below it, of the group that it is in.
    pub fn group_words_of(&self, kind: KindId, key: &ObjectKey) -> Option<String> {
        self.chart.groups.words_around(&self.marks, kind, key)
    }

    /// What happened since a time, at most ten minutes ago, by type. Counts frames, evicted marks' included, and
    /// begins at a whole quarter of a second.
    pub fn counts_since(&self, since: f64) -> Counts {
        let mut counts = Counts::default();
        self.marks.iter().for_each(|own| counts += own.counts_since(since));
        counts
    }

    /// How often handlers were notified again of an object since its newest mark, by resyncs with held marks, and when that was
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

    /// Has it be asked anew who wrote, where lanes stand by manager, if this number is another than before: something else is known.
    pub fn note_writers(&mut self, revision: u64) {
        if self.chart.groups.note_writers(revision) {
            self.chart.drawn = None;
        }
    }

    /// Where lanes stand by manager, asks `find` who wrote marks of which that is not known yet, at most `most` of
    /// them. `find` returns `None` where nobody knows. Returns whether some are left; the next scene is due then.
    pub fn find_writers(&mut self, most: usize, find: &mut FindWriter<'_>) -> bool {
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

    /// The scene that was made last.
    pub fn last_scene(&self) -> &Scene {
        &self.chart.scene
    }

    /// The scene of a view: made anew, in the buffers of the last one.
    pub fn scene(&mut self, view: &TimelineView, now: f64) -> &Scene {
        self.chart.draw(&self.marks, view, now);
        &self.chart.scene
    }

    /// Adds to the last scene what the objects of its lanes say of their past, as `find` gives it, the newest first.
    pub fn fill_past(&mut self, find: &mut FindPast<'_>) {
        fill_past(&self.marks, &mut self.chart.scene, find);
    }

    /// What an object says of its past at a point of the last scene.
    pub fn past_at(&self, x: f64, y: f64) -> Option<&PastMoment> {
        past_at(&self.chart.scene, x, y)
    }

    /// Adds to the last scene what was noted.
    pub fn fill_notes(&mut self, notes: &[Note]) {
        fill_notes(notes, &mut self.chart.scene);
    }

    /// Whether the last scene must be painted, because it looks different from the one that was painted last. From now
    /// on it counts as painted.
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
        self.chart.hit_test(&self.marks).hit(x, y)
    }

    /// What was noted at a point of the last scene.
    pub fn note_at(&self, x: f64, y: f64) -> Option<&Note> {
        note_at(&self.chart.scene, x, y)
    }

    /// What is no longer kept of the time at a point of the last scene, in words: `only marks before 14:02`.
    pub fn lost_at(&self, x: f64, y: f64) -> Option<&str> {
        lost_at(&self.chart.scene, x, y)
    }

    /// From now on scenes show since when the texts of all changes are kept, in milliseconds; `None` as long as none
    /// was dropped.
    pub fn note_texts(&mut self, since: Option<f64>) {
        self.chart.texts_since = since;
    }
}

/// Of how many kinds a time without knowledge still lasts.
fn open_gaps(marks: &[&Marks]) -> usize {
    marks.iter().filter(|own| own.has_open_gap()).count()
}
