//! What is seen: components that read signals and send commands. Nothing here decides anything.

pub mod alerts;
pub mod columns_menu;
mod edge;
pub mod feed;
pub mod focus;
pub mod footer;
pub mod help;
pub mod inspector;
pub mod listing;
pub mod palette;
pub mod parts;
pub mod recorder;
pub mod resync;
pub mod retention;
mod row;
pub mod screen;
mod selectors;
pub mod shell;
pub mod sidebar;
pub mod sized;
pub mod span;
pub mod table;
pub mod timeline;
pub mod unplaced;
pub mod verified;
pub mod watches;
