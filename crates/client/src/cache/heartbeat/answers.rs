//! Reads what a watch that was asked for once more says: the lines of an answer over HTTP, or the frames of a socket of its own
//! where a browser lets the page read no answer.

use crate::api::event::{self, EventType};
use crate::api::status::Failure;
use crate::cache::heartbeat::Answer;
use crate::cache::reflector::Input;

/// Reads the whole answer to a watch of one second: whether it has an event.
///
/// # Errors
///
/// The server's ERROR event, or that the text is no watch's.
pub fn read_watch(text: &str) -> Result<Answer, Failure> {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match frame(line)? {
            Frame::Event => return Ok(Answer::Event),
            Frame::Bookmark { .. } => {}
        }
    }
    Ok(Answer::Quiet)
}

/// Reads the answer of a socket that was opened for nothing but a question. It is handed everything that comes.
///
/// ```
/// use kubechurn_client::cache::heartbeat::{Answer, SocketAnswer};
/// use kubechurn_client::cache::reflector::Input;
///
/// assert_eq!(SocketAnswer::handle(&Input::Opened), None);
/// assert_eq!(SocketAnswer::handle(&Input::Closed(1000)), Some(Ok(Answer::Quiet)));
/// assert!(SocketAnswer::handle(&Input::Closed(1006)).is_some_and(|answer| answer.is_err()));
/// ```
#[derive(Debug)]
pub struct SocketAnswer;

impl SocketAnswer {
    /// Takes what came over the socket. Returns the answer as soon as it is known: with the first event, with the end of a
    /// streaming list, or when the server ends the watch properly, which proves that it had nothing to send.
    pub fn handle(input: &Input<'_>) -> Option<Result<Answer, Failure>> {
        let text = match input {
            Input::Frame(text) => text,
            Input::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text,
                Err(_) => return Some(Err(Failure::unreachable("the WebSocket brings no text"))),
            },
            // Whatever it is, the server has something for the watch.
            Input::TooLong(_) => return Some(Ok(Answer::Event)),
            // Only a server ends a watch with this code: a connection that breaks has 1006.
            Input::Closed(1000) => return Some(Ok(Answer::Quiet)),
            Input::Closed(code) => {
                let words = format!("the WebSocket was refused, or broke (close code {code})");
                return Some(Err(Failure::unreachable(words)));
            }
            Input::Failed(failure) => return Some(Err(failure.clone())),
            _ => return None,
        };
        match frame(text) {
            Ok(Frame::Event) => Some(Ok(Answer::Event)),
            Ok(Frame::Bookmark { ends_list: true }) => Some(Ok(Answer::Quiet)),
            Ok(Frame::Bookmark { ends_list: false }) => None,
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Whether an API server gave this answer, be it an error: a failure without a code is none of a server's.
    pub fn is_of_server(answer: &Result<Answer, Failure>) -> bool {
        answer.as_ref().map_or_else(|failure| failure.code != 0, |_| true)
    }
}

/// A frame of a watch, as far as a question is concerned.
enum Frame {
    Event,
    /// `ends_list` says that it is the last of a streaming list.
    Bookmark {
        ends_list: bool,
    },
}

fn frame(text: &str) -> Result<Frame, Failure> {
    let Ok(frame) = event::split(text) else {
        return Err(Failure::unreachable("the answer is something else than a watch"));
    };
    match frame.event_type {
        EventType::Error => Err(Failure::from_error_event(frame.object)),
        EventType::Bookmark => {
            let ends_list = event::bookmark(frame.object).is_ok_and(|bookmark| bookmark.initial_events_end);
            Ok(Frame::Bookmark { ends_list })
        }
        _ => Ok(Frame::Event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &str = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}}"#;
    const BOOKMARK: &str = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}"#;
    const END: &str = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    const ADDED: &str = r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#;

    /// What is answered, in a word, or the code of what is said instead.
    fn word(answer: Result<Answer, Failure>) -> String {
        match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(failure) => failure.code.to_string(),
        }
    }

    #[test]
    fn the_text_of_a_watch_has_an_event_or_none() {
        for (text, expected) in [
            (String::new(), "Quiet"),
            (format!("{BOOKMARK}\n{END}\n\n"), "Quiet"),
            (format!("{BOOKMARK}\n{ADDED}\n"), "Event"),
            (format!("{BOOKMARK}\n{ERROR}\n"), "410"),
            (String::from("<html>"), "0"),
            (String::from(r#"{"kind":"PodList","items":[]}"#), "0"),
        ] {
            assert_eq!(word(read_watch(&text)), expected, "{text}");
        }
    }

    #[test]
    fn a_socket_answers_as_soon_as_it_is_clear_what() {
        let failed = Failure::unreachable("no socket");
        for (inputs, expected) in [
            (vec![Input::Opened, Input::Closed(1000)], "Quiet"),
            (vec![Input::Opened, Input::Frame(BOOKMARK), Input::Closed(1000)], "Quiet"),
            (vec![Input::Opened, Input::Frame(BOOKMARK), Input::Closed(1006)], "0"),
            (vec![Input::Closed(1006)], "0"),
            (vec![Input::Failed(failed)], "0"),
            (vec![Input::Opened, Input::Frame(END)], "Quiet"),
            (vec![Input::Opened, Input::Bytes(BOOKMARK.as_bytes()), Input::Bytes(ADDED.as_bytes())], "Event"),
            (vec![Input::Opened, Input::TooLong(1 << 30)], "Event"),
            (vec![Input::Opened, Input::Frame(ERROR)], "410"),
            (vec![Input::Opened, Input::Frame("hello")], "0"),
            (vec![Input::Opened, Input::Bytes(&[0xff])], "0"),
        ] {
            let (last, before) = inputs.split_last().unwrap();
            assert!(before.iter().all(|input| SocketAnswer::handle(input).is_none()), "{inputs:?}");
            let answer = SocketAnswer::handle(last).unwrap();
            assert_eq!(SocketAnswer::is_of_server(&answer), expected != "0", "{inputs:?}");
            assert_eq!(word(answer), expected, "{inputs:?}");
        }
    }
}
