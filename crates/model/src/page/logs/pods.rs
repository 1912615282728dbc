//! Whose log is shown, and which Pods these are.

use serde_json::Value;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::Kind;

use crate::inspector::relatives::{Watching, owned_pods};
use crate::logs::containers::PodNow;
use crate::navigation::catalog::at;
use crate::navigation::route::WhyPlace;
use crate::page::context::Context;

/// How many Pods of a workload are looked at.
const MOST: usize = 50;

/// Whose log it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Of {
    /// That of an object, which is a Pod or has Pods.
    Object(&'static str, ObjectKey),
    /// Those of the Pods of an incident.
    Incident(WhyPlace),
}

/// The Pods whose log it is.
#[derive(Debug, Default)]
pub(super) struct Pods {
    /// Their kind, with its cluster.
    pub kind: Option<&'static Kind>,
    /// Those that were ever among them.
    pub keys: Vec<ObjectKey>,
    /// What is known of them now.
    pub now: Vec<PodNow>,
    /// Whether Pods are watched.
    pub are_watched: bool,
}

impl Pods {
    /// Finds the Pods of an object, and what is known of them. `text` is the object as it was fetched.
    pub fn look(&mut self, (kind, key): (&'static Kind, &ObjectKey), text: Option<&Value>, cx: &Context<'_>) {
        if kind.resource.kind == "Pod" {
            (self.kind, self.keys) = (Some(kind), vec![key.clone()]);
        } else {
            let cluster = kind.resource.cluster;
            let pods = cx.navigation.catalog.kinds().find(|pods| pods.name == "pods");
            self.kind = pods.map(|pods| at(pods, cluster));
            let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
            let watching = Watching { watches, informers, cluster };
            let last = cx.watching.history.of(&kind.resource, key).last().map(|entry| entry.uid.clone());
            let uid = last.or_else(|| Some(Uid::new(text?.pointer("/metadata/uid")?.as_str()?)));
            let found = uid.map(|uid| owned_pods(watching, &uid)).unwrap_or_default();
            self.add(found);
        }
        self.read(text, cx);
    }

    /// Takes the Pods of an incident.
    pub fn look_at(&mut self, kind: Option<&'static Kind>, keys: Vec<ObjectKey>, cx: &Context<'_>) {
        self.kind = kind;
        self.add(keys);
        self.read(None, cx);
    }

    fn add(&mut self, found: Vec<ObjectKey>) {
        for key in found {
            if self.keys.len() < MOST && !self.keys.contains(&key) {
                self.keys.push(key);
            }
        }
    }

    fn read(&mut self, text: Option<&Value>, cx: &Context<'_>) {
        let Some(kind) = self.kind else { return };
        self.are_watched = cx.watching.watches.iter().any(|watched| watched.kind().resource == kind.resource);
        let history = &cx.watching.history;
        let mut known = std::mem::take(&mut self.now);
        for key in &self.keys {
            let entries = history.of(&kind.resource, key);
            // A deletion that a list showed has no text of its own.
            let is_gone = entries.last().is_some_and(|last| last.delta_type == DeltaType::Deleted);
            let Some(last) = entries.iter().rev().find(|entry| entry.has_text) else {
                let fetched = text.map(|text| PodNow::of(text, false)).filter(|pod| pod.name == *key.name);
                self.now.extend(fetched);
                continue;
            };
            // What was read before is not read again while the cluster changes elsewhere.
            let at = known.iter().position(|pod| pod.name == *key.name && pod.version == last.sequence);
            let pod = match at {
                Some(at) => Some(known.swap_remove(at)),
                None => history
                    .text(last.sequence)
                    .and_then(|text| Some(PodNow::of(&serde_json::from_str(&text).ok()?, false))),
            };
            self.now.extend(pod.map(|pod| PodNow {
                namespace: key.namespace.to_string(),
                name: key.name.to_string(),
                uid: last.uid.to_string(),
                version: last.sequence,
                is_gone,
                ..pod
            }));
        }
    }
}
