//! A TCP relay on loopback, between a page and its proxy or a proxy and its cluster. It makes the faults of a network: silence,
//! cut connections, refusals, and one dead connection among live ones.
//!
//! The only time for which it waits is the latency that it is given. Bytes that it holds back wait until it is asked to pass
//! them on.

use std::collections::BTreeMap;
use std::future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::sleep;

/// Which bytes are held back while the connections stay open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The bytes of both directions.
    Both,
    /// The bytes of the client: its requests do not arrive.
    ToServer,
    /// The bytes of the server: its answers do not arrive.
    ToClient,
}

/// What may pass. There is one gate for the relay and one for each connection, and bytes pass if both let them.
#[derive(Debug, Clone, Copy, Default)]
struct Gate {
    held: Option<Direction>,
    /// New connections are accepted, and do not reach the server.
    dials_held: bool,
    /// How much later each piece of data arrives.
    latency: Duration,
    /// Requests for WebSockets are answered with 403.
    sockets_refused: bool,
}

/// What can be done to an answer on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// Some bytes in the middle of a long piece are replaced.
    Garbled,
    /// The answer ends with a chunk that is the last one, and the connection with it.
    Ended,
}

/// The last chunk of an answer, as HTTP/1.1 has it.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

#[derive(Debug)]
struct Connection {
    /// The newest request line that came, such as `GET /api/v1/pods?watch=true HTTP/1.1`.
    request: Arc<Mutex<String>>,
    gate: watch::Sender<Gate>,
    /// What becomes of the next fitting piece that the server sends.
    wrong: Arc<Mutex<Option<Wrong>>>,
    task: AbortHandle,
}

type Connections = Arc<Mutex<BTreeMap<u64, Connection>>>;

/// A relay before one port. When it is dropped, its connections are cut.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    backend: u16,
    gate: watch::Sender<Gate>,
    connections: Connections,
    /// The task that accepts connections; `None` while connections are refused.
    listener: Option<JoinHandle<()>>,
}

impl Relay {
    /// A relay on a free port that passes everything on to `backend`.
    pub async fn start(backend: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a loopback port can be bound");
        let port = listener.local_addr().expect("a bound listener has an address").port();
        let mut relay = Self {
            port,
            backend,
            gate: watch::Sender::new(Gate::default()),
            connections: Connections::default(),
            listener: None,
        };
        relay.listen(listener);
        relay
    }

    /// The address at which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the server behind it, as a browser asks for it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests for WebSockets with 403, as some proxies do, and passes all else on.
    pub fn refuse_sockets(&self) {
        self.gate.send_modify(|gate| gate.sockets_refused = true);
    }

    /// Passes everything on again, including what was held back. A connection that was frozen by itself stays frozen.
    pub async fn pass(&mut self) {
        self.gate.send_replace(Gate::default());
        if self.listener.is_none() {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            let listener = TcpListener::bind(address).await;
            self.listen(listener.unwrap_or_else(|error| panic!("the relay's port {address} is taken: {error}")));
        }
    }

    /// Holds data back, with the connections open. New connections are accepted, and reach the server unless both directions
    /// are held back.
    pub fn hold(&self, direction: Direction) {
        self.gate.send_modify(|gate| gate.held = Some(direction));
    }

    /// Lets open connections go on. New connections are accepted, and do not reach the server until everything is passed on
    /// again.
    pub fn hold_dials(&self) {
        self.gate.send_modify(|gate| gate.dials_held = true);
    }

    /// Has every piece of data arrive later by this time.
    pub fn delay(&self, latency: Duration) {
        self.gate.send_modify(|gate| gate.latency = latency);
    }

