//! Joins the browser and the view; nothing else names both.

/// Mounts the page into the document.
pub fn mount() {}
