//! The demo cluster as a test uses it: a test starts it with a seed, changes its rate, breaks it, and asks it directly, without
//! a proxy.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::ports::free_port;
use super::process::{Process, port_closed};
use super::tools;
use super::truth::Truth;
use super::wait::{holds, wait_until};

/// How a demo cluster is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// What happens in the cluster: a storm of generated events, or names of scenarios, as `--scenario` takes them.
    pub scenario: &'static str,
    /// Pods at the start.
    pub pods: u32,
    /// Events a second of a storm, over all kinds.
    pub rate: u32,
    /// The seed of what happens.
    pub seed: u64,
    /// The revision from which it begins to count.
    pub first_revision: u64,
    /// Seconds between two bookmarks.
    pub bookmark_seconds: u32,
    /// The file of its `--ledger`, in which it notes what it writes and sends.
    pub ledger: Option<PathBuf>,
    /// The file of its `--audit`, its log of requests.
    pub audit: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        let (ledger, audit) = (None, None);
        Self { scenario: "storm", pods: 100, rate: 0, seed: 1, first_revision: 1, bookmark_seconds: 5, ledger, audit }
    }
}

/// A running demo cluster.
#[derive(Debug)]
pub struct Cluster {
    process: Option<Process>,
    port: u16,
    http: Client,
}

/// One entry of the cluster's own log of writes.
#[derive(Debug, Clone, Deserialize)]
pub struct Write {
    /// The revision that it made.
    pub revision: u64,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `namespace/name`.
    pub key: String,
    /// The object's uid.
    pub uid: String,
}

