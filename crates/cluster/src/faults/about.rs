//! The properties of a request by which faults are chosen.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{Method, header};

use crate::request::options::Options;
use crate::request::target::Target;
use crate::resources::registry::Registry;
use crate::resources::resource::Resource;

/// The properties of a request.
#[derive(Debug, Clone)]
pub struct About {
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// The resource; `None` for paths without one, such as `/version`.
    pub resource: Option<Arc<Resource>>,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The User-Agent; empty if there is none.
    pub user_agent: String,
}

impl About {
    /// Reads the properties from the head of a request.
    pub fn of(registry: &Registry, parts: &Parts) -> Self {
        let target = Target::parse(registry, parts.uri.path());
        let is_one = target.as_ref().is_none_or(|target| target.name.is_some());
        let watches = target.as_ref().is_some_and(|target| target.watch)
            || Options::is_watch(parts.uri.query().unwrap_or_default());
        let verb = match parts.method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if is_one => "delete",
            Method::DELETE => "deletecollection",
            _ if is_one => "get",
            _ if watches => "watch",
            _ => "list",
        };
        let user_agent = parts.headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let (resource, namespace) = target.map_or((None, None), |target| (Some(target.resource), target.namespace));
        Self { verb, resource, namespace, user_agent: user_agent.unwrap_or_default().into_owned() }
    }

    /// Whether the request is for the resource with this name: `deployments` or `deployments.apps`.
    pub fn is_of(&self, name: &str) -> bool {
        self.resource.as_ref().is_some_and(|own| own.plural == name || own.qualified() == name)
    }
}
