//! Who is let in, and to what: decided for each request before anything is asked of a cluster. It does no IO.
//!
//! Every web page that its user has open can send requests to a port of this machine. Such a page does not know the secret
//! path; its requests carry its own Origin, and, where its name was made to resolve to this machine, its own Host.

use std::fmt;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::api_path::{self, ApiPath};

/// What a browser says of where a request comes from: https://www.w3.org/TR/fetch-metadata/.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A server's secret path and port, and what it passes on.
pub struct Guard {
    /// 128 random bits, in hexadecimal.
    pub token: String,
    /// The port at which it listens.
    pub port: u16,
    /// Whether Secrets are passed on.
    pub secrets: bool,
}

impl fmt::Debug for Guard {
    /// Without the secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Guard({})", self.port)
    }
}

/// What a request may have.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file of the page, by its name; empty for the page itself.
    File(String),
    /// The page, at the address that ends with a slash.
    Slash,
    /// An answer of the API to this path and query.
    Api(String),
    /// The recording of this name.
    Recording(String),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It was sent to another name than this machine's own, or from another page.
    Stranger,
    /// It does not know the secret path.
    NotFound,
    /// It would write.
    Method,
    /// It asks the API for what is not passed on.
    Path,
    /// It asks for Secrets, which are not passed on.
    Secrets,
}

impl Refusal {
    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Stranger | Self::Path | Self::Secrets => StatusCode::FORBIDDEN,
        }
    }

    /// The answer's words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Stranger => "not for other pages",
            Self::NotFound => "404 page not found",
            Self::Method => "kubechurn passes on no request that writes",
            Self::Path => "kubechurn passes on lists, watches, objects and the logs of Pods, and nothing else",
            Self::Secrets => "kubechurn passes Secrets on only if it was started with --secrets",
        }
    }
}

impl Guard {
    /// Decides by the head of a request.
    pub fn admit(&self, parts: &Parts) -> Result<Entry, Refusal> {
        let host = self.host(parts).ok_or(Refusal::Stranger)?;
        if !is_own_origin(&parts.headers, host) {
            return Err(Refusal::Stranger);
        }
        let below = self.below(parts.uri.path()).ok_or(Refusal::NotFound)?;
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Err(Refusal::Method);
        }
        let Some(file) = below.strip_prefix('/') else { return Ok(Entry::Slash) };
        let (api, recording) = (file.strip_prefix("k8s/"), file.strip_prefix("recordings/"));
        if api.or(recording).is_none() {
            return Ok(Entry::File(file.to_owned()));
        }
        // A browser that says so sends no Origin with some requests of other pages, whose answers are hidden from them.
        let site = only(&parts.headers, &SEC_FETCH_SITE).ok_or(Refusal::Stranger)?;
        if !matches!(site, None | Some("same-origin" | "none")) {
            return Err(Refusal::Stranger);
        }
        let Some(api) = api else { return Ok(Entry::Recording(recording.unwrap_or_default().to_owned())) };
        let path = format!("/{api}");
        match api_path::parse(&path) {
            None => Err(Refusal::Path),
            Some(ApiPath::Collection { is_secret: true } | ApiPath::Object { is_secret: true }) if !self.secrets => {
                Err(Refusal::Secrets)
            }
            // A log is read by GET alone: neither by a socket, nor with an option that does more than to read.
            Some(ApiPath::Log)
                if parts.method != Method::GET
                    || parts.headers.contains_key(header::UPGRADE)
                    || !parts.uri.query().is_some_and(api_path::reads_log) =>
            {
                Err(Refusal::Path)
            }
            Some(_) => Ok(Entry::Api(match parts.uri.query() {
                Some(query) => format!("{path}?{query}"),
                None => path,
            })),
        }
    }

    /// The address by which the request reached this server, if it is one of this server's: its Host, and the same in the
    /// request's target, where that has one.
    fn host<'a>(&self, parts: &'a Parts) -> Option<&'a str> {
        let target = parts.uri.authority().map(Authority::as_str);
        let host = only(&parts.headers, &header::HOST)?.or(target)?;
        let (name, port) = host.rsplit_once(':')?;
        let is_own = port == self.port.to_string()
            && (name == "127.0.0.1" || name == "[::1]" || name.eq_ignore_ascii_case("localhost"));
        (is_own && target.is_none_or(|target| target == host)).then_some(host)
    }

    /// Whether a request's path is below the secret one.
    pub fn knows(&self, path: &str) -> bool {
        self.below(path).is_some()
    }

    /// What follows the secret path: nothing, or a path with its slash.
    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let path = path.strip_prefix('/')?;
        let (token, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        // However much of it is right, this takes the same time.
        let differs = token.bytes().zip(self.token.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
        (token.len() == self.token.len() && differs == 0).then_some(rest)
    }
}

