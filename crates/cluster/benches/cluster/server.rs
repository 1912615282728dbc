//! A demo cluster as a process of its own.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Clock ticks per second in `/proc`, which is a fixed number on Linux.
const TICKS: f64 = 100.0;

/// The running server.
pub struct Server {
    process: Child,
    /// The address on which it listens.
    pub address: String,
    /// An HTTP client for it.
    pub http: reqwest::Client,
}

impl Server {
    /// Starts a server with `pods` Pods and no scenario.
    pub async fn start(pods: usize) -> Self {
        let program = std::env::var("KUBECHURN_CLUSTER").expect("KUBECHURN_CLUSTER is the demo cluster's program");
        let arguments = ["--scenario", "storm", "--rate", "0", "--port", "0", "--pods", &pods.to_string()];
        let mut process = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the demo cluster starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output is piped")).lines();
        let line = lines.next_line().await.expect("it can be read").expect("it says where it listens");
        let address = line.rsplit("//").next().expect("the line ends in an address").to_owned();
        // Its output must be read for as long as it runs.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let server = Self { process, address, http: reqwest::Client::new() };
        // With many Pods, the cache takes some time to fill.
        while !server.is_ready().await {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        server
    }

    async fn is_ready(&self) -> bool {
        let url = format!("http://{}/api/v1/pods?resourceVersion=0&labelSelector=none", self.address);
        self.http.get(url).send().await.is_ok_and(|response| response.status().is_success())
    }

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> reqwest::Response {
        let response = self.http.get(format!("http://{}{path}", self.address)).send().await.expect("it answers");
        response.error_for_status().expect("it is there")
    }

    /// Sends a control request; returns the newest revision.
    pub async fn control(&self, order: &str) -> u64 {
        let url = format!("http://{}/_control/{order}", self.address);
        let response = self.http.post(url).send().await.expect("it answers").error_for_status().expect("it obeys");
        let answer: serde_json::Value = response.json().await.expect("it speaks JSON");
        answer["revision"].as_u64().unwrap_or_default()
    }

    /// The newest revision.
    pub async fn revision(&self) -> u64 {
        let list: serde_json::Value =
            self.get("/api/v1/namespaces?limit=1").await.json().await.expect("it speaks JSON");
        list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a revision")
    }

    /// The processor time that it has used.
    pub fn cpu(&self) -> Duration {
        let stat = self.proc("stat");
        // The 12th and the 13th field after the name, which may contain spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
        Duration::from_secs_f64((ticks(11) + ticks(12)) / TICKS)
    }

    /// Its resident memory, in bytes.
    pub fn memory(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.expect("Linux reports the size of a process") * 1024
    }

    fn proc(&self, file: &str) -> String {
        let id = self.process.id().expect("it runs");
        std::fs::read_to_string(format!("/proc/{id}/{file}")).expect("Linux reports on its processes")
    }
}
