//! The answer to a LIST, read as it comes: its items are cut out of the bytes without a look inside them.
//!
//! A [`ListReader`] takes the answer in pieces of any size and gives the text of each item as soon as the item is
//! complete. What it keeps is the beginning of whatever is not complete yet, and nothing else: an item that lies in one
//! piece is not copied.

use std::ops::Range;

use serde::de::Error as _;

use crate::api::object::{DecodeError, ResourceVersion, map};
use crate::json::{self, Text, ValueEnd};

/// An item that is longer than this, in bytes, is not read. It is the limit that frames of a watch have: servers refuse
/// objects of more than a few megabytes (etcd: 1.5, API servers: 3).
pub const LONGEST_ITEM: usize = 64_000_000;
/// The longest metadata of a list, in bytes. Continue tokens are the longest part of it, and have some hundred bytes.
const LONGEST_METADATA: usize = 1_000_000;
/// No member of a list that is read here has a longer name, in bytes, even if each letter is written as an escape.
const LONGEST_NAME: usize = 64;
/// Room for an incomplete item is kept for the next one up to this size, in bytes.
const KEPT: usize = 1 << 20;

/// What a list says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The list's version; all pages of one list repeat the first page's.
    pub resource_version: ResourceVersion,
    /// The token that asks for the next page; `None` on the last page.
    pub continue_token: Option<String>,
    /// How many items are still to come, where the server says so.
    pub remaining: Option<u64>,
}

impl ListMeta {
    /// Reads the text of a list's `metadata`.
    fn read(text: &str) -> Result<ListMeta, DecodeError> {
        let paths = ["resourceVersion", "continue", "remainingItemCount"];
        let [version, token, remaining, ..] = json::pick(map(text)?, &paths)?;
        let token = Text::read(token)?;
        Ok(ListMeta {
            resource_version: ResourceVersion::new(&Text::read(version)?),
            continue_token: (!token.is_empty()).then(|| token.0.into_owned()),
            remaining: remaining.parse().ok(),
        })
    }
}

/// A page as the server sent it.
#[derive(Debug)]
pub struct ListPage<'a> {
    /// What the page says of the list.
    pub meta: ListMeta,
    /// The text of each item. Built-in kinds omit `kind` and `apiVersion` here.
    pub items: Vec<&'a str>,
}

impl ListPage<'_> {
    /// How many items the list has from this page on; `None` where more are to come and the server does not say how
    /// many.
    pub fn total(&self) -> Option<u64> {
        let remaining = match &self.meta.continue_token {
            Some(_) => self.meta.remaining?,
            None => 0,
        };
        Some(remaining.saturating_add(self.items.len() as u64))
    }
}

/// Reads a page that is there as a whole.
///
/// # Errors
///
/// Those of [`ListReader`].
pub fn page(text: &str) -> Result<ListPage<'_>, DecodeError> {
    let (mut reader, mut items) = (ListReader::default(), Vec::new());
    let mut from = 0;
    while let Some(cut) = reader.cut(text.as_bytes(), &mut from)? {
        // The whole text is one piece, and items begin and end with characters of one byte.
        match cut {
            Cut::Here(range) => items.extend(text.get(range)),
            Cut::Kept | Cut::TooLong(_) => return Err(wrong("an item is too long")),
        }
    }
    Ok(ListPage { meta: reader.finish()?, items })
}

/// One item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListItem<'a> {
    /// Its text. Whether it is valid JSON shows when it is read.
    Text(&'a str),
    /// Its bytes, which are no UTF-8.
    NotText(&'a [u8]),
    /// It is longer than [`LONGEST_ITEM`], and was not kept. The number is its length in bytes.
    TooLong(usize),
}

/// Takes the bytes of a page in pieces, and gives each item when the item is complete.
///
/// The members may come in any order, as custom resources have their metadata after their items. HTML with status 200 is no
/// list, and neither is a Table, which has rows instead of items; `items: null` is an empty list, and a text without
/// `items` is no list. Items are cut by their strings and braces alone, so that an item which is no valid JSON costs only
/// itself as long as its braces match. Members that are not of interest are passed over in the same way.
///
/// ```
/// use kubechurn_client::api::list::{ListItem, ListReader};
///
/// let pieces: [&[u8]; 3] = [br#"{"metadata":{"resourceVersion":"9"},"items":[{"a":"#, br#"1},{"b":2}"#, b"]}"];
/// let (mut reader, mut items) = (ListReader::default(), Vec::new());
/// for mut piece in pieces {
///     while let Some(item) = reader.next(&mut piece)? {
///         let ListItem::Text(text) = item else { continue };
///         items.push(text.to_owned());
///     }
/// }
/// assert_eq!(items, [r#"{"a":1}"#, r#"{"b":2}"#]);
/// assert_eq!(reader.finish()?.resource_version.as_str(), "9");
/// # Ok::<(), kubechurn_client::api::object::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ListReader {
    position: Position,
    /// The end of the value that is being read.
    end: ValueEnd,
    /// What has come of the value that is being read, where the value began in an earlier piece.
    kept: Vec<u8>,
    /// How much of that value has come, whether or not it is kept.
    length: usize,
    /// Whether `kept` holds an item that was given.
    given: bool,
    /// How many bytes have been read.
    read: u64,
    /// What the list says of itself, once that has come.
    meta: Option<ListMeta>,
    /// Whether `items` has come, or has begun to come.
    has_items: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// The brace that begins the list.
    #[default]
    Start,
    /// The name of the first member, or the list's end.
    FirstMember,
    /// The name of a member.
    NextMember,
    /// The rest of a value.
    Within(Value),
    /// The colon after a member's name.
    Colon(Member),
    /// The value of a member.
    Member(Member),
    /// A comma, or the list's end.
    AfterMember,
    /// The first item, or the end of the items.
    FirstItem,
    /// An item.
    NextItem,
    /// A comma, or the end of the items.
    AfterItem,
    /// Nothing.
    End,
}

