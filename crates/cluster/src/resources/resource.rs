//! What this server knows of one resource, as data: its path, its kind, its subresources, what a bookmark looks like.

use std::borrow::Cow;

use crate::resources::columns::Columns;
use crate::storage::ROOT;

/// A text that is written in the program, or comes from a CustomResourceDefinition.
pub type Text = Cow<'static, str>;

/// One resource of the API, in one version.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Which cache its objects are in. The versions of one resource share it, and it is never used again.
    pub id: usize,
    /// Group and version as objects carry them: `v1`, `apps/v1`.
    pub api_version: Text,
    /// Name in paths, such as `pods`.
    pub plural: Text,
    /// Name of one, such as `pod`.
    pub singular: Text,
    /// Kind of its objects, such as `Pod`.
    pub kind: Text,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What kubectl also takes for it, with spaces between.
    pub short_names: Text,
    /// The groups of resources that it is in, such as the `all` of `kubectl get all`, with spaces between.
    pub categories: Text,
    /// Whether it has a `status` subresource.
    pub has_status: bool,
    /// Whether it can be got and listed, and nothing else.
    pub read_only: bool,
    /// Where its `scale` subresource finds what it tells, if it has one.
    pub scale: Option<ScalePaths>,
    /// Whether a new spec is a new `metadata.generation`.
    pub has_generation: bool,
    /// What field selectors may ask for beside `metadata.name` and `metadata.namespace`.
    pub selectable: &'static [&'static str],
    /// The fields beside `metadata` in a bookmark: Go's zero values, as the real server sends them.
    pub bookmark_fields: &'static str,
    /// What a Table shows.
    pub columns: Columns,
    /// Name of the CustomResourceDefinition that it comes from; empty for a built-in one.
    pub definition: Text,
    /// The definition's uid: the next one of that name is another.
    pub definition_uid: Text,
}

/// JSON pointers to what a Scale tells.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalePaths {
    /// To the number that is wanted.
    pub wanted: Text,
    /// To the number that there is.
    pub current: Text,
    /// To the selector: an object like a Deployment's, or a string; empty if there is none.
    pub selector: Text,
}

/// The verbs of the built-in resources, in the order of discovery.
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// Those of custom resources: the same in another order.
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

    /// What can be done with it. Namespaces are deleted one by one.
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

    /// Whether it comes from a CustomResourceDefinition.
    pub fn is_custom(&self) -> bool {
        !self.definition.is_empty()
    }

    /// What the keys of its objects begin with in the storage.
    pub fn prefix(&self) -> String {
        let group = if self.group().is_empty() { "core" } else { self.group() };
        format!("{ROOT}{group}/{}/", self.plural)
    }

    /// The key of an object in the storage.
    pub fn storage_key(&self, key: &str) -> String {
        self.prefix() + key
    }

    /// What an object is called among those of its resource. One string, because etcd sorts on `namespace/name` as a whole: the
    /// namespace `a-b` comes before `a`, which a pair would turn round.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }
}

/// Versions of one resource are the same resource.
impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
