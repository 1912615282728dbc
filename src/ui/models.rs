//! What small parts of the page show, each as one value of a signal.

use kubechurn_model::page::resync::Resync;
use kubechurn_model::table::view::Linger;

/// What is shown of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LingerModel {
    /// How long they stay.
    pub chosen: Linger,
    /// How many there are in the table in view.
    pub count: usize,
    /// How many went before their time, for there were too many.
    pub crowded_out: usize,
}

/// How far it has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingModel {
    /// What is listed.
    pub title: String,
    /// So many have come.
    pub listed: u64,
    /// Of about so many.
    pub about: u64,
    /// Both in words.
    pub words: String,
}

/// What is shown of resyncs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResyncModel {
    /// What is chosen; `None` while the address says something else.
    pub chosen: Option<Resync>,
    /// What is said beside it.
    pub words: String,
}

/// What is shown of the checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifiedModel {
    /// `unknown`, `checking`, `same` or `differs`.
    pub state: &'static str,
    /// What stands in the footer.
    pub label: String,
    /// More about it.
    pub words: String,
    /// One for each watch; none while the list is closed.
    pub items: Vec<VerifiedItem>,
}

/// What is shown of one watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifiedItem {
    /// Which kind, and where.
    pub subject: String,
    /// As in [`VerifiedModel`].
    pub state: &'static str,
    /// When, as a time of day.
    pub at: String,
    /// What came of it.
    pub words: String,
    /// When it last differed.
    pub found_at: Option<String>,
    /// What differed then.
    pub differences: Vec<String>,
}
