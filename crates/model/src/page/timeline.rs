//! What the user sees of the timeline: the window of time, the lanes, and what is under the pointer.

use std::rc::Rc;
use std::sync::Arc;

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_changes::past;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::api::uid::Uid;
use rustc_hash::FxHashMap;

use crate::history::who::joining;
use crate::history::{Entry, RecordedChange, is_lease};
use crate::inspector::events;
use crate::navigation::route::{Chosen, ChosenVersion, Route};
use crate::page::command::{Rows, TimelineCommand};
use crate::page::context::Context;
use crate::page::effect::Focused;
use crate::page::environment::Environment;
use crate::page::feed::Feed;
use crate::page::notes;
use crate::page::span;
use crate::page::time_words::{Zone, whole_second};
use crate::page::timeline_drag::{Drag, LEAST, What};
use crate::rewind::Rewound;
use crate::rewind::banner::RewindCommand;
use crate::shell::panel::Panel;
use crate::table::cursor::Step;
use crate::timeline::hit::{Hit, LanePart, Owner};
use crate::timeline::lanes::{LaneChoice, OpenGroups};
use crate::timeline::marks::MarkInfo;
use crate::timeline::scale::{Viewport, Window};
use crate::timeline::scene::summary::summary;
use crate::timeline::scene::{PastMoment, Scene, TimelineView, duration};
use kubechurn_columns::kinds::Kind;

/// How often the words that describe the canvas are renewed, in milliseconds.
const WORDS: f64 = 1_000.0;

/// How long a frame may look for who wrote what marks are about, in milliseconds; and how many marks are looked at between
/// two readings of the clock.
const SHARE: f64 = 6.0;
const BATCH: usize = 16;

/// How often lanes follow what the feed shows, in milliseconds; and how late a change may be read to show its lane.
const HIDE: f64 = 100.0;
const READ: f64 = 2_000.0;
/// Of how many objects it is remembered what they say of their past.
const MOST_PASTS: usize = 5_000;

/// What an object that a first list brought says of its past, the newest first.
fn past_of(resource: &ApiResource, text: Option<&str>, env: &dyn Environment) -> Rc<[PastMoment]> {
    let to_page = env.now() - env.wall() - env.server_clock(resource.cluster).ahead();
    let moments = text.filter(|_| !is_lease(resource)).map(|text| past::read(resource.kind, text)).unwrap_or_default();
    let moment = |moment: past::Moment| PastMoment {
        at: moment.at.0 as f64 * 1_000.0 + to_page,
        tone: moment.tone,
        words: [moment.what, moment.more].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", "),
    };
    moments.into_iter().map(moment).collect()
}

/// Where the keyboard's cursor is on the canvas. The lanes keep their rows while it is there.
#[derive(Clone, Copy, Debug, Default)]
struct Hand {
    /// The row, counted from 0.
    row: usize,
    /// The time; `None` at the label of the lane.
    at: Option<f64>,
    /// Whether it is on an Event, which stands in the lower half of a row.
    is_low: bool,
}

impl Hand {
    /// How far down an Event stands in its row, in pixels.
    const LOW: f64 = 5.0;

    /// The point of the canvas.
    fn place(self, scene: &Scene) -> Option<(f64, f64)> {
        let row = scene.lanes.get(self.row)?.as_ref()?;
        let x = self.at.map_or(row.name_x() + 1.0, |at| scene.scale.x(at));
        Some((x, row.y + if self.is_low { Hand::LOW } else { 0.0 }))
    }

