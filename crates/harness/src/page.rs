//! The page in a browser, used through what docs/guide/handles.md promises to tests, and what is printed and kept when a test fails.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thirtyfour::TypingData;
use thirtyfour::prelude::*;

use super::browser::Browser;
use super::handles::{Mark, Row, Status, difference};
use super::tools;
use super::truth::Truth;
use super::wait::{holds, wait_until};

/// The longest time that counts as "at once" on a busy machine.
pub const AT_ONCE: Duration = Duration::from_secs(3);

/// A script that runs in every page before the page's own. It keeps the memory of the wasm module where a test finds it, for
/// the browser's figures for a page do not include that memory.
pub const INSTRUMENTS: &str = "
    for (const name of ['instantiate', 'instantiateStreaming']) {
        const original = WebAssembly[name];
        WebAssembly[name] = (...given) => original.apply(WebAssembly, given).then(result => {
            const exports = (result.instance ?? result).exports;
            window.__memory = exports.memory;
            // How many JavaScript values the program holds. Their table grows in large steps, and a free place holds null.
            const table = exports.__wbindgen_externrefs;
            window.__values = () => {
                let held = 0;
                for (let at = 0; at < table.length; at++) if (table.get(at) != null) held++;
                return held;
            };
            return result;
        });
    }";

/// A script that keeps what the page copies to the clipboard ([`COPIED`]) or saves as files ([`Page::gives`]) where a test finds
/// it.
pub const GIVEN: &str = "
    navigator.clipboard.writeText = async text => { window.__copied = text };
    const original = URL.createObjectURL;
    URL.createObjectURL = blob => { window.__blob = blob; return original.call(URL, blob) };
    HTMLAnchorElement.prototype.click = function() { window.__file = this.download };";

/// What a page with [`GIVEN`] copied last.
pub const COPIED: &str = "return window.__copied ?? null";

/// The titles of the columns.
pub const HEADS: &str = "return [...document.querySelectorAll('[role=columnheader]')].map(head => head.dataset.col)";

/// A page in a browser.
#[derive(Debug)]
pub struct Page {
    /// The browser in which the page is.
    pub browser: Browser,
    url: String,
}

/// Opens `url` with `hash` in a new tab, and has `test` use the page. If the test fails, the page's status and console are
/// printed after its message, and a screenshot is kept. A test fails if the page panicked.
pub async fn with_page(name: &str, url: &str, hash: &str, test: impl AsyncFnOnce(&Page)) {
    with_page_in(Browser::start(INSTRUMENTS).await, name, url, hash, test).await;
}

/// [`with_page`] in a browser that was started with [`INSTRUMENTS`].
pub async fn with_page_in(browser: Browser, name: &str, url: &str, hash: &str, test: impl AsyncFnOnce(&Page)) {
    let page = Page { browser, url: url.to_owned() };
    let outcome = AssertUnwindSafe(async {
        page.open(hash).await;
        test(&page).await;
        page.has_not_panicked().await;
    })
    .catch_unwind()
    .await;
    if let Err(panic) = outcome {
        page.explain(name, panic.as_ref()).await;
        page.browser.quit().await;
        resume_unwind(panic);
    }
    page.browser.leave().await;
}

impl Page {
    /// Goes to a route of the page, such as `#/pods?ns=a`.
    pub async fn open(&self, hash: &str) {
        let url = format!("{}{hash}", self.url);
        self.browser.driver.goto(&url).await.unwrap_or_else(|error| panic!("{url} does not load: {error}"));
    }

    /// `kubechurn.status()`; empty until the page has put it there.
    pub async fn status(&self) -> Vec<Status> {
        self.read("return window.kubechurn?.status?.() ?? []", Vec::new()).await
    }

    /// The status of one resource, if it is watched.
    pub async fn status_of(&self, resource: &str) -> Option<Status> {
        self.status().await.into_iter().find(|status| status.resource == resource)
    }

    /// `kubechurn.rows(resource)`.
    pub async fn rows(&self, resource: &str) -> Vec<Row> {
        self.read("return kubechurn.rows(arguments[0])", vec![resource.into()]).await
    }

    /// `kubechurn.marks(resource)`.
    pub async fn marks(&self, resource: &str) -> Vec<Mark> {
        self.read("return kubechurn.marks(arguments[0])", vec![resource.into()]).await
    }

    /// `kubechurn.digest(resource)`.
    pub async fn digest(&self, resource: &str) -> String {
        let digest = self.browser.resolve(&format!("kubechurn.digest('{resource}')")).await;
        digest.as_str().unwrap_or_else(|| panic!("the digest is {digest}")).to_owned()
    }

