//! Faults as a client sees them, their counts and their ends; and the ledger of what was sent.

mod clock;
mod frames;
mod guards;
mod ledger;
mod requests;
mod restarts;

use serde_json::Value;

use super::socket::{self, Frame};
use super::watch::Watch;
use super::{Server, names, quiet, revision, serve, serve_from_memory, within};

/// The collection that most of these tests write to.
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The transports of a watch.
const BOTH: [&str; 2] = ["http", "websocket"];

impl Watch {
    async fn open(server: &Server, transport: &str, path: &str) -> Self {
        if transport == "websocket" {
            return Self::WebSocket(Box::new(socket::watch(server, path).await));
        }
        let response = within(server.client.get(server.url(path)).send()).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        Self::over_http(response)
    }

    /// The next frame in short: `ADDED one`, the kind instead of the type if it is the wrong kind, `broken` for text
    /// that is not JSON, `closed` or `gone`.
    async fn brief(&mut self) -> String {
        let text = match self.frame().await {
            Frame::Text(text) => text,
            Frame::Close(code, reason) => {
                assert_eq!((code, &*reason), (1000, ""));
                return "closed".to_owned();
            }
            Frame::Gone => return "gone".to_owned(),
        };
        assert!(text.ends_with('\n'), "{text}");
        let Ok(event) = serde_json::from_str::<Value>(&text) else { return "broken".to_owned() };
        let object = &event["object"];
        let word = if object["kind"] == "ConfigMap" { &event["type"] } else { &object["kind"] };
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{} {name}", word.as_str().unwrap()).trim_end().to_owned()
    }
}

impl Server {
    /// Adds a fault; returns its number.
    async fn fault(&self, words: &str) -> u64 {
        self.control(&format!("fault?{}", words.replace(',', "&"))).await["id"].as_u64().unwrap()
    }

    /// The number of strikes of a fault, and whether it is over.
    async fn struck(&self, id: u64) -> (u64, bool) {
        let (_, faults) = self.get("/_control/faults").await;
        let rule = faults["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == id).unwrap();
        (rule["struck"].as_u64().unwrap(), rule["over"].as_bool().unwrap())
    }

    /// Waits until a fault has struck this many times.
    async fn has_struck(&self, id: u64, times: u64) {
        within(async {
            while self.struck(id).await.0 < times {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// A path for a watch that starts at the newest revision.
    async fn path_from_now(&self) -> String {
        let (_, list) = self.get(CONFIG_MAPS).await;
        format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", revision(&list))
    }
}