    /// Lets open connections go on, and refuses new ones.
    pub async fn refuse(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.abort();
            // The task was aborted on purpose, which it reports as an error.
            let _ = listener.await;
        }
    }

    /// Cuts every connection. Returns how many there were.
    pub fn cut(&self) -> usize {
        self.cut_where(|_| true)
    }

    /// Cuts every connection whose newest request line fits. Returns how many there were.
    pub fn cut_where(&self, is_it: impl Fn(&str) -> bool) -> usize {
        self.each_where(is_it, |connection| connection.task.abort())
    }

    /// Holds back all data for good on every connection whose newest request line fits. Returns how many there were.
    pub fn freeze_where(&self, direction: Direction, is_it: impl Fn(&str) -> bool) -> usize {
        self.each_where(is_it, |connection| connection.gate.send_modify(|gate| gate.held = Some(direction)))
    }

    /// Replaces some bytes in the middle of the next long piece that the server sends on every connection whose newest request
    /// line fits. The piece keeps its length. Returns how many there were.
    pub fn garble_where(&self, is_it: impl Fn(&str) -> bool) -> usize {
        self.each_where(is_it, |connection| *lock(&connection.wrong) = Some(Wrong::Garbled))
    }

    /// Ends the answer properly with its next chunk, on every connection whose newest request line fits: whoever asked cannot
    /// see from HTTP that something is missing. Returns how many there were.
    pub fn end_where(&self, is_it: impl Fn(&str) -> bool) -> usize {
        self.each_where(is_it, |connection| *lock(&connection.wrong) = Some(Wrong::Ended))
    }

    /// The newest request line of each open connection, the oldest connection first.
    pub fn requests(&self) -> Vec<String> {
        let connections = lock(&self.connections);
        connections.values().map(|connection| lock(&connection.request).clone()).collect()
    }

    fn each_where(&self, is_it: impl Fn(&str) -> bool, act: impl Fn(&Connection)) -> usize {
        let connections = lock(&self.connections);
        let meant = connections.values().filter(|connection| is_it(&lock(&connection.request)));
        meant.map(act).count()
    }

    fn listen(&mut self, listener: TcpListener) {
        let (backend, connections, gate) = (self.backend, Arc::clone(&self.connections), self.gate.clone());
        self.listener = Some(tokio::spawn(async move {
            for id in 0.. {
                let Ok((client, _)) = listener.accept().await else { return };
                accept(id, client, backend, &connections, &gate);
            }
        }));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.abort();
        }
        self.cut();
    }
}

/// Relays one connection until either end closes it, or it is cut.
fn accept(near: u64, client: TcpStream, backend: u16, connections: &Connections, all: &watch::Sender<Gate>) {
    let (one, request) = (watch::Sender::new(Gate::default()), Arc::new(Mutex::new(String::new())));
    let mut open = lock(connections);
    // A listener that came back counts from nothing again.
    let id = open.last_key_value().map_or(near, |(last, _)| last + 1);
    let gates = [all.subscribe(), one.subscribe()];
    let (heard, end) = (Arc::clone(&request), Removed(Arc::clone(connections), id));
    let wrong = Arc::new(Mutex::new(None));
    let marks = Marks { request: heard, wrong: Arc::clone(&wrong) };
    let task = tokio::spawn(async move {
        let _end = end;
        relay(client, backend, gates, &marks).await;
    });
    open.insert(id, Connection { request, gate: one, wrong, task: task.abort_handle() });
}

/// Takes a connection off the list when its task ends, however that ends.
struct Removed(Connections, u64);

impl Drop for Removed {
    fn drop(&mut self) {
        lock(&self.0).remove(&self.1);
    }
}

/// What a connection's task shares with whoever looks at the connection.
struct Marks {
    request: Arc<Mutex<String>>,
    wrong: Arc<Mutex<Option<Wrong>>>,
}

