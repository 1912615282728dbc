//! What the pointer drags on the timeline: the picture, a stretch of time that is chosen, or the window on the overview.

use crate::page::span::between;
use crate::page::state::Page;
use crate::page::state::timeline::TimelineState;
use crate::timeline::scale::{Scale, Window};
use crate::timeline::scene::Scene;

/// How far the pointer must be moved so that it drags, in pixels.
const LEAST: f64 = 3.0;
/// How far from an edge of the window on the overview the pointer may be to drag the edge, in pixels.
const REACH: f64 = 5.0;

/// What a pressed pointer does when it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Moves the picture.
    Pan,
    /// Chooses the time from here.
    Choose,
    /// Has the window be the time from here.
    Brush,
}

/// A pointer that is pressed on the canvas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    what: What,
    /// Where it was last.
    x: f64,
    /// The time at which the stretch begins or, if an edge is dragged, that of the other edge.
    from: f64,
    /// The axis on which it began: the overview's changes with the window.
    scale: Scale,
    has_moved: bool,
}

impl Drag {
    /// What a pointer that is pressed at a place begins.
    fn begin(scene: &Scene, (x, y): (f64, f64), shift: bool) -> Drag {
        let layout = &scene.layout;
        let on_strip = y >= layout.strip_top && y <= layout.strip_bottom;
        let on_axis = y >= layout.bottom;
        let scale = if on_strip { scene.strip } else { scene.scale };
        let what = match () {
            () if x < layout.left - REACH => What::Pan,
            () if on_axis || shift => What::Choose,
            () if on_strip => What::Brush,
            () => What::Pan,
        };
        let [left, right] = scene.framed;
        let from = match () {
            () if what == What::Brush && (x - left).abs() <= REACH => scene.scale.window.to,
            () if what == What::Brush && (x - right).abs() <= REACH => scene.scale.window.from,
            () => scale.time(scale.clamped(scale.time(x))),
        };
        Drag { what, x, from, scale, has_moved: false }
    }

    /// The stretch of time that is dragged, up to a place; `None` for a picture that is moved.
    fn window(&self, x: f64) -> Option<Window> {
        let at = self.scale.time(self.scale.clamped(self.scale.time(x)));
        (self.what != What::Pan).then(|| between(self.from, at))
    }
}

impl TimelineState {
    /// The stretch of time that is being dragged, if one is.
    pub(super) fn dragged(&self) -> Option<Window> {
        self.drag.filter(|drag| drag.has_moved).and_then(|drag| drag.window(drag.x))
    }
}

impl Page {
    pub(super) fn press_timeline(&mut self, place: (f64, f64), shift: bool) {
        let Some(timeline) = self.watching.watches.timeline() else { return };
        self.timeline.drag = Some(Drag::begin(timeline.last_scene(), place, shift));
    }

    pub(super) fn drag_timeline(&mut self, x: f64, now: f64) {
        let state = &mut self.timeline;
        let Some(drag) = &mut state.drag else { return };
        let by = x - drag.x;
        if !drag.has_moved && by.abs() < LEAST {
            return;
        }
        drag.has_moved = true;
        drag.x = x;
        if drag.what == What::Pan {
            let scene = self.watching.watches.timeline().map(|timeline| timeline.last_scene().scale.ms_per_pixel());
            state.viewport.pan(now, -by * scene.unwrap_or_default());
        }
    }

    /// Lets the pointer go. Returns whether it was a click.
    pub(super) fn release_timeline(&mut self, now: f64) -> bool {
        let Some(drag) = self.timeline.drag.take() else { return false };
        match (drag.has_moved, drag.what, drag.window(drag.x)) {
            (false, ..) => return true,
            (true, What::Choose, Some(window)) => self.pick_span(window),
            (true, What::Brush, Some(window)) => self.timeline.viewport.set(now, window),
            _ => {}
        }
        false
    }

    /// Nothing is dragged any more, and what was dragged stays as it was.
    pub(super) fn give_up_drag(&mut self) {
        self.timeline.drag = None;
    }

    /// A double click on the axis, the overview or the chosen stretch gives the choice up; on the overview the window
    /// follows the time again, too.
    pub(super) fn double_click_timeline(&mut self, (x, y): (f64, f64)) {
        let Some(timeline) = self.watching.watches.timeline() else { return };
        let scene = timeline.last_scene();
        let on_strip = y <= scene.layout.strip_bottom;
        let is_chosen = scene.span.is_some_and(|[from, to]| from <= x && x <= to);
        if on_strip {
            self.timeline.viewport.follow();
        }
        if on_strip || is_chosen || y >= scene.layout.bottom {
            self.give_up_span();
        }
    }

    /// The time of the mark under the pointer, or else of the change that the inspector marks or shows first.
    pub(super) fn pointed(&self) -> Option<f64> {
        let timeline = self.watching.watches.timeline();
        let hit = self.timeline.hover.and_then(|(x, y)| timeline.as_ref()?.hit(x, y));
        hit.and_then(|hit| hit.at()).or(*self.out.view.timeline.clicked).or_else(|| {
            let versions = &self.out.view.inspector.versions;
            let marked = versions.shown.iter().find(|version| Some(version.sequence) == versions.marked);
            marked.or(versions.shown.first()).map(|version| version.at)
        })
    }
}