    /// Waits until the page says that `resource` is in `state`.
    pub async fn reaches(&self, resource: &str, state: &str, within: Duration) -> Status {
        wait_until(&format!("{resource} is {state}"), within, async || match self.status_of(resource).await {
            Some(status) if status.state == state && (state != "live" || status.synced) => Ok(status),
            other => Err(format!("{other:?}")),
        })
        .await
    }

    /// Waits until `resource` is stale and its queue is empty. From then on the rows do not change.
    pub async fn is_left_with(&self, resource: &str, within: Duration) -> Vec<Row> {
        wait_until(&format!("{resource} is stale, and its queue empty"), within, async || {
            let status = self.status_of(resource).await;
            let is_so = |status: &Status| status.state == "stale" && status.ledger["queued"] == 0;
            holds(status.as_ref().is_some_and(is_so), || format!("{status:?}"))
        })
        .await;
        self.rows(resource).await
    }

    /// Waits until the page holds exactly what `truth` lists.
    pub async fn shows(&self, resource: &str, truth: &Truth, within: Duration) {
        let expected = truth.digest();
        wait_until(&format!("{resource} equal an independent LIST"), within, async || {
            let digest = self.digest(resource).await;
            if digest == expected {
                return Ok(());
            }
            let rows = self.rows(resource).await;
            Err(difference(&rows, truth))
        })
        .await;
    }

    /// Waits until the table's own count is `shown / total`.
    pub async fn counts(&self, shown: usize, total: usize) {
        let expected = format!("{shown} / {total}");
        wait_until("the row count", Duration::from_secs(5), async || {
            let count = self.row_count().await;
            holds(count == expected, || format!("{count}, not {expected}"))
        })
        .await;
    }

    /// Waits until the table counts exactly these rows of this many, and draws no other row.
    pub async fn shows_only(&self, what: &str, keys: &BTreeSet<&str>, total: usize, within: Duration) {
        let expected = format!("{} / {total}", keys.len());
        wait_until(what, within, async || {
            let (count, drawn) = (self.row_count().await, self.drawn().await);
            let strangers: Vec<&String> = drawn.iter().filter(|key| !keys.contains(key.as_str())).collect();
            let is_so = count == expected && strangers.is_empty() && drawn.is_empty() == keys.is_empty();
            holds(is_so, || format!("{count}, not {expected}; {} drawn; not meant: {strangers:?}", drawn.len()))
        })
        .await;
    }

    /// The table's own count. It may have separators between thousands.
    async fn row_count(&self) -> String {
        self.text("row-count").await.replace([',', '\u{202f}', '\u{2009}'], "")
    }

    /// Whether the page itself says that every frame is accounted for.
    pub async fn is_balanced(&self) {
        wait_until("the ledger is balanced", Duration::from_secs(5), async || {
            let balanced = self.attribute("ledger", "data-balanced").await;
            holds(balanced.as_deref() == Some("true"), || format!("data-balanced={balanced:?}"))
        })
        .await;
    }

    /// The text of the element with this `data-testid`, or nothing if there is none.
    pub async fn text(&self, handle: &str) -> String {
        let script = "return document.querySelector(`[data-testid=\"${arguments[0]}\"]`)?.textContent ?? ''";
        let text: String = self.read(script, vec![handle.into()]).await;
        text.trim().to_owned()
    }

    /// An attribute of the element with this `data-testid`.
    pub async fn attribute(&self, handle: &str, name: &str) -> Option<String> {
        let script =
            "return document.querySelector(`[data-testid=\"${arguments[0]}\"]`)?.getAttribute(arguments[1]) ?? null";
        self.read(script, vec![handle.into(), name.into()]).await
    }

    /// Waits for the element with this `data-testid`, and returns it.
    pub async fn element(&self, handle: &str) -> WebElement {
        let selector = format!("[data-testid=\"{handle}\"]");
        wait_until(&format!("the page has {selector}"), Duration::from_secs(10), async || {
            self.browser.driver.find(By::Css(&selector)).await.map_err(|error| error.to_string())
        })
        .await
    }

    /// Clicks the element with this `data-testid` as a user would.
    pub async fn click(&self, handle: &str) {
        let element = self.element(handle).await;
        element.click().await.unwrap_or_else(|error| panic!("{handle} cannot be clicked: {error}"));
    }

    /// Presses keys as a user does: the element that has the focus gets them.
    pub async fn press(&self, keys: impl Into<TypingData>) {
        self.browser.driver.action_chain().send_keys(keys).perform().await.expect("keys can be pressed");
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.browser.driver.refresh().await.expect("the page reloads");
    }

