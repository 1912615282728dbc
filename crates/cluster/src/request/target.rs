//! Parses a path, which names a collection, an object, or a subresource.

use std::sync::Arc;

use crate::resources::builtin::{NAMESPACES, PODS};
use crate::resources::registry::Registry;
use crate::resources::resource::Resource;

/// The collection or object that a path names.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub resource: Arc<Resource>,
    /// The namespace, if the path has one.
    pub namespace: Option<String>,
    /// The object's name, if the path has one.
    pub name: Option<String>,
    /// The object or a subresource.
    pub part: Part,
    /// Whether the path begins with the deprecated `watch/`.
    pub watch: bool,
}

/// An object, or one of its subresources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// The object itself.
    Whole,
    /// `…/status`.
    Status,
    /// `…/scale`.
    Scale,
    /// `…/finalize`, of a Namespace.
    Finalize,
    /// `…/binding`, of Pods.
    Binding,
    /// `…/eviction`, of Pods.
    Eviction,
    /// `…/log`, of Pods.
    Log,
}

impl Target {
    /// Parses a path; `None` if it names nothing that is served.
    pub fn parse(registry: &Registry, path: &str) -> Option<Self> {
        let (group, version, rest) = match path.strip_prefix("/api/") {
            Some(rest) => rest.split_once('/').map(|(version, rest)| ("", version, rest))?,
            None => {
                let (group, rest) = path.strip_prefix("/apis/")?.split_once('/')?;
                rest.split_once('/').map(|(version, rest)| (group, version, rest))?
            }
        };
        let segments: Vec<String> = rest.split('/').map(percent_decode).collect::<Option<_>>()?;
        let mut segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if segments.contains(&"") {
            return None;
        }
        let watch = segments.first() == Some(&"watch");
        if watch {
            segments.remove(0);
        }
        let mut namespace = None;
        // `namespaces/x`, optionally with `status` or `finalize` after it, is the namespace itself.
        if let ["namespaces", within, plural, ..] = segments[..]
            && !["status", "finalize"].contains(&plural)
        {
            namespace = Some(within.to_owned());
            segments.drain(..2);
        }
        let resource = registry.by_path(group, version, segments.first()?)?;
        let (name, part) = match segments[1..] {
            [] => (None, Part::Whole),
            [name] => (Some(name.to_owned()), Part::Whole),
            [name, "status"] if resource.has_status => (Some(name.to_owned()), Part::Status),
            [name, "finalize"] if *resource == **NAMESPACES => (Some(name.to_owned()), Part::Finalize),
            [name, "scale"] if resource.scale.is_some() => (Some(name.to_owned()), Part::Scale),
            [name, "binding"] if *resource == **PODS => (Some(name.to_owned()), Part::Binding),
            [name, "eviction"] if *resource == **PODS => (Some(name.to_owned()), Part::Eviction),
            [name, "log"] if *resource == **PODS => (Some(name.to_owned()), Part::Log),
            _ => return None,
        };
        // A path to a namespaced object must have a namespace, and one to a cluster-scoped object must not.
        let possible = if resource.namespaced { namespace.is_some() || name.is_none() } else { namespace.is_none() };
        possible.then_some(Self { resource, namespace, name, part, watch })
    }

    /// The storage key of the object.
    pub fn key(&self) -> String {
        self.resource.key(self.namespace.as_deref().unwrap_or_default(), self.name())
    }

    /// The object's name; empty for a collection.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

/// Decodes percent-encoding; `None` if the result is not UTF-8, or an escape is invalid.
pub fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<(&str, Option<&str>, Option<&str>, Part)>) {
        let target = Target::parse(&Registry::default(), path);
        let target = target.as_ref();
        let got = target.map(|t| (&*t.resource.plural, t.namespace.as_deref(), t.name.as_deref(), t.part));
        assert_eq!(got, expected, "{path}");
    }

    #[test]
    fn paths() {
        check("/api/v1/pods", Some(("pods", None, None, Part::Whole)));
        check("/api/v1/watch/pods", Some(("pods", None, None, Part::Whole)));
        check("/api/v1/namespaces", Some(("namespaces", None, None, Part::Whole)));
        check("/api/v1/namespaces/shop", Some(("namespaces", None, Some("shop"), Part::Whole)));
        check("/api/v1/namespaces/shop/status", Some(("namespaces", None, Some("shop"), Part::Status)));
        check("/api/v1/namespaces/shop/finalize", Some(("namespaces", None, Some("shop"), Part::Finalize)));
        check("/api/v1/namespaces/shop/pods/x/finalize", None);
        check("/api/v1/namespaces/shop/pods", Some(("pods", Some("shop"), None, Part::Whole)));
        check("/api/v1/namespaces/shop/pods/web%2D1/status", Some(("pods", Some("shop"), Some("web-1"), Part::Status)));
        let deployment = |part| Some(("deployments", Some("shop"), Some("web"), part));
        check("/apis/apps/v1/namespaces/shop/deployments/web", deployment(Part::Whole));
        check("/apis/apps/v1/namespaces/shop/deployments/web/scale", deployment(Part::Scale));
        check("/api/v1/namespaces/shop/pods/a/binding", Some(("pods", Some("shop"), Some("a"), Part::Binding)));
        check("/api/v1/namespaces/shop/pods/a/eviction", Some(("pods", Some("shop"), Some("a"), Part::Eviction)));
        check("/api/v1/namespaces/shop/pods/a/log", Some(("pods", Some("shop"), Some("a"), Part::Log)));
        check("/apis/apps/v1/namespaces/shop/deployments/web/log", None);
        for nothing in [
            "/api/v1/nosuch",
            "/api/v1/pods/web",
            "/api/v1/namespaces/shop/nodes",
            "/api/v1//pods",
            "/api/v2/pods",
            "/apis/apps/v2/deployments",
            "/apis/batch/v1/deployments",
            "/api/v1/namespaces/shop/pods/web/exec",
            "/api/v1/namespaces/shop/pods/web/scale",
            "/apis/apps/v1/namespaces/shop/deployments/web/eviction",
            "/api/v1/nodes/%zz",
        ] {
            check(nothing, None);
        }
    }
}
