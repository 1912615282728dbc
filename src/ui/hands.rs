//! What the hands see and send: the palette, the keys, the columns, and what is said aloud.

use leptos::prelude::*;

use kubechurn_model::page::keys::{Act, Layer};
use kubechurn_model::page::layout::{Choice, Rearrange};
use kubechurn_model::table::order::RowKey;

/// What the hands ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Hands {
    /// Do this.
    Act(Act),
    /// Look for these letters in the palette.
    Seek(String),
    /// Go by so many entries of the palette.
    Step(isize),
    /// Take this entry of the palette; `None` for the one that is chosen.
    Take(Option<usize>),
    /// A dialog was closed by the browser.
    Close(Layer),
    /// Change the columns.
    Columns(Rearrange),
}

/// The palette, while it is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaletteModel {
    /// What is typed.
    pub query: String,
    /// What was found, the best first.
    pub items: Vec<PaletteItem>,
    /// Which of it is chosen.
    pub at: usize,
}

/// An entry of the palette.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteItem {
    /// The title in pieces, each with whether it was looked for.
    pub pieces: Vec<(bool, String)>,
    /// `kind`, `namespace`, `action` or `recent`.
    pub group: &'static str,
    /// Short names, or keys.
    pub detail: String,
}

/// The signals for the hands.
#[derive(Clone, Copy)]
pub struct HandsScreen {
    /// The palette; `None` while it is closed.
    pub palette: RwSignal<Option<PaletteModel>>,
    /// Whether the keys are shown.
    pub help: RwSignal<bool>,
    /// Whether keys of a single letter do anything.
    pub letters: RwSignal<bool>,
    /// The id of the row or cell under the keyboard's hand, while it is in the document.
    pub at: RwSignal<Option<String>>,
    /// Every column of the kind in view.
    pub columns: RwSignal<Vec<Choice>>,
    /// What a screen reader is told of the connection.
    pub said: RwSignal<String>,
    /// What became of what was asked for: shown for a moment, and read out.
    pub told: RwSignal<String>,
}

impl HandsScreen {
    /// Nothing is open, and nothing is said.
    pub fn new() -> HandsScreen {
        HandsScreen {
            palette: RwSignal::new(None),
            help: RwSignal::new(false),
            letters: RwSignal::new(true),
            at: RwSignal::new(None),
            columns: RwSignal::new(Vec::new()),
            said: RwSignal::new(String::new()),
            told: RwSignal::new(String::new()),
        }
    }
}

impl Default for HandsScreen {
    fn default() -> HandsScreen {
        HandsScreen::new()
    }
}

/// The id of a row in the document.
pub fn row_id(row: RowKey) -> String {
    format!("row-{}-{}", row.id.0, row.born)
}

/// The id of a cell of a row, counted from 0.
pub fn cell_id(row: RowKey, cell: usize) -> String {
    format!("row-{}-{}-{cell}", row.id.0, row.born)
}
