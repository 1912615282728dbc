//! Rules of the whole tree, which no compiler holds.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// What the page is built from.
mod built_page;
/// The table of rules and their tests, in docs/checklist.md.
mod checklist;
/// The ways in which the code is broken to test the tests.
mod mutants;
/// Who may depend on whom, what may not be written, and how long a file may be.
mod tidy;
