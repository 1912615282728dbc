//! The inspector's width: kept for the next visit, and fitted into the window whenever that changes.

use wasm_bindgen::JsCast;

use kubechurn_model::page::inspector::width::{fit, read, widest};

use crate::app::travel::{keep, kept};
use crate::app::{Page, document};
use crate::ui::inspector::signals::Width;
use crate::ui::screen::put;

/// What the browser keeps it under.
const KEY: &str = "kubechurn.inspector";
/// What a window is taken for that does not say how wide it is.
const WINDOW: f64 = 1440.0;

/// What was chosen last.
pub(in crate::app) fn stored() -> Option<f64> {
    kept(KEY).and_then(|text| read(&text))
}

fn window_width() -> f64 {
    let width = web_sys::window().and_then(|window| window.inner_width().ok()?.as_f64());
    width.unwrap_or(WINDOW)
}

impl Page {
    /// Makes the inspector so wide, or as wide as at first.
    pub(super) fn widen_inspector(&mut self, wanted: Option<f64>) {
        self.width = wanted.map(|wanted| fit(wanted, window_width()));
        self.fit_inspector();
    }

    /// Keeps the width for the next visit.
    pub(super) fn keep_inspector_width(&self) {
        keep(KEY, self.width.map(|width| width.to_string()).as_deref());
    }

    /// Fits the inspector into the window as it is now. What was chosen stays so: a larger window may have room for it.
    pub(in crate::app) fn fit_inspector(&self) {
        let window = window_width();
        let width = self.width.map(|wanted| fit(wanted, window));
        let root = document().and_then(|document| document.document_element());
        if let Some(root) = root.and_then(|root| root.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = match width {
                Some(width) => root.style().set_property("--inspector", &format!("{width}px")),
                None => root.style().remove_property("--inspector").map(drop),
            };
        }
        put(self.screen.inspector.width, Width { chosen: width, widest: widest(window) });
    }
}
