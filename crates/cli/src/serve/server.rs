//! The HTTP side: each request goes through the guard, and then to the page's files, to the API or to a recording.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::guard::{Entry, Guard, Refusal};
use super::page::{self, Page};
use super::recording::Recording;
use super::upstream::Upstream;

/// A cluster or a recording with its page, below a secret path of its own.
#[derive(Debug)]
pub struct Site {
    /// Who is let in.
    pub guard: Guard,
    pub page: Page,
    pub source: Source,
    /// A recording that is offered beside a cluster.
    pub earlier: Option<Arc<Recording>>,
}

/// What a page shows.
#[derive(Debug)]
pub enum Source {
    /// The API of a cluster.
    Api(Upstream),
    Recording(Recording),
}

/// Serves until the process ends.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(listener: TcpListener, sites: Vec<Site>) -> std::io::Result<()> {
    // Nagle's algorithm is off, because it would delay the last event of a burst.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().fallback(handle).with_state(Arc::new(sites))).await
}

async fn handle(State(sites): State<Arc<Vec<Site>>>, request: Request) -> Response {
    // Whoever knows no secret path is refused by any of them in the same way.
    let known = sites.iter().find(|site| site.guard.knows(request.uri().path())).or(sites.first());
    let mut response = match known {
        Some(site) => site.answer(request).await,
        None => refused(Refusal::NotFound),
    };
    page::secure(&mut response);
    response
}

impl Site {
    async fn answer(&self, request: Request) -> Response {
        let (parts, _) = request.into_parts();
        match self.guard.admit(&parts) {
            Ok(Entry::File(name)) => {
                let offered: Vec<_> = self.earlier.iter().filter_map(|earlier| earlier.offer()).collect();
                self.page.answer(&name, &parts.headers, &offered).unwrap_or_else(|| refused(Refusal::NotFound))
            }
            Ok(Entry::Slash) => {
                let to = HeaderValue::try_from(format!("{}/", parts.uri.path()));
                let to = to.unwrap_or_else(|_| HeaderValue::from_static("/"));
                (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, to)]).into_response()
            }
            Ok(Entry::Api(path)) => match &self.source {
                Source::Api(upstream) => match upstream.pass(parts, &path).await {
                    Ok(response) => response,
                    Err(error) => page::text(StatusCode::BAD_GATEWAY, error.to_string()),
                },
                Source::Recording(_) => page::text(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "kubechurn shows a recording here, and no cluster".to_owned(),
                ),
            },
            Ok(Entry::Recording(name)) => {
                let known = match &self.source {
                    Source::Recording(recording) => Some(recording),
                    Source::Api(_) => self.earlier.as_deref(),
                };
                match known.filter(|recording| recording.name == name).map(Recording::answer) {
                    Some(Ok(response)) => response,
                    Some(Err(error)) => {
                        page::text(StatusCode::INTERNAL_SERVER_ERROR, format!("it cannot be read: {error}"))
                    }
                    None => refused(Refusal::NotFound),
                }
            }
            Err(refusal) => refused(refusal),
        }
    }
}

