//! The contents of a scene, as plain data. The painter needs to know nothing else, and tests can read it.

use std::rc::Rc;

use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;

use kubechurn_changes::note::Note;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::{GroupRow, LanesBy};
use crate::timeline::scale::{Scale, Window};
use crate::timeline::scene::fold::{PILL_PAD, short};
use crate::timeline::scene::layout::Layout;
use crate::timeline::scene::ticks::Tick;
use crate::timeline::store::mark::LaneId;
use crate::timeline::store::mark::{Counts, MarkType};
use crate::timeline::store::overview::Column;

/// How opaque the tint of the selected row is, and that of the row with the pointer.
pub const ROW_TINTS: [f64; 2] = [0.13, 0.06];

/// How opaque the tint of a stretch of time is, and its edges.
pub const SPAN_TINTS: [f64; 2] = [0.16, 0.7];

/// So many pixels beyond both ends of the time axis belong to the lanes: pills reach there.
pub const REACH: f64 = PILL_PAD + 1.0;

/// The row of a lane, with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneRow {
    /// The y coordinate of its middle.
    pub y: f64,
    pub lane: LaneId,
    /// The kind of the lane's object.
    pub kind: KindId,
    /// What the kind is called in short on a timeline of several kinds; otherwise empty.
    pub kind_name: &'static str,
    /// The object's namespace and name.
    pub key: ObjectKey,
    /// The word for the state that the object is in now; empty where there is none.
    pub word: SmolStr,
    /// Whether the object exists.
    pub live: bool,
    /// Whether the object is the selected one.
    pub selected: bool,
    /// Whether the pointer is in the row.
    pub hovered: bool,
    /// What the row is among groups; `None` where lanes do not stand in groups.
    pub group: Option<Box<GroupRow>>,
}

impl LaneRow {
    /// Where the star ends that shows whether a lane is kept on top, and the label begins, in pixels.
    pub const STAR: f64 = 16.0;

    /// The x coordinate where the name begins, after the star, and after the triangle if the row is among groups.
    pub fn name_x(&self) -> f64 {
        LaneRow::STAR + self.group.as_ref().map_or(0.0, |group| 13.0 + 11.0 * f64::from(group.depth))
    }
}

/// A time in which the state of an object stayed the same, or changed faster than can be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The left edge.
    pub x: f64,
    pub width: f64,
    /// The y coordinate of the row's middle.
    pub y: f64,
    /// How alarming the state is. Of states that change too fast it is that of the most alarming one.
    pub tone: Tone,
    /// The word for the state; empty where there is none, or where states change too fast.
    pub word: SmolStr,
    /// Whether states change faster than can be drawn.
    pub changing: bool,
}

/// The rectangle in which a band is painted, in whole pixels of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The left edge.
    pub left: f64,
    /// The right edge, which is beyond the left one.
    pub right: f64,
    /// The upper edge.
    pub top: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Band {
    /// How opaque the bands of each tone are, in the order in which they are painted, so that failures are on top.
    pub const TONES: [(Tone, f64); 4] = [(Tone::Plain, 0.12), (Tone::Good, 0.2), (Tone::Wait, 0.22), (Tone::Bad, 0.22)];

    /// The rectangle of the band on a screen of so many pixels per CSS pixel.
    pub fn area(&self, ratio: f64) -> Area {
        // A gap keeps bands that follow each other apart.
        let width = if self.width >= 3.0 { self.width - 1.0 } else { self.width };
        let left = (self.x * ratio).round();
        let right = ((self.x + width) * ratio).round().max(left + 1.0);
        let top = ((self.y - self.half_height()) * ratio).round();
        let bottom = ((self.y + self.half_height()) * ratio).round();
        Area { left, right, top, bottom }
    }

    /// Half the height. A failing state is taller than others, and states that change too fast are lower: never a
    /// colour alone.
    fn half_height(&self) -> f64 {
        match (self.changing, self.tone) {
            (true, _) => 3.0,
            (false, Tone::Bad) => 7.5,
            (false, _) => 6.5,
        }
    }
}

