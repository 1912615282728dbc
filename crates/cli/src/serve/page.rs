//! The page's files, which build.rs has put into the program, and the headers with which they are sent.

use std::io::Read;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;

/// A file of the page.
#[derive(Debug)]
struct File {
    name: &'static str,
    /// Its size, in bytes.
    length: usize,
    /// It, compressed with gzip.
    gzip: &'static [u8],
}

/// The files, in the order of their names; none where the program was built without the page.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

const CLUSTER: &str = "<meta name=\"cluster\" content=\"";
const END_OF_HEAD: &str = "</head>";
const POLICY: &str = "http-equiv=\"Content-Security-Policy\" content=\"";

/// The page for one cluster.
#[derive(Debug)]
pub struct Page {
    /// `index.html`, with the cluster's name in it.
    index: String,
    /// The security policy of `index.html` as a header, which comes before all of the page, and says in addition that no page
    /// may show this one in a frame; a policy within a page cannot.
    policy: HeaderValue,
}

/// The files of the page, each with its name; none where the program was built without it.
pub fn files() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    FILES.iter().map(|file| (file.name, unpack(file)))
}

/// `index.html`.
pub fn index() -> Option<String> {
    let index = FILES.iter().find(|file| file.name == "index.html")?;
    String::from_utf8(unpack(index)).ok()
}

/// `index.html` with the recordings that it offers: of each the address and a title. `None` for a text that is none.
pub fn offering(index: &str, recordings: &[(String, String)]) -> Option<String> {
    let (before, after) = index.split_once(END_OF_HEAD)?;
    let lines: Vec<String> =
        recordings.iter().map(|(address, title)| format!("{address} {}", attribute(title))).collect();
    Some(format!("{before}<meta name=\"recordings\" content=\"{}\">{END_OF_HEAD}{after}", lines.join("\n")))
}

