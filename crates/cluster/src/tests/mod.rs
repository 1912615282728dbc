//! Conversations with a running server: over reqwest, and over a WebSocket client that shows every frame.

mod agreement;
mod answering;
mod checklist;
mod controlling;
mod defaulting;
mod deleting;
#[cfg(feature = "etcd")]
pub mod etcd;
mod faults;
mod listing;
mod logs;
mod recording;
mod socket;
mod watch;
mod watching;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::args::Args;
use crate::scenario::Scenario;
use crate::server::{self, App};

/// Longer than anything here takes, on the slowest machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The options of a cluster of a dozen Pods in which nothing happens.
pub fn quiet() -> Args {
    Args { pods: 12, rate: 0.0, port: 0, scenarios: vec![Scenario::Storm], controllers: false, ..Args::default() }
}

/// A server, and a client of it.
pub struct Server {
    address: std::net::SocketAddr,
    /// The server.
    pub app: Arc<App>,
    client: reqwest::Client,
    /// Dropped with the server.
    #[cfg(feature = "etcd")]
    #[expect(dead_code, reason = "it is held, not read")]
    etcd: Option<etcd::process::TestEtcd>,
}

/// Starts a server: on a storage in memory, or on an etcd of its own if `KUBECHURN_ETCD` is set.
pub async fn serve(args: Args) -> Server {
    if std::env::var_os("KUBECHURN_ETCD").is_none() {
        return serve_from_memory(args).await;
    }
    #[cfg(not(feature = "etcd"))]
    panic!("KUBECHURN_ETCD is set, but the tests are built without the feature etcd");
    #[cfg(feature = "etcd")]
    {
        let etcd = etcd::process::TestEtcd::start().await;
        let server = serve_from_memory(Args { etcd: Some(etcd.address()), ..args }).await;
        Server { etcd: Some(etcd), ..server }
    }
}

/// Starts a server on a storage in memory, unless the options name another: for tests that move the clock, on which
/// another process would not wait, and for tests of the memory backend.
pub async fn serve_from_memory(args: Args) -> Server {
    let (listener, address) = super::bind(0).await.unwrap();
    let app = super::start(&args).await.unwrap();
    tokio::spawn(server::serve(listener, Arc::clone(&app)));
    Server {
        address,
        app,
        client: reqwest::Client::new(),
        #[cfg(feature = "etcd")]
        etcd: None,
    }
}

/// Fails the test if it takes too long.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("the answer comes before the deadline")
}

impl Server {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The status code and the JSON of an answer.
    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = within(request.send()).await.unwrap();
        let status = response.status().as_u16();
        let text = within(response.text()).await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(self.url(path))).await
    }

    /// Sends a POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.post(self.url(path)).body(body.to_string())).await
    }

    /// Sends a control request, which must succeed.
    pub async fn control(&self, order: &str) -> Value {
        let (status, answer) = self.post(&format!("/_control/{order}"), &Value::Null).await;
        assert_eq!(status, 200, "{order}: {answer}");
        answer
    }

    /// Sends a merge patch.
    pub async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.patch(self.url(path)).body(body.to_string())).await
    }

    /// Sends a PUT of JSON.
    pub async fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.put(self.url(path)).body(body.to_string())).await
    }

    /// Sends a DELETE.
    pub async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(self.client.delete(self.url(path))).await
    }

    /// Sends a DELETE with `DeleteOptions`.
    pub async fn delete_with(&self, path: &str, options: Value) -> (u16, Value) {
        self.send(self.client.delete(self.url(path)).body(options.to_string())).await
    }

    /// Creates a ConfigMap in `default` with a label `app`; returns its revision.
    pub async fn config_map(&self, name: &str, app: &str) -> u64 {
        let body = json!({"metadata": {"name": name, "labels": {"app": app}}, "data": {"a": "b"}});
        let (status, object) = self.post("/api/v1/namespaces/default/configmaps", &body).await;
        assert_eq!(status, 201, "{object}");
        revision(&object)
    }
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}
