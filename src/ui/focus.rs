//! Where in the document the focus is, and where it goes.

use std::time::Duration;

use leptos::prelude::{document, set_timeout};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlDetailsElement, HtmlElement, HtmlInputElement};

use kubechurn_model::page::command::Rows;
use kubechurn_model::page::keys::Focus;

use crate::ui::feed::FEED;
use crate::ui::inside::STEP;
use crate::ui::table::OBJECTS;
use crate::ui::timeline::CANVAS;

/// Elements that have a use of their own for Enter and the arrows.
const CONTROLS: &str = "button, a, summary, input, label, [role=separator], [role=tab], [role=slider]";
/// Controls of the feed's rows.
const ROW_CONTROLS: &str = ".feed-row :is(a, button)";
/// Elements that take text.
const FIELDS: &str = "textarea, select, [contenteditable]";
/// A menu that is open and has the focus: its keys are its own.
const MENU: &str = "details.menu[open]";
/// Menus that are open.
const MENUS: &str = "details.menu[open], details.notices[open], details.watches[open]";

/// Where a key was pressed, which decides what it may do.
pub fn of(target: Option<&Element>) -> Focus {
    let Some(target) = target else { return Focus::Table };
    let is = |selector: &str| matches!(target.closest(selector), Ok(Some(_)));
    let in_menu = is(MENU) && !is(FIELDS);
    if let Some(input) = target.dyn_ref::<HtmlInputElement>() {
        let is_control = ["checkbox", "radio", "button", "range"].contains(&&*input.type_());
        return match () {
            () if !is_control => Focus::Field,
            () if in_menu => Focus::Dialog,
            () => Focus::Control,
        };
    }
    if in_menu {
        Focus::Dialog
    } else if is(FIELDS) {
        Focus::Field
    } else if target.id() == CANVAS {
        Focus::Lanes
    } else if is(ROW_CONTROLS) {
        Focus::Link
    } else if is(CONTROLS) || !(is("main") || target.tag_name() == "BODY" || target.tag_name() == "HTML") {
        Focus::Control
    } else {
        Focus::Table
    }
}

/// The element that has the focus while keys go through these rows.
fn id_of(rows: Rows) -> &'static str {
    match rows {
        Rows::Table => OBJECTS,
        Rows::Feed => FEED,
        Rows::Lanes => CANVAS,
        Rows::Inside => STEP,
    }
}

/// Focuses these rows.
pub fn rows(rows: Rows) {
    let element = document().get_element_by_id(id_of(rows));
    if let Some(element) = element.filter(|element| !has_focus(element)) {
        give(&element);
    }
}

/// Focuses a field at once, because what is typed next is meant for it. It is focused once more a moment later: a dialog
/// that is being closed lets no focus out until then, and gives the focus back to where it was before.
pub fn field(id: &'static str) {
    let choose = move || {
        let Some(element) = document().get_element_by_id(id) else { return };
        if has_focus(&element) {
            return;
        }
        give(&element);
        if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
            input.select();
        }
    };
    choose();
    set_timeout(choose, Duration::ZERO);
}

fn has_focus(element: &Element) -> bool {
    document().active_element().as_ref() == Some(element)
}

/// Opens a menu by its handle, and focuses its first field, as [`field`] does.
pub fn menu(handle: &'static str) {
    let choose = move || {
        let menu = document().query_selector(&format!("[data-testid={handle}]")).ok().flatten();
        let Some(menu) = menu.and_then(|menu| menu.dyn_into::<HtmlDetailsElement>().ok()) else { return };
        menu.set_open(true);
        if let Ok(Some(first)) = menu.query_selector("input")
            && !has_focus(&first)
        {
            give(&first);
        }
    };
    choose();
    set_timeout(choose, Duration::ZERO);
}

/// Whether a menu is open.
pub fn has_menu() -> bool {
    matches!(document().query_selector(MENUS), Ok(Some(_)))
}

/// Closes the open menu, and focuses its button.
pub fn close_menu() {
    let menu = document().query_selector(MENUS).ok().flatten();
    if let Some(menu) = menu.and_then(|menu| menu.dyn_into::<HtmlDetailsElement>().ok()) {
        menu.set_open(false);
        if let Ok(Some(summary)) = menu.query_selector("summary") {
            give(&summary);
        }
    }
}

/// Scrolls these rows, at once.
pub fn scroll(rows: Rows, top: f64) {
    if let Some(element) = document().get_element_by_id(id_of(rows)) {
        element.set_scroll_top(top.ceil() as i32);
    }
}

/// Gives an element the focus.
pub fn give(element: &Element) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // It fails for an element that is gone, which matters to nobody.
        let _ = element.focus();
    }
}
