//! kubectl at the same proxy as the page: the page must show what kubectl prints.

use std::collections::BTreeMap;

use super::process::{TemporaryFolder, kubectl};
use super::tools;

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