/// A value that is read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The name of a member.
    Name,
    /// The value of a member. That of `items` is read in this way only where it is no list.
    Of(Member),
    /// An item.
    Item,
}

/// A member of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Metadata,
    Items,
    Other,
}

/// Where an item is.
enum Cut {
    /// In this piece.
    Here(Range<usize>),
    /// In what is kept.
    Kept,
    /// Nowhere: it was too long.
    TooLong(usize),
}

impl ListReader {
    /// The next item that is complete with this piece, from whose front what was read is taken away. `None` means that the
    /// piece has been read to its end.
    ///
    /// # Errors
    ///
    /// When the bytes are no list. Nothing more is to be read then.
    pub fn next<'a, 'piece: 'a>(&'a mut self, piece: &mut &'piece [u8]) -> Result<Option<ListItem<'a>>, DecodeError> {
        let (whole, mut from): (&'piece [u8], usize) = (*piece, 0);
        let cut = self.cut(whole, &mut from);
        *piece = whole.get(from..).unwrap_or_default();
        let item = match cut? {
            None => return Ok(None),
            Some(Cut::Here(range)) => whole.get(range).unwrap_or_default(),
            Some(Cut::Kept) => &self.kept[..],
            Some(Cut::TooLong(bytes)) => return Ok(Some(ListItem::TooLong(bytes))),
        };
        Ok(Some(simdutf8::basic::from_utf8(item).map_or(ListItem::NotText(item), ListItem::Text)))
    }

    /// To be called when all pieces were read. Returns what the list says of itself.
    ///
    /// # Errors
    ///
    /// When the bytes that came were no complete list.
    pub fn finish(&mut self) -> Result<ListMeta, DecodeError> {
        if self.position != Position::End {
            return Err(wrong(format!("it ends after {} bytes, in the middle", self.read)));
        }
        if !self.has_items {
            return Err(wrong("it has no items"));
        }
        self.meta.take().ok_or_else(|| wrong("it has no metadata"))
    }

    /// [`ListReader::next`] that says where the item is. `from` is where the piece is to be read from, and then where
    /// reading ended.
    fn cut(&mut self, piece: &[u8], from: &mut usize) -> Result<Option<Cut>, DecodeError> {
        if std::mem::take(&mut self.given) {
            self.forget();
        }
        let before = self.read.saturating_sub(*from as u64);
        let cut = self.advance(piece, from, before);
        self.read = before + *from as u64;
        cut
    }

    /// `before` is how many bytes came before the piece.
    fn advance(&mut self, piece: &[u8], from: &mut usize, before: u64) -> Result<Option<Cut>, DecodeError> {
        loop {
            if let Position::Within(value) = self.position {
                let begin = *from;
                let rest = piece.get(begin..).unwrap_or_default();
                let Some(length) = self.end.find(rest) else {
                    self.keep(value, rest);
                    *from = piece.len();
                    return Ok(None);
                };
                *from = begin + length;
                if let Some(cut) = self.complete(value, piece, begin..*from)? {
                    return Ok(Some(cut));
                }
                continue;
            }
            let Some(&byte) = piece.get(*from) else { return Ok(None) };
            if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                *from += 1;
                continue;
            }
            let next = match (self.position, byte) {
                (Position::Start, b'{') => Position::FirstMember,
                (Position::FirstMember | Position::AfterMember, b'}') => Position::End,
                (Position::FirstMember | Position::NextMember, b'"') => Position::Within(Value::Name),
                (Position::AfterMember, b',') => Position::NextMember,
                (Position::Colon(member), b':') => Position::Member(member),
                (Position::Member(Member::Items), b'[') => Position::FirstItem,
                (Position::Member(member), _) => Position::Within(Value::Of(member)),
                (Position::FirstItem | Position::AfterItem, b']') => Position::AfterMember,
                (Position::FirstItem | Position::NextItem, _) => Position::Within(Value::Item),
                (Position::AfterItem, b',') => Position::NextItem,
                _ => return Err(unexpected(byte, before + *from as u64)),
            };
            self.position = next;
            match (next, ValueEnd::of(byte)) {
                // The first byte of a value is a part of it.
                (Position::Within(_), Some(end)) => self.end = end,
                (Position::Within(_), None) => return Err(unexpected(byte, before + *from as u64)),
                _ => *from += 1,
            }
        }
    }

