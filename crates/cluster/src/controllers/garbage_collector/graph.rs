//! Who owns whom, by uid (`pkg/controller/garbagecollector/graph.go` and `graph_builder.go`). It knows no client and no
//! clock: changes go in, and what has to be looked at comes out.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

/// Holds an object until what it owns is gone.
pub const FOREGROUND: &str = "foregroundDeletion";
/// Holds an object until nothing names it as its owner.
pub const ORPHAN: &str = "orphan";

/// Names one life of one object.
pub type Uid = Rc<str>;

/// What shall be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// An object that perhaps has to go, or is not there at all (`attemptToDelete`).
    Delete(Uid),
    /// An object whose dependents are to stay (`attemptToOrphan`).
    Orphan(Uid),
}

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Delete(uid) => write!(formatter, "delete {uid}"),
            Self::Orphan(uid) => write!(formatter, "orphan the dependents of {uid}"),
        }
    }
}

/// What an object is, such as a Pod of `v1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Group and version: `v1`, `apps/v1`.
    pub api_version: Box<str>,
    /// The kind.
    pub kind: Box<str>,
}

/// An owner reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The owner's uid.
    pub uid: Uid,
    /// What it shall be.
    pub kind: Rc<Kind>,
    /// Its name.
    pub name: Rc<str>,
    /// Whether the owner waits for this one when it is deleted in the foreground (`blockOwnerDeletion`).
    pub blocks: bool,
}

/// An object as a LIST or a WATCH tells of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Its uid.
    pub uid: Uid,
    /// What it is.
    pub kind: Rc<Kind>,
    /// Its namespace; empty at the cluster scope.
    pub namespace: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// The owners that it names.
    pub owners: Vec<Owner>,
    /// Whether it is being deleted.
    pub leaving: bool,
    /// Whether [`FOREGROUND`] holds it.
    pub foreground: bool,
    /// Whether [`ORPHAN`] holds it.
    pub orphan: bool,
}

/// An object in the graph. 150,000 of them have to fit: what many share is shared.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: Rc<Kind>,
    /// Its namespace; of an owner that nobody has seen, that of who named it.
    pub namespace: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// The owners that it names.
    pub owners: Box<[Owner]>,
    /// Who names it as an owner.
    pub dependents: FxHashSet<Uid>,
    /// It was named as an owner, and nobody has seen it yet.
    pub is_virtual: bool,
    /// It is being deleted.
    pub leaving: bool,
    /// It is being deleted, and waits for its dependents.
    pub deleting_dependents: bool,
    /// It is being deleted, and its dependents are to stay.
    orphaning: bool,
}

/// The objects of all resources.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: FxHashMap<Uid, Node>,
    /// One copy of each namespace and name of an owner.
    texts: FxHashSet<Rc<str>>,
    /// With so many texts those that no object has any more are let go.
    sweep_at: usize,
    kinds: FxHashSet<Rc<Kind>>,
}

impl Graph {
    /// An object.
    pub fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// How many there are, those that nobody has seen included.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The one copy of a text that many objects have.
    pub fn text(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.texts.get(text) {
            return Rc::clone(known);
        }
        if self.texts.len() >= self.sweep_at {
            self.texts.retain(|one| Rc::strong_count(one) > 1);
            self.sweep_at = (2 * self.texts.len()).max(1024);
        }
        let new: Rc<str> = text.into();
        self.texts.insert(Rc::clone(&new));
        new
    }

    /// The one copy of a kind.
    pub fn kind(&mut self, api_version: &str, kind: &str) -> Rc<Kind> {
        let wanted = Kind { api_version: api_version.into(), kind: kind.into() };
        match self.kinds.get(&wanted) {
            Some(known) => Rc::clone(known),
            None => {
                let new = Rc::new(wanted);
                self.kinds.insert(Rc::clone(&new));
                new
            }
        }
    }

    /// The one copy of an uid that objects already have, or a new one.
    pub fn uid(&self, uid: &str) -> Uid {
        self.nodes.get_key_value(uid).map_or_else(|| uid.into(), |(known, _)| Rc::clone(known))
    }

    /// An object is there, or has changed (`processGraphChanges` of an addition or an update). Answers what shall be
    /// looked at.
    pub fn observe(&mut self, observed: Observed) -> Vec<Key> {
        let Observed { uid, kind, namespace, name, owners, leaving, foreground, orphan } = observed;
        let mut work = Vec::new();
        let before = match self.nodes.entry(Rc::clone(&uid)) {
            Entry::Vacant(place) => {
                place.insert(Node {
                    kind,
                    namespace,
                    name,
                    owners: Box::default(),
                    dependents: FxHashSet::default(),
                    is_virtual: false,
                    leaving,
                    deleting_dependents: false,
                    orphaning: false,
                });
                Box::default()
            }
            Entry::Occupied(place) => {
                let node = place.into_mut();
                let elsewhere = node.kind != kind || node.name != name || node.namespace != namespace;
                if node.is_virtual && elsewhere {
                    // It is not what its dependents took it for.
                    work.extend(node.dependents.iter().cloned().map(Key::Delete));
                }
                (node.kind, node.namespace, node.name, node.is_virtual) = (kind, namespace, name, false);
                node.leaving |= leaving;
                std::mem::take(&mut node.owners)
            }
        };
        self.relink(&uid, &before, &owners, &mut work);
        let Some(node) = self.nodes.get_mut(&uid) else { return work };
        node.owners = owners.into();
        if leaving && orphan && !node.orphaning {
            node.orphaning = true;
            work.push(Key::Orphan(Rc::clone(&uid)));
        }
        if leaving && foreground && !node.deleting_dependents {
            node.deleting_dependents = true;
            work.extend(node.dependents.iter().cloned().map(Key::Delete));
            work.push(Key::Delete(uid));
        }
        work
    }

