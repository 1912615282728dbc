//! LIST and GET: pages at one revision, streamed from texts that were serialised when they were written.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::form::Form;
use super::object::Object;
use super::options::Options;
use super::paging::Continue;
use super::resource::Resource;
use super::selector::Filter;
use super::server::App;
use super::status::Status;
use super::storage::{ListQuery, Page, Storage};

/// How long a request waits for a revision that is still to come.
const FRESHNESS_WAIT: Duration = Duration::from_secs(3);
/// A list is sent in pieces of about this size.
const CHUNK: usize = 256 * 1024;

/// Answers a LIST.
pub async fn list(
    app: &App,
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
        query.at = decoded.revision;
        query.after = Some(decoded.last_key.clone());
        token = Some(decoded);
    } else if options.version == "0" {
        // The watch cache answers with everything it has and ignores the limit.
        query.limit = 0;
    } else if !options.version.is_empty() {
        wait_until(&app.storage, revision).await?;
        // A concrete version with a limit means exactly that version, for the sake of old clients.
        let legacy_exact = options.version_match.is_empty() && options.limit > 0;
        query.at = (options.version_match == "Exact" || legacy_exact).then_some(revision);
    }
    if query.at.is_some_and(|at| at > app.storage.revision()) {
        return Err(Status::bad_request("continue key is not valid: its revision is still to come"));
    }
    let page = app.storage.list(resource, &query).map_err(|_| match token {
        Some(token) => Status::continue_too_old(Continue { revision: None, ..token }.encode()),
        None => Status::list_too_old(),
    })?;
    Ok(json_response(Body::from_stream(stream(resource, form, page, query.filter.selects()))))
}

/// Answers a GET of one object.
pub fn get(app: &App, resource: &Resource, namespace: &str, name: &str, form: Form) -> Result<Response, Status> {
    let object = app.storage.get(resource, &resource.key(namespace, name));
    object.map(|object| object_response(resource, &object, form)).ok_or_else(|| Status::not_found(resource, name))
}

/// One object as a response.
pub fn object_response(resource: &Resource, object: &Object, form: Form) -> Response {
    json_response(Body::from(form.object(resource, object, true).into_owned() + "\n"))
}

/// Waits until the storage has reached a revision, for as long as the real server does.
pub async fn wait_until(storage: &Storage, revision: u64) -> Result<(), Status> {
    let mut newest = storage.newest();
    let reached = newest.wait_for(|newest| *newest >= revision);
    match tokio::time::timeout(FRESHNESS_WAIT, reached).await {
        Ok(Ok(_)) => Ok(()),
        _ => Err(Status::too_large(revision, storage.revision())),
    }
}

/// A body of JSON.
pub fn json_response(body: Body) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn stream(
    resource: &Arc<Resource>,
    form: Form,
    page: Page,
    selects: bool,
) -> impl futures::Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + use<> {
    let mut metadata = format!("{{\"resourceVersion\":\"{}\"", page.revision);
    if page.remaining > 0
        && let Some(last) = page.objects.last()
    {
        let token = Continue { revision: Some(page.revision), last_key: last.key.to_string() };
        metadata += &format!(",\"continue\":\"{}\"", token.encode());
        if !selects {
            metadata += &format!(",\"remainingItemCount\":{}", page.remaining);
        }
    }
    metadata.push('}');
    let pending = form.list_head(resource, &metadata);
    let resource = Arc::clone(resource);
    futures::stream::iter(Chunks {
        resource,
        form,
        objects: page.objects.into_iter(),
        pending,
        first: true,
        done: false,
    })
}

/// Cuts a list into pieces while it is sent, so that a big one never lies in memory as a whole.
struct Chunks {
    resource: Arc<Resource>,
    form: Form,
    objects: std::vec::IntoIter<Arc<Object>>,
    pending: String,
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
                chunk.push_str("]}\n");
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
