//! The page without a browser as a test uses it: the handles that a browser's page gives to tests, and its view.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::LocalSet;

use kubechurn_harness::handles::{Mark, Row, Status, difference};
use kubechurn_harness::truth::Truth;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::page::Page as Model;
use kubechurn_model::page::command::Command;
use kubechurn_model::view::SidebarItem;
use kubechurn_model::view::panels::View;

use crate::shell::Shell;
use crate::shell::place::Place;
use crate::shell::server::{Faults, Server};

/// By how much a page's clock is moved on between two looks, in milliseconds: less than what counts as a machine's sleep.
const STEP: f64 = 1_000.0;

/// A page without a browser.
pub struct Page {
    shell: RefCell<Rc<Shell>>,
    server: Server,
    pub faults: Rc<RefCell<Faults>>,
}

/// Opens the page at the root of a server on this port, with this query and fragment, and has `test` use it. A test that
/// fails prints the page's status.
pub async fn with_page(port: u16, fragment: &str, test: impl AsyncFnOnce(&Page)) {
    with_page_below(port, ["", ""], fragment, test).await;
}

/// [`with_page`], with the server's API and its WebSockets below these paths.
pub async fn with_page_below(port: u16, [api, sockets]: [&str; 2], fragment: &str, test: impl AsyncFnOnce(&Page)) {
    let (query, fragment) = fragment.split_at(fragment.find('#').unwrap_or(fragment.len()));
    let base = format!("http://127.0.0.1:{port}/");
    let act = async {
        let faults = Rc::default();
        let place = Rc::new(Place::at(&format!("{base}{query}"), fragment));
        let server =
            Server::at(&format!("{base}{api}"), &format!("{base}{sockets}"), Rc::clone(&faults), place.clone());
        let page = Page { shell: RefCell::new(Shell::begin(place, server.clone())), server, faults };
        let printed = PrintedOnPanic(&page);
        test(&page).await;
        drop(printed);
    };
    LocalSet::new().run_until(act).await;
}

/// Prints a page's status where the test fails.
struct PrintedOnPanic<'a>(&'a Page);

impl Drop for PrintedOnPanic<'_> {
    fn drop(&mut self) {
        // Where the page itself panicked, it is borrowed for ever.
        let shell = self.0.shell.borrow();
        if std::thread::panicking()
            && let Ok(page) = shell.page.try_borrow()
        {
            eprintln!("the page: {}\n{}", page.reports().status(&*shell.place), page.reports().notices());
        }
    }
}

impl Page {
    fn shell(&self) -> Rc<Shell> {
        Rc::clone(&self.shell.borrow())
    }

    /// Goes to a route of the page, such as `#/pods?ns=a`.
    pub fn open(&self, fragment: &str) {
        let shell = self.shell();
        shell.place.go(fragment);
        shell.command(Command::Arrive(fragment.to_owned()));
    }

    /// Loads the page again.
    pub fn reload(&self) {
        let place = self.shell().place.clone();
        self.shell.replace(Shell::begin(place, self.server.clone()));
    }

    /// Does what the user asks for.
    pub fn command(&self, command: Command) {
        self.shell().command(command);
    }

    /// Sets the clock on the wall, in seconds since 1970.
    pub fn set_wall(&self, seconds: i64) {
        self.shell().place.wall.set(Some(seconds));
    }

    /// Where the page is.
    pub fn place(&self) -> Rc<Place> {
        self.shell().place.clone()
    }

    /// Looks at the page and the place where it is.
    pub fn look<T>(&self, look: impl FnOnce(&Model, &Place) -> T) -> T {
        let shell = self.shell();
        let page = shell.page.borrow();
        look(&page, &shell.place)
    }

    /// What the page shows.
    pub fn view<T>(&self, look: impl FnOnce(&View) -> T) -> T {
        look(self.shell().page.borrow().view())
    }

    /// `kubechurn.status()`.
    pub fn status(&self) -> Vec<Status> {
        let shell = self.shell();
        read_status(&shell.page.borrow(), &shell.place)
    }

    /// The status of one resource, if it is watched.
    pub fn status_of(&self, resource: &str) -> Option<Status> {
        self.status().into_iter().find(|status| status.resource == resource)
    }

    /// One field of the status of a resource.
    pub fn field(&self, resource: &str, name: &str) -> Value {
        let shell = self.shell();
        let all: Vec<Value> = read(&shell.page.borrow().reports().status(&*shell.place));
        all.into_iter().find(|one| one["resource"] == resource).map_or(Value::Null, |mut one| one[name].take())
    }

    /// `kubechurn.rows(resource)`.
    pub fn rows(&self, resource: &str) -> Vec<Row> {
        let shell = self.shell();
        let rows = shell.page.borrow().reports().rows_of(resource, &*shell.place);
        read(&rows.unwrap_or_else(|| panic!("{resource} is not watched")))
    }

