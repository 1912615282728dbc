//! What the parts of the page show. Each part is one value, which the code that draws writes into the document without
//! change.

mod elsewhere;
pub mod health;
pub mod holds;
pub mod inside;
pub mod inspector;
pub mod life;
pub mod logs;
pub mod panels;
pub mod rollout;
mod row;
pub mod shown;
mod spark;
mod trouble;
pub mod why;
mod words;
pub mod writers;

pub use elsewhere::{elsewhere_in_feed, elsewhere_in_table};
pub use row::{Look, Seen, ShownRow, Upcoming, progress, row_model};
pub use spark::{chart, spark};
pub use trouble::{EmptyTable, empty, left_out, troubles, united};
pub use words::{ago, bytes, bytes_of, proof, proof_age, seconds, until_next_proof_age, whole_seconds};

use std::ops::Range;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;

use crate::table::order::RowKey;
use crate::table::view::Retention;
use crate::watches::resync::Resync;

/// The height of a row in pixels; `--row` in tokens.css.
pub const ROW: f64 = 25.0;
/// The height of the table's head, which covers the uppermost part of what is scrolled.
pub const HEAD: f64 = 28.0;

/// The id of a row in the document.
pub fn row_id(row: RowKey) -> String {
    format!("row-{}-{}", row.id.0, row.born)
}

/// The id of a cell of a row. Cells are counted from 0.
pub fn cell_id(row: RowKey, cell: usize) -> String {
    format!("row-{}-{}-{cell}", row.id.0, row.born)
}

/// The connection's state, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// `connecting`, `listing`, `live`, `stale`, `forbidden` or `stopped`; `rewound` while another moment is shown, and
    /// `recording` while a recording is.
    pub state: &'static str,
    /// How old the knowledge is, or how far the list has come.
    pub detail: String,
}

/// Why what is shown may be wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trouble {
    /// The connection's state.
    pub state: &'static str,
    /// What happened, and to which resource.
    pub what: String,
    /// The server's words.
    pub words: String,
    /// What the page does next.
    pub next: String,
}

/// Where the data comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// The name of the cluster, from whoever serves the page; often empty.
    pub cluster: String,
    /// The API's address, in few words.
    pub address: String,
    /// Whether its answers over HTTP cannot be read.
    pub unreadable: bool,
}

/// What the table is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The kind's title, or, where no kind is found, the words that the user typed.
    pub title: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// The head of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// kubectl's title.
    pub title: &'static str,
    /// Whether the values are aligned to the right.
    pub end: bool,
    /// `ascending`, `descending` or `none`; empty where the rows cannot be sorted by it.
    pub sort: &'static str,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellModel {
    /// What it says.
    pub text: String,
    /// Where the filter matched: ranges of bytes of the text, in order and without overlap.
    pub marks: Vec<Range<usize>>,
    /// The full text, where the cell may be too narrow for it.
    pub whole: Option<String>,
    /// The time that the text is about, in milliseconds: since when an age counts, or when something came.
    pub at: Option<f64>,
    /// `good`, `wait`, `bad`, or nothing.
    pub tone: &'static str,
    /// When the cell last changed, in whole seconds of the wall clock, for as long as the change is marked.
    pub marked_at: Option<i64>,
    /// Which way a number went: `up` or `down`, for as long as the change is marked.
    pub went: Option<&'static str>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowModel {
    /// The row's identity in the table.
    pub id: RowKey,
    /// The position in the whole table, from 1.
    pub rank: usize,
    /// The page's name for its kind.
    pub kind: &'static str,
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid, which distinguishes objects that had the name one after the other.
    pub uid: Uid,
    /// `live` or `deleted`; `stale` where it is not followed any more; `provisional` where a list that is not complete has brought the object, and `unrecorded` where its
    /// version at the moment is not kept.
    pub state: &'static str,
    /// Whether the object was added a moment ago.
    pub fresh: bool,
    /// How far a deleted row has faded, in steps: a continuous animation would paint at every frame.
    pub fading: u8,
    /// Whether the row's object is the selected one.
    pub selected: bool,
    /// Whether the cursor is on it: on the row (0), or on one of its cells (from 1).
    pub cursor: Option<usize>,
    /// Whether another moment than now is shown, and the object does not exist any more.
    pub gone: bool,
    /// What part of the object could not be read.
    pub flaw: Option<Box<str>>,
    /// That it is being deleted, in words, where no cell says so.
    pub deletion: Option<String>,
    /// The type of the last change: name and glyph.
    pub delta: (&'static str, &'static str),
    /// One cell for each column head.
    pub cells: Vec<CellModel>,
}

/// One kind in the sidebar.
#[derive(Clone, Debug, PartialEq)]
pub struct SidebarItem {
    /// The page's name for it.
    pub name: &'static str,
    /// The heading above it.
    pub heading: &'static str,
    /// Its name.
    pub title: &'static str,
    /// Whether it is in view.
    pub current: bool,
    /// Whether it stays watched.
    pub pinned: bool,
    /// The connection's state; nothing where it is not watched.
    pub state: &'static str,
    /// How many objects there are.
    pub count: String,
    /// The path of its sparkline.
    pub spark: String,
    /// Where a click leads.
    pub href: String,
    /// Whether the server no longer has the kind.
    pub gone: bool,
    /// A remark about the kind: what its watches cost, or what is wrong.
    pub note: String,
}

