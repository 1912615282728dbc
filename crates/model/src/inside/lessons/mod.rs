//! Lessons: short streams with captions, each of which stops at the step that it is about.
//!
//! The streams are made up, so that each shows one thing. What becomes of them is not: it is the machinery itself that goes
//! through them, and `tests/it/inside/lessons.rs` holds every caption to its state.

mod gone;
mod lesson;
mod list;
mod one_key;
mod queue;
mod resync;
mod stale;
mod tombstone;
mod version;

pub use lesson::{Caption, Lesson};

/// All of them, in the order in which they are read.
pub fn lessons() -> &'static [Lesson] {
    const LESSONS: &[Lesson] = &[
        list::LESSON,
        version::LESSON,
        gone::LESSON,
        queue::LESSON,
        tombstone::LESSON,
        resync::LESSON,
        one_key::LESSON,
        stale::LESSON,
    ];
    LESSONS
}

/// The lesson of this name.
pub fn lesson(id: &str) -> Option<&'static Lesson> {
    lessons().iter().find(|lesson| lesson.id == id)
}
