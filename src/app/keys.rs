//! Key presses, from the window to the commands that they stand for.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, KeyboardEvent};

use kubechurn_model::page::keys::Press;

use crate::app::App;
use crate::ui::focus;

/// Listens to the keys. What an element has taken for itself is left to it.
pub(super) fn listen(app: &Rc<App>) {
    let app = app.clone();
    let pressed = Closure::<dyn FnMut(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.default_prevented() || event.is_composing() {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let (key, is_command) = (event.key(), event.ctrl_key() || event.meta_key());
        let (alt, shift, repeated) = (event.alt_key(), event.shift_key(), event.repeat());
        let press = Press { key: &key, command: is_command, alt, shift, repeated };
        let command = app.look(|page, _| page.command_of(press, focus::of(target.as_ref())));
        if let Some(command) = command {
            event.prevent_default();
            app.command(command);
        }
    });
    if let Some(window) = web_sys::window() {
        // The page lives as long as the document.
        let _ = window.add_event_listener_with_callback("keydown", pressed.as_ref().unchecked_ref());
    }
    pressed.forget();
}
