//! The API server, as the recorder reaches it: by kube's client, which knows kubeconfigs, the plugins that they name, the service
//! account of a Pod, and TLS. Only GET is ever sent.

use std::env;
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use axum::Router;
use axum::middleware::map_request;
use http::header::{ACCEPT, HOST, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use kube_client::client::Body;
use kube_client::config::{Config, Context, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube_client::{Client, Error};
use kubechurn_client::api::status::Failure;

/// How this program calls itself to the server.
pub const PROGRAM: &str = concat!("kubechurn/", env!("CARGO_PKG_VERSION"));
/// The variable in which Kubernetes gives a Pod the address of the API server.
const IN_CLUSTER: &str = "KUBERNETES_SERVICE_HOST";

/// Why the API server cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The kubeconfig, or what it names, cannot be used.
    #[error("the kubeconfig cannot be used: {0}")]
    Kubeconfig(String),
    /// The service account of this Pod cannot be used.
    #[error("there is no kubeconfig, and the service account of this Pod cannot be used: {0}")]
    ServiceAccount(String),
    /// No client can be made of what was found.
    #[error("the API server at {0} cannot be asked: {1}")]
    Client(String, String),
    /// A name that is no text.
    #[error("a context is a name")]
    NoName,
}

/// An API server, and what is known of the way to it.
#[derive(Clone)]
pub struct Api {
    client: Client,
    /// Its address.
    pub server: String,
    /// The namespace that the context names.
    pub namespace: Option<String>,
}

impl Api {
    /// A demo cluster in this process.
    pub fn demo(router: Router) -> Api {
        // The name by which it knows itself.
        let router = router.layer(map_request(async |mut request: axum::extract::Request| {
            request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
            request
        }));
        Api { client: Client::new(router, ""), server: "demo cluster".to_owned(), namespace: None }
    }

    /// The cluster that a kubeconfig names, or the one in which this runs. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub async fn connect(context: Option<OsString>, file: Option<&OsStr>) -> Result<Api, ApiError> {
        let context = context.map(OsString::into_string).transpose().map_err(|_| ApiError::NoName)?;
        let unusable = |error: KubeconfigError| ApiError::Kubeconfig(error.to_string());
        let found = match file {
            Some(file) => Some(Kubeconfig::read_from(Path::new(file)).map_err(unusable)?),
            // As kubectl: the service account is used where nothing else is named.
            None => match Kubeconfig::read() {
                Ok(found) => Some(found),
                Err(_) if context.is_none() && env::var_os(IN_CLUSTER).is_some() => None,
                Err(error) => return Err(unusable(error)),
            },
        };
        let (mut config, namespace) = match found {
            Some(kubeconfig) => {
                let namespace = used(&kubeconfig, context.as_deref()).and_then(|context| context.namespace.clone());
                let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
                (Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unusable)?, namespace)
            }
            None => (Config::incluster().map_err(|error| ApiError::ServiceAccount(error.to_string()))?, None),
        };
        // When to ask again is the reflector's decision.
        config.default_retry = false;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|error| ApiError::Client(server.clone(), words(&error)))?;
        Ok(Api { client, server, namespace: namespace.filter(|name| !name.is_empty()) })
    }

    /// Asks for what is at this path and query, which have no leading slash.
    ///
    /// # Errors
    /// When nothing answers, or the answer is no success.
    pub async fn get(&self, url: &str, accept: &str) -> Result<Response<Body>, Failure> {
        let request = Request::get(format!("/{url}")).header(ACCEPT, accept).header(USER_AGENT, PROGRAM);
        let request = request.body(Body::empty()).map_err(|error| Failure::unreachable(error.to_string()))?;
        let response = self.client.send(request).await.map_err(|error| Failure::unreachable(words(&error)))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let code = response.status().as_u16();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let body = response.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        Err(Failure::from_response(code, retry_after, &String::from_utf8_lossy(&body)))
    }

    /// The text at this path and query.
    ///
    /// # Errors
    /// When nothing answers, the answer is no success, or it breaks off.
    pub async fn text(&self, url: &str, accept: &str) -> Result<String, Failure> {
        read(self.get(url, accept).await?).await
    }
}

/// The text of an answer.
///
/// # Errors
/// When it breaks off, or is no text.
pub async fn read(response: Response<Body>) -> Result<String, Failure> {
    let body = response.into_body().collect().await.map_err(|error| broke_off(&error))?;
    String::from_utf8(body.to_bytes().into()).map_err(|_| Failure::unreachable("the answer is no text"))
}

/// The next bytes of an answer; `None` at its end.
///
/// # Errors
/// When the answer breaks off.
pub async fn next(body: &mut Body) -> Option<Result<Bytes, Failure>> {
    loop {
        match body.frame().await? {
            Ok(frame) => {
                if let Ok(bytes) = frame.into_data() {
                    return Some(Ok(bytes));
                }
                // What is no data are trailers, which say nothing.
            }
            Err(error) => return Some(Err(broke_off(&error))),
        }
    }
}

fn broke_off(error: &Error) -> Failure {
    Failure::unreachable(format!("the answer broke off: {}", words(error)))
}

/// The context that is used.
fn used<'a>(kubeconfig: &'a Kubeconfig, name: Option<&str>) -> Option<&'a Context> {
    let name = name.or(kubeconfig.current_context.as_deref())?;
    kubeconfig.contexts.iter().find(|one| one.name == name)?.context.as_ref()
}

/// What went wrong and why: kube's words, and those of what they stand for, each once.
fn words(error: &Error) -> String {
    let mut all = match error {
        // Its own words are only that there was an error.
        Error::Service(source) => source.to_string(),
        other => other.to_string(),
    };
    let mut source = match error {
        Error::Service(source) => source.source(),
        other => other.source(),
    };
    while let Some(error) = source {
        let more = error.to_string();
        if !all.contains(&more) {
            all.push_str(": ");
            all.push_str(&more);
        }
        source = error.source();
    }
    all
}