    /// The place of each mark of the row, from left to right.
    fn marks(self, scene: &Scene) -> Vec<Hand> {
        let Some(row) = scene.lanes.get(self.row).and_then(Option::as_ref) else { return Vec::new() };
        let pills = scene.pills.iter().filter(|pill| pill.y == row.y).map(|pill| (pill.x + pill.width / 2.0, false));
        let glyphs = scene.glyphs.iter().filter(|glyph| glyph.y == row.y).map(|glyph| (glyph.x, false));
        let past = scene.past.iter().filter(|glyph| glyph.y == row.y).map(|glyph| (glyph.x, false));
        let events = scene.events.iter().filter(|event| event.y == row.y).map(|event| (event.x, true));
        let mut all: Vec<(f64, bool)> = pills.chain(glyphs).chain(past).chain(events).collect();
        all.retain(|(x, _)| (scene.layout.left..=scene.layout.right).contains(x));
        sort::sort_by(&mut all, |one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        all.into_iter().map(|(x, is_low)| Hand { at: Some(scene.scale.time(x)), is_low, ..self }).collect()
    }
}

/// By what lanes are hidden.
#[derive(Debug, Default, PartialEq)]
struct HiddenBy {
    view: u64,
    filter: String,
    /// Whether it is the feed's filter.
    changes: bool,
    /// Whether rows are still to be judged.
    works: bool,
    /// How much had been received at the moment that is shown, and how many changes of that the feed shows.
    moment: Option<(u64, u64)>,
}

/// The user's view of the timeline.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) viewport: Viewport,
    /// What a pressed pointer drags.
    pub(super) drag: Option<Drag>,
    width: f64,
    height: f64,
    scroll: usize,
    pub(super) hover: Option<(f64, f64)>,
    /// The keyboard's cursor, which goes before the pointer.
    hand: Option<Hand>,
    /// Whether the cursor was moved, and what it came to is still to be said.
    says: bool,
    /// When the words were last renewed.
    renewed_at: f64,
    /// By what lanes were hidden last, and when.
    hidden_by: HiddenBy,
    hidden_at: f64,
    /// What objects say of their past, by kind and uid, as far as it was asked for.
    pasts: FxHashMap<(&'static str, Uid), Rc<[PastMoment]>>,
}

impl Timeline {
    /// Pausing the page stops the picture. Resuming follows the time again.
    pub(super) fn pause(&mut self, paused: bool, now: f64) {
        if paused { self.viewport.pause(now) } else { self.viewport.follow() }
    }

    /// Moves the window to a time, unless the time is in it.
    pub(super) fn show(&mut self, at: f64, now: f64) {
        if !self.viewport.window(now).contains(at) {
            self.viewport.center(now, at);
        }
    }

    /// The time range that is being dragged, if one is.
    fn dragged(&self) -> Option<Window> {
        let drag = self.drag.filter(|drag| drag.has_moved && drag.what != What::Playhead)?;
        drag.window(drag.x)
    }

    /// Hides the lanes of objects that the filter takes away: what is hidden follows rows and feed, those of another moment where
    /// it is shown.
    pub(super) fn filter(&mut self, feed: &Feed, cx: &mut Context<'_>) {
        let (route, watching) = (&cx.navigation.route, &mut *cx.watching);
        let is_unread = watching.rewound.as_ref().is_some_and(|rewound| rewound.unread() > 0);
        let by = HiddenBy {
            view: watching.watches.view_number(),
            filter: route.text.clone(),
            changes: route.changes,
            works: is_unread || watching.view().is_some_and(|view| view.progress().is_some()),
            moment: watching.moment.map(|moment| (moment.received, feed.total())),
        };
        // Without a filter no lane is hidden, whatever else has changed: to look at each would cost every frame of a moment that
        // moves.
        if by.filter.is_empty() && self.hidden_by.filter.is_empty() && by.view == self.hidden_by.view {
            return;
        }
        let (is_same, is_soon) = (by == self.hidden_by, cx.now - self.hidden_at < HIDE);
        if is_same && is_soon && (by.changes || by.moment.is_some()) {
            return;
        }
        let moves = by.moment.is_some() && (by.view, &by.filter) == (self.hidden_by.view, &self.hidden_by.filter);
        if moves && is_soon && !by.filter.is_empty() {
            return cx.request_frame();
        }
        let since = if is_same { self.hidden_at - READ } else { f64::NEG_INFINITY };
        (self.hidden_by, self.hidden_at) = (by, cx.now);
        let found = feed.passing(&cx.navigation.route);
        let then = cx.watching.rewound.as_ref().map(Rewound::table);
        cx.watching.watches.hide_lanes(since, found.as_ref().map(|(uids, alone)| (uids, *alone)), then);
    }

