//! Which part of an address may be shown: a part of its path may be a secret that opens the page and the API to whoever knows
//! it.

/// A part of a path of this length or more may be a secret: 128 random bits take at least 22 letters.
const SECRET: usize = 20;
/// How the API's own paths begin. Their parts are names of objects, and no secrets.
const OWN: [&str; 3] = ["api", "apis", "version"];

/// An address as it may be shown: without its query, and without the parts of its path that may be secrets. Only parts before
/// the API's own path may be.
pub fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (host, path) = url[..end].split_at(path_start(url).min(end));
    let mut is_own = false;
    let parts = path.split('/').map(|part| {
        is_own |= OWN.contains(&part);
        if is_secret(part) && !is_own { "…" } else { part }
    });
    let parts: Vec<&str> = parts.collect();
    format!("{host}{}", parts.join("/"))
}

/// The part of a page's address that may be given to others, and whether that is all of it: below a secret path, what
/// comes after the page's own address, from the `#` on.
pub fn link(url: &str) -> (&str, bool) {
    let fragment = url.find('#').unwrap_or(url.len());
    match url[..fragment].split(['/', '=', '&']).any(is_secret_or_escaped) {
        true => (if fragment == url.len() { "#/" } else { &url[fragment..] }, false),
        false => (url, true),
    }
}

/// The place at which the path of an address begins.
fn path_start(url: &str) -> usize {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url.len(), |at| host + at)
}

/// Names of hosts have dots.
fn is_secret(part: &str) -> bool {
    part.len() >= SECRET && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The same in a query, where an address within it may have its slashes escaped.
fn is_secret_or_escaped(part: &str) -> bool {
    part.split("%2F").flat_map(|part| part.split("%2f")).any(is_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn an_address_is_shown_without_its_secret() {
        for (url, expected) in [
            (
                format!("http://127.0.0.1:8080/{KEY}/k8s/api/v1/pods?watch=true"),
                "http://127.0.0.1:8080/…/k8s/api/v1/pods",
            ),
            (format!("http://127.0.0.1:8080/{KEY}/"), "http://127.0.0.1:8080/…/"),
            (format!("http://127.0.0.1:8080/{KEY}"), "http://127.0.0.1:8080/…"),
            (format!("ws://127.0.0.1:8080/{KEY}/k8s-ws/apis/a/v1/b"), "ws://127.0.0.1:8080/…/k8s-ws/apis/a/v1/b"),
            (String::from("http://127.0.0.1:8080/k8s/version"), "http://127.0.0.1:8080/k8s/version"),
            (
                String::from("http://a.example/k8s/api/v1/namespaces/a-name-that-is-quite-long/pods"),
                "http://a.example/k8s/api/v1/namespaces/a-name-that-is-quite-long/pods",
            ),
            (String::from("http://127.0.0.1:8080?a=/b"), "http://127.0.0.1:8080"),
            (String::from("not an address"), "not an address"),
            (String::new(), ""),
        ] {
            assert_eq!(shown(&url), expected, "{url}");
        }
    }

    #[test]
    fn a_link_is_given_whole_or_from_its_fragment_on() {
        for url in [
            "http://127.0.0.1:8080/#/pods?ns=a-namespace-with-a-long-name",
            "http://127.0.0.1:8080/?api=http%3A%2F%2F127.0.0.1%3A1%2F#/pods",
            "http://127.0.0.1:8001/static/",
            "http://kubechurn.tools.example.org:8080/?api=http://another.tools.example.org/#/pods",
        ] {
            assert_eq!(link(url), (url, true));
        }
        for url in [
            format!("http://127.0.0.1:8080/{KEY}/#/pods?ns=a"),
            format!("http://127.0.0.1:8080/?api=http://127.0.0.1:1/{KEY}/#/pods?ns=a"),
            format!("http://127.0.0.1:8080/?drain=1&api=http%3A%2F%2F127.0.0.1%3A1%2F{KEY}%2F#/pods?ns=a"),
        ] {
            assert_eq!(link(&url), ("#/pods?ns=a", false), "{url}");
        }
        assert_eq!(link(&format!("http://127.0.0.1:8080/{KEY}/")), ("#/", false));
    }
}
