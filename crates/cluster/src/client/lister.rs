//! Reads what an informer knows: client-go's `Lister` and `Indexer`.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::index::{IndexFunc, NAMESPACE};
use kubechurn_client::cache::store::Change;
use serde_json::Value;

use super::informers::{Informers, OWNER};
use super::resources::api_version;

/// Reads the store of one informer. An answer may be older than the state of the server.
#[derive(Debug, Clone)]
pub struct Lister {
    informers: Informers,
    id: InformerId,
    resource: ApiResource,
}

impl Informers {
    /// A lister of a resource in all namespaces. If its informer is new, it runs once [`Self::start`] is called.
    pub fn lister(&self, resource: ApiResource) -> Lister {
        self.lister_in(resource, &Scope::default())
    }

    /// A lister of a part of the objects, such as the Pods of one node.
    pub fn lister_in(&self, resource: ApiResource, scope: &Scope) -> Lister {
        Lister { informers: self.clone(), id: self.informer_for(resource, scope), resource }
    }
}

impl Lister {
    /// The resource that is listed.
    pub fn resource(&self) -> ApiResource {
        self.resource
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.informers.with_store(self.id, |store| store.get(key).cloned())?
    }

    /// One object as JSON; see [`Self::parse`].
    pub fn value(&self, key: &ObjectKey) -> Option<Value> {
        self.parse(&*self.get(key)?)
    }

    /// Every object, by key.
    pub fn list(&self) -> Vec<Arc<Object>> {
        self.informers.with_store(self.id, |store| store.list()).unwrap_or_default()
    }

    /// The objects of a namespace, in no particular order.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<Object>> {
        self.by_index(NAMESPACE, namespace)
    }

    /// The objects that have an owner with this uid, in no particular order.
    pub fn owned_by(&self, uid: &str) -> Vec<Arc<Object>> {
        self.by_index(OWNER, uid)
    }

    /// The objects that an index files under a value, in no particular order.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<Object>> {
        let read = self.informers.with_store(self.id, |store| store.by_index(name, value).cloned().collect());
        read.unwrap_or_default()
    }

    /// Adds an index, unless there is one of that name (`AddIndexers`).
    pub fn add_index(&self, name: &str, of: IndexFunc) {
        self.informers.add_index(self.id, name, of);
    }

    /// Calls `handler` with every object that is known, and then with every change. No informer is borrowed during the
    /// call, so `handler` may read any lister.
    pub fn on_change(&self, handler: impl Fn(&Change) + 'static) {
        self.informers.add_event_handler(self.id, HandlerOptions::default(), handler);
    }

    /// An object as JSON, with the `kind` and `apiVersion` that lists leave out. `None` only for an object that was
    /// stored without its text.
    pub fn parse(&self, object: &Object) -> Option<Value> {
        let mut value: Value = serde_json::from_str(object.text()?).ok()?;
        let fields = value.as_object_mut()?;
        fields.insert("apiVersion".to_owned(), api_version(&self.resource).into());
        fields.insert("kind".to_owned(), self.resource.kind.into());
        Some(value)
    }
}
