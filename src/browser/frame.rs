//! One drain per animation frame; a timer in its place while the page is hidden.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::browser::clock;

/// How long a hidden page lets changes wait, in milliseconds. Browsers stretch it to a second and more.
const HIDDEN: u32 = 250;
/// The least time between two frames that only show what the server sent, in milliseconds: with the wait for the screen,
/// ten frames a second. Laying out and painting costs more than draining. A change that comes alone is shown at once;
/// only a stream of them is paced, and what the user does never is.
const PACE: f64 = 92.0;

/// Calls back once for any number of requests: at the next animation frame, or by a timer.
#[derive(Clone)]
pub struct Frames {
    requested: Rc<Cell<Option<Request>>>,
    /// How many requests there were.
    count: Rc<Cell<u32>>,
    last: Rc<Cell<f64>>,
    callback: Rc<dyn Fn()>,
}

/// What was asked for. A clock cannot be called off, and may still strike for a request that another one has replaced: the
/// number tells that apart, for otherwise each request that was replaced would bring frames for ever.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    wake: Wake,
    number: u32,
}

/// By which clock the next call comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wake {
    Frame,
    Timer,
    /// A timer, and then a frame.
    Paced,
}

impl Frames {
    /// Frames that call `callback`.
    pub fn new(callback: impl Fn() + 'static) -> Frames {
        let (requested, count, last) = (Rc::default(), Rc::default(), Rc::default());
        Frames { requested, count, last, callback: Rc::new(callback) }
    }

    fn ask(&self, wake: Wake) -> Request {
        self.count.set(self.count.get().wrapping_add(1));
        let request = Request { wake, number: self.count.get() };
        self.requested.set(Some(request));
        request
    }

    /// Asks for a call. Cheap enough for every frame of every socket.
    pub fn request(&self) {
        if self.requested.get().is_some() {
            return;
        }
        let rest = PACE - (clock::now() - self.last.get());
        if clock::is_hidden() {
            self.request_timer();
        } else if rest > 1.0 {
            let (this, request) = (self.clone(), self.ask(Wake::Paced));
            clock::later(rest as u32, move || {
                if this.requested.get() == Some(request) {
                    this.request_frame();
                }
            });
        } else {
            self.request_frame();
        }
    }

    /// Asks for a call at the very next frame: the user did something and waits for it.
    pub fn hurry(&self) {
        if clock::is_hidden() {
            self.request();
        } else if self.requested.get().is_none_or(|request| request.wake != Wake::Frame) {
            self.request_frame();
        }
    }

    /// The page was hidden or shown: a frame that was asked for may never come, and a timer would come late.
    pub fn visibility_changed(&self) {
        self.requested.set(None);
        self.request();
    }

    fn request_timer(&self) {
        let (this, request) = (self.clone(), self.ask(Wake::Timer));
        clock::later(HIDDEN, move || this.arrived(request));
    }

    fn request_frame(&self) {
        let (this, request) = (self.clone(), self.ask(Wake::Frame));
        let callback = Closure::once_into_js(move || this.arrived(request));
        let requested = web_sys::window()
            .map(|window| window.request_animation_frame(callback.unchecked_ref()))
            .is_some_and(|requested| requested.is_ok());
        if !requested {
            self.request_timer();
        }
    }

    /// A call of a request that was given up in the meantime is not passed on.
    fn arrived(&self, request: Request) {
        if self.requested.get() == Some(request) {
            self.requested.set(None);
            self.last.set(clock::now());
            (self.callback)();
        }
    }
}
