//! Clients that read watches as fast as they can, or not at all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

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

/// One reader of all collections, with one connection for each.
pub struct Watcher {
    /// The number of frames received, without bookmarks.
    pub frames: Arc<AtomicU64>,
    /// The number of watches that the server has ended and that were resumed.
    pub cuts: Arc<AtomicU64>,
    /// The ERROR frames, such as those of a 410, after which a watch cannot be resumed.
    pub errors: Arc<Mutex<Vec<String>>>,
    /// The newest revision received on its watch of Pods.
    pub pods: watch::Receiver<u64>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

impl Watcher {
    /// Starts to watch all collections after a revision, over WebSocket or chunked HTTP.
    pub async fn start(address: &str, revision: u64, websocket: bool) -> Self {
        let frames = Arc::new(AtomicU64::new(0));
        let cuts = Arc::new(AtomicU64::new(0));
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (newest, pods) = watch::channel(revision);
        let newest = Arc::new(newest);
        let mut tasks = Vec::new();
        for (index, collection) in COLLECTIONS.into_iter().enumerate() {
            let mut counter = Counter {
                frames: Arc::clone(&frames),
                seen: revision,
                pods: (index == 0).then(|| Arc::clone(&newest)),
            };
            let place = format!("{address}{collection}?watch=1");
            let (cuts, errors) = (Arc::clone(&cuts), Arc::clone(&errors));
            tasks.push(tokio::spawn(async move {
                loop {
                    let from = format!("{place}&resourceVersion={}", counter.seen);
                    let ended = match websocket {
                        true => over_websocket(&from, &mut counter).await,
                        false => over_http(&from, &mut counter).await,
                    };
                    if let Err(error) = ended {
                        errors.lock().expect("nobody panics with it").push(format!("{from}: {error}"));
                        return;
                    }
                    cuts.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        Self { frames, cuts, errors, pods, tasks }
    }
}

/// Counts the frames of one watch.
struct Counter {
    frames: Arc<AtomicU64>,
    /// The newest revision received, from which a watch that was ended is resumed.
    seen: u64,
    pods: Option<Arc<watch::Sender<u64>>>,
}

impl Counter {
    /// Counts one frame. An ERROR frame is returned as the error: it ends the watch, and has no revision to resume
    /// from.
    fn count(&mut self, frame: &[u8]) -> Result<(), String> {
        if frame.starts_with(b"{\"type\":\"ERROR\"") {
            return Err(String::from_utf8_lossy(&frame[..frame.len().min(300)]).into_owned());
        }
        self.frames.fetch_add(1, Ordering::Relaxed);
        self.seen = revision_of(frame).ok_or("a frame without a resourceVersion")?;
        if let Some(pods) = &self.pods {
            pods.send_replace(self.seen);
        }
        Ok(())
    }
}

/// The first resourceVersion in a frame, which is that of the object itself.
fn revision_of(frame: &[u8]) -> Option<u64> {
    const FIELD: &[u8] = b"\"resourceVersion\":\"";
    let head = &frame[..frame.len().min(600)];
    let start = head.windows(FIELD.len()).position(|window| window == FIELD)? + FIELD.len();
    let digits = head[start..].iter().take_while(|byte| byte.is_ascii_digit());
    std::str::from_utf8(&head[start..start + digits.count()]).ok()?.parse().ok()
}

async fn over_websocket(place: &str, counter: &mut Counter) -> Result<(), String> {
    let mut socket = open(place).await?;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() {
            counter.count(&message.into_data())?;
        }
    }
    Ok(())
}

async fn over_http(place: &str, counter: &mut Counter) -> Result<(), String> {
    let opened = reqwest::get(format!("http://{place}")).await.and_then(reqwest::Response::error_for_status);
    let mut response = opened.map_err(|error| error.to_string())?;
    let mut rest: Vec<u8> = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        rest.extend_from_slice(&chunk);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        rest[..end].split(|byte| *byte == b'\n').try_for_each(|frame| counter.count(frame))?;
        rest.drain(..=end);
    }
    Ok(())
}

/// A WebSocket that is read only by the caller.
///
/// # Errors
/// Why the server refused it.
pub async fn open(
    place: &str,
) -> Result<tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>, String> {
    let mut request = format!("ws://{place}").into_client_request().expect("an address");
    request.headers_mut().insert("origin", "http://localhost".parse().expect("a header"));
    let opened = tokio_tungstenite::connect_async(request).await.map_err(|error| error.to_string())?;
    Ok(opened.0)
}
