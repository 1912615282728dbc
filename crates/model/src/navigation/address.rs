//! Where the API may be, whether the page may connect to it without asking the user first, and how its address is
//! shown.

use std::fmt::Write;

use kubechurn_client::api::secret;

/// The path below which `kubectl proxy` serves a page by default. The API is then at the root.
const STATIC: &str = "/static/";

/// An address in the parts into which the browser's own parser splits it: host names are in lower case, and an IPv4
/// address is four decimal numbers, however it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// `http`, `https`, or any other scheme, without its colon.
    pub scheme: String,
    /// The host without its port; an IPv6 address has its brackets.
    pub name: String,
    /// The host with its port, where that is not the scheme's own.
    pub host: String,
    /// The path from the first slash on, without query and fragment.
    pub path: String,
    /// Whether it holds a user's name or password.
    pub has_user: bool,
}

/// Whether the page may connect to the API that its address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The API has the page's own origin, is on this machine, or was allowed by the user.
    Granted,
    /// The user must be asked first.
    Asked,
    /// The page cannot connect to it at all, for this reason.
    Refused(&'static str),
}

impl Address {
    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.host)
    }

    /// The address without the parts of its path that may be secret.
    pub fn shown(&self) -> String {
        format!("{}{}", self.origin(), secret::shown(&self.path))
    }

    /// Whether what is sent there stays on this machine: 127.0.0.0/8, `[::1]` and `localhost`, which browsers never
    /// look up. A browser may look up any other name, `localhost.` and an IPv4 address within IPv6 included.
    fn is_loopback(&self) -> bool {
        let is_v4 = || {
            let numbers: Vec<&str> = self.name.split('.').collect();
            numbers.len() == 4 && numbers.first() == Some(&"127") && numbers.iter().all(|one| one.parse::<u8>().is_ok())
        };
        self.name == "localhost" || self.name == "[::1]" || is_v4()
    }

    /// Whether it has the origin of this page.
    pub fn is_of(&self, page: &Address) -> bool {
        self.scheme == page.scheme && self.host == page.host
    }

    fn socket_scheme(&self) -> &'static str {
        if self.scheme == "https" { "wss" } else { "ws" }
    }
}

/// Whether the page at `page` may connect to `api`. `allowed` is the origin that the user has allowed, if any.
pub fn access(api: &Address, page: &Address, allowed: Option<&str>) -> Access {
    match () {
        _ if api.scheme != "http" && api.scheme != "https" => Access::Refused("only http: and https: can be asked"),
        _ if api.has_user => Access::Refused("an address with a user's name or password is not asked"),
        _ if api.is_of(page) => Access::Granted,
        _ if api.name.starts_with('[') => {
            Access::Refused("a page's security policy cannot name an IPv6 address: use a name or an IPv4 address")
        }
        _ if api.is_loopback() || allowed == Some(&*api.origin()) => Access::Granted,
        _ => Access::Asked,
    }
}

/// The Content-Security-Policy that limits the page's connections to its own origin, this machine, and `api`, which
/// [`access`] has granted. The policy comes in addition to the one of the built page, which holds the other rules.
pub fn policy(page: &Address, api: Option<&Address>) -> String {
    let mut policy =
        String::from("connect-src 'self' http://127.0.0.1:* http://localhost:* ws://127.0.0.1:* ws://localhost:*");
    // Not every browser's 'self' covers WebSockets. A policy cannot name an IPv6 address.
    for address in [Some(page), api].into_iter().flatten().filter(|address| !address.name.starts_with('[')) {
        let _ = write!(policy, " {} {}://{}", address.origin(), address.socket_scheme(), address.host);
    }
    policy
}

/// Where the API may be, relative to a page at this path. The likeliest place comes first, because every place that
/// does not answer leaves an error in the browser's console.
pub fn candidates(page: &str) -> [&'static str; 3] {
    if page.starts_with(STATIC) { ["/", "./k8s/", "/k8s/"] } else { ["./k8s/", "/k8s/", "/"] }
}

/// The API's address in short: its host, and its path unless the path is the usual one beside the page.
pub fn label(api: &Address, page: &Address) -> String {
    let folder = page.path.rfind('/').map_or("/", |end| &page.path[..=end]);
    let is_beside = api.is_of(page) && api.path == format!("{folder}k8s/");
    let path = if is_beside { String::new() } else { secret::shown(&api.path) };
    format!("{}{}", api.host, path.trim_end_matches('/'))
}

