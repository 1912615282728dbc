//! Follows the size of an element, which changes with the window, with the edges of panels that the user drags, and when what
//! was hidden is shown again.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::ResizeObserver;

use kubechurn_model::shell::panel::Window;

/// The size of the window in which the page is.
pub fn window_size() -> Window {
    let length = |length: Option<wasm_bindgen::JsValue>| length.and_then(|length| length.as_f64()).unwrap_or_default();
    let own = leptos::prelude::window();
    Window { width: length(own.inner_width().ok()), height: length(own.inner_height().ok()) }
}

/// Follows the size of an element until it is dropped.
#[derive(Debug)]
pub struct SizeObserver {
    observer: Option<ResizeObserver>,
    _changed: Closure<dyn FnMut()>,
}

impl SizeObserver {
    /// Calls `changed` for each element that is followed, and each time that the size of one is another.
    pub fn new(changed: impl FnMut() + 'static) -> SizeObserver {
        let changed = Closure::<dyn FnMut()>::new(changed);
        SizeObserver { observer: ResizeObserver::new(changed.as_ref().unchecked_ref()).ok(), _changed: changed }
    }

    /// Follows an element too.
    pub fn follow(&self, element: &web_sys::Element) {
        self.observer.iter().for_each(|observer| observer.observe(element));
    }
}

impl Drop for SizeObserver {
    fn drop(&mut self) {
        self.observer.iter().for_each(ResizeObserver::disconnect);
    }
}

/// Calls `changed` when the element is in the document, and each time that its size is another one.
pub fn on_size(element: NodeRef<html::Div>, changed: impl FnMut() + 'static) {
    // It goes with the component.
    let sized = StoredValue::new_local(SizeObserver::new(changed));
    Effect::new(move |_| {
        if let Some(element) = element.get() {
            sized.with_value(|sized| sized.follow(&element));
        }
    });
}
