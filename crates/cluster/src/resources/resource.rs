//! The description of one resource, as data: its path, its kind, its subresources, and the form of its bookmarks.

use std::borrow::Cow;

use crate::resources::columns::Columns;
use crate::storage::ROOT;

/// A text that is a constant of the program, or comes from a CustomResourceDefinition.
pub type Text = Cow<'static, str>;

/// One resource of the API, in one version.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The id of the cache with its objects. All versions of one resource share it, and it is never reused.
    pub id: usize,
    /// Group and version as objects carry them: `v1`, `apps/v1`.
    pub api_version: Text,
    /// The name in paths, such as `pods`.
    pub plural: Text,
    /// The singular name, such as `pod`.
    pub singular: Text,
    /// The kind of its objects, such as `Pod`.
    pub kind: Text,
    /// Whether its objects belong to namespaces.
    pub namespaced: bool,
    /// The short names that kubectl accepts, separated by spaces.
    pub short_names: Text,
    /// The categories that it belongs to, such as the `all` of `kubectl get all`, separated by spaces.
    pub categories: Text,
    /// Whether it has a `status` subresource.
    pub has_status: bool,
    /// Whether only GET and LIST are allowed.
    pub read_only: bool,
    /// The paths that its `scale` subresource reads, if it has one.
    pub scale: Option<ScalePaths>,
    /// Whether a new spec increments `metadata.generation`.
    pub has_generation: bool,
    /// The fields that field selectors may use beside `metadata.name` and `metadata.namespace`.
    pub selectable: &'static [&'static str],
    /// The fields beside `metadata` in a bookmark: Go's zero values, as the real server sends them.
    pub bookmark_fields: &'static str,
    /// The columns of its Table.
    pub columns: Columns,
    /// The name of its CustomResourceDefinition; empty for a built-in resource.
    pub definition: Text,
    /// The uid of the definition, which distinguishes definitions that had the same name in turn.
    pub definition_uid: Text,
}

/// JSON pointers to the fields of a Scale.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalePaths {
    /// The desired number of replicas.
    pub wanted: Text,
    /// The current number of replicas.
    pub current: Text,
    /// The selector: an object like a Deployment's, or a string; empty if there is none.
    pub selector: Text,
}

/// The verbs of built-in resources, in the order of discovery.
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// The verbs of custom resources, in the order of discovery.
const CUSTOM_VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

impl Resource {
    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The version within the group.
    pub fn version(&self) -> &str {
        self.api_version.split_once('/').map_or(&self.api_version, |(_, version)| version)
    }

    /// The name in error messages: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        match self.group() {
            "" => self.plural.to_string(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The allowed verbs. Namespaces cannot be deleted as a collection.
    pub fn verbs(&self) -> Vec<&'static str> {
        let one_by_one = self.plural == "namespaces" && !self.is_custom();
        let verbs = if self.is_custom() { CUSTOM_VERBS } else { VERBS };
        let can = |verb: &&str| match *verb {
            "get" | "list" => true,
            "deletecollection" => !one_by_one && !self.read_only,
            _ => !self.read_only,
        };
        verbs.into_iter().filter(can).collect()
    }

    /// Whether it is defined by a CustomResourceDefinition.
    pub fn is_custom(&self) -> bool {
        !self.definition.is_empty()
    }

    /// The prefix of the keys of its objects in the storage.
    pub fn prefix(&self) -> String {
        let group = if self.group().is_empty() { "core" } else { self.group() };
        format!("{ROOT}{group}/{}/", self.plural)
    }

    /// The key of an object in the storage.
    pub fn storage_key(&self, key: &str) -> String {
        self.prefix() + key
    }

    /// The key of an object within its resource. It is one string because etcd sorts `namespace/name` as a whole: the
    /// namespace `a-b` comes before `a`, and a pair would sort the other way round.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }
}

/// Versions of one resource compare as equal.
impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
