//! Gives every Namespace what its Pods need to reach the API: the ServiceAccount `default` here
//! (`pkg/controller/serviceaccount/serviceaccounts_controller.go`), and the cluster's root certificate in
//! `root_certificate.rs`. There is neither a token nor a key behind them.

pub mod root_certificate;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::object;
use super::queue::Queue;
use crate::client::lister::Lister;
use crate::client::resources::{NAMESPACES, SERVICE_ACCOUNTS};
use crate::client::rest::Client;

/// The account of Pods that name none.
const DEFAULT: &str = "default";

/// The controller. Its keys are Namespaces.
#[derive(Debug)]
pub struct ServiceAccounts {
    client: Client,
    namespaces: Lister,
    accounts: Lister,
}

impl Controller for ServiceAccounts {
    type Key = ObjectKey;
    const NAME: &'static str = "serviceaccount-controller";
    const WORKERS: usize = 1;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (namespaces, accounts) = (context.lister(NAMESPACES), context.lister(SERVICE_ACCOUNTS));
        add_namespaces_of(&namespaces, &accounts, DEFAULT, queue);
        Self { client: context.client.clone(), namespaces, accounts }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        if !is_active(&self.namespaces, key) || self.accounts.get(&ObjectKey::new(&key.name, DEFAULT)).is_some() {
            return Ok(());
        }
        let account = json!({"metadata": {"name": DEFAULT}});
        create(&self.client, &SERVICE_ACCOUNTS, &key.name, &account).await
    }
}

/// Queues every Namespace that changes, and the Namespace of every object with this name that changes.
fn add_namespaces_of(namespaces: &Lister, objects: &Lister, name: &'static str, queue: Queue<ObjectKey>) {
    let waiting = queue.clone();
    namespaces.on_change(move |change| waiting.add(change.object().key.clone()));
    objects.on_change(move |change| {
        let key = &change.object().key;
        if *key.name == *name {
            queue.add(ObjectKey::new("", &key.namespace));
        }
    });
}

/// Whether a Namespace exists and is not being deleted.
fn is_active(namespaces: &Lister, key: &ObjectKey) -> bool {
    namespaces.value(key).is_some_and(|namespace| object::text(&namespace, "/status/phase") == "Active")
}

/// Creates an object that a Namespace lacks. It is not an error if the object exists already, or if the Namespace is
/// being deleted.
async fn create(client: &Client, resource: &ApiResource, namespace: &str, object: &Value) -> Result<(), SyncError> {
    match client.create(resource, namespace, object).await {
        Err(error) if error.is_already_exists() || error.is_namespace_terminating() => Ok(()),
        answer => Ok(answer.map(drop)?),
    }
}
