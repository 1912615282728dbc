//! The HTTP side: each request goes through the guard, and then to the page's files or to the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use crate::guard::{Entry, Guard, Refusal};
use crate::page::{self, Page};
use crate::upstream::Upstream;

/// What is served.
#[derive(Debug)]
pub struct Server {
    /// Who is let in.
    pub guard: Guard,
    /// The page.
    pub page: Page,
    /// The API.
    pub upstream: Upstream,
}

/// Serves until the process ends.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(listener: TcpListener, server: Server) -> std::io::Result<()> {
    // Nagle's algorithm is off, because it would delay the last event of a burst.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().fallback(handle).with_state(Arc::new(server))).await
}

async fn handle(State(server): State<Arc<Server>>, request: Request) -> Response {
    let mut response = server.answer(request).await;
    page::secure(&mut response);
    response
}

impl Server {
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