/// A text on one line, as it may stand in an attribute.
fn attribute(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

impl Page {
    /// The page, which shows this name of its cluster, and knows these clusters: for each the address of its page, a space and
    /// its name, with commas between. `None` where the program was built without it.
    pub fn new(cluster: &str, clusters: &str) -> Option<Self> {
        Self::of(&index()?, cluster, clusters)
    }

    /// The same, made of a text of `index.html`.
    pub fn of(index: &str, cluster: &str, clusters: &str) -> Option<Self> {
        let (before, rest) = index.split_once(CLUSTER)?;
        let (_, after) = rest.split_once('"')?;
        let (_, policy) = index.split_once(POLICY)?;
        let (policy, _) = policy.split_once('"')?;
        let words: Vec<&str> = policy.split_whitespace().collect();
        let policy = format!("{}; frame-ancestors 'none'", words.join(" "));
        Some(Self {
            index: format!("{before}{CLUSTER}{}\"{}{after}", shown(cluster), others(clusters)),
            policy: HeaderValue::try_from(policy).ok()?,
        })
    }

    /// The answer with the file of this name; the page itself has none. `headers` are the request's.
    /// `offered` is what it offers.
    pub fn answer(&self, name: &str, headers: &HeaderMap, offered: &[(String, String)]) -> Option<Response> {
        if matches!(name, "" | "index.html") {
            let index = if offered.is_empty() { None } else { offering(&self.index, offered) };
            let mut response = Body::from(index.unwrap_or_else(|| self.index.clone())).into_response();
            put(&mut response, header::CONTENT_TYPE, "text/html; charset=utf-8");
            put(&mut response, header::CACHE_CONTROL, "no-store");
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
            return Some(response);
        }
        let file = FILES.iter().find(|file| file.name == name)?;
        let takes_gzip = takes_gzip(headers);
        let mut response = match takes_gzip {
            true => Body::from(file.gzip).into_response(),
            false => Body::from(unpack(file)).into_response(),
        };
        if takes_gzip {
            put(&mut response, header::CONTENT_ENCODING, "gzip");
        }
        put(&mut response, header::VARY, "accept-encoding");
        put(&mut response, header::CONTENT_TYPE, content_type(name));
        // The address lives no longer than this process.
        put(&mut response, header::CACHE_CONTROL, "no-store");
        Some(response)
    }
}

/// The end of the element before, and what names the clusters; nothing for no clusters.
fn others(clusters: &str) -> String {
    if clusters.is_empty() { String::new() } else { format!("><meta name=\"clusters\" content=\"{clusters}\"") }
}

/// Gives an answer what every answer has: its address reaches nobody else, and it is what it says that it is.
pub fn secure(response: &mut Response) {
    put(response, header::REFERRER_POLICY, "no-referrer");
    put(response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(response, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
}

/// A short answer in plain text.
pub fn text(status: StatusCode, words: String) -> Response {
    let mut response = (status, words + "\n").into_response();
    put(&mut response, header::CACHE_CONTROL, "no-store");
    response
}

/// A refusal in the form of the API's own, whose words the page shows. `words` need no escapes in JSON.
pub fn status(status: StatusCode, words: &'static str) -> Response {
    let body = format!(
        "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"{words}\",\
         \"reason\":\"Forbidden\",\"code\":{}}}\n",
        status.as_u16()
    );
    let mut response = (status, body).into_response();
    put(&mut response, header::CONTENT_TYPE, "application/json");
    put(&mut response, header::CACHE_CONTROL, "no-store");
    response
}

fn put(response: &mut Response, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

/// A cluster's name as it may stand in a page, as `kubectl churn` writes it.
pub fn shown(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._:/@-".contains(letter);
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

fn unpack(file: &File) -> Vec<u8> {
    let mut text = Vec::with_capacity(file.length);
    // It was compressed when the program was built.
    GzDecoder::new(file.gzip).read_to_end(&mut text).expect("the program's own files are whole");
    text
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("html") => "text/html; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Whether the client says that it takes gzip: it names it, and does not say that it is worth nothing to it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| {
        let (name, worth) = one.split_once(';').unwrap_or((one, ""));
        let worth = worth.trim().strip_prefix("q=").unwrap_or("1").trim();
        name.trim().eq_ignore_ascii_case("gzip") && worth.parse::<f32>().is_ok_and(|worth| worth > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_its_cluster_and_says_its_policy() {
        let index = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../index.html")).unwrap();
        let index = index.replace("</head>", "<meta name=\"cluster\" content=\"\"></head>");
        let page = Page::of(&index, "a <b>&\"c\" \u{e9}", "").unwrap();
        assert!(page.index.contains("<meta name=\"cluster\" content=\"a _b___c_ _\"></head>"), "{}", page.index);
        let policy = page.policy.to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "), "{policy}");
        assert!(policy.ends_with("; form-action 'none'; frame-ancestors 'none'"), "{policy}");
        assert!(Page::of("<html>", "a", "").is_none());
    }

    #[test]
    fn a_title_cannot_leave_its_attribute() {
        assert_eq!(attribute("a \"b\" <c> & d\ne"), "a &quot;b&quot; &lt;c> &amp; d e");
        let both = [("x".to_owned(), "a".to_owned()), ("y".to_owned(), "\"b\n".to_owned())];
        let expected = "<meta name=\"recordings\" content=\"x a\ny &quot;b \"></head>";
        assert_eq!(offering("</head>", &both).as_deref(), Some(expected));
    }

    #[test]
    fn the_page_knows_several_clusters() {
        let index = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../index.html")).unwrap();
        let index = index.replace("</head>", "<meta name=\"cluster\" content=\"\"></head>");
        let page = Page::of(&index, "a", "http://127.0.0.1:1/x/ a,http://127.0.0.1:1/y/ b").unwrap();
        let named =
            "content=\"a\"><meta name=\"clusters\" content=\"http://127.0.0.1:1/x/ a,http://127.0.0.1:1/y/ b\"></head>";
        assert!(page.index.contains(named), "{}", page.index);
    }

    #[test]
    fn the_page_is_in_the_program_that_was_built_with_it() {
        let is_given = option_env!("KUBECHURN_PAGE").is_some_and(|folder| !folder.is_empty());
        assert_eq!(Page::new("a", "").is_some(), is_given);
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (value, expected) in [
            ("gzip, deflate, br, zstd", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip;q=0.000", false),
            ("gzip;q=much", false),
            ("deflate, br", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
            assert_eq!(takes_gzip(&headers), expected, "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
