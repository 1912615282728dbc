//! What the user sees of the timeline: the window of time, the lanes, and what is under the pointer.

use std::sync::Arc;

use crate::page::command::TimelineCommand;
use crate::page::environment::Environment;
use crate::page::inspector::events;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::state::timeline_drag::Drag;
use crate::timeline::hit::{Hit, LanePart, Owner};
use crate::timeline::lanes::{LaneChoice, OpenGroups};
use crate::timeline::marks::MarkInfo;
use crate::timeline::scale::Viewport;
use crate::timeline::scene::summary::summary;
use crate::timeline::scene::{TimelineView, duration};
use kubechurn_columns::kinds::Kind;

/// How often the words that describe the canvas are renewed, in milliseconds.
const WORDS: f64 = 1_000.0;

/// How long a frame may look for who wrote what marks are about, in milliseconds; and how many marks are looked at between
/// two readings of the clock.
const SHARE: f64 = 6.0;
const BATCH: usize = 16;

/// The user's view of the timeline.
#[derive(Debug, Default)]
pub(super) struct TimelineState {
    pub(super) viewport: Viewport,
    /// What a pressed pointer drags.
    pub(super) drag: Option<Drag>,
    width: f64,
    height: f64,
    scroll: usize,
    pub(super) hover: Option<(f64, f64)>,
    /// Whether to paint even if nothing changed.
    must: bool,
    /// When the words were last renewed.
    told: f64,
}

impl TimelineState {
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

    /// Paints with other colours.
    pub(super) fn repaint(&mut self) {
        self.must = true;
    }
}

impl Page {
    /// Draws the timeline of the kinds in view, if there is anything new to show. The picture of a time without changes
    /// stays as it is, and is not painted again.
    pub(super) fn paint(&mut self, now: f64, env: &dyn Environment) {
        let selected = self.selected_number();
        let watches = &mut self.watching.watches;
        // The selected object always has a lane, even when none of its marks is left.
        if let Some((kind, key)) = &selected {
            watches.attend(*kind, key);
        }
        let Some(mut timeline) = watches.timeline_mut() else { return };
        timeline.note_texts(self.watching.history.whole_since());
        timeline.choose_lanes(&self.place.route.lanes);
        let state = &mut self.timeline;
        if state.width >= 1.0 {
            let (history, end) = (&self.watching.history, env.now() + SHARE);
            let mut find = |kind: &'static Kind, mark: &MarkInfo<'_>| history.writer(kind.resource, mark);
            while timeline.find_writers(BATCH, &mut find) && env.now() < end {}
        }
        let view = TimelineView {
            width: state.width,
            height: state.height,
            window: state.viewport.window(now),
            zone: env.zone(now),
            scroll: state.scroll,
            hold: state.hover.is_some(),
            selected,
            hover: state.hover,
            span: state.dragged().or(self.place.route.span),
        };
        if state.width < 1.0 || !(state.must || timeline.is_due(&view, now)) {
            return;
        }
        let scene = timeline.scene(&view, now);
        let panel = &mut self.out.view.timeline;
        if now - state.told >= WORDS {
            state.told = now;
            panel.summary.put(summary(scene));
        }
        let is_new = timeline.take_looks_new();
        self.out.effects.paint |= is_new || std::mem::take(&mut state.must);
        panel.following.put(state.viewport.is_following());
        let last = if state.viewport.is_following() { "last " } else { "" };
        panel.span.put(format!("{last}{}", duration(state.viewport.span())));
        let hit = state.hover.and_then(|(x, y)| timeline.hit(x, y));
        let lost = state.hover.and_then(|(x, y)| timeline.lost_at(x, y)).map(str::to_owned);
        let is_behind = timeline.is_behind();
        let words = hit.map(|hit| {
            let said = self.said_of(&hit).map_or_else(String::new, |said| format!("{said}; "));
            match hit.at() {
                Some(at) => format!("{} {said}{hit}", env.time_of_day(at)),
                None => hit.to_string(),
            }
        });
        let words = words.into_iter().chain(lost).collect::<Vec<_>>().join("; ");
        self.out.view.timeline.hover.put(words);
        if is_behind {
            self.request_frame();
        }
    }

    /// What an Event under the pointer says: as the recorder has that version of it, or else as its row has it now.
    fn said_of(&self, hit: &Hit) -> Option<String> {
        let Hit::Event { event: Owner { kind, key, .. }, resource_version, .. } = hit else { return None };
        let own = self.columns.layout.schema().kind(*kind)?;
        let history = &self.watching.history;
        let kept = history.of(&own.resource, key);
        let version = kept.iter().rfind(|entry| entry.resource_version == *resource_version && entry.has_text);
        let text = version.and_then(|entry| history.version(entry).text);
        let then = text.and_then(|text| (own.decode.0)(&text).ok()).map(Arc::new);
        let object = then.or_else(|| {
            let rows = self.watching.watches.view()?;
            Some(rows.row(rows.find(*kind, key)?)?.object.clone())
        })?;
        events::items(own, std::iter::once(&object)).0.first().map(events::line)
    }

    /// Arranges the lanes like this.
    fn arrange_lanes(&mut self, lanes: LaneChoice) {
        self.push(&Route { lanes: Box::new(lanes), ..self.place.route.clone() });
        // What is described changes as much as what is drawn.
        self.timeline.told = f64::NEG_INFINITY;
    }

