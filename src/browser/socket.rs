//! One WebSocket: what it says is handed on at once, in the browser's own task for it, one after the other.
//!
//! gloo-net's stream never says that the socket opened, queues without bound, and copies each frame character by
//! character ([`crate::browser::text`]).

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use js_sys::{ArrayBuffer, Function, JsString, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BinaryType, CloseEvent, MessageEvent, WebSocket};

use kubechurn_client::api::secret;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::heartbeat::{Answer, SocketAnswer};
use kubechurn_client::cache::reflector::{Input, LONGEST_FRAME};

use crate::browser::text::{TooLong, Transcript};

/// Opens a socket and hands on everything that it says, until it ends. Dropping the future closes it.
pub async fn listen(url: &str, report: impl FnMut(Input<'_>) + 'static) {
    let report = Rc::new(RefCell::new(report));
    let socket = match WebSocket::new(url) {
        Ok(socket) => socket,
        Err(_) => {
            let words = format!("the browser does not open a WebSocket to {}", secret::shown(url));
            return (report.borrow_mut())(Input::Failed(Failure::unreachable(words)));
        }
    };
    socket.set_binary_type(BinaryType::Arraybuffer);

    let this = report.clone();
    let opened = Closure::<dyn FnMut()>::new(move || (this.borrow_mut())(Input::Opened));
    let this = report.clone();
    let mut transcript = Transcript::default();
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let report = &mut *this.borrow_mut();
        // Bytes that are no text are for the core to judge.
        match event.data().dyn_into::<JsString>() {
            Ok(text) => match transcript.read(&text, LONGEST_FRAME) {
                Ok(bytes) => {
                    report(Input::Bytes(bytes));
                    bytes.fill(0);
                }
                Err(TooLong(bytes)) => report(Input::TooLong(bytes)),
            },
            Err(data) => match data.dyn_into::<ArrayBuffer>() {
                Ok(bytes) if bytes.byte_length() as usize > LONGEST_FRAME => {
                    report(Input::TooLong(bytes.byte_length() as usize));
                }
                Ok(bytes) => report(Input::Bytes(&Uint8Array::new(&bytes).to_vec())),
                Err(_) => report(Input::Bytes(&[])),
            },
        }
    });
    let (end, ended) = oneshot::channel::<()>();
    let mut end = Some(end);
    // A failure ends with a close event as well, which has the code. The error event before it carries no information.
    let closed = Closure::<dyn FnMut(CloseEvent)>::new(move |event: CloseEvent| {
        (report.borrow_mut())(Input::Closed(event.code()));
        drop(end.take());
    });
    socket.set_onopen(Some(opened.as_ref().unchecked_ref()));
    socket.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    socket.set_onclose(Some(closed.as_ref().unchecked_ref()));

    let _open = Open(socket);
    // The wait ends when the sender is dropped.
    let _ = ended.await;
}

/// Asks by a socket of its own, which is closed when the answer is there.
///
/// # Errors
///
/// What the server says instead, or that it says nothing.
pub async fn ask(url: &str) -> Result<Answer, Failure> {
    let (sender, receiver) = oneshot::channel();
    let mut sender = Some(sender);
    let listening = listen(url, move |input| {
        if let Some((answer, sender)) = SocketAnswer::handle(&input).and_then(|answer| Some((answer, sender.take()?))) {
            let _ = sender.send(answer);
        }
    });
    let answer = match select(receiver, pin!(listening)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(((), receiver)) => receiver.await,
    };
    answer.unwrap_or_else(|_| Err(Failure::unreachable("the WebSocket gave no answer")))
}

/// Closes its socket when it is dropped, and takes the callbacks off first. It is declared after the callbacks, and so is
/// dropped before them.
struct Open(WebSocket);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.set_onopen(None);
        self.0.set_onmessage(None);
        self.0.set_onclose(None);
        // A socket that is closed before it opens leaves an error in the console: it is closed when it opens.
        let close = Reflect::get(&self.0, &"close".into()).ok().and_then(|close| close.dyn_into::<Function>().ok());
        match close.filter(|_| self.0.ready_state() == WebSocket::CONNECTING) {
            Some(close) => self.0.set_onopen(Some(close.bind1(&self.0, &1000.into()).unchecked_ref())),
            // Closing fails only for a code that is not allowed, and none is given.
            None => drop(self.0.close()),
        }
    }
}
