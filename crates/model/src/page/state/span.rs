//! The chosen stretch of time: reads what changed in it, a share of each frame's time, and shows the counts.

use crate::page::environment::Environment;
use crate::page::route::Route;
use crate::page::span::{AROUND, Reading, SpanCommand, between};
use crate::page::state::Page;
use crate::timeline::scale::Window;

/// How long a frame may read changes of the stretch, in milliseconds.
const SHARE: f64 = 6.0;
/// How many changes are read between two readings of the clock.
const BATCH: usize = 4;
/// How often the counts are shown while changes are read, in milliseconds: they are sorted each time.
const PACE: f64 = 200.0;

impl Page {
    /// Reads the stretch of time that the address names, unless that is done.
    pub(super) fn choose_span(&mut self) {
        let chosen = self.place.route.span;
        if self.changes.feed.span.as_ref().map(Reading::window) != chosen {
            self.begin_span(chosen);
        }
    }

    fn begin_span(&mut self, chosen: Option<Window>) {
        let (filter, began) = (self.feed_filter(), self.changes.began);
        let reading = chosen.map(|window| Reading::new(window, began, &self.changes.feed.times, filter));
        self.changes.feed.limit(reading);
        self.changes.counted = 0.0;
        let times = *self.out.view.feed.newest + 1;
        self.out.view.feed.newest.put(times);
        self.timeline.repaint();
        self.hurry();
    }

    /// Reads the stretch anew, because what counts as noise is another.
    pub(super) fn read_span_anew(&mut self) {
        self.begin_span(self.place.route.span);
    }

    /// Reads changes of the stretch within a share of this frame's time. Returns whether some are left.
    pub(super) fn read_span(&mut self, env: &dyn Environment) -> bool {
        // It is taken out while it is read, because reading a change needs the rest.
        let Some(mut reading) = self.changes.feed.span.take() else { return false };
        let end = env.now() + SHARE;
        let mut is_left = true;
        while is_left {
            for _ in 0..BATCH {
                let Some((sequence, is_own)) = reading.take_next(&self.changes.feed.times) else {
                    is_left = false;
                    break;
                };
                let line = self.line_of(sequence);
                reading.read(line, is_own);
            }
            if env.now() >= end {
                break;
            }
        }
        self.changes.feed.span = Some(reading);
        is_left
    }

    pub(super) fn command_span(&mut self, command: SpanCommand, env: &dyn Environment) {
        match command {
            SpanCommand::Around(at) => self.look_around(at),
            SpanCommand::AroundPointed => match self.pointed() {
                Some(at) => self.look_around(at),
                None => self.tell("Point at a mark of the timeline, or choose a change in the inspector.", env.now()),
            },
            SpanCommand::Filter(text) => {
                let route = &self.place.route;
                // The second click takes the filter back.
                let text = if route.changes && route.text == text { String::new() } else { text };
                self.push(&Route { text, changes: true, ..route.clone() });
            }
            SpanCommand::Clear => self.give_up_span(),
        }
    }

    /// Chooses the time around a change, and shows the feed of it.
    fn look_around(&mut self, at: f64) {
        if !at.is_finite() {
            return;
        }
        let span = Some(between(at - AROUND, at + AROUND));
        self.push(&Route { span, changes: true, text: String::new(), ..self.place.route.clone() });
    }

    /// Chooses a stretch of time.
    pub(super) fn pick_span(&mut self, window: Window) {
        self.push(&Route { span: Some(window), ..self.place.route.clone() });
    }

    /// Gives the stretch up.
    pub(super) fn give_up_span(&mut self) {
        if self.place.route.span.is_some() {
            self.push(&Route { span: None, ..self.place.route.clone() });
        }
    }

    /// Shows the counts, if something was read since they were shown.
    pub(super) fn present_span(&mut self, now: f64, env: &dyn Environment) {
        let changes = &mut self.changes;
        let Some(reading) = &mut changes.feed.span else {
            self.out.view.feed.span.put(None);
            return;
        };
        let is_due = (now - changes.counted).abs() >= PACE || reading.is_done(&changes.feed.times);
        if is_due && reading.take_new() {
            changes.counted = now;
            let model = reading.model(&changes.feed.times, |at| env.time_of_day(at));
            self.out.view.feed.span.put(Some(model));
        }
    }
}
