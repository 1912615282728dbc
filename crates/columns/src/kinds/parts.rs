//! Pieces of objects that several kinds read. Only data that a column shows is kept.

use std::fmt::{self, Write};
use std::iter::once;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::json::Text;

use kubechurn_client::json;

/// What kubectl prints for an empty value.
pub const NONE: Cell = Cell::Static("<none>");

/// A cell with this text.
pub fn text(text: &str) -> Cell {
    Cell::Text(text.into())
}

/// A cell with this text, or with `otherwise` if the text is empty.
pub fn text_or(text: &str, otherwise: &'static str) -> Cell {
    if text.is_empty() { Cell::Static(otherwise) } else { Cell::Text(text.into()) }
}

/// Reads an object of a kind.
///
/// # Errors
///
/// When the text is no JSON, or not of the shape that `T` expects.
pub fn parse<'a, T: Default + Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    json::from_str(text).map(|Structure(object)| object)
}

/// Reads `null` as the zero value, as Go does: for `#[serde(deserialize_with)]`.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a struct from a map or `null`, and from nothing else: for `#[serde(deserialize_with)]`.
///
/// What serde derives for a struct also accepts a list of the fields, so that `"spec":[]` would be accepted.
pub fn structure<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Structure::deserialize(deserializer).map(|Structure(fields)| fields)
}

/// Reads a struct that may be absent: for `#[serde(deserialize_with)]`.
pub fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.map(|Structure(fields)| fields))
}

/// Reads a list of structs, or `null` as none: for `#[serde(deserialize_with)]`.
pub fn structures<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    let mut list = Vec::new();
    deserializer.deserialize_any(ListVisitor(|Structure(fields)| list.push(fields), PhantomData))?;
    Ok(list)
}

/// A struct whose text is a map or `null`.
#[derive(Debug, Default)]
pub struct Structure<T>(pub T);

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Structure<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StructureVisitor<T>(PhantomData<T>);

        impl<'de, T: Default + Deserialize<'de>> Visitor<'de> for StructureVisitor<T> {
            type Value = Structure<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Structure(T::default()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Structure)
            }
        }

        deserializer.deserialize_any(StructureVisitor(PhantomData))
    }
}

/// The number of elements of a list. No element is decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count(pub i64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut count = Count::default();
        deserializer.deserialize_any(ListVisitor(|_: IgnoredAny| count.0 += 1, PhantomData))?;
        Ok(count)
    }
}

/// The first element of a list; the others are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct First<T>(pub Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FirstVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
            type Value = First<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(First(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let first = list.next_element()?;
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }

        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

/// Calls a function with each element of a list; `null` is a list of none.
pub(super) struct ListVisitor<F, T>(pub F, pub PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for ListVisitor<F, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list or null")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }
}

/// A map, in the order of the text; `null` is an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<'a, V>(pub Vec<(Text<'a>, V)>);

/// A map of labels.
pub type Labels<'a> = Map<'a, Text<'a>>;

impl<V> Default for Map<'_, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Map<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for MapVisitor<V> {
            type Value = Map<'de, V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Map::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Map(members))
            }
        }

        deserializer.deserialize_any(MapVisitor(PhantomData))
    }
}

impl Labels<'_> {
    /// `a=1,b=2`, or `<none>`.
    ///
    /// Sorted by the printed pairs and not by the keys, so that `a-b=` stands before `a=`: `FormatLabels` and
    /// `Set.String` in apimachinery `labels/labels.go`. Label selectors differ.
    pub fn into_cell(mut self) -> Cell {
        if self.0.is_empty() {
            return NONE;
        }
        fn printed<'t>((key, value): &'t (Text<'_>, Text<'_>)) -> impl Iterator<Item = u8> + 't {
            key.bytes().chain(once(b'=')).chain(value.bytes())
        }
        sort_by(&mut self.0, |one, two| printed(one).cmp(printed(two)));
        let mut joined = String::with_capacity(self.0.iter().map(|(key, value)| key.len() + value.len() + 2).sum());
        for (key, value) in &self.0 {
            push_after_comma(&mut joined, key);
            joined.push('=');
            joined.push_str(value);
        }
        Cell::Text(joined.into())
    }
}

/// The first three texts with commas between, and how many more there are.
#[derive(Debug, Default)]
pub struct FirstThree {
    joined: String,
    count: usize,
}

impl FirstThree {
    /// How many texts are shown.
    const SHOWN: usize = 3;

    /// Adds a text.
    pub fn add(&mut self, text: &str) {
        if self.count < FirstThree::SHOWN {
            if self.count > 0 {
                self.joined.push(',');
            }
            self.joined.push_str(text);
        }
        self.count += 1;
    }

    /// The cell; `None` if nothing would be printed.
    pub fn into_cell(mut self) -> Option<Cell> {
        if self.count > FirstThree::SHOWN {
            // Writing to a String cannot fail.
            let _ = write!(self.joined, " + {} more...", self.count - FirstThree::SHOWN);
        }
        (!self.joined.is_empty()).then(|| Cell::Text(self.joined.into()))
    }
}

/// Texts joined by a separator.
pub fn join<T: AsRef<str>>(all: impl IntoIterator<Item = T>, separator: &str) -> Cell {
    let mut joined = String::new();
    for (at, one) in all.into_iter().enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        joined.push_str(one.as_ref());
    }
    Cell::Text(joined.into())
}

/// A text, or a number that is read as a text: servers write quantities and percentages in either way.
#[derive(Debug, Default)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;

        impl Visitor<'_> for ScalarVisitor {
            type Value = Scalar;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string, a number or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Scalar(String::from("0")))
            }

            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Scalar(value.to_owned()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Scalar(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Scalar(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Scalar(value.to_string()))
            }
        }

        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Appends to a list that is joined by commas. An empty first piece would look like an empty list; no name is empty.
pub fn push_after_comma(joined: &mut String, piece: &str) {
    if !joined.is_empty() {
        joined.push(',');
    }
    joined.push_str(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted_and_cut_without_being_read() {
        let count = |text| serde_json::from_str::<Count>(text).map(|count| count.0).ok();
        assert_eq!(count("null"), Some(0));
        assert_eq!(count(r#"[{"a":[1]},null,"c"]"#), Some(3));
        assert_eq!(count("{}"), None);
        let first = |text| serde_json::from_str::<First<String>>(text).ok().map(|first| first.0);
        assert_eq!(first("null"), Some(None));
        assert_eq!(first("[]"), Some(None));
        assert_eq!(first(r#"["a",7]"#), Some(Some("a".to_owned())));
        assert_eq!(first("[7]"), None);
    }

    #[test]
    fn labels_are_sorted_as_printed() {
        let print = |text| serde_json::from_str::<Labels<'_>>(text).ok().map(Labels::into_cell);
        assert_eq!(print("null"), Some(NONE));
        assert_eq!(print("{}"), Some(NONE));
        assert_eq!(print(r#"{"b":"2","a":"1","a-b":""}"#), Some(Cell::Text("a-b=,a=1,b=2".into())));
        assert_eq!(print(r#"{"a":1}"#), None);
        assert_eq!(print("[]"), None);
    }
}
