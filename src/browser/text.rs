//! Copies the browser's strings into wasm's memory.
//!
//! What wasm-bindgen generates for a string that becomes a `String` asks for one character after the other, and
//! takes longer for a watch frame than reading the frame does. The browser's own encoder is several times as fast.

use js_sys::{Array, Function, JsString, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::{JsCast, JsValue};

/// Room for one string at a time, reused for the next. Whoever has read a string wipes it, because it may be a Secret's.
#[derive(Debug)]
pub struct Transcript {
    encoder: JsValue,
    encode_into: Function,
    bytes: Vec<u8>,
    /// `bytes`, as the browser sees them; worth nothing once wasm's memory has grown.
    view: Uint8Array,
    /// How large wasm's memory was when the view was made, in pages; 0 for no view.
    pages: usize,
}

/// No byte of UTF-8 has this value.
const NEVER: u8 = 0xff;
/// The longest encoding of one character, in bytes.
const LONGEST: usize = 4;
/// For strings of this many bytes and more, no more room is taken than they need.
const LARGE: usize = 1 << 20;
/// A room of this many bytes is always kept for the next string.
const KEPT: usize = 1 << 16;

impl Default for Transcript {
    fn default() -> Transcript {
        let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let constructor = get(&js_sys::global(), "TextEncoder").unchecked_into::<Function>();
        let encoder = Reflect::construct(&constructor, &Array::new()).unwrap_or(JsValue::UNDEFINED);
        let encode_into = get(&encoder, "encodeInto").unchecked_into();
        Transcript { encoder, encode_into, bytes: Vec::new(), view: Uint8Array::new_with_length(0), pages: 0 }
    }
}

/// A string that is not copied, for it is longer than was allowed: it has at least so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(pub usize);

impl Transcript {
    /// The string as UTF-8; a lone surrogate, which no socket delivers, becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// When it has more than `most` bytes. No more room than that is ever taken.
    pub fn read(&mut self, text: &JsString, most: usize) -> Result<&mut [u8], TooLong> {
        let length = text.length() as usize;
        // No character takes less than a byte for each of the string's units.
        if length > most {
            return Err(TooLong(length));
        }
        self.make_room(length + LONGEST);
        // As many bytes as characters are written exactly if every one is ASCII, as nearly always. Asking the
        // encoder for how many it wrote would cost as much as a kilobyte.
        self.bytes[length] = NEVER;
        self.encode(text);
        if self.bytes[length] == NEVER {
            return Ok(&mut self.bytes[..length]);
        }
        // A unit of the string is at most three bytes, and a pair of them four. One byte more than is allowed shows
        // whether it is too long.
        self.make_room((3 * length).min(most + LONGEST));
        let counts = self.encode(text);
        let number = |name: &str| {
            let number = counts.as_ref().and_then(|counts| Reflect::get(counts, &name.into()).ok());
            number.and_then(|number| number.as_f64()).unwrap_or(0.0) as usize
        };
        let (read, written) = (number("read"), number("written").min(self.bytes.len()));
        if read < length || written > most {
            return Err(TooLong(written + length.saturating_sub(read)));
        }
        Ok(&mut self.bytes[..written])
    }

    fn encode(&self, text: &JsString) -> Option<JsValue> {
        self.encode_into.call2(&self.encoder, text, &self.view).ok()
    }

    fn make_room(&mut self, length: usize) {
        let much = self.bytes.len() > KEPT && self.bytes.len() / 16 > length;
        if self.bytes.len() < length || much {
            // The old room goes first. A power of two spares small strings their growth; of a large one it would be
            // up to twice what is needed.
            self.bytes = Vec::new();
            let room = if length > LARGE { length } else { length.max(KEPT).next_power_of_two() };
            self.bytes = vec![0; room];
            self.pages = 0;
        }
        let pages = core::arch::wasm32::memory_size::<0>();
        if self.pages != pages {
            self.pages = pages;
            let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
            let (at, length) = (self.bytes.as_mut_ptr() as u32, self.bytes.len() as u32);
            self.view = Uint8Array::new_with_byte_offset_and_length(&memory.buffer(), at, length);
        }
    }
}
