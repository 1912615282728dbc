//! kubectl, before the same proxy as the page: what it prints is what the page is held to.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::process::TemporaryFolder;
use super::tools;

/// What is printed of one object, by the columns' headers.
pub type Line = BTreeMap<String, String>;

/// kubectl with a home of its own: what it remembers of another server at the same port is of no use here, and nobody's
/// credentials are.
#[derive(Debug)]
pub struct Kubectl {
    server: String,
    home: TemporaryFolder,
}

impl Kubectl {
    /// kubectl for the API at this address.
    pub fn new(server: &str) -> Self {
        Self { server: server.to_owned(), home: TemporaryFolder::new("kubectl") }
    }

    /// Runs a command, words with spaces between, and gives it something to read; answers what it prints.
    pub async fn run(&self, line: &str, stdin: &str) -> String {
        let mut child = Command::new(tools::kubectl())
            .args(["-s", &self.server])
            .args(line.split_whitespace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("KUBECONFIG", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("kubectl does not start: {error}"));
        let mut input = child.stdin.take().expect("standard input is piped");
        let _ = input.write_all(stdin.as_bytes()).await;
        drop(input);
        let ended = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
        let ended = ended.expect("kubectl ends").expect("kubectl can be waited for");
        assert!(ended.status.success(), "kubectl {line}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// What `kubectl get` prints of a kind everywhere, with every column.
    pub async fn table(&self, name: &str) -> Vec<Line> {
        let text = self.run(&format!("get {name} -A -o wide"), "").await;
        let mut lines = text.lines();
        let titles = titles(lines.next().unwrap_or_default());
        lines.map(|row| cut(row, &titles)).collect()
    }
}

/// Where each column begins, and its header. kubectl leaves three spaces at least between two columns.
fn titles(header: &str) -> Vec<(usize, String)> {
    let mut titles = Vec::new();
    let mut at = 0;
    for piece in header.split("   ") {
        let begin = at + piece.len() - piece.trim_start().len();
        if !piece.trim().is_empty() {
            titles.push((begin, piece.trim().to_owned()));
        }
        at += piece.len() + 3;
    }
    titles
}

fn cut(row: &str, titles: &[(usize, String)]) -> Line {
    let row: Vec<char> = row.chars().collect();
    let ends = titles.iter().skip(1).map(|(begin, _)| *begin).chain([row.len()]);
    let cells = titles.iter().zip(ends).map(|((begin, title), end)| {
        let cell: String = row.get(*begin..end.min(row.len())).unwrap_or_default().iter().collect();
        (title.clone(), cell.trim_end().to_owned())
    });
    cells.collect()
}
