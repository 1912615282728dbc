//! The client: the verbs of the API as methods, over the server's own router.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Method, Request, Response, header};
use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::request::{self, ListRequest, Scope};
use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower_service::Service;

use super::api_error::ApiError;
use super::internal::Internal;
use super::resources::NAMESPACES;

/// Sends requests as one program. Clones are cheap, and send as the same program.
#[derive(Debug, Clone)]
pub struct Client {
    router: Router,
    /// The runtime of the server: a task that a handler starts runs there, whatever becomes of the caller.
    server: Handle,
    user_agent: HeaderValue,
    user: Arc<str>,
    /// As whom the user makes requests; empty for nobody else.
    impersonated: Arc<str>,
    /// The field manager that is named in writes; without one it is the first word of the User-Agent.
    manager: Option<&'static str>,
    /// The media type of answers that is asked for; without one the server sends the objects themselves.
    accept: Option<HeaderValue>,
}

/// A patch and its type.
#[derive(Debug, Clone, Copy)]
pub enum Patch<'a> {
    /// RFC 7386.
    Merge(&'a Value),
    /// Kubernetes' own type: lists such as containers and owner references are merged by their keys.
    Strategic(&'a Value),
    /// RFC 6902: a list of operations.
    #[cfg(test)]
    Json(&'a Value),
}

/// `DeleteOptions`. The default deletes in the background, after the object's own grace period.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeleteOptions<'a> {
    /// The seconds until the object is removed; without a number, a Pod's own period.
    pub grace_period_seconds: Option<u64>,
    /// `Background`, `Foreground` or `Orphan`; the server's default if absent.
    pub propagation_policy: Option<&'a str>,
    /// The uid that the object must have; otherwise the answer is a conflict.
    pub uid: Option<&'a str>,
    /// The version that the object must have; otherwise the answer is a conflict.
    pub resource_version: Option<&'a str>,
}

impl Client {
    /// A client of this router, whose user is the cluster's administrator. The User-Agent is made of the program's name, such as
    /// `kube-controller-manager`, which becomes the manager in `managedFields`.
    ///
    /// # Panics
    /// Outside a runtime of tokio: the requests are handled on the runtime that this is called in.
    pub fn new(router: Router, program: &'static str) -> Self {
        let (server, user_agent) = (Handle::current(), user_agent(program, ""));
        Self {
            router,
            server,
            user_agent,
            user: ADMINISTRATOR.into(),
            impersonated: "".into(),
            manager: None,
            accept: None,
        }
    }

    /// A copy of this client that sends as another program.
    pub fn with_user_agent(&self, program: &'static str) -> Self {
        Self { user_agent: user_agent(program, ""), ..self.clone() }
    }

    /// A copy of this client of another user.
    pub fn with_user(&self, user: &str) -> Self {
        Self { user: user.into(), ..self.clone() }
    }

    /// A copy of this client of a person with kubectl, whose command is the manager.
    pub fn person(&self, user: &str, manager: &'static str) -> Self {
        Self { manager: Some(manager), ..self.with_user(user).with_user_agent("kubectl") }
    }

    /// A copy of this client whose user makes requests as another one.
    pub fn impersonating(&self, user: &str) -> Self {
        Self { impersonated: user.into(), ..self.clone() }
    }

    /// A copy of this client that sends as a controller with this name, with the controller's own service account.
    pub fn with_service_account(&self, program: &'static str, controller: &str) -> Self {
        let user = format!("system:serviceaccount:kube-system:{controller}");
        Self { user_agent: user_agent(program, &format!("/{user}")), user: user.into(), ..self.clone() }
    }

    /// A copy of this client that asks for answers of this media type.
    pub fn with_accept(&self, accept: &'static str) -> Self {
        Self { accept: Some(HeaderValue::from_static(accept)), ..self.clone() }
    }

    /// A copy of this client that asks for `PartialObjectMetadata`: the metadata of each object and nothing else
    /// (client-go's `metadata.Interface`).
    pub fn metadata(&self) -> Self {
        self.with_accept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    }

    /// Sends a request and returns its answer, whatever its status. `uri` is a path with its query, percent-encoded;
    /// with an empty `content_type` the header is not sent.
    ///
    /// # Errors
    /// When `uri` is not a URI, or the server has stopped.
    pub async fn send(
        &self,
        method: Method,
        uri: &str,
        content_type: &'static str,
        body: String,
    ) -> Result<Response<Body>, ApiError> {
        let named = self.manager.filter(|_| method != Method::GET);
        let uri = match (named, uri.contains('?')) {
            (Some(manager), true) => format!("{uri}&fieldManager={manager}"),
            (Some(manager), false) => format!("{uri}?fieldManager={manager}"),
            (None, _) => uri.to_owned(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::HOST, "localhost")
            .header(header::USER_AGENT, &self.user_agent)
            .extension(Internal::new(Arc::clone(&self.user), Arc::clone(&self.impersonated)));
        if let Some(accept) = &self.accept {
            request = request.header(header::ACCEPT, accept);
        }
        if !content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let request = request.body(Body::from(body)).map_err(|error| ApiError::unanswered(error.to_string()))?;
        let mut router = self.router.clone();
        match self.server.spawn(async move { router.call(request).await }).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(never)) => match never {},
            Err(error) => Err(ApiError::unanswered(format!("the server did not answer: {error}"))),
        }
    }

    /// Sends a request and reads its answer, which must be a success and JSON.
    ///
    /// # Errors
    /// The `Status` of an answer that is not a success, or the reason why there is no answer.
    pub async fn request(
        &self,
        method: Method,
        uri: &str,
        content_type: &'static str,
        body: String,
    ) -> Result<Value, ApiError> {
        #[cfg(test)]
        let is_write = method != Method::GET;
        let response = self.send(method, uri, content_type, body).await?;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await;
        let bytes = bytes.map_err(|error| ApiError::unanswered(format!("the answer broke off: {error}")))?;
        if !status.is_success() {
            return Err(ApiError::from_response(status.as_u16(), &bytes));
        }
        let answer = serde_json::from_slice(&bytes);
        #[cfg(test)]
        answer.iter().filter(|_| is_write).for_each(crate::controllers::answered::wrote);
        answer.map_err(|error| ApiError::unanswered(format!("the answer is no JSON: {error}")))
    }

    /// One object.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn get(&self, resource: &ApiResource, namespace: &str, name: &str) -> Result<Value, ApiError> {
        self.request(Method::GET, &object_path(resource, namespace, name, ""), "", String::new()).await
    }

    /// The newest list of all objects in the scope, in one page.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn list(&self, resource: &ApiResource, scope: &Scope) -> Result<Value, ApiError> {
        let whole = ListRequest { resource_version: ResourceVersion::default(), limit: None, continue_token: None };
        let uri = format!("/{}", whole.url(resource, scope));
        self.request(Method::GET, &uri, "", String::new()).await
    }

    /// Creates an object in a namespace, which is empty for a resource without; returns the object as it was stored.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn create(&self, resource: &ApiResource, namespace: &str, object: &Value) -> Result<Value, ApiError> {
        self.request(Method::POST, &collection_path(resource, namespace), JSON, object.to_string()).await
    }

    /// Replaces an object, which carries its own name and namespace; its status stays as the server has it. With a
    /// resourceVersion that is not the newest, the answer is a conflict.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn update(&self, resource: &ApiResource, object: &Value) -> Result<Value, ApiError> {
        self.put(resource, object, "").await
    }

    /// Replaces the status of an object and nothing else of it; for the rest as [`Self::update`].
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn update_status(&self, resource: &ApiResource, object: &Value) -> Result<Value, ApiError> {
        self.put(resource, object, "status").await
    }

    /// Replaces the `spec.finalizers` of a Namespace and nothing else of it (`Finalize`); for the rest as
    /// [`Self::update`].
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn finalize(&self, namespace: &Value) -> Result<Value, ApiError> {
        self.put(&NAMESPACES, namespace, "finalize").await
    }

    async fn put(&self, resource: &ApiResource, object: &Value, subresource: &str) -> Result<Value, ApiError> {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let uri = object_path(resource, text("namespace"), text("name"), subresource);
        self.request(Method::PUT, &uri, JSON, object.to_string()).await
    }

    /// Patches an object.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn patch(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
        patch: Patch<'_>,
    ) -> Result<Value, ApiError> {
        self.send_patch(&object_path(resource, namespace, name, ""), patch).await
    }

    /// Patches the status of an object and nothing else of it.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn patch_status(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
        patch: Patch<'_>,
    ) -> Result<Value, ApiError> {
        self.send_patch(&object_path(resource, namespace, name, "status"), patch).await
    }

    /// Patches the subresource `scale` of an object; returns the Scale.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn patch_scale(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
        patch: Patch<'_>,
    ) -> Result<Value, ApiError> {
        self.send_patch(&object_path(resource, namespace, name, "scale"), patch).await
    }

    async fn send_patch(&self, uri: &str, patch: Patch<'_>) -> Result<Value, ApiError> {
        let (content_type, body) = match patch {
            Patch::Merge(body) => ("application/merge-patch+json", body),
            Patch::Strategic(body) => ("application/strategic-merge-patch+json", body),
            #[cfg(test)]
            Patch::Json(body) => ("application/json-patch+json", body),
        };
        self.request(Method::PATCH, uri, content_type, body.to_string()).await
    }

    /// Deletes an object, or begins to; returns its last state, or the `Status` that it is deleted.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn delete(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
        options: DeleteOptions<'_>,
    ) -> Result<Value, ApiError> {
        let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        if let Some(seconds) = options.grace_period_seconds {
            body["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(policy) = options.propagation_policy {
            body["propagationPolicy"] = policy.into();
        }
        for (field, value) in [("uid", options.uid), ("resourceVersion", options.resource_version)] {
            if let Some(value) = value {
                body["preconditions"][field] = value.into();
            }
        }
        let uri = object_path(resource, namespace, name, "");
        self.request(Method::DELETE, &uri, JSON, body.to_string()).await
    }

    /// Deletes all objects of a namespace, or all of a resource without namespaces, each as [`Self::delete`] does by
    /// default; returns the list of these objects.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn delete_collection(&self, resource: &ApiResource, namespace: &str) -> Result<Value, ApiError> {
        self.request(Method::DELETE, &collection_path(resource, namespace), "", String::new()).await
    }
}

const JSON: &str = "application/json";
/// The release that the server says it is.
const VERSION: &str = "v1.35.0";
/// The user of clients from outside, and of those that have no other.
pub const ADMINISTRATOR: &str = "kubernetes-admin";

/// The User-Agent of a program, as client-go makes it; the program's own words, where it has a version of its own.
fn user_agent(program: &str, more: &str) -> HeaderValue {
    let agent = match program.contains('/') {
        true => program.to_owned(),
        false => format!("{program}/{VERSION} (linux/amd64) kubernetes/demo{more}"),
    };
    // Only names of programs come here, which are letters.
    HeaderValue::from_str(&agent).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}

pub fn collection_path(resource: &ApiResource, namespace: &str) -> String {
    let scope = Scope { namespace: namespace.to_owned(), ..Scope::default() };
    format!("/{}", request::path(resource, &scope))
}

/// The path of an object, or of a subresource of it.
pub fn object_path(resource: &ApiResource, namespace: &str, name: &str, subresource: &str) -> String {
    let mut path = collection_path(resource, namespace);
    for segment in [name, subresource].into_iter().filter(|segment| !segment.is_empty()) {
        path.push('/');
        path.extend(form_urlencoded::byte_serialize(segment.as_bytes()));
    }
    path
}
