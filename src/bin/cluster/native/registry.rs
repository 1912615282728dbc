//! The resources that are served now: the built-in ones, and those of CustomResourceDefinitions, which come and go.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::builtin::RESOURCES;
use super::resource::Resource;

/// The resources, in the order of discovery.
#[derive(Debug)]
pub struct Registry {
    resources: RwLock<Vec<Arc<Resource>>>,
    next_id: AtomicUsize,
}

impl Default for Registry {
    fn default() -> Self {
        Self { resources: RwLock::new(RESOURCES.clone()), next_id: AtomicUsize::new(RESOURCES.len()) }
    }
}

impl Registry {
    /// All of them.
    pub fn all(&self) -> Vec<Arc<Resource>> {
        self.resources.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The resource of a group, a version and a plural name.
    pub fn by_path(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.plural == plural && one.group() == group && one.version() == version)
    }

    /// The resource of an object's apiVersion and kind.
    pub fn by_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.api_version == api_version && one.kind == kind)
    }

    /// The resource that is called so: `pods`, `deployments.apps`.
    pub fn by_name(&self, name: &str) -> Option<Arc<Resource>> {
        self.find(|one| one.plural == name || one.qualified() == name)
    }

    /// A resource whose objects the storage keeps under this id.
    pub fn by_id(&self, id: usize) -> Option<Arc<Resource>> {
        self.find(|one| one.id == id)
    }

    /// Where the objects of a definition are kept: as before, or somewhere new.
    pub fn id_of(&self, definition_uid: &str) -> usize {
        let known = self.find(|one| one.is_custom() && one.definition_uid == definition_uid);
        known.map_or_else(|| self.next_id.fetch_add(1, Ordering::Relaxed), |one| one.id)
    }

    /// Serves the resources of a definition, and no longer those that one of that name had before; answers where
    /// the objects of those were, if they are another's.
    pub fn define(&self, definition: &str, resources: Vec<Resource>) -> Option<usize> {
        let mut all = self.resources.write().unwrap_or_else(PoisonError::into_inner);
        let before = all.iter().find(|one| one.definition == definition).map(|one| one.id);
        let replaced = before.filter(|id| resources.iter().all(|one| one.id != *id));
        all.retain(|one| one.definition != definition);
        all.extend(resources.into_iter().map(Arc::new));
        replaced
    }

    /// Serves the resources of a definition no longer; answers where their objects were.
    pub fn undefine(&self, definition_uid: &str) -> Option<usize> {
        let id = self.find(|one| one.is_custom() && one.definition_uid == definition_uid)?.id;
        self.resources.write().unwrap_or_else(PoisonError::into_inner).retain(|one| one.id != id);
        Some(id)
    }

    fn find(&self, wanted: impl Fn(&Resource) -> bool) -> Option<Arc<Resource>> {
        let all = self.resources.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|one| wanted(one)).cloned()
    }
}