/// The word of a band, where there is room for it.
#[derive(Clone, Debug, PartialEq)]
pub struct BandLabel {
    /// Where the word begins.
    pub x: f64,
    /// The y coordinate of the row's middle.
    pub y: f64,
    /// The word, as much of it as there is room for.
    pub text: String,
    /// How alarming the state is.
    pub tone: Tone,
}

/// A single mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    /// The x coordinate of the glyph's middle. A delete in a fold may stand beside the fold's number, not under it.
    pub x: f64,
    /// The y coordinate of the glyph's middle.
    pub y: f64,
    /// What happened, which is the shape.
    pub mark_type: MarkType,
    /// What it means, which is the colour: nothing, unless the object fails or waits from then on, or is well again.
    pub tone: Tone,
    /// The mark's sequence number among those of the row's kind.
    pub seq: u64,
}

/// Kubernetes Events about a lane's object that are too close to be distinguished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventGlyph {
    /// The x coordinate of the glyph's middle.
    pub x: f64,
    /// The y coordinate of the row's middle.
    pub y: f64,
    /// How alarming the most alarming one is: [`Tone::Bad`] for a Warning.
    pub tone: Tone,
    /// The kind of the Events.
    pub kind: KindId,
    /// The sequence number of the latest mark of that tone, among those of the Events' kind.
    pub seq: u64,
    /// How many frames the marks stand for.
    pub count: u64,
}

/// Several marks of one lane that are too close to be distinguished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pill {
    /// The left edge.
    pub x: f64,
    pub width: f64,
    /// The y coordinate of the pill's middle.
    pub y: f64,
    /// The type of most of the frames.
    pub mark_type: MarkType,
    /// What the marks mean: that something fails, or else what the last one means.
    pub tone: Tone,
    /// How many frames the marks stand for, by type.
    pub counts: Counts,
    /// The sequence number of the first mark.
    pub first: u64,
    /// The sequence number of the last mark.
    pub last: u64,
}

impl Pill {
    /// How tall a pill is, in CSS pixels.
    pub const HEIGHT: f64 = 16.0;

    /// The left edge of the number, in CSS pixels from the pill's left edge.
    pub const NUMBER: f64 = PILL_PAD + 6.0;

    /// The number of frames, as it is shown.
    pub fn text(&self) -> String {
        short(self.counts.total())
    }

    /// The upper left corner, in whole pixels of a screen of so many pixels per CSS pixel.
    pub fn corner(&self, ratio: f64) -> (f64, f64) {
        ((self.x * ratio).round(), ((self.y - Pill::HEIGHT / 2.0) * ratio).round())
    }
}

/// What is kept of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Marks, and the texts of the changes.
    All,
    /// Marks alone.
    Marks,
    /// Nothing but counts.
    Nothing,
}

/// A time without knowledge, or a time of which less is kept than was received.
#[derive(Clone, Debug, PartialEq)]
pub struct GapArea {
    /// The left edge.
    pub x: f64,
    pub width: f64,
    /// When the gap began.
    pub from: f64,
    /// When the gap ended; for a gap that still lasts, now.
    pub to: f64,
    /// What the gap is, in words.
    pub note: String,
    /// What is kept of the time.
    pub kept: Kept,
    /// The kinds of which that is so.
    pub kinds: Vec<KindId>,
}

/// A part of a row that a gap covers: nothing was watched of the row then, or less is kept than was received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowGap {
    /// The left edge.
    pub x: f64,
    pub width: f64,
    /// The y coordinate of the row's middle.
    pub y: f64,
    pub kept: Kept,
}

