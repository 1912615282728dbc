//! The files of the demo cluster's `--ledger`, one for each time that it was started.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::truth::Item;

/// What was written and what was sent, oldest first.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Every write.
    pub writes: Vec<Write>,
    /// Every watch's connection.
    pub connections: Vec<Connection>,
}

/// One write.
#[derive(Debug, Clone)]
pub struct Write {
    /// The revision that it took.
    pub revision: u64,
    /// `ADDED`, `MODIFIED` or `DELETED`; or `ENDED` if the object existed when its cluster ended.
    pub kind: String,
    /// `namespace/name`.
    pub key: String,
    /// The object's uid.
    pub uid: String,
    /// `deployments.apps`.
    pub resource: String,
}

/// One watch.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// Path and query, without the leading slash.
    pub path: String,
    /// `websocket` or `http`.
    pub transport: String,
    /// What was handed to the transport.
    pub frames: Vec<Sent>,
}

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// Its type before a fault changed it.
    pub kind: String,
    /// The object's uid.
    pub uid: String,
    /// The object's or the bookmark's version.
    pub version: u64,
    /// The fault that was applied to it; empty if there was none.
    pub fault: String,
}

impl Ledger {
    /// Reads the files of one cluster after the other. Objects that existed when a cluster ended count as gone before the next
    /// one began.
    pub fn read(files: &[String]) -> Self {
        let mut ledger = Self::default();
        for file in files {
            let mut next = Self::default();
            let mut numbers = BTreeMap::new();
            // A killed cluster may leave an incomplete line, which is skipped.
            for record in file.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                next.note(&record, &mut numbers);
            }
            let first = next.writes.iter().map(|write| write.revision).min().unwrap_or(u64::MAX);
            ledger.end_before(first);
            ledger.writes.append(&mut next.writes);
            ledger.connections.append(&mut next.connections);
        }
        ledger
    }

    fn note(&mut self, record: &Value, numbers: &mut BTreeMap<u64, usize>) {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let connection = record["connection"].as_u64().unwrap_or_default();
        match record["record"].as_str() {
            Some("write") => self.writes.push(Write {
                revision: record["revision"].as_u64().unwrap_or_default(),
                kind: text("type"),
                key: text("key"),
                uid: text("uid"),
                resource: text("resource"),
            }),
            Some("open") => {
                numbers.insert(connection, self.connections.len());
                let path = text("path").trim_start_matches('/').to_owned();
                self.connections.push(Connection { path, transport: text("transport"), frames: Vec::new() });
            }
            Some("frame") => {
                let version = text("resourceVersion").parse().unwrap_or_default();
                let sent = Sent { kind: text("type"), uid: text("uid"), version, fault: text("fault") };
                if let Some(at) = numbers.get(&connection) {
                    self.connections[*at].frames.push(sent);
                }
            }
            _ => {}
        }
    }

    fn end_before(&mut self, revision: u64) {
        let mut alive = BTreeMap::new();
        for write in &self.writes {
            match write.kind.as_str() {
                "DELETED" | "ENDED" => alive.remove(&write.uid),
                _ => alive.insert(write.uid.clone(), write.clone()),
            };
        }
        let ended =
            alive.into_values().map(|write| Write { kind: "ENDED".to_owned(), revision: revision - 1, ..write });
        self.writes.extend(ended);
    }

    /// The writes of one resource up to a revision.
    pub fn of(&self, resource: &str, revision: u64) -> impl Iterator<Item = &Write> {
        self.writes.iter().filter(move |write| write.resource == resource && write.revision <= revision)
    }

    /// The objects of a resource at a revision.
    pub fn state(&self, resource: &str, revision: u64) -> BTreeMap<String, Item> {
        let mut state = BTreeMap::new();
        for write in self.of(resource, revision) {
            match write.kind.as_str() {
                "DELETED" | "ENDED" => state.remove(&write.key),
                _ => {
                    let resource_version = write.revision.to_string();
                    state.insert(write.key.clone(), Item { uid: write.uid.clone(), resource_version })
                }
            };
        }
        state
    }
}
