//! The signs of life that the page gives to `src/start.js`, which watches from outside the program whether it lives.

use std::panic::{PanicHookInfo, set_hook};

use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// Says that the program lives, at which versions what it shows is, and in how many milliseconds it says so again.
pub fn beat(versions: &str, next: f64) {
    call("beat", &[JsValue::from_str(versions), JsValue::from_f64(next)]);
}

/// Has every panic reported: to the console, and to whoever shows it to the user.
pub fn report_panics() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        call("say", &[JsValue::from_str(&panic.to_string())]);
        console_error_panic_hook::hook(panic);
    }));
}

/// Calls a function of `window.watchdog`. Where a page has none, nobody watches.
fn call(name: &str, arguments: &[JsValue]) {
    let watchdog = Reflect::get(&js_sys::global(), &JsValue::from_str("watchdog"));
    let function = watchdog.and_then(|watchdog| Reflect::get(&watchdog, &JsValue::from_str(name)));
    if let Some(function) = function.ok().and_then(|function| function.dyn_into::<Function>().ok()) {
        let _ = function.apply(&JsValue::UNDEFINED, &arguments.iter().collect());
    }
}