    /// The words of the notices of one type.
    pub fn notices(&self, word: &str) -> Vec<String> {
        self.notices_where(|one| one["type"] == word)
    }

    /// The words of some of `kubechurn.notices()`.
    pub fn notices_where(&self, is_it: impl Fn(&Value) -> bool) -> Vec<String> {
        let all: Vec<Value> = read(&self.shell().page.borrow().reports().notices());
        let own = all.iter().filter(|one| is_it(one));
        own.map(|one| one["words"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// `kubechurn.marks(resource)`.
    pub fn marks(&self, resource: &str) -> Vec<Mark> {
        read(&self.shell().page.borrow().reports().marks_of(resource).unwrap_or_default())
    }

    /// The keys of the rows that are drawn as live.
    pub fn drawn(&self) -> Vec<String> {
        let place = self.place();
        let drawn = place.drawn.borrow();
        drawn.values().filter(|row| row.state == "live").map(|row| row.key.clone()).collect()
    }

    /// From now on looks at the page after everything that it does.
    pub fn watch(&self, look: impl FnMut(&Model, &Place) + 'static) {
        self.shell().witness.replace(Some(Box::new(look)));
    }

    /// `kubechurn.digest(resource)`.
    pub fn digest(&self, resource: &str) -> String {
        self.shell().page.borrow().reports().digest_of(resource).unwrap_or_default()
    }

    /// What the sidebar says of a kind.
    pub fn in_the_sidebar(&self, kind: &str) -> Option<SidebarItem> {
        self.view(|view| view.sidebar.items.iter().find(|item| item.name == kind).cloned())
    }

    /// Waits until `resource` is in `state`.
    pub async fn reaches(&self, resource: &str, state: &str, within: Duration) -> Status {
        wait_until(&format!("{resource} is {state}"), within, async || self.is_in(resource, state)).await
    }

    fn is_in(&self, resource: &str, state: &str) -> Result<Status, String> {
        match self.status_of(resource) {
            Some(status) if status.state == state && (state != "live" || status.synced) => Ok(status),
            other => Err(format!("{other:?}")),
        }
    }

    /// Waits until `resource` is in `state`, while the page's clock runs many times as fast.
    pub async fn comes_to(&self, resource: &str, state: &str, within: Duration) -> Status {
        self.in_time(&format!("{resource} is {state}"), within, async || self.is_in(resource, state)).await
    }

    /// Waits as [`wait_until`] does, and moves the page's clock on with each look. What the page does again after half a
    /// minute is so seen after one or two seconds.
    pub async fn in_time<T>(
        &self,
        what: &str,
        within: Duration,
        mut condition: impl AsyncFnMut() -> Result<T, String>,
    ) -> T {
        wait_until(what, within, async || {
            let outcome = condition().await;
            if outcome.is_err() {
                self.shell().skip(STEP);
            }
            outcome
        })
        .await
    }

    /// Waits until `resource` is stale and its queue is empty. From then on the rows do not change.
    pub async fn is_left_with(&self, resource: &str, within: Duration) -> Vec<Row> {
        wait_until(&format!("{resource} is stale, and its queue empty"), within, async || {
            let status = self.status_of(resource);
            let is_so = |status: &Status| status.state == "stale" && status.ledger["queued"] == 0;
            holds(status.as_ref().is_some_and(is_so), || format!("{status:?}"))
        })
        .await;
        self.rows(resource)
    }

    /// Waits until the table's own count is `shown / total`.
    pub async fn counts(&self, shown: usize, total: usize) {
        wait_until("the row count", Duration::from_secs(5), async || {
            let count = self.view(|view| view.table.count.replace([',', '\u{202f}', '\u{2009}'], ""));
            holds(count == format!("{shown} / {total}"), || format!("{count}, not {shown} / {total}"))
        })
        .await;
    }

    /// Whether the page itself says that every frame is accounted for.
    pub async fn is_balanced(&self) {
        wait_until("the ledger is balanced", Duration::from_secs(5), async || {
            self.view(|view| holds(view.footer.pipeline.balanced, || view.footer.pipeline.ledger.clone()))
        })
        .await;
    }

    /// Waits until the page holds exactly what `truth` lists.
    pub async fn shows(&self, resource: &str, truth: &Truth, within: Duration) {
        wait_until(&format!("{resource} equal an independent LIST"), within, async || {
            holds(self.digest(resource) == truth.digest(), || difference(&self.rows(resource), truth))
        })
        .await;
    }
}

/// `kubechurn.status()` of a page at this place.
pub fn read_status(page: &Model, place: &Place) -> Vec<Status> {
    read(&page.reports().status(place))
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
