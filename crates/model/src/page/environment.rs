//! What the page asks of its surroundings: clocks, storage, the document. Asking changes nothing there.

use std::fmt;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::server_clock::ServerClock;

use crate::navigation::address::Address;
use crate::shell::panel::Window;
use crate::table::order::RowKey;

/// The browser, or a test's substitute for it.
pub trait Environment {
    /// Milliseconds since 1970 on a clock that never runs backwards, and goes on while the machine sleeps.
    fn now(&self) -> f64;

    /// A clock in milliseconds that goes on while something is done, by which is limited what is done at once. The time of a
    /// recording stands still while its lines are read.
    fn work_clock(&self) -> f64 {
        self.now()
    }

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

    /// What must be added to a time of [`Environment::now`] to get the wall clock's, in milliseconds: it may have been set.
    fn to_wall(&self) -> f64;

    /// By how many milliseconds the local time is ahead of UTC at a time of the wall clock.
    fn ahead(&self, wall: f64) -> f64;

    /// The name of the local time zone, such as `Europe/Berlin`; empty where the browser does not report it.
    fn zone_name(&self) -> String;

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

/// The surroundings of a page that shows a recording: those of another page, but for the time, and for where a cluster would be.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// The surroundings of the other page.
    pub around: &'a dyn Environment,
    /// The time, in milliseconds since 1970 by the clock of whoever recorded.
    pub now: f64,
    /// By how many milliseconds the API server's clock was ahead of it.
    pub ahead: f64,
}

impl fmt::Debug for Recorded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("now", &self.now).field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl Environment for Recorded<'_> {
    fn now(&self) -> f64 {
        self.now
    }
    fn work_clock(&self) -> f64 {
        self.around.work_clock()
    }
    fn take_jump(&self) -> f64 {
        0.0
    }
    fn random(&self) -> f64 {
        0.0
    }
    fn secret_number(&self) -> u64 {
        self.around.secret_number()
    }
    fn wall(&self) -> f64 {
        self.now + self.ahead
    }
    fn server_clock(&self, _: &'static str) -> ServerClock {
        ServerClock::default()
    }
    fn to_wall(&self) -> f64 {
        0.0
    }
    fn ahead(&self, wall: f64) -> f64 {
        self.around.ahead(wall)
    }
    fn zone_name(&self) -> String {
        self.around.zone_name()
    }
    fn is_hidden(&self) -> bool {
        self.around.is_hidden()
    }
    fn memory(&self) -> usize {
        self.around.memory()
    }
    fn window(&self) -> Window {
        self.around.window()
    }
    fn stored(&self, name: &str) -> Option<String> {
        self.around.stored(name)
    }
    fn stored_in_tab(&self, name: &str) -> Option<String> {
        self.around.stored_in_tab(name)
    }
    fn parameter(&self, _: &str) -> Option<String> {
        None
    }
    fn named(&self, _: &str) -> Option<String> {
        None
    }
    fn address(&self, text: &str) -> Option<Address> {
        self.around.address(text)
    }
    fn url(&self) -> String {
        self.around.url()
    }
    fn has_menu(&self) -> bool {
        self.around.has_menu()
    }
    fn drawn(&self, row: RowKey) -> Option<DrawnRow> {
        self.around.drawn(row)
    }
}

/// The fragment of an address, its `#` included.
pub fn fragment(url: &str) -> String {
    url.find('#').map_or_else(String::new, |at| url[at..].to_owned())
}

/// What the element of a row says.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnRow {
    /// `namespace/name`.
    pub key: String,
    /// The uid, which distinguishes objects that had the name one after the other.
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
