//! Rules of the whole tree that no compiler checks.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// What the page is built from.
mod built_page;
/// The table of rules and their tests, in docs/checklist.md.
mod checklist;
/// What documents name exists.
mod documents;
/// What lies where in the model and the view.
mod layout;
/// The patches that break the code to test the tests.
mod mutants;
/// What is given to those who have kubectl and no Rust.
mod plugin;
/// Who may depend on whom, what may not be written, and how long a file may be.
mod tidy;
