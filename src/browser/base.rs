//! Where the API is: one base for HTTP, one for WebSockets.

use kubechurn_client::api::release::{Release, is_of_server};
use kubechurn_client::cache::heartbeat::SocketAnswer;

use crate::browser::clock::within;
use crate::browser::fetch::get;
use crate::browser::socket;

/// The two bases. Both end in a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// `http://127.0.0.1:8080/k8s/`
    pub http: String,
    /// `ws://127.0.0.1:8080/k8s-ws/`
    pub socket: String,
    /// Which release the server is, where it says so.
    pub release: Option<Release>,
    /// Whether the browser lets the page read answers over HTTP.
    pub readable: bool,
}

impl Base {
    /// An API whose place is known.
    pub fn at(http: &str, readable: bool) -> Base {
        Base { http: http.to_owned(), socket: http.replacen("http", "ws", 1), release: None, readable }
    }
}

/// Where the API may be.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Addresses, or parts of one seen from the page.
    pub places: &'a [String],
    /// Whether WebSockets have a prefix of their own, `k8s-ws/` beside `k8s/`: Trunk cannot proxy HTTP and WebSockets under
    /// one.
    pub second: bool,
    /// The path and query of a watch that a socket asks for where nothing answers over HTTP; see [`SocketAnswer`].
    pub watch: Option<&'a str>,
    /// How long a place has to answer, in milliseconds; and as long again for the socket.
    pub patience: u32,
}

/// Finds the API: at the first of these places where one answers.
///
/// # Errors
///
/// Each address that was tried and what it said, when nothing answers as an API server does.
pub async fn find(of: Places<'_>) -> Result<Base, Vec<(String, String)>> {
    let document = web_sys::window().and_then(|window| window.document()?.base_uri().ok()?).unwrap_or_default();
    let resolve = |path: &str| web_sys::Url::new_with_base(path, &document).map(|url| url.origin() + &url.pathname());
    let mut tried: Vec<(String, String)> = Vec::new();
    for place in of.places {
        let Ok(http) = resolve(place) else {
            tried.push((place.clone(), String::from("this is no address")));
            continue;
        };
        if tried.iter().any(|(other, _)| *other == http) {
            continue;
        }
        let prefix = http.strip_suffix("k8s/").filter(|_| of.second);
        let socket = prefix.map_or_else(|| http.clone(), |prefix| format!("{prefix}k8s-ws/")).replacen("http", "ws", 1);
        let late = || Err(Some(format!("no answer within {:.1} s", f64::from(of.patience) / 1000.0)));
        match (within(of.patience, version("", &http)).await.unwrap_or_else(late), of.watch) {
            (Ok(answer), _) => {
                return Ok(Base { release: Release::parse(&answer), http, socket, readable: true });
            }
            // A browser does not say that there was an answer which the page may not read.
            (Err(None), Some(watch)) if is_there(&format!("{socket}{watch}"), of.patience).await => {
                return Ok(Base { release: None, http, socket, readable: false });
            }
            (Err(words), _) => tried.push((http, words.unwrap_or_else(|| String::from("no answer")))),
        }
    }
    Err(tried)
}

/// Whether an API server answers a socket that asks for this watch, within so many milliseconds.
pub async fn is_there(watch: &str, patience: u32) -> bool {
    within(patience, socket::ask(watch)).await.is_some_and(|answer| SocketAnswer::is_of_server(&answer))
}

/// What a cluster's API server answers below `base` when it is asked for its version.
///
/// # Errors
///
/// What was said instead; `None` where no answer came.
pub async fn version(cluster: &'static str, base: &str) -> Result<String, Option<String>> {
    let (_abort, response) = get(cluster, &format!("{base}version")).await;
    let response = response.map_err(|_| None)?;
    let text = response.text().await.unwrap_or_default();
    is_of_server(response.status(), &text).map(|()| text).map_err(Some)
}