/// The API's refusals are in the API's own form, whose words the page shows.
fn refused(refusal: Refusal) -> Response {
    let (status, words) = (refusal.status(), refusal.words());
    let mut response = match refusal {
        Refusal::Stranger | Refusal::NotFound | Refusal::Method => page::text(status, words.to_owned()),
        Refusal::Path | Refusal::Secrets => page::status(status, words),
    };
    if refusal == Refusal::Method {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use axum::body::{Body, to_bytes};
    use axum::http::Method;
    use kubechurn_recording::native::{self, FileWriter};
    use kubechurn_recording::{Header, Line};

    use super::*;

    const TOKEN: &str = "5f1d0c3e9b7a42868d1e6c0f7a3b9d24";

    /// A file with a note for each second from this one on, in blocks of two; the last one is torn.
    fn file(path: &Path, second: u32) {
        let open = |path: &Path| fs::File::options().read(true).write(true).create(true).truncate(false).open(path);
        fs::write(path, b"").expect("a file");
        for block in 0..3 {
            let mut out = open(path).expect("a file");
            std::io::Seek::seek(&mut out, std::io::SeekFrom::End(0)).expect("a file");
            let mut writer = FileWriter::new(Header { program: "kubechurn 1".to_owned(), ..Header::default() }, out);
            for at in 0..2 {
                let second = second + block * 2 + at;
                writer.push(f64::from(second) * 1e3, &Line::Note(&format!("{second}"))).expect("a line");
                // Within the line the next flush would write more.
                writer.flush().expect("a line");
            }
            match block {
                2 => std::mem::forget(writer),
                _ => drop(writer.finish().expect("a block")),
            }
        }
    }

    fn site(path: &Path, from: Option<f64>, to: Option<f64>) -> Site {
        let index = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../index.html")).expect("the page");
        let index = index.replace("</head>", "<meta name=\"cluster\" content=\"\"></head>");
        let guard = Guard { token: TOKEN.to_owned(), port: 8010, secrets: false };
        let recording = Recording::find(path.to_owned(), from, to).expect("a recording");
        let page = Page::of(&index, "a", "").expect("the page");
        Site { guard, page, source: Source::Recording(recording), earlier: None }
    }

    async fn answer(site: &Site, method: Method, path: &str) -> (StatusCode, HeaderValue, Vec<u8>) {
        let request =
            Request::builder().method(method).uri(format!("/{TOKEN}/{path}")).header("host", "127.0.0.1:8010");
        let response = site.answer(request.body(Body::empty()).expect("a request")).await;
        let (status, kind) = (response.status(), response.headers()[header::CONTENT_TYPE].clone());
        (status, kind, to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec())
    }

    /// The notes of what is served.
    async fn notes(path: &Path, from: Option<f64>, to: Option<f64>) -> String {
        let site = site(path, from, to);
        let (status, kind, body) = answer(&site, Method::GET, "recordings/files.churn").await;
        assert_eq!((status, kind), (StatusCode::OK, HeaderValue::from_static("application/gzip")));
        let mut notes = Vec::new();
        let read = native::read(&body, |_, line| {
            if let Line::Note(words) = line {
                notes.push(words.to_owned());
            }
        });
        read.expect("it is a recording");
        notes.join(" ")
    }

    #[tokio::test]
    async fn the_files_of_a_folder_are_one_recording_of_the_blocks_that_are_wanted() {
        let folder = std::env::temp_dir().join(format!("kubechurn-open-{}", std::process::id())).join("files");
        fs::create_dir_all(&folder).expect("a folder");
        for (name, second) in [("1970-01-01T00-00-10.000Z.churn", 10), ("1970-01-01T00-00-20.000Z.churn", 20)] {
            file(&folder.join(name), second);
        }
        fs::write(folder.join("1970-01-01T00-00-30.000Z.churn"), b"").expect("a file");
        fs::write(folder.join("notes.txt"), b"x").expect("a file");
        assert_eq!(notes(&folder, None, None).await, "10 11 12 13 14 15 20 21 22 23 24 25");
        assert_eq!(notes(&folder, Some(21e3), None).await, "20 21 22 23 24 25");
        assert_eq!(notes(&folder, Some(1e3), Some(13e3)).await, "10 11 12 13");
        assert_eq!(notes(&folder, Some(15e3), Some(20e3)).await, "14 15 20 21");
        let none = Recording::find(folder.clone(), None, Some(1e3)).map_err(|error| error.to_string());
        assert!(none.is_err_and(|error| error.ends_with("has no recording of that time, or none at all")));
        let site = site(&folder, None, None);
        let status = async |method, path| answer(&site, method, path).await.0;
        for path in ["recordings/other.churn", "recordings/", "recordings/../files.churn", "recordings/notes.txt"] {
            assert_eq!(status(Method::GET, path).await, StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(status(Method::HEAD, "recordings/files.churn").await, StatusCode::OK);
        assert_eq!(status(Method::POST, "recordings/files.churn").await, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(status(Method::GET, "k8s/api/v1/pods").await, StatusCode::SERVICE_UNAVAILABLE);
        fs::remove_dir_all(folder.parent().expect("a folder")).expect("the folder is removed");
    }
}
