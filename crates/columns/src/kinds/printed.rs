//! Kinds described as data: for each column, where its value is in an object, and how the value is printed.
//!
//! About fifty kinds with a decoder each would be the larger part of the program. Only Pods and Events, of which clusters
//! have most, have their own decoder; the others share [`read`]. For the same reason, the elements of a list are read by
//! [`Fields::each`], and not into structs for which serde writes code.

use serde::Deserialize;
use serde_json::{Error, Result};

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::{DecodeError, Meta, Object};
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::Text;

use super::parts::{Count, text};
use crate::column::{Column, StatePart};
use kubechurn_client::json;

/// A column and how its cells are printed.
#[derive(Clone, Copy)]
pub struct Printed {
    column: Column,
    /// The paths of the values that the column prints. A path is a list of member names with spaces between.
    from: &'static [&'static str],
    print: fn(&Fields<'_, '_>) -> Result<Cell>,
}

/// A column of words, printed from the values at some paths.
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
    /// This column, but shown only on demand.
    pub const fn on_demand(self) -> Printed {
        Printed { column: self.column.on_demand(), ..self }
    }

    /// This column, which says this of the object's state.
    pub const fn of_state(self, state: StatePart) -> Printed {
        Printed { column: self.column.of_state(state), ..self }
    }
}

/// The columns, without how they are printed.
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

/// CREATED AT, for kinds that the server has no columns for (`NewDefaultTableConvertor`, apiserver
/// `pkg/registry/rest/table.go`): the time as it is in the text.
pub const CREATED_AT: Printed = words("CREATED AT", &[], |fields| Ok(text(&fields.meta.creation_timestamp)));

/// The paths of [`Meta`]'s fields, in the order of the fields.
const META: [&str; 7] = [
    "metadata name",
    "metadata namespace",
    "metadata uid",
    "metadata resourceVersion",
    "metadata creationTimestamp",
    "metadata deletionTimestamp",
    "metadata ownerReferences",
];

/// Reads an object of a kind with these columns.
///
/// # Errors
///
/// When the text is no object, or a value is not of the type that its column prints.
pub fn read(text: &str, printed: &[Printed]) -> std::result::Result<Object, DecodeError> {
    let paths: Vec<&str> = META.iter().chain(printed.iter().flat_map(|one| one.from)).copied().collect();
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

/// What is done with the values at some paths of a map.
pub type Visit<'v, 'de> = &'v mut dyn FnMut(&Fields<'_, 'de>) -> Result<()>;

/// The values that a column prints, in the order of its paths.
pub struct Fields<'f, 'de> {
    from: &'static [&'static str],
    /// The texts of the values; empty for a missing value.
    found: &'f [&'de str],
    /// The object's metadata.
    pub meta: &'f Meta<'de>,
}

impl<'de> Fields<'_, 'de> {
    /// Whether the value is present and not `null`.
    pub fn is_set(&self, at: usize) -> bool {
        !matches!(self.found[at], "" | "null")
    }

    /// The value; the type's default if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is not of the type. The error names the path.
    pub fn value<T: Default + Deserialize<'de>>(&self, at: usize) -> Result<T> {
        match self.is_set(at) {
            true => json::from_str(self.found[at]).map_err(|error| self.wrong(at, &error)),
            false => Ok(T::default()),
        }
    }

    /// Calls `visit` with the values at some paths of the map that the value is; all of them are missing where the value is.
    ///
    /// # Errors
    ///
    /// When the value is no map, or `visit` fails. The error names the path.
    pub fn map(&self, at: usize, paths: &'static [&'static str], visit: Visit<'_, 'de>) -> Result<()> {
        let text = if self.is_set(at) { self.found[at] } else { "null" };
        self.visit(text, paths, visit).map_err(|error| self.wrong(at, &error))
    }

    /// Calls `visit` with the values at some paths of each map in the list that the value is; `null` in the list is a map
    /// without members.
    ///
    /// # Errors
    ///
    /// When the value is no list of maps, or `visit` fails. The error names the path.
    pub fn each(&self, at: usize, paths: &'static [&'static str], visit: Visit<'_, 'de>) -> Result<()> {
        json::each_item(self.found[at], &mut |text| self.visit(text, paths, visit))
            .map_err(|error| self.wrong(at, &error))
    }

    fn visit(&self, text: &'de str, paths: &'static [&'static str], visit: Visit<'_, 'de>) -> Result<()> {
        let found = json::pick(text, paths)?;
        visit(&Fields { from: paths, found: &found[..paths.len()], meta: self.meta })
    }

    /// The value as text; empty if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is no text.
    pub fn words(&self, at: usize) -> Result<Text<'de>> {
        self.value(at)
    }

    /// The number of members of a map. None of the members' values is decoded.
    ///
    /// # Errors
    ///
    /// When the value is no map.
    pub fn members(&self, at: usize) -> Result<i64> {
        let mut count = 0;
        json::each_member(self.found[at], &mut |_, _| count += 1).map_err(|error| self.wrong(at, &error))?;
        Ok(count)
    }

    #[cold]
    fn wrong(&self, at: usize, error: &Error) -> Error {
        serde::de::Error::custom(format_args!("{}: {error}", self.from[at]))
    }

    /// The first value as text, or `otherwise` if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is no text.
    pub fn text(&self, otherwise: &'static str) -> Result<Cell> {
        match self.is_set(0) {
            true => self.value::<Text<'_>>(0).map(|found| text(&found)),
            false => Ok(Cell::Static(otherwise)),
        }
    }

    /// The first value as a number, or `otherwise` if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is no number.
    pub fn number_or(&self, otherwise: &'static str) -> Result<Cell> {
        if self.is_set(0) { number(self) } else { Ok(Cell::Static(otherwise)) }
    }

    /// The first value as Go prints a boolean; `otherwise` if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is no boolean.
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
/// When the value is no number.
pub fn number(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.value(0).map(Cell::Number)
}

/// Prints the number of elements of the first value.
///
/// # Errors
///
/// When the value is no list.
pub fn count(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.value(0).map(|Count(count)| Cell::Number(count))
}

/// What a column of booleans prints for true. In the server's Tables such cells are JSON booleans, not texts.
pub const TRUE: &str = "true";
/// What a column of booleans prints for false.
pub const FALSE: &str = "false";

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What a column prints for one value, which is given as text; `None` if it refuses the value.
    pub(in crate::kinds) fn print(print: fn(&Fields<'_, '_>) -> Result<Cell>, text: &str) -> Option<Cell> {
        print(&Fields { from: &["value"], found: &[text], meta: &Meta::default() }).ok()
    }

    #[test]
    fn an_error_names_the_way_to_the_value() {
        let nothing = Meta::default();
        let fields = Fields {
            from: &["spec ports"],
            found: &[r#"[{"port":{"number":1}},{"port":{"number":"2"}}]"#],
            meta: &nothing,
        };
        let mut sum = 0;
        let result = fields.each(0, &["port"], &mut |one| {
            one.map(0, &["number", "name"], &mut |port| {
                assert_eq!(port.words(1)?.len(), 0);
                port.value::<i64>(0).map(|number| sum += number)
            })
        });
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("spec ports: port: number: invalid type"), "{error}");
        assert_eq!(sum, 1);
    }
}
