//! Key presses, from the window to what they do, and where in the document the focus goes by them.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlDetailsElement, HtmlElement, HtmlInputElement, KeyboardEvent};

use kubechurn_model::page::keys::{Focus, Press, act};

use crate::app::{Shared, document, obey};
use crate::browser::clock::later;
use crate::ui::hands::Hands;
use crate::ui::screen::Command;
use crate::ui::table::OBJECTS;

/// What knows Enter and the arrows itself.
const CONTROLS: &str = "button, a, summary, input, label, [role=separator], [role=tab], [role=slider]";
/// What takes text.
const FIELDS: &str = "textarea, select, [contenteditable]";
/// Menus that can be open.
const MENUS: &str = "details.menu[open], details.notices[open], details.watches[open]";

/// Listens to the keys. What an element has taken for itself is left to it.
pub(super) fn listen(page: &Shared) {
    let page = page.clone();
    let pressed = Closure::<dyn FnMut(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.default_prevented() || event.is_composing() {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let (focus, letters) = {
            let page = page.borrow();
            (if page.hands.has_dialog() { Focus::Dialog } else { focus_of(target.as_ref()) }, page.hands.letters)
        };
        let key = event.key();
        let press = Press {
            key: &key,
            command: event.ctrl_key() || event.meta_key(),
            alt: event.alt_key(),
            shift: event.shift_key(),
            repeated: event.repeat(),
        };
        if let Some(act) = act(press, focus, letters) {
            event.prevent_default();
            obey(&page, Command::Hands(Hands::Act(act)));
        }
    });
    if let Some(window) = web_sys::window() {
        // The page lives as long as the document.
        let _ = window.add_event_listener_with_callback("keydown", pressed.as_ref().unchecked_ref());
    }
    pressed.forget();
}

fn focus_of(target: Option<&Element>) -> Focus {
    let Some(target) = target else { return Focus::Table };
    let is = |selector: &str| matches!(target.closest(selector), Ok(Some(_)));
    if let Some(input) = target.dyn_ref::<HtmlInputElement>() {
        let is_control = ["checkbox", "radio", "button", "range"].contains(&&*input.type_());
        return if is_control { Focus::Control } else { Focus::Field };
    }
    if is(FIELDS) {
        Focus::Field
    } else if is(CONTROLS) || !(is("main") || target.tag_name() == "BODY" || target.tag_name() == "HTML") {
        Focus::Control
    } else {
        Focus::Table
    }
}

/// Focuses the table, unless something in it has the focus.
pub(super) fn focus_table() {
    let Some(objects) = document().and_then(|document| document.get_element_by_id(OBJECTS)) else { return };
    let active = document().and_then(|document| document.active_element());
    if active.as_ref() != Some(&objects) {
        focus(&objects);
    }
}

/// Focuses a field: at once, for what is typed next is meant for it; and once more when whatever was open has been
/// closed, for a dialog takes no focus beside it, and gives it back when it closes.
pub(super) fn focus_field(id: &'static str) {
    let choose = move || {
        let Some(element) = document().and_then(|document| document.get_element_by_id(id)) else { return };
        if has_focus(&element) {
            return;
        }
        focus(&element);
        if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
            input.select();
        }
    };
    choose();
    later(0, choose);
}

fn has_focus(element: &Element) -> bool {
    document().and_then(|document| document.active_element()).as_ref() == Some(element)
}

/// Opens a menu by its handle, and focuses its first field, as [`focus_field`] does.
pub(super) fn open_menu(handle: &'static str) {
    let choose = move || {
        let menu =
            document().and_then(|document| document.query_selector(&format!("[data-testid={handle}]")).ok().flatten());
        let Some(menu) = menu.and_then(|menu| menu.dyn_into::<HtmlDetailsElement>().ok()) else { return };
        menu.set_open(true);
        if let Ok(Some(first)) = menu.query_selector("input")
            && !has_focus(&first)
        {
            focus(&first);
        }
    };
    choose();
    later(0, choose);
}

/// Whether a menu is open.
pub(super) fn has_menu() -> bool {
    document().is_some_and(|document| matches!(document.query_selector(MENUS), Ok(Some(_))))
}

/// Closes the menu that is open, and focuses what opens it.
pub(super) fn close_menu() {
    let menu = document().and_then(|document| document.query_selector(MENUS).ok().flatten());
    if let Some(menu) = menu.and_then(|menu| menu.dyn_into::<HtmlDetailsElement>().ok()) {
        menu.set_open(false);
        if let Ok(Some(summary)) = menu.query_selector("summary") {
            focus(&summary);
        }
    }
}

/// Scrolls the table, at once.
pub(super) fn scroll_table(top: f64) {
    if let Some(objects) = document().and_then(|document| document.get_element_by_id(OBJECTS)) {
        objects.set_scroll_top(top as i32);
    }
}

fn focus(element: &Element) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // An element that is gone takes no focus, and that is all.
        let _ = element.focus();
    }
}
