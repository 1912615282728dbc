//! The owners of an object, and the objects that it owns, as far as the watched kinds show them.

use std::sync::Arc;

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::SharedInformerFactory;
use rustc_hash::FxHashSet;

use crate::history::History;
use crate::history::coverage::Moment;
use crate::navigation::route::Route;
use crate::rewind::{Present, Then, object_then};
use crate::watches::watched::{OWNER, Watched};
use kubechurn_columns::kinds::Kind;
use kubechurn_columns::state::write_state;

/// The most dependents that are shown. The rest is only counted.
pub const MOST: usize = 100;
/// How many objects of a kind may be read to know which of them an object owned at a moment.
const MOST_THEN: usize = 500;
/// How many levels of owners are followed upwards, and how many levels of dependents downwards.
pub const DEPTH: usize = 6;

/// Another object.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its kind, such as `ReplicaSet`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Where a click leads; `None` for a kind that the page cannot watch.
    pub href: Option<String>,
    /// The state that the object's row shows, and how alarming the state is.
    pub status: (String, Tone),
    /// A remark about something unusual; usually empty.
    pub words: &'static str,
    /// How many levels below the inspected object it is, from 0.
    pub depth: usize,
}

/// The objects that an object owns, directly or indirectly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependents {
    /// The first dependents, each followed by its own dependents.
    pub links: Vec<Link>,
    /// How many more there are.
    pub more: usize,
    /// The titles of the kinds that were searched.
    pub kinds: Vec<&'static str>,
}

/// An owner's key. An owner is in the object's namespace, or in none.
pub fn key_of(kind: &Kind, owner: &OwnerReference, namespace: &str) -> ObjectKey {
    ObjectKey::new(if kind.resource.namespaced { namespace } else { "" }, &owner.name)
}

/// An object of a watched kind.
pub fn find<'a>(
    watches: &'a [Watched],
    informers: &'a SharedInformerFactory,
    kind: &Kind,
    key: &ObjectKey,
) -> Option<&'a Arc<Object>> {
    let watched = watches.iter().find(|watched| watched.kind().resource == kind.resource)?;
    watched.informers(informers).find_map(|informer| informer.store().get(key))
}

/// A link to an object. The filter and the selectors are dropped from it, because they may hide the object.
pub fn link(route: &Route, kind: &'static str, key: &ObjectKey) -> String {
    let namespaces = match &*key.namespace {
        namespace if route.namespaces.iter().any(|chosen| chosen == namespace) => route.namespaces.clone(),
        "" => route.namespaces.clone(),
        _ => Vec::new(),
    };
    let nothing = String::new();
    // A table that shows the kind already stays.
    let table = if route.shows(kind) { route.clone() } else { route.showing(kind) };
    let place = Route { text: nothing.clone(), labels: nothing.clone(), fields: nothing, namespaces, ..table };
    place.selecting(Some((kind, key))).fragment()
}

/// The word for an object's state, as the table has it, and what it means.
pub fn status(kind: &Kind, object: &Object) -> (String, Tone) {
    let mut word = String::new();
    let tone = write_state(kind.columns, &object.cells, &mut word);
    // A kind none of whose columns is the state may have one that is a status all the same.
    if word.is_empty()
        && let Some(CellRef::Status(text, _)) = object.cells.iter().find(|cell| matches!(cell, CellRef::Status(..)))
    {
        word.push_str(text);
    }
    (word, tone)
}

/// An object with its kind.
type Found = (&'static Kind, Arc<Object>);

/// The watches of a cluster.
#[derive(Clone, Copy)]
pub struct Watching<'a> {
    /// Those of all clusters.
    pub watches: &'a [Watched],
    /// Their informers.
    pub informers: &'a SharedInformerFactory,
    /// The cluster.
    pub cluster: &'a str,
}

impl<'a> Watching<'a> {
    fn watches(self) -> impl Iterator<Item = &'a Watched> {
        self.watches.iter().filter(move |one| one.kind().resource.cluster == self.cluster)
    }

    /// The objects that the object with this uid owns itself.
    fn owned(self, uid: &Uid) -> Vec<Found> {
        let (value, mut all) = (uid.text(), Vec::new());
        for watched in self.watches() {
            let informers = watched.informers(self.informers);
            let objects = informers.flat_map(|informer| informer.store().by_index(OWNER, &value));
            all.extend(objects.map(|object| (watched.kind(), object.clone())));
        }
        all
    }
}

