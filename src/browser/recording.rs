//! The bytes of a recording: what the browser compresses and unpacks, and the file that the user chooses.

use gloo_net::http::Request;
use js_sys::{ArrayBuffer, Function, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DragEvent, Event, EventTarget, File, FileList, HtmlInputElement, ReadableStream, ReadableStreamDefaultReader,
    RequestMode, WritableStream, WritableStreamDefaultWriter,
};

use kubechurn_recording::member;

use crate::browser::document;
use crate::browser::task::{self, Work};

/// How many bytes a transformer is given at once.
const AT_ONCE: usize = 1 << 16;

/// What goes through one of the browser's transformers, such as `CompressionStream`, which take the name of a format.
fn through(blob: &Blob, transformer: &str) -> Option<ReadableStreamDefaultReader> {
    let class = Reflect::get(&js_sys::global(), &transformer.into()).ok()?.dyn_into::<Function>().ok()?;
    let made = Reflect::construct(&class, &js_sys::Array::of1(&"gzip".into())).ok()?;
    let side = |name: &str| Reflect::get(&made, &name.into()).ok();
    let writer = side("writable")?.dyn_into::<WritableStream>().ok()?.get_writer().ok()?;
    let reader = side("readable")?.dyn_into::<ReadableStream>().ok()?.get_reader().dyn_into().ok()?;
    task::spawn(write_pieces(blob.clone(), writer));
    Some(reader)
}

/// Gives a transformer what it is to transform in pieces, with other tasks between them: the browser transforms all that is there in
/// one task.
async fn write_pieces(blob: Blob, writer: WritableStreamDefaultWriter) {
    let (size, mut work) = (blob.size() as usize, Work::begin());
    for from in (0..size).step_by(AT_ONCE) {
        let Some(piece) = piece(&blob, from, size.min(from + AT_ONCE)).await else {
            // Whoever reads what was made gets an error in place of an end.
            let _ = JsFuture::from(writer.abort()).await;
            return;
        };
        if JsFuture::from(writer.write_with_chunk(&piece)).await.is_err() {
            return;
        }
        work.pause().await;
    }
    let _ = JsFuture::from(writer.close()).await;
}

/// Everything that a stream has, up to its end or to an error; and whether it came to its end.
async fn all(reader: &ReadableStreamDefaultReader) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    loop {
        let Ok(next) = JsFuture::from(reader.read()).await else { return (bytes, false) };
        let get = |name: &str| Reflect::get(&next, &name.into()).unwrap_or(JsValue::UNDEFINED);
        if get("done").is_truthy() {
            return (bytes, true);
        }
        let Ok(chunk) = get("value").dyn_into::<Uint8Array>() else { return (bytes, false) };
        bytes.extend(chunk.to_vec());
    }
}

/// A block of these lines, compressed. `None` where the browser cannot compress.
pub async fn packed(lines: &[u8]) -> Option<Vec<u8>> {
    compressed(&Blob::new_with_u8_array_sequence(&js_sys::Array::of1(&Uint8Array::from(lines))).ok()?).await
}

/// The same of lines in a file.
pub async fn compressed(lines: &Blob) -> Option<Vec<u8>> {
    let (plain, is_whole) = all(&through(lines, "CompressionStream")?).await;
    member::framed(&plain).filter(|_| is_whole)
}

async fn piece(blob: &Blob, from: usize, to: usize) -> Option<Uint8Array> {
    let part = blob.slice_with_f64_and_f64(from as f64, to as f64).ok()?;
    let buffer = JsFuture::from(part.array_buffer()).await.ok()?.dyn_into::<ArrayBuffer>().ok()?;
    Some(Uint8Array::new(&buffer))
}

async fn bytes(blob: &Blob, from: usize, to: usize) -> Option<Vec<u8>> {
    piece(blob, from, to).await.map(|piece| piece.to_vec())
}

/// How many bytes of a text are read at once.
const PIECE: usize = 1 << 20;
/// The longest line of a text that is read.
const LONGEST: usize = 32 << 20;

