//! The place in the URL, the theme in the storage, and the namespaces to choose from.

use leptos::prelude::GetUntracked;

use kubechurn_client::api::list;
use kubechurn_client::api::object::{DecodeError, ResourceVersion, decode_metadata};
use kubechurn_client::api::request::{ListRequest, Scope};
use kubechurn_client::api::sort::sort;
use kubechurn_client::cache::reflector::{Input, PAGE};
use kubechurn_model::page::route::Route;
use kubechurn_model::table::kinds::namespaces;

use kubechurn_model::page::view::Namespaces;

use crate::browser::base::Base;
use crate::browser::lister_watcher::ListerWatcher;
use crate::ui::screen::{Screen, Theme, put};

const THEME: &str = "kubechurn.theme";

/// The fragment of the page's address.
pub(super) fn fragment() -> String {
    web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// A parameter of the page's address: `?api=`.
pub(super) fn parameter(name: &str) -> Option<String> {
    let search = web_sys::window()?.location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&search).ok()?.get(name).filter(|value| !value.is_empty())
}

/// Goes to a place that the user can come back from. The page hears of it as of every other change of the
/// fragment.
pub(super) fn push(route: &Route) {
    if let Some(window) = web_sys::window() {
        let _ = window.location().set_hash(&route.fragment());
    }
}

/// Changes the place without leaving a step behind, as while a filter is typed.
pub(super) fn replace(route: &Route) {
    if let Some(history) = web_sys::window().and_then(|window| window.history().ok()) {
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&route.fragment()));
    }
}

/// What the browser keeps under a name, if anything.
pub(super) fn kept(name: &str) -> Option<String> {
    let storage = web_sys::window().and_then(|window| window.local_storage().ok().flatten())?;
    storage.get_item(name).ok().flatten()
}

/// Has the browser keep something for the next visit, or forget it. Where it may keep nothing, nothing is kept.
pub(super) fn keep(name: &str, value: Option<&str>) {
    if let Some(storage) = web_sys::window().and_then(|window| window.local_storage().ok().flatten()) {
        let _ = match value {
            Some(value) => storage.set_item(name, value),
            None => storage.remove_item(name),
        };
    }
}

/// What the browser keeps under a name for as long as the tab is open, if anything.
pub(super) fn kept_in_tab(name: &str) -> Option<String> {
    let storage = web_sys::window().and_then(|window| window.session_storage().ok().flatten())?;
    storage.get_item(name).ok().flatten()
}

/// Has the browser keep something for as long as the tab is open, reloads included.
pub(super) fn keep_in_tab(name: &str, value: &str) {
    if let Some(storage) = web_sys::window().and_then(|window| window.session_storage().ok().flatten()) {
        let _ = storage.set_item(name, value);
    }
}

/// Loads the page without this parameter of its address.
pub(super) fn leave_parameter(name: &str) {
    let Some(location) = web_sys::window().map(|window| window.location()) else { return };
    let search = location.search().unwrap_or_default();
    if let Ok(parameters) = web_sys::UrlSearchParams::new_with_str(&search) {
        parameters.delete(name);
        let _ = location.set_search(&String::from(parameters.to_string()));
    }
}

/// The theme that was chosen last; dark at first.
pub(super) fn stored_theme() -> Theme {
    match kept(THEME).as_deref() {
        Some("light") => Theme::Light,
        _ => Theme::Dark,
    }
}

/// Puts a theme in force, and keeps it for the next visit.
pub(super) fn apply_theme(theme: Theme) {
    if let Some(root) = super::document().and_then(|document| document.document_element()) {
        let _ = root.set_attribute("data-theme", theme.name());
    }
    keep(THEME, Some(theme.name()));
}

/// Asks for the names of the namespaces, once: a menu is no reason for a watch.
pub(super) async fn load_namespaces(base: Base, screen: Screen) {
    let lister_watcher = ListerWatcher { base, resource: namespaces::KIND.resource, scope: Scope::default() };
    let request = ListRequest { resource_version: ResourceVersion::new("0"), limit: Some(PAGE), continue_token: None };
    let mut known = Namespaces { names: screen.namespaces.get_untracked().names, trouble: None };
    lister_watcher
        .list(&request, |input| match input {
            Input::PageBytes(bytes) => match str::from_utf8(bytes).map_err(DecodeError::from).and_then(list::page) {
                Ok(page) => {
                    let objects = page.items.iter().filter_map(|item| decode_metadata(item).ok());
                    known.names = objects.map(|object| object.key.name.to_string()).collect();
                    sort(&mut known.names);
                    known.trouble = page.continue_token.map(|_| String::from("There are more; type the name."));
                }
                Err(error) => known.trouble = Some(format!("The list of namespaces could not be read: {error}")),
            },
            Input::Failed(failure) => {
                known.trouble = Some(format!("The server does not list namespaces: {}. Type a name.", failure.words));
            }
            _ => {}
        })
        .await;
    put(screen.namespaces, known);
}
