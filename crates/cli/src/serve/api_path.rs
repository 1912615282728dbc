//! Which paths of the API are passed on: those that the page asks for, and no other. What is not known here is refused, so
//! that no spelling of `exec`, `attach`, `portforward` or `proxy` has to be recognised.

/// A path that is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiPath {
    /// The server's version, or what its discovery says.
    Discovery,
    /// A collection of objects, which can be listed and watched.
    Collection {
        /// Whether its objects are Secrets.
        is_secret: bool,
    },
    /// One object.
    Object {
        /// Whether it is a Secret.
        is_secret: bool,
    },
    /// The log of a Pod's container: the one subresource that is passed on.
    Log,
}

/// Names that have the place of a resource in a path and are none: the ways to a Pod, Service or Node (`proxy`, `redirect`),
/// and the former way to watch (`watch`), at which a Secret would be further behind.
const NO_RESOURCES: [&str; 3] = ["proxy", "redirect", "watch"];

/// The group of roles and of their bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What may be asked of a log. All of it reads; what has a server trust a node without its certificate is not among it.
const LOG_OPTIONS: [&str; 8] =
    ["container", "follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "tailLines", "timestamps"];

/// The longest path that is read. Names have at most 253 characters, and a path at most two of them.
const LONGEST: usize = 2_000;

/// Reads a path below the API's base, as it came, with its leading slash and without its query. `None` for all that is not
/// passed on: other paths, subresources but the logs of Pods, and every path that a server could read in another way than it is read here.
pub fn parse(path: &str) -> Option<ApiPath> {
    if path.len() > LONGEST {
        return None;
    }
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    // The names of roles and of their bindings may have any sign but a slash and a percent sign; all other names are those
    // of DNS, or have none that means anything in a path.
    let is_role = parts.first() == Some(&"apis") && parts.get(1) == Some(&RBAC) && parts.len() > 4;
    let (name, before) = parts.split_last()?;
    if !before.iter().all(|part| is_plain(part, false)) || !is_plain(name, is_role) {
        return None;
    }
    let (is_core, rest) = match parts[..] {
        ["version"] | ["api"] | ["apis"] => return Some(ApiPath::Discovery),
        ["api", version] if is_word(version) => return Some(ApiPath::Discovery),
        ["apis", group] if is_word(group) => return Some(ApiPath::Discovery),
        ["apis", group, version] if is_word(group) && is_word(version) => return Some(ApiPath::Discovery),
        ["api", version, ref rest @ ..] if is_word(version) => (true, rest),
        ["apis", group, version, ref rest @ ..] if is_word(group) && is_word(version) => (false, rest),
        _ => return None,
    };
    let (resource, name) = match *rest {
        [resource] => (resource, None),
        ["namespaces", _, resource] => (resource, None),
        [resource, name] => (resource, Some(name)),
        ["namespaces", _, resource, name] => (resource, Some(name)),
        ["namespaces", _, "pods", _, "log"] if parts.starts_with(&["api", "v1"]) => return Some(ApiPath::Log),
        _ => return None,
    };
    if !is_word(resource) || NO_RESOURCES.contains(&resource) {
        return None;
    }
    let is_secret = is_core && resource == "secrets";
    Some(if name.is_some() { ApiPath::Object { is_secret } } else { ApiPath::Collection { is_secret } })
}

/// Whether a query asks nothing of a log but what the page asks, in the only spelling of each name.
pub fn reads_log(query: &str) -> bool {
    query.split('&').all(|pair| LOG_OPTIONS.contains(&pair.split('=').next().unwrap_or_default()))
        && !query.bytes().any(|byte| byte == b';' || byte == b'#')
}

/// Whether a part of a path is read by every server as it is here: nothing that ends it, joins it with another part, or is
/// decoded twice; and not nothing, which some servers leave out. In the name of a role (`is_role`) any sign may stand that is
/// encoded, save those that could join parts.
fn is_plain(part: &str, is_role: bool) -> bool {
    let Some(decoded) = decode(part) else { return false };
    let refused = |byte: &u8| byte.is_ascii_control() || b"/\\%".contains(byte);
    let ends = |bytes: &[u8]| bytes.iter().any(|byte| b"?#;".contains(byte));
    !matches!(&decoded[..], b"" | b"." | b"..")
        && !decoded.iter().any(refused)
        && !ends(if is_role { part.as_bytes() } else { &decoded })
}

/// A part without its percent signs; `None` where one is not followed by two hexadecimal digits.
fn decode(part: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        decoded.push(digit(high)? << 4 | digit(low)?);
        rest = after;
    }
    Some(decoded)
}