    /// Draws the timeline of the kinds in view, if there is anything new to show. The picture of a time without changes
    /// stays as it is, and is not painted again.
    pub(super) fn paint(&mut self, cx: &mut Context<'_>) {
        let selected = cx.navigation.selected_in_view();
        let (offsets, zone) = (cx.words().offsets(), *cx.zone);
        // The ruler's times have no mark of their own.
        let clock = if zone == Zone::Local { String::new() } else { format!(" · {}", *cx.view.footer.clock) };
        let moment = cx.watching.moment.map(|moment| (moment.at, cx.words().time_of_day(moment.at)));
        let now = cx.newest();
        let watches = &mut cx.watching.watches;
        // The selected object always has a lane, even when none of its marks is left.
        if let Some((kind, key)) = &selected {
            watches.attend(*kind, key);
        }
        let Some(mut timeline) = watches.timeline_mut() else { return };
        timeline.note_texts(cx.watching.history.whole_since());
        timeline.choose_lanes(&cx.navigation.route.lanes);
        timeline.note_writers(cx.watching.history.who.revision());
        if self.width >= 1.0 {
            let (history, end) = (&cx.watching.history, cx.env.work_clock() + SHARE);
            let mut find =
                |kind: &'static Kind, mark: &MarkInfo<'_>| joining::writer_of_mark(history, kind.resource, mark);
            while timeline.find_writers(BATCH, &mut find) && cx.env.work_clock() < end {}
        }
        let hand = self.hand.and_then(|hand| hand.place(timeline.last_scene()));
        let view = TimelineView {
            width: self.width,
            height: self.height,
            window: self.viewport.window(now),
            offsets,
            scroll: self.scroll,
            hold: self.hover.or(hand).is_some(),
            selected,
            // The cursor marks its row, and moves on with the time without a scene of its own.
            hover: hand.map(|(_, y)| (0.0, y)).or(self.hover),
            span: self.dragged().or(cx.navigation.route.span),
            compared: cx.navigation.route.span.filter(|_| cx.navigation.route.net && cx.navigation.route.changes),
            moment,
            labels: cx.view.header.sizes.of(Panel::Labels).chosen,
        };
        if self.width < 1.0 || !(*cx.repaints || timeline.is_due(&view, now)) {
            return;
        }
        timeline.scene(&view, now);
        let (history, kinds, env, pasts) =
            (&cx.watching.history, cx.navigation.schema.kinds(), cx.env, &mut self.pasts);
        if pasts.len() > MOST_PASTS {
            pasts.clear();
        }
        timeline.fill_past(&mut |kind, key, uid| {
            let Some(kind) = kinds.get(kind.index()) else { return Rc::default() };
            let read = || past_of(&kind.resource, history.listed_text(&kind.resource, key, uid).as_deref(), env);
            pasts.entry((kind.name, uid.clone())).or_insert_with(read).clone()
        });
        timeline.fill_notes(cx.watching.history.notes.all());
        let scene = timeline.last_scene();
        let left = scene.layout.left;
        let panel = &mut cx.view.timeline;
        if cx.now - self.renewed_at >= WORDS {
            self.renewed_at = cx.now;
            panel.summary.put(summary(scene));
        }
        let is_new = timeline.take_looks_new();
        cx.effects.paint |= is_new || std::mem::take(cx.repaints);
        panel.labels.put(left);
        panel.following.put(self.viewport.is_following());
        let last = if self.viewport.is_following() { "last " } else { "" };
        panel.span.put(format!("{last}{}{clock}", duration(self.viewport.span())));
        if let Some(hand) = &mut self.hand {
            let last = timeline.last_scene().lanes.iter().rposition(Option::is_some);
            hand.row = hand.row.min(last.unwrap_or_default());
        }
        let hand = self.hand.and_then(|hand| hand.place(timeline.last_scene()));
        panel.hand.put(hand);
        let point = hand.or(self.hover);
        let hit = point.and_then(|(x, y)| timeline.hit(x, y));
        let lost = point.and_then(|(x, y)| timeline.lost_at(x, y)).map(str::to_owned);
        let past = point.and_then(|(x, y)| timeline.past_at(x, y)).cloned();
        let note = point.and_then(|(x, y)| timeline.note_at(x, y)).cloned();
        let is_behind = timeline.is_behind();
        let past =
            past.map(|past| format!("from the objects, {}: {}", cx.words().full(whole_second(past.at)), past.words));
        let words = hit.map(|hit| {
            let said =
                said_of(&hit, cx).or_else(|| change_of(&hit, cx)).map_or_else(String::new, |said| format!("{said}; "));
            match hit.at() {
                Some(at) => format!("{} {said}{hit}", cx.words().full(at)),
                None => hit.to_string(),
            }
        });
        let note = note.map(|note| format!("{} noted: {}", cx.words().full(note.at), note.text));
        let words = note.into_iter().chain(words).chain(past).chain(lost).collect::<Vec<_>>().join("; ");
        if std::mem::take(&mut self.says) {
            cx.view.timeline.in_hand.put(words.clone());
        }
        cx.view.timeline.hover.put(words);
        if is_behind {
            cx.request_frame();
        }
    }

