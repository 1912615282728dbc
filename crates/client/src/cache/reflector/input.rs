//! The inputs of a reflector, and the actions that it asks for.

use crate::api::request::{ListRequest, WatchRequest};
use crate::api::status::Failure;
use crate::cache::backlog::Backlog;

/// A frame that is longer than this, in bytes, is not read. Servers refuse objects of more than a few megabytes (etcd:
/// 1.5, API servers: 3), and a socket hands over each frame as a whole.
pub const LONGEST_FRAME: usize = 64_000_000;

/// An input: something happened.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Begin, or try again at once after having stopped.
    Start,
    /// The socket opened.
    Opened,
    /// A text frame.
    Frame(&'a str),
    /// A binary frame, which counts as the text that it holds. Where its bytes are no UTF-8 it is malformed: to replace
    /// them with other characters could give an object another name.
    Bytes(&'a [u8]),
    /// A frame that is longer than [`LONGEST_FRAME`] came, and was not read. The number is its least length, in bytes.
    TooLong(usize),
    /// The socket closed with this code, which is 1000 where the server ended the watch properly.
    Closed(u16),
    /// The next bytes of a page, of any number. An empty piece says that the answer has begun, with status 200. The
    /// items that are complete with these bytes are read at once.
    Piece(&'a [u8]),
    /// All bytes of a page have come.
    PageEnd,
    /// A page that is there as a whole: its bytes as one piece, and its end.
    Page(&'a str),
    /// [`Input::Page`] in bytes, of which nobody has looked whether they are UTF-8.
    PageBytes(&'a [u8]),
    /// The list, or the probe of a failed watch, failed with this, which may be that no answer came.
    Failed(Failure),
    /// The probe of a failed watch found nothing wrong.
    ProbePassed,
    /// The deadline passed.
    Timer,
    /// The page slept, or the network came back: no open socket can be trusted.
    Woke,
    /// Someone else has observed that the server answers again.
    Reachable,
    /// The API server has answered over HTTP when it was asked for the same watch, from its last version on
    /// ([`crate::cache::heartbeat`]).
    HeartbeatAnswered {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// True if the server had an event that comes after that version.
        event: bool,
        /// True if the server was also asked if it has come as far as that version.
        checked: bool,
    },
    /// The heartbeat's question was not answered, or was answered with something other than a watch.
    HeartbeatFailed {
        /// When it was asked, in milliseconds.
        asked: f64,
        /// What came instead.
        failure: Failure,
    },
    /// Someone else has found that the held objects are wrong, for this reason. A watch ends with this, and a new list
    /// is taken of the server's newest state, even if the server's versions have gone back. Without a watch nothing
    /// happens, because what is under way ends with a list anyway.
    Relist(&'a str),
    /// More has come than the handlers can take: this much waits.
    Overrun(Backlog),
    /// Stop.
    Stop,
    /// Stop, for this reason, until the next [`Input::Start`].
    GiveUp(&'a str),
}

/// The next thing to do. Each action replaces the one that was under way.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Fetch a page.
    List(ListRequest),
    /// Open a socket.
    Watch(WatchRequest),
    /// Ask for a watch over HTTP: an answer that begins is [`Input::Opened`], each line a frame, the end of the body
    /// [`Input::Closed`] with 1000, and with 1006 where it broke off.
    WatchOverHttp(WatchRequest),
    /// Fetch over HTTP what the socket was asked for and refused, to learn why.
    Probe(WatchRequest),
    /// Do nothing until the deadline.
    Wait,
}
