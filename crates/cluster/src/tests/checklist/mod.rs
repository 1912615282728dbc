//! The server's rules in `docs/checklist.md`, one test for each; rules about watches are tested over both transports.

mod endings;
mod lists;
mod refusals;
mod sockets;
mod starts;

use serde_json::Value;

use super::socket::{self, Frame};
use super::watch::Watch;
use super::{Server, names, quiet, revision, serve, within};

/// The collection that most of these tests write to.
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The transports of a watch.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Transport {
    /// Chunked HTTP, one event per line.
    Http,
    /// WebSocket, one event per message.
    WebSocket,
}

const BOTH: [Transport; 2] = [Transport::Http, Transport::WebSocket];

/// The next item of a watch.
#[derive(Debug, PartialEq)]
enum Item {
    Event(Value),
    /// The regular end: the last chunk, or a close with 1000 and no reason.
    End,
    /// The connection ended without a regular end.
    Torn,
}

/// A request that was refused.
#[derive(Debug, PartialEq)]
struct Refused {
    status: u16,
    body: String,
}

impl Refused {
    /// The `Status` in the body.
    fn status(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?} is no Status"))
    }
}

/// The newest revision.
async fn newest(server: &Server) -> u64 {
    revision(&server.get(&format!("{CONFIG_MAPS}?limit=1")).await.1)
}

/// Asks for a watch as a page from this machine.
async fn open(server: &Server, transport: Transport, path: &str) -> Result<Watch, Refused> {
    open_with(server, transport, path, &[("origin", "http://localhost:8001")]).await
}

/// Asks for a watch with these headers and no others.
async fn open_with(
    server: &Server,
    transport: Transport,
    path: &str,
    headers: &[(&str, &str)],
) -> Result<Watch, Refused> {
    if transport == Transport::WebSocket {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        return match socket::open_with(server, path, &lines).await {
            Ok((socket, _)) => Ok(Watch::WebSocket(Box::new(socket))),
            Err(response) => {
                let (head, body) = response.split_once("\r\n\r\n").expect("a response has a head");
                let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
                Err(Refused { status, body: body.to_owned() })
            }
        };
    }
    let mut request = server.client.get(server.url(path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = within(request.send()).await.unwrap();
    match response.status().as_u16() {
        200 => Ok(Watch::over_http(response)),
        status => Err(Refused { status, body: within(response.text()).await.unwrap() }),
    }
}

/// A watch that must be accepted.
async fn watch(server: &Server, transport: Transport, path: &str) -> Watch {
    open(server, transport, path).await.unwrap_or_else(|refused| panic!("{transport:?} {path}: {refused:?}"))
}

impl Watch {
    /// The next item; an event is one line, or one message that is a line.
    async fn next(&mut self) -> Item {
        let line = match self.frame().await {
            Frame::Text(text) => text,
            Frame::Close(code, reason) => {
                assert_eq!((code, reason.as_str()), (1000, ""), "an ordinary close");
                if let Self::Http { received, .. } = self {
                    assert!(received.is_empty(), "a watch ends with a whole line");
                }
                return Item::End;
            }
            Frame::Gone => return Item::Torn,
        };
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one event: {line}");
        Item::Event(serde_json::from_str(&line).unwrap())
    }

    /// The next event, which must be one.
    async fn event(&mut self) -> Value {
        match self.next().await {
            Item::Event(event) => event,
            other => panic!("an event was expected, not {other:?}"),
        }
    }

    /// The type, name and revision of the next event.
    async fn summary(&mut self) -> (String, String, u64) {
        let event = self.event().await;
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default();
        (event["type"].as_str().unwrap().to_owned(), name.to_owned(), revision(&event["object"]))
    }

    /// All events up to the regular end.
    async fn rest(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            match self.next().await {
                Item::Event(event) => events.push(event),
                Item::End => return events,
                Item::Torn => panic!("torn after {events:?}"),
            }
        }
    }
}

/// The type and name of each event, as `ADDED one`.
fn summary(events: &[Value]) -> Vec<String> {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events.iter().map(|one| format!("{} {}", words(&one["type"]), words(&one["object"]["metadata"]["name"]))).collect()
}