    /// Arranges the lanes like this.
    fn arrange_lanes(&mut self, lanes: LaneChoice, cx: &mut Context<'_>) {
        let route = Route { lanes: Box::new(lanes), ..cx.navigation.route.clone() };
        cx.push(&route);
        // What is described changes as much as what is drawn.
        self.renewed_at = f64::NEG_INFINITY;
    }

    /// Opens or closes the group of lanes in which the selected object is.
    fn turn_group(&mut self, cx: &mut Context<'_>) {
        let selected = cx.navigation.selected_in_view().zip(cx.watching.watches.timeline());
        if let Some(words) = selected.and_then(|((kind, key), timeline)| timeline.group_words_of(kind, &key)) {
            let mut lanes = (*cx.navigation.route.lanes).clone();
            lanes.open.turn(&words);
            self.arrange_lanes(lanes, cx);
        }
    }

    /// Carries out a click on the star or the triangle of a lane, or on the name of a group that is no object. Returns
    /// whether it was one.
    fn click_label(&mut self, x: f64, y: f64, cx: &mut Context<'_>) -> bool {
        let Some(timeline) = cx.watching.watches.timeline() else { return false };
        let Some((row, part)) = timeline.part_at(x, y) else { return false };
        match part {
            LanePart::Star => {
                let schema = &cx.navigation.schema;
                let words = match (schema.kind(row.kind), &row.group) {
                    (Some(kind), _) => format!("{}/{}", kind.name, row.key),
                    (None, Some(group)) => format!("{}:{}", group.word, row.key),
                    (None, None) => return false,
                };
                let route = cx.navigation.route.keeping(&words);
                cx.push(&route);
            }
            LanePart::Triangle(id) | LanePart::Name(id) => {
                if let Some(words) = timeline.group_words(id) {
                    let mut chosen = cx.navigation.route.clone();
                    chosen.lanes.open.turn(&words);
                    cx.push(&chosen);
                }
            }
            LanePart::Rest => return false,
        }
        self.renewed_at = f64::NEG_INFINITY;
        true
    }

