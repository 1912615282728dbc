//! What is seen: components that read signals and send commands. Nothing here decides anything.

pub mod footer;
pub mod inspector;
pub mod rail;
pub mod screen;
mod selectors;
pub mod shell;
pub mod table;
pub mod timeline;
pub mod timeline_canvas;
