//! The page's Content-Security-Policy.

use crate::browser::document;

/// Adds a policy to those that the document has: all of them hold from now on.
pub fn add(words: &str) {
    let Some(document) = document() else { return };
    let (Some(head), Ok(meta)) = (document.head(), document.create_element("meta")) else { return };
    let _ = meta.set_attribute("http-equiv", "Content-Security-Policy");
    let _ = meta.set_attribute("content", words);
    let _ = head.append_child(&meta);
}