/// One frame that the cluster says it has sent.
#[derive(Debug, Clone, Deserialize)]
pub struct Sent {
    /// The number of the connection.
    pub connection: u64,
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`, before a fault changed it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The object's uid.
    pub uid: Option<String>,
    /// The object's or the bookmark's version.
    #[serde(rename = "resourceVersion")]
    pub resource_version: String,
    /// The fault that was applied to it; empty if there was none.
    pub fault: String,
}

impl Cluster {
    /// Starts a cluster on a free port.
    pub async fn start(options: &Options) -> Self {
        // The cluster cuts its connections where it is asked to, so none is kept for the next request.
        let http = Client::builder().timeout(Duration::from_secs(60)).pool_max_idle_per_host(0).build();
        let http = http.expect("an HTTP client can be made");
        let mut cluster = Self { process: None, port: free_port(), http };
        cluster.start_again(options).await;
        cluster
    }

    /// The address at which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills its process, which cuts every connection to it.
    pub async fn kill(&mut self) {
        self.process = None;
        port_closed(self.port).await;
    }

    /// Halts its process (SIGSTOP), with all connections open, until [`Cluster::go_on`].
    pub fn stop(&self) {
        self.process().stop();
    }

    /// Continues its process after [`Cluster::stop`].
    pub fn go_on(&self) {
        self.process().go_on();
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        self.process.as_ref().expect("the cluster runs")
    }

    /// Starts another cluster on the same port as before.
    pub async fn start_again(&mut self, options: &Options) {
        let arguments = [
            ("--scenario", options.scenario.to_owned()),
            ("--pods", options.pods.to_string()),
            ("--rate", options.rate.to_string()),
            ("--seed", options.seed.to_string()),
            ("--port", self.port.to_string()),
            ("--first-revision", options.first_revision.to_string()),
            ("--bookmark-seconds", options.bookmark_seconds.to_string()),
        ];
        let ledger = options.ledger.iter().map(|path| ("--ledger", path.display().to_string()));
        let audit = options.audit.iter().map(|path| ("--audit", path.display().to_string()));
        let arguments = arguments.into_iter().chain(ledger).chain(audit);
        let arguments: Vec<String> = arguments.flat_map(|(flag, value)| [flag.to_owned(), value]).collect();
        let process = Process::start("the demo cluster", &tools::cluster(), Path::new("."), &arguments);
        process.line_after("listening on").await;
        self.process = Some(process);
    }

    /// Sets the number of events a second. With 0 this returns when the last write is done.
    pub async fn rate(&self, value: u32) {
        self.control(&format!("rate?value={value}")).await;
    }

    /// Ends all events, and lists what exists then.
    pub async fn quiet(&self, path: &str) -> Truth {
        self.rate(0).await;
        self.list(path).await
    }

    /// Sends one of the cluster's control requests.
    pub async fn control(&self, request: &str) {
        self.send(self.request(Method::POST, &format!("/_control/{request}"))).await;
    }

    /// Writes an object with the text as it is.
    pub async fn put(&self, object: &Value) {
        self.send(self.request(Method::POST, "/_control/put").json(object)).await;
    }

    /// Lists a whole collection.
    pub async fn list(&self, path: &str) -> Truth {
        Truth::read(&self.send(self.request(Method::GET, path)).await)
    }

    /// Gets the text of one object or collection.
    pub async fn get(&self, path: &str) -> Value {
        serde_json::from_slice(&self.send(self.request(Method::GET, path)).await).expect("the cluster speaks JSON")
    }

    /// Gets a text, as a log is.
    pub async fn text(&self, path: &str) -> String {
        String::from_utf8_lossy(&self.send(self.request(Method::GET, path)).await).into_owned()
    }

    /// Gets one object, if it exists.
    pub async fn find(&self, path: &str) -> Option<Value> {
        let response = self.request(Method::GET, path).send().await.ok()?.error_for_status().ok()?;
        response.json().await.ok()
    }

    /// Applies a merge patch, and returns the new object. A status goes to the subresource where there is one.
    pub async fn patch(&self, path: &str, patch: &Value) -> Value {
        let part = if patch.get("status").is_some() { "/status" } else { "" };
        let request = self.request(Method::PATCH, &format!("{path}{part}")).body(patch.to_string());
        let request = request.header("content-type", "application/merge-patch+json");
        serde_json::from_slice(&self.send(request).await).expect("the cluster speaks JSON")
    }

    /// Deletes one object at once: there is no kubelet that would stop a Pod.
    pub async fn delete(&self, path: &str) {
        self.send(self.request(Method::DELETE, &format!("{path}?gracePeriodSeconds=0"))).await;
    }

    /// Every write of one resource since the start, as far as it is among the newest 200,000 writes of all.
    pub async fn log(&self, resource: &str) -> Vec<Write> {
        let body = self.send(self.request(Method::GET, &format!("/_control/log?resource={resource}"))).await;
        serde_json::from_slice(&body).expect("the log is a list of writes")
    }

    /// Every frame of one resource's watches since the start, as far as it is among the newest 100,000 frames of all.
    pub async fn frames(&self, resource: &str) -> Vec<Sent> {
        let body = self.send(self.request(Method::GET, &format!("/_control/frames?resource={resource}"))).await;
        serde_json::from_slice(&body).expect("the ledger is a list of frames")
    }

    /// The newest revision.
    pub async fn revision(&self) -> u64 {
        self.list("/api/v1/namespaces?limit=1").await.revision
    }

    /// Waits until `events` more writes have happened, however long the cluster takes for them at `rate`.
    pub async fn advance(&self, events: u64, rate: u32) {
        let start = self.revision().await;
        // A busy machine may be late. With less than half of the writes done something is broken.
        let within = Duration::from_secs(5 + 2 * events / u64::from(rate));
        wait_until(&format!("{events} writes at {rate} a second"), within, async || {
            let done = self.revision().await - start;
            holds(done >= events, || format!("{done} writes"))
        })
        .await;
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://127.0.0.1:{}{path}", self.port))
    }

    async fn send(&self, request: RequestBuilder) -> Vec<u8> {
        let response = request.send().await.unwrap_or_else(|error| {
            let said = self.process.as_ref().map(Process::output).unwrap_or_default();
            panic!("the demo cluster does not answer: {error}; it said: {said}")
        });
        let (status, url) = (response.status(), response.url().clone());
        let body = response.bytes().await.unwrap_or_else(|error| panic!("{url}: half an answer: {error}"));
        assert!(status.is_success(), "{url}: {status}: {}", String::from_utf8_lossy(&body));
        body.into()
    }
}