/// The sidebar's first item, which leads to what changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangesItem {
    /// Whether it is in view.
    pub current: bool,
    /// Where a click leads.
    pub href: String,
    /// How many changes were shown.
    pub count: String,
    /// How many things are wrong now, in words; empty where none.
    pub wrong: String,
    /// Whether one of them fails, and does not only wait.
    pub fails: bool,
}

/// The sidebar's item that leads to everything in a namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EverythingItem {
    /// The namespace, where exactly one is chosen; else empty.
    pub namespace: String,
    /// Whether it is in view.
    pub current: bool,
    /// Where a click leads.
    pub href: String,
}

/// One open watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchItem {
    /// The kind's title.
    pub title: &'static str,
    /// The namespace, and the selectors; empty for all.
    pub scope: String,
    /// The connection's state.
    pub state: &'static str,
    /// Frames a second.
    pub frames: String,
    /// Bytes a second.
    pub rate: String,
    /// Bytes so far.
    pub bytes: String,
    /// How many objects the watch knows.
    pub objects: String,
}

/// The pipeline's counters, as they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// Objects that lists brought.
    pub listed: String,
    /// Frames a second.
    pub frames: String,
    /// Keys in the queue.
    pub keys: String,
    /// Deltas in the queue.
    pub deltas: String,
    /// Deltas for each one applied.
    pub ratio: String,
    /// Updates of the page a second.
    pub page: String,
    /// The newest version seen.
    pub version: String,
    /// Open watches.
    pub watches: String,
    /// Bytes a second.
    pub rate: String,
    /// Memory of the whole program, of the recorder and of the marks, and since when the recorder has everything: a field
    /// for each, the most important first.
    pub memory: Vec<String>,
    /// Whether every ledger balances.
    pub balanced: bool,
    /// All counters, for those who want to check the sums.
    pub ledger: String,
}

/// The notices about the page itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notices {
    /// How many notices there were; what befell several watches from one cause is one.
    pub total: u64,
    /// How long the table has been behind what is received; empty while it is not.
    pub behind: String,
    /// The newest notices first; none while the list is closed.
    pub items: Vec<NoticeItem>,
}

/// One notice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoticeItem {
    /// `relist`, `gap`, …
    pub word: &'static str,
    /// The resource that it is about.
    pub subject: String,
    /// The time since then.
    pub age: String,
    /// What happened, and what the page does next.
    pub words: String,
}

/// What is shown about deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetentionModel {
    /// How long they stay.
    pub chosen: Retention,
    /// How many deleted rows the table in view has.
    pub count: usize,
    /// How many deleted rows were removed early because there were too many.
    pub crowded_out: usize,
}

/// The progress of a first list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingModel {
    /// The titles of the listed kinds.
    pub title: String,
    /// How many objects have arrived.
    pub listed: u64,
    /// About how many objects there are.
    pub about: u64,
    /// Both numbers in words.
    pub words: String,
}

/// What is shown about resyncs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResyncModel {
    /// The user's choice; `None` while the address says something else.
    pub chosen: Option<Resync>,
    /// A remark beside the choice.
    pub words: String,
}

/// What is shown about the checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifiedModel {
    /// `unknown`, `checking`, `same` or `differs`.
    pub state: &'static str,
    /// The text in the footer.
    pub label: String,
    /// An explanation of the label.
    pub words: String,
    /// An item for each watch; none while the list is closed.
    pub items: Vec<VerifiedItem>,
}

/// What is shown about the checks of one watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifiedItem {
    /// The kind and the scope.
    pub subject: String,
    /// As in [`VerifiedModel`].
    pub state: &'static str,
    /// The time of the last comparison, as a time of day.
    pub at: String,
    /// The result.
    pub words: String,
    /// The time when the last difference was found.
    pub found_at: Option<String>,
    /// The differences that were found then.
    pub differences: Vec<String>,
}

/// The palette, while it is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaletteModel {
    /// What is typed.
    pub query: String,
    /// What was found, the best first.
    pub items: Vec<PaletteItem>,
    /// The index of the chosen entry.
    pub at: usize,
}

/// What the filter can be completed to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompletionModel {
    /// The entries, the most likely first.
    pub items: Vec<CompletionItem>,
    /// The index of the chosen one, if one is.
    pub at: Option<usize>,
}

/// What one word of the filter can be completed to.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionItem {
    /// The whole word.
    pub text: String,
    /// What the word is about; empty for a value.
    pub detail: String,
}

/// An entry of the palette.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteItem {
    /// The title in pieces, each with whether it matches.
    pub pieces: Vec<(bool, String)>,
    /// `kind`, `namespace`, `object`, `action` or `recent`.
    pub group: &'static str,
    /// Short names, or keys.
    pub detail: String,
}

/// Shown while the page has no API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Splash {
    /// Each address that was tried, and what it answered.
    pub tried: Vec<(String, String)>,
    /// The title of each recording that can be looked at meanwhile, and the fragment that opens it.
    pub recordings: Vec<(String, String)>,
}

/// The colour theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light words on a dark ground.
    #[default]
    Dark,
    /// Dark words on a light ground.
    Light,
}

impl Theme {
    /// The name in the document and in the browser's storage.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Dark => "dark",
            Theme::Light => "light",
        }
    }

    /// The other theme.
    pub fn other(self) -> Theme {
        match self {
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::Dark,
        }
    }
}
