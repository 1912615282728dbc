//! The page as a whole: its start, its end, and what holds in each of its parts.

mod death;
mod early;
mod fault_seeds;
mod first_minutes;
mod idle;
pub mod live;
mod markup;
mod pace;
mod policy;
mod tabs;
