//! What an informer knows, to be read: client-go's `Lister` and `Indexer`.

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

/// Reads one informer's store. What it answers is what was known at that moment; the server may be ahead of it.
#[derive(Debug, Clone)]
pub struct Lister {
    informers: Informers,
    id: InformerId,
    resource: ApiResource,
}

impl Informers {
    /// What is known of a resource in all namespaces. An informer that is new begins with [`Self::start`].
    pub fn lister(&self, resource: ApiResource) -> Lister {
        self.lister_in(resource, &Scope::default())
    }

    /// The same for a part of the objects, such as the Pods of one node.
    pub fn lister_in(&self, resource: ApiResource, scope: &Scope) -> Lister {
        Lister { informers: self.clone(), id: self.informer_for(resource, scope), resource }
    }
}

impl Lister {
    /// What it lists.
    pub fn resource(&self) -> ApiResource {
        self.resource
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.informers.with_store(self.id, |store| store.get(key).cloned())?
    }

    /// One object as JSON, see [`Self::parse`].
    pub fn value(&self, key: &ObjectKey) -> Option<Value> {
        self.parse(&*self.get(key)?)
    }

    /// Every object, by key.
    pub fn list(&self) -> Vec<Arc<Object>> {
        self.informers.with_store(self.id, |store| store.list()).unwrap_or_default()
    }

    /// The objects of a namespace, in any order.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<Object>> {
        self.by_index(NAMESPACE, namespace)
    }

    /// The objects that name an owner of this uid, in any order.
    pub fn owned_by(&self, uid: &str) -> Vec<Arc<Object>> {
        self.by_index(OWNER, uid)
    }

    /// The objects that an index files under a value, in any order.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<Object>> {
        let read = self.informers.with_store(self.id, |store| store.by_index(name, value).cloned().collect());
        read.unwrap_or_default()
    }

    /// Adds an index, unless there is one of that name (`AddIndexers`).
    pub fn add_index(&self, name: &str, of: IndexFunc) {
        self.informers.add_index(self.id, name, of);
    }

    /// Has `tell` hear of every change from now on, and first of all that is known. It is called when no informer is
    /// borrowed: it may read any lister.
    pub fn on_change(&self, tell: impl Fn(&Change) + 'static) {
        self.informers.add_event_handler(self.id, HandlerOptions::default(), tell);
    }

    /// An object as JSON, with the `kind` and `apiVersion` that lists leave out. `None` only for an object that
    /// another informer has read without its text.
    pub fn parse(&self, object: &Object) -> Option<Value> {
        let mut value: Value = serde_json::from_str(object.text()?).ok()?;
        let fields = value.as_object_mut()?;
        fields.insert("apiVersion".to_owned(), api_version(&self.resource).into());
        fields.insert("kind".to_owned(), self.resource.kind.into());
        Some(value)
    }
}
