//! What is seen: components that read signals and send commands. Nothing here decides anything. Each subject has a folder, of
//! the same name as in the model.

pub mod feed;
pub mod focus;
mod holds;
mod inside;
pub mod inspector;
mod life;
pub mod logs;
mod navigation;
pub mod parts;
mod recording;
mod rewind;
mod rollout;
pub mod screen;
pub mod shell;
pub mod sized;
pub mod table;
pub mod timeline;
pub mod times;
pub mod values;
pub mod verification;
pub mod watches;
mod why;
mod writers;