/// The Pods that the object with this uid owns, directly or indirectly, in the order of their names.
pub fn owned_pods(watching: Watching<'_>, uid: &Uid) -> Vec<ObjectKey> {
    let (mut owners, mut at, mut pods) = (vec![uid.clone()], 0, Vec::new());
    while let Some(owner) = owners.get(at).cloned() {
        at += 1;
        for (kind, object) in watching.owned(&owner) {
            if kind.resource.kind == "Pod" {
                pods.push(object.key.clone());
            } else if owners.len() < MOST && !owners.contains(&object.uid) {
                owners.push(object.uid.clone());
            }
        }
    }
    sort_by(&mut pods, ObjectKey::cmp);
    pods.dedup();
    pods
}

/// The objects of a cluster that the object with this uid owns, and the objects that those own.
pub fn dependents(watching: Watching<'_>, route: &Route, uid: &Uid) -> Dependents {
    let kinds = watching.watches().map(|watched| watched.kind().title).collect();
    search(kinds, route, uid, &|uid| watching.owned(uid))
}

/// The same as it was at a moment, among objects of these kinds. It is looked for among what the object owns now and what has a
/// name that begins with its own: of nearly all that is made by controllers the name does.
pub fn dependents_then(
    (kinds, watching): (&[&'static Kind], Watching<'_>),
    route: &Route,
    (key, uid): (&ObjectKey, &Uid),
    moment: Moment,
    (history, present): (&History, &dyn Present),
) -> Dependents {
    let mut wanted: FxHashSet<(usize, ObjectKey)> = FxHashSet::default();
    let place = |kind: &Kind| kinds.iter().position(|other| other.resource == kind.resource);
    let mut owners = vec![uid.clone()];
    while let Some(owner) = owners.pop() {
        for (kind, object) in watching.owned(&owner) {
            if wanted.len() < MOST_THEN && place(kind).is_some_and(|at| wanted.insert((at, object.key.clone()))) {
                owners.push(object.uid.clone());
            }
        }
    }
    let is_below = |other: &ObjectKey| {
        let rest = other.name.strip_prefix(&*key.name).filter(|_| other.namespace == key.namespace);
        rest.is_some_and(|rest| rest.starts_with('-'))
    };
    for (at, kind) in kinds.iter().enumerate() {
        let named = history.names(kind.resource).filter(|key| is_below(key));
        wanted.extend(named.take(MOST_THEN).map(|key| (at, key.clone())));
    }
    let then = |(at, key): (usize, ObjectKey)| match object_then(kinds[at], &key, moment, (history, present), None) {
        Then::Object(object) => Some((kinds[at], object)),
        Then::NotRecorded | Then::Absent => None,
    };
    let all: Vec<Found> = wanted.into_iter().filter_map(then).collect();
    let owned = |uid: &Uid| {
        let is_its = |object: &Object| object.owners().iter().any(|owner| owner.uid == *uid);
        all.iter().filter(|(_, object)| is_its(object)).cloned().collect()
    };
    search(kinds.iter().map(|kind| kind.title).collect(), route, uid, &owned)
}

fn search(kinds: Vec<&'static str>, route: &Route, uid: &Uid, owned: &dyn Fn(&Uid) -> Vec<Found>) -> Dependents {
    let found = Dependents { kinds, ..Dependents::default() };
    let mut search = Search { owned, route, seen: vec![uid.clone()], found };
    search.below(uid, 0);
    search.found
}

/// A search for dependents.
struct Search<'a> {
    /// The objects that another one owns itself.
    owned: &'a dyn Fn(&Uid) -> Vec<Found>,
    route: &'a Route,
    /// The uids that were visited. A uid that two objects claim, or that owns itself, is visited once.
    seen: Vec<Uid>,
    found: Dependents,
}