    /// Its width and height, in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Carries out a command. Returns what it asks of the moment that is shown.
    pub(super) fn handle(&mut self, command: TimelineCommand, cx: &mut Context<'_>) -> Option<RewindCommand> {
        let now = cx.newest();
        let lanes = &cx.navigation.route.lanes;
        let timeline = cx.watching.watches.timeline();
        let scene = timeline.map(|timeline| timeline.last_scene());
        match command {
            TimelineCommand::Resize(width, height) => {
                self.width = width;
                self.height = height;
                *cx.repaints = true;
            }
            TimelineCommand::Hover(place) => {
                self.hover = place;
                if place.is_some() {
                    self.hand = None;
                }
            }
            TimelineCommand::Lane(step) => self.step(step, cx),
            TimelineCommand::LanePage(by) => {
                let rows = scene.map_or(0, |scene| scene.layout.rows);
                self.step(Step::By(by * rows.max(1).cast_signed()), cx);
            }
            TimelineCommand::Mark(by) => self.step_aside(by, cx),
            TimelineCommand::Open => {
                if let Some((x, y)) = scene.and_then(|scene| self.hand?.place(scene)) {
                    self.click(x, y, cx);
                }
            }
            TimelineCommand::Blur => {
                self.hand = None;
                *cx.repaints = true;
            }
            TimelineCommand::Press(x, y, shift) => self.press((x, y), shift, cx),
            TimelineCommand::Drag(x, _) => return self.drag_to(x, cx),
            TimelineCommand::Release(x, y) => {
                let drag = self.drag;
                if self.release(cx) {
                    if let Some(at) = drag.and_then(|drag| drag.clicked()) {
                        return Some(RewindCommand::To(at));
                    }
                    self.click(x, y, cx);
                }
                return Some(RewindCommand::LetGo);
            }
            TimelineCommand::GiveUp => {
                self.drag = None;
                return Some(RewindCommand::LetGo);
            }
            TimelineCommand::DoubleClick(x, y) => self.double_click((x, y), cx),
            TimelineCommand::Click(x, y) => self.click(x, y, cx),
            TimelineCommand::Scroll(by) => {
                let most = scene.map_or(0, |scene| scene.scrollable.saturating_sub(scene.layout.rows));
                self.scroll = self.scroll.saturating_add_signed(by as isize).min(most);
            }
            TimelineCommand::Zoom(factor, x) => {
                let window = self.viewport.window(now);
                let middle = if self.viewport.is_following() { now } else { (window.from + window.to) / 2.0 };
                let at = x.zip(scene).map_or(middle, |(x, scene)| scene.scale.time(x));
                self.viewport.zoom(now, at, factor);
            }
            TimelineCommand::Pan(by) => {
                let pixel = scene.map_or(0.0, |scene| scene.scale.ms_per_pixel());
                self.viewport.pan(now, -by * pixel);
            }
            TimelineCommand::Move(by) => self.viewport.pan(now, by * self.viewport.span()),
            TimelineCommand::Follow => self.viewport.follow(),
            TimelineCommand::Fill(fills) => cx.view.timeline.fills.put(fills),
            TimelineCommand::LanesBy(by) => {
                self.scroll = 0;
                // The groups of another arrangement are other ones.
                let lanes = LaneChoice { by, open: OpenGroups::default(), ..(**lanes).clone() };
                self.arrange_lanes(lanes, cx);
            }
            TimelineCommand::Order(order) => {
                let lanes = LaneChoice { order, ..(**lanes).clone() };
                self.arrange_lanes(lanes, cx);
            }
            TimelineCommand::TurnAll(open) => {
                let lanes = LaneChoice { open: OpenGroups::all(open), ..(**lanes).clone() };
                self.arrange_lanes(lanes, cx);
            }
            TimelineCommand::Turn => self.turn_group(cx),
            TimelineCommand::Keep => {
                if let Some((kind, key)) = &cx.navigation.selected {
                    let kept = cx.navigation.route.keeping(&format!("{}/{key}", kind.name));
                    self.arrange_lanes(*kept.lanes, cx);
                }
            }
        }
        None
    }

    /// Moves the cursor to another lane, and the lanes if that is not in sight. The cursor stays at its time.
    fn step(&mut self, step: Step, cx: &mut Context<'_>) {
        let Some(timeline) = cx.watching.watches.timeline() else { return };
        let scene = timeline.last_scene();
        let Some(last) = scene.lanes.iter().rposition(Option::is_some) else { return };
        let most = scene.scrollable.saturating_sub(scene.layout.rows);
        let mut hand = self.hand.unwrap_or_default();
        match (step, self.hand) {
            (Step::First, _) => (hand.row, self.scroll) = (0, 0),
            (Step::Last, _) => (hand.row, self.scroll) = (last, most),
            (Step::By(_), None) => {}
            (Step::By(by), Some(_)) => {
                let wanted = hand.row.cast_signed() + by;
                hand.row = wanted.clamp(0, last.cast_signed()).cast_unsigned();
                let beyond = wanted - hand.row.cast_signed();
                self.scroll = self.scroll.saturating_add_signed(beyond).min(most);
            }
        }
        self.hold(hand, cx);
    }

