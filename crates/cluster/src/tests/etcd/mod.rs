//! Behaviour that only an etcd shows: a storage that outlives the server, and that another server shares. Servers that
//! are killed are tested in `crates/cluster/tests/etcd/`.

pub mod process;

mod restarting;
mod sharing;

use serde_json::{Value, json};

use super::{Server, quiet, serve_from_memory};
use crate::args::Args;
use process::TestEtcd;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.org/v1/widgets";

/// A server on an etcd.
async fn serve_on(etcd: &TestEtcd) -> Server {
    serve_from_memory(Args { etcd: Some(etcd.address()), ..quiet() }).await
}

/// The definition of a cluster-scoped Widget.
fn widgets() -> Value {
    json!({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org", "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true}]}})
}

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}