/// A relist.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamLine {
    /// The x coordinate.
    pub x: f64,
    /// When the relist was.
    pub at: f64,
    /// What the relist was, in words.
    pub note: String,
    /// Whether there is room for the relist's sign above the lanes. Otherwise the words of another one are there.
    pub headed: bool,
}

/// A moment that an object names, before it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct PastMoment {
    /// When, in milliseconds.
    pub at: f64,
    /// What it means.
    pub tone: Tone,
    /// What happened.
    pub words: String,
}

/// What the object of this kind, key and uid says of its past, the newest first.
pub type FindPast<'a> = dyn FnMut(KindId, &ObjectKey, &Uid) -> Rc<[PastMoment]> + 'a;

/// A hollow mark.
#[derive(Clone, Debug, PartialEq)]
pub struct PastGlyph {
    /// Where its middle is.
    pub x: f64,
    /// The middle of its row.
    pub y: f64,
    /// What it stands for.
    pub moment: PastMoment,
}

/// A hatched stretch of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastArea {
    /// Where it begins.
    pub x: f64,
    /// How wide it is.
    pub width: f64,
    /// The middle of its row.
    pub y: f64,
}

/// Words above the lanes, for relists and gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteLabel {
    /// Where the words begin.
    pub x: f64,
    /// The words.
    pub text: String,
}

/// The moment that is shown: a line over the lanes, with a flag on the axis that says its time.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentFlag {
    /// Where the line is; `None` where it is not in the window.
    pub x: Option<f64>,
    /// Where it is on the overview.
    pub strip_x: Option<f64>,
    /// From where on the lanes show what came later; `None` where that is not in the window.
    pub later: Option<f64>,
    /// The time of day.
    pub words: String,
}

impl MomentFlag {
    /// How wide the flag is, in pixels.
    pub const WIDTH: f64 = 96.0;

    fn is_near(&self, other: &MomentFlag) -> bool {
        let places = |flag: &MomentFlag| [flag.x, flag.strip_x, flag.later];
        self.words == other.words && near_places(&places(self), &places(other))
    }
}

/// Where a note stands.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteMark {
    /// The note.
    pub note: Note,
    /// Where it is above the lanes; `None` where it is not in the window.
    pub x: Option<f64>,
    /// Where it is below the overview; `None` where it is not in there.
    pub strip_x: Option<f64>,
}

impl NoteMark {
    /// Half its width above the lanes, in pixels.
    pub const HALF: f64 = 4.0;
    /// How far above the first lane it begins, in pixels.
    pub const ABOVE: f64 = 16.0;
    /// How far it reaches below the overview, in pixels.
    pub const BELOW: f64 = 6.0;

    fn is_near(&self, other: &NoteMark) -> bool {
        self.note == other.note && near_places(&[self.x, self.strip_x], &[other.x, other.strip_x])
    }
}

fn near_places(one: &[Option<f64>], other: &[Option<f64>]) -> bool {
    one.iter().zip(other).all(|places| match places {
        (Some(one), Some(other)) => near(*one, *other),
        (one, other) => one == other,
    })
}

