//! One drain per animation frame; a timer in its place while the page is hidden.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::browser::clock;

/// How long a hidden page lets changes wait, in milliseconds. Browsers stretch it to a second and more.
const HIDDEN: u32 = 250;
/// The least time between two frames that only show what the server sent, in milliseconds: with the wait for the screen,
/// eight frames a second. Laying out and painting costs more than draining. A change that comes alone is shown at once;
/// only a stream of them is paced, and what the user does never is.
const PACE: f64 = 117.0;

/// Calls back once for any number of requests: at the next animation frame, or by a timer.
#[derive(Clone)]
pub struct Frames {
    /// The number of the last request, and what it waits for. A clock cannot be called off, and still strikes for a request
    /// that another one has replaced: without the number, it would be taken for the other's, and go on for ever.
    requested: Rc<Cell<(u32, Option<Wake>)>>,
    last: Rc<Cell<f64>>,
    callback: Rc<dyn Fn()>,
}

/// By which clock the next call comes. A frame that must wait comes after a timer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wake {
    Frame,
    Timer,
}

impl Frames {
    /// Frames that call `callback`.
    pub fn new(callback: impl Fn() + 'static) -> Frames {
        Frames { requested: Rc::default(), last: Rc::default(), callback: Rc::new(callback) }
    }

    /// Asks for a call. Cheap enough for every frame of every socket.
    pub fn request(&self) {
        if self.requested.get().1.is_some() {
            return;
        }
        let rest = PACE - (clock::now() - self.last.get());
        if clock::is_hidden() {
            self.request_timer();
        } else if rest > 1.0 {
            let (this, number) = (self.clone(), self.ask(Wake::Timer));
            clock::later(rest as u32, move || {
                if this.waits_for(number) {
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
        } else if self.requested.get().1 != Some(Wake::Frame) {
            self.request_frame();
        }
    }

    /// The page was hidden or shown: a frame that was asked for may never come, and a timer would come late.
    pub fn visibility_changed(&self) {
        self.requested.set((self.requested.get().0, None));
        self.request();
    }

    fn ask(&self, wake: Wake) -> u32 {
        let number = self.requested.get().0.wrapping_add(1);
        self.requested.set((number, Some(wake)));
        number
    }

    fn waits_for(&self, number: u32) -> bool {
        matches!(self.requested.get(), (last, Some(_)) if last == number)
    }

    fn request_timer(&self) {
        let (this, number) = (self.clone(), self.ask(Wake::Timer));
        clock::later(HIDDEN, move || this.arrived(number));
    }

    fn request_frame(&self) {
        let (this, number) = (self.clone(), self.ask(Wake::Frame));
        let callback = Closure::once_into_js(move || this.arrived(number));
        let ask = |window: web_sys::Window| window.request_animation_frame(callback.unchecked_ref()).ok();
        if web_sys::window().and_then(ask).is_none() {
            self.request_timer();
        }
    }

    /// A call of a request that was given up in the meantime is not passed on.
    fn arrived(&self, number: u32) {
        if self.waits_for(number) {
            self.requested.set((number, None));
            self.last.set(clock::now());
            (self.callback)();
        }
    }
}
