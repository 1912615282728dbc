//! The watch that follows a list, and what the heartbeat is to know of it.

use crate::api::request::WatchRequest;
use crate::cache::reflector::socket::Socket;

/// When the server has answered over HTTP that it has an event for a watch, the socket must bring something within this
/// time, in milliseconds, or it counts as dead.
const OWED: f64 = 1_000.0;

/// A watch that is under way. All times are milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) socket: Socket,
    /// By when the socket must have brought something, for the server is known to have something for it.
    pub(super) owed: Option<f64>,
}

/// An open watch, as the heartbeat sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenWatch {
    /// The same watch from its last version on.
    pub request: WatchRequest,
    /// When the last proof came that what is held is true, in milliseconds.
    pub heard: f64,
    /// When the socket opened, in milliseconds.
    pub opened: f64,
    /// True if the watch needs a proof before it can be called live.
    pub unproven: bool,
    /// True if the server can be asked for its version, which only an answer over HTTP says.
    pub readable: bool,
}

impl Watch {
    pub(super) fn new(socket: Socket) -> Watch {
        Watch { socket, owed: None }
    }

    /// The API server had an event for this watch when it was asked: the socket must bring something within a second.
    /// Any frame will do, for what comes before that event comes first.
    pub(super) fn has_event(&mut self, asked: f64, now: f64) {
        let came_since = self.socket.last_frame.is_some_and(|frame| frame >= asked);
        if self.socket.was_open(asked) && !came_since {
            self.owed = Some(now + OWED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_that_was_open_and_silent_owes_an_event() {
        let watch = |opened: Option<f64>, last_frame: Option<f64>| {
            let mut watch = Watch::new(Socket { opened, last_frame, ..Socket::new(0.0, 300) });
            watch.has_event(100.0, 110.0);
            watch.owed
        };
        assert_eq!(watch(Some(50.0), None), Some(1_110.0));
        assert_eq!(watch(Some(50.0), Some(99.0)), Some(1_110.0));
        assert_eq!(watch(Some(50.0), Some(100.0)), None, "something came since");
        assert_eq!(watch(Some(101.0), None), None, "the question is older than the socket");
        assert_eq!(watch(None, None), None);
    }
}
