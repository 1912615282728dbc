//! A fresh Chromium under a fresh ChromeDriver, alone in its own folder.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::prelude::*;
use thirtyfour::{BrowserLogEntry, ChromiumLikeCapabilities, LoggingPrefsLogLevel, RequestData, SessionId};

use super::process::{Process, TemporaryFolder};
use super::tools;

/// Without these Chromium looks for its maker's servers, for a GPU and for a sandbox that a container lacks.
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

/// There is a mouse, which hovers and is exact; without a head Chromium has none.
pub const MOUSE: &str =
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";

/// A browser with one tab.
#[derive(Debug)]
pub struct Browser {
    /// The session, for whatever has no word of its own here.
    pub driver: WebDriver,
    // Dropped after the session: the process first, then its files.
    _process: Process,
    _folder: TemporaryFolder,
}

impl Browser {
    /// Starts a browser. Each new page runs `instruments` before any script of its own.
    pub async fn start(instruments: &str) -> Self {
        Self::start_with(instruments, &[]).await
    }

    /// The same with more flags.
    pub async fn start_with(instruments: &str, flags: &[&str]) -> Self {
        let folder = TemporaryFolder::new("chromium");
        let process = Process::start("chromedriver", &tools::chromedriver(), Path::new("."), &["--port=0"]);
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
        let browser = Self { driver, _process: process, _folder: folder };
        browser.driver.set_script_timeout(Duration::from_secs(50)).await.expect("the session takes a timeout");
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": instruments })).await;
        browser
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

    /// Runs an expression that may be a Promise, and returns what becomes of it.
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

    /// Puts another tab before this one, which is then hidden as a user's tab would be.
    pub async fn hide(&self) {
        self.devtools("Target.createTarget", json!({ "url": "about:blank", "background": false })).await;
    }

    /// Brings this tab to the front again.
    pub async fn show(&self) {
        self.devtools("Page.bringToFront", json!({})).await;
    }

    /// What the console got since the last call.
    pub async fn console(&self) -> Vec<BrowserLogEntry> {
        self.driver.browser_log().await.unwrap_or_default()
    }

    /// Ends the session; what is left is killed on drop.
    pub async fn quit(self) {
        // The browser is killed either way: this only spares the log a warning.
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
