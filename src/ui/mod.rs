//! (in work)

pub mod timeline_canvas;
