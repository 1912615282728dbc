//! A watch over either transport, read frame by frame.

use super::socket::{Frame, Socket};
use super::within;

/// A watch that was accepted.
pub enum Watch {
    /// Over chunked HTTP, with the bytes that were received and not read yet.
    Http {
        /// The answer.
        response: reqwest::Response,
        /// The bytes after the last whole line.
        received: Vec<u8>,
    },
    /// Over WebSocket.
    WebSocket(Box<Socket>),
}

impl Watch {
    /// A watch whose answer has begun.
    pub fn over_http(response: reqwest::Response) -> Self {
        Self::Http { response, received: Vec::new() }
    }

    /// The next frame; over HTTP a line counts as a message, and the last chunk as a close.
    pub async fn frame(&mut self) -> Frame {
        let (response, received) = match self {
            Self::WebSocket(socket) => return socket.next().await,
            Self::Http { response, received } => (response, received),
        };
        loop {
            if let Some(end) = received.iter().position(|byte| *byte == b'\n') {
                return Frame::Text(String::from_utf8(received.drain(..=end).collect()).unwrap());
            }
            match within(response.chunk()).await {
                Ok(Some(chunk)) => received.extend_from_slice(&chunk),
                Ok(None) => return Frame::Close(1000, String::new()),
                Err(_) => return Frame::Gone,
            }
        }
    }
}
