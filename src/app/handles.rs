//! `window.kubechurn`: what tests and other tools can hold on to. Plain JSON goes out; nothing comes in.

use std::hint::black_box;

use gloo_timers::callback::Timeout;
use js_sys::{Array, JSON, Object, Reflect};
use serde::Serialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_model::page::notices;
use kubechurn_model::page::report;
use kubechurn_model::page::watched::Watched;

use crate::app::{Page, Shared, travel};
use crate::browser::{clock, watchdog};

/// Puts the handles into the window.
pub(super) fn install(page: &Shared) {
    let handles = Object::new();
    let status = page.clone();
    let status = Closure::<dyn Fn() -> JsValue>::new(move || status.borrow().status());
    let _ = Reflect::set(&handles, &"status".into(), &status.into_js_value());
    let said = page.clone();
    let said = Closure::<dyn Fn() -> JsValue>::new(move || json(&notices::told(&said.borrow().notices)));
    let _ = Reflect::set(&handles, &"notices".into(), &said.into_js_value());
    let audited = page.clone();
    let audited = Closure::<dyn Fn() -> JsValue>::new(move || {
        let entries = audited.borrow().audit.take(clock::now());
        entries.and_then(|text| JSON::parse(&text).ok()).unwrap_or(JsValue::NULL)
    });
    let _ = Reflect::set(&handles, &"audit".into(), &audited.into_js_value());
    offer(&handles, page, "rows", |watched, informers| json(&report::rows(watched, informers, clock::wall())));
    offer(&handles, page, "digest", |watched, informers| {
        report::digest(watched.objects(informers).map(|object| &**object)).into()
    });
    offer(&handles, page, "marks", |watched, _| json(&report::marks(watched)));
    if travel::parameter("debug").as_deref() == Some("1") {
        let kill = Closure::<dyn Fn(JsValue)>::new(|way: JsValue| kill(way.as_string()));
        let _ = Reflect::set(&handles, &"kill".into(), &kill.into_js_value());
    }
    if let Some(window) = web_sys::window() {
        let _ = Reflect::set(&window, &"kubechurn".into(), &handles);
    }
}

/// A handle that takes a resource; `null` for one that is not watched.
fn offer(handles: &Object, page: &Shared, name: &str, tell: fn(&Watched, &SharedInformerFactory) -> JsValue) {
    let page = page.clone();
    let handle = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |resource: JsValue| {
        let page = page.borrow();
        let resource = resource.as_string().unwrap_or_default();
        page.watched(&resource).map_or(JsValue::NULL, |watched| tell(watched, &page.informers))
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

impl Page {
    /// Gives the sign of life that is watched for from outside, with the versions at which what is watched is.
    pub(super) fn beat(&self) {
        let informers = self.watches.iter().flat_map(|watched| {
            let title = watched.kind().title;
            watched.sources().filter_map(move |(id, scope)| {
                let informer = self.informers.get(id)?;
                Some((title, &*scope.namespace, informer.reflector().resource_version().as_str()))
            })
        });
        watchdog::beat(&report::versions(informers));
    }

    fn status(&self) -> JsValue {
        let now = clock::now();
        let status = |at| report::status(&self.watches, at, &self.informers, &self.checks.verifier, now);
        let status: Vec<_> = (0..self.watches.len()).filter_map(status).collect();
        let status = json(&status);
        // Those that wait come last: they have nothing to tell yet.
        for waiting in self.waiting() {
            status.unchecked_ref::<Array>().push(&json(&waiting));
        }
        status
    }

    fn watched(&self, resource: &str) -> Option<&Watched> {
        self.watches.iter().find(|watched| watched.kind().name == resource)
    }
}

fn json(value: &impl Serialize) -> JsValue {
    let text = serde_json::to_string(value).unwrap_or_else(|_| String::from("null"));
    JSON::parse(&text).unwrap_or(JsValue::NULL)
}