impl Search<'_> {
    /// Adds the objects that the object with this uid owns, and the objects below those.
    fn below(&mut self, uid: &Uid, depth: usize) {
        let mut objects = (self.owned)(uid);
        let place = |kind: &Kind| self.found.kinds.iter().position(|title| *title == kind.title);
        sort_by(&mut objects, |a, b| place(a.0).cmp(&place(b.0)).then_with(|| a.1.key.cmp(&b.1.key)));
        for (kind, object) in objects {
            if self.found.links.len() >= MOST {
                self.found.more += 1;
                continue;
            }
            if self.seen.contains(&object.uid) {
                continue;
            }
            self.seen.push(object.uid.clone());
            self.found.links.push(Link {
                kind: kind.resource.kind.to_owned(),
                name: object.key.name.to_string(),
                href: Some(link(self.route, kind.name, &object.key)),
                status: status(kind, &object),
                words: "",
                depth,
            });
            if depth + 1 < DEPTH {
                self.below(&object.uid, depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::catalog::Catalog;
    use crate::watches::notices::Announcer;
    use crate::watches::watched::scopes;
    use kubechurn_client::cache::backoff::Moment as Now;
    use kubechurn_client::cache::reflector::Input;
    use kubechurn_columns::kinds::kind;

    const NOW: Now = Now { now: 0.0, random: 0.0 };

    fn owned(kind: &str, name: &str, uid: &str, owner: &str) -> String {
        format!(
            r#"{{"type":"ADDED","object":{{"kind":"{kind}","metadata":{{"namespace":"n","name":"{name}","uid":"{uid}",
            "resourceVersion":"1","ownerReferences":[{{"apiVersion":"apps/v1","kind":"X","name":"x","uid":"{owner}"}}]}}}}}}"#
        )
    }

    fn check(frames: &[(&str, String)], uid: &str, expected: &[&str]) {
        let (mut informers, mut announcer) = (SharedInformerFactory::default(), Announcer::default());
        let route = Route::parse("#/deployments?pin=replicasets,pods&labels=a%3Db&ns=n");
        let mut watches = Vec::new();
        for name in ["deployments", "replicasets", "pods"] {
            let kind = kind(name).unwrap();
            let scopes = scopes(kind, &Route::default(), false);
            watches.push(Watched::new(kind, scopes, &mut informers, &mut announcer, 0.0));
        }
        for (id, resource, _) in informers.start() {
            let informer = informers.get_mut(id).unwrap();
            informer.handle(Input::Start, NOW);
            for (_, frame) in frames.iter().filter(|(plural, _)| *plural == resource.plural) {
                informer.handle(Input::Frame(frame), NOW);
            }
            let end = r#"{"type":"BOOKMARK","object":{"kind":"X","metadata":{"resourceVersion":"9",
                "annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
            informer.handle(Input::Frame(end), NOW);
            informer.drain(usize::MAX, 0.0);
        }
        let watching = Watching { watches: &watches, informers: &informers, cluster: "" };
        let found = dependents(watching, &route, &uid.into());
        let lines: Vec<String> =
            found.links.iter().map(|link| format!("{}{} {}", "-".repeat(link.depth), link.kind, link.name)).collect();
        assert_eq!(lines, expected);
        assert_eq!((found.more, found.kinds), (0, vec!["Deployments", "ReplicaSets", "Pods"]));
        let hrefs = found.links.iter().filter_map(|link| link.href.clone());
        assert!(hrefs.into_iter().all(|href| href.contains("sel=n/") && !href.contains("labels")), "{:?}", found.links);
    }

    #[test]
    fn what_belongs_to_what_belongs_to_an_object_is_found() {
        let frames = [
            ("replicasets", owned("ReplicaSet", "r", "r", "d")),
            ("pods", owned("Pod", "p2", "p2", "r")),
            ("pods", owned("Pod", "p1", "p1", "r")),
            ("pods", owned("Pod", "other", "o", "else")),
        ];
        check(&frames, "d", &["ReplicaSet r", "-Pod p1", "-Pod p2"]);
        check(&frames, "r", &["Pod p1", "Pod p2"]);
        check(&frames, "nobody", &[]);
    }

    #[test]
    fn who_owns_itself_is_no_endless_tree() {
        let frames = [("pods", owned("Pod", "a", "a", "b")), ("pods", owned("Pod", "b", "b", "a"))];
        check(&frames, "a", &["Pod b"]);
    }

    #[test]
    fn owners_are_known_by_group_and_kind() {
        let owner = |api_version: &str, kind: &str| OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: "x".into(),
            uid: "u".into(),
            controller: true,
        };
        let found = |api_version: &str, kind: &str| {
            Catalog::default().of_owner(owner(api_version, kind).group(), kind, "").map(|kind| kind.name)
        };
        assert_eq!(found("apps/v1", "ReplicaSet"), Some("replicasets"));
        assert_eq!(found("v1", "Node"), Some("nodes"));
        assert_eq!(found("other/v1", "ReplicaSet"), None);
        let key = key_of(kind("nodes").unwrap(), &owner("v1", "Node"), "n");
        assert_eq!(key.to_string(), "x");
    }
}
