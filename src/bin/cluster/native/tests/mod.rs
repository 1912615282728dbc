//! Conversations with a running server: over reqwest, and over a WebSocket client that shows every byte.

mod answering;
mod controlling;
mod deleting;
mod listing;
mod printing;
mod recording;
mod socket;
mod watching;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::Args;
use super::server::{self, App};

/// Longer than anything here takes, on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// A quiet cluster of a dozen Pods.
fn quiet() -> Args {
    Args { pods: 12, rate: 0.0, port: 0, ..Args::default() }
}

struct Server {
    address: std::net::SocketAddr,
    app: Arc<App>,
    client: reqwest::Client,
}

async fn serve(args: Args) -> Server {
    let (listener, address) = super::bind(0).await.unwrap();
    let app = super::start(&args);
    tokio::spawn(server::serve(listener, Arc::clone(&app)));
    Server { address, app, client: reqwest::Client::new() }
}

/// Fails the test if it takes too long.
async fn within<T>(future: impl Future<Output = T>) -> T {
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

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(self.url(path))).await
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.post(self.url(path)).body(body.to_string())).await
    }

    async fn control(&self, order: &str) -> Value {
        let (status, answer) = self.post(&format!("/_control/{order}"), &Value::Null).await;
        assert_eq!(status, 200, "{order}: {answer}");
        answer
    }

    async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.patch(self.url(path)).body(body.to_string())).await
    }

    async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(self.client.delete(self.url(path))).await
    }

    /// Creates a ConfigMap in `default`, with a label `app`; answers its revision.
    async fn config_map(&self, name: &str, app: &str) -> u64 {
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
