//! What exists according to the cluster itself: a plain LIST, which is read without any of the project's own code.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// One LIST of one resource.
#[derive(Debug)]
pub struct Truth {
    /// By `namespace/name`, in the order of that text.
    pub items: BTreeMap<String, Item>,
    /// The list's own `resourceVersion`.
    pub revision: u64,
}

/// One listed object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its `metadata.uid`.
    pub uid: String,
    /// Its `metadata.resourceVersion`.
    pub resource_version: String,
}

impl Truth {
    /// Reads the body of a LIST's answer.
    pub fn read(body: &[u8]) -> Self {
        let list: List = serde_json::from_slice(body).unwrap_or_else(|error| {
            panic!("not a list: {error}: {}", String::from_utf8_lossy(&body[..body.len().min(300)]))
        });
        let items = list.items.into_iter().map(|Object { metadata }| {
            let key = key(metadata.namespace.as_deref(), &metadata.name);
            (key, Item { uid: metadata.uid, resource_version: metadata.resource_version })
        });
        let revision = list.metadata.resource_version.parse().expect("a list's resourceVersion is a number here");
        Self { items: items.collect(), revision }
    }

    /// SHA-256, hex, over lines `key uid resourceVersion\n` sorted by key.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (key, item) in &self.items {
            hash.update(format!("{key} {} {}\n", item.uid, item.resource_version));
        }
        hash.finalize().iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a String takes every text");
            hex
        })
    }

    /// How many objects there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// All keys in the default order of a table: by namespace, then by name.
    pub fn in_order(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = self.items.keys().map(String::as_str).collect();
        keys.sort_by_key(|key| key.split_once('/'));
        keys
    }

    /// The last key in order.
    pub fn last_key(&self) -> &str {
        self.items.last_key_value().expect("the list is not empty").0
    }
}

/// `namespace/name`, or the name alone where there is no namespace.
pub fn key(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

/// The path of the Pod with this key.
pub fn pod(key: &str) -> String {
    let (namespace, name) = key.split_once('/').expect("a Pod has a namespace");
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
    items: Vec<Object>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
}

#[derive(Deserialize)]
struct Object {
    metadata: ObjectMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMetadata {
    namespace: Option<String>,
    name: String,
    uid: String,
    resource_version: String,
}

#[test]
fn the_digest_is_what_sha256sum_says() {
    let list = br#"{"metadata":{"resourceVersion":"9"},"items":[
        {"metadata":{"namespace":"b","name":"x","uid":"2","resourceVersion":"8"}},
        {"metadata":{"namespace":"a","name":"y","uid":"1","resourceVersion":"7"}}]}"#;
    // printf 'a/y 1 7\nb/x 2 8\n' | sha256sum
    let expected = "256b5d7430bd9d14a113dc2f0e447c14399ed414dd0e59c013714ac621d018be";
    assert_eq!(Truth::read(list).digest(), expected);
}
