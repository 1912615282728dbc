//! The page's address.

/// The fragment of the page's address, with its `#`.
pub fn fragment() -> String {
    web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// A parameter of the page's address: `?api=`.
pub fn parameter(name: &str) -> Option<String> {
    let search = web_sys::window()?.location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&search).ok()?.get(name).filter(|value| !value.is_empty())
}

/// Goes to a fragment that the user can come back from. The window reports it as every other change.
pub fn push(fragment: &str) {
    if let Some(window) = web_sys::window() {
        let _ = window.location().set_hash(fragment);
    }
}

/// Changes the fragment without leaving a step behind. The window does not report it.
pub fn replace(fragment: &str) {
    if let Some(history) = web_sys::window().and_then(|window| window.history().ok()) {
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(fragment));
    }
}

/// Leaves this page for another one.
pub fn load(url: &str) {
    if let Some(window) = web_sys::window() {
        let _ = window.location().set_href(url);
    }
}
