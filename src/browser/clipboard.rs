//! The clipboard.

use wasm_bindgen_futures::JsFuture;

/// Puts a text there. Whether the browser let it.
pub async fn write(text: &str) -> bool {
    let clipboard = web_sys::window().map(|window| window.navigator().clipboard());
    // Outside https: and this machine's own address there is none.
    match clipboard.filter(|clipboard| !clipboard.is_undefined()) {
        Some(clipboard) => JsFuture::from(clipboard.write_text(text)).await.is_ok(),
        None => false,
    }
}