/// Everything on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Where the parts are.
    pub layout: Layout,
    /// The lanes' time axis.
    pub scale: Scale,
    /// The overview's time axis.
    pub strip: Scale,
    /// The x coordinates between which the overview shows the window.
    pub framed: [f64; 2],
    /// The x coordinates between which the chosen stretch of time is drawn over the lanes.
    pub span: Option<[f64; 2]>,
    /// The same on the overview.
    pub strip_span: Option<[f64; 2]>,
    /// Where the flags of the two moments are that are compared, `A` and `B`; `None` for what is not in the window.
    pub compared: [Option<f64>; 2],
    /// The moment that is shown; `None` for now.
    pub moment: Option<MomentFlag>,
    /// What was noted.
    pub noted: Vec<NoteMark>,
    /// The time at which the scene was made.
    pub now: f64,
    /// Whether the right end of the window is now.
    pub following: bool,
    /// The columns of the overview.
    pub columns: Vec<Column>,
    /// What lanes stand together.
    pub lanes_by: LanesBy,
    /// The rows, from the top; `None` where a lane was freed while its row was held.
    pub lanes: Vec<Option<LaneRow>>,
    /// The states of the objects.
    pub bands: Vec<Band>,
    /// The words of the bands.
    pub labels: Vec<BandLabel>,
    /// Folded marks, which are under the glyphs.
    pub pills: Vec<Pill>,
    /// Single marks; deletes come last, so that nothing covers them.
    pub glyphs: Vec<Glyph>,
    /// Events about the lanes' objects.
    pub events: Vec<EventGlyph>,
    /// What the objects of the lanes say of their past.
    pub past: Vec<PastGlyph>,
    /// The stretches of the lanes of which only that is known.
    pub past_areas: Vec<PastArea>,
    pub gaps: Vec<GapArea>,
    /// The same in the rows that they concern, each time once.
    pub row_gaps: Vec<RowGap>,
    /// The times in the overview of which less is kept than was received.
    pub lost: Vec<GapArea>,
    /// Relists.
    pub lines: Vec<StreamLine>,
    /// The words of gaps and relists.
    pub notes: Vec<NoteLabel>,
    /// The ticks of the time axis.
    pub ticks: Vec<Tick>,
    /// How many frames of each type came in the window.
    pub counts: Counts,
    /// How many lanes have marks in the window, whether or not they are on the screen.
    pub active: usize,
    /// How many lanes can be scrolled through.
    pub scrollable: usize,
    /// The x coordinate of the pointer, while the pointer is over the time axis.
    pub crosshair: Option<f64>,
}

impl Default for Scene {
    fn default() -> Scene {
        let scale = Scale { window: Window { from: 0.0, to: 1.0 }, left: 0.0, width: 1.0 };
        Scene {
            layout: Layout::default(),
            scale,
            strip: scale,
            framed: [0.0; 2],
            span: None,
            strip_span: None,
            compared: [None; 2],
            moment: None,
            noted: Vec::new(),
            now: 0.0,
            following: true,
            columns: Vec::new(),
            lanes_by: LanesBy::default(),
            lanes: Vec::new(),
            bands: Vec::new(),
            labels: Vec::new(),
            pills: Vec::new(),
            glyphs: Vec::new(),
            events: Vec::new(),
            past: Vec::new(),
            past_areas: Vec::new(),
            gaps: Vec::new(),
            row_gaps: Vec::new(),
            lost: Vec::new(),
            lines: Vec::new(),
            notes: Vec::new(),
            ticks: Vec::new(),
            counts: Counts::default(),
            active: 0,
            scrollable: 0,
            crosshair: None,
        }
    }
}

