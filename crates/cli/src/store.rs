//! An object store that speaks S3, which recordings are written into and read from. The credentials are those of the environment
//! (`AWS_*`), of a service account's role, or of the machine.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::TokioExecutor;
use kube_client::client::ConfigExt;
use kube_client::config::Config;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::time::timeout;

use crate::record::folder;

/// What the address of a folder in an object store begins with.
pub const SCHEME: &str = "s3://";
/// For how long an answer is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why an object store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is no address.
    #[error("{0} names no bucket: s3://BUCKET/PATH does")]
    Address(String),
    /// A request failed.
    #[error("{0}: {1}")]
    Request(String, #[source] Box<object_store::Error>),
    /// There is nothing to read.
    #[error("{0} has no file of a recording, as kubechurn record -o {0} writes them")]
    Empty(String),
    /// What was read cannot be kept here.
    #[error("{0} cannot be written: {1}")]
    Keep(PathBuf, #[source] io::Error),
}

/// A folder in an object store.
#[derive(Debug)]
pub struct Store {
    inner: AmazonS3,
    folder: Path,
    /// Its address: `s3://BUCKET/PATH`.
    pub address: String,
}

/// The bucket and the path that an address names; `None` for what is no address of an object store.
pub fn parts(address: &str) -> Option<(&str, &str)> {
    let (bucket, path) = address.strip_prefix(SCHEME).map(|rest| rest.split_once('/').unwrap_or((rest, "")))?;
    Some((bucket, path.trim_matches('/')))
}

impl Store {
    /// The folder at an address.
    ///
    /// # Errors
    /// When it names no bucket, or what the environment says cannot be used.
    pub fn open(address: &str) -> Result<Store, StoreError> {
        let none = || StoreError::Address(address.to_owned());
        let (bucket, path) = parts(address).filter(|(bucket, _)| !bucket.is_empty()).ok_or_else(none)?;
        let failed = |error| StoreError::Request(address.to_owned(), Box::new(error));
        // When to ask again is decided by whoever asks.
        let retry = RetryConfig { max_retries: 1, retry_timeout: PATIENCE, backoff: BackoffConfig::default() };
        let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
        let inner = builder.with_http_connector(Connector).build().map_err(failed)?;
        let folder = Path::parse(path).map_err(|error| failed(error.into()))?;
        Ok(Store { inner, folder, address: format!("{SCHEME}{bucket}/{path}").trim_end_matches('/').to_owned() })
    }

    fn failed(&self) -> impl Fn(object_store::Error) -> StoreError {
        |error| StoreError::Request(self.address.clone(), Box::new(error))
    }

    /// Writes a file of this name, in place of one that is there.
    ///
    /// # Errors
    /// When it is not written.
    pub async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.inner.put(&self.folder.clone().join(name), bytes.into()).await.map(drop).map_err(self.failed())
    }

    /// The names of the files in the folder, in their order.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn names(&self) -> Result<Vec<String>, StoreError> {
        let all: Vec<_> = self.inner.list(Some(&self.folder)).try_collect().await.map_err(self.failed())?;
        let files = all.into_iter().filter_map(|file| {
            let mut parts = file.location.prefix_match(&self.folder)?;
            let name = parts.next()?.as_ref().to_owned();
            parts.next().is_none().then_some(name)
        });
        let mut names: Vec<String> = files.collect();
        names.sort();
        Ok(names)
    }

    /// A file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn get(&self, name: &str) -> Result<Bytes, StoreError> {
        let found = self.inner.get(&self.folder.clone().join(name)).await.map_err(self.failed())?;
        found.bytes().await.map_err(self.failed())
    }
}

/// Files of an object store that were brought here, until this is dropped.
#[derive(Debug)]
pub struct Fetched {
    folder: PathBuf,
    /// The folder, or the only file in it.
    pub path: PathBuf,
}