/// Whether the request names no origin, or the one of the page that is served at `host`.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    match only(headers, &header::ORIGIN) {
        None => false,
        Some(None) => true,
        Some(Some(origin)) => origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host)),
    }
}

/// The value of a header that may be there once; `None` where it is there more often, or is no text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return None;
    }
    match first {
        Some(value) => Some(Some(value.to_str().ok()?)),
        None => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const TOKEN: &str = "5f1d0c3e9b7a42868d1e6c0f7a3b9d24";

    /// A request in a line: method and target, then headers, with commas between.
    fn admit(line: &str) -> Result<Entry, Refusal> {
        let line = line.replace('$', &format!("/{TOKEN}"));
        let mut words = line.split(", ");
        let (method, target) = words.next().and_then(|first| first.split_once(' ')).unwrap();
        let mut request = Request::builder().method(method).uri(target);
        for header in words {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let guard = Guard { token: TOKEN.to_owned(), port: 8010, secrets: false };
        guard.admit(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn the_page_reaches_its_files_and_the_api() {
        let file = |name: &str| Ok(Entry::File(name.to_owned()));
        assert_eq!(admit("GET $/, Host: 127.0.0.1:8010"), file(""));
        assert_eq!(admit("HEAD $/a.css, Host: localhost:8010, Sec-Fetch-Site: cross-site"), file("a.css"));
        assert_eq!(admit("GET $, Host: 127.0.0.1:8010"), Ok(Entry::Slash));
        let recording = Ok(Entry::Recording("a.churn".to_owned()));
        assert_eq!(admit("GET $/recordings/a.churn, Host: 127.0.0.1:8010, Sec-Fetch-Site: same-origin"), recording);
        for line in [
            "GET $/k8s/api/v1/pods?watch=true, Host: 127.0.0.1:8010, Origin: http://127.0.0.1:8010",
            "GET $/k8s/api/v1/pods?watch=true, Host: localhost:8010, Origin: http://localhost:8010",
            "GET $/k8s/api/v1/pods?watch=true, Host: LOCALHOST:8010, Origin: http://localhost:8010",
            "GET $/k8s/api/v1/pods?watch=true, Host: [::1]:8010, Sec-Fetch-Site: same-origin",
            "GET http://127.0.0.1:8010$/k8s/api/v1/pods?watch=true, Host: 127.0.0.1:8010",
        ] {
            assert_eq!(admit(line), Ok(Entry::Api("/api/v1/pods?watch=true".to_owned())), "{line}");
        }
    }

    #[test]
    fn strangers_get_nothing() {
        for line in [
            "GET $/",
            "GET $/, Host: 127.0.0.1",
            "GET $/, Host: 127.0.0.1:80",
            "GET $/, Host: evil.example:8010",
            "GET $/, Host: evil.example",
            "GET $/, Host: 127.0.0.1.evil.example:8010",
            "GET $/, Host: 127.0.0.1:8010@evil.example",
            "GET $/, Host: evil.example@127.0.0.1:8010",
            "GET $/, Host: 127.0.0.1:8010, Host: evil.example",
            "GET http://evil.example:8010$/, Host: 127.0.0.1:8010",
            "GET http://localhost:8010$/, Host: 127.0.0.1:8010",
            "GET $/, Host: 127.0.0.1:8010, Origin: null",
            "GET $/, Host: 127.0.0.1:8010, Origin: http://evil.example",
            "GET $/, Host: 127.0.0.1:8010, Origin: http://127.0.0.1:9000",
            "GET $/, Host: 127.0.0.1:8010, Origin: https://127.0.0.1:8010",
            "GET $/, Host: 127.0.0.1:8010, Origin: http://localhost:8010",
            "GET $/, Host: 127.0.0.1:8010, Origin: http://127.0.0.1:8010, Origin: http://evil.example",
            "GET $/k8s/version, Host: 127.0.0.1:8010, Sec-Fetch-Site: cross-site",
            "GET $/k8s/version, Host: 127.0.0.1:8010, Sec-Fetch-Site: same-site",
            "GET $/recordings/a.churn, Host: 127.0.0.1:8010, Sec-Fetch-Site: cross-site",
            "GET $/recordings/a.churn, Host: evil.example:8010",
        ] {
            assert_eq!(admit(line), Err(Refusal::Stranger), "{line}");
        }
        for target in [
            "/",
            "/k8s/version",
            "/00000000000000000000000000000000/k8s/version",
            "/5F1D0C3E9B7A42868D1E6C0F7A3B9D24/",
            "/5f1d0c3e9b7a42868d1e6c0f7a3b9d2/",
            "/5f1d0c3e9b7a42868d1e6c0f7a3b9d245/",
            "/%35f1d0c3e9b7a42868d1e6c0f7a3b9d24/",
            "//5f1d0c3e9b7a42868d1e6c0f7a3b9d24/",
            "/x/../5f1d0c3e9b7a42868d1e6c0f7a3b9d24/",
        ] {
            assert_eq!(admit(&format!("GET {target}, Host: 127.0.0.1:8010")), Err(Refusal::NotFound), "{target}");
        }
    }

    #[test]
    fn nothing_is_written_and_no_way_leads_into_the_cluster() {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "PROPFIND"] {
            let line = format!("{method} $/k8s/api/v1/namespaces/shop/pods/x, Host: 127.0.0.1:8010");
            assert_eq!(admit(&line), Err(Refusal::Method), "{line}");
        }
        for path in ["api/v1/namespaces/shop/pods/x/exec?command=sh", "api/v1/nodes/x/proxy", "", "api//v1/pods"] {
            assert_eq!(admit(&format!("GET $/k8s/{path}, Host: 127.0.0.1:8010")), Err(Refusal::Path), "{path}");
        }
        let log = "$/k8s/api/v1/namespaces/shop/pods/x/log?container=web&follow=true, Host: 127.0.0.1:8010";
        let passed = "/api/v1/namespaces/shop/pods/x/log?container=web&follow=true";
        assert_eq!(admit(&format!("GET {log}")), Ok(Entry::Api(passed.to_owned())));
        assert_eq!(admit(&format!("HEAD {log}")), Err(Refusal::Path));
        assert_eq!(admit(&format!("POST {log}")), Err(Refusal::Method));
        assert_eq!(admit(&format!("GET {log}, Upgrade: websocket")), Err(Refusal::Path));
        assert_eq!(admit(&format!("GET {log}, Origin: http://evil.example")), Err(Refusal::Stranger));
        let skips = log.replace("follow=true", "insecureSkipTLSVerifyBackend=true");
        assert_eq!(admit(&format!("GET {skips}")), Err(Refusal::Path));
        assert_eq!(admit("GET $/k8s/api/v1/namespaces/shop/pods/x/log, Host: 127.0.0.1:8010"), Err(Refusal::Path));
        for path in ["api/v1/secrets", "api/v1/namespaces/shop/secrets/x", "api/v1/namespaces/shop/secrets?watch=true"]
        {
            assert_eq!(admit(&format!("GET $/k8s/{path}, Host: 127.0.0.1:8010")), Err(Refusal::Secrets), "{path}");
        }
    }
}
