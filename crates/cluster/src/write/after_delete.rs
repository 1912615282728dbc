//! What happens at once when an object is deleted. What happens later is done by controllers: the kubelets, the garbage
//! collector, the namespace controller, and the finalizer of CustomResourceDefinitions.

use std::sync::Arc;

use crate::api::Api;
use crate::resources::builtin::DEFINITIONS;
use crate::resources::object::Object;
use crate::resources::resource::Resource;

/// Called after the deletion of an object: the resources of a deleted definition are no longer served, and their
/// watches end.
pub fn after_delete(api: &Api, resource: &Resource, object: &Arc<Object>) {
    if *resource == **DEFINITIONS
        && let Some(id) = api.registry.undefine(&object.name, object.revision)
    {
        api.store.close(id);
    }
}