    /// Opens or closes the group of lanes in which the selected object is.
    fn turn_group(&mut self) {
        let selected = self.selected_number().zip(self.watching.watches.timeline());
        if let Some(words) = selected.and_then(|((kind, key), timeline)| timeline.group_words_of(kind, &key)) {
            let mut lanes = (*self.place.route.lanes).clone();
            lanes.open.turn(&words);
            self.arrange_lanes(lanes);
        }
    }

    /// Carries out a click on the star or the triangle of a lane, or on the name of a group that is no object. Returns
    /// whether it was one.
    fn click_label(&mut self, x: f64, y: f64) -> bool {
        let Some(timeline) = self.watching.watches.timeline() else { return false };
        let Some((row, part)) = timeline.part_at(x, y) else { return false };
        match part {
            LanePart::Star => {
                let schema = self.columns.layout.schema();
                let words = match (schema.kind(row.kind), &row.group) {
                    (Some(kind), _) => format!("{}/{}", kind.name, row.key),
                    (None, Some(group)) => format!("{}:{}", group.word, row.key),
                    (None, None) => return false,
                };
                self.push(&self.place.route.keeping(&words));
            }
            LanePart::Triangle(id) | LanePart::Name(id) => {
                if let Some(words) = timeline.group_words(id) {
                    let mut chosen = self.place.route.clone();
                    chosen.lanes.open.turn(&words);
                    self.push(&chosen);
                }
            }
            LanePart::Rest => return false,
        }
        self.timeline.told = f64::NEG_INFINITY;
        true
    }

    pub(super) fn command_timeline(&mut self, command: TimelineCommand, now: f64) {
        let lanes = &self.place.route.lanes;
        let state = &mut self.timeline;
        let timeline = self.watching.watches.timeline();
        let scene = timeline.map(|timeline| timeline.last_scene());
        match command {
            TimelineCommand::Resize(width, height) => {
                state.width = width;
                state.height = height;
                state.must = true;
            }
            TimelineCommand::Hover(place) => state.hover = place,
            TimelineCommand::Press(x, y, shift) => self.press_timeline((x, y), shift),
            TimelineCommand::Drag(x, _) => self.drag_timeline(x, now),
            TimelineCommand::Release(x, y) => {
                if self.release_timeline(now) {
                    self.click_timeline(x, y, now);
                }
            }
            TimelineCommand::GiveUp => self.give_up_drag(),
            TimelineCommand::DoubleClick(x, y) => self.double_click_timeline((x, y)),
            TimelineCommand::Click(x, y) => self.click_timeline(x, y, now),
            TimelineCommand::Scroll(by) => {
                let most = scene.map_or(0, |scene| scene.scrollable.saturating_sub(scene.layout.rows));
                state.scroll = state.scroll.saturating_add_signed(by as isize).min(most);
            }
            TimelineCommand::Zoom(factor, x) => {
                let window = state.viewport.window(now);
                let middle = if state.viewport.is_following() { now } else { (window.from + window.to) / 2.0 };
                let at = x.zip(scene).map_or(middle, |(x, scene)| scene.scale.time(x));
                state.viewport.zoom(now, at, factor);
            }
            TimelineCommand::Pan(by) => {
                let pixel = scene.map_or(0.0, |scene| scene.scale.ms_per_pixel());
                state.viewport.pan(now, -by * pixel);
            }
            TimelineCommand::Move(by) => state.viewport.pan(now, by * state.viewport.span()),
            TimelineCommand::Follow => state.viewport.follow(),
            TimelineCommand::Fill(fills) => self.out.view.timeline.fills.put(fills),
            TimelineCommand::LanesBy(by) => {
                state.scroll = 0;
                // The groups of another arrangement are other ones.
                let lanes = LaneChoice { by, open: OpenGroups::default(), ..(**lanes).clone() };
                self.arrange_lanes(lanes);
            }
            TimelineCommand::Order(order) => {
                let lanes = LaneChoice { order, ..(**lanes).clone() };
                self.arrange_lanes(lanes);
            }
            TimelineCommand::TurnAll(open) => {
                let lanes = LaneChoice { open: OpenGroups::all(open), ..(**lanes).clone() };
                self.arrange_lanes(lanes);
            }
            TimelineCommand::Turn => self.turn_group(),
            TimelineCommand::Keep => {
                if let Some((kind, key)) = &self.place.selected {
                    let kept = self.place.route.keeping(&format!("{}/{key}", kind.name));
                    self.arrange_lanes(*kept.lanes);
                }
            }
        }
    }

    /// Carries out a click: on what belongs to a lane's label, on the overview, or on a mark or a lane, whose object it selects.
    fn click_timeline(&mut self, x: f64, y: f64, now: f64) {
        if self.click_label(x, y) {
            self.timeline.told = f64::NEG_INFINITY;
            return;
        }
        let Some(timeline) = self.watching.watches.timeline() else { return };
        let scene = timeline.last_scene();
        if y >= scene.layout.strip_top && y <= scene.layout.strip_bottom {
            self.timeline.viewport.center(now, scene.strip.time(x));
            return;
        }
        let hit = timeline.hit(x, y);
        self.out.view.timeline.clicked.put(hit.as_ref().and_then(Hit::at));
        let owner = hit.and_then(|hit| hit.owner().cloned());
        let schema = self.columns.layout.schema();
        let chosen = owner.and_then(|owner| Some((schema.kind(owner.kind)?, owner.key)));
        let chosen = chosen.filter(|chosen| self.place.selected.as_ref() != Some(chosen));
        self.select(chosen.map(|(kind, key)| (kind.name, key)));
    }
}
