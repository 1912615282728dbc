//! The scene of a timeline as plain data: marks folded to cells of the screen, bands of states, labels and ticks; and
//! the thing under the pointer.

mod bands;
pub(crate) mod contents;
pub(crate) mod draw;
mod events;
pub mod fold;
mod group_rows;
pub mod hit;
pub mod labels;
mod lane;
pub(crate) mod layout;
mod lost;
pub(crate) mod noted;
pub(crate) mod past;
pub(crate) mod pointer;
mod row_gaps;
pub(crate) mod scratch;
pub(crate) mod source;
mod stream;
pub mod summary;
pub mod ticks;

pub use crate::timeline::words::text::{duration, fit};
pub use contents::{
    Area, Band, BandLabel, EventGlyph, GapArea, Glyph, Kept, LaneRow, MomentFlag, NoteLabel, NoteMark, PastArea,
    PastGlyph, PastMoment, Pill, REACH, ROW_TINTS, RowGap, SPAN_TINTS, Scene, StreamLine,
};
pub use layout::{Layout, TimelineView};
