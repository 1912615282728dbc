//! The table into a file: written in slices between which the page goes on, and handed to the browser.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use kubechurn_client::api::object::Object;
use kubechurn_model::kind_id::KindId;
use kubechurn_model::page::export::{Export, Format, file_name};

use crate::app::{Page, document};
use crate::browser::clock;

/// Rows written between two looks at the clock.
const SLICE: usize = 200;
/// How long is written without a break, in milliseconds: less than half of a frame.
const SHARE: f64 = 6.0;
/// How long the browser may take to begin with the file, in milliseconds.
const FETCHED: u32 = 60_000;

/// Begins to write rows, as they are now, whatever becomes of them meanwhile.
pub(super) fn begin(page: &Page, format: Format, rows: Vec<(KindId, Arc<Object>)>) {
    let time = String::from(js_sys::Date::new_0().to_iso_string()).replace([':', '-'], "");
    let name =
        file_name(&page.route.resource, &page.route.namespaces, time.split('.').next().unwrap_or_default(), format);
    let mut export = Export::new(format, &page.layout, rows, clock::wall());
    let this = page.this.clone();
    spawn_local(async move {
        let (parts, total) = (Array::new(), export.total());
        let mut began = clock::now();
        // Each slice leaves the program's memory at once: it never shrinks again.
        while let Some(text) = export.slice(SLICE) {
            parts.push(&JsValue::from_str(&text));
            if clock::now() - began >= SHARE {
                TimeoutFuture::new(0).await;
                began = clock::now();
            }
        }
        let words = match save(&parts, &name, format) {
            Some(()) => format!("Exported {total} rows: {name}"),
            None => String::from("The browser lets this page keep no file."),
        };
        if let Some(page) = this.upgrade() {
            page.borrow_mut().tell(&words, clock::now());
        }
    });
}

/// Hands the parts of a file to the browser, as a download.
fn save(parts: &Array, name: &str, format: Format) -> Option<()> {
    let options = BlobPropertyBag::new();
    options.set_type(format.media_type());
    let blob = Blob::new_with_str_sequence_and_options(parts, &options).ok()?;
    let url = Url::create_object_url_with_blob(&blob).ok()?;
    let anchor: HtmlAnchorElement = document()?.create_element("a").ok()?.dyn_into().ok()?;
    anchor.set_href(&url);
    anchor.set_download(name);
    anchor.click();
    spawn_local(async move {
        TimeoutFuture::new(FETCHED).await;
        // The file is on its way by now, or it never will be.
        let _ = Url::revoke_object_url(&url);
    });
    Some(())
}

/// Puts a text on the clipboard. Whether the browser let it.
pub(super) async fn copy(text: &str) -> bool {
    let clipboard = web_sys::window().map(|window| window.navigator().clipboard());
    // Outside https: and this machine's own address there is none.
    match clipboard.filter(|clipboard| !clipboard.is_undefined()) {
        Some(clipboard) => JsFuture::from(clipboard.write_text(text)).await.is_ok(),
        None => false,
    }
}
