//! The resources that are currently served: the built-in ones, and those of CustomResourceDefinitions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::resources::builtin::RESOURCES;
use crate::resources::resource::Resource;

/// The resources, in the order of discovery.
#[derive(Debug)]
pub struct Registry {
    state: RwLock<State>,
    next_id: AtomicUsize,
}

#[derive(Debug)]
struct State {
    resources: Vec<Arc<Resource>>,
    /// The newest known revision of each definition, by name; for a deleted definition, that of its deletion. A
    /// definition that is written through this server arrives twice: from the write, and from the watch event.
    known: BTreeMap<String, u64>,
}

impl Default for Registry {
    fn default() -> Self {
        let state = State { resources: RESOURCES.clone(), known: BTreeMap::new() };
        Self { state: RwLock::new(state), next_id: AtomicUsize::new(RESOURCES.len()) }
    }
}

impl Registry {
    /// All resources.
    pub fn all(&self) -> Vec<Arc<Resource>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).resources.clone()
    }

    /// The resource of a group, a version and a plural name.
    pub fn by_path(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.plural == plural && one.group() == group && one.version() == version)
    }

    /// The resource of an object's apiVersion and kind.
    pub fn by_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.api_version == api_version && one.kind == kind)
    }

    /// The resource with a name such as `pods` or `deployments.apps`.
    pub fn by_name(&self, name: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.plural == name || one.qualified() == name)
    }

    /// The id under which the objects of a definition are kept: its present one, or a new one.
    pub fn id_of(&self, definition_uid: &str) -> usize {
        let known = self.find(|one| one.is_custom() && one.definition_uid == definition_uid);
        known.map_or_else(|| self.next_id.fetch_add(1, Ordering::Relaxed), |one| one.id)
    }

    /// The names of the definitions whose resources are served.
    pub fn definitions(&self) -> Vec<String> {
        let resources = self.all().into_iter().filter(|one| one.is_custom());
        resources.map(|one| one.definition.to_string()).collect()
    }

    /// Replaces the resources of a definition by those of a revision; returns the id of the former objects, if they
    /// belong to another definition. A revision that is older than the newest known one changes nothing.
    pub fn define(&self, definition: &str, revision: u64, resources: Vec<Resource>) -> Option<usize> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if !state.is_news(definition, revision) {
            return None;
        }
        let before = state.resources.iter().find(|one| one.definition == definition).map(|one| one.id);
        let replaced = before.filter(|id| resources.iter().all(|one| one.id != *id));
        state.resources.retain(|one| one.definition != definition);
        state.resources.extend(resources.into_iter().map(Arc::new));
        replaced
    }

    /// Stops serving the resources of a definition that was deleted at a revision; returns the id of their objects.
    pub fn undefine(&self, definition: &str, revision: u64) -> Option<usize> {
        self.define(definition, revision, Vec::new())
    }

    /// Forgets all known revisions after one. They will arrive again, or were those of a storage that was restarted at
    /// lower ones.
    pub fn forget_after(&self, revision: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.known.retain(|_, known| *known <= revision);
    }

    fn find(&self, wanted: impl Fn(&Resource) -> bool) -> Option<Arc<Resource>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.resources.iter().find(|one| wanted(one)).cloned()
    }
}

impl State {
    fn is_news(&mut self, definition: &str, revision: u64) -> bool {
        match self.known.get_mut(definition) {
            Some(known) if *known >= revision => false,
            Some(known) => {
                *known = revision;
                true
            }
            None => {
                self.known.insert(definition.to_owned(), revision);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::definition;

    fn widgets(registry: &Registry, uid: &str) -> Vec<Resource> {
        let definition = json!({"metadata": {"name": "widgets.example.org", "uid": uid}, "spec": {
            "group": "example.org", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true}]}});
        definition::resources(&definition, registry.id_of(uid)).unwrap()
    }

    #[test]
    fn old_news_of_a_definition_changes_nothing() {
        let registry = Registry::default();
        let name = "widgets.example.org";
        let is_served = || registry.by_kind("example.org/v1", "Widget").is_some();
        assert_eq!(registry.define(name, 10, widgets(&registry, "a")), None);
        assert!(registry.undefine(name, 12).is_some());
        registry.define(name, 11, widgets(&registry, "a"));
        assert!(!is_served(), "the event from before the deletion came after it");
        registry.define(name, 13, widgets(&registry, "b"));
        assert_eq!((registry.undefine(name, 12), is_served()), (None, true));
        assert_eq!(registry.definitions(), [name]);
        registry.forget_after(12);
        registry.undefine(name, 3);
        assert!(!is_served(), "the storage has begun anew");
    }
}
