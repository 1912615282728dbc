//! Where the API is: one base for HTTP, one for WebSockets.

use kubechurn_client::api::release::Release;

use crate::browser::clock::within;
use crate::browser::fetch::get;

/// The two bases. Both end in a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// `http://127.0.0.1:8080/k8s/`
    pub http: String,
    /// `ws://127.0.0.1:8080/k8s-ws/`
    pub socket: String,
    /// Which release the server is, where it says so.
    pub release: Option<Release>,
}

/// No API was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Each address that was tried, and what it said.
    pub tried: Vec<(String, String)>,
}

/// Finds the API: at the first of these places, addresses or parts of one seen from the page, where one answers.
/// Each has so many milliseconds to answer. `second` says that WebSockets have a prefix of their own, `k8s-ws/` beside
/// `k8s/`: Trunk cannot proxy HTTP and WebSockets under one.
///
/// # Errors
///
/// When nothing that was tried answers as an API server does.
pub async fn find(places: &[String], second: bool, patience: u32) -> Result<Base, NotFound> {
    let document = web_sys::window().and_then(|window| window.document()?.base_uri().ok()?).unwrap_or_default();
    let resolve = |path: &str| web_sys::Url::new_with_base(path, &document).map(|url| without_query(&url.href()));
    let mut tried: Vec<(String, String)> = Vec::new();
    for place in places {
        let Ok(http) = resolve(place) else {
            tried.push((place.clone(), String::from("this is no address")));
            continue;
        };
        if tried.iter().any(|(other, _)| *other == http) {
            continue;
        }
        let late = || Err(format!("no answer within {:.1} s", f64::from(patience) / 1000.0));
        match within(patience, ask(&http)).await.unwrap_or_else(late) {
            Ok(answer) => {
                let prefix = http.strip_suffix("k8s/").filter(|_| second);
                let socket = prefix.map_or_else(|| http.clone(), |prefix| format!("{prefix}k8s-ws/"));
                let release = Release::parse(&answer);
                return Ok(Base { socket: socket.replacen("http", "ws", 1), http, release });
            }
            Err(words) => tried.push((http, words)),
        }
    }
    Err(NotFound { tried })
}

/// Whether an API server answers below `base`; if not, what was said.
pub async fn version(base: &str) -> Result<(), String> {
    ask(base).await.map(drop)
}

/// What an API server answers below `base` when it is asked for its version.
async fn ask(base: &str) -> Result<String, String> {
    let (_abort, response) = get(&format!("{base}version")).await;
    let response = response.map_err(|_| String::from("no answer"))?;
    let status = response.status();
    let text = response.text().await.unwrap_or_default();
    // An API server answers, with a Status, also a user who may not ask for the version.
    let is_api = text.trim_start().starts_with('{') && (text.contains("\"gitVersion\"") || text.contains("\"Status\""));
    if is_api && status < 500 {
        return Ok(text);
    }
    let first = text.trim().lines().next().unwrap_or_default();
    let words = if first.starts_with('<') { "a page, and no API" } else { first };
    Err(format!("HTTP {status} {}", words.chars().take(160).collect::<String>()))
}

fn without_query(href: &str) -> String {
    let end = href.find(['?', '#']).unwrap_or(href.len());
    href[..end].to_owned()
}
