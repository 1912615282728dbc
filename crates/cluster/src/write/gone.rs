//! What follows at once when an object is gone. What follows later is up to the controllers: the kubelets, the garbage
//! collector, the namespace controller, and the finalizer of CustomResourceDefinitions.

use std::sync::Arc;

use crate::api::Api;
use crate::resources::builtin::DEFINITIONS;
use crate::resources::object::Object;
use crate::resources::resource::Resource;

/// An object is gone, by whoever's request: what a definition defined is served no longer, and its watches end.
pub fn gone(api: &Api, resource: &Resource, object: &Arc<Object>) {
    if *resource == **DEFINITIONS
        && let Some(id) = api.registry.undefine(&object.name, object.revision)
    {
        api.store.close(id);
    }
}