impl Drop for Fetched {
    fn drop(&mut self) {
        // What is left there is a copy.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Brings the recording at an address here: a file, or the files of a folder, but those that end before `from` or begin after `to`,
/// in milliseconds since 1970.
///
/// # Errors
/// When there is none, or it cannot be read.
pub async fn fetch(address: &str, from: Option<f64>, to: Option<f64>) -> Result<Fetched, StoreError> {
    let file = address.trim_end_matches('/').rsplit_once('/').filter(|(_, name)| name.ends_with(folder::EXTENSION));
    let store = Store::open(file.map_or(address, |(folder, _)| folder))?;
    let names = match file {
        Some((_, name)) => vec![name.to_owned()],
        None => chosen(store.names().await?, from, to),
    };
    if names.is_empty() {
        return Err(StoreError::Empty(address.to_owned()));
    }
    let folder = std::env::temp_dir().join(format!("kubechurn-{}", std::process::id()));
    let keep = |error| StoreError::Keep(folder.clone(), error);
    DirBuilder::new().mode(0o700).create(&folder).map_err(keep)?;
    let path = if file.is_some() { folder.join(&names[0]) } else { folder.clone() };
    let fetched = Fetched { folder: folder.clone(), path };
    for name in names {
        fs::write(folder.join(&name), store.get(&name).await?).map_err(keep)?;
    }
    Ok(fetched)
}

/// The names of files of a folder that have something of this time.
fn chosen(mut names: Vec<String>, from: Option<f64>, to: Option<f64>) -> Vec<String> {
    let begins = |name: &String| folder::begins(name).map(|seconds| seconds as f64 * 1e3);
    names.retain(|name| begins(name).is_some_and(|begins| to.is_none_or(|to| begins <= to)));
    // A file has everything that is known at its beginning.
    let is_before = |name: &String| begins(name).zip(from).is_some_and(|(begins, from)| begins + 1e3 <= from);
    names.drain(..names.iter().rposition(is_before).unwrap_or(0));
    names
}

/// The way to the store: that of kube's client, with the certificates that the system trusts.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        // No request goes to this address: only what is trusted is taken of it.
        let config = Config::new(http::Uri::from_static("https://localhost"));
        let connector = config
            .rustls_https_connector()
            .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })?;
        Ok(HttpClient::new(Service(Client::builder(TokioExecutor::new()).build(connector))))
    }
}

/// An HTTP client.
#[derive(Debug)]
struct Service<C>(Client<C, HttpRequestBody>);

#[async_trait]
impl<C: Connect + Clone + std::fmt::Debug + Send + Sync + 'static> HttpService for Service<C> {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answered = timeout(PATIENCE, self.0.request(request)).await;
        let answered = answered.map_err(|error| HttpError::new(HttpErrorKind::Timeout, error))?;
        let (parts, body) = answered
            .map_err(|error| {
                let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Request };
                HttpError::new(kind, error)
            })?
            .into_parts();
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_have_something_of_a_time_are_brought() {
        let name = |second: u32| format!("2026-11-26T11-00-{second:02}.500Z.churn");
        let names = || [10, 20, 30].map(name).into_iter().chain(["notes.txt".to_owned(), "../x.churn".to_owned()]);
        let at = |second: f64| Some(1_795_690_800_000.0 + second * 1e3);
        for (from, to, expected) in [
            (None, None, &[10, 20, 30][..]),
            (at(25.0), None, &[20, 30]),
            (at(20.7), None, &[10, 20, 30]),
            (at(40.0), None, &[30]),
            (at(5.0), at(21.0), &[10, 20]),
            (None, at(5.0), &[]),
        ] {
            let expected: Vec<String> = expected.iter().copied().map(name).collect();
            assert_eq!(chosen(names().collect(), from, to), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn an_address_names_a_bucket_and_a_folder() {
        assert_eq!(parts("s3://bucket/a/b/"), Some(("bucket", "a/b")));
        assert_eq!(parts("s3://bucket"), Some(("bucket", "")));
        assert_eq!(parts("bucket/a"), None);
        for bad in ["s3://", "s3:///a", "gs://bucket/a"] {
            assert!(matches!(Store::open(bad), Err(StoreError::Address(_))), "{bad}");
        }
    }
}
