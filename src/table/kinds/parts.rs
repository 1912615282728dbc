//! Pieces of objects that several kinds read, without keeping what no column shows.

use std::fmt;
use std::iter::once;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json;
use crate::api::cell::Cell;

use crate::api::text::Text;

/// What kubectl prints for nothing.
pub const NONE: Cell = Cell::Static("<none>");

/// The text as a cell, or `otherwise` where it is empty.
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
/// What serde derives for a struct takes a list of its fields as well, so that `"spec":[]` would be one.
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

/// How many elements a list has; none of them is read.
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
struct ListVisitor<F, T>(F, PhantomData<T>);

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

/// A map of labels, in the order of the text; `null` is an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels<'a>(pub Vec<(Text<'a>, Text<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Labels<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LabelsVisitor;

        impl<'de> Visitor<'de> for LabelsVisitor {
            type Value = Labels<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of strings or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Labels::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut labels = Vec::new();
                while let Some(label) = map.next_entry()? {
                    labels.push(label);
                }
                Ok(Labels(labels))
            }
        }

        deserializer.deserialize_any(LabelsVisitor)
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
        self.0.sort_unstable_by(|one, two| printed(one).cmp(printed(two)));
        let mut joined = String::with_capacity(self.0.iter().map(|(key, value)| key.len() + value.len() + 2).sum());
        for (key, value) in &self.0 {
            push_after_comma(&mut joined, key);
            joined.push('=');
            joined.push_str(value);
        }
        Cell::Text(joined.into())
    }
}

/// Appends to a list that is joined by commas. An empty first piece cannot be told from none; no name is empty.
pub fn push_after_comma(joined: &mut String, piece: &str) {
    if !joined.is_empty() {
        joined.push(',');
    }
    joined.push_str(piece);
}

/// The part of a Pod template that the CONTAINERS and IMAGES columns show.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Template {
    #[serde(deserialize_with = "structure")]
    spec: TemplateSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateSpec {
    containers: Containers,
}

/// The names and the images of a template's containers, joined while they are read.
#[derive(Debug, Default)]
struct Containers {
    names: String,
    images: String,
}

impl<'de> Deserialize<'de> for Containers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Container<'a> {
            #[serde(borrow)]
            name: Text<'a>,
            #[serde(borrow)]
            image: Text<'a>,
        }

        let mut all = Containers::default();
        let mut later = false;
        let join = |Structure::<Container<'de>>(container)| {
            // An image may be empty (a controller fills it in later), and is still counted.
            if later {
                all.names.push(',');
                all.images.push(',');
            }
            later = true;
            all.names.push_str(&container.name);
            all.images.push_str(&container.image);
        };
        deserializer.deserialize_any(ListVisitor(join, PhantomData))?;
        Ok(all)
    }
}

impl Template {
    /// The cells of CONTAINERS and IMAGES (`layoutContainerCells`).
    pub fn into_cells(self) -> [Cell; 2] {
        let Containers { names, images } = self.spec.containers;
        [Cell::Text(names.into()), Cell::Text(images.into())]
    }
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

    #[test]
    fn containers_are_joined_even_where_an_image_is_empty() {
        let cells = |text| serde_json::from_str::<Template>(text).ok().map(Template::into_cells);
        let both = |names: &str, images: &str| Some([Cell::Text(names.into()), Cell::Text(images.into())]);
        assert_eq!(cells(r#"{"spec":{"containers":[{"name":"a"},{"name":"b","image":"i"}]}}"#), both("a,b", ",i"));
        assert_eq!(cells(r#"{"spec":{"containers":null}}"#), both("", ""));
        assert_eq!(cells(r#"{"spec":null}"#), both("", ""));
        assert_eq!(cells(r#"{"spec":{"containers":{}}}"#), None);
    }
}
