//! A new Chromium with a new ChromeDriver, in a folder of its own.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::prelude::*;
use thirtyfour::{BrowserLogEntry, ChromiumLikeCapabilities, LoggingPrefsLogLevel, RequestData, SessionId};

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

/// A browser with one tab.
#[derive(Debug)]
pub struct Browser {
    /// The session, for whatever has no method here.
    pub driver: WebDriver,
    // These are dropped after the session: first the process, then its files.
    process: Process,
    _folder: TemporaryFolder,
}

impl Browser {
    /// Starts a browser. Each new page runs `instruments` before any script of its own.
    pub async fn start(instruments: &str) -> Self {
        Self::start_with(instruments, &[]).await
    }

    /// Starts a browser with further flags.
    pub async fn start_with(instruments: &str, flags: &[&str]) -> Self {
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
        let driver = WebDriver::builder(format!("http://127.0.0.1:{}", port.trim_end_matches('.')), capabilities)
            .request_timeout(Duration::from_secs(60))
            .await
            .unwrap_or_else(|error| panic!("Chromium does not start: {error}"));
        let browser = Self { driver, process, _folder: folder };
        browser.driver.set_script_timeout(Duration::from_secs(50)).await.expect("the session takes a timeout");
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": instruments })).await;
        browser
    }

    /// The process whose descendants are the browser's processes.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a command of the Chrome DevTools Protocol to the tab.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let request = DevTools { command: command.to_owned(), parameters };
        let answer = self.driver.cmd(request).await.and_then(|response| response.value());
        answer.unwrap_or_else(|error| panic!("DevTools refuse {command}: {error}"))
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
        self.devtools("Target.createTarget", json!({ "url": "about:blank", "background": false })).await;
    }

    /// Brings this tab to the front again.
    pub async fn show(&self) {
        self.devtools("Page.bringToFront", json!({})).await;
    }

    /// The lines of the console since the last call.
    pub async fn console(&self) -> Vec<BrowserLogEntry> {
        self.driver.browser_log().await.unwrap_or_default()
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
