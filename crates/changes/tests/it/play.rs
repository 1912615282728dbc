//! Made-up objects and their changes.

use std::collections::BTreeMap;

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::{Value, json};

/// Objects by name. A name is the object's uid as well, up to a `#`: what comes after it tells objects of one name apart.
#[derive(Default)]
pub struct Objects {
    pub known: BTreeMap<String, String>,
    seq: u64,
}

impl Objects {
    /// An object that was there before, as a list brings it.
    pub fn list(&mut self, object: (&str, &str, &str), rest: Value) -> Line {
        let line = self.set(0.0, object, rest);
        Line { delta_type: DeltaType::Replaced, is_listed: true, ..line }
    }

    /// An object of a kind, with a name and an owner, is now like this. Its `manager` is whoever wrote it.
    pub fn set(&mut self, at: f64, (kind, name, owner): (&str, &str, &str), rest: Value) -> Line {
        let mut object = json!({"metadata": {"ownerReferences": []}});
        if !owner.is_empty() {
            object["metadata"]["ownerReferences"] =
                json!([{"kind": "Owner", "name": owner, "uid": owner, "controller": true}]);
        }
        for (name, value) in rest.as_object().unwrap() {
            match name.as_str() {
                "generation" | "deletionTimestamp" | "annotations" | "resourceVersion" => {
                    object["metadata"][name] = value.clone();
                }
                "manager" => {
                    // As the page has it: with its subresource in parentheses.
                    let name = value.as_str().unwrap();
                    let (name, subresource) = name.split_once(" (").unwrap_or((name, ""));
                    let entry = json!({"manager": name, "operation": "Update", "time": at.to_string(),
                        "subresource": subresource.trim_end_matches(')')});
                    object["metadata"]["managedFields"] = json!([entry]);
                }
                _ => object[name] = value.clone(),
            }
        }
        let new = object.to_string();
        let old = self.known.insert(name.into(), new.clone());
        let delta_type = if old.is_some() { DeltaType::Updated } else { DeltaType::Added };
        self.line(at, (kind, name), delta_type, (old, Some(new)))
    }

    pub fn delete(&mut self, at: f64, kind: &str, name: &str) -> Line {
        let old = self.known.remove(name);
        self.line(at, (kind, name), DeltaType::Deleted, (old, None))
    }

    fn line(
        &mut self,
        at: f64,
        (kind, name): (&str, &str),
        delta_type: DeltaType,
        (old, new): (Option<String>, Option<String>),
    ) -> Line {
        self.seq += 1;
        let received = ReceivedChange {
            seq: self.seq,
            at,
            kind: kind.into(),
            key: ObjectKey::new("", name.split('#').next().unwrap()),
            uid: Uid::new(name),
            delta_type,
            old: old.as_deref(),
            new: new.as_deref(),
        };
        Line::new(received, &Marks::default())
    }
}
