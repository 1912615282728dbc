//! Every cell is what `kubectl get -A -o wide` prints: the golden tables were recorded from a real API server.

use std::fs;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::{Page, with_page};
use crate::harness::proxy::KubectlProxy;
use crate::harness::tools;
use crate::harness::truth::key;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const KINDS: [&str; 8] =
    ["pods", "deployments.apps", "replicasets.apps", "nodes", "events", "namespaces", "services", "jobs.batch"];

/// One resource as a real server printed it.
#[derive(Deserialize)]
struct Table {
    /// When, as HTTP says it.
    date: String,
    columns: Vec<Column>,
    rows: Vec<Printed>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
}

#[derive(Deserialize)]
struct Printed {
    cells: Vec<Value>,
    object: Value,
}

#[tokio::test]
async fn cells_are_what_kubectl_prints() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 0, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let tables = KINDS.map(|kind| (kind, read(kind)));
    for (_, table) in &tables {
        for row in &table.rows {
            cluster.put(&row.object).await;
        }
    }
    with_page("cells_are_what_kubectl_prints", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        for (kind, table) in &tables {
            let resource = kind.split('.').next().unwrap_or(kind);
            page.open(&format!("#/{resource}")).await;
            page.reaches(resource, "live", Duration::from_secs(10)).await;
            // Ages are part of what is printed, so the page is told the time at which the server printed them.
            page.browser.run("Date.now = () => Date.parse(arguments[0])", vec![table.date.as_str().into()]).await;
            wait_until(&format!("{resource} as printed"), Duration::from_secs(3), async || {
                let differences = differences(page, resource, table).await;
                holds(differences.is_empty(), || {
                    let first: Vec<_> = differences.iter().take(10).map(String::as_str).collect();
                    format!("{} cells differ:\n{}", differences.len(), first.join("\n"))
                })
            })
            .await;
        }
    })
    .await;
}

fn read(kind: &str) -> Table {
    let file = tools::package_file(&format!("tests/fixtures/tables/{kind}.json"));
    let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

async fn differences(page: &Page, resource: &str, table: &Table) -> Vec<String> {
    let rows = page.rows(resource).await;
    let mut differences = Vec::new();
    for printed in &table.rows {
        let metadata = &printed.object["metadata"];
        let key = key(metadata["namespace"].as_str(), metadata["name"].as_str().unwrap_or_default());
        let Some(row) = rows.iter().find(|row| row.key == key) else {
            differences.push(format!("{key} is missing"));
            continue;
        };
        for (column, expected) in table.columns.iter().zip(&printed.cells) {
            // `kubectl` prints headers in capitals, and every cell as text.
            let header = column.name.to_uppercase();
            let expected = expected.as_str().map_or_else(|| expected.to_string(), str::to_owned);
            let cell = row.cells.get(&header).and_then(Value::as_str);
            if cell != Some(&expected) {
                differences.push(format!("{key} {header}: {cell:?}, not {expected:?}"));
            }
        }
    }
    differences
}