    /// Keeps what has come of a value that goes on in the next piece.
    fn keep(&mut self, value: Value, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        if self.length <= longest(value) {
            self.kept.extend_from_slice(bytes);
        } else {
            self.kept = Vec::new();
        }
    }

    /// A value is complete with the bytes at `range`. Returns the item, where it is one.
    fn complete(&mut self, value: Value, piece: &[u8], range: Range<usize>) -> Result<Option<Cut>, DecodeError> {
        let is_here = self.length == 0;
        if !is_here {
            self.keep(value, piece.get(range.clone()).unwrap_or_default());
        }
        let length = self.length.max(range.len());
        let is_too_long = length > longest(value);
        if value == Value::Item {
            self.position = Position::AfterItem;
            self.given = !is_here;
            return Ok(Some(match is_here {
                _ if is_too_long => Cut::TooLong(length),
                true => Cut::Here(range),
                false => Cut::Kept,
            }));
        }
        let bytes = if is_here { piece.get(range).unwrap_or_default() } else { &self.kept[..] };
        match value {
            Value::Of(Member::Metadata) if is_too_long => return Err(wrong("its metadata is too long")),
            Value::Of(Member::Metadata) => self.meta = Some(ListMeta::read(std::str::from_utf8(bytes)?)?),
            Value::Of(Member::Items) if bytes != b"null" => return Err(wrong("its items are no list")),
            Value::Of(_) | Value::Item | Value::Name => {}
        }
        self.position = match value {
            Value::Name if is_too_long => Position::Colon(Member::Other),
            Value::Name => Position::Colon(Self::named(bytes, self.meta.is_some(), self.has_items)?),
            Value::Of(_) | Value::Item => Position::AfterMember,
        };
        self.has_items |= self.position == Position::Colon(Member::Items);
        self.forget();
        Ok(None)
    }

    /// The member of this name, which is given with its quotation marks. A member that is read must not come twice.
    fn named(name: &[u8], has_metadata: bool, has_items: bool) -> Result<Member, DecodeError> {
        let escaped: Text<'_>;
        let name = match name {
            _ if name.contains(&b'\\') => {
                escaped = serde_json::from_slice(name)?;
                escaped.as_bytes()
            }
            [_, name @ .., _] => name,
            _ => name,
        };
        match name {
            b"metadata" if !has_metadata => Ok(Member::Metadata),
            b"items" if !has_items => Ok(Member::Items),
            b"metadata" | b"items" => Err(wrong(format!("it has {} twice", String::from_utf8_lossy(name)))),
            _ => Ok(Member::Other),
        }
    }

    fn forget(&mut self) {
        self.length = 0;
        self.kept.clear();
        if self.kept.capacity() > KEPT {
            self.kept = Vec::new();
        }
    }
}

/// The byte at this place of the page cannot be there.
fn unexpected(byte: u8, at: u64) -> DecodeError {
    match at {
        0 => wrong("a JSON object was expected"),
        _ if byte.is_ascii_graphic() => wrong(format!("{:?} at byte {at}", char::from(byte))),
        _ => wrong(format!("{byte:#04x} at byte {at}")),
    }
}

/// How long a value may be.
fn longest(value: Value) -> usize {
    match value {
        Value::Name => LONGEST_NAME,
        Value::Of(Member::Metadata) => LONGEST_METADATA,
        // Only `null` is of interest.
        Value::Of(Member::Items) => LONGEST_NAME,
        // Nothing is kept.
        Value::Of(Member::Other) => 0,
        Value::Item => LONGEST_ITEM,
    }
}

fn wrong(words: impl std::fmt::Display) -> DecodeError {
    DecodeError::Json(serde_json::Error::custom(words))
}

#[cfg(test)]
mod tests;
