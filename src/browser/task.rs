//! The browser's tasks: what is done in one of them is done before the page is drawn again.

use futures::future::LocalBoxFuture;
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::MessageChannel;

use crate::browser::clock;

/// How long is worked in one task, in milliseconds: half of a frame, so that the other half is left for drawing.
const SHARE: f64 = 8.0;

/// Begins what goes on by itself. It is boxed, so that what polls it is compiled once.
pub fn spawn(work: impl Future<Output = ()> + 'static) {
    let work: LocalBoxFuture<'static, ()> = Box::pin(work);
    spawn_local(work);
}

/// Work that lasts longer than one task.
#[derive(Debug)]
pub struct Work {
    began: f64,
}

impl Work {
    /// The work begins.
    pub fn begin() -> Work {
        Work { began: clock::now() }
    }

    /// To be called between two parts of the work: goes on in another task, when this one has taken its share of time. Returns
    /// whether it does.
    pub async fn pause(&mut self) -> bool {
        let is_over = clock::now() - self.began >= SHARE;
        if is_over {
            next().await;
            self.began = clock::now();
        }
        is_over
    }
}

/// Waits for the browser's next task. A promise that is already settled goes on in the same task, before anything is drawn;
/// a timer may be held back for some milliseconds, and in a hidden page for a second. A message is neither.
pub async fn next() {
    // A browser that has no channels has nothing to wait for.
    let Ok(channel) = MessageChannel::new() else { return };
    let message = Promise::new(&mut |resolve, _| {
        channel.port1().set_onmessage(Some(&resolve));
        let _ = channel.port2().post_message(&JsValue::NULL);
    });
    let _ = JsFuture::from(message).await;
    channel.port1().close();
}
