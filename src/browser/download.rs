//! Files that are handed to the browser.

use gloo_timers::future::TimeoutFuture;
use js_sys::Array;
use wasm_bindgen::JsCast;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use crate::browser::{document, task};

/// How long the browser may take to begin with the file, in milliseconds.
const FETCHED: u32 = 60_000;

/// Hands the parts of a file to the browser, as a download. `None` where it takes none.
pub fn save(parts: &Array, name: &str, media_type: &str) -> Option<()> {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    let blob = Blob::new_with_str_sequence_and_options(parts, &options).ok()?;
    let url = Url::create_object_url_with_blob(&blob).ok()?;
    let anchor: HtmlAnchorElement = document()?.create_element("a").ok()?.dyn_into().ok()?;
    anchor.set_href(&url);
    anchor.set_download(name);
    anchor.click();
    task::spawn(async move {
        TimeoutFuture::new(FETCHED).await;
        // By now the browser has begun to read the file, if it ever will.
        let _ = Url::revoke_object_url(&url);
    });
    Some(())
}
