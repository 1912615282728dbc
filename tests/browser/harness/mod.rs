//! What the browser tests and the page's benchmark stand on: real processes, a real browser, and an
//! independent opinion of what the page should show.

pub mod browser;
pub mod cluster;
pub mod kubectl;
pub mod page;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod relay;
pub mod tools;
pub mod truth;
pub mod turn;
pub mod wait;
