//! Asks an API server what it has, and again, cheaply, whether that is still so; and for the definitions of resources.

use futures::stream::{self, StreamExt};
use gloo_net::http::{Request, Response};

use kubechurn_client::api::definition;
use kubechurn_client::api::discovery::{ACCEPT, GroupVersion, PATHS};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::secret;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;

use crate::browser::base::Base;
use crate::browser::clock::within;
use crate::browser::fetch::AbortOnDrop;

/// How many documents are asked for at a time: a browser opens no more than six connections to a server, and lists
/// want some of them.
const AT_ONCE: usize = 3;

/// How long a document is waited for, in milliseconds: behind a credential plugin the first may take a log-in.
const PATIENCE: u32 = 30_000;

/// Asks once for every document that may have changed. What is known from a document stays known where asking for it fails.
pub async fn refresh(cached: &mut CachedDiscovery, base: &Base) {
    cached.begin();
    for (at, path) in PATHS.into_iter().enumerate() {
        let url = format!("{}{path}", base.http);
        match ask(&url, ACCEPT, cached.etag(at)).await {
            Ok(None) => {}
            Ok(Some((etag, text))) => {
                if let Err(error) = cached.answered(at, etag, &text) {
                    cached.failed(format!("what {path} answers cannot be read: {error}"));
                }
            }
            Err(failure) => cached.failed(failure.words),
        }
    }
    let documents = cached.wanted().into_iter().map(|of| describe(base, of));
    let mut answers = stream::iter(documents).buffer_unordered(AT_ONCE);
    while let Some((of, answer)) = answers.next().await {
        cached.described(of, answer.as_deref().map_err(|failure| &*failure.words));
    }
    cached.end();
}

async fn describe(base: &Base, of: GroupVersion) -> (GroupVersion, Result<String, Failure>) {
    (of, get(&format!("{}{}", base.http, of.path())).await)
}

/// The text of a resource's CustomResourceDefinition.
///
/// # Errors
///
/// Why there is none.
pub async fn definition(base: &Base, resource: &ApiResource) -> Result<String, Failure> {
    get(&format!("{}{}", base.http, definition::path(resource))).await
}

async fn get(url: &str) -> Result<String, Failure> {
    let answer = ask(url, "application/json", None).await?;
    answer
        .map(|(_, text)| text)
        .ok_or_else(|| Failure::unreachable(format!("{} answers nothing new", secret::shown(url))))
}

/// A document, and what it is asked for with the next time; `None` where it has not changed since. Nobody waits for longer
/// than [`PATIENCE`].
async fn ask(url: &str, accept: &str, etag: Option<&str>) -> Result<Option<(Option<String>, String)>, Failure> {
    let silence = || Failure::unreachable(format!("no answer from {}", secret::shown(url)));
    within(PATIENCE, answer(url, accept, etag)).await.unwrap_or_else(|| Err(silence()))
}

async fn answer(url: &str, accept: &str, etag: Option<&str>) -> Result<Option<(Option<String>, String)>, Failure> {
    let abort = AbortOnDrop::begin();
    let request = Request::get(url).header("Accept", accept).cache(web_sys::RequestCache::NoStore);
    let mut request = request.abort_signal(abort.signal().as_ref());
    if let Some(etag) = etag {
        request = request.header("If-None-Match", etag);
    }
    let silence = |_| Failure::unreachable(format!("no answer from {}", secret::shown(url)));
    let response = request.send().await.map_err(silence)?;
    if response.status() == 304 {
        return Ok(None);
    }
    let etag = response.headers().get("ETag");
    let text = text(&response).await?;
    if response.ok() { Ok(Some((etag, text))) } else { Err(Failure::from_response(response.status(), None, &text)) }
}

async fn text(response: &Response) -> Result<String, Failure> {
    response.text().await.map_err(|error| Failure::unreachable(format!("the answer broke off: {error}")))
}
