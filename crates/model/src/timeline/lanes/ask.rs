//! The question that a scene asks of an order of lanes.

use crate::timeline::scale::Window;
use crate::timeline::store::mark::LaneOf;

/// The question which lanes stand in which rows of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The time.
    pub now: f64,
    /// The time on the screen.
    pub window: Window,
    /// How many rows fit.
    pub rows: usize,
    /// How many rows are scrolled past.
    pub scroll: usize,
    /// Whether every row must stay where it is; only empty rows may be filled.
    pub hold: bool,
    /// The lane that comes first, changed or not.
    pub selected: Option<LaneOf>,
}