async fn relay(mut client: TcpStream, backend: u16, gates: [watch::Receiver<Gate>; 2], marks: &Marks) {
    let mut gate = gates.clone();
    passed(&mut gate, |gate| gate.held == Some(Direction::Both) || gate.dials_held).await;
    let refuses = gates[0].borrow().sockets_refused;
    if refuses && asks_for_socket(&client).await {
        // Whoever asked may be gone.
        let _ = client.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
        return;
    }
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, backend)).await else { return };
    for stream in [&client, &server] {
        // A piece is passed on as it came.
        let _ = stream.set_nodelay(true);
    }
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let up = forward(from_client, to_server, gates.clone(), Direction::ToServer, |piece| {
        note(piece, &marks.request);
        false
    });
    let down = forward(from_server, to_client, gates, Direction::ToClient, |piece| spoil(piece, &marks.wrong));
    // Where one direction failed the other one ends, too.
    let _ = tokio::try_join!(up, down);
}

/// Whether a connection begins with a request for a WebSocket, which has a connection of its own.
async fn asks_for_socket(client: &TcpStream) -> bool {
    let mut head = vec![0; 16 * 1024];
    let count = client.peek(&mut head).await.unwrap_or(0);
    String::from_utf8_lossy(&head[..count]).to_ascii_lowercase().contains("upgrade: websocket")
}

/// Passes data on until one end closes, and then closes towards the other end. An error is one of the connection.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut gates: [watch::Receiver<Gate>; 2],
    direction: Direction,
    ends: impl Fn(&mut [u8]) -> bool,
) -> std::io::Result<()> {
    let held = |gate: &Gate| gate.held.is_some_and(|held| held == Direction::Both || held == direction);
    let mut piece = vec![0; 64 * 1024];
    loop {
        passed(&mut gates, held).await;
        let count = from.read(&mut piece).await?;
        let is_last = ends(&mut piece[..count]);
        let latency = gates[0].borrow().latency;
        if !latency.is_zero() {
            sleep(latency).await;
        }
        passed(&mut gates, held).await;
        if count == 0 {
            return to.shutdown().await;
        }
        if is_last {
            to.write_all(LAST_CHUNK).await?;
            return to.shutdown().await;
        }
        to.write_all(&piece[..count]).await?;
    }
}

/// Waits until no gate holds this direction back.
async fn passed(gates: &mut [watch::Receiver<Gate>; 2], held: impl Fn(&Gate) -> bool) {
    while let Some(closed) = gates.iter_mut().find(|gate| held(&gate.borrow())) {
        if closed.wait_for(|gate| !held(gate)).await.is_err() {
            // The relay was dropped, so that nothing can open the gate any more. This connection is cut.
            future::pending::<()>().await;
        }
    }
}

/// The request line with which a piece of data begins, if it does. A client's other data cannot look like one: the requests
/// here have no body, and no frame of a WebSocket client begins with a letter.
fn note(piece: &[u8], request: &Mutex<String>) {
    let Some(end) = piece.windows(2).position(|pair| pair == b"\r\n") else { return };
    if let Ok(line) = std::str::from_utf8(&piece[..end])
        && line.contains(" HTTP/1.")
    {
        lock(request).replace_range(.., line);
    }
}

/// Does to a piece of an answer what is wanted, once, if the piece is one to which it can be done. Returns whether the answer
/// is to end in place of this piece.
///
/// What stands at the beginning and at the end of a garbled piece stays, for it may be the frame of a chunk: the content is to
/// be wrong, and not the connection.
fn spoil(piece: &mut [u8], wanted: &Mutex<Option<Wrong>>) -> bool {
    let mut wanted = lock(wanted);
    let is_last = *wanted == Some(Wrong::Ended) && begins_chunk(piece);
    if let (Some(Wrong::Garbled), Some(middle)) = (*wanted, piece.get_mut(300..900)) {
        middle.fill(b'}');
        *wanted = None;
    }
    if is_last {
        *wanted = None;
    }
    is_last
}

/// Whether a piece begins with the length of a chunk.
fn begins_chunk(piece: &[u8]) -> bool {
    let digits = piece.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (1..=6).contains(&digits) && piece[digits..].starts_with(b"\r\n")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}
