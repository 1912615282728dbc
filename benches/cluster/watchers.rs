//! Clients that read watches as fast as they can, or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// The collections in which a storm writes.
pub const COLLECTIONS: [&str; 6] = [
    "/api/v1/pods",
    "/api/v1/events",
    "/api/v1/nodes",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/batch/v1/jobs",
];

/// One reader of all collections, a connection for each.
pub struct Watcher {
    /// Frames that came, bookmarks not counted.
    pub frames: Arc<AtomicU64>,
    /// Watches that the server has ended, and that were resumed.
    pub cuts: Arc<AtomicU64>,
    /// The newest revision that came on its watch of Pods.
    pub pods: watch::Receiver<u64>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

impl Watcher {
    /// Begins to watch everything after a revision, over WebSocket or chunked HTTP.
    pub async fn start(address: &str, revision: u64, websocket: bool) -> Self {
        let frames = Arc::new(AtomicU64::new(0));
        let cuts = Arc::new(AtomicU64::new(0));
        let (newest, pods) = watch::channel(revision);
        let newest = Arc::new(newest);
        let mut tasks = Vec::new();
        for (index, collection) in COLLECTIONS.into_iter().enumerate() {
            let mut counter = Counter {
                frames: Arc::clone(&frames),
                seen: revision,
                pods: (index == 0).then(|| Arc::clone(&newest)),
            };
            let (place, cuts) = (format!("{address}{collection}?watch=1"), Arc::clone(&cuts));
            tasks.push(tokio::spawn(async move {
                loop {
                    let place = format!("{place}&resourceVersion={}", counter.seen);
                    match websocket {
                        true => over_websocket(&place, &mut counter).await,
                        false => over_http(&place, &mut counter).await,
                    }
                    cuts.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        Self { frames, cuts, pods, tasks }
    }
}

/// What is made of frames.
struct Counter {
    frames: Arc<AtomicU64>,
    /// The newest revision that came, from which a watch that was cut goes on.
    seen: u64,
    pods: Option<Arc<watch::Sender<u64>>>,
}

impl Counter {
    fn count(&mut self, frames: u64, last: &[u8]) {
        self.frames.fetch_add(frames, Ordering::Relaxed);
        let Some(revision) = revision_of(last) else { return };
        self.seen = revision;
        if let Some(pods) = &self.pods {
            pods.send_replace(revision);
        }
    }
}

/// The first resourceVersion in a frame, which is the object's own.
fn revision_of(frame: &[u8]) -> Option<u64> {
    const FIELD: &[u8] = b"\"resourceVersion\":\"";
    let head = &frame[..frame.len().min(600)];
    let start = head.windows(FIELD.len()).position(|window| window == FIELD)? + FIELD.len();
    let digits = head[start..].iter().take_while(|byte| byte.is_ascii_digit());
    std::str::from_utf8(&head[start..start + digits.count()]).ok()?.parse().ok()
}

async fn over_websocket(place: &str, counter: &mut Counter) {
    let mut socket = open(place).await;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() {
            counter.count(1, &message.into_data());
        }
    }
}

async fn over_http(place: &str, counter: &mut Counter) {
    let mut response = reqwest::get(format!("http://{place}")).await.expect("the watch opens");
    let mut rest: Vec<u8> = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        rest.extend_from_slice(&chunk);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        let start = rest[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let frames = rest[..=end].iter().filter(|byte| **byte == b'\n').count() as u64;
        counter.count(frames, &rest[start..end]);
        rest.drain(..=end);
    }
}

/// A WebSocket that nobody reads unless the caller does.
pub async fn open(
    place: &str,
) -> tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>> {
    let mut request = format!("ws://{place}").into_client_request().expect("an address");
    request.headers_mut().insert("origin", "http://localhost".parse().expect("a header"));
    tokio_tungstenite::connect_async(request).await.expect("the watch opens").0
}
