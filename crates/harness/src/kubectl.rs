//! kubectl at the same proxy as the page: the page must show what kubectl prints.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::process::{TemporaryFolder, kubectl};
use super::tools;

const SOON: Duration = Duration::from_secs(30);

/// The commands of a page of the book: its lines with `kubectl -s` and the address of the demo cluster. A test runs them in order, at a
/// cluster of its own.
#[derive(Debug)]
pub struct Commands {
    port: u16,
    left: std::vec::IntoIter<&'static str>,
}

impl Commands {
    /// The commands of this page, for the cluster at a port.
    pub fn of(page: &'static str, port: u16) -> Commands {
        let all = page.lines().filter_map(|line| line.trim_start().strip_prefix("kubectl -s http://127.0.0.1:8002 "));
        Commands { port, left: all.collect::<Vec<_>>().into_iter() }
    }

    /// Runs the next one, which has these words, through a shell.
    pub async fn run(&mut self, words: &str) {
        let command = self.left.next().unwrap_or_default();
        assert!(command.contains(words), "after that the page says: {command}");
        let own = format!("{} -s http://127.0.0.1:{} {command}", tools::kubectl().display(), self.port);
        let mut shell = Command::new("sh");
        shell.args(["-c", &own]).env("KUBECONFIG", "/dev/null").stdin(Stdio::null()).kill_on_drop(true);
        let answer = tokio::time::timeout(SOON, shell.output()).await.expect("kubectl comes to an end");
        let answer = answer.expect("there is a shell");
        assert!(answer.status.success(), "{command}: {}", String::from_utf8_lossy(&answer.stderr));
    }

    /// Asserts that each command was run.
    pub fn end(mut self) {
        assert_eq!(self.left.next(), None, "each command of the page was run");
    }
}

/// What kubectl prints of one object, by the headers of the columns.
pub type Line = BTreeMap<String, String>;

/// kubectl with a home folder of its own.
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

    /// Runs a command, given as words with spaces between them, with a text as its input. Returns what it prints.
    pub async fn run(&self, line: &str, stdin: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ended = kubectl(&tools::kubectl(), &self.server, self.home.path(), &words, stdin).await;
        assert!(ended.status.success(), "kubectl {line}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// What `kubectl get` prints of a kind in all namespaces, with every column.
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