    /// Moves the cursor to the next mark of its lane. Before the first one is the label, where a group opens and closes.
    fn step_aside(&mut self, by: isize, cx: &mut Context<'_>) {
        let Some(hand) = self.hand else { return self.step(Step::By(0), cx) };
        let Some(timeline) = cx.watching.watches.timeline() else { return };
        let scene = timeline.last_scene();
        let row = scene.lanes.get(hand.row).and_then(Option::as_ref);
        let group = row.and_then(|row| row.group.as_deref()).filter(|_| hand.at.is_none());
        if let Some(group) = group.filter(|group| group.open == Some(by < 0)) {
            if let Some(words) = timeline.group_words(group.id) {
                let mut lanes = (*cx.navigation.route.lanes).clone();
                lanes.open.turn(&words);
                self.arrange_lanes(lanes, cx);
            }
            return self.hold(hand, cx);
        }
        let near = scene.scale.ms_per_pixel() / 2.0;
        let is_there = |mark: &Hand| (mark.at.zip(hand.at)).is_some_and(|(mark, at)| (mark - at).abs() <= near);
        let is_beyond = |mark: &Hand| {
            let later = mark.at.zip(hand.at).is_some_and(|(mark, at)| if by > 0 { mark > at } else { mark < at });
            if is_there(mark) { mark.is_low != hand.is_low && mark.is_low == (by > 0) } else { later }
        };
        let mut marks = hand.marks(scene).into_iter();
        let label = Hand { at: None, is_low: false, ..hand };
        let next = match (hand.at, by > 0) {
            (None, true) => marks.next(),
            (None, false) => marks.next_back(),
            (Some(_), true) => marks.find(is_beyond),
            (Some(_), false) => Some(marks.rfind(is_beyond).unwrap_or(label)),
        };
        self.hold(next.unwrap_or(hand), cx);
    }

    fn hold(&mut self, hand: Hand, cx: &mut Context<'_>) {
        self.hand = Some(hand);
        self.says = true;
        *cx.repaints = true;
        cx.focus(Focused::Rows(Rows::Lanes));
    }

    fn press(&mut self, place: (f64, f64), shift: bool, cx: &Context<'_>) {
        let Some(timeline) = cx.watching.watches.timeline() else { return };
        self.drag = Some(Drag::begin(timeline.last_scene(), place, shift));
    }

    fn drag_to(&mut self, x: f64, cx: &Context<'_>) -> Option<RewindCommand> {
        let drag = self.drag.as_mut()?;
        let by = x - drag.x;
        if !drag.has_moved && by.abs() < LEAST {
            return None;
        }
        drag.has_moved = true;
        drag.x = x;
        if drag.what == What::Pan {
            let scene = cx.watching.watches.timeline().map(|timeline| timeline.last_scene().scale.ms_per_pixel());
            self.viewport.pan(cx.newest(), -by * scene.unwrap_or_default());
        }
        (drag.what == What::Playhead).then(|| RewindCommand::Drag(drag.time(x)))
    }

    /// Ends what is dragged. Returns whether it was a click.
    fn release(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(drag) = self.drag.take() else { return false };
        match (drag.has_moved, drag.what, drag.window(drag.x)) {
            (false, ..) => return true,
            (true, What::Choose, Some(window)) => span::choose(Some(window), cx),
            (true, What::Brush, Some(window)) => self.viewport.set(cx.newest(), window),
            _ => {}
        }
        false
    }

    /// A double click on the axis, the overview or the chosen range clears the range; on the overview the window follows
    /// the time again, too.
    fn double_click(&mut self, (x, y): (f64, f64), cx: &mut Context<'_>) {
        let Some(timeline) = cx.watching.watches.timeline() else { return };
        let scene = timeline.last_scene();
        let on_strip = y <= scene.layout.strip_bottom;
        let is_chosen = scene.span.is_some_and(|[from, to]| from <= x && x <= to);
        let is_below = y >= scene.layout.bottom;
        if on_strip {
            self.viewport.follow();
        }
        if on_strip || is_chosen || is_below {
            span::choose(None, cx);
        }
    }

