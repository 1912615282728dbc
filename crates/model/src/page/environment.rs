//! What the page asks of its surroundings: clocks, storage, the document. Asking changes nothing there.

use std::ops::Range;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_client::record::time::Time;

use crate::navigation::address::Address;
use crate::shell::panel::Window;
use crate::table::order::RowKey;

/// The browser, or a test's substitute for it.
pub trait Environment {
    /// Milliseconds since 1970 on a clock that never runs backwards, and goes on while the machine sleeps.
    fn now(&self) -> f64;

    /// By how many milliseconds the clock jumped forward since this was last asked.
    fn take_jump(&self) -> f64;

    /// A random number from 0 to 1, 1 excluded, to spread waits. No secret may depend on it.
    fn random(&self) -> f64;

    /// A random number that nobody can guess.
    fn secret_number(&self) -> u64;

    /// The wall clock, in milliseconds since 1970. It may be wrong.
    fn wall(&self) -> f64;

    /// What is known of the clock of a cluster's API server.
    fn server_clock(&self, cluster: &'static str) -> ServerClock;

    /// The time by the clock of a cluster's API server, which ages are computed from.
    fn server_time(&self, cluster: &'static str) -> Timestamp {
        self.server_clock(cluster).time(self.wall())
    }

    /// A time of [`Environment::now`] as a local time of day, to the millisecond: `13:04:05.678`.
    fn time_of_day(&self, at: f64) -> String {
        let local = ((at + self.zone(at)).floor() as i64).rem_euclid(86_400_000);
        let (hours, minutes, seconds) = (local / 3_600_000, local / 60_000 % 60, local / 1_000 % 60);
        format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", local % 1_000)
    }

    /// The same for a time that may be long ago: with the date and without the seconds where it is more than a day ago, and
    /// the date alone where it is a year or so: `25 Nov 13:04`, `25 Nov 2025`.
    fn date_and_time(&self, at: f64) -> String {
        let (time, days) = (self.time_of_day(at), (self.now() - at) / DAY);
        if days < 1.0 {
            return time;
        }
        let date = Time::from_seconds(((at + self.zone(at)) / 1_000.0) as i64).to_string();
        let number = |range: Range<usize>| date.get(range).and_then(|digits| digits.parse().ok()).unwrap_or(1_usize);
        let month =
            MONTHS.get(3 * number(5..7).clamp(1, 12) - 3..).and_then(|months| months.get(..3)).unwrap_or_default();
        let rest = if days < 300.0 { time.get(..5) } else { date.get(..4) };
        format!("{} {month} {}", number(8..10), rest.unwrap_or_default())
    }

    /// What must be added to a time of [`Environment::now`] to get the local wall clock's, in milliseconds: the wall clock
    /// may have been set, and the local time is ahead of UTC or behind it (`getTimezoneOffset`).
    fn zone(&self, at: f64) -> f64;

    /// The date and time of the wall clock in UTC, as used in file names: `20261122T130405`.
    fn date(&self) -> String;

    /// Whether the page is hidden, so that there are no animation frames.
    fn is_hidden(&self) -> bool;

    /// The size of the program's memory in bytes. It never shrinks.
    fn memory(&self) -> usize;

    /// The size of the window.
    fn window(&self) -> Window;

    /// What was stored under this name, on this visit or an earlier one.
    fn stored(&self, name: &str) -> Option<String>;

    /// What was stored under this name for as long as the tab is open.
    fn stored_in_tab(&self, name: &str) -> Option<String>;

    /// A parameter of the page's address, such as `api` in `?api=`.
    fn parameter(&self, name: &str) -> Option<String>;

    /// The content of the document's meta element of this name. Empty content, and a placeholder in braces that nobody
    /// has filled in, count as none.
    fn named(&self, name: &str) -> Option<String>;

    /// An address, resolved against the page's and split into its parts; `None` for a text that is no address. The
    /// empty text gives the page's own address.
    fn address(&self, text: &str) -> Option<Address>;

    /// The page's whole address, its fragment included.
    fn url(&self) -> String;

    /// Whether a menu is open.
    fn has_menu(&self) -> bool;

    /// What the element that shows a row says.
    fn drawn(&self, row: RowKey) -> Option<DrawnRow>;

    /// The time, and a random number.
    fn moment(&self) -> Moment {
        Moment { now: self.now(), random: self.random() }
    }
}

/// A day, in milliseconds.
const DAY: f64 = 86_400_000.0;
/// The names of the months, of three letters each.
const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// The fragment of an address, its `#` included.
pub fn fragment(url: &str) -> String {
    url.find('#').map_or_else(String::new, |at| url[at..].to_owned())
}

/// What the element of a row says.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnRow {
    /// `namespace/name`.
    pub key: String,
    /// The uid, which tells apart objects that had the name one after the other.
    pub uid: Uid,
    /// `live` or `deleted`.
    pub state: String,
    /// The text of each cell.
    pub cells: Vec<String>,
}

impl DrawnRow {
    /// Whether the element shows this object.
    pub fn is_of(&self, key: &ObjectKey, uid: &Uid) -> bool {
        self.key == key.to_string() && self.uid == *uid
    }
}