/// An address without a parameter of its query.
pub fn without_parameter(url: &str, name: &str) -> String {
    let (rest, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let Some((path, query)) = rest.split_once('?') else { return url.to_owned() };
    let is_other = |part: &&str| part.split('=').next() != Some(name);
    let left: Vec<&str> = query.split('&').filter(is_other).filter(|part| !part.is_empty()).collect();
    format!("{path}{}{}{fragment}", if left.is_empty() { "" } else { "?" }, left.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        let (scheme, rest) = text.split_once("://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
        let name =
            if host.starts_with('[') { &host[..=host.find(']').unwrap()] } else { host.split(':').next().unwrap() };
        Address {
            scheme: scheme.to_owned(),
            name: name.to_owned(),
            host: host.to_owned(),
            path: if path.is_empty() { String::from("/") } else { path.to_owned() },
            has_user: user.is_some(),
        }
    }

    #[test]
    fn what_is_beyond_this_machine_is_asked_for() {
        let page = address("http://127.0.0.1:8080/");
        for (api, expected) in [
            ("http://127.0.0.1:8080/k8s/", Access::Granted),
            ("http://127.0.0.1:9000/", Access::Granted),
            ("http://127.255.0.3:9000/", Access::Granted),
            ("http://localhost:8001/", Access::Granted),
            ("https://localhost/", Access::Granted),
            ("http://10.0.0.7:8001/", Access::Asked),
            ("https://cluster.example/", Access::Asked),
            ("http://127.0.0.1.example:8001/", Access::Asked),
            ("http://127.example/", Access::Asked),
            ("http://127.0.0.256/", Access::Asked),
            ("http://localhost.example/", Access::Asked),
            ("http://localhost./", Access::Asked),
            ("http://a.localhost/", Access::Asked),
            ("http://128.0.0.1/", Access::Asked),
            ("http://0.0.0.0/", Access::Asked),
        ] {
            assert_eq!(access(&address(api), &page, None), expected, "{api}");
        }
        for api in ["ftp://127.0.0.1/", "javascript://127.0.0.1/", "http://me@127.0.0.1:8001/", "http://[::1]:8001/"] {
            assert!(matches!(access(&address(api), &page, None), Access::Refused(_)), "{api}");
        }
    }

    #[test]
    fn the_page_s_own_origin_is_no_stranger_wherever_it_is() {
        for page in ["http://dash.example:8080/", "http://[::1]:8001/", "http://[2001:db8::1]/"] {
            let own = address(page);
            assert_eq!(access(&own, &own, None), Access::Granted, "{page}");
            assert_eq!(access(&address("http://other.example:8080/"), &own, None), Access::Asked);
        }
        let page = address("https://dash.example/");
        assert_eq!(access(&address("http://dash.example/"), &page, None), Access::Asked, "another scheme");
        assert_eq!(access(&address("https://dash.example:444/"), &page, None), Access::Asked, "another port");
    }

    #[test]
    fn what_was_allowed_is_that_origin_alone() {
        let (page, api) = (address("http://127.0.0.1:8080/"), address("http://cluster.example:8001/k8s/"));
        let with = |allowed: &str| access(&api, &page, Some(allowed));
        assert_eq!(with("http://cluster.example:8001"), Access::Granted);
        for other in
            ["http://cluster.example", "https://cluster.example:8001", "http://cluster.example:8001.example", ""]
        {
            assert_eq!(with(other), Access::Asked, "{other}");
        }
        assert!(matches!(
            access(&address("ws://cluster.example/"), &page, Some("ws://cluster.example")),
            Access::Refused(_)
        ));
    }

    #[test]
    fn the_policy_names_this_machine_and_what_was_allowed() {
        let usual = "connect-src 'self' http://127.0.0.1:* http://localhost:* ws://127.0.0.1:* ws://localhost:*";
        let (page, api) = (address("http://127.0.0.1:8080/"), address("https://cluster.example/k8s/"));
        let own = "http://127.0.0.1:8080 ws://127.0.0.1:8080";
        assert_eq!(policy(&page, None), format!("{usual} {own}"));
        assert_eq!(policy(&page, Some(&api)), format!("{usual} {own} https://cluster.example wss://cluster.example"));
        assert_eq!(policy(&address("http://[::1]:8080/"), None), usual);
    }

    #[test]
    fn the_label_says_where_the_data_comes_from_and_no_secret() {
        let token = "0123456789abcdef0123456789abcdef";
        for (page, api, expected) in [
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/k8s/", "127.0.0.1:8080"),
            (
                &format!("http://127.0.0.1:8080/{token}/"),
                &format!("http://127.0.0.1:8080/{token}/k8s/"),
                "127.0.0.1:8080",
            ),
            ("http://127.0.0.1:8001/static/", "http://127.0.0.1:8001/", "127.0.0.1:8001"),
            ("http://127.0.0.1:8080/ui/", "http://127.0.0.1:8080/k8s/", "127.0.0.1:8080/k8s"),
            ("http://127.0.0.1:8080/", "http://cluster.example/a/b/", "cluster.example/a/b"),
            ("http://127.0.0.1:8080/", &format!("http://127.0.0.1:9000/{token}/k8s/"), "127.0.0.1:9000/…/k8s"),
            ("http://[::1]:8080/index.html", "http://[::1]:8080/k8s/", "[::1]:8080"),
        ] {
            assert_eq!(label(&address(api), &address(page)), expected, "{api} of {page}");
        }
        let shown = address(&format!("http://127.0.0.1:9000/{token}/k8s/")).shown();
        assert_eq!(shown, "http://127.0.0.1:9000/…/k8s/");
    }

    #[test]
    fn the_likeliest_place_is_tried_first() {
        for (page, first) in [("/", "./k8s/"), ("/token/", "./k8s/"), ("/static/", "/"), ("/static/index.html", "/")] {
            assert_eq!(candidates(page)[0], first, "{page}");
        }
    }

    #[test]
    fn a_parameter_goes_and_the_rest_stays() {
        for (url, expected) in [
            ("http://x/y", "http://x/y"),
            ("http://x/y?api=z#/pods?api=1", "http://x/y#/pods?api=1"),
            ("http://x/?list=stream&api=http%3A%2F%2Fz&memory=3#/pods", "http://x/?list=stream&memory=3#/pods"),
            ("http://x/?apis=1&api", "http://x/?apis=1"),
        ] {
            assert_eq!(without_parameter(url, "api"), expected);
        }
    }
}