/// Whether this is a name of a group, version or resource, in its only spelling.
fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_asks_is_passed_on() {
        let (collection, object) = (ApiPath::Collection { is_secret: false }, ApiPath::Object { is_secret: false });
        for (path, expected) in [
            ("/version", ApiPath::Discovery),
            ("/api", ApiPath::Discovery),
            ("/apis", ApiPath::Discovery),
            ("/api/v1", ApiPath::Discovery),
            ("/apis/apps/v1", ApiPath::Discovery),
            ("/api/v1/pods", collection),
            ("/api/v1/namespaces", collection),
            ("/api/v1/namespaces/shop", object),
            ("/api/v1/namespaces/shop/pods", collection),
            ("/api/v1/namespaces/shop/pods/web-1", object),
            ("/api/v1/namespaces/exec/pods/proxy", object),
            ("/api/v1/nodes/node-1", object),
            ("/apis/apps/v1/deployments", collection),
            ("/apis/apps/v1/namespaces/shop/deployments/web", object),
            ("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", object),
            ("/apis/rbac.authorization.k8s.io/v1/clusterroles/who%3F", object),
            ("/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Bb%23%20c", object),
            ("/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/exec%3Bproxy", object),
            ("/api/v1/namespaces/services/pods/proxy", object),
            ("/api/v1/namespaces/pods/configmaps/exec", object),
            ("/apis/demo.example/v1/secrets", collection),
            ("/api/v1/namespaces/shop/pods/web-1/log", ApiPath::Log),
            ("/api/v1/namespaces/log/pods/log/log", ApiPath::Log),
            ("/api/v1/namespaces/shop/pods/log", object),
            ("/api/v1/secrets", ApiPath::Collection { is_secret: true }),
            ("/api/v1/namespaces/shop/secrets", ApiPath::Collection { is_secret: true }),
            ("/api/v1/namespaces/shop/secrets/token", ApiPath::Object { is_secret: true }),
        ] {
            assert_eq!(parse(path), Some(expected), "{path}");
        }
    }

    #[test]
    fn every_other_path_is_refused_in_every_spelling() {
        for path in [
            "",
            "/",
            "/api/",
            "/metrics",
            "/logs/",
            "/openapi/v2",
            "/_control/log",
            "/api/v1/namespaces/shop/pods/x/exec",
            "/api/v1/namespaces/shop/pods/x/attach",
            "/api/v1/namespaces/shop/pods/x/portforward",
            "/api/v1/namespaces/shop/pods/x/proxy",
            "/api/v1/namespaces/shop/pods/x/proxy/",
            "/api/v1/namespaces/shop/pods/x:8080/proxy/metrics",
            "/api/v1/namespaces/shop/pods/x/%65xec",
            "/api/v1/namespaces/shop/pods/x/EXEC",
            "/api/v1/namespaces/shop/pods/x%2Fexec",
            "/api/v1/namespaces/shop/pods/x%2fexec",
            "/api/v1/namespaces/shop/pods/x%252Fexec",
            "/api/v1/namespaces/shop/pods//x/exec",
            "/api/v1/namespaces/shop/pods/x//exec",
            "/api/v1/namespaces/shop/pods/x/./exec",
            "/api/v1/namespaces/shop/pods/x\\exec",
            "/api/v1/namespaces/shop/pods/x/log/",
            "/api/v1/namespaces/shop/pods/x/log/exec",
            "/api/v1/namespaces/shop/pods/x/LOG",
            "/api/v1/namespaces/shop/pods/x/%6cog",
            "/api/v1/namespaces/shop/pods/x%2flog",
            "/api/v1/namespaces/shop/pods/../log",
            "/api/v1/namespaces/shop/pods/x/logs",
            "/api/v1/namespaces/shop/services/x/log",
            "/api/v1/pods/x/log",
            "/api/v2/namespaces/shop/pods/x/log",
            "/apis/v1/namespaces/shop/pods/x/log",
            "/apis/demo.example/v1/namespaces/shop/pods/x/log",
            "/api/v1/watch/namespaces/shop/pods/x/log",
            "/api/v1/namespaces/shop/services/https:x:443/proxy",
            "/api/v1/nodes/node-1/proxy",
            "/api/v1/nodes/node-1/proxy/pods",
            "/api/v1/proxy",
            "/api/v1/proxy/nodes",
            "/api/v1/proxy/namespaces/shop/pods/x",
            "/api/v1/redirect/nodes",
            "/api/v1/watch/secrets",
            "/api/v1/watch/namespaces/shop/secrets",
            "/api/v1/%73ecrets",
            "/api/v1/Secrets",
            "/api/v1/secrets/",
            "/api/v1//secrets",
            "//api/v1/secrets",
            "/api/v1/pods/../secrets",
            "/api/v1/pods/%2e%2e/secrets",
            "/api/v1/pods/.%2E/secrets",
            "/API/v1/pods",
            "/%61pi/v1/pods",
            "/api/v1/namespaces/shop/pods/a%3Fb",
            "/api/v1/namespaces/shop/pods/a%00",
            "/api/v1/namespaces/shop/pods/a%",
            "/api/v1/namespaces/shop/pods/a%2",
            "/api/v1/namespaces/shop/pods/a%zz",
            "/api/v1/namespaces/shop/pods/a;b",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/a;b",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%2Fb",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles%3Bx/a",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/a%3Bb/roles",
        ] {
            assert_eq!(parse(path), None, "{path}");
        }
        assert_eq!(parse(&format!("/api/v1/pods/{}", "a".repeat(LONGEST))), None);
    }

    #[test]
    fn a_log_is_asked_for_in_the_options_that_read_it() {
        assert!(reads_log("container=web&follow=true&timestamps=true&sinceTime=2026-11-27T14:02:07Z&tailLines=10"));
        assert!(reads_log("container=web&previous=true&limitBytes=10&sinceSeconds=5"));
        for query in
            ["insecureSkipTLSVerifyBackend=true", "container=web&command=sh", "%63ontainer=web", "follow=true;x=1", ""]
        {
            assert!(!reads_log(query), "{query}");
        }
    }
}
