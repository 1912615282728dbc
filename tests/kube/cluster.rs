//! A running demo cluster: the orders to it, and its lists as plain JSON, read without kube.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use kubechurn_harness::ports::free_port;
use kubechurn_harness::process::{Process, port_closed};

/// The cluster's program if the environment names no other one: the project's debug build.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/debug/cluster");

/// Namespace and name of each object, and its uid and resourceVersion.
pub type State = BTreeMap<(String, String), (String, String)>;

/// A cluster of some dozen Pods.
pub struct Cluster {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    client: reqwest::Client,
    // Held until the test ends, or the cluster is replaced.
    process: Option<Process>,
}

impl Cluster {
    /// Starts a quiet cluster.
    pub async fn start() -> Self {
        Self::start_at("0").await
    }

    /// Starts a cluster that can be replaced. Its port is reserved, so that nothing else gets the port meanwhile, not
    /// even an outgoing connection.
    pub async fn start_replaceable() -> Self {
        Self::start_at(&free_port().to_string()).await
    }

    async fn start_at(port: &str) -> Self {
        let (process, url) = run(&["--port", port]).await;
        // The cluster cuts its connections where it is asked to, so none is kept for the next request.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("an HTTP client can be made");
        Self { url, client, process: Some(process) }
    }

    /// Kills the cluster, and starts another with these arguments at the same address as soon as the port is free.
    pub async fn replace(&mut self, arguments: &[&str]) {
        self.process = None;
        let (_, port) = self.url.rsplit_once(':').expect("the address has a port");
        port_closed(port.parse().expect("the port is a number")).await;
        let (process, url) = run(&[arguments, &["--port", port]].concat()).await;
        assert_eq!(url, self.url);
        self.process = Some(process);
    }

    /// Sends an order to the control endpoint, and waits until it is carried out.
    pub async fn order(&self, order: &str) {
        let response = self.client.post(format!("{}/_control/{order}", self.url)).send().await.expect("an answer");
        assert!(response.status().is_success(), "{order}: {}", response.status());
    }

    /// How often the active faults have struck.
    pub async fn strikes(&self) -> u64 {
        let response = self.client.get(format!("{}/_control/faults", self.url)).send().await.expect("an answer");
        let log: Value = response.json().await.expect("JSON");
        log["rules"].as_array().into_iter().flatten().filter_map(|rule| rule["struck"].as_u64()).sum()
    }

    /// The newest state of a collection.
    pub async fn list(&self, path: &str) -> State {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.expect("an answer");
        let list: Value = response.json().await.expect("a list");
        let items = list["items"].as_array().expect("items").iter();
        items
            .map(|item| {
                let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
                ((text("namespace"), text("name")), (text("uid"), text("resourceVersion")))
            })
            .collect()
    }
}

/// Starts the program. Returns its address too.
async fn run(arguments: &[&str]) -> (Process, String) {
    let program = std::env::var_os("KUBECHURN_CLUSTER").map_or_else(|| PathBuf::from(OWN), PathBuf::from);
    let arguments = [&["--pods", "60", "--rate", "0"], arguments].concat();
    let process = Process::start("the demo cluster", &program, Path::new("."), &arguments);
    let url = process.line_after("listening on").await;
    (process, url)
}