    /// An object is gone, or turned out not to be there. Its dependents are looked at, and so is an owner that may have
    /// waited for it.
    pub fn forget(&mut self, uid: &str) -> Vec<Key> {
        let Some((uid, node)) = self.nodes.remove_entry(uid) else { return Vec::new() };
        let mut work: Vec<Key> = node.dependents.into_iter().map(Key::Delete).collect();
        self.relink(&uid, &node.owners, &[], &mut work);
        work
    }

    /// The objects of a kind, but for those of which `keep` says that they are still there.
    pub fn missing(&self, kind: &Kind, keep: impl Fn(&str) -> bool) -> Vec<Uid> {
        let missing = self.nodes.iter().filter(|(uid, node)| !node.is_virtual && *node.kind == *kind && !keep(uid));
        missing.map(|(uid, _)| Rc::clone(uid)).collect()
    }

    /// The owners that nobody has seen.
    pub fn virtual_nodes(&self) -> Vec<Uid> {
        self.nodes.iter().filter(|(_, node)| node.is_virtual).map(|(uid, _)| Rc::clone(uid)).collect()
    }

    /// An owner that is known to be there, of whom the graph knows nothing yet: the next look at its dependents must not
    /// miss it.
    pub fn expect(&mut self, dependent: &str, owner_uid: &str) {
        let Some((uid, node)) = self.nodes.get_key_value(dependent) else { return };
        let Some(owner) = node.owners.iter().find(|owner| &*owner.uid == owner_uid).cloned() else { return };
        let (uid, namespace) = (Rc::clone(uid), Rc::clone(&node.namespace));
        let node = self.nodes.entry(Rc::clone(&owner.uid)).or_insert_with(|| virtual_node(&owner, namespace));
        node.dependents.insert(uid);
    }

    /// Which dependents hold an owner that is deleted in the foreground (`blockingDependents`).
    pub fn blocking_dependents(&self, uid: &str) -> Vec<Uid> {
        let Some(node) = self.nodes.get(uid) else { return Vec::new() };
        let blocks = |dependent: &&Uid| {
            let owners = self.nodes.get(*dependent).map_or(&[][..], |dependent| &dependent.owners);
            owners.iter().any(|owner| &*owner.uid == uid && owner.blocks)
        };
        node.dependents.iter().filter(blocks).cloned().collect()
    }

    /// Moves an object from its old owners to its new ones.
    fn relink(&mut self, uid: &Uid, before: &[Owner], after: &[Owner], work: &mut Vec<Key>) {
        for old in before {
            let kept = after.iter().find(|new| new.uid == old.uid);
            let Some(node) = self.nodes.get_mut(&old.uid) else { continue };
            if kept.is_none_or(|new| old.blocks && !new.blocks) && node.deleting_dependents {
                work.push(Key::Delete(Rc::clone(&old.uid)));
            }
            if kept.is_none() {
                node.dependents.remove(uid);
                if node.is_virtual && node.dependents.is_empty() {
                    self.nodes.remove(&old.uid);
                }
            }
        }
        let namespace = self.nodes.get(uid).map(|node| Rc::clone(&node.namespace));
        for new in after.iter().filter(|new| before.iter().all(|old| old.uid != new.uid)) {
            let namespace = namespace.clone().unwrap_or_else(|| "".into());
            match self.nodes.entry(Rc::clone(&new.uid)) {
                Entry::Vacant(place) => {
                    let node = place.insert(virtual_node(new, namespace));
                    node.dependents.insert(Rc::clone(uid));
                    work.push(Key::Delete(Rc::clone(&new.uid)));
                }
                Entry::Occupied(place) => {
                    let node = place.into_mut();
                    node.dependents.insert(Rc::clone(uid));
                    let other_place = !node.namespace.is_empty() && node.namespace != namespace;
                    if other_place || node.kind.kind != new.kind.kind || node.name != new.name {
                        // Whoever has that uid is not whom it names.
                        work.push(Key::Delete(Rc::clone(uid)));
                    } else if node.deleting_dependents {
                        work.push(Key::Delete(Rc::clone(&new.uid)));
                    }
                }
            }
        }
    }
}

fn virtual_node(owner: &Owner, namespace: Rc<str>) -> Node {
    Node {
        kind: Rc::clone(&owner.kind),
        namespace,
        name: Rc::clone(&owner.name),
        owners: Box::default(),
        dependents: FxHashSet::default(),
        is_virtual: true,
        leaving: false,
        deleting_dependents: false,
        orphaning: false,
    }
}
