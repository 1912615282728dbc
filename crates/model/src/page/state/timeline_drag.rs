//! What the pointer drags on the timeline: the picture, a stretch of time that is chosen, or the window on the overview.

use crate::page::span::between;
use crate::timeline::scale::{Scale, Window};
use crate::timeline::scene::Scene;

/// How far the pointer must be moved so that it drags, in pixels.
pub(super) const LEAST: f64 = 3.0;
/// How far from an edge of the window on the overview the pointer may be to drag the edge, in pixels.
const REACH: f64 = 5.0;

/// What a pressed pointer does when it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
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
    pub(super) what: What,
    /// Where it was last.
    pub(super) x: f64,
    /// The time at which the stretch begins or, if an edge is dragged, that of the other edge.
    from: f64,
    /// The axis on which it began: the overview's changes with the window.
    scale: Scale,
    pub(super) has_moved: bool,
}

impl Drag {
    /// What a pointer that is pressed at a place begins.
    pub(super) fn begin(scene: &Scene, (x, y): (f64, f64), shift: bool) -> Drag {
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
    pub(super) fn window(&self, x: f64) -> Option<Window> {
        let at = self.scale.time(self.scale.clamped(self.scale.time(x)));
        (self.what != What::Pan).then(|| between(self.from, at))
    }
}
