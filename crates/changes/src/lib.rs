//! What changed between two versions of an object, who seems to have written it, and the feed that shows it.
//!
//! ```text
//! (old text, new text) ─► diff ─► noise ─► Line ─► Feed
//!                    └──► writer ──────────►┘   └─► Findings
//! ```
//!
//! [`diff`](diff::diff) walks over both texts and goes down only where their bytes differ. [`noise`] says which of the
//! fields say nothing, [`writer`] infers who wrote from `managedFields`, and a [`Line`] is what is left: the fields in the
//! order of what they say. The [`Feed`](feed::Feed) joins lines: noise as a count, repetitions and many objects of
//! one owner as one row, and what a change caused under the change. A [`Filter`](filter::Filter) chooses among the lines,
//! and [`Findings`](findings::Findings) find what happens again and again. [`pointer`]
//! follows one field from version to version. Who wrote for certain is in an audit log of the API server, whose lines
//! [`audit`] joins to the versions.
//!
//! # Invariants
//!
//! - **Pure.** No socket, clock or randomness: times are arguments, in milliseconds.
//! - **Bounded.** What one change costs is bounded by the length of its two texts, and what is kept of it by constants.
//! - **Nothing is guessed in silence.** What is inferred is of a type that says so, and what is left out is counted.
//!
//! [`Line`]: line::Line

#![warn(missing_docs)]

pub mod audit;
pub mod diff;
pub mod feed;
pub mod field;
pub mod filter;
pub mod findings;
pub mod line;
mod lists;
pub mod noise;
pub mod note;
pub mod part;
pub mod past;
mod paths;
pub mod pointer;
pub mod replicas;
pub mod short_path;
pub mod value;
pub mod writer;

pub use paths::{rank, with_zero};
