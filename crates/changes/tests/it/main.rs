//! The crate's tests over a recorded rollout and over made-up texts.

#![allow(clippy::unwrap_used)] // A panic fails the test.

mod audit;
mod findings;
mod folding;
mod independent;
mod order;
mod outcome;
mod play;
mod pods;
mod properties;
mod recording;
mod rollout;