/// Whole lines of a text from a byte of a file on, as many as are read at once, and where the next ones begin. `None` at the end.
///
/// # Errors
///
/// When the browser cannot read the file.
pub async fn lines(file: &Blob, from: usize) -> Result<Option<(String, usize)>, &'static str> {
    let (size, mut length) = (file.size() as usize, PIECE);
    if from >= size {
        return Ok(None);
    }
    loop {
        let end = size.min(from + length);
        let bytes = bytes(file, from, end).await.ok_or("the file cannot be read")?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // What is too long is no line of a log.
        let used = if end == size || (whole == 0 && length > LONGEST) { bytes.len() } else { whole };
        if used > 0 {
            return Ok(Some((String::from_utf8_lossy(&bytes[..used]).into_owned(), from + used)));
        }
        length *= 4;
    }
}

/// The lines of the block that begins at a byte of a file, as far as they are there, and where the next one begins. `None` at the
/// end of the file.
///
/// # Errors
///
/// When the browser cannot read the file, or cannot unpack.
pub async fn block(file: &Blob, from: usize) -> Result<Option<(String, usize)>, &'static str> {
    let size = file.size() as usize;
    if from >= size {
        return Ok(None);
    }
    let head = bytes(file, from, size.min(from + member::HEAD)).await.ok_or("the file cannot be read")?;
    if !member::is_gzip(&head) {
        return Err("it is not compressed by gzip, as a recording is");
    }
    let end = member::length(&head).map_or(size, |length| from.saturating_add(length).min(size));
    let part = file.slice_with_f64_and_f64(from as f64, end as f64).map_err(|_| "the file cannot be read")?;
    let reader = through(&part, "DecompressionStream").ok_or("this browser cannot unpack gzip")?;
    let (bytes, is_unpacked) = all(&reader).await;
    // Of a member that breaks off, what comes before is right, and the rest is not there.
    if !is_unpacked && member::length(&head) == Some(end - from) {
        return Err(member::SPOILED);
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
    Ok(Some((text, end)))
}

/// The file at an address of the page's own origin.
///
/// # Errors
///
/// When there is none, or the server does not give it.
pub async fn fetched(url: &str) -> Result<Blob, String> {
    // A redirection to another origin fails.
    let request = Request::get(url).mode(RequestMode::SameOrigin);
    let response = request.send().await.map_err(|_| String::from("there was no answer"))?;
    if !response.ok() {
        return Err(format!("the answer was {} {}", response.status(), response.status_text()).trim_end().to_owned());
    }
    let blob = web_sys::Response::from(response).blob().map(JsFuture::from).map_err(|_| "the answer has no body")?;
    blob.await.and_then(JsCast::dyn_into).map_err(|_| String::from("the answer broke off"))
}

/// Has the user choose a file, and hands it over.
pub fn choose(chosen: impl Fn(File) + 'static) {
    let Some(input) = document().and_then(|document| document.create_element("input").ok()) else { return };
    let Ok(input) = input.dyn_into::<HtmlInputElement>() else { return };
    input.set_type("file");
    input.set_accept(".churn,application/gzip,.log,.json,.jsonl");
    let own = input.clone();
    let change = Closure::once_into_js(move || own.files().and_then(|files| files.get(0)).into_iter().for_each(chosen));
    let _ = input.add_event_listener_with_callback("change", change.unchecked_ref());
    input.click();
}

/// Hands over each file that is dropped on the page.
pub fn dropped(window: &EventTarget, chosen: impl Fn(File) + 'static) {
    let files = |event: &Event| -> Option<FileList> { event.dyn_ref::<DragEvent>()?.data_transfer()?.files() };
    // A browser leaves the page for the file, unless the page says that it takes it.
    let over = Closure::<dyn FnMut(Event)>::new(|event: Event| {
        let types = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer).map(|data| data.types());
        if types.is_some_and(|types| types.includes(&"Files".into(), 0)) {
            event.prevent_default();
        }
    });
    let drop = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        if let Some(file) = files(&event).and_then(|files| files.get(0)) {
            event.prevent_default();
            chosen(file);
        }
    });
    // The page lives as long as the document.
    let _ = window.add_event_listener_with_callback("dragover", over.as_ref().unchecked_ref());
    let _ = window.add_event_listener_with_callback("drop", drop.as_ref().unchecked_ref());
    over.forget();
    drop.forget();
}
