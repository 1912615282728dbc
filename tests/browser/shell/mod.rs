//! The frame around the subjects: the sidebar, sizes, keys, and who reads the page otherwise than by eye.

pub mod accessibility;
mod frame;
mod keyboard;
pub mod layout;
mod phone;
mod sidebar;
