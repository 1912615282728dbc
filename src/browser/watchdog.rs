//! The signs of life that the page gives to `src/start.js`, which watches from outside the program whether it lives.

use std::panic::{PanicHookInfo, set_hook};

use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// Says that the program lives, and at which versions what it shows is.
pub fn beat(versions: &str) {
    call("beat", &JsValue::from_str(versions));
}

/// Has every panic told: to the console, and to whoever tells the user of it.
pub fn tell_of_panics() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        call("say", &JsValue::from_str(&panic.to_string()));
        console_error_panic_hook::hook(panic);
    }));
}

/// Calls a function of `window.watchdog`. Where a page has none, nobody watches.
fn call(name: &str, argument: &JsValue) {
    let watchdog = Reflect::get(&js_sys::global(), &JsValue::from_str("watchdog"));
    let function = watchdog.and_then(|watchdog| Reflect::get(&watchdog, &JsValue::from_str(name)));
    if let Some(function) = function.ok().and_then(|function| function.dyn_into::<Function>().ok()) {
        let _ = function.call1(&JsValue::UNDEFINED, argument);
    }
}
