//! What the pointer drags on the timeline: the picture, a stretch of time that is chosen, or the window on the overview.

use crate::navigation::range::between;
use crate::timeline::scale::{Scale, Window};
use crate::timeline::scene::{MomentFlag, Scene};

/// How far the pointer must be moved so that it drags, in pixels.
pub(super) const LEAST: f64 = 3.0;
/// How far from an edge of the window on the overview the pointer may be to drag the edge, in pixels.
const REACH: f64 = 5.0;
/// How far from the line of the moment its flag on the axis reaches, in pixels.
const FLAG: f64 = MomentFlag::WIDTH / 2.0;

/// What a pressed pointer does when it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// Moves the picture.
    Pan,
    /// Chooses the time from here.
    Choose,
    /// Has the window be the time from here.
    Brush,
    /// Moves the moment that is shown.
    Playhead,
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
    /// Whether a click here goes to the moment.
    rewinds: bool,
}

impl Drag {
    /// What a pointer that is pressed at a place begins.
    pub(super) fn begin(scene: &Scene, (x, y): (f64, f64), shift: bool) -> Drag {
        let layout = &scene.layout;
        let on_strip = y >= layout.strip_top && y <= layout.strip_bottom;
        let on_axis = y >= layout.bottom;
        let scale = if on_strip { scene.strip } else { scene.scale };
        let flag = scene.moment.as_ref().and_then(|flag| if on_strip { flag.strip_x } else { flag.x });
        let reach = if on_axis { FLAG } else { REACH };
        let what = match () {
            () if (on_axis || on_strip) && flag.is_some_and(|flag| (x - flag).abs() <= reach) => What::Playhead,
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
        let rewinds = on_axis && !shift && x >= layout.left && x <= layout.right;
        Drag { what, x, from, scale, has_moved: false, rewinds }
    }

    /// The time at a place.
    pub(super) fn time(&self, x: f64) -> f64 {
        self.scale.time(self.scale.clamped(self.scale.time(x)))
    }

    /// The moment that a click goes to, if that is what it does.
    pub(super) fn clicked(&self) -> Option<f64> {
        (self.rewinds && self.what == What::Choose).then_some(self.from)
    }

    /// The stretch of time that is dragged, up to a place; `None` for a picture that is moved.
    pub(super) fn window(&self, x: f64) -> Option<Window> {
        let at = self.time(x);
        (!matches!(self.what, What::Pan | What::Playhead)).then(|| between(self.from, at))
    }
}
