//! Follows the size of an element, which changes with the window, with the edges of panels that the user drags, and when what
//! was hidden is shown again.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::ResizeObserver;

/// Calls `changed` when the element is in the document, and each time that its size is another one.
pub fn on_size(element: NodeRef<html::Div>, changed: impl Fn() + 'static) {
    let changed = Closure::<dyn FnMut()>::new(changed);
    let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
    let kept = StoredValue::new_local((observer, changed));
    Effect::new(move |_| {
        if let Some(element) = element.get() {
            kept.with_value(|(observer, _)| observer.iter().for_each(|observer| observer.observe(&element)));
        }
    });
    on_cleanup(move || {
        kept.with_value(|(observer, _)| observer.iter().for_each(ResizeObserver::disconnect));
    });
}
