//! A demo cluster in which nothing happens, and kubectl, which is given only its address.

use std::path::{Path, PathBuf};

use kubechurn_harness::process::{Process, TemporaryFolder, kubectl};
use kubechurn_harness::tools;

/// A cluster of a dozen Pods, and kubectl.
pub struct Session {
    kubectl: PathBuf,
    url: String,
    home: TemporaryFolder,
    // Dropped when the test ends.
    _cluster: Process,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Ended {
    /// The exit code.
    pub code: i32,
    /// Standard output, then standard error.
    pub output: String,
}

impl Session {
    /// Starts a cluster without controllers and scenarios.
    pub async fn start(name: &str) -> Self {
        Self::start_with(name, &[]).await
    }

    /// Starts a cluster with controllers, scheduler and kubelets, and without scenarios.
    pub async fn start_alive(name: &str) -> Self {
        Self::start_with(name, &["--controllers", "on"]).await
    }

    async fn start_with(name: &str, more: &[&str]) -> Self {
        let kubectl = tools::kubectl();
        let arguments = [&["--pods", "12", "--rate", "0", "--port", "0"], more].concat();
        let cluster =
            Process::start("the demo cluster", Path::new(env!("CARGO_BIN_EXE_cluster")), Path::new("."), &arguments);
        let url = cluster.line_after("listening on").await;
        Self { kubectl, url, home: TemporaryFolder::new(name), _cluster: cluster }
    }

    /// Runs a command, given as one line in which single quotes group words.
    pub async fn run(&self, line: &str, stdin: &str) -> Ended {
        let output = kubectl(&self.kubectl, &self.url, self.home.path(), &words(line), stdin).await;
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ended { code: output.status.code().unwrap_or(-1), output: text }
    }

    /// Runs a command that must succeed and print all of these texts.
    pub async fn check(&self, line: &str, expected: &[&str]) -> String {
        self.check_with(line, "", expected).await
    }

    /// The same as [`Self::check`] with an input to read.
    pub async fn check_with(&self, line: &str, stdin: &str, expected: &[&str]) -> String {
        self.ends(line, stdin, 0, expected).await
    }

    /// Runs a command that must fail and print all of these texts.
    pub async fn fails(&self, line: &str, stdin: &str, expected: &[&str]) {
        self.ends(line, stdin, 1, expected).await;
    }

    async fn ends(&self, line: &str, stdin: &str, code: i32, expected: &[&str]) -> String {
        let ended = self.run(line, stdin).await;
        assert_eq!(ended.code, code, "kubectl {line}: {}", ended.output);
        for part in expected {
            assert!(squeezed(&ended.output).contains(part), "kubectl {line} does not print {part:?}: {}", ended.output);
        }
        ended.output
    }

    /// Sends a control request to the cluster, and waits for the answer.
    pub async fn order(&self, order: &str) {
        let response = reqwest::Client::new().post(format!("{}/_control/{order}", self.url)).send().await;
        let response = response.unwrap_or_else(|error| panic!("{order}: {error}"));
        assert!(response.status().is_success(), "{order}: {}", response.status());
    }

    /// The number of writes in the cluster's log.
    pub async fn writes(&self) -> usize {
        let response = reqwest::get(format!("{}/_control/log", self.url)).await.expect("an answer");
        let log: Vec<serde_json::Value> = response.json().await.expect("the log is a list of writes");
        log.len()
    }

    /// The port on which the cluster listens.
    pub fn port(&self) -> u16 {
        let port = self.url.rsplit(':').next().and_then(|port| port.trim_end_matches('/').parse().ok());
        port.expect("the cluster's address has a port")
    }

    /// Starts a command that runs until it is dropped.
    pub fn follow(&self, line: &str) -> Process {
        let home = self.home.path().display().to_string();
        let kubectl = self.kubectl.display().to_string();
        let mut arguments = vec![format!("HOME={home}"), kubectl, "-s".to_owned(), self.url.clone()];
        arguments.extend(words(line));
        Process::start(line, Path::new("env"), self.home.path(), &arguments)
    }
}

/// The output with each run of spaces as one space, so that the widths of a table's columns do not matter.
fn squeezed(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
