//! Queues of deltas, and what becomes of what they give: deltas, calls, `HasSynced` and store are those of client-go.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion, decode_metadata};
use kubechurn_client::cache::client_go::{Call, Delta, DeltaFifo, Popped, Queue, RealFifo, process_deltas};
use kubechurn_client::cache::delta::{DeltaObject, DeltaType};
use kubechurn_client::cache::store::Store;
use serde::Deserialize;

use super::compare;

/// An operation, and what came of it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub did: Operation,
    #[serde(default)]
    pub deltas: Vec<DeltaLine>,
    #[serde(default)]
    pub calls: Vec<CallLine>,
    pub synced: bool,
    /// What the store holds after a pop.
    #[serde(default)]
    pub store: Vec<String>,
    /// Whether a pop found nothing.
    #[serde(default)]
    pub empty: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub op: String,
    #[serde(default)]
    pub item: Option<Item>,
    #[serde(default)]
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Item {
    pub key: String,
    pub uid: String,
    pub rv: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DeltaLine {
    #[serde(rename = "type")]
    delta_type: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    rv: String,
    #[serde(default)]
    unknown: bool,
    /// The items of a `ReplacedAll`, whose uids the recording leaves out.
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CallLine {
    call: String,
    key: String,
    #[serde(default)]
    new: String,
    #[serde(default)]
    old: String,
    #[serde(default)]
    initial: bool,
    #[serde(default)]
    unknown: bool,
}

impl Item {
    /// The object; in the script its key is the name alone.
    pub fn object(&self) -> Arc<Object> {
        let Item { key, uid, rv } = self;
        let metadata =
            serde_json::json!({ "metadata": { "namespace": "n", "name": key, "uid": uid, "resourceVersion": rv } });
        Arc::new(decode_metadata(&metadata.to_string()).unwrap())
    }
}

impl Operation {
    /// The type of an event; `None` where the operation is none.
    pub fn event(&self) -> Option<(DeltaType, Arc<Object>)> {
        let delta_type = match &*self.op {
            "add" => DeltaType::Added,
            "update" => DeltaType::Updated,
            "delete" => DeltaType::Deleted,
            _ => return None,
        };
        Some((delta_type, self.item.as_ref().unwrap().object()))
    }

    /// The objects of a list.
    pub fn list(&self) -> Vec<Arc<Object>> {
        self.items.iter().map(Item::object).collect()
    }
}

impl From<&Delta> for DeltaLine {
    fn from(delta: &Delta) -> DeltaLine {
        let word = match delta {
            Delta::One { delta_type, .. } => format!("{delta_type:?}"),
            Delta::ReplacedAll { .. } => String::from("ReplacedAll"),
            Delta::SyncAll => String::from("SyncAll"),
            Delta::Bookmark { .. } => String::from("Bookmark"),
        };
        let item = |object: &Arc<Object>| Item { key: key(&object.key), uid: String::new(), rv: version(object) };
        DeltaLine {
            delta_type: word,
            key: delta.object().map(|object| key(&object.key)).unwrap_or_default(),
            rv: delta.object().map(version).unwrap_or_default(),
            unknown: matches!(delta, Delta::One { object: DeltaObject::FinalStateUnknown(_), .. }),
            items: match delta {
                Delta::ReplacedAll { objects, .. } => objects.iter().map(item).collect(),
                _ => Vec::new(),
            },
        }
    }
}

impl From<&Call> for CallLine {
    fn from(call: &Call) -> CallLine {
        let line = |word: &str, object: &Arc<Object>| CallLine {
            call: word.to_owned(),
            key: key(&object.key),
            new: String::new(),
            old: String::new(),
            initial: false,
            unknown: false,
        };
        match call {
            Call::OnAdd { new, is_in_initial_list } => {
                CallLine { new: version(new), initial: *is_in_initial_list, ..line("OnAdd", new) }
            }
            Call::OnUpdate { old, new } => CallLine { old: version(old), new: version(new), ..line("OnUpdate", new) },
            Call::OnDelete { object } => CallLine {
                old: version(object.object()),
                unknown: matches!(object, DeltaObject::FinalStateUnknown(_)),
                ..line("OnDelete", object.object())
            },
        }
    }
}

fn key(key: &ObjectKey) -> String {
    format!("{}/{}", key.namespace, key.name)
}

fn version(object: &Arc<Object>) -> String {
    object.resource_version.as_str().to_owned()
}

/// A store as the recording has it.
pub fn written(store: &Store) -> Vec<String> {
    let mut lines: Vec<String> =
        store.iter().map(|object| format!("{}@{}", key(&object.key), version(object))).collect();
    lines.sort();
    lines
}

/// Plays one run.
fn play(queue: &mut dyn Queue, steps: &[Step]) -> Vec<Step> {
    let mut store = Store::default();
    let mut here = Vec::new();
    for Step { did, .. } in steps {
        let mut step =
            Step { did: did.clone(), deltas: vec![], calls: vec![], synced: false, store: vec![], empty: false };
        match (&*did.op, did.event()) {
            (_, Some((delta_type, object))) => queue.event(delta_type, &object, &store),
            ("replace", _) => queue.replace(did.list(), &ResourceVersion::default(), &store),
            ("resync", _) => queue.resync(&store),
            ("pop", _) => match queue.pop() {
                None => step.empty = true,
                Some(Popped { deltas, is_in_initial_list }) => {
                    step.deltas = deltas.iter().map(DeltaLine::from).collect();
                    let calls = process_deltas(deltas, is_in_initial_list, &mut store);
                    step.calls = calls.iter().map(CallLine::from).collect();
                    step.store = written(&store);
                }
            },
            (other, _) => panic!("no operation of a queue: {other}"),
        }
        step.synced = queue.has_synced();
        here.push(step);
    }
    here
}

#[test]
fn delta_fifo_is_client_go_s_in_every_step() {
    compare("DeltaFIFO", |steps| play(&mut DeltaFifo::default(), steps));
}

#[test]
fn real_fifo_is_client_go_s_in_every_step() {
    compare("RealFIFO", |steps| play(&mut RealFifo::new(false), steps));
}

#[test]
fn atomic_real_fifo_is_client_go_s_in_every_step() {
    compare("RealFIFO atomic", |steps| play(&mut RealFifo::new(true), steps));
}
