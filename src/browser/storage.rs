//! What the browser keeps for the next visit, and for as long as the tab is open. Where it may keep nothing, nothing is
//! kept.

use web_sys::Storage;

fn local() -> Option<Storage> {
    web_sys::window().and_then(|window| window.local_storage().ok().flatten())
}

fn of_tab() -> Option<Storage> {
    web_sys::window().and_then(|window| window.session_storage().ok().flatten())
}

/// What is kept under a name, if anything.
pub fn kept(name: &str) -> Option<String> {
    local()?.get_item(name).ok().flatten()
}

/// Keeps something for the next visit, or forgets it.
pub fn keep(name: &str, value: Option<&str>) {
    if let Some(storage) = local() {
        let _ = match value {
            Some(value) => storage.set_item(name, value),
            None => storage.remove_item(name),
        };
    }
}

/// What is kept under a name for as long as the tab is open, if anything.
pub fn kept_in_tab(name: &str) -> Option<String> {
    of_tab()?.get_item(name).ok().flatten()
}

/// Keeps something for as long as the tab is open, reloads included.
pub fn keep_in_tab(name: &str, value: &str) {
    if let Some(storage) = of_tab() {
        let _ = storage.set_item(name, value);
    }
}
