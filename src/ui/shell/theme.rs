//! How the document looks as a whole, and its tab.

use leptos::prelude::document;

/// The tab's icon of a page that shows another moment: two triangles that point back.
const REWOUND: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%23ece4d2'/%3E%3Cpath d='M8 4v8L2.5 8zm5.5 0v8L8 8z' fill='%23332b1d'/%3E%3C/svg%3E";
/// Where the icon of a live page is kept meanwhile.
const LIVE: &str = "data-live";

/// Gives the document the theme of this name.
pub fn choose(name: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-theme", name);
    }
}

/// Has document and tab look like those of a page that shows another moment, or of a live one.
pub fn rewind(is_rewound: bool) {
    let document = document();
    if let Some(root) = document.document_element() {
        let _ = root.toggle_attribute_with_force("data-rewound", is_rewound);
    }
    let Some(icon) = document.query_selector("link[rel=icon]").ok().flatten() else { return };
    let live = icon.get_attribute(LIVE).or_else(|| icon.get_attribute("href")).unwrap_or_default();
    let _ = icon.set_attribute("href", if is_rewound { REWOUND } else { &live });
    let _ = icon.set_attribute(LIVE, &live);
}
