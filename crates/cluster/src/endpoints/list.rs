//! LIST and GET: pages at one revision, streamed from texts that were serialised when the objects were written.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;

use crate::api::Api;
use crate::printers::form::Form;
use crate::printers::response::{json_response, object_response};
use crate::request::options::Options;
use crate::request::paging::Continue;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;
use crate::store::{Freshness, ListQuery, Page};

/// The approximate size of the pieces in which a list is sent, in bytes.
const CHUNK: usize = 256 * 1024;

/// Handles a LIST.
pub async fn list(
    api: &Api,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    options: Options,
    form: Form,
) -> Result<Response, Status> {
    options.validate_list()?;
    let revision = options.revision()?;
    let namespace = namespace.map(str::to_owned);
    let filter = Filter { namespace, labels: options.labels.clone(), fields: options.fields.clone() };
    let mut query = ListQuery { filter, limit: options.limit, ..ListQuery::default() };
    let mut token = None;
    if !options.continue_token.is_empty() {
        if !options.version.is_empty() && options.version != "0" {
            return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
        }
        let decoded = Continue::decode(&options.continue_token)
            .ok_or_else(|| Status::bad_request("continue key is not valid: unrecognized or corrupt token"))?;
        // A continue token without a revision continues at the newest one.
        query.freshness = decoded.revision.map_or(Freshness::Consistent, Freshness::Exact);
        query.after = Some(decoded.last_key.clone());
        token = Some(decoded);
    } else if options.version == "0" {
        // The watch cache ignores the limit and answers with all of its objects.
        (query.limit, query.freshness) = (0, Freshness::NotOlderThan(0));
    } else if !options.version.is_empty() {
        // For compatibility with old clients, a resourceVersion with a limit means exactly that version.
        let legacy_exact = options.version_match.is_empty() && options.limit > 0;
        let exact = options.version_match == "Exact" || legacy_exact;
        query.freshness = if exact { Freshness::Exact(revision) } else { Freshness::NotOlderThan(revision) };
    }
    let page = api.store.list(resource, &query).await.map_err(|status| match token {
        Some(token) if status.is_expired() => Status::continue_too_old(Continue { revision: None, ..token }.encode()),
        _ => status,
    })?;
    api.ledger.listed(resource, query.filter.namespace.as_deref(), &page).await;
    Ok(json_response(Body::from_stream(stream(resource, form, page, query.filter.selects()))))
}

/// Handles a GET of one object.
pub async fn get(api: &Api, resource: &Resource, namespace: &str, name: &str, form: Form) -> Result<Response, Status> {
    let object = api.store.get(resource, &resource.key(namespace, name)).await?;
    object.map(|object| object_response(resource, &object, form)).ok_or_else(|| Status::not_found(resource, name))
}

fn stream(
    resource: &Arc<Resource>,
    form: Form,
    page: Page,
    selects: bool,
) -> impl futures::Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + use<> {
    let version = format!("\"resourceVersion\":\"{}\"", page.revision);
    let (mut token, mut remaining) = (String::new(), String::new());
    if page.remaining > 0
        && let Some(last) = page.objects.last()
    {
        token = Continue { revision: Some(page.revision), last_key: last.key.to_string() }.encode();
        if !selects {
            remaining = format!(",\"remainingItemCount\":{}", page.remaining);
        }
    }
    let metadata = match token.as_str() {
        // A map in alphabetical order; the token is included even if it is empty.
        _ if form.is_map(resource) => format!("{{\"continue\":\"{token}\"{remaining},{version}}}"),
        "" => format!("{{{version}}}"),
        _ => format!("{{{version},\"continue\":\"{token}\"{remaining}}}"),
    };
    let (pending, tail) = form.list_ends(resource, &metadata);
    let resource = Arc::clone(resource);
    futures::stream::iter(Chunks {
        resource,
        form,
        objects: page.objects.into_iter(),
        pending,
        tail,
        first: true,
        done: false,
    })
}

/// Cuts a list into pieces while it is sent, so that a large list is never in memory as a whole.
struct Chunks {
    resource: Arc<Resource>,
    form: Form,
    objects: std::vec::IntoIter<Arc<Object>>,
    pending: String,
    /// The text after the last item.
    tail: String,
    first: bool,
    done: bool,
}

impl Iterator for Chunks {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mut chunk = std::mem::take(&mut self.pending);
        while chunk.len() < CHUNK {
            let Some(object) = self.objects.next() else {
                chunk.push_str(&self.tail);
                chunk.push('\n');
                self.done = true;
                break;
            };
            if !std::mem::take(&mut self.first) {
                chunk.push(',');
            }
            self.form.push_item(&self.resource, &object, &mut chunk);
        }
        Some(Ok(Bytes::from(chunk)))
    }
}
