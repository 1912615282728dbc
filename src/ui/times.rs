//! Whoever points at a time sees all of it, with date and zone: an element that shows a time bears it in `data-at`,
//! and in `data-words` what else is to be said of it.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event};

/// Has `words` show a time when the pointer comes to it. So nothing is written for all the times that nobody points at.
pub fn show_full_times(words: impl Fn(f64) -> String + 'static) {
    let pointed = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(shown) = target.and_then(|target| target.closest("[data-at]").ok().flatten()) else { return };
        if let Some(at) = shown.get_attribute("data-at").and_then(|at| at.parse().ok()) {
            let more = shown.get_attribute("data-words").map(|more| format!("\n{more}")).unwrap_or_default();
            let _ = shown.set_attribute("title", &(words(at) + &more));
        }
    });
    if let Some(document) = web_sys::window().and_then(|window| window.document()) {
        // The page lives as long as the document.
        let _ = document.add_event_listener_with_callback("pointerover", pointed.as_ref().unchecked_ref());
    }
    pointed.forget();
}
