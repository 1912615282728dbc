//! The one reader of JSON text. Nothing is copied out of the text but strings with escapes, and no tree of values is built.
//!
//! There are two ways over a value. What is *checked* is accepted and rejected exactly as `serde_json` does: a frame goes
//! this way once, when its cells are read ([`from_str`], [`pick`], [`each_member`], [`each_item`]). What is *skimmed* ends
//! where its brackets say, and is for texts that were checked before ([`Cursor`], [`members`], [`items`], [`member`]) or
//! that are cut out of a list ([`ValueEnd`]). In both ways:
//!
//! - Names are compared as what they mean: `"a"` and `"\u0061"` are one name.
//! - Of two members with one name the last counts, as in Go and in `serde_json`'s maps; where members become fields of a
//!   struct, two of one name are an error, as for serde.
//! - Half of a surrogate pair is an error wherever the string is decoded. A server never sends one: Go writes U+FFFD.
//! - Numbers are texts until somebody asks for a type. One that is too large for it is an error, and never infinite.
//! - What is passed over may be nested as deep as it likes, and what serde reads 127 levels, as in `serde_json`.
//! - No text makes these functions panic.

mod brackets;
mod common;
mod cursor;
mod pick;
mod pieces;
mod reader;
mod scan;
mod string;
mod text;

pub use common::common;
pub use cursor::{
    Cursor, Items, Member, Members, Pair, first, integer, is_value, items, member, members, named, value_at,
};
pub use pick::{MOST, each_item, each_member, pick};
pub(crate) use pieces::ValueEnd;
pub use reader::from_str;
pub use string::unescaped;
pub use text::Text;
