//! The graph of owners and dependents, by uid (`pkg/controller/garbagecollector/graph.go` and `graph_builder.go`). It
//! uses no client and no clock: changes go in, and the objects to check come out.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

/// The uid of an object.
pub type Uid = Rc<str>;

/// What is to be checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// An object that may have to be deleted, or that may not exist (`attemptToDelete`).
    Delete(Uid),
    /// An object that is deleted while its dependents stay (`attemptToOrphan`).
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

/// The kind of an object with its group and version, such as a Pod of `v1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Group and version: `v1`, `apps/v1`.
    pub api_version: Box<str>,
    pub kind: Box<str>,
}

/// An owner reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The owner's uid.
    pub uid: Uid,
    /// The owner's kind.
    pub kind: Rc<Kind>,
    /// The owner's name.
    pub name: Rc<str>,
    /// Whether a foreground deletion of the owner waits for this dependent (`blockOwnerDeletion`).
    pub blocks: bool,
}

/// An object as a LIST or a WATCH reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Its uid.
    pub uid: Uid,
    /// Its kind.
    pub kind: Rc<Kind>,
    /// Its namespace; empty at the cluster scope.
    pub namespace: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Its owner references.
    pub owners: Vec<Owner>,
    /// Whether it is being deleted.
    pub being_deleted: bool,
    /// Whether the finalizer [`DELETE_DEPENDENTS`](crate::resources::object::DELETE_DEPENDENTS) is set.
    pub foreground: bool,
    /// Whether the finalizer [`ORPHAN_DEPENDENTS`](crate::resources::object::ORPHAN_DEPENDENTS) is set.
    pub orphan: bool,
}

/// An object in the graph. 150,000 of them have to fit in memory, so they share equal parts.
#[derive(Debug)]
pub struct Node {
    /// Its kind.
    pub kind: Rc<Kind>,
    /// Its namespace; for a virtual node that of the dependent.
    pub namespace: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Its owner references.
    pub owners: Box<[Owner]>,
    /// The objects that refer to it as an owner.
    pub dependents: FxHashSet<Uid>,
    /// Whether it is known only from an owner reference, and no monitor has reported it yet.
    pub is_virtual: bool,
    /// Whether it is being deleted.
    pub being_deleted: bool,
    /// Whether it is being deleted and waits for its dependents.
    pub deleting_dependents: bool,
    /// Whether it is being deleted and its dependents stay.
    orphaning: bool,
}

/// The objects of all resources.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: FxHashMap<Uid, Node>,
    /// One copy of each namespace and of each owner's name.
    texts: FxHashSet<Rc<str>>,
    /// At this number of texts, those that no object uses any more are dropped.
    sweep_at: usize,
    kinds: FxHashSet<Rc<Kind>>,
}

impl Graph {
    /// An object.
    pub fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// The number of objects, virtual nodes included.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The shared copy of a text.
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

    /// The shared copy of a kind.
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

    /// The shared copy of a uid if the graph has it, or else a new one.
    pub fn uid(&self, uid: &str) -> Uid {
        self.nodes.get_key_value(uid).map_or_else(|| uid.into(), |(known, _)| Rc::clone(known))
    }

    /// Adds or updates an object (`processGraphChanges` for an addition or an update). Returns what is to be checked.
    pub fn observe(&mut self, observed: Observed) -> Vec<Key> {
        let Observed { uid, kind, namespace, name, owners, being_deleted, foreground, orphan } = observed;
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
                    being_deleted,
                    deleting_dependents: false,
                    orphaning: false,
                });
                Box::default()
            }
            Entry::Occupied(place) => {
                let node = place.into_mut();
                let elsewhere = node.kind != kind || node.name != name || node.namespace != namespace;
                if node.is_virtual && elsewhere {
                    // The object is not of the kind that its dependents refer to.
                    work.extend(node.dependents.iter().cloned().map(Key::Delete));
                }
                (node.kind, node.namespace, node.name, node.is_virtual) = (kind, namespace, name, false);
                node.being_deleted |= being_deleted;
                std::mem::take(&mut node.owners)
            }
        };
        self.relink(&uid, &before, &owners, &mut work);
        let Some(node) = self.nodes.get_mut(&uid) else { return work };
        node.owners = owners.into();
        if being_deleted && orphan && !node.orphaning {
            node.orphaning = true;
            work.push(Key::Orphan(Rc::clone(&uid)));
        }
        if being_deleted && foreground && !node.deleting_dependents {
            node.deleting_dependents = true;
            work.extend(node.dependents.iter().cloned().map(Key::Delete));
            work.push(Key::Delete(uid));
        }
        work
    }

    /// Removes an object that was deleted or turned out not to exist. Returns its dependents to be checked, and owners
    /// that may have waited for it.
    pub fn forget(&mut self, uid: &str) -> Vec<Key> {
        let Some((uid, node)) = self.nodes.remove_entry(uid) else { return Vec::new() };
        let mut work: Vec<Key> = node.dependents.into_iter().map(Key::Delete).collect();
        self.relink(&uid, &node.owners, &[], &mut work);
        work
    }

    /// The objects of a kind for which `keep` returns false.
    pub fn missing(&self, kind: &Kind, keep: impl Fn(&str) -> bool) -> Vec<Uid> {
        let missing = self.nodes.iter().filter(|(uid, node)| !node.is_virtual && *node.kind == *kind && !keep(uid));
        missing.map(|(uid, _)| Rc::clone(uid)).collect()
    }

    /// The owners that no monitor has reported.
    pub fn virtual_nodes(&self) -> Vec<Uid> {
        self.nodes.iter().filter(|(_, node)| node.is_virtual).map(|(uid, _)| Rc::clone(uid)).collect()
    }

    /// Adds an owner that is known to exist before its monitor reports it, so that the next check of its dependents
    /// finds it.
    pub fn expect(&mut self, dependent: &str, owner_uid: &str) {
        let Some((uid, node)) = self.nodes.get_key_value(dependent) else { return };
        let Some(owner) = node.owners.iter().find(|owner| &*owner.uid == owner_uid).cloned() else { return };
        let (uid, namespace) = (Rc::clone(uid), Rc::clone(&node.namespace));
        let node = self.nodes.entry(Rc::clone(&owner.uid)).or_insert_with(|| virtual_node(&owner, namespace));
        node.dependents.insert(uid);
    }

    /// The dependents that a foreground deletion of an owner waits for (`blockingDependents`).
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
                        // The object with that uid is not the owner that is referred to.
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
        being_deleted: false,
        deleting_dependents: false,
        orphaning: false,
    }
}
