//! A Chromium with its ChromeDriver, in a folder of its own. A test whose page did well leaves its browser to the next one,
//! which gets a new tab in it.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::prelude::*;
use thirtyfour::{BrowserLogEntry, ChromiumLikeCapabilities, LoggingPrefsLogLevel, Rect, RequestData, SessionId};

use super::ports::free_port;
use super::process::{Process, TemporaryFolder};
use super::tools;

/// Flags without which Chromium asks its maker's servers, and wants a GPU and a sandbox that a container does not have.
const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--window-size=1440,900",
];

/// Flags that say that there is a mouse, which can hover and is exact: a headless Chromium has none otherwise.
pub const MOUSE: &str =
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";

/// The browsers without further flags that wait for a test, each with one empty tab. Each page has a port of its own and so an
/// origin of its own: what a page has stored is out of the next one's reach.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

/// A browser with one tab.
#[derive(Debug)]
pub struct Browser {
    /// The session, for whatever has no method here.
    pub driver: WebDriver,
    /// Where its window is, and how large.
    window: Rect,
    /// Whether it has further flags.
    has_flags: bool,
    // These are dropped after the session: first the process, then its files.
    process: Process,
    _folder: TemporaryFolder,
}

impl Browser {
    /// Starts a browser, or takes one that another test has left. Each new page runs `instruments` before any script of its
    /// own.
    pub async fn start(instruments: &str) -> Self {
        let idle = IDLE.lock().expect("no holder panics").pop();
        let browser = match idle {
            Some(browser) => browser,
            None => Self::launch(&[]).await,
        };
        browser.instrument(instruments).await
    }

    /// Starts a browser with further flags.
    pub async fn start_with(instruments: &str, flags: &[&str]) -> Self {
        Self::launch(flags).await.instrument(instruments).await
    }

    async fn instrument(self, instruments: &str) -> Self {
        let script = json!({ "source": instruments });
        let done = self.command("Page.addScriptToEvaluateOnNewDocument", script).await;
        done.unwrap_or_else(|error| panic!("the browser takes no script: {error}"));
        self
    }

    async fn launch(flags: &[&str]) -> Self {
        let folder = TemporaryFolder::new("chromium");
        // A port that the driver chose by itself may be taken by another program before it listens there.
        let port = format!("--port={}", free_port());
        let process = Process::start("chromedriver", &tools::chromedriver(), Path::new("."), &[&port]);
        let port = process.line_after("was started successfully on port").await;
        let mut capabilities = DesiredCapabilities::chrome();
        let prepared = (|| {
            capabilities.set_binary(tools::chrome().to_str().unwrap_or("chromium"))?;
            for flag in FLAGS.iter().chain(flags) {
                capabilities.add_arg(flag)?;
            }
            capabilities.add_arg(&format!("--user-data-dir={}", folder.path().display()))?;
            capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)
        })();
        prepared.expect("the capabilities are well formed");
        // A connection belongs to the runtime of the test that has opened it, so none is kept for the next test.
        let client = Client::builder().timeout(Duration::from_secs(60)).pool_max_idle_per_host(0).build();
        let driver = WebDriver::builder(format!("http://127.0.0.1:{}", port.trim_end_matches('.')), capabilities)
            .client(client.expect("an HTTP client can be made"))
            .await
            .unwrap_or_else(|error| panic!("Chromium does not start: {error}"));
        driver.set_script_timeout(Duration::from_secs(50)).await.expect("the session takes a timeout");
        let window = driver.get_window_rect().await.expect("there is a window");
        Self { driver, window, has_flags: !flags.is_empty(), process, _folder: folder }
    }

    /// The process whose descendants are the browser's processes.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a command of the Chrome DevTools Protocol to the tab. What it sets ends with the tab.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let answer = self.command(command, parameters).await;
        answer.unwrap_or_else(|error| panic!("DevTools refuse {command}: {error}"))
    }

    async fn command(&self, command: &str, parameters: Value) -> WebDriverResult<Value> {
        let request = DevTools { command: command.to_owned(), parameters };
        self.driver.cmd(request).await?.value()
    }

    /// Runs a script in the page and returns its value.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        let answer = self.driver.execute(script, arguments).await;
        answer.unwrap_or_else(|error| panic!("the page refuses `{script}`: {error}")).json().clone()
    }

    /// Evaluates an expression. Where that gives a Promise, waits for its value, and returns that.
    pub async fn resolve(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             Promise.resolve().then(() => ({expression})).then(
                 value => done({{ value }}), error => done({{ error: String(error) }}));"
        );
        let answer = self.driver.execute_async(script, Vec::new()).await;
        let answer = answer.unwrap_or_else(|error| panic!("the page refuses `{expression}`: {error}"));
        match answer.json().get("error") {
            Some(error) => panic!("`{expression}` fails in the page: {error}"),
            None => answer.json().get("value").cloned().unwrap_or(Value::Null),
        }
    }

    /// Opens another tab in front of this one, which is then hidden.
    pub async fn hide(&self) {
        self.open_tab().await.unwrap_or_else(|error| panic!("there is no other tab: {error}"));
    }

    /// Brings this tab to the front again.
    pub async fn show(&self) {
        let shown = self.command("Page.bringToFront", json!({})).await;
        shown.unwrap_or_else(|error| panic!("the tab stays hidden: {error}"));
    }

    /// The lines of the console since the last call.
    pub async fn console(&self) -> Vec<BrowserLogEntry> {
        self.driver.browser_log().await.unwrap_or_default()
    }

    /// Leaves the browser to the next test, if that finds nothing of this one in it.
    pub async fn leave(self) {
        if !self.has_flags && self.has_new_tab().await.unwrap_or(false) {
            IDLE.lock().expect("no holder panics").push(self);
        } else {
            self.quit().await;
        }
    }

    /// Replaces all tabs by a new one. Returns whether the browser is then as it was at its start.
    async fn has_new_tab(&self) -> WebDriverResult<bool> {
        let old = self.driver.windows().await?;
        self.open_tab().await?;
        let windows = self.driver.windows().await?;
        for window in &old {
            self.driver.switch_to_window(window.clone()).await?;
            self.driver.close_window().await?;
        }
        let Some(new) = windows.into_iter().find(|window| !old.contains(window)) else { return Ok(false) };
        self.driver.switch_to_window(new).await?;
        self.driver.browser_log().await?;
        if self.driver.get_window_rect().await? != self.window {
            let Rect { x, y, width, height } = self.window;
            self.driver.set_window_rect(x, y, width as u32, height as u32).await?;
        }
        Ok(self.driver.get_window_rect().await? == self.window)
    }

    async fn open_tab(&self) -> WebDriverResult<Value> {
        self.command("Target.createTarget", json!({ "url": "about:blank", "background": false })).await
    }

    /// Ends the session. The processes are killed when this is dropped.
    pub async fn quit(self) {
        // The browser is killed in any case. To end the session first spares the log a warning.
        let _ = self.driver.clone().quit().await;
    }
}

#[derive(Debug)]
struct DevTools {
    command: String,
    parameters: Value,
}

impl FormatRequestData for DevTools {
    fn format_request(&self, session: &SessionId) -> RequestData {
        RequestData::new(Method::POST, format!("/session/{session}/goog/cdp/execute"))
            .add_body(json!({ "cmd": self.command, "params": self.parameters }))
    }
}
