//! Every cell is what `kubectl get -A -o wide` prints: for the recorded objects what a real API server printed, and for
//! every kind what kubectl prints of the same cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use kubechurn_client::api::time::Timestamp;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::handles::Row;
use kubechurn_harness::kubectl::{Kubectl, Line};
use kubechurn_harness::tools;
use kubechurn_harness::truth::key;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

const KINDS: [&str; 8] =
    ["pods", "deployments.apps", "replicasets.apps", "nodes", "events", "namespaces", "services", "jobs.batch"];

/// A resource as a real server printed it.
#[derive(Deserialize)]
struct Table {
    /// When it was printed, in HTTP's format.
    date: String,
    columns: Vec<Column>,
    rows: Vec<Printed>,
}

impl Table {
    /// When it was printed, in seconds since 1970.
    fn printed_at(&self) -> i64 {
        let words: Vec<&str> = self.date.split(' ').collect();
        let [_, day, month, year, time, _] = words[..] else { panic!("{} is no date of HTTP", self.date) };
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = 1 + months.iter().position(|name| *name == month).expect("it is a month");
        Timestamp::parse(&format!("{year}-{month:02}-{day}T{time}Z")).expect("it is a time").0
    }
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
    let cluster = Cluster::start(&Options { pods: 0, ..Options::default() }).await;
    let tables = KINDS.map(|kind| (kind, read(kind)));
    for (_, table) in &tables {
        for row in &table.rows {
            cluster.put(&row.object).await;
        }
    }
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        for (kind, table) in &tables {
            let resource = kind.split('.').next().unwrap_or(kind);
            page.open(&format!("#/{resource}"));
            page.reaches(resource, "live", Duration::from_secs(10)).await;
            // Ages are part of what is printed, so the page gets the time at which the server printed them.
            page.set_wall(table.printed_at());
            wait_until(&format!("{resource} as printed"), Duration::from_secs(3), async || {
                let differences = differences(page, resource, table);
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
    let file = tools::project_file(&format!("tests/fixtures/tables/{kind}.json"));
    let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn differences(page: &Page, resource: &str, table: &Table) -> Vec<String> {
    let rows = page.rows(resource);
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

/// Recorded tables that are not compared: the demo cluster does not serve these kinds, or serves them only after they
/// are defined.
const NOT_PUT: [&str; 3] = ["componentstatuses", "events.events.k8s.io", "widgets.example.org"];

#[tokio::test]
async fn rows_of_every_kind_are_what_kubectl_gets() {
    let cluster = Cluster::start(&Options { pods: 30, ..Options::default() }).await;
    let recorded = recorded();
    for name in recorded.iter().filter(|name| !NOT_PUT.contains(&name.as_str())) {
        for row in read(name).rows {
            cluster.put(&row.object).await;
        }
    }
    let kubectl = Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port()));
    // The columns of custom resources are tested elsewhere.
    let custom: BTreeSet<String> = kubectl.run("get crd -o name", "").await.lines().map(str::to_owned).collect();
    let is_custom = |name: &str| custom.iter().any(|definition| definition.ends_with(&format!("/{name}")));
    let printed = kubectl.run("api-resources --verbs=list,watch -o name", "").await;
    let mut kinds: Vec<String> = printed.lines().map(str::to_owned).collect();
    kinds.retain(|name| !is_custom(name));
    for name in recorded.iter().filter(|name| !NOT_PUT.contains(&name.as_str())) {
        assert!(kinds.contains(name), "{name} is not served: {kinds:?}");
    }
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        for name in &kinds {
            // No two kinds of the demo cluster have the same plural, so the page names each by its plural.
            let resource = name.split('.').next().unwrap_or(name);
            page.open(&format!("#/{name}"));
            page.reaches(resource, "live", Duration::from_secs(10)).await;
            let count = wait_until(&format!("{name} as kubectl prints them"), Duration::from_secs(10), async || {
                // An age may change while kubectl runs, so a cell may be what the page shows before or after.
                let before = page.rows(resource);
                let printed = kubectl.table(name).await;
                let after = page.rows(resource);
                let differences = unlike(&printed, &before, &after);
                holds(differences.is_empty(), || {
                    let first: Vec<_> = differences.iter().take(10).map(String::as_str).collect();
                    format!("{} differences:\n{}", differences.len(), first.join("\n"))
                })?;
                Ok(printed.len())
            })
            .await;
            assert!(count > 0 || !recorded.contains(name), "{name} has no rows");
        }
    })
    .await;
}

/// The names of the recorded tables.
fn recorded() -> BTreeSet<String> {
    let folder = tools::project_file("tests/fixtures/tables");
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = files.map(|file| file.expect("the folder can be listed").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect()
}

/// The differences between what kubectl prints and what the page shows, before and after.
fn unlike(printed: &[Line], before: &[Row], after: &[Row]) -> Vec<String> {
    fn by_name(rows: &[Row]) -> BTreeMap<String, Line> {
        let line = |row: &Row| -> Line {
            let text = |cell: &Value| cell.as_str().unwrap_or_default().trim_end().to_owned();
            row.cells.iter().map(|(title, cell)| (title.clone(), text(cell))).collect()
        };
        rows.iter().map(line).map(|line| (name_of(&line), line)).collect()
    }
    fn name_of(line: &Line) -> String {
        let part = |title| line.get(title).map_or("", String::as_str);
        key(Some(part("NAMESPACE")), part("NAME"))
    }
    let (before, after) = (by_name(before), by_name(after));
    let mut differences = Vec::new();
    if printed.len() != after.len() {
        differences.push(format!("{} rows, not {}", after.len(), printed.len()));
    }
    for line in printed {
        let name = name_of(line);
        let (Some(before), Some(after)) = (before.get(&name), after.get(&name)) else {
            differences.push(format!("{name} is missing"));
            continue;
        };
        if !after.keys().eq(line.keys()) {
            let titles = |line: &Line| line.keys().cloned().collect::<Vec<_>>().join(", ");
            differences.push(format!("{name} has {}, not {}", titles(after), titles(line)));
        }
        for (title, cell) in line {
            if [before, after].iter().all(|shown| shown.get(title) != Some(cell)) {
                differences.push(format!("{name} {title}: {:?}, not {cell:?}", after.get(title)));
            }
        }
    }
    differences
}
