//! What the page asks its surroundings: clocks, storage and the address, without a browser.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Instant, SystemTime};

use kubechurn_client::cache::clock::whole_microseconds;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_model::navigation::address::Address;
use kubechurn_model::page::environment::{DrawnRow, Environment};
use kubechurn_model::shell::panel::Window;
use kubechurn_model::table::order::RowKey;

/// Where the page is.
pub struct Place {
    /// When the place was made, and that time in milliseconds since 1970.
    began: (Instant, f64),
    /// How much of the time the test has skipped, in milliseconds.
    skipped: Cell<f64>,
    /// What the clock on the wall shows, where the test has set it.
    pub wall: Cell<Option<i64>>,
    /// By how many milliseconds the clock on the wall is wrong.
    pub off: Cell<f64>,
    /// The clock of the API server.
    clock: Cell<ServerClock>,
    /// The address without its fragment, and the fragment.
    url: RefCell<(String, String)>,
    stored: RefCell<BTreeMap<String, String>>,
    /// When which address was asked over HTTP.
    pub sent: RefCell<Vec<(f64, String)>>,
    /// What the rows in the document say.
    pub drawn: RefCell<BTreeMap<RowKey, DrawnRow>>,
}

impl Place {
    /// A page's place at this address.
    pub fn at(base: &str, fragment: &str) -> Place {
        let wall = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is past 1970");
        Place {
            began: (Instant::now(), wall.as_secs_f64() * 1_000.0),
            skipped: Cell::default(),
            wall: Cell::default(),
            off: Cell::default(),
            clock: Cell::default(),
            url: RefCell::new((base.to_owned(), fragment.to_owned())),
            stored: RefCell::default(),
            sent: RefCell::default(),
            drawn: RefCell::default(),
        }
    }

    /// The time, of which nothing was skipped.
    fn time(&self) -> f64 {
        let (began, wall) = self.began;
        wall + began.elapsed().as_secs_f64() * 1_000.0
    }

    /// Moves the page's clock on. Ages are by the clock on the wall, which stays with the cluster's.
    pub fn skip(&self, milliseconds: f64) {
        self.skipped.set(self.skipped.get() + milliseconds);
    }

    /// An answer of the API server has this `Date` header, and was asked for at this time of [`Environment::wall`].
    pub fn dated(&self, date: Option<&str>, asked: f64) {
        let mut clock = self.clock.get();
        date.iter().for_each(|date| clock.answered(date, asked, self.wall()));
        self.clock.set(clock);
    }

    /// Puts a fragment into the address.
    pub fn go(&self, fragment: &str) {
        self.url.borrow_mut().1 = fragment.to_owned();
    }

    /// Keeps a value, or removes it.
    pub fn store(&self, name: String, value: Option<String>) {
        match value {
            Some(value) => drop(self.stored.borrow_mut().insert(name, value)),
            None => drop(self.stored.borrow_mut().remove(&name)),
        }
    }
}

impl Environment for Place {
    fn now(&self) -> f64 {
        whole_microseconds(self.time() + self.skipped.get())
    }

    fn take_jump(&self) -> f64 {
        0.0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn secret_number(&self) -> u64 {
        7
    }

    fn wall(&self) -> f64 {
        self.wall.get().map_or_else(|| self.time() + self.off.get(), |seconds| seconds as f64 * 1_000.0)
    }

    fn server_clock(&self, _cluster: &'static str) -> ServerClock {
        // A test that sets the clock compares ages with what a server printed at that time.
        if self.wall.get().is_some() { ServerClock::default() } else { self.clock.get() }
    }

    fn to_wall(&self) -> f64 {
        0.0
    }

    fn ahead(&self, _wall: f64) -> f64 {
        0.0
    }

    fn zone_name(&self) -> String {
        String::from("Etc/Greenwich")
    }

    fn is_hidden(&self) -> bool {
        false
    }

    fn memory(&self) -> usize {
        0
    }

    fn window(&self) -> Window {
        Window { width: 1_600.0, height: 1_000.0 }
    }

    fn stored(&self, name: &str) -> Option<String> {
        self.stored.borrow().get(name).cloned()
    }

    fn stored_in_tab(&self, name: &str) -> Option<String> {
        self.stored(&format!("tab {name}"))
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let url = self.url.borrow();
        let query = url.0.split_once('?')?.1;
        query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    fn named(&self, _name: &str) -> Option<String> {
        None
    }

    fn address(&self, text: &str) -> Option<Address> {
        let own = self.url.borrow().0.clone();
        let origin = own.match_indices('/').nth(2).map_or(own.as_str(), |(at, _)| &own[..at]).to_owned();
        let text = match text.strip_prefix("./").or_else(|| text.strip_prefix('/')) {
            Some(below) => format!("{origin}/{below}"),
            None if text.is_empty() => own,
            None => text.to_owned(),
        };
        let (scheme, rest) = text.split_once("://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let name = host.split(':').next().unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let [scheme, name, host, path] = [scheme, name, host, path].map(str::to_owned);
        Some(Address { scheme, name, host, path, has_user: false })
    }

    fn url(&self) -> String {
        let url = self.url.borrow();
        format!("{}{}", url.0, url.1)
    }

    fn has_menu(&self) -> bool {
        false
    }

    fn drawn(&self, row: RowKey) -> Option<DrawnRow> {
        self.drawn.borrow().get(&row).cloned()
    }
}