    /// Waits until a script returns what is expected, at most for as long as counts as "at once".
    pub async fn becomes(&self, what: &str, script: &str, expected: Value) {
        wait_until(what, AT_ONCE, async || {
            let value = self.browser.run(script, Vec::new()).await;
            holds(value == expected, || format!("{value}, not {expected}"))
        })
        .await;
    }

    /// Runs a script in the page and reads its value.
    pub async fn read<T: DeserializeOwned>(&self, script: &str, arguments: Vec<Value>) -> T {
        let value = self.browser.run(script, arguments).await;
        T::deserialize(&value).unwrap_or_else(|error| panic!("`{script}` returned {value}: {error}"))
    }

    /// The keys of the rows that are drawn as live, from the top down.
    pub async fn drawn(&self) -> Vec<String> {
        let script = "return [...document.querySelectorAll('[role=row][data-state=live]')]
            .map(row => [row.getBoundingClientRect().top, row.dataset.key])
            .sort(([above], [below]) => above - below)
            .map(([, key]) => key)";
        self.read(script, Vec::new()).await
    }

    /// Waits until [`Page::drawn`] has rows. A live resource is in the store, but may not be drawn yet.
    pub async fn has_rows(&self) -> Vec<String> {
        wait_until("rows are drawn", AT_ONCE, async || {
            let drawn = self.drawn().await;
            if drawn.is_empty() { Err("none".to_owned()) } else { Ok(drawn) }
        })
        .await
    }

    /// Waits for two frames. The page takes in what happened in the first, and has painted it by the second.
    pub async fn painted(&self) {
        let frames = "new Promise(painted => requestAnimationFrame(() => requestAnimationFrame(painted)))";
        self.browser.resolve(frames).await;
    }

    /// Waits until a page with [`GIVEN`] saves a file with the right name, and returns the text of that file.
    pub async fn gives(&self, is_it: impl Fn(&str) -> bool, within: Duration) -> String {
        wait_until("a file is given away", within, async || {
            let name: Option<String> = self.read("return window.__file ?? null", Vec::new()).await;
            holds(name.as_deref().is_some_and(&is_it), || format!("{name:?}"))
        })
        .await;
        let text = self.browser.resolve("(delete window.__file, window.__blob.text())").await;
        text.as_str().expect("a file of text").to_owned()
    }

    /// Drops a file on a page with [`GIVEN`]: the one that the page has saved last, or one with this text.
    pub async fn drop_file(&self, text: Option<&str>) {
        let script = "
            const [text] = arguments;
            const data = new DataTransfer();
            data.items.add(new File([text ?? window.__blob], 'run.churn'));
            window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))";
        self.browser.run(script, vec![text.into()]).await;
    }

    /// The URL's hash.
    pub async fn hash(&self) -> String {
        self.read("return location.hash", Vec::new()).await
    }

    async fn has_not_panicked(&self) {
        for entry in self.browser.console().await {
            // The console also reports each refused request as an error, and that of another origin as one of the script.
            // Such requests are a part of the tests, and may be reported until the page is left.
            let refused = entry.message.contains("has been blocked by CORS policy");
            // A file that was fetched beforehand is used late on a busy machine, and never by a page that does not start in a frame.
            let is_late = entry.message.contains("was preloaded using link preload but not used");
            let script = entry.source.as_deref() == Some("javascript") && !refused && !is_late;
            let ours = script || entry.message.contains("panicked at");
            assert!(!ours, "the page fell over: {}", entry.message);
        }
    }

    async fn explain(&self, name: &str, panic: &(dyn Any + Send)) {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|&words| words.to_owned()));
        eprintln!("\n{name} failed: {}", words.unwrap_or_default());
        // Nothing here may panic, for the page itself may be what failed.
        let script = "return [location.href, document.title, JSON.stringify(window.kubechurn?.status?.() ?? null)]";
        match self.browser.driver.execute(script, Vec::new()).await {
            Ok(answer) => eprintln!("  page: {}", answer.json()),
            Err(error) => eprintln!("  the page does not answer: {error}"),
        }
        let console = self.browser.console().await;
        for entry in console.iter().rev().take(20).rev() {
            eprintln!("  console: {} {}", entry.level, entry.message);
        }
        let folder = tools::project_file("target/browser-failures");
        let file = folder.join(format!("{name}.png"));
        let taken = self.browser.driver.screenshot_as_png().await.map_err(|error| error.to_string());
        let kept = taken.and_then(|png| {
            fs::create_dir_all(&folder).and_then(|()| fs::write(&file, png)).map_err(|error| error.to_string())
        });
        match kept {
            Ok(()) => eprintln!("  screenshot: {}", file.display()),
            Err(error) => eprintln!("  no screenshot: {error}"),
        }
    }
}
