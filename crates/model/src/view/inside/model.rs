//! The values: every part of the machinery as it is shown.

use std::sync::Arc;

use crate::inside::Part;

/// A line of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// How it looks: words for the style.
    pub look: &'static str,
    /// The type of the delta.
    pub delta: &'static str,
    /// What stands on the left: a version, a key, a number.
    pub left: String,
    /// What stands in the middle.
    pub text: String,
    /// What stands on the right.
    pub right: String,
}

impl Line {
    /// The sign of its delta.
    pub fn glyph(&self) -> &'static str {
        match self.delta {
            "Added" => "▲",
            "Updated" => "●",
            "Deleted" => "✕",
            "Replaced" => "◆",
            "Sync" => "◇",
            "tombstone" => "☒",
            "Bookmark" => "⚑",
            _ => "",
        }
    }
}

/// A part of the machinery.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartModel {
    /// Whether the step happened here.
    pub is_lit: bool,
    /// What is in it.
    pub lines: Vec<Line>,
    /// Numbers and states, each with its name.
    pub facts: Vec<(&'static str, String)>,
    /// What is to be said of it now.
    pub note: String,
}

/// What waits for one pop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotModel {
    /// The key, where all of it is of one.
    pub key: String,
    /// How long it has waited.
    pub age: String,
    /// What waits.
    pub lines: Vec<Line>,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueModel {
    /// Whether it is the one that feeds the store and the handlers.
    pub is_chosen: bool,
    /// How much waits, in words.
    pub waits: String,
    /// What waits first.
    pub slots: Vec<SlotModel>,
    /// How much more there is, in words.
    pub more: String,
    /// How much memory what waits takes, in words: see [`Queues::held`](crate::inside::Queues::held).
    pub holds: String,
    /// What it has done so far, in words.
    pub done: String,
    /// How many entries waited at most, in words.
    pub most: String,
}

/// A break that the user can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakModel {
    /// What breaks.
    pub title: String,
    /// What it breaks, and what heals that.
    pub sentence: &'static str,
    /// client-go's name and file.
    pub client_go: (&'static str, &'static str),
    /// Whether it is set, or has been.
    pub is_used: bool,
}

/// Something that can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingModel {
    /// What.
    pub title: &'static str,
    /// What it can be set to: words of a [`Change`], and titles.
    pub choices: Vec<(String, String)>,
    /// What it is set to, by its words.
    pub chosen: String,
}

/// A step in the row of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepModel {
    /// Its number.
    pub number: usize,
    /// In which part it happens.
    pub part: &'static str,
    /// Whether the step before it in the row happens in another part.
    pub begins: bool,
    /// The type of its delta.
    pub delta: &'static str,
    /// What happens.
    pub words: String,
    /// `past`, `now` or `later`.
    pub state: &'static str,
}

/// What a lesson says of the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptionModel {
    /// The lesson's name in an address; empty where none is read.
    pub lesson: &'static str,
    /// Which caption of how many, and of which part; or that this step has none.
    pub place: String,
    /// What is said; empty where the step has no caption.
    pub words: &'static str,
    /// Whether it is the last one.
    pub is_last: bool,
}

/// What is shown where another page embeds this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmbedModel {
    /// The one part that is shown; `None` for all that have room.
    pub part: Option<Part>,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InsideModel {
    /// What a lesson says of the step.
    pub caption: CaptionModel,
    /// The part that the caption is about, or in which the step happened: the one that is shown where only one has room.
    pub about: Option<Part>,
    /// The address of the whole page at this step, where another page embeds it; else empty.
    pub whole: String,
    /// The title of what is played.
    pub title: String,
    /// The kinds to choose from: the page's names, titles, and whether it is the one.
    pub kinds: Vec<(&'static str, &'static str, bool)>,
    /// Why nothing is played yet; empty where something is.
    pub waits: String,
    /// Where it comes from, and what is left out.
    pub notes: String,
    /// How much has come since; empty where nothing has.
    pub newer: String,
    /// Whether that is played after the last step. Otherwise it is seen only by who begins anew.
    pub grows: bool,
    /// The number of the step.
    pub number: usize,
    /// How many there are, as far as it is known.
    pub of: String,
    /// The time of the step, since the beginning.
    pub time: String,
    /// What happened.
    pub sentence: String,
    /// The same in the names of client-go.
    pub client_go: String,
    /// Whether what is played needs neither a cluster nor a recording.
    pub stands_alone: bool,
    /// The rules of the checklist that it follows: their numbers and their words.
    pub rules: &'static [(u32, &'static str)],
    /// Where the book has the checklist; empty where no book is known.
    pub checklist: String,
    /// Whether this is the end.
    pub is_end: bool,
    /// Whether it is played.
    pub plays: bool,
    /// How fast: a place in [`SPEEDS`](crate::inside::command::SPEEDS).
    pub speed: usize,
    /// When it pauses, by its word.
    pub pause: String,
    /// When it can pause: words and titles.
    pub pauses: Vec<(String, String)>,
    /// What can break.
    pub breaks: Vec<BreakModel>,
    /// Whether something comes that could break.
    pub can_break: bool,
    /// The break that is to be explained, by its place among them.
    pub broken: Option<usize>,
    /// The state of the Reflector: `list`, `replace`, `watch` or `wait`.
    pub state: &'static str,
    /// The parts, in the order of [`Part::ALL`].
    pub parts: Vec<PartModel>,
    /// The queues, in the order of [`Which::ALL`].
    pub queues: Vec<QueueModel>,
    /// What can be set.
    pub settings: Vec<SettingModel>,
    /// The row of steps.
    pub steps: Vec<StepModel>,
    /// What went through, in words.
    pub sums: String,
    /// The step for a screen reader; empty while steps follow each other too fast to be read.
    pub spoken: String,
}

/// The model as the page holds it.
pub type SharedInside = Option<Arc<InsideModel>>;
