//! A WebSocket client for tests, which keeps the frames as they arrive.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Server, within};

/// What the server sent.
#[derive(Debug, PartialEq)]
pub enum Frame {
    /// One unfragmented text message.
    Text(String),
    /// A close frame.
    Close(u16, String),
    /// The connection ended without a close frame.
    Gone,
}

pub struct Socket {
    stream: TcpStream,
    received: Vec<u8>,
}

/// Asks for a WebSocket; the error is the whole response if the server refuses.
pub async fn open(server: &Server, path: &str, origin: Option<&str>) -> Result<Socket, String> {
    let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
    Ok(open_with(server, path, &origin).await?.0)
}

/// The same with any headers, each with its line end; also returns the head of the response.
pub async fn open_with(server: &Server, path: &str, headers: &str) -> Result<(Socket, String), String> {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut socket = Socket { stream, received: Vec::new() };
    let end = loop {
        if let Some(end) = socket.received.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        assert!(socket.read_more().await, "the server hung up before it answered");
    };
    let head = String::from_utf8(socket.received.drain(..end).collect()).unwrap();
    if head.starts_with("HTTP/1.1 101 ") {
        return Ok((socket, head));
    }
    let lowercase = head.to_ascii_lowercase();
    let length = lowercase.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    // A body of unknown length is that of a list, and is not needed.
    let Some(length) = length else { return Err(head) };
    while socket.received.len() < length.parse().unwrap() {
        assert!(socket.read_more().await, "the server hung up in the middle of the body");
    }
    Err(format!("{head}{}", String::from_utf8(socket.received).unwrap()))
}

/// Opens a watch as a page from this machine.
pub async fn watch(server: &Server, path: &str) -> Socket {
    open(server, path, Some("http://localhost:8001")).await.unwrap_or_else(|response| panic!("{path}: {response}"))
}

impl Socket {
    async fn read_more(&mut self) -> bool {
        within(self.stream.read_buf(&mut self.received)).await.is_ok_and(|count| count > 0)
    }

    /// Sends a close frame as a browser does: empty, masked with zeros.
    pub async fn say_goodbye(&mut self) {
        self.stream.write_all(&[0x88, 0x80, 0, 0, 0, 0]).await.unwrap();
    }

    /// The next frame.
    pub async fn next(&mut self) -> Frame {
        loop {
            if let Some((frame, length)) = parse(&self.received) {
                self.received.drain(..length);
                return frame;
            }
            if !self.read_more().await {
                return Frame::Gone;
            }
        }
    }

    /// The next event; it fails if the next frame is not one.
    pub async fn event(&mut self) -> Value {
        match self.next().await {
            Frame::Text(text) => {
                assert!(text.ends_with("}\n"), "{text}");
                serde_json::from_str(&text).unwrap()
            }
            other => panic!("an event was expected, not {other:?}"),
        }
    }

    /// The type, name and revision of the next event.
    pub async fn summary(&mut self) -> (String, String, u64) {
        let event = self.event().await;
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default();
        (event["type"].as_str().unwrap().to_owned(), name.to_owned(), super::revision(&event["object"]))
    }
}

fn parse(bytes: &[u8]) -> Option<(Frame, usize)> {
    let (start, length) = match *bytes.get(1)? {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?) as usize),
        short => (2, usize::from(short)),
    };
    let payload = bytes.get(start..start + length)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let frame = match bytes[0] {
        0x81 => Frame::Text(text(payload)),
        // A close without a code counts as 1005 for the receiver.
        0x88 if payload.is_empty() => Frame::Close(1005, String::new()),
        0x88 => Frame::Close(u16::from_be_bytes([payload[0], payload[1]]), text(&payload[2..])),
        other => panic!("frame of kind {other:#x}"),
    };
    Some((frame, start + length))
}
