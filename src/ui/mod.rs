//! What is seen: components that read signals and send commands. Nothing here decides anything.

pub mod columns_menu;
pub mod footer;
pub mod hands;
pub mod help;
pub mod inspector;
pub mod linger;
pub mod listing;
pub mod palette;
pub mod rail;
pub mod resync;
mod row;
pub mod screen;
mod selectors;
pub mod shell;
pub mod table;
pub mod timeline;
pub mod timeline_canvas;
pub mod unplaced;
pub mod verified;
pub mod watches;
