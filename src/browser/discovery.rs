//! Asks an API server what it has, and again, cheaply, whether that is still so.

use gloo_net::http::Request;

use crate::api::discovery::{self, AGGREGATED, Discovered, PATHS};
use crate::api::status::Failure;
use crate::browser::base::Base;

/// What an API server has, as far as it has said.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    documents: [Document; PATHS.len()],
}

/// The answer of one path.
#[derive(Clone, Debug, Default)]
struct Document {
    /// With it the server answers 304, and nothing more, while nothing has changed.
    etag: Option<String>,
    resources: Vec<Discovered>,
}

impl Discovery {
    /// Asks. What was known of a path that fails stays known.
    ///
    /// # Errors
    ///
    /// Why not everything is known; the first reason, if there are several.
    pub async fn refresh(&mut self, base: &Base) -> Result<(), Failure> {
        let mut failed = None;
        for (path, document) in PATHS.into_iter().zip(&mut self.documents) {
            if let Err(failure) = document.refresh(&format!("{}{path}", base.http)).await {
                failed.get_or_insert(failure);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// All that is known.
    pub fn resources(&self) -> Vec<Discovered> {
        self.documents.iter().flat_map(|document| document.resources.iter().cloned()).collect()
    }
}

impl Document {
    async fn refresh(&mut self, url: &str) -> Result<(), Failure> {
        let mut request = Request::get(url).header("Accept", AGGREGATED).cache(web_sys::RequestCache::NoStore);
        if let Some(etag) = &self.etag {
            request = request.header("If-None-Match", etag);
        }
        let response = request.send().await.map_err(|_| Failure::unreachable(format!("no answer from {url}")))?;
        let code = response.status();
        if code == 304 {
            return Ok(());
        }
        let etag = response.headers().get("ETag");
        let text =
            response.text().await.map_err(|error| Failure::unreachable(format!("the answer broke off: {error}")))?;
        if !response.ok() {
            return Err(Failure::from_response(code, None, &text));
        }
        match discovery::read(&text) {
            Ok(resources) => (self.etag, self.resources) = (etag, resources),
            Err(error) => return Err(Failure::unreachable(format!("what {url} answers cannot be read: {error}"))),
        }
        Ok(())
    }
}
