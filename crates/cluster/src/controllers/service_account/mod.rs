//! Gives every Namespace the ServiceAccount `default` (`pkg/controller/serviceaccount/serviceaccounts_controller.go`).
//! There is no token behind it.

use kubechurn_client::api::object::ObjectKey;
use serde_json::json;

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
        let waiting = queue.clone();
        namespaces.on_change(move |change| waiting.add(change.object().key.clone()));
        accounts.on_change(move |change| {
            let key = &change.object().key;
            if *key.name == *DEFAULT {
                queue.add(ObjectKey::new("", &key.namespace));
            }
        });
        Self { client: context.client.clone(), namespaces, accounts }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let namespace = self.namespaces.value(key);
        let is_active = namespace.is_some_and(|namespace| object::text(&namespace, "/status/phase") == "Active");
        if !is_active || self.accounts.get(&ObjectKey::new(&key.name, DEFAULT)).is_some() {
            return Ok(());
        }
        let account = json!({"metadata": {"name": DEFAULT}});
        match self.client.create(&SERVICE_ACCOUNTS, &key.name, &account).await {
            // The account exists already, or the Namespace is being deleted.
            Err(error) if error.is_already_exists() || error.is_namespace_terminating() => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }
}
