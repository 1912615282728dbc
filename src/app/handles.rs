//! `window.kubechurn`: what tests and other tools can hold on to. Plain JSON goes out; nothing comes in.

use std::hint::black_box;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use js_sys::{JSON, Object, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;

use kubechurn_model::page::Page;
use kubechurn_model::page::environment::Environment;

use crate::app::App;
use crate::browser::location;

/// Puts the handles into the window.
pub(super) fn install(app: &Rc<App>) {
    let handles = Object::new();
    add_handle(&handles, app, "status", |page, env| Some(page.reports().status(env)));
    add_handle(&handles, app, "recorder", |page, _| Some(page.reports().recorder()));
    add_handle(&handles, app, "notices", |page, _| Some(page.reports().notices()));
    add_handle(&handles, app, "differences", |page, env| page.reports().differences(env));
    add_handle(&handles, app, "audit", |page, env| page.reports().audit(env));
    add_handle_of(&handles, app, "rows", |page, env, resource| {
        page.reports().rows_of(resource, env).map(|text| json(&text))
    });
    add_handle_of(&handles, app, "digest", |page, _, resource| page.reports().digest_of(resource).map(JsValue::from));
    add_handle_of(&handles, app, "marks", |page, _, resource| {
        page.reports().marks_of(resource).map(|text| json(&text))
    });
    if location::parameter("debug").as_deref() == Some("1") {
        let kill = Closure::<dyn Fn(JsValue)>::new(|way: JsValue| kill(way.as_string()));
        let _ = Reflect::set(&handles, &"kill".into(), &kill.into_js_value());
    }
    if let Some(window) = web_sys::window() {
        let _ = Reflect::set(&window, &"kubechurn".into(), &handles);
    }
}

/// A handle without arguments; `null` for nothing.
fn add_handle(handles: &Object, app: &Rc<App>, name: &str, answer: fn(&Page, &dyn Environment) -> Option<String>) {
    let app = app.clone();
    let handle =
        Closure::<dyn Fn() -> JsValue>::new(move || app.look(answer).map_or(JsValue::NULL, |text| json(&text)));
    let _ = Reflect::set(handles, &name.into(), &handle.into_js_value());
}

/// A handle that takes a resource; `null` for one that is not watched.
fn add_handle_of(
    handles: &Object,
    app: &Rc<App>,
    name: &str,
    answer: fn(&Page, &dyn Environment, &str) -> Option<JsValue>,
) {
    let app = app.clone();
    let handle = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |resource: JsValue| {
        let resource = resource.as_string().unwrap_or_default();
        app.look(|page, env| answer(page, env, &resource)).unwrap_or(JsValue::NULL)
    });
    let _ = Reflect::set(handles, &name.into(), &handle.into_js_value());
}

/// Has the program die, by itself and a moment later, as it would of a fault: to see what the page says then. Only what
/// runs in the page already can ask for it.
fn kill(way: Option<String>) {
    let die = match way.as_deref() {
        Some("panic") => || panic!("asked for by kubechurn.kill"),
        Some("trap") => || core::arch::wasm32::unreachable(),
        Some("memory") => || {
            // It is never written to, so the machine need not have it. The address space is full after a few.
            let mut all = Vec::new();
            loop {
                all.push(black_box(Vec::<u8>::with_capacity(1 << 30)));
            }
        },
        _ => return,
    };
    Timeout::new(0, die).forget();
}

fn json(text: &str) -> JsValue {
    JSON::parse(text).unwrap_or(JsValue::NULL)
}