    /// The time of the mark under the pointer, or else of the mark that was clicked last.
    pub(super) fn pointed(&self, cx: &Context<'_>) -> Option<f64> {
        let timeline = cx.watching.watches.timeline();
        let hand = timeline.as_ref().and_then(|timeline| self.hand?.place(timeline.last_scene()));
        let hit = hand.or(self.hover).and_then(|(x, y)| timeline.as_ref()?.hit(x, y));
        hit.and_then(|hit| hit.at()).or(*cx.view.timeline.clicked)
    }

    /// Carries out a click: on what belongs to a lane's label, on the overview, or on a mark or a lane, whose object it selects.
    fn click(&mut self, x: f64, y: f64, cx: &mut Context<'_>) {
        if self.click_label(x, y, cx) {
            self.renewed_at = f64::NEG_INFINITY;
            return;
        }
        let Some(timeline) = cx.watching.watches.timeline() else { return };
        if let Some(note) = timeline.note_at(x, y) {
            return notes::change(note.id, cx);
        }
        let scene = timeline.last_scene();
        if y >= scene.layout.strip_top && y <= scene.layout.strip_bottom {
            self.viewport.center(cx.newest(), scene.strip.time(x));
            return;
        }
        let hit = timeline.hit(x, y);
        cx.view.timeline.clicked.put(hit.as_ref().and_then(Hit::at));
        let schema = &cx.navigation.schema;
        let owner = hit.as_ref().and_then(Hit::owner);
        let chosen = owner.and_then(|owner| Some((schema.kind(owner.kind)?, owner.key.clone())));
        let change = hit.as_ref().and_then(|hit| version_of(hit, cx));
        let is_other = |chosen: &Chosen| {
            let route = &cx.navigation.route;
            cx.navigation.selected.as_ref() != Some(chosen) || (change.is_some() && route.change != change)
        };
        let chosen = chosen.filter(is_other).map(|(kind, key)| (kind.name, key));
        match (chosen, change) {
            (Some(chosen), Some(change)) => cx.select_change(chosen, change),
            (chosen, _) => cx.select(chosen),
        }
    }
}

/// The version of the mark under the pointer, or of the last one of several, if it is kept.
fn version_of(hit: &Hit, cx: &Context<'_>) -> Option<ChosenVersion> {
    let (Hit::Mark { owner, resource_version, .. } | Hit::Fold { owner, resource_version, .. }) = hit else {
        return None;
    };
    let kind = cx.navigation.schema.kind(owner.kind)?;
    let kept = cx.watching.history.of(&kind.resource, &owner.key);
    let is_it = |entry: &&Entry| entry.uid == owner.uid && entry.resource_version == *resource_version;
    let sequence = kept.iter().rfind(is_it)?.sequence;
    Some(ChosenVersion { sequence, resource_version: resource_version.to_string() })
}

/// What changed with the mark under the pointer, or with the last one of several, as the feed says it.
fn change_of(hit: &Hit, cx: &Context<'_>) -> Option<String> {
    let seq = version_of(hit, cx)?.sequence;
    let RecordedChange { at, delta_type, resource, key, uid, old, new } = cx.watching.history.change(seq)?;
    let kind = resource.kind.into();
    let change = ReceivedChange { seq, at, kind, key, uid, delta_type, old: old.as_deref(), new: new.as_deref() };
    let last = if matches!(hit, Hit::Fold { .. }) { "last: " } else { "" };
    Some(format!("{last}{}", Line::new(change, &Marks::default())))
}

/// What an Event under the pointer says: as the recorder has that version of it, or else as its row has it now.
fn said_of(hit: &Hit, cx: &Context<'_>) -> Option<String> {
    let Hit::Event { event: Owner { kind, key, .. }, resource_version, .. } = hit else { return None };
    let own = cx.navigation.schema.kind(*kind)?;
    let history = &cx.watching.history;
    let kept = history.of(&own.resource, key);
    let version = kept.iter().rfind(|entry| entry.resource_version == *resource_version && entry.has_text);
    let text = version.and_then(|entry| history.version(entry).text);
    let then = text.and_then(|text| (own.decode.0)(&text).ok()).map(Arc::new);
    let object = then.or_else(|| {
        let rows = cx.watching.view()?;
        Some(rows.row(rows.find(*kind, key)?)?.object.clone())
    })?;
    events::items(own, std::iter::once(&object)).0.first().map(events::line)
}
