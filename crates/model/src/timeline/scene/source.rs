//! The input of a scene beside its lanes.

use crate::timeline::scene::layout::TimelineView;
use crate::timeline::store::marks::Marks;
use crate::timeline::words::kinds::KindNames;

/// The marks that a scene shows, and the view in which it shows them.
#[derive(Clone, Copy)]
pub(in crate::timeline) struct Source<'a> {
    /// The marks of each kind, by number.
    pub(in crate::timeline) marks: &'a [&'a Marks],
    pub(in crate::timeline) names: &'a KindNames,
    pub(in crate::timeline) view: &'a TimelineView,
    pub(in crate::timeline) now: f64,
    /// Since when the texts of all changes are kept; `None` as long as none was dropped.
    pub(in crate::timeline) texts_since: Option<f64>,
    /// How wide the column of labels needs to be, in pixels.
    pub(in crate::timeline) labels: f64,
}