impl Scene {
    /// What stands in the place of lanes where there is none.
    pub fn words_without_lanes(&self) -> &'static str {
        let has_changes = MarkType::OBJECT.into_iter().any(|mark_type| self.counts.of(mark_type) > 0);
        match has_changes && self.active == 0 {
            true => "the filter hides what changed in this time",
            false => "nothing changed in this time",
        }
    }

    /// Whether something in the window of time moves on while the time passes. States that last from edge to edge do
    /// not.
    pub fn moves(&self) -> bool {
        let marks = self.glyphs.len() + self.events.len() + self.pills.len() + self.lines.len() + self.gaps.len();
        self.following && marks + self.past.len() + self.noted.len() > 0
    }

    /// Whether both are the same picture: the same things, none of them elsewhere by a quarter of a pixel or more. On a
    /// timeline that follows the time, whatever lasts from edge to edge stays where it is, and the ticks do.
    pub fn looks_like(&self, other: &Scene) -> bool {
        self.layout == other.layout
            && self.lanes == other.lanes
            && (self.active, self.crosshair) == (other.active, other.crosshair)
            && near_ends(self.span, other.span)
            && near_ends(self.strip_span, other.strip_span)
            && near_places(&self.compared, &other.compared)
            && match (&self.moment, &other.moment) {
                (Some(one), Some(other)) => one.is_near(other),
                (one, other) => one == other,
            }
            && same(&self.noted, &other.noted, NoteMark::is_near)
            && near(self.framed[0], other.framed[0])
            && near(self.framed[1], other.framed[1])
            && same(&self.columns, &other.columns, |one, two| {
                near(one.x, two.x) && near(one.width, two.width) && one.heights == two.heights
            })
            && same(&self.bands, &other.bands, |one, two| {
                near(one.x, two.x) && near(one.width, two.width) && (one.y, one.tone) == (two.y, two.tone)
            })
            && same(&self.labels, &other.labels, |one, two| {
                near(one.x, two.x) && (one.y, &one.text, one.tone) == (two.y, &two.text, two.tone)
            })
            && same(&self.pills, &other.pills, |one, two| {
                near(one.x, two.x)
                    && near(one.width, two.width)
                    && (one.y, one.mark_type, one.tone, one.counts) == (two.y, two.mark_type, two.tone, two.counts)
            })
            && same(&self.glyphs, &other.glyphs, |one, two| {
                near(one.x, two.x) && (one.y, one.mark_type, one.tone) == (two.y, two.mark_type, two.tone)
            })
            && same(&self.events, &other.events, |one, two| {
                near(one.x, two.x) && (one.y, one.tone, one.seq) == (two.y, two.tone, two.seq)
            })
            && same(&self.past, &other.past, |one, two| {
                near(one.x, two.x) && (one.y, one.moment.tone) == (two.y, two.moment.tone)
            })
            && same(&self.past_areas, &other.past_areas, |one, two| {
                near(one.x, two.x) && near(one.width, two.width) && one.y == two.y
            })
            && same(&self.gaps, &other.gaps, |one, two| {
                near(one.x, two.x) && near(one.width, two.width) && one.kept == two.kept
            })
            && same(&self.row_gaps, &other.row_gaps, |one, two| {
                near(one.x, two.x) && near(one.width, two.width) && (one.y, one.kept) == (two.y, two.kept)
            })
            && same(&self.lost, &other.lost, |one, two| near(one.x, two.x) && near(one.width, two.width))
            && same(&self.lines, &other.lines, |one, two| near(one.x, two.x) && one.headed == two.headed)
            && same(&self.notes, &other.notes, |one, two| near(one.x, two.x) && one.text == two.text)
            && same(&self.ticks, &other.ticks, |one, two| near(one.x, two.x) && one.label == two.label)
    }
}

/// Whether two places are the same to the eye, in pixels.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.25
}

/// Whether two stretches are the same to the eye, in pixels.
fn near_ends(one: Option<[f64; 2]>, other: Option<[f64; 2]>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => near(one[0], other[0]) && near(one[1], other[1]),
        (one, other) => one == other,
    }
}

/// Whether two lists are the same, item by item.
fn same<T>(one: &[T], other: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_kept_apart_and_the_alarming_ones_are_taller() {
        let band = |x: f64, width: f64, tone: Tone, changing: bool| {
            Band { x, width, y: 57.3, tone, word: SmolStr::default(), changing }.area(1.0)
        };
        let first = band(240.2, 30.0, Tone::Good, false);
        let next = band(270.2, 2.0, Tone::Bad, false);
        assert_eq!((first.right, next.left, next.right), (269.0, 270.0, 272.0));
        let height = |area: Area| area.bottom - area.top;
        let fast = band(280.0, 30.0, Tone::Bad, true);
        assert!(height(next) > height(first) && height(first) > height(fast));
        let short = band(280.4, 0.1, Tone::Bad, false);
        assert_eq!((short.left, short.right), (280.0, 281.0), "it stays visible");
    }
}
