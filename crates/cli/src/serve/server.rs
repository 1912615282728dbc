//! The HTTP side: each request goes through the guard, and then to the page's files or to the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::guard::{Entry, Guard, Refusal};
use super::page::{self, Page};
use super::upstream::Upstream;

/// A cluster with its page, below a secret path of its own.
#[derive(Debug)]
pub struct Site {
    /// Who is let in.
    pub guard: Guard,
    pub page: Page,
    /// The API.
    pub upstream: Upstream,
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
                self.page.answer(&name, &parts.headers).unwrap_or_else(|| refused(Refusal::NotFound))
            }
            Ok(Entry::Slash) => {
                let to = HeaderValue::try_from(format!("{}/", parts.uri.path()));
                let to = to.unwrap_or_else(|_| HeaderValue::from_static("/"));
                (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, to)]).into_response()
            }
            Ok(Entry::Api(path)) => match self.upstream.pass(parts, &path).await {
                Ok(response) => response,
                Err(error) => page::text(StatusCode::BAD_GATEWAY, error.to_string()),
            },
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
