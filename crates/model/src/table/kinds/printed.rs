//! Kinds told as data: for each column where its value stands in an object, and how it is printed.
//!
//! A decoder of its own for each of some fifty kinds would be the larger part of the page. Kinds of which a cluster
//! has a great many objects (Pods, Events, …) have one; the others share [`read`].

use serde::Deserialize;
use serde_json::{Error, Result};

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::{DecodeError, Meta, Object};
use kubechurn_client::api::text::Text;
use kubechurn_client::api::time::Timestamp;

use super::parts::{Count, Structure, text};
use crate::table::column::Column;
use crate::table::json;

/// One column.
#[derive(Clone, Copy)]
pub struct Printed {
    column: Column,
    /// The paths of the values that it prints, each the names of members with a space between.
    from: &'static [&'static str],
    print: fn(&Fields<'_, '_>) -> Result<Cell>,
}

/// A column of words that prints the values at some paths.
pub const fn words(
    title: &'static str,
    from: &'static [&'static str],
    print: fn(&Fields<'_, '_>) -> Result<Cell>,
) -> Printed {
    Printed { column: Column::words(title), from, print }
}

/// A column of numbers or times.
pub const fn figures(
    title: &'static str,
    from: &'static [&'static str],
    print: fn(&Fields<'_, '_>) -> Result<Cell>,
) -> Printed {
    Printed { column: Column::figures(title), from, print }
}

impl Printed {
    /// The same column, shown on demand only.
    pub const fn on_demand(self) -> Printed {
        Printed { column: self.column.on_demand(), ..self }
    }
}

/// The columns alone.
pub const fn columns<const N: usize>(printed: &[Printed; N]) -> [Column; N] {
    let mut columns = [Column::words(""); N];
    let (mut at, mut paths) = (0, META.len());
    while at < N {
        columns[at] = printed[at].column;
        paths += printed[at].from.len();
        at += 1;
    }
    assert!(paths <= json::MOST, "more paths than are searched for at once");
    columns
}

/// AGE, which most kinds have.
pub const AGE: Printed =
    figures("AGE", &[], |fields| Ok(Cell::Age(Timestamp::parse_set(&fields.meta.creation_timestamp))));

/// CREATED AT, of kinds that the server has no columns for (`NewDefaultTableConvertor`, apiserver
/// `pkg/registry/rest/table.go`): the time as it is written.
pub const CREATED_AT: Printed = words("CREATED AT", &[], |fields| Ok(text(&fields.meta.creation_timestamp)));

/// Where [`Meta`] finds its fields, in their order.
const META: [&str; 7] = [
    "metadata name",
    "metadata namespace",
    "metadata uid",
    "metadata resourceVersion",
    "metadata creationTimestamp",
    "metadata deletionTimestamp",
    "metadata ownerReferences",
];

/// Reads an object of a kind whose columns these are.
///
/// # Errors
///
/// When the text is no object, or a value is not of the type that its column prints.
pub fn read(text: &str, printed: &[Printed]) -> std::result::Result<Object, DecodeError> {
    let mut paths = [""; json::MOST];
    let all = META.iter().chain(printed.iter().flat_map(|one| one.from));
    paths.iter_mut().zip(all).for_each(|(place, path)| *place = *path);
    let found = json::pick(text, &paths)?;
    let (metadata, mut rest) = found.split_at(META.len());
    let nothing = Meta::default();
    let of_meta = Fields { from: &META, found: metadata, meta: &nothing };
    let meta = Meta {
        name: of_meta.value(0)?,
        namespace: of_meta.value(1)?,
        uid: of_meta.value(2)?,
        resource_version: of_meta.value(3)?,
        creation_timestamp: of_meta.value(4)?,
        deletion_timestamp: of_meta.value(5)?,
        owner_references: of_meta.value(6)?,
    };
    let mut cells = Vec::with_capacity(printed.len());
    for one in printed {
        let (found, others) = rest.split_at(one.from.len());
        rest = others;
        cells.push((one.print)(&Fields { from: one.from, found, meta: &meta })?);
    }
    meta.into_object(&cells).ok_or(DecodeError::NoName)
}

/// The values that a column prints, by the places of their paths.
pub struct Fields<'f, 'de> {
    from: &'static [&'static str],
    /// As they stand in the text; empty for what is not there.
    found: &'f [&'de str],
    /// The object's metadata.
    pub meta: &'f Meta<'de>,
}

impl<'de> Fields<'_, 'de> {
    /// Whether there is a value, and not `null`.
    pub fn is_set(&self, at: usize) -> bool {
        !matches!(self.found[at], "" | "null")
    }

    /// A value; the default where there is none.
    ///
    /// # Errors
    ///
    /// When it is not of the type. The error names the path.
    pub fn value<T: Default + Deserialize<'de>>(&self, at: usize) -> Result<T> {
        match self.is_set(at) {
            true => json::from_str(self.found[at]).map_err(|error| self.wrong(at, &error)),
            false => Ok(T::default()),
        }
    }

    /// A struct's members; the defaults where there is none.
    ///
    /// # Errors
    ///
    /// As [`Fields::value`].
    pub fn structure<T: Default + Deserialize<'de>>(&self, at: usize) -> Result<T> {
        self.value(at).map(|Structure(fields)| fields)
    }

    /// How many members a map has. None of its values is read.
    ///
    /// # Errors
    ///
    /// When it is no map.
    pub fn members(&self, at: usize) -> Result<i64> {
        json::members(self.found[at]).map_err(|error| self.wrong(at, &error))
    }

    #[cold]
    fn wrong(&self, at: usize, error: &Error) -> Error {
        serde::de::Error::custom(format_args!("{}: {error}", self.from[at]))
    }

    /// The first value as it is, or `otherwise` where there is none.
    ///
    /// # Errors
    ///
    /// When it is no text.
    pub fn text(&self, otherwise: &'static str) -> Result<Cell> {
        match self.is_set(0) {
            true => self.value::<Text<'_>>(0).map(|found| text(&found)),
            false => Ok(Cell::Static(otherwise)),
        }
    }

    /// The first value as a number, or `otherwise` where there is none.
    ///
    /// # Errors
    ///
    /// When it is no number.
    pub fn number_or(&self, otherwise: &'static str) -> Result<Cell> {
        if self.is_set(0) { number(self) } else { Ok(Cell::Static(otherwise)) }
    }

    /// The first value as Go prints a truth, which is `otherwise` where nothing is said.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn flag(&self, otherwise: bool) -> Result<Cell> {
        let truth = self.value::<Option<bool>>(0)?.unwrap_or(otherwise);
        Ok(Cell::Static(if truth { TRUE } else { FALSE }))
    }

    /// Whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        !self.meta.deletion_timestamp.is_empty()
    }
}

/// Prints the first value as a number.
///
/// # Errors
///
/// When it is none.
pub fn number(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.value(0).map(Cell::Number)
}

/// Prints how many elements the first value has.
///
/// # Errors
///
/// When it is no list.
pub fn count(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.value(0).map(|Count(count)| Cell::Number(count))
}

/// What a column of truths prints: in the server's Tables these are JSON's truths, and no texts.
pub const TRUE: &str = "true";
/// The other one.
pub const FALSE: &str = "false";
