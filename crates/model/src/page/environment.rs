//! What the page asks of the place that it runs in: clocks, storage, the document. Asking changes nothing there.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::backoff::Moment;

use crate::page::address::Address;
use crate::table::order::RowKey;

/// The browser, or what a test has in its place.
pub trait Environment {
    /// Milliseconds since 1970 on a clock that never runs backwards, and goes on while the machine sleeps.
    fn now(&self) -> f64;

    /// By how many milliseconds the clock jumped forward since this was last asked.
    fn take_jump(&self) -> f64;

    /// A number from 0 to 1, 1 excluded, for waits that shall differ. No secret depends on it.
    fn random(&self) -> f64;

    /// A number that no one can guess.
    fn secret_number(&self) -> u64;

    /// The clock on the wall, which ages are told by.
    fn wall(&self) -> Timestamp;

    /// A time of [`Environment::now`] as a local time of day, to the millisecond: `13:04:05.678`.
    fn time_of_day(&self, at: f64) -> String;

    /// The wall's date and time in UTC, as file names have it: `20261122T130405`.
    fn date(&self) -> String;

    /// Whether the page is hidden, so that there are no animation frames.
    fn is_hidden(&self) -> bool;

    /// The program's memory in bytes; it never shrinks.
    fn memory(&self) -> usize;

    /// How wide the window is, in CSS pixels.
    fn window_width(&self) -> f64;

    /// What is kept from the last visit under this name.
    fn stored(&self, name: &str) -> Option<String>;

    /// What is kept under this name for as long as the tab is open.
    fn stored_in_tab(&self, name: &str) -> Option<String>;

    /// A parameter of the page's address: `?api=`.
    fn parameter(&self, name: &str) -> Option<String>;

    /// What the document's head says under this name. Words in braces, or none, are those that nobody has filled in.
    fn named(&self, name: &str) -> Option<String>;

    /// An address in its parts, seen from the page; `None` for what is no address. The empty text is the page's own.
    fn address(&self, text: &str) -> Option<Address>;

    /// The page's whole address, its fragment included.
    fn url(&self) -> String;

    /// Whether a menu is open.
    fn has_menu(&self) -> bool;

    /// What stands in the document where a row is drawn.
    fn drawn(&self, row: RowKey) -> Option<DrawnRow>;

    /// The time, and a random number.
    fn moment(&self) -> Moment {
        Moment { now: self.now(), random: self.random() }
    }
}

/// What an element for a row says.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnRow {
    /// `namespace/name`.
    pub key: String,
    /// Which life of the name.
    pub uid: Uid,
    /// `live` or `deleted`.
    pub state: String,
    /// The text of each cell.
    pub cells: Vec<String>,
}

impl DrawnRow {
    /// Whether it is of this object.
    pub fn is_of(&self, key: &ObjectKey, uid: &Uid) -> bool {
        self.key == key.to_string() && self.uid == *uid
    }
}
