//! Records Kubernetes Events: the same thing again raises a count, old ones expire.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use super::super::clock::timestamp;
use super::super::object::{Draft, Fields};
use super::super::random;
use super::super::resource::{EVENTS, Resource};
use super::super::storage::{Storage, UpdateError};

/// More are not kept.
const MOST: usize = 1000;
/// Seconds after which an Event goes.
const LIFETIME: i64 = 300;

/// What an Event is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Resource of the object.
    pub resource: &'static Resource,
    /// Its namespace; empty at the cluster scope.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// The container, if it is about one.
    pub container: Option<&'a str>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub struct What<'a> {
    /// In one word.
    pub reason: &'a str,
    /// In a sentence.
    pub message: &'a str,
    /// Who saw it.
    pub component: &'a str,
    /// On which node; empty if on none.
    pub host: &'a str,
    /// Whether it is a Warning.
    pub warning: bool,
}

/// The recorder.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Key of the Event that tells the same already.
    known: HashMap<String, String>,
    /// Oldest first: when recorded, key, identity.
    order: VecDeque<(i64, String, String)>,
    recorded: u64,
}

impl Recorder {
    /// Records an Event, or counts it.
    pub fn record(&mut self, storage: &Storage, seed: u64, about: About<'_>, what: What<'_>, now: i64) {
        let identity = [about.resource.plural, about.namespace, about.name, what.reason, what.message].join("\n");
        if let Some(key) = self.known.get(&identity) {
            let counted: Result<_, UpdateError<()>> = storage.update(EVENTS, key, |_, event| {
                let count = event["count"].as_u64().unwrap_or(1);
                if let Value::Object(event) = event {
                    event.insert("count".to_owned(), (count + 1).into());
                    event.insert("lastTimestamp".to_owned(), timestamp(now).into());
                }
                Ok(())
            });
            if counted.is_ok() {
                return;
            }
        }
        self.recorded += 1;
        // Events of cluster-scoped objects land in the namespace `default`.
        let namespace = if about.namespace.is_empty() { "default" } else { about.namespace };
        let uid = random::uid(seed, &identity, self.recorded);
        let name = format!("{}.{}{}", about.name, &uid[..8], &uid[9..13]);
        let key = EVENTS.key(namespace, &name);
        if storage.create(EVENTS, draft(namespace, &name, &uid, about, what, now)).is_some() {
            self.order.push_back((now, key.clone(), identity.clone()));
            self.known.insert(identity, key);
        }
    }

    /// Deletes one Event that is too old, or one too many; tells whether there was one.
    pub fn expire(&mut self, storage: &Storage, now: i64) -> bool {
        let overdue = self.order.front().is_some_and(|(at, ..)| self.order.len() > MOST || now - at > LIFETIME);
        if !overdue {
            return false;
        }
        let Some((_, key, identity)) = self.order.pop_front() else { return false };
        storage.delete(EVENTS, &key);
        if self.known.get(&identity) == Some(&key) {
            self.known.remove(&identity);
        }
        true
    }
}

fn draft(namespace: &str, name: &str, uid: &str, about: About<'_>, what: What<'_>, now: i64) -> Draft {
    let at = timestamp(now);
    let mut involved = json!({"kind": about.resource.kind, "name": about.name, "uid": about.uid,
        "apiVersion": about.resource.api_version()});
    if !about.namespace.is_empty() {
        involved["namespace"] = about.namespace.into();
    }
    if let Some(container) = about.container {
        involved["fieldPath"] = format!("spec.containers{{{container}}}").into();
    }
    let mut source = json!({"component": what.component});
    if !what.host.is_empty() {
        source["host"] = what.host.into();
    }
    let fields = json!({
        "involvedObject": involved, "reason": what.reason, "message": what.message, "source": source,
        "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": if what.warning { "Warning" } else { "Normal" },
        "eventTime": null, "reportingComponent": what.component, "reportingInstance": what.host,
    });
    let Value::Object(fields) = fields else { unreachable!("an object is written above") };
    let metadata = Map::from_iter([
        ("name".to_owned(), name.into()),
        ("namespace".to_owned(), namespace.into()),
        ("uid".to_owned(), uid.into()),
        ("creationTimestamp".to_owned(), at.into()),
    ]);
    Draft { metadata, fields: Fields::Parsed(fields) }
}
