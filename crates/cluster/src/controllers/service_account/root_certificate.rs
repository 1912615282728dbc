//! Publishes the cluster's root certificate in every Namespace, from where Pods mount it
//! (`pkg/controller/certificates/rootcacertpublisher/publisher.go`).

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use serde_json::json;

use super::super::context::Context;
use super::super::controller::{Controller, SyncError};
use super::super::object;
use super::super::queue::Queue;
use super::{add_namespaces_of, create, is_active};
use crate::client::lister::Lister;
use crate::client::resources::{CONFIG_MAPS, NAMESPACES};
use crate::client::rest::Client;

/// The name of the ConfigMap in every namespace.
pub const ROOT_CERTIFICATE_NAME: &str = "kube-root-ca.crt";
/// The certificate in it, which is not a real one.
pub const ROOT_CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n(made up)\n-----END CERTIFICATE-----\n";

/// The controller. Its keys are Namespaces.
#[derive(Debug)]
pub struct RootCertificates {
    client: Client,
    namespaces: Lister,
    /// The ConfigMaps with the name of the certificate.
    maps: Lister,
}

impl Controller for RootCertificates {
    type Key = ObjectKey;
    const NAME: &'static str = "root-ca-certificate-publisher-controller";
    const WORKERS: usize = 1;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let field_selector = format!("metadata.name={ROOT_CERTIFICATE_NAME}");
        let maps = context.informers.lister_in(CONFIG_MAPS, &Scope { field_selector, ..Scope::default() });
        let namespaces = context.lister(NAMESPACES);
        add_namespaces_of(&namespaces, &maps, ROOT_CERTIFICATE_NAME, queue);
        Self { client: context.client.clone(), namespaces, maps }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        if !is_active(&self.namespaces, key) {
            return Ok(());
        }
        let data = json!({"ca.crt": ROOT_CERTIFICATE});
        let Some(mut map) = self.maps.value(&ObjectKey::new(&key.name, ROOT_CERTIFICATE_NAME)) else {
            let map = json!({"metadata": {"name": ROOT_CERTIFICATE_NAME}, "data": data});
            return create(&self.client, &CONFIG_MAPS, &key.name, &map).await;
        };
        if map.get("data") == Some(&data) {
            return Ok(());
        }
        object::set(&mut map, &["data"], data);
        Ok(self.client.update(&CONFIG_MAPS, &map).await.map(drop)?)
    }
}
